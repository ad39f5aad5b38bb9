"""A body as an fsspec filesystem: reading, listing and changing its named parts."""

import contextlib
import datetime as dt
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, NoReturn

from fsspec import AbstractFileSystem
from fsspec.compression import compr
from fsspec.core import get_compression

from messagebody._index import Entries
from messagebody._text import redact_url
from messagebody.body import MessageBody
from messagebody.errors import InvalidName, UnsafeReference
from messagebody.filesystem.documents import Document
from messagebody.filesystem.files import (
    Change,
    CompressingWriter,
    PartWriter,
    TextPartWriter,
    WholeTransaction,
)
from messagebody.names import ancestors, check_name
from messagebody.part import Part
from messagebody.references import Reader, Resolver


def fail(number: int, path: str, text: str | None = None) -> NoReturn:
    """Raise the error of a number, in the words of the system unless told.

    Raises:
        OSError: always; the subclass that belongs to the number.
    """
    raise OSError(number, text or os.strerror(number), path)


@contextlib.contextmanager
def concerning(path: str) -> Iterator[None]:
    """Say of a refused reference which path it is, as errors about files do."""
    try:
        yield
    except UnsafeReference as error:
        error.filename = path
        raise


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


_TEXT_OPTIONS = ("encoding", "errors", "newline")


