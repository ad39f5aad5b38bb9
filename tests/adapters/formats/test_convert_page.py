"""The two lines for each format on the page *Convert my messages*."""

import re
from pathlib import Path
from typing import Any

import pytest

from messagebody.adapters import adapter
from tests.adapters.formats.messages import MESSAGES

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "convert-messages.md"
ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \| `[^`]+` \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


def _format(line: str) -> str:
    return line.partition('adapter("')[2].partition('"')[0]


def test_every_format_has_its_lines() -> None:
    assert sorted(_format(read) for read, _ in ROWS) == sorted(MESSAGES)


@pytest.mark.parametrize(("read", "write"), ROWS)
def test_the_lines_run(read: str, write: str) -> None:
    name = _format(read)
    held = read.partition("to_body(")[2].rstrip(")")
    for message in MESSAGES[name]:
        names: dict[str, Any] = {"adapter": adapter, held: message}
        names["body"] = eval(read, names).value
        exec(write, names)
        assert list(adapter(name).iter_findings(names["m"])) == []
