"""Content schemas that nobody would write: refused with an error of ours, or decided."""

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.errors import InvalidSchema

SUITE = Path(__file__).parents[1] / "vectors" / "contents" / "json_schema_test_suite.jsonl.gz"
GROUPS = [json.loads(line) for line in gzip.decompress(SUITE.read_bytes()).splitlines()]
KEYS = [
    "$ref", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$schema", "$defs", "definitions",
    "items", "prefixItems", "additionalItems", "properties", "patternProperties", "dependencies",
    "dependentSchemas", "allOf", "anyOf", "not", "if", "then", "contains", "pattern", "type",
    "enum", "multipleOf", "maxLength", "uniqueItems",
]  # fmt: skip
ODD: list[Any] = [
    None, True, False, 0, -1, 1e308, 10**400, "", "#", "#/", "#/$defs/a", "#a", "http://[", "urn:x",
    "//", "(a+)+$", "(?=x)", "\\", "[", {}, [], [[]], {"": {}}, "\x00", "a" * 3000, "#/%zz", "#/~2",
    "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
]  # fmt: skip


def pieces_of(value: Any) -> list[Any]:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(piece for each in below for piece in pieces_of(each))]


PIECES = [piece for group in GROUPS for piece in pieces_of(group["schema"])]
VALUES = [test[1] for group in GROUPS for test in group["tests"]]


def mutated(chance: random.Random, value: Any) -> Any:
    odds = chance.random()
    if odds < 0.12:
        return copy.deepcopy(chance.choice(PIECES))
    if odds < 0.18:
        return chance.choice(ODD)
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if chance.random() > 0.03}
        if chance.random() < 0.25:
            kept[chance.choice(KEYS)] = copy.deepcopy(chance.choice([*ODD, chance.choice(PIECES)]))
        return {
            key: mutated(chance, each) if chance.random() < 0.3 else each
            for key, each in kept.items()
        }
    if isinstance(value, list):
        return [mutated(chance, each) if chance.random() < 0.3 else each for each in value]
    return value


def try_schemas(seed: int, count: int) -> int:
    """Make schemas and validate with them; return how many are legal."""
    chance, legal = random.Random(seed), 0
    for _ in range(count):
        rule = chance.choice(GROUPS)["schema"]
        for _ in range(chance.randint(1, 4)):
            rule = mutated(chance, rule)
        try:
            schema = MessageBodySchema.from_dicts([{"name": "/r.json", "contentSchema": rule}])
        except InvalidSchema:
            continue
        legal += 1
        for value in chance.sample(VALUES, 4):
            part = Part(json.dumps(value), name="/r.json", content_type="application/json")
            body = MessageBody([part])
            assert schema.is_valid(body) is (not [*schema.iter_violations(body)])
        assert schema.describe()
        assert MessageBodySchema.from_json(schema.to_json()) == schema
    return legal


def test_mutated_schemas() -> None:
    assert try_schemas(1, 300) > 100


@pytest.mark.slow
def test_many_mutated_schemas() -> None:
    assert try_schemas(2, 10_000) > 3_000


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|aa)+$", "(a|a)*b", "^(a?){50}a{50}$", "(.*)*x", "([a-z]+)*[0-9]"],
)
def test_patterns_with_catastrophic_backtracking_take_no_time(pattern: str) -> None:
    schema = MessageBodySchema([SchemaPart(content_schema={"pattern": pattern})])
    body = MessageBody([Part(json.dumps("a" * 100_000 + "!"), content_type="application/json")])
    assert schema.is_valid(body) in {True, False}


def test_a_large_content_with_a_flaw_everywhere_has_a_short_answer() -> None:
    rule = {"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
    schema = MessageBodySchema([SchemaPart(content_schema=rule)])
    body = MessageBody([Part(json.dumps([*range(200_000)]), content_type="application/json")])
    [flaw] = schema.iter_violations(body)
    assert (flaw.code, flaw.got) == ("content-invalid", "an array of 200,000 items")
