"""Checks of schemas that say what is inside: verdicts, bodies that show them, and reasons."""

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody import MessageBody, Part
from messagebody.compatibility import (
    Compatibility,
    check,
    disjoint,
    equivalent,
    evolution,
    join,
    lint,
    meet,
    satisfiable,
    simplify,
    suggest,
)
from messagebody.schema import MessageBodySchema
from tests.compatibility import campaign, content_campaign
from tests.compatibility.content_campaign import random_pair
from tests.effort import calls, examples, one_in

VECTORS = Path(__file__).parents[1] / "vectors" / "contents"

TEXT = {"type": "string"}


def alone(content: Any, name: str = "/r.json") -> MessageBodySchema:
    return MessageBodySchema([{"name": name, "required": True, "contentSchema": content,
                               "contentType": "application/json"}])  # fmt: skip


def record(*required: str, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(required)}


def is_valid(schema: MessageBodySchema, body: MessageBody) -> bool:
    """Return whether a body is valid, by a library that the package does not use."""

    def accepts(index: int, part: Any) -> bool:
        content = schema[index].content_schema
        if not schema[index].accepts(part.name, part.content_type) or content is None:
            return schema[index].accepts(part.name, part.content_type)
        try:
            value = json.loads(part.text)
        except ValueError:
            return False
        return bool(jsonschema.Draft202012Validator(content.value).is_valid(value))

    indexes = range(len(schema))
    return all(any(accepts(i, part) for i in indexes) for part in body) and all(
        any(accepts(i, part) for part in body) for i in indexes if schema[i].required
    )


def require_shown(result: Compatibility) -> None:
    """Require that bodies show the answer."""
    counterexample, example = result.counterexample, result.example
    assert (counterexample is None) is (result.verdict == "always")
    if counterexample is not None:
        assert is_valid(result.producer, counterexample)
        assert not is_valid(result.consumer, counterexample)
    if example is not None:
        assert is_valid(result.producer, example)
        assert is_valid(result.consumer, example)


@pytest.mark.parametrize("line", one_in(6, (VECTORS / "contents.jsonl").read_text().splitlines()))
def test_contents_of_one_part(line: str) -> None:
    pair = json.loads(line)
    result = check(alone(pair["producer"]), alone(pair["consumer"]))
    assert result.verdict == pair["verdict"]
    require_shown(result)


@pytest.mark.parametrize("line", one_in(6, (VECTORS / "bodies.jsonl").read_text().splitlines()))
def test_bodies_of_several_parts(line: str) -> None:
    pair = json.loads(line)
    schemas = [MessageBodySchema.from_dicts(pair[side]) for side in ("producer", "consumer")]
    result = check(*schemas)
    assert result.verdict == pair["verdict"]
    require_shown(result)


@pytest.mark.parametrize(
    ("sent", "taken", "expected"),
    [
        (
            record(sources={"type": "array", "items": record(url={"type": ["string", "null"]})}),
            record(sources={"type": "array", "items": record(url=TEXT)}),
            ["at '/sources/0/url', the producer may send null; the consumer takes text"],
        ),
        (
            record("answer", answer=TEXT),
            record("question", question=TEXT),
            ["the consumer requires '/question' (text), which the producer may leave out"],
        ),
        (
            {**record(title=TEXT, url=TEXT, page=TEXT), "additionalProperties": False},
            {**record(title=TEXT, url=TEXT), "additionalProperties": False},
            ["the producer may send a member 'page'; the consumer takes no members but title, url"],
        ),
        (
            {"enum": ["a", "b", "c"]},
            {"enum": ["a", "b"]},
            ['the producer may send "c"; the consumer takes "a" or "b"'],
        ),
        (
            {"type": "number"},
            {"type": "number", "minimum": 0, "exclusiveMaximum": 2.5},
            ["the producer may send -1; the consumer takes numbers from 0",
             "the producer may send 3; the consumer takes numbers below 2.5"],
        ),
    ],
)  # fmt: skip
def test_reasons_say_where_and_what(sent: Any, taken: Any, expected: list[str]) -> None:
    reasons = check(alone(sent), alone(taken)).reasons
    found = [str(each) for each in reasons]
    assert {each.code for each in reasons} == {"content-not-accepted"}
    assert len(found) == len(expected)
    for text, end in zip(found, expected, strict=True):
        assert end in text
        assert text.startswith(
            "'/r.json' application/json, allowed by producer part 0, is not what consumer part 0 "
        )


