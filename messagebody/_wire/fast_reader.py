"""The fast reader of flawless documents: it checks columns at once, and makes parts on demand.

A document is read into records that the garbage collector does not track, and then checked column
by column: all names are joined and searched once, and each distinct content type is parsed once.
The JSON parser silently keeps the last of two equal members and drops unknown ones. Counting colons
shows both, however a document is spelled: it has one colon for each member and those in strings. If
the records are written again, they have the same colons, but for those of each lost member.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from messagebody._base.limits import Limits
from messagebody._base.media_types import OCTET_STREAM, TEXT_PLAIN, check_content_type
from messagebody._wire import base64
from messagebody._wire.long_contents import LONG, SHORTEST, cut, without
from messagebody._wire.members import (
    ABOUT,
    URL,
    AnyRecord,
    PartRecord,
    as_text,
    check_promise,
)
from messagebody._wire.strict_json import check_value, checked_copy, has_more_values
from messagebody.errors import MessageBodyError
from messagebody.names import are_names

# The number of parts that are written at once, which bounds the memory.
_PIECE: Final = 128
# The bytes of a part with a short content.
_SHORT: Final = 256
_NESTED: Final = frozenset({dict, list})
_FIELDS: Final = PartRecord.__struct_fields__
# Members that the loop over all parts checks; any other is checked value by value.
_IN_LOOP: Final = {"name", "content_type", "metadata"}
_OTHERS: Final = [member for member in ABOUT if member.argument not in _IN_LOOP]


# A data URL is inline content in another form, with its own checks.
_is_remote: Final = re.compile(rf"(?!(?i:data):){URL.pattern}").fullmatch


class _Hesitation(Exception):
    """The fast reader does not handle the document."""


_decode: Final = msgspec.json.Decoder(list[PartRecord]).decode
_decode_any: Final = msgspec.json.Decoder(list[AnyRecord]).decode
_write: Final = msgspec.json.Encoder().encode


def decode_flawless(document: bytes, limits: Limits, strict: bool) -> list[PartRecord] | None:
    """Return the records of a document's parts, None if the reference reader has to decide."""
    size = len(document)
    try:
        # Most documents are shorter than any content that is worth cutting out.
        read = _read if size < SHORTEST else _read_with_long_contents
        records = read(document, limits)
        _check(records, limits, size, strict, is_parsed=True)
    # Not an error here, because the reference reader decides and raises its own errors.
    except (msgspec.MsgspecError, MessageBodyError, ValueError, RecursionError, _Hesitation):
        return None
    return records


def convert_flawless(data: list[Any], limits: Limits, strict: bool) -> list[PartRecord] | None:
    """Return the records of parsed parts, None if the reference reader has to decide.

    Values of types that no parser returns, such as subclasses of `str`, are left to it.
    """
    try:
        _require(len(data) <= limits.parts)
        # Exactly a list of dicts, because a subclass could answer differently each time.
        _require(set(map(type, data)) <= {dict})
        records = _convert(data)
        # The converter ignores unknown members and treats null as absent; the count shows both.
        _require(sum(map(len, data)) == _count_members(records))
        _check_plain(records)
        # There is no document to compare with, so the size of every content is checked.
        _check(records, limits, limits.part_bytes + 1, strict, is_parsed=False)
    except (msgspec.MsgspecError, MessageBodyError, ValueError, RecursionError, _Hesitation):
        return None
    return records


_PLAIN_TYPES: Final = {str, int, dict, type(None)}


def _check_plain(records: list[PartRecord]) -> None:
    """Check that all values have plain types, and that UTF-8 can encode the contents."""
    for field in _FIELDS:
        _require({type(getattr(record, field)) for record in records} <= _PLAIN_TYPES)
    for record in records:
        content = record.content
        if content is not None and not content.isascii():
            content.encode()  # type: ignore[union-attr] # a lone surrogate is a ValueError


def _require(condition: bool) -> None:
    if not condition:
        raise _Hesitation


# Making records


def _read_with_long_contents(document: bytes, limits: Limits) -> list[PartRecord]:
    without = cut(document)
    if without is not None:
        records = _read(without.document, limits)
        if without.fill_in(records):
            return records
    return _read(document, limits)


def _read(document: bytes, limits: Limits) -> list[PartRecord]:
    size = len(document)
    if size > limits.values:
        _require(not has_more_values(document, limits.values))
    try:
        records: list[PartRecord] = _decode(document)
    except msgspec.ValidationError:
        records = _settled(_decode_any(document))
    if len(records) <= _PIECE:
        # Contents that are worth taking out are most of their document.
        if size >= SHORTEST and size > len(records) * _SHORT and _has_all(document, records):
            return records
        written = _write(records)
        # Equal bytes are the common case, and quicker to compare than to count.
        if written != document and not _has_colons(document, written.count(b":")):
            raise _Hesitation
    elif not _is_written_so(records, document):
        _require(_has_colons(document, sum(piece.count(b":") for piece in _pieces(records))))
    return records


def _has_all(document: bytes, records: list[PartRecord]) -> bool:
    """Return whether the records have all members of a document, by what is left of both.

    Long contents are taken out of both if their spelling is the usual one: it hides no colon.
    """
    held = {at: each.content for at, each in enumerate(records) if len(each.content or "") > LONG}
    if not held:
        return False
    try:
        rest = without(document, [_write(content) for content in held.values()])
        for at in held:
            records[at].content = ""
        written = _write(records)
    finally:
        for at, content in held.items():
            records[at].content = content
    return rest is not None and _has_colons(rest, written.count(b":"))


