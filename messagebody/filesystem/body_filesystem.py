"""The filesystem: what fsspec asks, answered by a body."""

import errno
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.compression import compr
from fsspec.core import get_compression

from messagebody.body import MessageBody
from messagebody.errors import InvalidName
from messagebody.filesystem.documents import Document
from messagebody.filesystem.failures import concerning, fail
from messagebody.filesystem.reading import ReadingFileSystem
from messagebody.filesystem.transactions import Change, WholeTransaction
from messagebody.filesystem.writing import CompressingWriter, PartWriter, TextPartWriter
from messagebody.names import ancestors, check_name
from messagebody.part import Part
from messagebody.resolving import Resolver
from messagebody.text import redact_url

__all__ = ["MessageBodyFileSystem"]

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
