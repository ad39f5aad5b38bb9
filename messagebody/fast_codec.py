"""The fast reading of flawless documents: columns checked at once, parts made when asked for.

A document is read into records that the garbage collector does not track, then checked column by
column: all names joined and searched once, each distinct content type parsed once. The parser
underneath silently keeps the last of two equal members and drops unknown ones. Both are noticed
by counting: in a document without escapes before them, the number of `":` is the number of
members, and it must equal the number of members that arrived.
"""

from typing import Any, Final

import msgspec

from messagebody import base64_text
from messagebody.errors import MessageBodyError
from messagebody.limits import Limits
from messagebody.media_types import OCTET_STREAM, TEXT_PLAIN, check_content_type
from messagebody.names import are_names
from messagebody.part import as_text, check_reference
from messagebody.record import PartRecord

__all__ = ["decode_flawless"]

# More than this many bytes a part: content is decoded from the document itself, never copied.
_LARGE: Final = 65_536
_QUOTE: Final = ord('"')


class _LargePart(msgspec.Struct, gc=False):
    """A part whose content still lies in the document."""

    name: str | None = None
    content_type: str | None = msgspec.field(default=None, name="contentType")
    content: msgspec.Raw | None = None
    encoding: str | None = msgspec.field(default=None, name="contentEncoding")
    url: str | None = msgspec.field(default=None, name="contentUrl")
    size: int | None = None
    digest: str | None = None
    metadata: dict[str, Any] | None = None


class _Hesitation(Exception):
    """The document is not one the fast reading takes."""


_small_decoder: Final = msgspec.json.Decoder(list[PartRecord])
_large_decoder: Final = msgspec.json.Decoder(list[_LargePart])


def decode_flawless(
    data: str | bytes | bytearray | memoryview, limits: Limits, *, strict: bool
) -> list[PartRecord] | None:
    """Return records of a document's parts, None if the reference reading has to decide."""
    document = data if isinstance(data, str | bytes) else bytes(data)
    try:
        if _has_large_parts(document):
            records = [_from_large(part) for part in _large_decoder.decode(document)]
        else:
            records = _small_decoder.decode(document)
        _require(len(records) <= limits.parts)
        _check_members(records, document, limits)
        _check_names([record.name for record in records], limits)
        _check_types(records, strict=strict)
        _check_contents(records, limits, strict=strict)
    except (msgspec.MsgspecError, MessageBodyError, ValueError, RecursionError, _Hesitation):
        return None
    return records


def _require(condition: bool) -> None:
    if not condition:
        raise _Hesitation


def _count(document: str | bytes, text: str) -> int:
    if isinstance(document, str):
        return document.count(text)
    return document.count(text.encode())


def _has_large_parts(document: str | bytes) -> bool:
    if len(document) <= _LARGE:
        return False
    head = document[:_LARGE]
    return _count(head, '"content"') < 2 and len(document) > _LARGE * _count(document, '"content"')


def _from_large(part: _LargePart) -> PartRecord:
    content: Any = part.content
    if content is not None:
        written = memoryview(content)
        if part.encoding == "base64" and written[0] == _QUOTE and len(written) > 2:
            content = base64_text.decode_view(written[1:-1])
        else:
            content = msgspec.json.decode(content, type=str | None)
    return PartRecord(
        part.name, part.content_type or "", content, part.encoding, part.url, part.size,
        part.digest, part.metadata,
    )  # fmt: skip


def _check_members(records: list[PartRecord], document: str | bytes, limits: Limits) -> None:
    """Notice repeated, unknown and null members: each makes the count of members too high.

    A colon behind white space, or behind a member name that ends in a backslash, would not be
    counted; a document that may hold one is not taken. A string that begins with a colon is
    counted once too often, which only makes the reference reading decide.
    """
    escaped = 0
    if _count(document[:_LARGE], "\\") or _count(document, "\\"):
        escaped = _count(document, '\\":')
        _require(not escaped or not _count(document, '\\\\":'))
    _require(not any(_count(document, f"{space}:") for space in _spaces(document)))
    present = 8 * len(records) - sum(column.count(None) for column in _columns(records))
    for record in records:
        if record.metadata is not None:
            present += _members(record.metadata, limits.depth - 2)
    _require(present == _count(document, '":') - escaped)


def _spaces(document: str | bytes) -> list[str]:
    return [" ", *(space for space in "\t\n\r" if _count(document, space))]


def _columns(records: list[PartRecord]) -> Any:
    yield [record.name for record in records]
    yield [record.content_type or None for record in records]
    yield [record.content for record in records]
    yield [record.encoding for record in records]
    yield [record.url for record in records]
    yield [record.size for record in records]
    yield [record.digest for record in records]
    yield [record.metadata for record in records]


def _members(value: Any, depth: int) -> int:
    """Count the members in a JSON value, which nests at most `depth` levels."""
    count, level = 0, [value]
    while level:
        _require(depth > 0)
        depth -= 1
        count += sum(len(item) for item in level if isinstance(item, dict))
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
    return count


def _check_names(names: list[str | None], limits: Limits) -> None:
    named = [name for name in names if name is not None]
    _require(len(set(named)) == len(named))
    _require(not named or max(map(len, named)) <= limits.name_length)
    _require(are_names(named))


def _check_types(records: list[PartRecord], *, strict: bool) -> None:
    """Check each distinct content type once, fill in the absent ones."""
    checked: dict[str, str] = {}
    for kind in {record.content_type for record in records} - {""}:
        _require("charset" not in kind.lower())
        checked[kind] = check_content_type(kind)
    if len(checked) * 16 < len(records):  # worth a loop: equal types then share one string
        for record in records:
            if record.content_type:
                record.content_type = checked[record.content_type]
    absent = [record for record in records if not record.content_type]
    _require(not (strict and absent))
    for record in absent:
        plain = record.content is not None and record.encoding != "base64"
        record.content_type = TEXT_PLAIN if plain else OCTET_STREAM


def _check_contents(records: list[PartRecord], limits: Limits, *, strict: bool) -> None:
    for record in records:
        content = record.content
        if content is None:
            _check_reference(record)
            continue
        _require(record.url is None and record.size is None and record.digest is None)
        if record.encoding is not None:
            _check_encoding(record, strict=strict)
            content = record.content
        _require(len(content) * (1 if isinstance(content, bytes) else 4) <= limits.part_bytes)


def _check_encoding(record: PartRecord, *, strict: bool) -> None:
    if record.encoding == "plain":
        record.encoding = None
        return
    _require(record.encoding == "base64")
    content = record.content
    if isinstance(content, str):
        content = base64_text.decode(content, strict=strict)
    text = as_text(content, record.content_type)  # type: ignore[arg-type]
    record.content = content if text is None else text
    record.encoding = "base64" if text is None else None


def _check_reference(record: PartRecord) -> None:
    url = record.url
    _require(url is not None and record.encoding is None)
    _require(url[:5].lower() != "data:")  # type: ignore[index]
    check_reference(url, record.size, record.digest)  # type: ignore[arg-type]