def test_names_that_no_member_has_are_no_words() -> None:
    taken = {"propertyNames": {"const": 0.5}}
    [reason] = check(alone({"type": "object"}), alone(taken)).reasons
    assert "the producer may send a member 'a'; the consumer takes no members" in str(reason)


@pytest.mark.leaf("rendering")
def test_what_is_not_json_is_a_reason() -> None:
    sender = MessageBodySchema([("/r.json", "application/json", True)])
    result = check(sender, alone(True))
    assert result.counterexample is not None
    assert result.counterexample[0].text == "not JSON"
    assert "may send what is not JSON" in str(result)


def test_a_counterexample_holds_nothing_that_it_does_not_need() -> None:
    sent = record("a", "b", a=TEXT, b={"type": "array"}, c={"type": "array"})
    taken = record("a", "b", "q", a=TEXT, b={"type": "array", "items": TEXT}, q=TEXT)
    result = check(alone(sent), alone(taken))
    assert result.counterexample is not None
    assert result.counterexample[0].read_json() == {"a": "", "b": []}


def test_without_the_named_rules_a_pair_fits() -> None:
    sent = record("a", a={"type": ["string", "null"]}, b={"type": "number"}, c=True)
    taken = {**record("a", "b", a=TEXT, b={"type": "integer"}), "additionalProperties": False}
    reasons = check(alone(sent), alone(taken)).reasons
    named = {(each.difference.pointer, each.difference.name) for each in reasons if each.difference}
    assert named == {("/a", None), ("/b", None), ("", "b"), ("", None)}
    weaker = record("a", a={"type": ["string", "null"]}, b={"type": "number"}, c=True)
    assert check(alone(sent), alone(weaker))


def test_a_union_of_parts_takes_what_none_takes_alone() -> None:
    sender = alone({"type": ["string", "integer"]})
    taker = MessageBodySchema([
        {"name": "/{r,s}.json", "contentSchema": TEXT},
        {"name": "/*.json", "contentSchema": {"type": "integer"}},
    ])  # fmt: skip
    assert check(sender, taker)
    assert check(sender, MessageBodySchema(taker.parts[:1])).compatible is False


def test_required_parts_of_one_name_share_a_content() -> None:
    def sender(*contents: Any) -> MessageBodySchema:
        return MessageBodySchema([part for each in contents for part in alone(each)])

    both = sender({"type": "number"}, {"multipleOf": 2})
    assert check(both, alone({"type": "integer"}))
    clash = check(sender(TEXT, {"type": "number"}), alone(False))
    assert [each.code for each in clash.reasons] == ["producer-unsatisfiable"]


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"dependencies": {"a": ["b", "c"]}}, {"a": 1, "b": 1}),
        ({"dependencies": {"a": ["b", "c"]}}, {"a": 1, "b": 1, "c": 1}),
        ({"dependencies": {"a": ["b"]}}, {"b": 1}),
        ({"dependencies": {"a": ["b"]}}, [1]),
        ({"dependencies": {"a": []}}, {"a": 1}),
        ({"dependencies": {"a": False}}, {"a": 1}),
        ({"dependencies": {"a": True}}, {"a": 1}),
        ({"dependencies": {"a": {"minProperties": 2}}}, {"a": 1}),
        (
            {"dependencies": {"a": {"$ref": "#/dependencies/b"}, "b": {"maxProperties": 0}}},
            {"a": 1},
        ),
        ({"dependencies": {"a": {"dependencies": {"a": ["b"]}}}}, {"a": 1}),
        ({"dependencies": {"a/b": ["~"], "~": {"required": ["c"]}}}, {"a/b": 1, "~": 1}),
        ({"dependencies": {"a": ["b"]}, "dependentRequired": {"a": ["c"]}}, {"a": 1, "c": 1}),
        ({"properties": {"x": {"not": {"dependencies": {"a": ["b"]}}}}}, {"x": {"a": 1}}),
        ({"properties": {"x": {"not": {"dependencies": {"a": ["b"]}}}}}, {"x": {}}),
    ],
)
@pytest.mark.parametrize(
    "dialect", [{}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}]
)
def test_dependencies_mean_what_validation_takes_them_for(
    rule: dict[str, Any], value: Any, dialect: dict[str, Any]
) -> None:
    schema = alone({**dialect, **rule})
    text = json.dumps(value)
    body = MessageBody([Part(text, name="/r.json", content_type="application/json")])
    answer = check(alone({"const": value}), schema)
    assert answer.verdict == ("always" if schema.is_valid(body) else "never")
    assert check(schema, schema)


