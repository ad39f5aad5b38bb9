"""The vectors of the format: written anew they are the same, and the page names each file."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PLACE = DOCS / "reference" / "format" / "v1"


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    path = DOCS / "tooling" / "format_vectors.py"
    spec = importlib.util.spec_from_file_location("format_vectors", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.files()  # type: ignore[no-any-return]


@pytest.mark.filterwarnings("ignore:a part has the member 'mimeType'")
def test_the_files_are_those_that_are_written(written: dict[str, str]) -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in PLACE.iterdir()}
    assert stored == written


def test_the_page_names_each_file() -> None:
    page = (PLACE.parent / "index.md").read_text(encoding="utf-8")
    assert [path.name for path in PLACE.iterdir() if f"`{path.name}`" not in page] == []


def test_each_file_has_both_answers() -> None:
    def lines(name: str) -> list[dict[str, Any]]:
        return [*map(json.loads, (PLACE / name).read_text(encoding="utf-8").splitlines())]

    assert {each["body"] is None for each in lines("documents.jsonl")} == {True, False}
    assert {each["digest"] is None for each in lines("digests.jsonl")} == {True, False}
    assert {"refused" in each for each in lines("patterns.jsonl")} == {True, False}
    assert {each.get("valid") for each in lines("schemas.jsonl")} == {True, False, None}
