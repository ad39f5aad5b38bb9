"""What a service answers, as fsspec and callers want it."""

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from messagebody.errors import StoreError
from messagebody.stores.base import CHUNK

__all__ = ["cut", "directory_info", "file_info", "first_byte", "listed"]


def directory_info(path: str) -> dict[str, Any]:
    """Return how fsspec describes a directory."""
    return {"name": path, "size": 0, "type": "directory"}


def file_info(bucket: str, item: Any) -> dict[str, Any]:
    """Return how fsspec describes an object that a listing holds."""
    return {
        "name": f"{bucket}/{item['Key']}",
        "size": item["Size"],
        "type": "file",
        "LastModified": item["LastModified"],
        "ETag": item.get("ETag"),
    }


_EMPTY_PAGES = 100
"""Pages with nothing in them, one after another, that are taken for a listing without end."""


def listed(pages: Iterable[Any], members: tuple[str, ...], store: str, key: str) -> Iterator[Any]:
    """Yield the pages of a listing; one that repeats or never ends is an error, not a loop.

    Arguments:
        pages: the pages.
        members: what holds entries in a page.
        store: where, for the error.
        key: the prefix that was listed.
    """
    seen, empty = set[str](), 0
    for page in pages:
        first = next((str(entry) for name in members for entry in page.get(name, [])), None)
        empty = empty + 1 if first is None else 0
        if first in seen or empty > _EMPTY_PAGES:
            problem = "repeats" if first in seen else "has no end"
            raise StoreError(f"the server's listing {problem}", store, key)
        if first is not None:
            seen.add(first)
        yield page


def first_byte(answer: Any, start: int, store: str, key: str) -> int:
    """Return where an answer begins: servers that ignore ranges, or their status, say so here."""
    stated = answer.get("ContentRange")
    if stated is None:
        return 0
    match = re.match(r"bytes (\d+)-", stated)
    if match is None or int(match[1]) not in {0, start}:
        raise StoreError(f"the server answered another range than asked ({stated})", store, key)
    return int(match[1])


def cut(body: Any, skip: int, length: int | None) -> bytes:
    """Read a range; a server that ignores ranges sends everything, which is cut here."""
    while skip:
        skipped = len(body.read(min(skip, CHUNK)))
        if not skipped:
            return b""
        skip -= skipped
    if length is None:
        return bytes(body.read())
    found = io.BytesIO()
    while found.tell() < length and (chunk := body.read(min(length - found.tell(), CHUNK))):
        found.write(chunk)
    return found.getvalue()
