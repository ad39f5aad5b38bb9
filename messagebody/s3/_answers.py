"""Answers of S3 servers, checked against the request: not every server keeps to the protocol."""

import io
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any, Final

from messagebody._core import CHUNK
from messagebody.errors import StoreError

_CHECKSUMS: Final = frozenset(
    f"Checksum{name}" for name in ("SHA256", "SHA1", "CRC32", "CRC32C", "CRC64NVME")
)
_EMPTY_PAGES: Final = 100
"""Empty pages in a row after which a listing is taken to have no end."""
_MOST_PAGES: Final = 100_000
"""Pages of one listing: a hundred million objects, as services cut them."""


def checksum_of(answer: Any) -> str | None:
    """Return the checksum of a whole object that a HEAD states, as `algorithm:hex`."""
    for name, value in answer.items():
        # That of an upload in parts is one of its parts' checksums: no ETag of a whole has a "-".
        if name in _CHECKSUMS and "-" not in value and "-" not in answer.get("ETag", ""):
            return f"{name.removeprefix('Checksum').lower()}:{b64decode(value).hex()}"
    return None


def listed(pages: Iterable[Any], member: str, store: str, prefix: str) -> Iterator[Any]:
    """Yield the entries of a listing; one that repeats or never ends is an error, not a loop.

    Arguments:
        pages: the pages.
        member: the member of a page that holds entries.
        store: where, for the error.
        prefix: the prefix that was listed.

    Raises:
        StoreError: the listing repeats, or has no end.
    """
    seen, empty = set[str](), 0
    for number, page in enumerate(pages):
        entries = page.get(member, [])
        first = str(entries[0]) if entries else None
        empty = empty + 1 if first is None else 0
        if first in seen or empty > _EMPTY_PAGES or number >= _MOST_PAGES:
            problem = "repeats" if first in seen else "has no end"
            raise StoreError(f"the server's listing {problem}", store, prefix)
        if first is not None:
            seen.add(first)
        yield from entries


def read_range(answer: Any, start: int, end: int, store: str, key: str) -> bytes:
    """Read the range that was asked for; a server that ignores ranges sends everything.

    Raises:
        StoreError: the server sends another range.
    """
    body = answer["Body"]
    skip = start - _first_byte(answer, start, store, key)
    while skip:
        skipped = len(body.read(min(skip, CHUNK)))
        if not skipped:
            return b""
        skip -= skipped
    found, length = io.BytesIO(), end - start
    while found.tell() < length and (chunk := body.read(min(length - found.tell(), CHUNK))):
        found.write(chunk)
    return found.getvalue()


def _first_byte(answer: Any, start: int, store: str, key: str) -> int:
    """Return where an answer begins: servers that ignore ranges, or their status, say so here."""
    stated = answer.get("ContentRange")
    if stated is None:
        return 0
    match = re.match(r"bytes (\d+)-", stated)
    if match is None or int(match[1]) not in {0, start}:
        raise StoreError(f"the server answered another range than asked ({stated})", store, key)
    return int(match[1])
