"""A hook of mkdocs: tables of benchmarks, put into pages where a mark names their heading."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"^<!-- (benchmarks/\S+\.md): (.+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the first table below each named heading in the place of its mark."""
    return _MARK.sub(lambda mark: table(ROOT / mark[1], mark[2]), markdown)


def table(path: Path, heading: str) -> str:
    """Return the first table below a heading of a page of benchmarks."""
    _, found, rest = path.read_text("utf-8").partition(f" {heading}\n")
    lines = re.search(r"(?:^\|.*\n)+", rest.partition("\n#")[0], re.MULTILINE)
    if not found or lines is None:
        raise ValueError(f"{path.name} has no table below {heading!r}")
    return lines[0]
