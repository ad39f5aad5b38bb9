"""What a model writes for content schemas, in the subset that providers take in strict mode."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from messagebody import MessageBodySchema
from messagebody.errors import DecodeError, InvalidBody
from messagebody.prompts import OutputSchema, output_schema
from messagebody.schema import SchemaPart
from messagebody.testing import strategies
from tests.effort import examples


class Source(BaseModel):
    url: str
    title: str | None = None


class Finding(BaseModel):
    """What was found."""

    answer: str
    sources: list[Source] = []
    confidence: float | None = None
    kind: Literal["fact", "guess"] = "fact"


VECTORS = Path(__file__).parents[1] / "vectors" / "contents" / "contents.jsonl"
SCHEMAS = [json.loads(line)["producer"] for line in VECTORS.read_text().splitlines()]


def output_of(content_schema: Any, name: str | None = "/r.json") -> OutputSchema:
    part = SchemaPart(name, content_schema=content_schema, required=True)
    return output_schema(MessageBodySchema([part]))


def inside(output: OutputSchema) -> Any:
    (part,) = output.json_schema["properties"].values()
    return part["properties"]["content"]


def test_a_model_of_pydantic() -> None:
    output = output_of(Finding)
    assert output.unsaid == ()
    assert inside(output)["description"] == "What was found."
    written = {"answer": "Yes.", "sources": [{"url": "u", "title": None}], "confidence": None}
    Draft202012Validator(inside(output)).validate({**written, "kind": None})
    body = output.decode({"r_json": {"content": {**written, "kind": None}}})
    # `kind` may be left out, but may not be null; the others may be null.
    assert body["/r.json"].read_json() == written
    assert body["/r.json"].content_type == "application/json"
    with pytest.raises(InvalidBody, match="kind"):
        output.decode({"r_json": {"content": {**written, "kind": "joke"}}})


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"const": None}, {"type": "null"}),
        ({"type": ["integer", "null"]}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"enum": ["a", None]},
         {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        ({"items": {"type": "boolean"}}, {"type": "array", "items": {"type": "boolean"}}),
        ({"allOf": [{"$ref": "#/$defs/a~1b"}], "$defs": {"a/b": {"type": "string"}}},
         {"type": "string"}),
        ({"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "number"}]},
         {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "number"}]}),
        ({"type": "object", "properties": {"a": {"type": "string"}, "b": False}},
         {"type": "object", "required": ["a"], "additionalProperties": False,
          "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}),
    ],
)  # fmt: skip
def test_what_is_said(schema: Any, expected: Any) -> None:
    output = output_of(schema)
    assert inside(output) == expected
    assert output.unsaid == ()


@pytest.mark.parametrize(
    ("schema", "unsaid"),
    [
        ({"type": "integer", "minimum": 0, "multipleOf": 2},
         ["r_json: minimum", "r_json: multipleOf"]),
        ({"type": "array", "items": {"type": "string", "pattern": "^a"}},
         ["r_json/items: pattern"]),
        ({"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"],
          "additionalProperties": {"type": "string"}},
         ["r_json: additionalProperties", "r_json/properties/a: enum"]),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, ["r_json: oneOf"]),
        ({"type": "object", "properties": {"a": {"type": "string"}},
          "anyOf": [{"required": ["a"]}]}, ["r_json: anyOf"]),
        ({"$ref": "#/$defs/a", "type": "string", "$defs": {"a": {"enum": ["x"]}}},
         ["r_json: type"]),
    ],
)  # fmt: skip
def test_what_only_validation_sees(schema: Any, unsaid: list[str]) -> None:
    output = output_of(schema)
    assert [*output.unsaid] == unsaid
    assert inside(output).get("type") != "object" or "properties" in inside(output)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (True, ": true"),
        ({"minimum": 3}, ": any value"),
        ({"type": "object"}, ": an object whose members are not all named"),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["b"]},
         ": an object whose members are not all named"),
        ({"type": "array"}, "/items: true"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, ": prefixItems"),
        ({"enum": [{"a": 1}]}, ": enum of objects, arrays or long numbers"),
        ({"$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"},
         "/properties/t: #/$defs/t contains itself"),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "string"}}}, ": $ref #a"),
        ({"anyOf": [
            {"properties": {"k": {"const": kind}}, "required": ["k"]} for kind in "ab"
         ]}, ": objects to choose from that begin with the same member"),
    ],
)  # fmt: skip
def test_what_becomes_text(schema: Any, problem: str) -> None:
    """The model writes JSON as text, and the words of the schema describe it."""
    output = output_of(schema)
    assert output.unsaid == (f"r_json{problem}",)
    assert inside(output)["type"] == "string"
    assert inside(output)["description"].startswith("Text, application/json\n")
    with pytest.raises(InvalidBody, match="not JSON"):
        output.decode({"r_json": {"content": "{"}})


def test_a_schema_that_grows_when_it_is_written_out() -> None:
    """Each definition has the next one twice: 2^40 places."""
    definitions: dict[str, Any] = {
        f"d{n}": {"properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in "ab"}}
        for n in range(40)
    }
    output = output_of({"$ref": "#/$defs/d0", "$defs": {**definitions, "d40": {"type": "null"}}})
    (problem,) = output.unsaid
    assert problem.endswith(": more than 1,000 places or 10 levels")


def test_which_alternative_a_value_takes() -> None:
    """The nulls of one are not those of the other."""
    person = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    }
    place = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "age": {"type": ["integer", "null"]}},
    }
    output = output_of({"type": "array", "items": {"anyOf": [person, {"anyOf": [place]}]}})
    values = [{"name": "Ann", "age": None}, {"city": "Bonn", "age": None}, 7]
    with pytest.raises(InvalidBody, match="/2"):
        output.decode({"r_json": {"content": values}})
    body = output.decode({"r_json": {"content": values[:2]}})
    assert body["/r.json"].read_json() == [{"name": "Ann"}, {"city": "Bonn", "age": None}]


def test_a_pattern_has_an_array_of_contents() -> None:
    schema = SchemaPart("/r/*", "{application/*,text/*}", content_schema={"type": "integer"})
    output = output_schema(MessageBodySchema([schema]))
    item = output.json_schema["properties"]["r"]["items"]["properties"]
    assert item["content"] == {"type": "integer"}
    assert "text/plain" not in item["content_type"]["enum"]
    value = {"name": "/r/a", "content_type": "application/json", "content": 3}
    assert output.decode({"r": [value]})["/r/a"].read_json() == 3


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, {"answer": object()}])
def test_what_is_no_json(value: Any) -> None:
    with pytest.raises(DecodeError, match="r_json: JSON value"):
        output_of(Finding).decode({"r_json": {"content": value}})


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_whatever_fits_is_a_valid_body(data: st.DataObject) -> None:
    """If nothing is unsaid, everything that the JSON Schema allows is decoded."""
    schema = data.draw(st.sampled_from(SCHEMAS))
    output = output_of(schema)
    Draft202012Validator.check_schema(output.json_schema)
    _require_strict(output.json_schema)
    answer = data.draw(strategies.contents(output.json_schema))
    try:
        output.decode(json.dumps(answer))
    except InvalidBody:
        assert output.unsaid


def _require_strict(schema: dict[str, Any]) -> None:
    words = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"}
    assert schema.keys() <= {*words, "description"}
    if schema.get("type") == "object":
        assert schema["required"] == [*schema["properties"]]
        assert schema["additionalProperties"] is False
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for each in [*inner, *([schema["items"]] if "items" in schema else [])]:
        _require_strict(each)
