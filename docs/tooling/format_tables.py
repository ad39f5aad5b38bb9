"""The tables of "Conversions": what each format can say, and what survives between two.

`python docs/tooling/format_tables.py` writes them into the page, from the tables of capabilities
that the adapters themselves use and from conversions of a body with parts of every kind.
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


def sample() -> MessageBody:
    """Return a body with parts of every kind: here and behind URLs, named and unnamed."""
    png = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
    made = [
        Part("Look at these."), Part("# Cats\n", content_type="text/markdown"),
        Part("a,b\n1,2\n", name="/table.csv"), Part('{"rows":3}', name="/data/summary.json"),
        Part(png, content_type="image/png"), Part(png + b"2", name="/images/cat.png",
                                                  content_type="image/png"),
        Part(b"<svg/>", name="/images/logo.svg", content_type="image/svg+xml"),
        Part(b"RIFF1", name="/purr.wav", content_type="audio/wav"),
        Part(b"\0\0\0\x18ftyp", name="/cat.mp4", content_type="video/mp4"),
        Part(b"%PDF-1.4", name="/report.pdf", content_type="application/pdf"),
        Part(b"PK\x03\x04", name="/all.zip", content_type="application/zip"),
        Part(b"\x00\xff", name="/raw.bin", content_type="application/octet-stream"),
        Part(url="https://example.com/a.png", content_type="image/png"),
        Part(url="https://example.com/a.pdf", content_type="application/pdf"),
        Part(url="s3://bucket/a.mp4", content_type="video/mp4"),
        Part(url="https://example.com/page", content_type="text/html", name="/sources/1"),
    ]  # fmt: skip
    return MessageBody(made)


def matrix() -> str:
    """Return how many of the parts survive the way through two formats, as a table."""
    body, every = sample(), formats()
    rows = [
        f"| from, to | {' | '.join(every)} |",
        f"|---|{'---|' * len(every)}",
    ]
    for name, first in every.items():
        there = _through(first, body)
        kept = [str(_kept(body, _through(other, there))) for other in every.values()]
        rows.append(f"| `{name}` | {' | '.join(kept)} |")
    return "\n".join(rows)


def _through(each: Format, body: MessageBody) -> MessageBody:
    return each.to_body(each.from_body(body).value).value


def _kept(body: MessageBody, back: MessageBody) -> int:
    left = [_content(part) for part in back]
    kept = 0
    for part in body:
        if (content := _content(part)) in left:
            left.remove(content)
            kept += 1
    return kept


def _content(part: Part) -> Any:
    return part.url if part.is_reference else part.read_bytes()


def written(page: str) -> str:
    """Return the page with the tables of today."""
    for name, table in (("capabilities", capabilities()), ("matrix", matrix())):
        pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        found = re.search(pattern, page, flags=re.DOTALL)
        assert found is not None, f"the page has no place for {name}"
        page = page.replace(found[0], f"{found[1]}\n{table}\n\n{found[2]}")
    return page


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{capabilities()}\n\n{matrix()}\n")


if __name__ == "__main__":
    main()
