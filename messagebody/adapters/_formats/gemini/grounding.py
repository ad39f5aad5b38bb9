"""Grounding: what Gemini's texts rest on, which a candidate states beside its content.

Ranges are counted in bytes of UTF-8 there, and in code points in citations.
"""

from collections.abc import Iterable
from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import need, snake_case

_CONTINUED: Final = bytes(range(0x80, 0xC0))
"""Bytes that continue a character of UTF-8."""


def content_of(message: Any) -> Any | None:
    """Return the content of a candidate; None for anything else."""
    is_candidate = isinstance(message, dict) and "parts" not in message
    content = message.get("content") if is_candidate else None
    return content if isinstance(content, dict) else None


def with_citations(blocks: list[Any], candidate: dict[str, Any]) -> list[Any]:
    """Return the parts of a candidate, each text with its citations."""
    grounding = _member(candidate, "groundingMetadata", dict) or {}
    chunks = _member(grounding, "groundingChunks", list) or []
    found: dict[int, list[tuple[dict[str, Any], Any, Any]]] = {}
    for support in _member(grounding, "groundingSupports", list) or []:
        segment = _member(support, "segment", dict) or {}
        where = _member(segment, "startIndex", int) or 0, _member(segment, "endIndex", int)
        for chosen in _member(support, "groundingChunkIndices", list) or []:
            about = _source(chunks, chosen)
            if about is not None:
                part = _member(segment, "partIndex", int) or 0
                found.setdefault(part, []).append((about, *where))
    return [
        {**block, "citations": _ranged(need(block, "text"), found[index])}
        if index in found and isinstance(block, dict) and isinstance(block.get("text"), str)
        else block
        for index, block in enumerate(blocks)
    ]


def without_citations(blocks: list[Any]) -> list[Any]:
    """Return the parts as a candidate holds them."""
    return [{key: value for key, value in block.items() if key != "citations"} for block in blocks]


def _member(held: Any, name: str, kind: type) -> Any | None:
    """Return a member, in JSON's spelling or Python's, if it is of a type."""
    if not isinstance(held, dict):
        return None
    value = held.get(name, held.get(snake_case(name)))
    return value if type(value) is kind else None


def _source(chunks: list[Any], chosen: Any) -> dict[str, Any] | None:
    if type(chosen) is not int or not 0 <= chosen < len(chunks):
        return None
    for kind in ("web", "retrievedContext", "maps"):
        about = _member(chunks[chosen], kind, dict)
        if about is not None and isinstance(about.get("uri"), str):
            title = about.get("title")
            named = {"title": title} if isinstance(title, str) else {}
            return {"type": kind, "url": about["uri"], **named}
    return None


def _ranged(text: str, cited: list[tuple[dict[str, Any], Any, Any]]) -> list[dict[str, Any]]:
    offsets = [offset for _, *where in cited for offset in where if offset is not None]
    places = _code_points(text, offsets)
    return [
        {**about, "start": places[start], "end": places[end]}
        if start in places and end in places
        else about
        for about, start, end in cited
    ]


def _code_points(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """Return for offsets in UTF-8 how many characters are before; not for those inside of one."""
    data = text.encode()
    places: dict[int, int] = {}
    done = count = 0
    for offset in sorted({each for each in offsets if 0 <= each <= len(data)}):
        count += len(data[done:offset].translate(None, _CONTINUED))
        done = offset
        if data[offset : offset + 1] not in _INSIDE:
            places[offset] = count
    return places


_INSIDE: Final = frozenset(bytes([each]) for each in _CONTINUED)
