"""Entries of listings: how fsspec describes a file, a directory, and all those of a body."""

import re
from typing import Any, Final

from messagebody._base.text import redact_url
from messagebody._model.access import part_of
from messagebody._model.index import Entries
from messagebody._wire.members import PartRecord
from messagebody.names import ancestors

# Where a URL may hold a signature, a password or content.
_SECRET: Final = re.compile(r"[?#@\\]|^data:", re.IGNORECASE)


def directory_entry(path: str) -> dict[str, Any]:
    """Describe a directory."""
    return {"name": path, "size": 0, "type": "directory"}


def file_entry(record: PartRecord, path: str | None = None) -> dict[str, Any]:
    """Describe a file; its size is None if it is a reference that states none.

    Arguments:
        record: the part.
        path: its path; its name if None.
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
    """Describe what lies in a directory."""
    return [
        directory_entry(path[:-1]) if record is None else file_entry(record)
        for path, record in entries
    ]


def with_directories(names: list[str]) -> list[str]:
    """Return names, and every directory before the first name in it."""
    found: dict[str, None] = {}
    for name in names:
        # A directory that was met already brought those above it along.
        if name[: name.rfind("/")] not in found:
            found |= dict.fromkeys(reversed([*ancestors(name)]))
        found[name] = None
    return [*found]


def _shown_url(url: str) -> str:
    """Return a URL without secrets, because descriptions are logged and shown in browsers."""
    is_open = url.isascii() and _SECRET.search(url) is None
    return url if is_open else redact_url(url, limit=len(url))


def _size(record: PartRecord) -> int | None:
    content = record.content
    # Most parts are one of these; making an object for each would take as long as all the rest.
    if isinstance(content, bytes) or (content is not None and content.isascii()):
        return len(content)
    return part_of(record).size
