"""The filesystem: what fsspec asks, answered by a body."""

import datetime as dt
import errno
import os
from collections.abc import Iterable
from typing import Any, ClassVar, NoReturn

from fsspec import AbstractFileSystem
from fsspec.compression import compr
from fsspec.core import get_compression
from fsspec.transaction import Transaction

from messagebody.body import MessageBody
from messagebody.errors import InvalidName, UnsafeReference
from messagebody.filesystem.documents import Document
from messagebody.filesystem.writing import CompressingWriter, PartWriter, TextPartWriter
from messagebody.names import ancestors, check_name
from messagebody.part import Part
from messagebody.part_list import Entries
from messagebody.resolving import Reader, Resolver

__all__ = ["MessageBodyFileSystem"]

_TEXT_OPTIONS = ("encoding", "errors", "newline")
# DuckDB refuses a filesystem that knows no times; parts have none.
_TIME = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


class _SavingTransaction(Transaction):  # type: ignore[misc]
    """Writes go into the body together, and then into the document it came from."""

    def complete(self, commit: bool = True) -> None:
        filesystem = self.fs  # fsspec forgets it in complete
        super().complete(commit)
        if commit and filesystem.document is not None:
            filesystem.save()


class MessageBodyFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """A body as a filesystem: named parts are files, unnamed ones are not shown.

    Directories are implied by names and cannot be empty. `ls`, `find` and `walk` keep message
    order; `glob` sorts, as fsspec does. A new part goes last, an overwritten one keeps its place
    and its content type. Removing a reference drops the part, never the object behind its URL.

    Arguments:
        fo: URL of a JSON document with a body, instead of `body`; written back only by `save()`
            or when a transaction is committed.
        body: a live body; changes go both ways.
        resolver: decides how references are read; the body's own, else the closed default.
        allow: URLs of a resolver to make, which keeps the filesystem serialisable.
        target_protocol, target_options: how to open `fo`, as for fsspec's archives.

    Example:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> body.fs.ls("/sources", detail=False), body.fs.cat_file("/sources/1.txt")
        (['/sources/1.txt'], b'meow')
        >>> with body.fs.open("/notes.md", "w") as file:
        ...     _ = file.write("# Cats")
        >>> body["/notes.md"]
        Part('/notes.md', text/markdown, '# Cats', 6 B)
    """

    protocol: ClassVar[str] = "messagebody"
    root_marker = "/"
    # Two bodies that print alike must never share a filesystem.
    cachable = False
    transaction_type = _SavingTransaction

    def __init__(
        self,
        fo: str | None = None,
        body: MessageBody | None = None,
        *,
        resolver: Resolver | None = None,
        allow: Iterable[str] = (),
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if fo is not None and body is not None:
            raise ValueError("a filesystem is over a live body or over fo=, not both")
        self.document = None if fo is None else Document(fo, target_protocol, target_options)
        if self.document is not None:
            body = self.document.load()
        self.body = MessageBody() if body is None else body
        self.resolver = resolver or (Resolver(allow=list(allow)) if allow else None)
        self._sizes: dict[str, int] = {}

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all.

        Raises:
            OSError: the filesystem is over a live body and has no document.
        """
        if self.document is None:
            _fail(errno.EINVAL, "a live body has no document to save to", "/")
        self.document.save(self.body)

    @property
    def _fs_token(self) -> str:
        return f"{id(self.body):x}" if self.document is None else self._fs_token_

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return the filesystem as a JSON value; only one over `fo=` is one."""
        if self.document is None:
            raise TypeError("a filesystem over a live body is no JSON value; pickle it, or use fo=")
        result: dict[str, Any] = super().to_dict(include_password=include_password)
        return result

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        text = os.fspath(path)
        text = text.removeprefix("messagebody://")
        text = text.removeprefix("messagebody:")
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
            if self._is_directory(path):
                _fail(errno.EISDIR, os.strerror(errno.EISDIR), path)
            _fail(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return part

    def _is_directory(self, path: str) -> bool:
        return self.body._parts.is_directory(_with_slash(path))

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List a directory, or the one file at the path. Does no I/O."""
        path = self._strip_protocol(path)
        listing = self.body._parts.listing(_with_slash(path), _described_entries)
        if listing is None:
            listing = [_described(self._file(path))]
        # Copies: the listing is kept, and callers write into what they are given.
        return [entry.copy() if detail else entry["name"] for entry in listing]

    def _listed(self, path: str) -> dict[str, Any]:
        return _described(self.body[path])

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Describe a file or directory; asks the resolver for a size nobody stated, once."""
        path = self._strip_protocol(path)
        part = self._part(path)
        if part is None:
            if not self._is_directory(path):
                self._file(path)
            return _directory(path)
        described = _described(part)
        described["index"] = self.body.index(path)
        if part.size is None:
            described["size"] = self._asked_size(part)
        if not part.is_reference:
            described["digest"] = part.digest
        return described

    def _asked_size(self, part: Part) -> int | None:
        url = str(part.url)
        if url not in self._sizes:
            resolver = self.resolver or self.body._resolver or Resolver()
            try:
                self._sizes[url] = resolver.size(url, subject=part.label)
            except UnsafeReference:
                return None  # the part is there all the same
        return self._sizes[url]

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
        prefix = path.rstrip("/") + "/"
        found = {
            name: None
            for name in self.body.names()
            if name.startswith(prefix) and _within(name[len(prefix) :], maxdepth)
        }
        infos = {name: self._listed(name) for name in found}
        if path in self.body:
            infos = {path: self._listed(path), **infos}
        if withdirs:
            infos = {**self._directories_below(path, prefix, maxdepth), **infos}
        return infos if detail else sorted(infos) if withdirs else list(infos)

    def _directories_below(
        self, path: str, prefix: str, maxdepth: int | None
    ) -> dict[str, dict[str, Any]]:
        above = {
            directory: None
            for name in self.body.names()
            if name.startswith(prefix)
            for directory in ancestors(name)
            if directory.startswith(prefix) and _within(directory[len(prefix) :], maxdepth)
        }
        found = {directory: _directory(directory) for directory in above}
        return {path: _directory(path), **found} if path != "/" and self.isdir(path) else found

    def created(self, path: str) -> dt.datetime:
        """Return a constant: parts have no times."""
        self.info(path)
        return _TIME

    modified = created

    def ukey(self, path: str) -> str:
        """Return what changes when the content does: its digest."""
        path = self._strip_protocol(path)
        part = self._file(path)
        return part.digest or f"{part.url}"

    checksum = ukey

    def sign(self, path: str, expiration: int = 100, **_: Any) -> str:
        """Return a signed URL of a reference below an explicit allow entry.

        Raises:
            NotImplementedError: the content is in the message.
            UnsafeReference: no entry of the resolver says which store signs.
        """
        part = self._file(self._strip_protocol(path))
        if part.url is None:
            raise NotImplementedError(f"{part.label} is in the message; nothing to sign")
        resolver = self.resolver or self.body._resolver or Resolver()
        return resolver.sign(
            part.url, expires=expiration, content_type=part.content_type, subject=part.label
        )

    # Reading

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return content, or a range of it; a range of a reference is asked for as one."""
        part = self._file(self._strip_protocol(path))
        if start is None and end is None:
            return part.read_bytes()
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

    def open(
        self, path: str, mode: str = "rb", block_size: Any = None, cache_options: Any = None,
        compression: str | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Open a file; see fsspec. Text or compression that fails leaves the old content too."""
        if "r" in mode:
            return super().open(path, mode, block_size, cache_options, compression, **options)
        if "b" not in mode:
            text = {key: options.pop(key) for key in _TEXT_OPTIONS if key in options}
            binary = mode.replace("t", "") + "b"
            return TextPartWriter(
                self.open(path, binary, compression=compression, **options), **text
            )
        codec = get_compression(path, compression)
        writer = super().open(path, mode, **options)
        return writer if codec is None else CompressingWriter(writer, compr[codec])

    def _open(
        self, path: str, mode: str = "rb", block_size: Any = None, autocommit: bool = True,
        content_type: str | None = None, **_: Any,
    ) -> Any:  # fmt: skip
        if mode == "rb":
            return self._file(path).open()
        if mode not in {"wb", "xb", "ab"}:
            _fail(errno.EINVAL, f"mode {mode!r} is not rb, wb, xb or ab", path)
        self._check_writable(path)
        old = self._part(path)
        if mode == "xb" and old is not None:
            _fail(errno.EEXIST, os.strerror(errno.EEXIST), path)
        start = old.read_bytes() if mode == "ab" and old is not None else b""
        return PartWriter(self, path, start, content_type=content_type, autocommit=autocommit)

    # Writing

    def _check_writable(self, path: str) -> None:
        try:
            check_name(path)
        except InvalidName as error:
            raise OSError(errno.EINVAL, error.problem, path) from error
        if path not in self.body:
            if self._is_directory(path):
                _fail(errno.EISDIR, os.strerror(errno.EISDIR), path)
            if any(above in self.body for above in ancestors(path)):
                _fail(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)

    def _put(self, path: str, content: bytes, content_type: str | None) -> None:
        old = self.body.get(path)
        if old is None:
            self.body.add(content, name=path, content_type=content_type)
            return
        kept = content_type or old.content_type
        self.body[self.body.index(path)] = old.evolve(content=content, content_type=kept)

    def pipe_file(
        self, path: str, value: bytes, mode: str = "overwrite", *,
        content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Write a whole file."""
        path = self._strip_protocol(path)
        self._check_writable(path)
        if mode == "create" and path in self.body:
            _fail(errno.EEXIST, os.strerror(errno.EEXIST), path)
        self._put(path, bytes(value), content_type)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file; a reference stays one."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if source not in self.body and self._is_directory(source):
            return  # directories are implied by what is copied into them
        part = self._file(source)
        self._check_writable(target)
        self.body[target] = part.with_resolver(None)

    def mv_file(self, path1: str, path2: str, **_: Any) -> None:
        """Give a file another name; it keeps its place."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        self._file(source)
        self._check_writable(target)
        if target in self.body and target != source:
            del self.body[target]
        self.body.move(source, target)

    def mv(
        self, path1: str, path2: str, recursive: bool = False, maxdepth: int | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        """Move a file in its place, a directory by copying and removing."""
        if not recursive and isinstance(path1, str) and self.isfile(path1):
            target = self._strip_protocol(path2)
            if path2.endswith("/") or (self.isdir(target) and not self.isfile(target)):
                target = f"{target.rstrip('/')}/{self._strip_protocol(path1).rpartition('/')[2]}"
            self.mv_file(path1, target)
        else:
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **options)

    def rm_file(self, path: str) -> None:
        """Remove a file; the object behind a reference stays."""
        path = self._strip_protocol(path)
        self._file(path)
        del self.body[path]

    _rm = rm_file

    def rm(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None
    ) -> None:  # fmt: skip
        """Remove files, and with `recursive` all below directories."""
        for each in self.expand_path(path, recursive=recursive, maxdepth=maxdepth):
            if each in self.body:
                self.rm_file(each)
            elif not recursive:
                self._file(each)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Accept a directory: it comes to be with its first file."""
        if self.exists(path):
            _fail(errno.EEXIST, os.strerror(errno.EEXIST), self._strip_protocol(path))

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Accept directories: they come to be with their first files."""
        if not exist_ok:
            self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Refuse: a directory that is there is not empty."""
        path = self._strip_protocol(path)
        if self._is_directory(path):
            _fail(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        self._file(path)
        _fail(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Make an empty file, or empty one."""
        path = self._strip_protocol(path)
        if truncate or path not in self.body:
            self.pipe_file(path, b"")

    def get(self, rpath: Any, lpath: Any, recursive: bool = False, **options: Any) -> None:
        """Copy to local files; refused before writing if a name is both file and directory."""
        if recursive:
            for each in [rpath] if isinstance(rpath, str) else rpath:
                self._refuse_clashes(self._strip_protocol(each))
        super().get(rpath, lpath, recursive=recursive, **options)

    def _refuse_clashes(self, path: str) -> None:
        clashes = [name for name in self.find(path) if self._is_directory(name)]
        if clashes:
            _fail(errno.ENOTDIR, f"{', '.join(clashes)}: both a file and a directory", path)


def _fail(number: int, text: str, path: str) -> NoReturn:
    raise OSError(number, text, path)


def _with_slash(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _within(below: str, maxdepth: int | None) -> bool:
    return maxdepth is None or below.count("/") < maxdepth


def _is_negative(position: int | None) -> bool:
    return position is not None and position < 0


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
