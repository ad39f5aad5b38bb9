"""The table of "Conversions": what each format can say.

`python docs/tooling/format_tables.py` writes it into the page, from the tables of capabilities that
the adapters themselves use.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from messagebody import MessageBody, Part
from messagebody._base.media_types import extension_of
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
    """Return what each format can say, as a table."""
    rows = [
        "| format | files | behind URLs | beyond text | room for a copy |",
        "|---|---|---|---|---|",
    ]
    for name, each in formats().items():
        cells = [f"`{name}`", _files(each), _urls(each), _beyond(each), _slot(each)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _files(each: Format) -> str:
    blocks = [block for block in each.kinds if block.in_messages and block.described_by is None]
    types = {kind: None for block in blocks for kind in block.types}
    if "*/*" in types:
        return "any"
    said = [kind[:-2] if kind.endswith("/*") else extension_of(kind)[1:] for kind in types]
    return ", ".join(dict.fromkeys(said)) or "none"


def _urls(each: Format) -> str:
    schemes = {scheme for block in each.kinds if block.in_messages for scheme in block.schemes}
    if "*" in schemes:
        return "any"
    return ", ".join(f"`{scheme}:`" for scheme in sorted(schemes)) or "none"


def _beyond(each: Format) -> str:
    said = [name for name, item in ITEMS.items() if each.write_block(item, []) is not None]
    said += ["citations"] if any(map(_cites(each), CITATIONS)) else []
    return ", ".join(said) or "nothing"


def _cites(each: Format) -> Callable[[dict[str, Any]], bool]:
    """Return a function that tells whether a format says a citation."""

    def says(citation: dict[str, Any]) -> bool:
        block = each.write_block(Text("Cats.", citations=[citation], speaker="assistant"), [])
        read = None if block is None else each.read_block(block)
        return isinstance(read, Text) and bool(read.citations)

    return says


def _slot(each: Format) -> str:
    body = MessageBody([Part("# Cats", content_type="text/markdown", metadata={"a": 1})])
    return "yes" if not each.from_body(body, carry=True).losses else "no"


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
