"""The files and directories of a body: what is there, without reading any content."""

import errno
import re
from collections.abc import Iterable
from typing import Any, Final

from messagebody._base.text import redact_url
from messagebody._model.access import columns, part_of, parts_of, record_of
from messagebody._model.body import MessageBody
from messagebody._model.index import Entries
from messagebody._model.part import Part
from messagebody._wire.members import PartRecord
from messagebody.filesystem._paths import fail, quote_name, unquote_name, with_slash
from messagebody.names import ancestors, parent
from messagebody.storage._references.resolver import Resolver

# Marks of a URL that may hold a signature, a password or content.
_SECRET: Final = re.compile(r"[?#@\\]|^data:", re.IGNORECASE)


class FileTree:
    """The files and directories of a body.

    Named parts are files, and their names imply directories. Others were made by `mkdir`, which the
    tree remembers, because a body can't hold an empty directory.

    Arguments:
        body: the body.
        resolver: decides how references are read; by default the body's resolver.
        quotes: whether bytes that names can't hold are written as `_XX`; see `quote_name`.
    """

    def __init__(self, body: MessageBody, resolver: Resolver | None, *, quotes: bool) -> None:
        self.body = body
        self.made = MadeDirectories()
        self.quotes = quotes
        self.resolver = resolver

    # Names and paths: the same, unless names are quoted

    def name(self, path: str) -> str:
        """Return the part name of a path."""
        return quote_name(path) if self.quotes else path

    def path(self, name: str) -> str:
        """Return the path of a part name."""
        return unquote_name(name) if self.quotes else name

    # One path

    def has(self, path: str) -> bool:
        """Return whether there is a file."""
        return self.name(path) in self.body

    def part(self, path: str) -> Part | None:
        """Return the part of a file with the resolver that reads it; None if there is none."""
        part = self.body.get(self.name(path))
        if part is None or self.resolver is None:
            return part
        return part.with_resolver(self.resolver)

    def file(self, path: str) -> Part:
        """Return the part of a file, or raise the error of a missing file."""
        part = self.part(path)
        if part is None:
            fail(errno.EISDIR if self.is_directory(path) else self._why_missing(path), path)
        return part

    def is_directory(self, path: str) -> bool:
        """Return whether there is a directory."""
        if path in self.made:
            # Another filesystem over the body may have written a file there since.
            return not self.has(path)
        return parts_of(self.body).is_directory(with_slash(self.name(path)))

    def check_there(self, path: str) -> None:
        """Raise an error unless there is a file or directory."""
        if not self.has(path):
            self.check_directory(path)

    def check_directory(self, path: str) -> None:
        """Raise an error unless there is a directory."""
        if not self.is_directory(path):
            fail(self._why_missing(path), path)

    def _why_missing(self, path: str) -> int:
        """Return the error number of a missing path, which may lead through a file."""
        leads_through_file = any(self.has(above) for above in ancestors(path))
        return errno.ENOTDIR if leads_through_file else errno.ENOENT

    # Many paths

    def ls(self, path: str, *, detail: bool) -> list[Any]:
        """List a directory, or the one file at the path."""
        listing = parts_of(self.body).listing(with_slash(self.name(path)), entries_of)
        if listing is None:
            listing = [] if path in self.made else [file_entry(record_of(self.file(path)))]
        elif not detail and not self.quotes and not self.made:
            return [entry["name"] for entry in listing]
        # Copies, because the listing is cached, and callers may change the entries they get.
        found = [entry | {"name": self.path(entry["name"])} for entry in listing]
        there = {entry["name"] for entry in found} if self.made else set()
        found += [directory_entry(each) for each in self.made.inside(path) if each not in there]
        return found if detail else [entry["name"] for entry in found]

    def find(
        self, path: str, maxdepth: int | None = None, *, withdirs: bool = False,
        detail: bool = False,
    ) -> Any:  # fmt: skip
        """List all files below a path, in message order, in one pass over the names."""
        if maxdepth == 1 and not self.has(path) and self.is_directory(path):
            found = {path: directory_entry(path)} if withdirs and path != "/" else {}
            for entry in self.ls(path, detail=True):
                # A path that is both a file and a directory is listed as the file.
                if entry["type"] == "file" or (withdirs and entry["name"] not in found):
                    found[entry["name"]] = entry
            return found if detail else [*found]
        records, files = self._files(path)
        paths = self._with_directories(path, files) if withdirs else files
        if maxdepth is not None:
            start = len(with_slash(path))
            paths = [each for each in paths if each[start:].count("/") < maxdepth]
        if not detail:
            return paths
        of = dict(zip(files, (each for each in records if each.name is not None), strict=True))
        return {
            each: file_entry(of[each], each) if each in of else directory_entry(each)
            for each in paths
        }

    def files_and_directories(self, path: str) -> tuple[list[str], set[str]]:
        """Return the files and the directories at and below a path."""
        implied = parts_of(self.body).directories(with_slash(self.name(path)))
        paths = map(self.path, implied) if self.quotes else implied
        return self._files(path)[1], {*paths, *self.made.below(path)}

    def entries(self, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the entries of files and directories."""
        found = {}
        for path in paths:
            if part := self.part(path):
                found[path] = file_entry(record_of(part), path)
            elif self.is_directory(path):  # else another thread removed it just now
                found[path] = directory_entry(path)
        return found

    def _files(self, path: str) -> tuple[list[PartRecord], list[str]]:
        """Return the parts at and below a path, and the paths of those with names, in order."""
        if path == "/":
            all_parts = columns(self.body)
            records, names = all_parts.records, all_parts.named.copy()
        else:
            records = self._records_below(path)
            names = [str(record.name) for record in records]
        return records, [*map(unquote_name, names)] if self.quotes else names

    def _records_below(self, path: str) -> list[PartRecord]:
        parts = parts_of(self.body)
        found = parts.below(with_slash(self.name(path)))
        own = parts.find(self.name(path))
        if own is None:
            return found
        # A path that is both file and directory is rare, so only then its position is looked up.
        return sorted([own, *found], key=self._position) if found else [own]

    def _position(self, record: PartRecord) -> int:
        position = parts_of(self.body).position_of(str(record.name))
        return len(self.body) if position is None else position  # removed by another thread

    def _with_directories(self, path: str, files: list[str]) -> list[str]:
        """Return files together with the implied and made directories below a path."""
        prefix = with_slash(path)
        found = [
            each for each in with_directories(files) if each.startswith(prefix) or each == path
        ]
        there = {*found}
        return found + [each for each in self.made.below(path) if each not in there]


class MadeDirectories:
    """Paths of directories that `mkdir` made, by parent directory."""

    def __init__(self) -> None:
        self._inside: dict[str, dict[str, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._inside)

    def __contains__(self, path: str) -> bool:
        return bool(self._inside) and path in self._inside.get(parent(path), ())

    def inside(self, path: str) -> list[str]:
        """Return the made directories directly inside a directory."""
        return [*self._inside.get(path, ())]

    def below(self, path: str) -> list[str]:
        """Return the directory itself, if it was made, and all made directories below it."""
        found = [path] if path in self else []
        waiting = self.inside(path)
        while waiting:
            each = waiting.pop(0)
            found.append(each)
            waiting[:0] = self.inside(each)
        return found

    def add(self, path: str) -> None:
        """Remember a directory and its parents."""
        for each in [*reversed([*ancestors(path)]), path]:
            self._inside.setdefault(parent(each), {})[each] = None

    def remove(self, path: str) -> None:
        """Forget a directory and all directories below it."""
        for each in [*reversed(self.below(path))]:
            above = self._inside[parent(each)]
            del above[each]
            if not above:
                del self._inside[parent(each)]


# Entries of listings: the dicts by which fsspec describes files and directories


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
