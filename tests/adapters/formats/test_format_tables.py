"""The table in the page about messages is the one that its command writes."""

import importlib.util
from pathlib import Path
from typing import Any

from messagebody import MessageBody, Part
from messagebody.adapters._format import Format

TOOL = Path(__file__).parents[3] / "docs" / "tooling" / "format_tables.py"


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("format_tables", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_of_today() -> None:
    made = tool()
    page = made.PAGE.read_text(encoding="utf-8")
    assert made.written(page) == page, "run `make tables`"


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


def through(each: Format, body: MessageBody) -> MessageBody:
    return each.to_body(each.from_body(body).value).value


def kept_of(body: MessageBody, back: MessageBody) -> int:
    left = [content_of(part) for part in back]
    kept = 0
    for part in body:
        if (content := content_of(part)) in left:
            left.remove(content)
            kept += 1
    return kept


def content_of(part: Part) -> Any:
    return part.url if part.is_reference else part.read_bytes()


def test_what_a_format_says_comes_back() -> None:
    """A format that takes any file keeps all that it takes any URL for, through itself."""
    body = sample()
    kept = {name: kept_of(body, through(each, body)) for name, each in tool().formats().items()}
    assert kept["langchain"] == kept["pydantic-ai"] == kept["mcp"] == len(body)
    assert min(kept.values()) >= 9
