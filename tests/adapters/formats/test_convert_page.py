"""The formats on the page *Conversions*, and the two steps of *Convert my messages* with each."""

import re
from pathlib import Path

import pytest

from messagebody.adapters import adapter
from tests.adapters.formats.messages import MESSAGES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "conversions.md"
ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `[^`]+` \|$", re.MULTILINE)


def test_every_format_has_its_row() -> None:
    assert sorted(ROW.findall(PAGE.read_text(encoding="utf-8"))) == sorted(MESSAGES)


@pytest.mark.parametrize("name", MESSAGES)
def test_what_is_read_can_be_written(name: str) -> None:
    for message in MESSAGES[name]:
        body = adapter(name).to_body(message).value
        assert list(adapter(name).iter_findings(adapter(name).from_body(body).value)) == []
