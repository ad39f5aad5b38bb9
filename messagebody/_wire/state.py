"""The digest of a state: of all that a message says of its parts, contents by size and digest."""

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from messagebody._base.digests import sha256_of
from messagebody._wire.manifest import measures_of
from messagebody._wire.members import MEMBERS, PartRecord, RichRecord

_INLINE_ONLY: Final = frozenset({"content", "contentEncoding"})


def members_of(record: PartRecord) -> dict[str, Any]:
    """Return the members of a part as written, without its content.

    A reference keeps its own size and digest, or none. Members that the format does not define are
    there too.
    """
    members = {
        member.key: value
        for member in MEMBERS
        if member.key not in _INLINE_ONLY
        and (value := getattr(record, member.argument)) is not None
    }
    if isinstance(record, RichRecord) and record.extra:
        members |= record.extra
    return members


def state_entry(record: PartRecord) -> dict[str, Any]:
    """Return the members of a part, with size and digest in place of content."""
    entry = members_of(record)
    if record.url is None:
        entry["size"], entry["digest"] = measures_of(record)
    return entry


def state_digest(records: Iterable[PartRecord]) -> str:
    """Return the digest of a state: SHA-256 of the RFC 8785 JSON of its entries."""
    return digest_of_entries(canonical_json(state_entry(record)) for record in records)


def digest_of_entries(entries: Iterable[bytes]) -> str:
    """Return the digest of a state, given the canonical JSON of its entries."""
    return sha256_of(b"[%b]" % b",".join(entries))


def canonical_json(value: Any) -> bytes:
    """Return a JSON value in the canonical form of RFC 8785.

    Integers beyond 2^53 keep all their digits, so that two of them never look the same.

    Examples:
        >>> canonical_json({"b": [1.0, 1e21, None], "a": "é"}).decode()
        '{"a":"é","b":[1,1e+21,null]}'
    """
    if _is_plain(value):
        return _plain(value)
    pieces: list[str] = []
    _write(value, pieces)
    return "".join(pieces).encode()


_plain: Final = msgspec.json.Encoder(order="sorted").encode
_EXACT: Final = 2**53


def _is_plain(value: Any) -> bool:
    """Return whether a value has nothing that RFC 8785 spells or sorts in a way of its own.

    That are fractions, long integers, and the order of members whose names are not ASCII.
    """
    pending = [value]
    for each in pending:
        kind = type(each)
        if kind is dict:
            if not all(map(str.isascii, each)):
                return False
            pending += each.values()
        elif kind is list or kind is tuple:
            pending += each
        elif kind is int:
            if not -_EXACT <= each <= _EXACT:
                return False
        elif not (kind is str or kind is bool or each is None):
            return False
    return True


def _write(value: Any, pieces: list[str]) -> None:
    # As deep as the limits of a document, which are far from those of the interpreter.
    if isinstance(value, dict):
        pieces.append("{")
        for number, key in enumerate(sorted(value, key=_utf_16)):
            pieces.append(f"{',' if number else ''}{_text(key)}:")
            _write(value[key], pieces)
        pieces.append("}")
    elif isinstance(value, list | tuple):
        pieces.append("[")
        for number, item in enumerate(value):
            if number:
                pieces.append(",")
            _write(item, pieces)
        pieces.append("]")
    elif isinstance(value, float):
        pieces.append(_number(value))
    else:
        pieces.append(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _utf_16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _number(value: float) -> str:
    """Return a number as ECMAScript writes it."""
    import rfc8785  # few parts have fractions in their metadata

    return rfc8785.dumps(value).decode()
