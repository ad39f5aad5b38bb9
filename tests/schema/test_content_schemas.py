"""Schemas of contents: what they are made of, which are legal, and their place in a value."""

import json
import pickle
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypedDict

import attrs
import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from pydantic import BaseModel, TypeAdapter

from messagebody import Limits, MessageBodySchema, SchemaPart
from messagebody.compatibility import Verdict, check
from messagebody.errors import InvalidSchema
from messagebody.schema import ContentSchema, content_schema_of

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
TODAY = "https://json-schema.org/draft/2020-12/schema"


class Report(BaseModel):
    title: str
    pages: int = 1


class Typed(TypedDict):
    title: str


@dataclass
class Data:
    title: str


@attrs.define
class Attrs:
    title: str


TITLE = {"properties": {"title": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize("model", [Data, Attrs, Typed])
def test_what_msgspec_describes_is_a_schema(model: type) -> None:
    value = content_schema_of(model).value
    assert isinstance(value, dict)
    assert TITLE.items() <= value["$defs"][model.__name__].items()


@pytest.mark.leaf("frameworks")
def test_a_pydantic_model_takes_less_than_it_sends() -> None:
    taken, sent = content_schema_of(Report), content_schema_of(Report, sends=True)
    assert isinstance(taken.value, dict)
    assert isinstance(sent.value, dict)
    assert taken.value["required"] == ["title"]
    assert sent.value["required"] == ["title", "pages"]
    assert content_schema_of(TypeAdapter(Report)) == taken
    assert content_schema_of(TypeAdapter(Report), sends=True) == sent


def test_it_is_part_of_the_value() -> None:
    part = SchemaPart("/r.json", content_schema=TITLE)
    assert part.content_type == "application/json"
    assert part != SchemaPart("/r.json", "application/json")
    same = SchemaPart("/r.json", content_schema=json.dumps(TITLE, sort_keys=True, indent=1))
    assert part == same
    assert hash(part) == hash(same)
    assert pickle.loads(pickle.dumps(MessageBodySchema([part])))[0] == part
    assert SchemaPart("/r.json", "*/*", content_schema=True).content_type == "*/*"


def test_json_keeps_it_and_the_order_of_its_author() -> None:
    schema = MessageBodySchema([{"name": "/r.json", "contentSchema": TITLE}])
    assert schema.to_dicts() == [
        {"name": "/r.json", "contentType": "application/json", "contentSchema": TITLE}
    ]
    read = MessageBodySchema.from_json(schema.to_json(indent=2))
    assert read == schema
    assert list(read.to_dicts()[0]["contentSchema"]) == list(TITLE)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "1.0"), ("1e2", "100"), ("-0", "0"), ("0.10", "1e-1"), ("1E400", "10e399")],
)
def test_equal_numbers_are_one(one: str, other: str) -> None:
    left, right = content_schema_of(f'{{"const":{one}}}'), content_schema_of(f'{{"const":{other}}}')
    assert left == right
    assert left.canonical == right.canonical


def test_numbers_keep_all_their_digits() -> None:
    digits = "0.1000000000000000000000000000001"
    schema = MessageBodySchema.from_json(f'[{{"contentSchema":{{"maximum":{digits}}}}}]')
    assert schema.to_dicts()[0]["contentSchema"] == {"maximum": Decimal(digits)}
    assert digits in schema.to_json()
    assert MessageBodySchema.from_json(schema.to_json(indent=2)) == schema
    assert content_schema_of({"const": 2**53}) != content_schema_of({"const": 2**53 + 1})


def test_draft_07_is_rewritten() -> None:
    old: dict[str, Any] = {
        "$schema": DRAFT_07,
        "definitions": {
            "pair": {"items": [{"type": "string"}, True], "additionalItems": False},
            "name": {"$id": "#name", "type": "string"},
            "needs": {"dependencies": {"a": ["b"], "b": {"minProperties": 2}}},
        },
        "properties": {
            "definitions": {"$ref": "#/definitions/pair/items/0", "type": "null"},
            "b": {"$ref": "#/definitions/needs/dependencies/b"},
            "c": {"$ref": "#name"},
        },
    }
    new = {
        "$defs": {
            "pair": {"prefixItems": [{"type": "string"}, True], "items": False},
            "name": {"type": "string"},
            "needs": {
                "dependentRequired": {"a": ["b"]},
                "dependentSchemas": {"b": {"minProperties": 2}},
            },
        },
        "properties": {
            "definitions": {"$ref": "#/$defs/pair/prefixItems/0"},
            "b": {"$ref": "#/$defs/needs/dependentSchemas/b"},
            "c": {"$ref": "#/$defs/name"},
        },
    }
    assert content_schema_of(old) == content_schema_of(new)
    assert content_schema_of({"$schema": TODAY, **new}) == content_schema_of(new)


