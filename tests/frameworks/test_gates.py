"""Schemas and errors of the toolkit in validators: what a FastAPI client is told."""

from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient
from pydantic import AfterValidator, TypeAdapter, ValidationError

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.errors import (
    AccessDenied,
    AgentNotFound,
    InvalidArgument,
    InvalidBody,
    LocalFileChanged,
    MessageBodyError,
    MissingDependency,
    ObjectNotFound,
    PartsFailed,
    StoreError,
)
from tests.base.test_errors import CLASSES, EXAMPLES

SCHEMA = MessageBodySchema([("/report.md", "text/markdown", True)])
# They say that the service is broken, not the request.
FAULTS = {
    AccessDenied, AgentNotFound, InvalidArgument, LocalFileChanged, MessageBodyError,
    MissingDependency,
    ObjectNotFound, PartsFailed, StoreError,
}  # fmt: skip


def client_of(body_type: Any) -> TestClient:
    application = FastAPI()

    @application.post("/")
    def count(body: body_type) -> int:
        return len(body)

    return TestClient(application, raise_server_exceptions=False)


class TestErrorsInValidators:
    @pytest.mark.parametrize("error", [each for each, _, _ in EXAMPLES], ids=lambda e: str(e)[:20])
    def test_an_error_about_the_message_is_422(self, error: MessageBodyError) -> None:
        def refuse(body: MessageBody) -> MessageBody:
            raise error

        client = client_of(Annotated[MessageBody, Body(), AfterValidator(refuse)])
        answer = client.post("/", json=[{"content": "x"}])
        if type(error) in FAULTS:
            assert answer.status_code == 500
        else:
            assert answer.status_code == 422
            assert answer.json()["detail"][0]["msg"] == f"Value error, {error}"

    def test_real_violations_too(self) -> None:
        def gate(body: MessageBody) -> MessageBody:
            SCHEMA.validate(body)
            return body

        client = client_of(Annotated[MessageBody, Body(), AfterValidator(gate)])
        answer = client.post("/", json=[{"content": "x"}])
        assert answer.status_code == 422
        assert "2 violations. part 0" in answer.json()["detail"][0]["msg"]

    def test_which_errors_are_value_errors(self) -> None:
        assert {each for each in CLASSES if not issubclass(each, ValueError)} == FAULTS

    def test_findings_stay_on_the_error(self) -> None:
        error = InvalidBody(["one"])
        assert error.violations == ("one",)
        assert "violations" not in vars(error)


class TestSchemaAsValidator:
    def test_takes_what_keeps_it(self) -> None:
        gate: TypeAdapter[MessageBody] = TypeAdapter(Annotated[MessageBody, SCHEMA])
        body = MessageBody([Part("Done.", name="/report.md")])
        assert gate.validate_python(body) is body
        assert gate.validate_json(body.to_json()) == body
        assert gate.dump_python(body) == body.to_dicts()
        assert gate.json_schema() == TypeAdapter(MessageBody).json_schema()

    def test_names_each_part_without_its_content(self) -> None:
        client = client_of(Annotated[MessageBody, Body(), SCHEMA])
        big = "x" * 1_000_000
        answer = client.post("/", json=[{"content": big}, {"name": "/b", "content": big}])
        assert answer.status_code == 422
        assert len(answer.content) < 2000
        found = answer.json()["detail"]
        assert [(each["type"], each["loc"], each["input"]) for each in found] == [
            ("part_not_accepted", ["body", 0], None),
            ("part_not_accepted", ["body", 1], "/b"),
            ("required_part_missing", ["body"], None),
        ]
        assert found[1]["msg"].startswith("part 1 ('/b', text/plain): accepted by no schema part")

    def test_counts_what_it_does_not_show(self) -> None:
        gate: TypeAdapter[MessageBody] = TypeAdapter(Annotated[MessageBody, SCHEMA])
        with pytest.raises(ValidationError) as caught:
            gate.validate_python([{"content": "x"}] * 1000)
        assert len(caught.value.errors()) == 101
        assert caught.value.errors()[-1]["msg"] == "and 901 more violations"

    def test_a_part_of_a_schema_is_a_type_too(self) -> None:
        parts = TypeAdapter(list[SchemaPart])
        assert parts.validate_python([*SCHEMA]) == [*SCHEMA]
        assert parts.validate_json(parts.dump_json([*SCHEMA])) == [*SCHEMA]
        with pytest.raises(ValidationError, match="unknown member") as caught:
            parts.validate_python([{"name": "/a"}, {"nme": "/a"}])
        assert caught.value.errors()[0]["loc"] == (1,)
        items = TypeAdapter(MessageBodySchema).json_schema()
        assert items["$defs"]["SchemaPart"] == parts.json_schema()["$defs"]["SchemaPart"]

    def test_is_still_a_type_of_its_own(self) -> None:
        schema = TypeAdapter(MessageBodySchema).validate_python(SCHEMA.to_dicts())
        assert schema == SCHEMA