def test_what_is_not_followed_is_undecided() -> None:
    sent, taken = ({"type": "string", "pattern": each} for each in (r"\bfoo", "foo"))
    result = check(alone(sent), alone(taken))
    assert result.verdict == "undecided"
    assert not result
    [reason] = result.reasons
    assert "pattern at '/pattern' decides" in str(reason)


@pytest.mark.parametrize(("groups", "verdict"), [(100, "always"), (101, "undecided")])
def test_groups_within_groups_are_followed_so_deep(groups: int, verdict: str) -> None:
    pattern = f"^{'(' * groups}a{')' * groups}$"
    sent = alone({"type": "string", "pattern": pattern})
    assert check(sent, alone({"const": "a"})).verdict == verdict


def test_a_content_that_shows_it_is_enough_where_a_keyword_is_not_followed() -> None:
    sent = {"type": "object", "unevaluatedProperties": False}
    assert check(alone(sent), alone({"type": "integer"})).verdict == "never"
    assert check(alone(sent), alone({"type": "object", "maxProperties": 0})).verdict != "never"


@pytest.mark.parametrize(
    "line", one_in(6, (VECTORS / "bodies.jsonl").read_text().splitlines()[::3])
)
def test_the_algebra_reaches_inside(line: str) -> None:
    pair = json.loads(line)
    one, other = (MessageBodySchema.from_dicts(pair[side]) for side in ("producer", "consumer"))
    both, either = meet(one, other), join(one, other)
    if both is not None:
        assert check(both, one)
        assert check(both, other)
        # All that is valid for both is valid for their meet: what is valid for one and not for the
        # meet is not valid for the other.
        for body in (check(one, both).counterexample, check(other, both).counterexample):
            assert body is None or not (one.is_valid(body) and other.is_valid(body))
        example = check(one, other).example
        assert example is None or both.is_valid(example)
    assert check(one, either)
    assert check(other, either)
    assert equivalent(simplify(one), one)


def test_a_meet_says_what_both_say_of_contents() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    listed = {"$defs": {"n": {"minProperties": 1}}, "$ref": "#/$defs/n"}
    both = meet(alone(node), alone(listed))
    assert both is not None
    [part] = both
    assert part.content_schema is not None
    assert part.content_schema.value == {"allOf": [
        {"$defs": {"n": {"minProperties": 1}}, "$ref": "#/allOf/0/$defs/n"},
        {"type": "object", "properties": {"next": {"$ref": "#/allOf/1"}}},
    ]}  # fmt: skip
    apart = meet(alone(TEXT), alone({"type": "null"}))
    assert apart is not None
    assert not satisfiable(apart)


def test_relations_and_lint_reach_inside() -> None:
    old, new = record("a", a=TEXT), record("a", "b", a=TEXT, b=TEXT)
    assert not evolution(alone(old), alone(new), "backward")
    assert evolution(alone(old), alone(new), "forward")
    assert disjoint(alone(TEXT), alone({"type": "null"}))
    never = alone({"type": "string", "enum": [1, 2]})
    assert [each.check for each in lint(never)] == ["unsatisfiable"]
    wide = {"name": "/r.json", "contentSchema": {"type": "number"}}
    narrow = {"name": "/r.json", "contentSchema": {"type": "integer"}}
    assert [each.check for each in lint(MessageBodySchema([wide, narrow]))] == ["redundant-part"]