def test_beside_a_reference_of_draft_07_only_definitions_count() -> None:
    old = {"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {"type": "string"}}}
    new = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}
    assert content_schema_of({"$schema": DRAFT_07, **old}) == content_schema_of(new)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"$schema": "https://example.com/mine"}, "/$schema: 'https://example.com/mine'"),
        ({"items": {"$ref": "https://a.org"}}, "/items/$ref: 'https://a.org' leaves"),
        ({"$ref": "other.json"}, "/$ref: 'other.json' leaves the document"),
        ({"$ref": TODAY}, "leaves the document"),
        ({"$ref": "#/$defs/a"}, "'/$defs/a' does not exist"),
        ({"items": {"type": "text"}}, '/items/type: "text" is not valid'),
        ({"items": {"pattern": "(?=a)"}}, "without looking around"),
        ('{"type":"string","type":"null"}', "member 'type' is repeated"),
        ("nothing", "not JSON"),
        ({"const": float("nan")}, "nan is not a JSON number"),
        ({"const": object()}, "is not a JSON value"),
        ({"const": {1: 2}}, "member names are strings"),
        ([], "a JSON Schema"),
        (3, "a pydantic model or TypeAdapter"),
    ],
)
def test_what_is_not_legal_is_refused_with_its_place(schema: Any, told: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        content_schema_of(schema)
    assert told in caught.value.problem
    with pytest.raises(InvalidSchema) as caught:
        MessageBodySchema.from_dicts([{}, {"contentSchema": schema}])
    assert caught.value.index == 1


def test_only_json_types_may_have_one() -> None:
    with pytest.raises(InvalidSchema, match="'image/png' matches no JSON type"):
        SchemaPart("/a", "image/png", content_schema=True)
    for kind in ("application/geo+json", "*/*", "text/*", "image/{png,x+json}"):
        assert SchemaPart("/a", kind, content_schema=True).content_type == kind


def test_a_part_accepts_names_and_json_types() -> None:
    part = SchemaPart("/*", "*/*", content_schema=False)
    assert part.accepts("/a", "application/ld+json")
    assert not part.accepts("/a", "text/plain")


def test_limits_hold_and_can_be_changed() -> None:
    long = {"description": "a" * (256 * 1024)}
    deep: Any = True
    for _ in range(65):
        deep = {"not": deep}
    assert content_schema_of(deep["not"]).value == deep["not"]  # of 64 levels
    for schema, name in ((long, "content_schema_bytes"), (deep, "64 levels")):
        with pytest.raises(InvalidSchema, match=name):
            SchemaPart(content_schema=schema)
        wide = Limits(content_schema_bytes=10**6, content_schema_depth=99)
        text = json.dumps([{"contentSchema": schema}])
        [part] = MessageBodySchema.from_json(text, limits=wide)
        assert part.content_schema == content_schema_of(schema, limits=wide)


def test_all_content_schemas_are_limited_together() -> None:
    many = {"properties": {f"p{at}": {"pattern": f"^{at}$"} for at in range(1001)}}
    with pytest.raises(InvalidSchema, match="1,001 patterns, more than 1,000"):
        content_schema_of(many)
    assert content_schema_of(many, limits=Limits(content_patterns=2000)).patterns == 1001
    half = {"patternProperties": {f"^{at}$": True for at in range(501)}}
    with pytest.raises(InvalidSchema, match="up to part 1 have 1,002 patterns"):
        MessageBodySchema.from_dicts([{"contentSchema": half}, {"contentSchema": half}])
    large = {"contentSchema": {"description": "a" * 250_000}}
    with pytest.raises(InvalidSchema, match=r"up to part 4 have .* characters together"):
        MessageBodySchema.from_dicts([large] * 6)
    with pytest.raises(InvalidSchema, match="little memory"):
        content_schema_of({"pattern": r"\p{L}{100}"})


def test_references_inside_the_document_are_legal() -> None:
    schema = {
        "$id": "https://example.com/root",
        "$defs": {"a": {"$id": "part", "type": "string"}, "b": {"$anchor": "b"}},
        "properties": {"a": {"$ref": "part"}, "b": {"$ref": "#b"}, "c": {"$ref": "#"}},
    }
    assert isinstance(content_schema_of(schema), ContentSchema)


def test_names_of_members_are_no_keywords() -> None:
    schema = {"properties": {"$ref": {"const": {"$ref": "https://example.com"}}}}
    assert content_schema_of(schema).value == schema


def test_a_pair_with_contents_is_never_always_by_names_and_types() -> None:
    agent = MessageBodySchema([("/r.json", "application/json", True)])
    reader = MessageBodySchema([SchemaPart("/r.json", content_schema=TITLE)])
    answer = check(agent, reader)
    assert answer.verdict is not Verdict.ALWAYS


def test_a_description_says_members_in_words() -> None:
    model = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "description": "What it is about"},
            "kind": {"enum": ["news", "paper"]},
            "sources": {"type": "array", "items": {"$ref": "#/$defs/source"}},
            "page": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["title"],
        "additionalProperties": False,
        "$defs": {"source": {"type": "object", "properties": {"url": {"type": "string"}}}},
    }
    schema = MessageBodySchema([SchemaPart("/r.json", required=True, content_schema=model)])
    assert schema.describe().splitlines()[1:] == [
        "- at least one part named '/r.json' of type application/json; inside is an object with",
        "  - title: string (minLength 1): What it is about",
        '  - kind (optional): one of "news", "paper"',
        "  - sources (optional): an array of an object with",
        "    - url (optional): string",
        "  - page (optional): integer or null",
        "  - no other members",
    ]


def test_a_description_leaves_out_what_is_in_another_document() -> None:
    inner = {"$id": "https://a.example/b", "$ref": "#/$defs/c", "$defs": {"c": {"type": "null"}}}
    schema = {"$id": "https://a.example/a", "properties": {"foo": inner}}
    words = MessageBodySchema([SchemaPart(content_schema=schema)]).describe()
    assert words.splitlines()[-1] == "  - foo (optional): anything"


def test_a_description_of_a_hostile_schema_is_short() -> None:
    definitions: dict[str, Any] = {
        f"a{at}": {
            "properties": {f"p{name}": {"$ref": f"#/$defs/a{at + 1}"} for name in range(30)},
            "anyOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 30,
        }
        for at in range(30)
    }
    schema = {"$ref": "#/$defs/a0", "$defs": {**definitions, "a30": {"$ref": "#"}}}
    words = MessageBodySchema([SchemaPart(content_schema=schema)]).describe()
    assert len(words.splitlines()) < 110
    assert len(words) < 100_000
