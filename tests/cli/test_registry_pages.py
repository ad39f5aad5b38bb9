"""The page of a registry, as the command writes it: what breaks pairs that do not always fit."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from messagebody._cli.application import run

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
    assert "printer → reader: never. consumer part 0 text/plain is required" in page
    assert "always (2)" in page
    assert "sometimes (1)" in page
    assert "Only pairs" not in page


def test_a_sender_of_nothing_breaks_a_pair_with_an_empty_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "reader", [TEXT], [{**TEXT, "required": False}])
    assert run(["registry", "pairs", str(tmp_path), "--format", "html"]) == 0
    assert "breaks with an empty message" in capsys.readouterr().out


def test_a_large_registry_is_not_compared_pair_by_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(101):
        write(tmp_path, f"agent-{number}", [TEXT], [PICTURE] if number else [TEXT])
    assert run(["registry", "pairs", str(tmp_path), "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert "agent-0 → agent-0: always" in page
    assert "never" not in page.partition("</style>")[2]
    assert "Only pairs that always fit are shown." in page
