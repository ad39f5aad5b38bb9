"""Docstrings that the reference pages can show: sections spelled as their reader spells them."""

import re
from pathlib import Path

from messagebody import compatibility

ROOT = Path(__file__).parents[1] / "messagebody"
OTHERS = "Example|Args|Params|Parameters|Return|Raise|Yield|Notes?"
UNKNOWN = re.compile(rf"^ *({OTHERS}):$", re.MULTILINE)


def test_sections_have_one_spelling() -> None:
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in ROOT.rglob("*.py")
        if (found := UNKNOWN.findall(path.read_text(encoding="utf-8")))
    }
    assert wrong == {}


def test_the_reference_shows_the_whole_face_of_compatibility() -> None:
    """Its page lists the members by hand, the ones most used first."""
    page = (ROOT.parent / "docs/reference/compatibility.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^ +- (\w+)$", page, re.MULTILINE)) == sorted(compatibility.__all__)
