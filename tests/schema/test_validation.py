"""What is wrong with a body."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.compatibility import check
from messagebody.errors import InvalidBody
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.schema import MessageBodySchema, SchemaPart, Violation
from tests.effort import examples
from tests.globs import strategies


def _body(*parts: tuple[str | None, str]) -> MessageBody:
    return MessageBody([Part("", name=name, content_type=kind) for name, kind in parts])


def test_the_error_holds_all_violations() -> None:
    schema = MessageBodySchema([(None, "text/*"), ("/sources/*", "text/*", True)])
    body = _body((None, "text/plain"), (None, "text/html"), (None, "image/png"))
    with pytest.raises(InvalidBody) as caught:
        schema.validate(body)
    assert str(caught.value) == (
        "2 violations. part 2 (unnamed, image/png): accepted by no schema part; "
        "nearest is 0 text/* (type differs). "
        "required schema part 1 '/sources/*' text/*: no part matches"
    )
    assert caught.value.violations == (
        Violation("part-not-accepted", 2, None, 0, "text/*", "unnamed, image/png", "type"),
        Violation(
            "required-part-missing",
            schema_index=1,
            expected="'/sources/*' text/*",
            got="no part matches",
        ),
    )
    schema.validate([*body[:2], Part("", name="/sources/1")])


NEAREST: dict[str, tuple[list[Any], tuple[str | None, str], str]] = {
    "no parts": ([], ("/a", "a/b"), ""),
    "right name": (
        [("/**", "image/*"), ("/a", "text/html"), ("/b", "text/plain")],
        ("/a", "text/plain"),
        "; nearest is 1 '/a' text/html (type differs)",
    ),
    "right type, similar name": (
        [("/sauces/*", "text/*"), ("/source/*", "text/*"), ("/sources/*", "image/*")],
        ("/sources/1/2", "text/plain"),
        "; nearest is 1 '/source/*' text/* (name differs)",
    ),
    "right type, name after it": (
        [("/a", "text/*"), ("/source/x", "text/*")],
        ("/source/a", "text/plain"),
        "; nearest is 1 '/source/x' text/* (name differs)",
    ),
    "only unnamed": (
        [(None, "text/*")],
        ("/a", "text/plain"),
        "; nearest is 0 text/* (name differs)",
    ),
    "only named": (
        [("/a", "image/*"), ("/b", "text/*")],
        (None, "text/plain"),
        "; nearest is 1 '/b' text/* (name differs)",
    ),
    "nothing right": (
        [("/b/c", "image/*"), ("/a/x", "image/*")],
        ("/a/y", "text/plain"),
        "; nearest is 1 '/a/x' image/* (name and type differ)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NEAREST)
def test_nearest_misses(case: str) -> None:
    parts, (name, kind), expected = NEAREST[case]
    [violation] = MessageBodySchema(parts).iter_violations(_body((name, kind)))
    shown = "unnamed" if name is None else f"'{name}'"
    assert str(violation) == f"part 0 ({shown}, {kind}): accepted by no schema part{expected}"


def test_a_required_part_of_another_type() -> None:
    schema = MessageBodySchema([("/a/*", "text/*", True), ("/**",), SchemaPart(content_type="*/*"),
                                (None, "text/*", True)])  # fmt: skip
    body = _body((None, "image/png"), ("/a/1", "image/png"))
    assert [str(violation) for violation in schema.iter_violations(body)] == [
        f"required schema part {which}: no part matches; nearest is part {nearest}; type differs)"
        for which, nearest in (
            ("0 '/a/*' text/*", "1 ('/a/1', image/png"),
            ("3 text/*", "0 (unnamed, image/png"),
        )
    ]


def test_only_the_first_hundred_are_explained() -> None:
    body = _body(*((None, "text/plain") for _ in range(150)))
    violations = list(MessageBodySchema([("/a", "text/*")]).iter_violations(body))
    assert len(violations) == 150
    assert [each.schema_index for each in violations] == [0] * 100 + [None] * 50
    assert str(violations[120]) == "part 120 (unnamed, text/plain): accepted by no schema part"


def test_violations_are_lazy() -> None:
    body = _body((None, "text/plain"), (None, "image/png"))
    violations = MessageBodySchema().iter_violations(body)
    assert next(violations).part_index == 0
    assert next(violations).part_index == 1


def test_repeated_names_of_plain_parts() -> None:
    parts = [Part("", name="/a"), Part(""), Part("", name="/a"), Part("")]
    schema = MessageBodySchema([("/a", "*/*"), SchemaPart()])
    assert [str(each) for each in schema.iter_violations(parts)] == [
        "part 2 ('/a', text/plain): an earlier part has that name; names are unique in a body"
    ]
    assert not schema.is_valid(parts)
    assert schema.is_valid(iter(parts[:2]))


def test_untrusted_text_is_escaped() -> None:
    kind = 'text/plain; a="' + "\t" * 300 + '"'
    [violation] = MessageBodySchema([("/a", "*/*")]).iter_violations([Part("", content_type=kind)])
    assert "\t" not in str(violation)


def test_the_empty_schema() -> None:
    assert MessageBodySchema().is_valid(MessageBody())
    assert not MessageBodySchema().is_valid(_body((None, "text/plain")))


def test_one_part_may_satisfy_several() -> None:
    schema = MessageBodySchema([("/a", "*/*", True), ("/*", "text/*", True)])
    assert schema.is_valid(_body(("/a", "text/plain")))
    assert not schema.is_valid(_body(("/b", "text/plain")))
    assert not schema.is_valid(_body(("/a", "image/png")))


def test_which_schema_parts_accept_a_part() -> None:
    checker = MessageBodySchema([(None, "text/*"), ("/**", "*/*"), ("/a", "text/*")]).checker
    assert checker.accepting(None, "text/plain") == 0b001
    assert checker.accepting("/a", "Text/plain") == 0b110
    assert checker.accepting("/b", "image/png") == 0b010
    assert checker.accepting(None, "image/png") == 0


def test_content_types_by_essence() -> None:
    schema = MessageBodySchema([(None, "TEXT/*", True)])
    assert schema.is_valid([Part("", content_type="Text/HTML; charset=utf-8")])


@pytest.mark.parametrize(
    ("states", "asks", "told"),
    [
        ("image/jpg", "image/jpeg", "image/jpg is another name of image/jpeg"),
        ("Image/JPG; q=1", "image/{png,jpeg}", "image/jpg is another name of image/jpeg"),
        ("image/jpeg", "image/JPG", "image/jpg is another name of image/jpeg"),
        ("image/pjpeg", "image/jpg", "image/jpg is another name of image/jpeg"),
        ("image/jpg", "image/png", None),
        ("image/jpeg", "image/png", None),
    ],
)
def test_two_names_of_one_type_are_told(states: str, asks: str, told: str | None) -> None:
    """Neither validation nor `check` takes one for the other, and both say so."""
    schema, body = (
        MessageBodySchema([("/a", asks, True)]),
        [Part("", name="/a", content_type=states)],
    )
    found = [*schema.iter_violations(body)]
    assert [each.code for each in found] == ["part-not-accepted", "required-part-missing"]
    assert [told is not None and told in str(each) for each in found] == [told is not None] * 2
    assert told is not None or "another name" not in "".join(map(str, found))
    kind = states.partition(";")[0]
    assert check(MessageBodySchema([("/a", kind, True)]), schema).compatible is False


def _valid_by_definition(schema: MessageBodySchema, body: list[tuple[str | None, str]]) -> bool:
    def matches(part: SchemaPart, name: str | None, kind: str) -> bool:
        if (part.name is None) != (name is None):
            return False
        by_name = part.name is None or name_pattern(part.name).automaton.accepts(str(name))
        return by_name and content_type_pattern(part.content_type).automaton.accepts(kind)

    return all(any(matches(part, *each) for part in schema) for each in body) and all(
        any(matches(part, *each) for each in body) for part in schema if part.required
    )


_schemas: st.SearchStrategy[MessageBodySchema] = st.lists(
    st.tuples(st.none() | strategies.name_patterns, strategies.type_patterns, st.booleans()),
    max_size=5,
).map(MessageBodySchema)
_bodies = st.lists(
    st.tuples(st.none() | strategies.names, strategies.types),
    max_size=4,
    unique_by=(lambda part: part[0] or object(),),
)


@settings(max_examples=examples(500))
@given(_schemas, _bodies)
@pytest.mark.dear
def test_validity_is_the_definition(
    schema: MessageBodySchema, parts: list[tuple[str | None, str]]
) -> None:
    expected = _valid_by_definition(schema, parts)
    body = _body(*parts)
    violations = list(schema.iter_violations(body))
    assert schema.is_valid(body) is expected
    assert (not violations) is expected
    assert list(schema.iter_violations([*body])) == violations
    for violation in violations:
        if violation.part_index is not None:
            assert schema.checker.accepting(*parts[violation.part_index]) == 0


def test_many_names_and_content_types_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messagebody.schema._validation._KEPT", 3)
    schema = MessageBodySchema([("/sources/*", "text/*")])
    assert schema.is_valid(_body(*((f"/sources/{at}", f"text/x{at}") for at in range(10))))
    assert schema.checker._by_type.cache_info().currsize == 3
    assert schema.checker._by_name.cache_info().currsize == 3


def test_the_names_of_a_large_body_are_not_kept() -> None:
    schema = MessageBodySchema([("/sources/*", "text/*")])
    names = [f"/sources/{number}" for number in range(1_000)]
    assert schema.is_valid(_body(*((name, "text/plain") for name in names)))
    assert schema.checker._by_name.cache_info().currsize == 0
    assert not schema.is_valid(_body(*((name, "text/plain") for name in [*names, "/other"])))