@pytest.mark.parametrize(
    ("sent", "taken", "expected"),
    [
        (record("answer", answer=TEXT), record("question", question=TEXT),
         "rename member '/answer' of producer part 0 '/r.json' application/json to 'question'"),
        (record(a=TEXT), record("a", a=TEXT),
         "always send member '/a' of producer part 0 '/r.json' application/json"),
        (record("a", a=record("b", b={"type": ["string", "null"]})), record("a", a=record(b=TEXT)),
         "never send null at '/a/b' of producer part 0 '/r.json' application/json"),
        (record("a", a={"anyOf": [TEXT, {"type": "null"}]}), record("a", a=TEXT),
         "never send null at '/a' of producer part 0 '/r.json' application/json"),
        (record(a=TEXT), {**record(a=TEXT), "additionalProperties": False},
         "send no other members at the top of producer part 0 '/r.json' application/json"),
        ({"enum": [1, 2, 3]}, {"enum": [3, 2]},
         "send only accepted values at the top of producer part 0 '/r.json' application/json"),
        ({"$defs": {"n": record(b=TEXT)}, **record("a", a={"$ref": "#/$defs/n"})},
         record("a", a=record("b", b=TEXT)),
         "always send member '/a/b' of producer part 0 '/r.json' application/json"),
    ],
)  # fmt: skip
def test_suggestions_reach_inside(sent: Any, taken: Any, expected: str) -> None:
    first, *_ = suggest(alone(sent), alone(taken))
    assert str(first) == expected
    assert check(first.producer, alone(taken))


def test_several_suggestions_inside_one_part() -> None:
    sent = record("a", a={"type": ["string", "null"]}, b=TEXT)
    taken = {**record("a", "b", a=TEXT, b=TEXT), "additionalProperties": False}
    [only] = suggest(alone(sent), alone(taken))
    assert {edit.kind for edit in only.edits} == {"drop-null", "require-member", "close-object"}
    assert check(only.producer, alone(taken))


