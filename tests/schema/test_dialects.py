"""Dialects of JSON Schema: what each word means in each, for validation and `check` alike."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

import jsonschema_rs as rs

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart, check
from messagebody.compatibility import lint
from messagebody.errors import InvalidSchema
from messagebody.schema import content_schema_of
from tests.effort import calls

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_06 = "http://json-schema.org/draft-06/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
VALIDATORS = {
    DRAFT_04: rs.Draft4Validator, DRAFT_06: rs.Draft6Validator, DRAFT_07: rs.Draft7Validator,
    DRAFT_2019: rs.Draft201909Validator, DRAFT_2020: rs.Draft202012Validator,
}  # fmt: skip
OLD = [DRAFT_04, DRAFT_06, DRAFT_07]


def at(content: Any) -> MessageBodySchema:
    return MessageBodySchema([SchemaPart("/r.json", required=True, content_schema=content)])


def takes(schema: MessageBodySchema, value: Any) -> bool:
    """Return whether a value is valid; `check` of a sender of just that value must agree."""
    part = Part(json.dumps(value), name="/r.json", content_type="application/json")
    valid = schema.is_valid(MessageBody([part]))
    verdict = check(at({"const": value}), schema).verdict.value
    assert verdict in {"always" if valid else "never", "undecided"}, (schema, value)
    return valid


A_NEEDS_B = {"dependencies": {"a": ["b"]}}
WORDS: list[tuple[str, list[str], dict[str, Any], list[Any], list[Any]]] = [
    ("dependencies", list(VALIDATORS), A_NEEDS_B, [{}, {"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
    ("schemas of dependencies", list(VALIDATORS),
     {"dependencies": {"a": {"required": ["b"]}, "c": {"not": {}}}},
     [{}, {"a": 1, "b": 1}], [{"a": 1}, {"c": 1}]),
    ("dependencies beside today's words", [DRAFT_2019, DRAFT_2020],
     {**A_NEEDS_B, "dependentRequired": {"a": ["c"]},
      "dependentSchemas": {"a": {"maxProperties": 3}}},
     [{"a": 1, "b": 1, "c": 1}], [{"a": 1, "b": 1}, {"a": 1, "c": 1}]),
    ("today's word in an old draft", OLD, {"dependentRequired": {"a": ["b"]}}, [{"a": 1}], []),
    ("today's word beside the old one", OLD, {**A_NEEDS_B, "dependentRequired": {"c": ["d"]}},
     [{"c": 1}], [{"a": 1}]),
    ("unevaluated in an old draft", OLD, {"unevaluatedProperties": False}, [{"a": 1}], []),
    ("a tuple", [DRAFT_04, DRAFT_06, DRAFT_07, DRAFT_2019],
     {"items": [{"type": "null"}], "additionalItems": {"type": "string"}},
     [[], [None], [None, "x"]], [[1], [None, 1]]),
    ("a tuple beside prefixItems", [DRAFT_07, DRAFT_2019],
     {"items": [{"type": "null"}], "prefixItems": [{"type": "string"}]}, [[None]], [["x"]]),
    ("additionalItems without a tuple", [DRAFT_07, DRAFT_2019],
     {"items": {"type": "null"}, "additionalItems": False}, [[None, None]], [[1]]),
    ("beside a reference", OLD,
     {"properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}},
      "definitions": {"s": {"type": "string"}}}, [{"a": "long"}], [{"a": 1}]),
    ("beside a reference, today", [DRAFT_2019, DRAFT_2020],
     {"properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}},
      "definitions": {"s": {"type": "string"}}}, [{"a": "l"}], [{"a": 1}, {"a": "long"}]),
    ("a reference at the top", OLD,
     {"$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}}, ["x"], [1]),
    ("definitions beside $defs", [DRAFT_07],
     {"definitions": {"a": {"type": "string"}}, "$defs": {"a": {"type": "null"}},
      "items": [{"$ref": "#/definitions/a"}, {"$ref": "#/$defs/a"}]}, [["x", None]],
     [["x", "x"], [None, None]]),
    ("a level deeper", list(VALIDATORS),
     {"$ref": "#/definitions/v1/User",
      "definitions": {"v1": {"User": {"properties": {"a": {"$ref": "#/definitions/v1/Id"}}},
                             "Id": {"type": "string"}}}}, [{"a": "x"}], [{"a": 1}]),
    ("below an unknown word", list(VALIDATORS),
     {"properties": {"a": {"$ref": "#/x/M"}}, "x": {"M": {"type": "string"}}},
     [{"a": "x"}], [{"a": 1}]),
    ("definitions and $defs of one name", [DRAFT_2019, DRAFT_2020],
     {"$defs": {"a": {"type": "string"}}, "definitions": {"a": {"type": "integer"}},
      "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/definitions/a"}}},
     [{"x": "s", "y": 1}], [{"x": 1}, {"y": "s"}]),
    ("what does not count is led to", [DRAFT_04, DRAFT_07, DRAFT_2019],
     {"items": {}, "additionalItems": {"items": {"type": "string"}},
      "properties": {"x": {"$ref": "#/additionalItems/items"}}}, [{"x": "s"}], [{"x": 1}]),
    ("beside a reference that is led into", OLD,
     {"$ref": "#/definitions/a/properties/b",
      "definitions": {"a": {"properties": {"b": {"type": "null"}}}}}, [None], [1]),
    ("documents below an unknown word", [DRAFT_2020],
     {"properties": {"a": {"$ref": "https://a.example/in"}, "b": {"$ref": "#/x/M/y/N"}},
      "x": {"M": {"$id": "https://a.example/in", "type": "array", "items": {"$ref": "#/y/N"},
                  "y": {"N": {"type": "null"}}}},
      "allOf": [{"$ref": "#/x/M"}, True][1:], "anyOf": [{"$ref": "#/x/M"}, {"type": "object"}]},
     [], []),
    ("names of generators", list(VALIDATORS),
     {"items": {"$ref": "#/definitions/Rec<string, A[]>"},
      "definitions": {"Rec<string, A[]>": {"type": "null"}}}, [[None]], [[1]]),
    ("names with signs", list(VALIDATORS),
     {"items": {"$ref": "#/definitions/a~1b%25c"}, "definitions": {"a/b%c": {"type": "null"}}},
     [[None]], [[1]]),
    ("an anchor", [DRAFT_06, DRAFT_07],
     {"items": {"$ref": "#n"}, "definitions": {"x": {"$id": "#n", "type": "null"}}},
     [[None]], [[1]]),
    ("an anchor beside a reference", [DRAFT_06, DRAFT_07],
     {"$ref": "#n", "definitions": {"x": {"$id": "#n", "items": {"$ref": "#/definitions/y"}},
                                    "y": {"type": "null"}}}, [[None], 1], [[1]]),
    ("an id that is a place", [DRAFT_07],
     {"properties": {"a": {"$id": "#/properties/a", "type": "null"}}}, [{"a": None}], [{"a": 1}]),
    ("the id of draft-04", [DRAFT_04],
     {"id": "http://a.example/s", "items": {"$ref": "t"},
      "definitions": {"x": {"id": "t", "type": "null"}}}, [[None]], [[1]]),
    ("exclusive limits of draft-04", [DRAFT_04],
     {"minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False},
     [2, 5], [1, 6]),
    ("const in draft-04", [DRAFT_04], {"const": 1, "contains": False}, [2, [1]], []),
    ("if in draft-06", [DRAFT_04, DRAFT_06], {"if": True, "then": False}, [1], []),
    ("recursion of 2019-09", [DRAFT_2019],
     {"properties": {"a": {"$recursiveRef": "#"}, "b": {"type": "null"}}},
     [{"a": {"a": {"b": None}}}], [{"a": {"a": {"b": 1}}}]),
    ("recursion beside a reference", [DRAFT_2019],
     {"properties": {"a": {"$ref": "#/$defs/o", "$recursiveRef": "#"}},
      "$defs": {"o": {"type": "object"}}}, [{"a": {}}], [{"a": 1}, {"a": {"a": 1}}]),
    ("found items of 2019-09", [DRAFT_2019],
     {"contains": {"type": "null"}, "unevaluatedItems": False}, [], [[None], [1]]),
    ("found items", [DRAFT_2020],
     {"contains": {"type": "null"}, "unevaluatedItems": False}, [[None]], [[1], [None, 1]]),
    ("deprecated with a text", OLD, {"deprecated": "use b", "type": "null"}, [None], [1]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "content", "good", "bad"),
    [
        pytest.param(dialect, *row, id=f"{name}-{dialect.split('/')[-2]}")
        for name, dialects, *row in WORDS
        for dialect in dialects
    ],
)
def test_a_word_means_what_its_dialect_says(
    dialect: str, content: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    schema = at({"$schema": dialect, **content})
    assert [takes(schema, value) for value in good] == [True] * len(good)
    assert [takes(schema, value) for value in bad] == [False] * len(bad)
    # What is written is read again as the same.
    assert MessageBodySchema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize("uri", ["https://json-schema.org/draft-07/schema#",
                                 "http://json-schema.org/draft-07/schema",
                                 "http://json-schema.org/draft/2020-12/schema#"])  # fmt: skip
def test_slips_in_the_name_of_a_dialect(uri: str) -> None:
    assert takes(at({"$schema": uri, "type": "null"}), None)


def test_recursion_into_a_wider_document() -> None:
    """A tree that is extended takes the extension at all its levels."""
    tree = {
        "$id": "https://a.example/tree", "$recursiveAnchor": True,
        "properties": {"data": True, "children": {"items": {"$recursiveRef": "#"}}},
    }  # fmt: skip
    strict = at({
        "$schema": DRAFT_2019, "$id": "https://a.example/strict", "$recursiveAnchor": True,
        "$ref": "tree", "unevaluatedProperties": False, "$defs": {"tree": tree},
    })  # fmt: skip
    assert takes(strict, {"children": [{"data": 1}]})
    assert not takes(strict, {"children": [{"daat": 1}]})


ATOMS: list[Any] = [
    {}, {"type": "string"}, {"type": ["null", "number"]}, {"enum": [1, "a", None]},
    {"minimum": 1}, {"maxLength": 1}, {"required": ["a"]}, {"minItems": 1}, {"const": "a"},
    {"propertyNames": {"maxLength": 1}}, {"contains": {"type": "null"}},
    {"$ref": "#/definitions/d"}, {"$ref": "#/definitions/deep/e"}, {"$ref": "#/x/y/0"},
]  # fmt: skip
VALUES: list[Any] = [
    None, 1, 2.5, "a", "ab", [], [None], ["a", 1], [1, None, "b"], {}, {"a": 1}, {"b": "x"},
    {"a": "a", "b": None}, {"a": {"a": 1}}, {"ab": [1]}, [{"a": 1}], {"a": [None]},
]  # fmt: skip


def drawn(dice: random.Random, dialect: str, depth: int = 2) -> Any:
    """Return a random schema, with words that the dialect may not know."""
    if depth == 0 or dice.random() < 0.2:
        return dice.choice(ATOMS)
    below = [drawn(dice, dialect, depth - 1) for _ in range(3)]
    words: list[dict[str, Any]] = [
        {"properties": {"a": below[0], "b": below[1]}}, {"items": below[0]},
        {"additionalProperties": below[0]}, {"allOf": below[:2]}, {"anyOf": below[:2]},
        {"not": below[0]}, {"dependencies": {"a": ["b"], "b": below[0]}},
        {"dependentRequired": {"b": ["a"]}}, {"dependentSchemas": {"a": below[1]}},
        {"if": below[0], "then": below[1], "else": below[2]}, {"minContains": 2},
        {"prefixItems": below[:2]}, {"additionalItems": below[1]}, {"x": {"z": below[0]}},
        {"contains": below[0]}, {"patternProperties": {"^a": below[0]}},
    ]  # fmt: skip
    if dialect != DRAFT_2020:
        words.append({"items": below[:2]})
    found: dict[str, Any] = {}
    for each in dice.sample(words, dice.randint(1, 3)):
        found |= each
    return found


@pytest.mark.parametrize("dialect", VALIDATORS)
def test_random_schemas_are_read_as_their_own_validator_reads_them(dialect: str) -> None:
    dice = random.Random(dialect)
    decided = 0
    for _ in range(120):
        content = {
            "$schema": dialect,
            **drawn(dice, dialect),
            # Not of references: what refers to itself beside `not` means nothing.
            "definitions": {"d": dice.choice(ATOMS[:-3]), "deep": {"e": dice.choice(ATOMS[:-3])}},
            "x": {"y": [dice.choice(ATOMS[:-3])]},
        }
        try:
            schema, own = at(content), VALIDATORS[dialect](content)
        except InvalidSchema:  # a word of the drawn ones is not legal there
            continue
        for value in VALUES:
            assert takes(schema, value) is own.is_valid(value), (content, value)
            decided += 1
    assert decided > 1_000


ODD: list[Any] = [
    None, True, 0, -1, 3, 1.5, 10**400, "", "x", "[", "#", "#/", "%", "\ud800",
    [], {}, [{}], [[]], ["a", "a"], [None], {"a": 3}, {"a": None}, {"": {}}, {"a": []},
    {"a": {"$ref": "#"}}, {"$ref": "#"}, {"$ref": 3}, {"$ref": "http://[", "x": 1},
]  # fmt: skip
PLACES: list[Callable[[Any], Any]] = [
    lambda each: each,
    lambda each: {"properties": {"a": each}},
    lambda each: {"items": {"not": {"anyOf": [each]}}},
    lambda each: {"$defs": {"n": each}, "$ref": "#/$defs/n"},
    lambda each: {"$ref": "#/x/M", "x": {"M": each}},
    lambda each: {"$ref": "#/definitions/v/M", "definitions": {"v": {"M": each}}},
    lambda each: {"allOf": [{"$ref": "#/default/0"}], "default": [each]},
]


def test_a_schema_that_is_none_raises_our_error() -> None:
    """Every word with odd values, in all places and dialects: nothing else is raised."""
    words = sorted({
        "$ref", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$id", "id", "$anchor",
        "$dynamicAnchor", "$schema", "$vocabulary", "multipleOf", "pattern", "maximum",
        "exclusiveMinimum", "maxLength", "minItems", "uniqueItems", "required", "enum", "const",
        "type", "format", "minContains", "definitions", "$defs", "dependencies", "properties",
        "items", "prefixItems", "additionalItems", "additionalProperties", "patternProperties",
        "propertyNames", "contains", "if", "then", "allOf", "oneOf", "not", "dependentSchemas",
        "dependentRequired", "unevaluatedItems", "unevaluatedProperties", "title", "x-own",
    })  # fmt: skip
    dice = random.Random(3)
    taken = 0
    for word in words:
        for value in ODD:
            place, dialect = dice.choice(PLACES), dice.choice([*VALIDATORS, None])
            content: Any = place({word: value})
            if dialect is not None:
                content = {"$schema": dialect, **content}
            try:
                schema = at(content)
            except InvalidSchema:
                continue
            taken += 1
            lint(schema)
            takes(schema, {"a": [1]})
    assert taken > 200


def test_a_flaw_behind_a_reference_is_named() -> None:
    for content in (
        {"$ref": "#/x/M", "x": {"M": {"multipleOf": 0}}},
        {"$ref": "#/x/M", "x": {"M": {"if": 3}}},
        {"$ref": "#/default/0", "default": [{"items": [{}]}]},
    ):
        with pytest.raises(InvalidSchema):
            content_schema_of(content)
    with pytest.raises(InvalidSchema, match=r"/\$ref leads to /title, which is no schema"):
        content_schema_of({"title": "a", "$ref": "#/title"})


@pytest.mark.parametrize(
    ("word", "meant"),
    [("requierd", "required"), ("minLenght", "minLength"), ("item", "items"),
     ("additionalProperty", "additionalProperties"), ("propertes", "properties")],
)  # fmt: skip
def test_a_misspelt_word_is_told(word: str, meant: str) -> None:
    places: list[Any] = [{word: 1}, {"properties": {"a": {word: 1}}}]
    for place in places:
        [found] = [each for each in lint(at(place)) if each.check == "unknown-word"]
        assert f"{word}' of its content schema says nothing" in found.problem
        assert f"did you mean '{meant}'?" in found.problem
    for place in (
        {"x-requierd": 1},
        {"properties": {word: {}}},
        {"const": {word: 1}},
        {"tsType": 1},
    ):
        assert [each for each in lint(at(place)) if each.check == "unknown-word"] == []


@pytest.mark.parametrize("step", ["1" * 5_000, "01", "\u0661", "-1", "1.0", "", "\ud800", "%ud800"])
def test_steps_of_a_pointer_that_lead_nowhere(step: str) -> None:
    with pytest.raises(InvalidSchema):
        at({"allOf": [{}, {}], "$ref": f"#/allOf/{step}"})


def test_names_that_no_uri_holds() -> None:
    for content in ({"$ref": "#/x/\ud800", "x": {"\ud800": {}}}, {"$ref": "\ud800"}):
        with pytest.raises(InvalidSchema):
            at(content)


def test_thousands_of_targets_of_one_name_have_rooms_in_few_steps() -> None:
    def read(number: int) -> int:
        content = {
            "x": {str(each): {"a": {}} for each in range(number)},
            "allOf": [{"$ref": f"#/x/{each}/a"} for each in range(number)],
        }
        return calls(lambda: at(content))

    assert read(2_000) < 25 * read(100)


def test_many_references_into_each_other_are_moved_once() -> None:
    """Definitions that lie in each other are not copied with each other."""
    inner: Any = {"type": "null"}
    for level in range(20):
        inner = {
            "x": {"M": inner},
            "title": "t" * 100,
            "properties": {"p": {"$ref": "#" + "/x/M" * (20 - level)}},
        }
    schema = content_schema_of({**inner, "$ref": "#/x/M"})
    assert len(schema.text) < 2 * len(json.dumps(inner))
