"""Schemas at the command line: parts that are added, and JSON Schemas for editors."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from messagebody import MessageBodySchema, SchemaPart
from messagebody.schema.json_schemas import body_json_schema, schema_json_schema
from tests.commands import run

MODEL = """
from pydantic import BaseModel

class Report(BaseModel):
    title: str
    pages: int = 1
"""


@pytest.fixture
def with_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jsonschema_rs", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("with_contents")
def test_a_part_with_a_file_of_json_schema(capsys: pytest.CaptureFixture[str]) -> None:
    rule = {"type": "object", "required": ["title"]}
    Path("model.json").write_text(json.dumps(rule))
    first = ["schema", "add", "--new", "--name", "report.json", "--required"]
    assert run([*first, "--content", "model.json", "-o", "out.json"]) == 0
    assert run(["schema", "add", "out.json", "--type", "text/*", "-i"]) == 0
    assert [*MessageBodySchema.load("out.json")] == [
        SchemaPart("/report.json", required=True, content_schema=rule),
        SchemaPart(None, "text/*"),
    ]
    capsys.readouterr()
    assert run(["schema", "show", "out.json"]) == 0
    assert "inside is an object" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("with_contents")
def test_a_part_with_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("models_of_a_test.py").write_text(MODEL)
    monkeypatch.delitem(sys.modules, "models_of_a_test", raising=False)
    for options, needed in ([], ["title"]), (["--sends"], ["title", "pages"]):
        add = ["schema", "add", "--new", "--content", "models_of_a_test:Report", *options]
        assert run([*add, "-o", "out.json"]) == 0
        content = MessageBodySchema.load("out.json")[0].content_schema
        assert content is not None
        assert isinstance(content.value, dict)
        assert content.value["required"] == needed
        Path("out.json").unlink()
    assert "" not in sys.path[:1]


@pytest.mark.usefixtures("with_contents")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--content", "no.such.module:Model"], "there is no model"),
        (["--content", "json:nothing"], "there is no model"),
        (["--content", "missing.json"], "missing.json"),
        (["--content", "bad.json"], "contentSchema /type"),
        (["--content", "good.json", "--type", "image/png"], "matches no JSON type"),
        (["--name", "a//b"], "a//b"),
        (["-i"], "-i writes back"),
    ],
)
def test_mistakes(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.json").write_text('{"type": "text"}')
    Path("good.json").write_text("true")
    assert run(["schema", "add", "--new", *options]) == 2
    assert told in capsys.readouterr().err


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
