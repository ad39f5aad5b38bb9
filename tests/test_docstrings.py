"""Docstrings that the reference pages can show: sections spelled as their reader spells them."""

import re
from pathlib import Path

import pytest

from messagebody import compatibility

ROOT = Path(__file__).parents[1] / "messagebody"
OTHERS = "Example|Args|Params|Parameters|Return|Raise|Yield|Notes?"
UNKNOWN = re.compile(rf"^ *({OTHERS}):$", re.MULTILINE)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_sections_have_one_spelling(path: Path) -> None:
    assert UNKNOWN.findall(path.read_text(encoding="utf-8")) == []


def test_the_reference_shows_the_whole_face_of_compatibility() -> None:
    """Its page lists the members by hand, the ones most used first."""
    page = (ROOT.parent / "docs/reference/compatibility.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^ +- (\w+)$", page, re.MULTILINE)) == sorted(compatibility.__all__)
