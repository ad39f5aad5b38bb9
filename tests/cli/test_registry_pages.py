"""The page of a registry, as the command writes it: what breaks pairs that do not always fit."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run

TEXT = {"contentType": "text/plain", "required": True}
PICTURE = {"name": "/a.png", "contentType": "image/png"}


def write(directory: Path, name: str, takes: list[Any], sends: list[Any]) -> None:
    agent = {"name": name, "input": takes, "output": sends}
    (directory / f"{name}.json").write_text(json.dumps(agent))


def test_the_page_tells_what_breaks_a_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "reader", [TEXT], [TEXT])
    write(tmp_path, "painter", [TEXT], [TEXT, PICTURE])
    write(tmp_path, "printer", [{**PICTURE, "required": True}], [])
    assert run(["registry", "pairs", str(tmp_path), "--format", "html"]) == 0
    page = html.unescape(capsys.readouterr().out)
    assert "painter → reader: sometimes. breaks with '/a.png' image/png, text/plain" in page
    assert "consumer part 0 text/plain is required" in page
    assert "always (2)" in page
    assert "sometimes (1)" in page
