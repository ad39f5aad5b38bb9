"""Entries of listings: the dicts by which fsspec describes files and directories."""

import re
from typing import Any, Final

from messagebody._base.text import redact_url
from messagebody._model.access import part_of
from messagebody._model.index import Entries
from messagebody._wire.members import PartRecord
from messagebody.names import ancestors

# Marks of a URL that may hold a signature, a password or content.
_SECRET: Final = re.compile(r"[?#@\\]|^data:", re.IGNORECASE)


def directory_entry(path: str) -> dict[str, Any]:
    """Return the entry of a directory."""
    return {"name": path, "size": 0, "type": "directory"}


def file_entry(record: PartRecord, path: str | None = None) -> dict[str, Any]:
    """Return the entry of a file; its size is None for a reference without a stated size.

    Arguments:
        record: the part.
        path: the path of the file; by default the part's name.
    """
    described = {
        "name": path or record.name,
        "size": record.size if record.url is not None else _size(record),
        "type": "file",
        "ContentType": record.content_type,
    }
    if record.url is not None:
        described["url"], described["digest"] = _shown_url(record.url), record.digest
    return described


def entries_of(entries: Entries) -> list[dict[str, Any]]:
    """Return the entries of a directory."""
    return [
        directory_entry(path[:-1]) if record is None else file_entry(record)
        for path, record in entries
    ]


def with_directories(names: list[str]) -> list[str]:
    """Return names and their directories, each directory before the first name in it."""
    found: dict[str, None] = {}
    for name in names:
        # A directory that was found before has its parents before it already.
        if name[: name.rfind("/")] not in found:
            found |= dict.fromkeys(reversed([*ancestors(name)]))
        found[name] = None
    return [*found]


def _shown_url(url: str) -> str:
    """Return a URL without secrets, because descriptions are logged and shown in browsers."""
    is_safe = url.isascii() and _SECRET.search(url) is None
    return url if is_safe else redact_url(url, limit=len(url))


def _size(record: PartRecord) -> int | None:
    content = record.content
    # Most parts take this path. Making a `Part` for each would take as long as everything else.
    if isinstance(content, bytes) or (content is not None and content.isascii()):
        return len(content)
    return part_of(record).size
