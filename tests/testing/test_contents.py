"""The strategy for contents draws values that satisfy their schema."""

import json
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable
from pydantic import BaseModel

from messagebody.schema import content_schema_of
from messagebody.testing import strategies


class Node(BaseModel):
    title: str
    page: int | None = None
    below: list["Node"] = []


SCHEMAS: list[Any] = [
    True,
    Node,
    {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "number", "multipleOf": 0.5}},
    {"prefixItems": [{"const": 1}, {"type": "string"}], "items": False, "type": "array"},
    {"type": "array", "contains": {"const": "x"}, "minContains": 2, "items": {"type": "string"}},
    {"type": "object", "patternProperties": {"^a+$": {"type": "null"}}, "minProperties": 1},
    {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 2},
    {"type": "object", "propertyNames": {"pattern": "^[ab]$"}},
    {"oneOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 2}]},
    {"allOf": [{"required": ["a"]}, {"properties": {"a": {"enum": [1, "b"]}}}]},
    {"if": {"type": "string"}, "then": {"minLength": 3}, "else": {"type": "integer"}},
    {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "maxLength": 2}}, "minLength": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.25},
    # A reference inside of an `$id` is about that document, and a filter corrects what is drawn.
    {
        "properties": {
            "a": {
                "$id": "https://e.org/a",
                "$defs": {"b": {"type": ["null", "object"]}},
                "$ref": "#/$defs/b",
            }
        }
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_it_draws_many_values_that_satisfy_the_schema(schema: Any) -> None:
    content, seen = content_schema_of(schema), set()

    @settings(max_examples=30, suppress_health_check=[*HealthCheck])
    @given(strategies.contents(schema))
    def collect(value: Any) -> None:
        assert content.validator.is_valid(value)
        seen.add(json.dumps(value, sort_keys=True))

    collect()
    assert len(seen) > 2


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "enum": [1]},
        {"minimum": 2, "maximum": 1, "type": "integer"},
        {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
    ],
)
def test_nothing_is_drawn_for_what_nothing_satisfies(schema: Any) -> None:
    with pytest.raises((NoSuchExample, Unsatisfiable)):
        find(strategies.contents(schema), lambda _: True)


@given(st.data())
def test_examples_become_small(data: st.DataObject) -> None:
    value = data.draw(strategies.contents({"type": "integer", "minimum": 3}))
    assert value >= 3
