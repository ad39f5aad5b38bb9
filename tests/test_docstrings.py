"""Docstrings that the reference pages can show: sections spelled as their reader spells them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "messagebody"
OTHERS = "Example|Args|Params|Parameters|Return|Raise|Yield|Notes?"
UNKNOWN = re.compile(rf"^ *({OTHERS}):$", re.MULTILINE)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_sections_have_one_spelling(path: Path) -> None:
    assert UNKNOWN.findall(path.read_text(encoding="utf-8")) == []