def _is_written_so(records: list[PartRecord], document: bytes) -> bool:
    """Return whether writing the records gives exactly the document."""
    position = 1
    for written in _pieces(records):
        if not document.startswith(memoryview(written)[1:-1], position):
            return False
        position += len(written) - 1  # with a comma, or the bracket that the parser has checked
    return position == len(document)


def _pieces(records: list[PartRecord]) -> Iterator[bytes]:
    """Write the records piece by piece, as arrays."""
    for start in range(0, len(records), _PIECE):
        yield _write(records[start : start + _PIECE])


def _has_colons(document: bytes, number: int) -> bool:
    """Return whether a document has just so many colons, as many as its records when written."""
    if document.count(b":") != number:
        return False
    # A string may hold a colon in another spelling, which is not counted. What both spellings
    # begin with is rare, and quicker to find.
    return (
        b"\\" not in document
        or b"\\u003" not in document
        or not (b"\\u003a" in document or b"\\u003A" in document)
    )


def _convert(data: list[Any]) -> list[PartRecord]:
    try:
        return msgspec.convert(data, list[PartRecord])
    except msgspec.ValidationError:
        return _settled(msgspec.convert(data, list[AnyRecord]))


def _settled(records: list[Any]) -> list[PartRecord]:
    """Return checked records of any content types as plain `PartRecord` objects."""
    types: dict[str, str] = {"": ""}
    for record in records:
        kind = record.content_type
        if kind not in types:
            types[kind] = _known_type(kind)
        # Equal types share one string.
        record.content_type = types[kind]
        # The two classes only differ in the values that the parser accepts.
        record.__class__ = PartRecord
    return records


@lru_cache(256)
def _known_type(kind: str) -> str:
    """Return a legal content type that does not restrict plain content."""
    # Left to the reference reader, because plain text is refused for some charsets.
    _require("charset" not in kind.lower())
    return check_content_type(kind)


def _count_members(records: list[PartRecord]) -> int:
    """Return the number of members of the parts, without those in their metadata."""
    present = 0
    for member in _FIELDS:
        column = [getattr(record, member) for record in records]
        # In a record, an absent type is "", and every other absent member is None.
        present += len(column) - column.count("" if member == "content_type" else None)
    return present


# Checking them


def _check(
    records: list[PartRecord], limits: Limits, size: int, strict: bool, *, is_parsed: bool
) -> None:
    """Check everything but the spelling of members; fill in types, and decode base64.

    Most parts are text with only a name and a type; one pass over the members handles them. Names
    are checked together.
    """
    if len(records) > limits.parts:
        raise _Hesitation
    names = []
    for record in records:
        if record.name is not None:
            names.append(record.name)
        if not record.content_type:
            # An absent type depends on the content.
            _require(not strict)
            record.content_type = _default_type(record)
        if (
            record.encoding is not None
            or record.content is None
            or record.url is not None
            or record.size is not None
            or record.digest is not None
        ):
            _check_content(record, strict)
        if record.metadata is not None:
            _check_metadata(record, limits, is_parsed=is_parsed)
    if len(names) > 1 and len(set(names)) < len(names):
        raise _Hesitation
    if not are_names(names, limits.name_length):
        raise _Hesitation
    if _OTHERS:
        _check_others(records)
    # No content is larger than its document.
    if size > limits.part_bytes:
        _check_sizes(records, limits)


def _default_type(record: PartRecord) -> str:
    is_plain = record.content is not None and record.encoding != "base64"
    return TEXT_PLAIN if is_plain else OCTET_STREAM


def _check_others(records: list[PartRecord]) -> None:
    for member in _OTHERS:
        for record in records:
            value = getattr(record, member.argument)
            if value is not None:
                member.check(value)


def _check_sizes(records: list[PartRecord], limits: Limits) -> None:
    sizes = (len(record.content) for record in records if record.content is not None)
    # A character has at most four bytes in UTF-8, so content need not be encoded to check its size.
    _require(max(sizes, default=0) * 4 <= limits.part_bytes)


def _check_metadata(record: PartRecord, limits: Limits, *, is_parsed: bool) -> None:
    """Check metadata; a copy is kept of values that the caller may still change."""
    # The array and the part take two of the levels.
    depth = limits.depth - 2
    metadata: Any = record.metadata
    if not is_parsed:
        record.metadata = checked_copy(metadata, depth=depth)
    # What the parser made of JSON text can only be nested too deeply.
    elif depth < 1 or not _NESTED.isdisjoint(map(type, metadata.values())):
        check_value(metadata, depth=depth)


def _check_content(record: PartRecord, strict: bool) -> None:
    content: Any = record.content
    is_promised = record.size is not None or record.digest is not None
    if record.url is not None:
        if content is not None or record.encoding is not None or not _is_remote(record.url):
            raise _Hesitation
        if is_promised:
            check_promise(record.size, record.digest)
    # The reference reader compares the stated size and digest of inline content.
    elif content is None or is_promised:
        raise _Hesitation
    elif record.encoding == "base64":
        if isinstance(content, str):
            content = base64.decode(content, strict)
        text = as_text(content, record.content_type)
        record.content = content if text is None else text
        record.encoding = "base64" if text is None else None
    elif record.encoding is not None:
        _require(record.encoding == "plain")
        record.encoding = None
