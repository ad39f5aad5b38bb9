"""Agreement with wcmatch, the reference of the dialect."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from wcmatch import glob

from messagebody.errors import InvalidContentType, InvalidPattern
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.names import is_name
from tests.effort import examples
from tests.globs import strategies

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "glob_wcmatch.json").read_text())
NAME_ROWS = [row for row in VECTORS if row["flags"].endswith("DOTGLOB|FORCEUNIX|CASE")]
TYPE_ROWS = [row for row in VECTORS if row["kind"] == "contentType"]
REFUSED = {
    "/{*,a}*", "/{a}", "/{}", "/{a..c}", "/{1..3}", "/{a,b", "/a,b}", "//a", "/a//b",
    "**", "*", "a", "**/b",
}  # fmt: skip
REFUSED_TYPES = {"*", "text/plain; charset=utf-8"}


def wcmatch_matches(pattern: str, text: str) -> bool:
    """Return whether wcmatch matches a pattern; it expands braces one by one."""
    flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX | glob.CASE
    return bool(glob.globmatch(text, pattern, flags=flags, limit=0))


def test_the_vectors_are_all_there() -> None:
    assert len(NAME_ROWS) == 382
    assert len(TYPE_ROWS) == 186


@pytest.mark.parametrize("pattern", sorted({row["pattern"] for row in NAME_ROWS}))
def test_name_vectors(pattern: str) -> None:
    if pattern in REFUSED:
        with pytest.raises(InvalidPattern):
            name_pattern(pattern)
        return
    for row in NAME_ROWS:
        if row["pattern"] == pattern:
            expected = row["matches"] and is_name(row["string"])
            assert name_pattern(pattern).matches(row["string"]) is expected, row


@pytest.mark.parametrize("pattern", sorted({row["pattern"] for row in TYPE_ROWS}))
def test_content_type_vectors(pattern: str) -> None:
    if pattern in REFUSED_TYPES:
        with pytest.raises(InvalidPattern):
            content_type_pattern(pattern)
        return
    for row in TYPE_ROWS:
        if row["pattern"] == pattern and ";" not in row["string"]:
            assert _matches_type(row) is (row["matches"] and _is_type(row["string"])), row


def _matches_type(row: dict[str, Any]) -> bool:
    return _is_type(row["string"]) and content_type_pattern(row["pattern"]).matches(row["string"])


def _is_type(text: str) -> bool:
    try:
        content_type_pattern("*/*").matches(text)
    except InvalidContentType:
        return False
    return True


@settings(max_examples=examples(1500), deadline=None)
@given(strategies.name_patterns, strategies.names)
@pytest.mark.dear
def test_names_agree(pattern: str, name: str) -> None:
    expected = wcmatch_matches(pattern, name)
    compiled = name_pattern(pattern)
    assert compiled.automaton.accepts(name) is expected
    assert compiled.matches(name) is expected
    assert compiled.select([None, name, name]) == ([1, 2] if expected else [])


@settings(max_examples=examples(500), deadline=None)
@given(strategies.type_patterns, strategies.types)
def test_content_types_agree(pattern: str, kind: str) -> None:
    # A lone ** means */* here and there.
    assert content_type_pattern(pattern).matches(kind) is wcmatch_matches(pattern, kind)


@pytest.mark.slow
@settings(max_examples=examples(100_000), deadline=None)
@given(strategies.name_patterns, strategies.names)
def test_many_names_agree(pattern: str, name: str) -> None:
    assert name_pattern(pattern).matches(name) is wcmatch_matches(pattern, name)
