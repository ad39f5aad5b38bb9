"""Bodies, parts and schemas across the frameworks that ask pydantic."""

import re
from typing import Annotated, Any

import jsonschema
import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json, to_jsonable_python

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.names import is_name
from messagebody.testing.strategies import bodies, names, texts

JSON = [
    {"contentType": "text/plain", "content": "Hello"},
    {"name": "/a.bin", "contentType": "image/png", "content": "/w==", "contentEncoding": "base64"},
    {"name": "/r", "contentType": "text/html", "contentUrl": "https://example.com/r"},
]


class Envelope(BaseModel):
    body: MessageBody
    first: Part | None = None
    accepts: MessageBodySchema = MessageBodySchema([])


class TestModels:
    def test_there_and_back(self) -> None:
        model = Envelope.model_validate(
            {"body": JSON, "first": JSON[0], "accepts": [{"contentType": "text/*"}]}
        )
        assert isinstance(model.body, MessageBody)
        assert model.body == MessageBody.from_dicts(JSON)
        assert model.first == model.body[0]
        assert model.model_dump(mode="json")["body"] == JSON
        assert Envelope.model_validate_json(model.model_dump_json()) == model

    def test_values_pass_as_they_are(self) -> None:
        body = MessageBody.from_dicts(JSON)
        assert Envelope(body=body).body is body
        assert TypeAdapter(MessageBody).validate_python({"parts": JSON}) == body

    def test_refusals_say_what_ours_do(self) -> None:
        with pytest.raises(ValidationError) as caught:
            Envelope.model_validate({"body": [{"name": "a", "content": ""}]})
        [error] = caught.value.errors()
        assert error["loc"] == ("body", 0)
        assert "part 0 'a': a name begins with '/', for example '/a'" in error["msg"]
        with pytest.raises(ValidationError, match="exactly one of content and contentUrl"):
            TypeAdapter(Part).validate_python({})
        with pytest.raises(ValidationError, match="schema part 0"):
            TypeAdapter(MessageBodySchema).validate_python([{"requierd": True}])

    def test_errors_name_every_part_and_repeat_no_content(self) -> None:
        parts = [
            {"content": "secret" * 10_000},
            {"name": "bad name", "content": "secret"},
            {"name": "/ok", "content": "secret"},
            {"content_type": "text/plain", "content": "secret"},
        ]
        with pytest.raises(ValidationError) as caught:
            Envelope.model_validate({"body": parts})
        errors = caught.value.errors()
        assert [(each["loc"], each["input"]) for each in errors] == [
            (("body", 1), "bad name"),
            (("body", 3), None),
        ]
        assert "secret" not in caught.value.json()
        assert len(caught.value.json()) < 1500
        with pytest.raises(ValidationError, match=r"MessageBody\.from_json") as text:
            TypeAdapter(MessageBody).validate_python('["secret"]')
        assert "secret" not in str(text.value)

    def test_parts_and_their_json_may_be_mixed(self) -> None:
        parts = [Part("a"), {"content": "b"}, Part("c", name="/c")]
        body = TypeAdapter(MessageBody).validate_python(parts)
        assert [part.text for part in body] == ["a", "b", "c"]

    def test_values_nobody_declared(self) -> None:
        body = MessageBody.from_dicts(JSON)
        assert to_jsonable_python({"any": body}) == {"any": JSON}
        assert TypeAdapter(list[MessageBody]).validate_json(to_json([body])) == [body]


@pytest.fixture
def client() -> TestClient:
    application = FastAPI()

    @application.post("/echo")
    def echo(body: Annotated[MessageBody, Body()]) -> MessageBody:
        return body

    @application.post("/part")
    def part(part: Annotated[Part, Body()]) -> Part:
        return part

    @application.post("/schema")
    def accepts(accepted: Annotated[MessageBodySchema, Body()]) -> MessageBodySchema:
        return accepted

    return TestClient(application)


class TestFastapi:
    def test_in_and_out(self, client: TestClient) -> None:
        assert client.post("/echo", json=JSON).json() == JSON
        assert client.post("/part", json=JSON[2]).json() == JSON[2]
        schema = [{"name": "/a/*", "contentType": "text/*", "required": True}]
        assert client.post("/schema", json=schema).json() == schema

    def test_a_bad_one_is_422(self, client: TestClient) -> None:
        answer = client.post(
            "/echo", json=[{"name": "/a", "content": "x", "contentUrl": "s3://b/k"}]
        )
        assert answer.status_code == 422
        assert "part 0 '/a': exactly one of" in answer.json()["detail"][0]["msg"]

    def test_documented(self, client: TestClient) -> None:
        described: dict[str, Any] = client.get("/openapi.json").json()
        body = described["paths"]["/echo"]["post"]["requestBody"]["content"]["application/json"]
        assert "contentUrl" in str(described)
        assert body["schema"]
        answer = described["paths"]["/echo"]["post"]["responses"]["200"]
        assert answer["content"]["application/json"]["schema"]


class TestSchemas:
    """What model providers take: `anyOf` of plain objects, by name."""

    def test_definitions_have_names(self) -> None:
        schema = Envelope.model_json_schema()
        assert set(schema["$defs"]) == {
            "InlinePart", "MessageBody", "MessageBodySchema", "Part", "ReferencePart", "SchemaPart",
        }  # fmt: skip
        assert schema["properties"]["body"] == {"$ref": "#/$defs/MessageBody"}
        assert schema["$defs"]["MessageBody"]["items"] == {"$ref": "#/$defs/Part"}
        assert len(schema["$defs"]["Part"]["anyOf"]) == 2

    def test_nothing_that_strict_structured_output_refuses(self) -> None:
        text = str(TypeAdapter(MessageBody).json_schema())
        for word in ("oneOf", "examples", "additionalProperties", "(?"):
            assert word not in text.replace("(?:", "")
        for kind in ("InlinePart", "ReferencePart"):
            described = TypeAdapter(MessageBody).json_schema()["$defs"][kind]
            assert described["type"] == "object"
            assert {"type": "null"} in described["properties"]["name"]["anyOf"]

    @given(bodies())
    def test_what_is_written_fits_the_schema_of_output(self, body: MessageBody) -> None:
        schema = TypeAdapter(MessageBody).json_schema(mode="serialization")
        jsonschema.validate(body.to_dicts(), schema)

    @pytest.mark.parametrize("part", [*JSON, {"name": None, "contentType": "a/b", "content": ""}])
    def test_what_is_read_fits_the_schema_of_input(self, part: dict[str, Any]) -> None:
        schema = TypeAdapter(MessageBody).json_schema()
        jsonschema.validate([part], schema)
        assert TypeAdapter(MessageBody).validate_python([part])
        for wrong in ({"contentType": "a/b"}, {"content": "a"}, {"contentType": 1, "content": ""}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate([wrong], schema)


@given(names() | texts())
def test_the_documented_pattern_is_the_rule(name: str) -> None:
    schema = TypeAdapter(Part).json_schema(mode="serialization")
    pattern = schema["properties"]["name"]["pattern"]
    assert bool(re.fullmatch(pattern.removeprefix("^").removesuffix("$"), name)) is is_name(name)
