"""The half of the filesystem that changes nothing: what is there, and what is in it."""

import datetime as dt
import errno
import os
from typing import Any, ClassVar

from fsspec import AbstractFileSystem

from messagebody.body import MessageBody
from messagebody.filesystem.failures import concerning, fail
from messagebody.names import ancestors
from messagebody.part import Part
from messagebody.part_list import Entries
from messagebody.resolving import Reader, Resolver

__all__ = ["ReadingFileSystem"]

# DuckDB refuses a filesystem that knows no times; parts have none.
_TIME = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


class ReadingFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """A body as files to list and read.

    Arguments:
        body: the body.
        resolver: decides how references are read; the body's own, else the closed default.
    """

    protocol: ClassVar[str] = "messagebody"
    root_marker = "/"
    # Two bodies that print alike must never share a filesystem.
    cachable = False

    def __init__(self, body: MessageBody, resolver: Resolver | None, **options: Any) -> None:
        super().__init__(**options)
        self.body = body
        self.resolver = resolver
        self._sizes: dict[str, int] = {}

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        text = os.fspath(path)
        text = text.removeprefix("messagebody://")
        text = text.removeprefix("messagebody:")
        if "://" in text:
            return text  # somebody else's: no part has that name, and errors show it as it is
        return "/" + text.strip("/") if not text.startswith("/") else text.rstrip("/") or "/"

    # What is there

    def _part(self, path: str) -> Part | None:
        part = self.body.get(path)
        if part is None or self.resolver is None:
            return part
        return part.with_resolver(self.resolver)

    def _file(self, path: str) -> Part:
        part = self._part(path)
        if part is None:
            fail(errno.EISDIR if self._is_directory(path) else self._why_missing(path), path)
        return part

    def _why_missing(self, path: str) -> int:
        """Return what the system says of a path nothing lies at: it may lead through a file."""
        leads_through_file = any(above in self.body for above in ancestors(path))
        return errno.ENOTDIR if leads_through_file else errno.ENOENT

    def _is_directory(self, path: str) -> bool:
        return self.body._parts.is_directory(_with_slash(path))

    def _check_there(self, path: str) -> None:
        if path not in self.body and not self._is_directory(path):
            fail(self._why_missing(path), path)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List a directory, or the one file at the path. Does no I/O."""
        path = self._strip_protocol(path)
        listing = self.body._parts.listing(_with_slash(path), _described_entries)
        if listing is None:
            listing = [_described(self._file(path))]
        # Copies: the listing is kept, and callers write into what they are given.
        return [entry.copy() if detail else entry["name"] for entry in listing]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Describe a file or directory; asks the resolver for a size nobody stated, once.

        Raises:
            UnsafeReference: the resolver doesn't allow the reference, so nobody can say its size;
                `ls`, `find`, `exists` and `isfile` ask nobody.
        """
        path = self._strip_protocol(path)
        part = self._part(path)
        if part is None:
            self._check_there(path)
            return _directory(path)
        described = _described(part)
        described["index"] = self.body.index(path)
        if part.size is None:
            described["size"] = self._asked_size(path, part)
        if not part.is_reference:
            described["digest"] = part.digest
        return described

    def _asked_size(self, path: str, part: Part) -> int:
        url = str(part.url)
        if url not in self._sizes:
            with concerning(path):
                self._sizes[url] = self._deciding().size(url, subject=part.label)
        return self._sizes[url]

    def _deciding(self) -> Resolver:
        return self.resolver or self.body._resolver or Resolver()

    def exists(self, path: str, **_: Any) -> bool:
        """Tell whether there is a file or directory."""
        path = self._strip_protocol(path)
        return path in self.body or self._is_directory(path)

    def isfile(self, path: str) -> bool:
        """Tell whether there is a file."""
        return self._strip_protocol(path) in self.body

    def isdir(self, path: str) -> bool:
        """Tell whether there is a directory."""
        return self._is_directory(self._strip_protocol(path))

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False,
        detail: bool = False, **_: Any,
    ) -> Any:  # fmt: skip
        """List all files below a path, in message order, in one pass over the names."""
        path = self._strip_protocol(path)
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        prefix = _with_slash(path)
        files = [each for each in self.body.names() if each.startswith(prefix) or each == path]
        found = files
        if withdirs:
            found = _with_directories(files)
            found = [each for each in found if each.startswith(prefix) or each == path]
        if maxdepth is not None:
            found = [each for each in found if each[len(prefix) :].count("/") < maxdepth]
        if not detail:
            return found
        return self._infos(found, set(files))

    def _infos(self, paths: list[str], files: set[str]) -> dict[str, dict[str, Any]]:
        infos = {}
        for path in paths:
            if path not in files:
                infos[path] = _directory(path)
            elif part := self.body.get(path):  # else another thread removed it just now
                infos[path] = _described(part)
        return infos

    def expand_path(self, path: Any, *args: Any, **options: Any) -> list[str]:
        """Return the paths that patterns and directories stand for; see fsspec."""
        try:
            found: list[str] = super().expand_path(path, *args, **options)
        except FileNotFoundError as error:
            if error.errno is not None:
                raise
            fail(errno.ENOENT, path if isinstance(path, str) else ", ".join(path))
        return found

    def created(self, path: str) -> dt.datetime:
        """Return a constant: parts have no times."""
        self._check_there(self._strip_protocol(path))
        return _TIME

    modified = created

    def ukey(self, path: str) -> str:
        """Return what changes when the content does: its digest."""
        part = self._file(self._strip_protocol(path))
        return part.digest or f"{part.url}"

    checksum = ukey

    def sign(self, path: str, expiration: int = 100, **_: Any) -> str:
        """Return a signed URL of a reference below an explicit allow entry.

        Raises:
            NotImplementedError: the content is in the message.
            UnsafeReference: no entry of the resolver says which store signs.
        """
        path = self._strip_protocol(path)
        part = self._file(path)
        if part.url is None:
            raise NotImplementedError(f"{part.label} is in the message; nothing to sign")
        with concerning(path):
            return self._deciding().sign(
                part.url, expires=expiration, content_type=part.content_type, subject=part.label
            )

    # What is in it

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return content, or a range of it; a range of a reference is asked for as one."""
        path = self._strip_protocol(path)
        part = self._file(path)
        with concerning(path):
            return part.read_bytes() if start is None and end is None else _range(part, start, end)

    def get(self, rpath: Any, lpath: Any, recursive: bool = False, **options: Any) -> None:
        """Copy to local files; refused before writing if a name is both file and directory."""
        if recursive:
            for each in [rpath] if isinstance(rpath, str | os.PathLike) else rpath:
                self._refuse_clashes(self._strip_protocol(each))
        super().get(rpath, lpath, recursive=recursive, **options)

    def _refuse_clashes(self, path: str) -> None:
        found = self.expand_path(path, recursive=True)
        clashes = [name for name in found if name in self.body and self._is_directory(name)]
        if clashes:
            fail(errno.ENOTDIR, path, f"{', '.join(clashes)}: both a file and a directory")


def _range(part: Part, start: int | None, end: int | None) -> bytes:
    with part.open() as opened:
        # The buffer of a reference reads ahead; a range is all that is wanted.
        stream: Any = opened.raw if isinstance(opened, Reader) else opened
        if _is_negative(start) or _is_negative(end):
            size = stream.seek(0, os.SEEK_END)
            start, end = (None if at is None else at + size * (at < 0) for at in (start, end))
        start = max(start or 0, 0)
        stream.seek(start)
        found: bytes = stream.read(-1 if end is None else max(end - start, 0))
        return found


def _is_negative(position: int | None) -> bool:
    return position is not None and position < 0


def _with_slash(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _with_directories(names: list[str]) -> list[str]:
    """Return names, and every directory before the first name in it."""
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys(reversed([*ancestors(name)]))
        found[name] = None
    return [*found]


def _directory(path: str) -> dict[str, Any]:
    return {"name": path, "size": 0, "type": "directory"}


def _described_entries(entries: Entries) -> list[dict[str, Any]]:
    return [
        _directory(path[:-1]) if record is None else _described(Part._of(record))
        for path, record in entries
    ]


def _described(part: Part) -> dict[str, Any]:
    described = {
        "name": part.name,
        "size": part.size,
        "type": "file",
        "ContentType": part.content_type,
    }
    if part.reference is not None:
        described |= {"url": part.reference.url, "digest": part.reference.digest}
    return described