class MessageBodyFileSystem(ReadingFileSystem):
    """A body as a filesystem: named parts are files, unnamed ones are not shown.

    Directories are implied by names and cannot be empty. `ls`, `find` and `walk` keep message
    order; `glob` sorts, as fsspec does. A new part goes last, an overwritten one keeps its place
    and its content type. Removing a reference drops the part, never the object behind its URL.
    In a transaction all changes wait for the commit, and are made together or not at all.

    Arguments:
        fo: URL of a JSON document with a body, instead of `body`; written back only by `save()`
            or when a transaction is committed.
        body: a live body; changes go both ways.
        resolver: decides how references are read; the body's own, else the closed default.
        allow: URLs of a resolver to make, which keeps the filesystem serialisable.
        read_only: refuse every change with `EROFS`.
        target_protocol, target_options: how to open `fo`, as for fsspec's archives.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> body.fs.ls("/sources", detail=False), body.fs.cat_file("/sources/1.txt")
        (['/sources/1.txt'], b'meow')
        >>> with body.fs.open("/notes.md", "w") as file:
        ...     _ = file.write("# Cats")
        >>> body["/notes.md"]
        Part('/notes.md', text/markdown, '# Cats', 6 B)
    """

    transaction_type = WholeTransaction

    def __init__(
        self,
        fo: str | None = None,
        body: MessageBody | None = None,
        *,
        resolver: Resolver | None = None,
        allow: Iterable[str] = (),
        read_only: bool = False,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if fo is not None and body is not None:
            raise ValueError("a filesystem is over a live body or over fo=, not both")
        self.document = None if fo is None else Document(fo, target_protocol, target_options)
        self.read_only = read_only
        if body is None:
            body = MessageBody() if self.document is None else self.document.load()
        resolver = resolver or (Resolver(allow=list(allow)) if allow else None)
        super().__init__(body, resolver, **options)

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all.

        Raises:
            OSError: the filesystem is over a live body and has no document, or it is read-only.
        """
        if self.document is None:
            fail(errno.EINVAL, "/", "a live body has no document to save to")
        if self.read_only:
            fail(errno.EROFS, redact_url(self.document.url))
        self.document.save(self.body)

    @property
    def _fs_token(self) -> str:
        return f"{id(self.body):x}" if self.document is None else self._fs_token_

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return the filesystem as a JSON value; only one over `fo=` is one."""
        if self.document is None:
            raise TypeError("a filesystem over a live body is no JSON value; pickle it, or use fo=")
        if self.storage_options.get("resolver") is not None:
            raise TypeError(
                "a filesystem with resolver= is no JSON value; pickle it, or use allow="
            )
        result: dict[str, Any] = super().to_dict(include_password=include_password)
        return result

    # Opening

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
            part = self._file(path)
            with concerning(path):
                return part.open()
        if mode not in {"wb", "xb", "ab"}:
            raise ValueError(f"mode {mode!r} is not rb, wb, xb or ab")
        self._check_writable(path, is_new=mode == "xb")
        return PartWriter(self, path, mode, content_type=content_type, autocommit=autocommit)

    # Writing

    def _change(self, check: Callable[[], Any], apply: Callable[[], Any]) -> None:
        """Make a change, in a transaction when it is committed."""
        check()
        if self._intrans:
            self.transaction.files.append(Change(check, apply))
        else:
            apply()

    def _check_writable(self, path: str, *, is_new: bool = False) -> None:
        if self.read_only:
            fail(errno.EROFS, path)
        try:
            check_name(path)
        except InvalidName as error:
            raise OSError(errno.EINVAL, error.problem, path) from error
        if path in self.body:
            if is_new:
                fail(errno.EEXIST, path)
        elif self._is_directory(path):
            fail(errno.EISDIR, path)
        elif any(above in self.body for above in ancestors(path)):
            fail(errno.ENOTDIR, path)

    def _check_removable(self, path: str) -> None:
        self._file(path)
        if self.read_only:
            fail(errno.EROFS, path)

    def _put(self, path: str, content: bytes, content_type: str | None) -> None:
        old = self.body.get(path)
        if old is None:
            self.body.add(content, name=path, content_type=content_type)
        else:
            kept = content_type or old.content_type
            self.body[path] = old.evolve(content=content, content_type=kept)

    def _content_of(self, part: Part | None) -> bytes:
        if part is None:
            return b""
        with concerning(str(part.name)):
            return part.read_bytes()

    def pipe_file(
        self, path: str, value: bytes, mode: str = "overwrite", *,
        content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Write a whole file."""
        path = self._strip_protocol(path)
        self._change(
            partial(self._check_writable, path, is_new=mode == "create"),
            partial(self._put, path, bytes(value), content_type),
        )

    def put_file(self, lpath: Any, rpath: str, *args: Any, **options: Any) -> None:
        """Copy a local file into the body; see fsspec."""
        if options.get("mode") == "create":
            self._check_writable(self._strip_protocol(rpath), is_new=True)
        super().put_file(lpath, rpath, *args, **options)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file; a reference stays one."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if source not in self.body and self._is_directory(source):
            return  # directories are implied by what is copied into them
        self._change(partial(self._check_copy, source, target), partial(self._cp, source, target))

    def _check_copy(self, source: str, target: str) -> None:
        self._file(source)
        self._check_writable(target)

    def _cp(self, source: str, target: str) -> None:
        self.body[target] = self.body[source].with_resolver(None)

    def mv_file(self, path1: str, path2: str, **_: Any) -> None:
        """Give a file another name; it keeps its place."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        self._change(partial(self._check_copy, source, target), partial(self._mv, source, target))

    def _mv(self, source: str, target: str) -> None:
        if target == source or target not in self.body:
            self.body.move(source, target)
            return
        with self.body._parts.all_or_nothing():
            del self.body[target]
            self.body.move(source, target)

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        **_: Any,
    ) -> None:  # fmt: skip
        """Move files and directories, every file in its place, all or none."""
        if isinstance(path1, str):
            recursive = recursive or not self.isfile(path1)
        with self.body._parts.all_or_nothing():
            AbstractFileSystem.copy(
                _Moving(self), path1, path2, recursive, maxdepth, on_error="raise"
            )

    def rm_file(self, path: str) -> None:
        """Remove a file; the object behind a reference stays."""
        path = self._strip_protocol(path)
        self._change(partial(self._check_removable, path), partial(self.body.__delitem__, path))

    _rm = rm_file

    def rm(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None
    ) -> None:  # fmt: skip
        """Remove files, and with `recursive` all below directories."""
        for each in self.expand_path(path, recursive=recursive, maxdepth=maxdepth):
            if each in self.body or not recursive:
                self.rm_file(each)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Accept a directory: it comes to be with its first file."""
        path = self._strip_protocol(path)
        if self.exists(path):
            fail(errno.EEXIST, path)
        self._check_writable(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Accept directories: they come to be with their first files."""
        if not (exist_ok and self.isdir(path)):
            self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Refuse: a directory that is there is not empty."""
        path = self._strip_protocol(path)
        if self._is_directory(path):
            fail(errno.ENOTEMPTY, path)
        self._file(path)
        fail(errno.ENOTDIR, path)

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Make an empty file, or empty one."""
        path = self._strip_protocol(path)
        if truncate or path not in self.body:
            self.pipe_file(path, b"")


class _Moving:
    """The filesystem with moving in the place of copying: where to, fsspec's rules say."""

    def __init__(self, filesystem: MessageBodyFileSystem) -> None:
        self.expand_path = filesystem.expand_path
        self.isdir = filesystem.isdir
        self._filesystem = filesystem

    def cp_file(self, path1: str, path2: str) -> None:
        """Move a file; directories come along with what is in them."""
        if self._filesystem.isfile(path1):
            self._filesystem.mv_file(path1, path2)
