"""Validation of what is inside JSON parts."""

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from pydantic import TypeAdapter, ValidationError

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, SchemaPart
from messagebody._wire import exact_json
from messagebody._wire.strict_json import InvalidJson
from messagebody.errors import InvalidArgument, InvalidBody

VECTORS = Path(__file__).parents[1] / "vectors" / "contents" / "validation.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text().splitlines()]
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


def body_of(*contents: Any, kind: str = "application/json") -> MessageBody:
    """Return a body of parts `/0.json`, `/1.json` and so on; text is taken as it is."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in contents]
    return MessageBody(
        Part(text, name=f"/{at}.json", content_type=kind) for at, text in enumerate(texts)
    )


def schema_of(*contents: Any, required: bool = False) -> MessageBodySchema:
    return MessageBodySchema(
        SchemaPart(f"/{at}.json", required=required, content_schema=each)
        for at, each in enumerate(contents)
    )


def codes(schema: MessageBodySchema, body: MessageBody, **how: Any) -> list[str]:
    found = [*schema.iter_violations(body, **how)]
    assert schema.is_valid(body, **how) is (not found)
    return [each.code for each in found]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_vectors(case: dict[str, Any]) -> None:
    schema = MessageBodySchema.from_dicts(case["schema"])
    body = MessageBody.from_dicts(case["body"])
    assert schema.is_valid(body) is case["valid"]
    assert (codes(schema, body) == []) is case["valid"]


def test_a_flaw_says_where_what_and_which_rule() -> None:
    schema = schema_of({"properties": {"a/b": {"items": {"type": ["string", "null"]}}}})
    [flaw] = schema.iter_violations(body_of({"a/b": ["x", 3]}))
    assert (flaw.code, flaw.part_index, flaw.part_name, flaw.schema_index, flaw.differs) == (
        "content-invalid", 0, "/0.json", 0, "content",
    )  # fmt: skip
    assert flaw.content_pointer == "/a~1b/1"
    assert flaw.schema_pointer == "/properties/a~1b/items/type"
    assert (flaw.expected, flaw.got) == ("null or string", "3")
    assert str(flaw) == (
        "part 0 ('/0.json'): content /a~1b/1: expected null or string, got 3 "
        "(contentSchema of schema part 0, /properties/a~1b/items/type)"
    )


@pytest.mark.parametrize(
    ("rule", "value", "expected", "got"),
    [
        ({"enum": [1, "a", None]}, 2, 'one of 1, "a", null', "2"),
        ({"const": {"a": 1}}, [], '{"a":1}', "an array of 0 items"),
        ({"required": ["b"]}, {"a": 1}, "an object with 'b'", "an object of 1 member"),
        (
            {"properties": {"c": True}, "additionalProperties": False},
            {"a": 1, "b": 1}, "no other members", "'a', 'b'",
        ),
        ({"maxLength": 3}, "long", "maxLength 3", "'long'"),
        ({"pattern": "^a"}, "b", "text that matches '^a'", "'b'"),
        ({"minimum": 1}, 0.5, "minimum 1", "0.5"),
        (False, None, "nothing", "null"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True, "anyOf", "true"),
        ({"uniqueItems": True}, [1, 1.0], "uniqueItems", "an array of 2 items"),
    ],
)  # fmt: skip
def test_what_was_expected_and_what_came(rule: Any, value: Any, expected: str, got: str) -> None:
    [flaw] = schema_of(rule).iter_violations(body_of(json.dumps(value)))
    assert (flaw.expected, flaw.got) == (expected, got)


def test_texts_show_no_secrets_and_little_of_long_texts() -> None:
    url = "https://me:password@example.org/a?token=secret"
    flaws = [*schema_of({"items": {"type": "null"}}).iter_violations(body_of([url, "x" * 5000]))]
    assert [flaw.got for flaw in flaws] == ["'https://…@example.org/a?…'", f"'{'x' * 40}…'"]
    hostile = [*schema_of(False).iter_violations(body_of("\x1b[31m" * 9))]
    assert "\x1b" not in str(hostile[0])


def test_twenty_flaws_are_listed_and_the_others_counted() -> None:
    found = [*schema_of({"items": {"type": "null"}}).iter_violations(body_of([*range(33)]))]
    assert len(found) == 21
    assert [flaw.more for flaw in found] == [0] * 20 + [13]
    assert str(found[-1]) == "part 0 ('/0.json'): content: and 13 more flaws"


def test_of_many_contents_only_the_first_hundred_have_all_their_flaws() -> None:
    schema = MessageBodySchema([SchemaPart("/*", content_schema={"required": ["a", "b"]})])
    found = [each.part_index for each in schema.iter_violations(body_of(*[{}] * 102))]
    assert found == sorted([*range(102), *range(100)])


def test_the_nearest_schema_part_is_the_one_with_the_fewest_flaws() -> None:
    far, near = {"required": ["a", "b", "c"]}, {"required": ["a"]}
    schema = MessageBodySchema(SchemaPart("/*", content_schema=each) for each in (far, near))
    assert [flaw.schema_index for flaw in schema.iter_violations(body_of({}))] == [1]


@pytest.mark.parametrize(
    "content", ["{", '{"a":1,"a":1}', '{"a" :1,"a":2}', "NaN", '"\\ud800"', ""]
)
def test_what_is_not_json_matches_no_content_schema(content: str) -> None:
    body = body_of(content)
    assert codes(schema_of(True), body) == ["content-not-json"]
    assert codes(MessageBodySchema([("/0.json", "application/json")]), body) == []
    both = MessageBodySchema([SchemaPart("/*", content_schema=True), ("/*", "*/*")])
    assert codes(both, body) == []


def test_bytes_that_are_not_utf_8_are_not_json() -> None:
    body = MessageBody([Part(b'"\xff"', name="/0.json", content_type="application/json")])
    assert codes(schema_of(True), body) == ["content-not-json"]


@pytest.mark.parametrize(
    ("kind", "matches"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/problem+json", True),
        ("text/plain", False),
        ("application/jsonl", False),
    ],
)
def test_only_parts_of_json_types_match(kind: str, matches: bool) -> None:
    schema = MessageBodySchema([SchemaPart("/*", "*/*", content_schema=True)])
    assert codes(schema, body_of({}, kind=kind)) == ([] if matches else ["part-not-accepted"])


@pytest.mark.parametrize(
    ("rule", "content", "valid"),
    [
        ({"const": 1}, "1.0", True),
        ({"type": "integer"}, "2.0", True),
        ({"type": "integer"}, "1e400", True),
        ({"const": 2**53}, str(2**53 + 1), False),
        ({"const": 2**53 + 1}, f"{2**53 + 1}.0", True),
        ({"maximum": 10**30}, "1000000000000000000000000000001", False),
        ({"multipleOf": 0.1}, "0.3", True),
        ({"const": 0.1}, "0.10000000000000000001", False),
        ({"const": 0.1}, "0.1000000000000000000", True),
        ({"minimum": 0, "not": {"const": 0}}, "1e-400", True),
        ({"type": "number"}, "9" * 5000, True),
        ({"enum": [True]}, "1", False),
    ],
)
def test_numbers_are_decimals_of_any_size(rule: Any, content: str, valid: bool) -> None:
    assert schema_of(rule).is_valid(body_of(content)) is valid


def test_formats_and_annotations_assert_nothing() -> None:
    rule = {"format": "email", "contentEncoding": "base64", "contentMediaType": "image/png", "x": 1}
    assert schema_of(rule).is_valid(body_of(json.dumps("no")))


@pytest.mark.parametrize("turned", [1, -1])
def test_a_required_part_needs_its_content(turned: int) -> None:
    parts = [SchemaPart("/*", required=True, content_schema=TITLE), SchemaPart("/**")]
    schema = MessageBodySchema(parts[::turned])
    assert codes(schema, body_of({"title": "a"}, {})) == []
    [missing] = schema.iter_violations(body_of({}))
    assert missing.code == "required-part-missing"
    assert missing.got.endswith("nearest is part 0 ('/0.json', application/json; content differs)")


@pytest.mark.leaf("frameworks")
def test_a_gate_says_where_but_never_repeats_content() -> None:
    gate: TypeAdapter[MessageBody] = TypeAdapter(
        Annotated[MessageBody, schema_of(TITLE, required=True)]
    )
    assert gate.validate_python(body_of({"title": "a"}).to_dicts())
    with pytest.raises(ValidationError) as caught:
        gate.validate_python(body_of({"title": 424242}).to_dicts())
    assert "content /title: expected string" in str(caught.value)
    assert "424242" not in str(caught.value)


def reference(name: str, store: Path) -> Part:
    return Part(url=(store / name).as_uri(), name="/0.json", content_type="application/json")


def test_a_reference_whose_content_decides_is_read_through_a_resolver_only(tmp_path: Path) -> None:
    (tmp_path / "good").write_text('{"title": "a"}')
    (tmp_path / "bad").write_text("{}")
    resolver, schema = Resolver(allow=[tmp_path]), schema_of(TITLE)
    good, bad, none = (MessageBody([reference(n, tmp_path)]) for n in ("good", "bad", "none"))
    assert codes(schema, good) == ["content-not-read"]
    assert codes(schema, good, resolver=resolver) == []
    assert codes(schema, good.with_resolver(resolver)) == []
    assert codes(schema, bad, resolver=resolver) == ["content-invalid"]
    assert codes(schema, none, resolver=resolver) == ["content-not-read"]
    with pytest.raises(InvalidBody, match="content is not read"):
        schema.validate(good)
    schema.validate(good, resolver=resolver)


def test_a_reference_is_not_read_if_nothing_depends_on_it(tmp_path: Path) -> None:
    body = MessageBody([reference("none", tmp_path)])
    optional = SchemaPart("/*", content_schema=TITLE)
    assert codes(MessageBodySchema([optional, ("/**",)]), body) == []
    required = MessageBodySchema([SchemaPart("/*", required=True, content_schema=TITLE), ("/**",)])
    assert codes(required, body) == ["content-not-read"]
    body.add('{"title": "b"}', name="/b.json", content_type="application/json")
    assert codes(required, body) == []


def test_a_reference_is_not_read_if_a_later_part_meets_the_requirement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = MessageBody([reference("none", tmp_path)])
    body.add('{"title": "b"}', name="/b.json", content_type="application/json")
    schema = MessageBodySchema([SchemaPart("/*", required=True, content_schema=TITLE), ("/**",)])
    monkeypatch.delattr(Part, "read_bytes")
    assert codes(schema, body) == []


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_stream_decides_as_the_whole_body_does(case: dict[str, Any]) -> None:
    schema = MessageBodySchema.from_dicts(case["schema"])
    body, stream = MessageBody.from_dicts(case["body"]), schema.stream()
    for part in body:
        stream.feed(part)
    assert (stream.status == "valid") is case["valid"]
    found, expected = stream.finish(), [*schema.iter_violations(body)]
    assert [each.code for each in found] == [each.code for each in expected]


def test_a_stream_ends_at_a_refused_content_and_keeps_no_content() -> None:
    stream = schema_of(TITLE, required=True).stream()
    assert stream.feed(body_of({"title": 1})[0]) == "invalid"
    codes = [(each.code, each.content_pointer) for each in stream.finish()]
    assert codes == [("content-invalid", "/title"), ("required-part-missing", "")]


def test_a_stream_reads_references_through_its_resolver(tmp_path: Path) -> None:
    (tmp_path / "good").write_text('{"title": "a"}')
    (tmp_path / "bad").write_text("{}")
    schema, resolver = schema_of(TITLE, required=True), Resolver(allow=[tmp_path])
    for name, reads, codes in (
        ("good", resolver, []),
        ("bad", resolver, ["content-invalid", "required-part-missing"]),
        ("good", None, ["content-not-read", "required-part-missing"]),
    ):
        stream = schema.stream(resolver=reads)
        stream.feed(reference(name, tmp_path))
        assert [each.code for each in stream.finish()] == codes
    wrong: Any = str(tmp_path)
    with pytest.raises(InvalidArgument, match="expected a Resolver"):
        schema.stream(resolver=wrong)


def write_log(path: Path, *bodies: MessageBody) -> Path:
    path.write_text("".join(f"{body.to_json()}\n" for body in bodies))
    return path


@pytest.mark.leaf("bulk")
def test_bulk_validation_reads_references_through_its_resolver(tmp_path: Path) -> None:
    from messagebody import bulk

    (tmp_path / "good").write_text('{"title": "a"}')
    log = write_log(
        tmp_path / "log.jsonl", body_of({"title": "a"}), body_of({"title": 1}),
        MessageBody([reference("good", tmp_path)]),
    )  # fmt: skip
    how: dict[str, Any] = {"workers": 0}
    closed = bulk.validate(log, schema_of(TITLE), out=tmp_path / "closed", **how)
    assert (closed.counts["valid"], closed.counts["invalid"]) == (1, 2)
    opened = bulk.validate(
        log, schema_of(TITLE), out=tmp_path / "opened", resolver=Resolver(allow=[tmp_path]), **how
    )
    assert (opened.counts["valid"], opened.counts["invalid"]) == (2, 1)
    [rows] = (tmp_path / "opened" / "shards").iterdir()
    [violation] = json.loads(rows.read_text())["violations"]
    assert (violation["contentPointer"], violation["schemaPointer"]) == (
        "/title", "/properties/title/type",
    )  # fmt: skip


@pytest.mark.leaf("_cli")
def test_the_command_line_reads_references_below_what_it_allows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.commands import run

    (tmp_path / "good").write_text('{"title": "a"}')
    schema, body = tmp_path / "schema.json", tmp_path / "body.json"
    schema_of(TITLE).save(schema)
    MessageBody([reference("good", tmp_path)]).save(body)
    command = ["validate", str(body), "--schema", str(schema)]
    assert run(command) == 1
    assert "content is not read" in capsys.readouterr().out
    assert run([*command, "--allow", str(tmp_path)]) == 0


BOMB: dict[str, Any] = {
    "$defs": {
        **{f"a{at}": {"anyOf": [{"$ref": f"#/$defs/a{at + 1}"}, {"$ref": f"#/$defs/a{at + 1}"}]}
           for at in range(60)},
        "a60": {"type": "number"},
    },
    "$ref": "#/$defs/a0",
}  # fmt: skip
TWICE: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"items": {"$ref": "#"}, "minItems": 1},
        {"items": {"$ref": "#"}, "maxItems": 1},
    ]
}


def nested(levels: int) -> str:
    return "[" * levels + '"x"' + "]" * levels


@pytest.mark.parametrize(("rule", "content"), [(BOMB, '"x"'), (TWICE, nested(90))])
def test_a_schema_with_endlessly_many_ways_is_not_followed(rule: Any, content: str) -> None:
    assert codes(schema_of(rule), body_of(content)) == ["content-not-read"]


def test_a_schema_that_doubles_ways_still_checks_what_is_flat() -> None:
    assert codes(schema_of(TWICE), body_of("[[[1]]]")) == []
    [flaw] = schema_of(BOMB | {"$ref": "#/$defs/a45"}).iter_violations(body_of('"x"'))
    assert "too large to say" in flaw.expected


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
        {"anyOf": [{"type": "null"}, {"additionalProperties": {"$ref": "#"}}]},
        {"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}},
        {"prefixItems": [{"$ref": "#"}], "items": {"$ref": "#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#a"}, "$anchor": "a"}}},
        {"$id": "https://a.org/b", "items": {"$ref": "b#"}},
        {"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}},
    ],
)
def test_ordinary_recursion_has_no_more_ways_on_deeper_levels(schema: Any) -> None:
    deep: Any = None
    for _ in range(80):
        deep = {"a": deep, "left": [None, None]}
    for content in (deep, json.loads(nested(90)), dict.fromkeys("abc", deep["a"])):
        assert "content-not-read" not in codes(schema_of(schema), body_of(json.dumps(content)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from('":,{}\\ ')),
    lambda below: st.lists(below, max_size=4)
    | st.dictionaries(st.text(max_size=3), below, max_size=4),
    max_leaves=15,
)  # fmt: skip
SPACES = st.sampled_from(["", " ", "\n", "\t"])


def same(one: Any, other: Any) -> bool:
    return exact_json.dumps(exact_json.normal(one, depth=99), is_sorted=True) == (
        exact_json.dumps(exact_json.normal(other, depth=99), is_sorted=True)
    )


@given(VALUES, SPACES, SPACES, st.booleans())
def test_the_fast_reader_reads_as_the_exact_one(
    value: Any, before: str, after: str, ascii_only: bool
) -> None:
    text = json.dumps(value, separators=(f"{after},", f"{before}:{after}"), ensure_ascii=ascii_only)
    assert same(exact_json.contents(text, depth=99), exact_json.loads(text, depth=99))


FRAGMENTS = st.lists(
    st.sampled_from([
        '{"a":', '"a" :', '{"a":1,"a":2}', "1", "1e5", "1e999", "0.12345678901234567", "-0", "]",
        "[", "}", "{", ",", ":", '"a"', '"\\ud800"', '"\\":"', "9" * 30, "9" * 4400, "nul", "null",
        "\ud800", "\x01", "1.", "01", "\ufeff", "NaN", "{\"\\u0061\":1,\"a\":2}",
    ]),
    max_size=7,
)  # fmt: skip


@given(FRAGMENTS)
def test_the_fast_reader_refuses_what_the_exact_one_refuses(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        expected = exact_json.loads(text, depth=99)
    except InvalidJson:
        with pytest.raises(InvalidJson):
            exact_json.contents(text, depth=99)
    else:
        assert same(exact_json.contents(text, depth=99), expected)


@pytest.mark.parametrize("string", ["\\u0022:", "\\u003c:", "\\u0022\\u003a", '\\"\\u003A', '\\":'])
def test_no_string_stands_for_a_member_that_is_repeated(string: str) -> None:
    """Colons are counted; those of strings may be spelled in several ways."""
    text = f'[{{"a":1,"a":2,"b":"{string}"}}]'
    with pytest.raises(InvalidJson):
        exact_json.contents(text, depth=9)
    once = text.replace('"a":1,', "")
    assert exact_json.contents(once, depth=9) == json.loads(once)


def test_numbers_that_floats_say_exactly_are_floats() -> None:
    assert type(exact_json.contents("[0.25]", depth=9)[0]) is float
    long = "0.1234567890123456789"
    assert exact_json.contents(long, depth=9) == Decimal(long)
    assert exact_json.contents("9" * 9999, depth=9) > sys.maxsize
