"""Bodies and parts as blocks of MCP: contents, links, and what clients learn of a part."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

from mcp_types import CallToolResult

from messagebody._core import MessageBody, Part, count_of, redact_url, require_body
from messagebody.adapters import adapter, is_withheld
from messagebody.errors import InvalidArgument, MessageBodyError
from messagebody.prompts import line_of

SCHEME: Final = "messagebody"
_NOTE: Final = 200
"""Bytes that are reserved for the note about omitted parts."""
_LISTED: Final = 1_000
"""The most omitted parts that the note lists."""


def tool_result(body: MessageBody, max_bytes: int = 50_000) -> CallToolResult:
    """Return a body as the result of a tool, within a number of bytes as JSON.

    Text, pictures and sounds are sent as such as long as they fit, and other parts as resources. A
    reference to the web becomes a link to its URL. Parts that do not fit are counted in a last
    text, which lists as many of them as fit. Parts that keep members of a message, such as
    `/meta/agents-api.json`, are left out.

    Arguments:
        body: the body.
        max_bytes: bytes of the blocks as JSON.

    Raises:
        InvalidArgument: the number is under 500, so that not even the last text would fit.
    """
    if not isinstance(max_bytes, int) or max_bytes < 500:
        raise InvalidArgument("max_bytes of at least 500", max_bytes)
    require_body(body)
    blocks: list[Any] = []
    left, missing, shown = max_bytes - _NOTE, [], 0
    for index, part in enumerate(body):
        if is_withheld(part):
            continue
        shown += 1
        found = _blocks_within(part, left)
        if not found:
            missing.append(index)
            continue
        blocks += found
        left -= _length(found)
    if missing:
        head = f"[{len(missing):,} of {count_of(shown, 'part')} left out]"
        lines = _lines_within([line_of(index, body[index]) for index in missing[:_LISTED]], left)
        blocks.append({"type": "text", "text": "\n".join([head, *lines])})
    return result_of(blocks)


def _blocks_within(part: Part, left: int) -> list[Any]:
    """Return a part as blocks that have at most `left` bytes; none if it has more."""
    # Content that is larger than the room is not even encoded.
    if part.url is not None or (part.size is not None and part.size <= left):
        with suppress(MessageBodyError):  # content that can't be read
            blocks = blocks_of(part)
            return blocks if _length(blocks) <= left else []
    return []


def blocks_of(part: Part) -> list[Any]:
    """Return a part as blocks; a reference only as a link that anybody may open."""
    if part.url is not None and not _is_open(part.url):
        return []
    value = adapter("mcp").from_body(MessageBody([part])).value
    return value["content"]  # type: ignore[no-any-return]


def _is_open(url: str) -> bool:
    """Return whether a URL is one of the web without a signature or a password."""
    return url.startswith(("https://", "http://")) and redact_url(url) == url


def _length(blocks: list[Any]) -> int:
    # In the form of the transport, because escapes may make text several times as long.
    return len(json.dumps(blocks, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _lines_within(lines: Iterable[str], left: int) -> list[str]:
    """Return the first of some lines, as many as have at most `left` bytes as JSON."""
    found = []
    for line in lines:
        left -= _length([line])
        if left < 0:
            break
        found.append(line)
    return found


def link_to_part(place: str, part: Part, index: int) -> dict[str, Any]:
    return {"type": "resource_link", **resource_of(place, part, index)}


def resource_of(place: str, part: Part, index: int) -> dict[str, Any]:
    """Return what a client learns of a part below the URI of its message."""
    name = part.name or f"part {index}"
    size = part.size
    return {
        "uri": _uri(place, part, index),
        "name": name,
        "title": name.rpartition("/")[2],
        "description": line_of(index, part),
        "mimeType": part.content_type,
        **({} if size is None else {"size": size}),
    }


def _uri(place: str, part: Part, index: int) -> str:
    # A path that is a number could also be a name.
    return f"{place}?part={index}" if part.name is None else place + quote(part.name[1:])


def place_of(message: str) -> str:
    """Return the URI of a message."""
    # File names may have bytes that are no text.
    return f"{SCHEME}://{quote(message, safe='', errors='surrogateescape')}/"


def result_of(blocks: list[Any]) -> CallToolResult:
    return CallToolResult.model_validate({"content": blocks, "isError": False})
