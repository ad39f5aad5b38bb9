"""The table of "Conversions": what formats say beside text and files.

`python docs/tooling/format_tables.py` writes it into the page, from the tables of capabilities that
the adapters themselves use.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from messagebody.adapters import adapter, adapter_names
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.items import (
    Call,
    Code,
    Item,
    Reasoning,
    Refusal,
    Result,
    Text,
)

PAGE = Path(__file__).parents[1] / "reference" / "conversions.md"
ITEMS: dict[str, Item] = {
    "calls": Call("c", "f", {}),
    "results": Result("c", [], "f"),
    "reasoning": Reasoning("Hm."),
    "refusals": Refusal("No."),
    "code": Code("print(1)", "python"),
}
CITATIONS: list[dict[str, Any]] = [
    {"type": "url_citation", "url": "https://example.com", "title": "t", "start": 0, "end": 1},
    {"type": "search_result_location", "url": "https://example.com", "cited_text": "Cats."},
]


def formats() -> dict[str, Format]:
    """Return the message formats by name; envelopes have rules of their own."""
    found = {name: adapter(name) for name in adapter_names()}
    return {name: each for name, each in found.items() if isinstance(each, Format)}


def capabilities() -> str:
    """Return which formats say what beside text and files, as a table."""
    rows = ["| beside text and files | formats |", "|---|---|"]
    said = {name: _beyond(each) for name, each in formats().items()}
    for item in [*ITEMS, "citations"]:
        names = [f"`{name}`" for name, items in said.items() if item in items]
        rows.append(f"| {item} | {', '.join(names)} |")
    return "\n".join(rows)


def _beyond(each: Format) -> list[str]:
    said = [name for name, item in ITEMS.items() if each.write_block(item, []) is not None]
    return [*said, "citations"] if any(map(_cites(each), CITATIONS)) else said


def _cites(each: Format) -> Callable[[dict[str, Any]], bool]:
    """Return a function that tells whether a format says a citation."""

    def says(citation: dict[str, Any]) -> bool:
        block = each.write_block(Text("Cats.", citations=[citation], speaker="assistant"), [])
        read = None if block is None else each.read_block(block)
        return isinstance(read, Text) and bool(read.citations)

    return says


def written(page: str) -> str:
    """Return the page with the table of today."""
    found = re.search(
        r"(<!-- capabilities -->\n).*?(<!-- /capabilities -->)", page, flags=re.DOTALL
    )
    if found is None:
        raise ValueError("the page has no place for the table")
    return page.replace(found[0], f"{found[1]}\n{capabilities()}\n\n{found[2]}")


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{capabilities()}\n")


if __name__ == "__main__":
    main()
