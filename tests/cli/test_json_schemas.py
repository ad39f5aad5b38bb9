"""The command that prints JSON Schemas for editors."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft7Validator

from messagebody.schema.json_schemas import body_json_schema, schema_json_schema
from tests.commands import run


@pytest.mark.parametrize(
    ("kind", "made"), [("body", body_json_schema), ("schema", schema_json_schema)]
)
def test_it_prints_them(
    kind: str, made: Callable[[], dict[str, Any]], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["json-schema", kind]) == 0
    printed = json.loads(capfdbinary.readouterr().out)
    assert printed == made()
    Draft7Validator.check_schema(printed)