@pytest.mark.parametrize(
    ("sent", "taken", "expected"),
    [
        (record(n={"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}),
         record(n={"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
         "send only accepted values at '/n'"),
        (record(n={"type": "number", "minimum": 1}), record(n={"type": "integer", "minimum": 5}),
         "send only accepted values at '/n'"),
        (record(note=TEXT), record(note=TEXT, n={"type": "integer"}),
         "send only accepted values at '/n'"),
        (record(note=TEXT), {"$defs": {"n": TEXT}, **record("n", n={"$ref": "#/$defs/n"})},
         "always send member '/n'"),
        ({**record("n", "m", n=TEXT, m=TEXT, a=TEXT), "additionalProperties": False},
         {**record(a=TEXT), "additionalProperties": False},
         "never send member '/m' and '/n'"),
        ({"oneOf": [record("t", t={"const": each}) for each in "abc"]},
         {"oneOf": [record("t", t={"const": each}) for each in "ac"]},
         "send only accepted values at the top"),
        (record(a={"items": {"$ref": "#/$defs/n"}, "type": "array"}, b={"$ref": "#/$defs/n"})
         | {"$defs": {"n": record(x=TEXT)}},
         record(b={**record(x=TEXT), "additionalProperties": False}),
         "send no other members at '/b' and '/a/0'"),
        (record(a=record(x=TEXT), b=record(x=TEXT)),
         record(a=record("x", x=TEXT), b=record("x", x=TEXT)),
         "always send member '/a/x' and '/b/x'"),
        (record(next={"$ref": "#"}, name={"type": ["null", "string"]}),
         record(next={"$ref": "#"}, name=TEXT),
         "never send null at '/name', '/next/name', '/next/next/name', "
         "'/next/next/next/name' and other places that share its definition"),
    ],
)  # fmt: skip
def test_suggestions_name_all_that_changes(sent: Any, taken: Any, expected: str) -> None:
    first, *others = suggest(alone(sent), alone(taken))
    end = " of producer part 0 '/r.json' application/json"
    told = str(first).replace(", as the consumer takes it", "")
    assert [each.removesuffix(end) for each in told.split("; ")] == expected.split("; ")
    for each in (first, *others):
        assert check(each.producer, alone(taken))
        # None of them holds another one.
        assert not any(str(each) in str(other) for other in others if other is not each)


def test_nothing_is_suggested_that_leaves_no_value() -> None:
    kinds = [{"type": kind} for kind in ("string", "integer")]
    assert suggest(*(alone(record(n=kind)) for kind in kinds)) == []


def test_suggestions_for_many_parts_share_a_budget() -> None:
    def many(kind: str) -> MessageBodySchema:
        return MessageBodySchema([
            part
            for number in range(4)
            for members in [{f"m{i}": {"enum": [number, i, kind]} for i in range(30)}]
            for part in alone(record(*list(members)[:number], **members), f"/{number}/*")
        ])  # fmt: skip

    calls(lambda: suggest(many("x"), many("y")), most=40_000_000)


def test_suggestions_for_many_alternatives_are_bounded() -> None:
    marks = [record("t", t={"const": number}) for number in range(40)]
    sent, taken = ({"oneOf": marks[first:]} for first in (0, 3))
    calls(lambda: suggest(alone(sent), alone(taken)), most=14_000_000)


def test_suggestions_for_large_schemas_are_bounded() -> None:
    members = {f"n{number}": {"enum": [*range(50)]} for number in range(100)}
    few = {name: {"enum": [*range(1, 50)]} for name in members}
    calls(lambda: suggest(alone(record(**members)), alone(record(**few))), most=12_000_000)


def test_a_part_with_contents_may_be_converted() -> None:
    plain = MessageBodySchema([("/r.json", "text/plain", True)])
    first, *_ = suggest(alone(TEXT), plain)
    assert str(first) == "convert producer part 0 '/r.json' application/json to text/plain"


def test_an_unnamed_part_and_json_types() -> None:
    sender = MessageBodySchema([{"contentType": "application/*", "contentSchema": TEXT}])
    any_json = MessageBodySchema([{"contentType": "application/{json,*+json}"}])
    assert check(sender, any_json)
    plain = MessageBodySchema([{"contentType": "application/json"}])
    result = check(sender, plain)
    assert result.counterexample_types is not None
    assert result.counterexample_types[0].content_type.endswith("+json")


def test_a_short_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    assert campaign.main(["--contents", "120"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("contents: 120 pairs, ")
    assert out.endswith("0 mistakes\n")


def test_a_campaign_sees_a_wrong_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(producer: MessageBodySchema, consumer: MessageBodySchema) -> Compatibility:
        return check(consumer, producer)

    monkeypatch.setattr(content_campaign, "check", turned)
    report = campaign.run_block(content_campaign.contents, 0, 60)
    assert len(report.mistakes) > 5


DEAD: list[tuple[Any, list[str]]] = [
    ({"type": "object", "properties": {"a": {"minLength": 5, "maxLength": 2, "type": "string"}}},
     ["/properties/a"]),
    ({"type": "string", "enum": [1, "a", "b", None]}, ["/enum/0", "/enum/3"]),
    ({"anyOf": [TEXT, {"type": "number", "minimum": 2, "maximum": 1}]}, ["/anyOf/1"]),
    ({"type": "array", "maxItems": 1, "prefixItems": [{}, {}], "items": {}},
     ["/prefixItems/1", "/items"]),
    ({"allOf": [{"anyOf": [TEXT, {"type": "null"}]}, TEXT]}, ["/allOf/0/anyOf/1"]),
    ({"if": TEXT, "then": False, "else": {"anyOf": [TEXT, {"type": "null"}]}}, ["/else/anyOf/0"]),
    ({"properties": {"a": {"properties": {"b": {"const": 1, "type": "string"}}}}},
     ["/properties/a/properties/b"]),
    ({"properties": {"a": False}, "additionalProperties": False}, []),
    ({"$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}, []),
    ({"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}}, []),
    ({"not": {"enum": [1, 2]}}, []),
]  # fmt: skip


@pytest.mark.parametrize(("content", "places"), DEAD)
def test_lint_names_what_no_content_uses(content: Any, places: list[str]) -> None:
    found = [each for each in lint(alone(content)) if each.check == "dead-content"]
    assert [each.problem.split("'")[1] for each in found] == places
    assert {each.index for each in found} <= {0}


def test_what_lint_names_can_be_taken_out() -> None:
    """Whatever the schema, no content is lost."""
    named = 0
    for seed in range(examples(400)):
        content, _ = random_pair(random.Random(seed))
        for each in lint(alone(content)):
            if each.check == "dead-content":
                *steps, last = each.problem.split("'")[1].split("/")[1:]
                changed = json.loads(json.dumps(content))
                holder = changed
                for step in steps:
                    holder = holder[int(step)] if isinstance(holder, list) else holder[step]
                if steps[-1:] == ["enum"]:
                    del holder[int(last)]
                elif isinstance(holder, list):
                    holder[int(last)] = False
                else:
                    holder[last] = False
                assert check(alone(content), alone(changed)), (content, each)
                named += 1
    assert named
