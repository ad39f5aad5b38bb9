"""The command line adds parts to schemas, with what is inside them."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody import MessageBodySchema, SchemaPart
from tests.commands import run

MODEL = """
from pydantic import BaseModel

class Report(BaseModel):
    title: str
    pages: int = 1
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
