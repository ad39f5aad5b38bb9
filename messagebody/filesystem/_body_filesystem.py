"""A body as an fsspec filesystem: its named parts are files to read, write and move."""

import contextlib
import difflib
import errno
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.compression import compr
from fsspec.core import get_compression
from fsspec.spec import make_instance

from messagebody._base.text import redact_url
from messagebody._model.access import edit, parts_of, resolver_of
from messagebody._model.body import MessageBody
from messagebody._model.content import LocalFile, written_record
from messagebody._model.part import Part
from messagebody._wire.members import PartRecord, check_part_name
from messagebody.errors import InvalidName
from messagebody.filesystem._documents import Document
from messagebody.filesystem._files import (
    CompressingWriter,
    DatabaseLog,
    OffloadingWriter,
    PartAppender,
    PartWriter,
    Pending,
    TextPartWriter,
    plain_mode,
)
from messagebody.filesystem._paths import Live, live_options, live_token
from messagebody.filesystem._transactions import Change, WholeTransaction
from messagebody.filesystem._transfers import Pairs, WholeTransfers
from messagebody.filesystem._view import BodyView, concerning, fail
from messagebody.filesystem._write_through import Offloaded, WriteThrough
from messagebody.storage._references import Resolver
from messagebody.storage._stores import Store

_TEXT_OPTIONS = ("encoding", "errors", "newline")
# What fsspec itself gives to any filesystem.
_FSSPEC_OPTIONS = frozenset(
    {
        "asynchronous", "batch_size", "listings_expiry_time", "loop", "max_paths",
        "skip_instance_cache", "use_listings_cache",
    }
)  # fmt: skip
_OPTIONS = (
    "fo", "body", "resolver", "allow", "read_only", "autosave", "protocol", "quoted_names",
    "offload_to", "threshold", "target_protocol", "target_options",
)  # fmt: skip


class _OfThread(threading.local):
    """What one thread has begun: another one's writes must not wait for its commit."""

    is_open = False
    transaction: WholeTransaction | None = None


class MessageBodyFileSystem(BodyView, WholeTransfers):
    """A body as a filesystem: named parts are files, unnamed ones are not shown.

    Directories are implied by names; one that was made is remembered by the filesystem while it is
    empty, and is not part of the body. `ls`, `find` and `walk` keep message order; `glob` sorts, as
    fsspec does. A new part goes last, an overwritten one keeps its place and its content type.
    Removing a reference drops the part, never the object behind its URL. In a transaction all
    changes of the thread that began it wait for the commit, and are made together or not at all.

    Arguments:
        fo: URL of a JSON document with a body, instead of `body`. It is written back when a
            transaction is committed, or by `save()`; a change outside of a transaction is refused
            with `EROFS`, since nothing would keep it.
        body: a live body; changes go both ways.
        resolver: decides how references are read; the body's own, else the closed default.
        allow: URLs of a resolver to make, which keeps the filesystem serialisable.
        read_only: refuse every change with `EROFS`. A filesystem that was unpickled is read-only:
            its body is a copy.
        autosave: write every change to the document at once.
        protocol: what its URLs begin with, for programs that tell several filesystems apart by it.
        quoted_names: take paths with any character, such as `city=Oslo`; a byte that names don't
            take is `_` and two hex digits in the part's name.
        offload_to: a store, or its URL or directory. What is written and longer than `threshold`
            goes there, and the part becomes a reference with size and digest. This filesystem
            reads back what it wrote itself; for all others a resolver has to allow the store.
        threshold: bytes, or a text such as "256 KiB".
        target_protocol, target_options: how to open `fo`, as for fsspec's archives.
        live: the URL of a live body that led here, for fsspec: URLs of this filesystem begin so.

    Raises:
        ValueError: neither a body nor `fo`, or both.
        TypeError: there is no such option.

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
    # fsspec makes a token of the text of all options. That of a body takes long and says nothing.
    _strip_tokenize_options = ("body",)

    def __init__(
        self,
        fo: str | None = None,
        *,
        body: MessageBody | None = None,
        resolver: Resolver | None = None,
        allow: Iterable[str] = (),
        read_only: bool = False,
        autosave: bool = False,
        protocol: str | None = None,
        quoted_names: bool = False,
        offload_to: str | os.PathLike[str] | Store | None = None,
        threshold: int | str = "256 KiB",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        live: Live | None = None,
        **options: Any,
    ) -> None:
        _check_options(options)
        if (fo is None) == (body is None):
            got = "neither" if fo is None else "both"
            raise ValueError(f"a filesystem is over a live body (body=) or over fo=, got {got}")
        if autosave and fo is None:
            raise ValueError("autosave needs a document (fo=); a live body has none to save to")
        self._here = _OfThread()
        self._databases: weakref.WeakValueDictionary[str, PartWriter] = (
            weakref.WeakValueDictionary()
        )
        self.document = None if fo is None else Document(fo, target_protocol, target_options)
        self.read_only = read_only
        self.autosave = autosave
        self._offload = None if offload_to is None else WriteThrough(offload_to, threshold)
        shown = body if self.document is None else self.document.load()
        assert shown is not None  # noqa: S101 - there is one or the other
        self._live = live
        self._token = ""
        resolver = resolver or (Resolver(allow=list(allow)) if allow else None)
        super().__init__(shown, resolver, protocol=protocol, quoted_names=quoted_names, **options)

    def _part(self, path: str) -> Part | None:
        part = super()._part(path)
        if part is None or self._offload is None or not self._offload.has_written(part.reference):
            return part
        given = resolver_of(part) or Resolver()
        # The caller's own entry goes first: it may have a cache.
        if given.allows(str(part.url)):
            return part
        return part.with_resolver(self._offload.resolver(given.limits))

    @classmethod
    def _get_kwargs_from_urls(cls, path: str) -> dict[str, Any]:
        """Return the options that a URL holds: those of the filesystem whose `url` made it."""
        return live_options(path)

    def url(self, path: str) -> str:
        """Return a URL of a path in this very body, for libraries that only take text.

        It works in this process, for as long as the body (and a filesystem of your own) is used.

        Examples:
            >>> import fsspec
            >>> from messagebody import MessageBody, Part
            >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
            >>> with fsspec.open(body.fs.url("/sources/1.txt")) as file:
            ...     file.read()
            b'meow'
        """
        if self._live is not None:
            token = self._live.token
        else:
            token = self._token = self._token or live_token(self)
        return f"messagebody://{token}{self._strip_protocol(path)}"

    def _url_of(self, path: str) -> str:
        # One that leads here, if such a one was used to get here.
        return super()._url_of(path) if self._live is None else self.url(path)

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all.

        Raises:
            OSError: the filesystem is over a live body and has no document, it is read-only, or
                somebody else changed the document since it was read (`ESTALE`).
        """
        if self.document is None:
            fail(errno.EINVAL, "/", "a live body has no document to save to")
        if self.read_only:
            fail(errno.EROFS, redact_url(self.document.url))
        with edit(self.body):  # else a thread might write what another one has changed since
            self.document.save(self.body)

    # What fsspec asks and sets

    @property
    def _intrans(self) -> bool:
        return self._here.is_open

    @_intrans.setter
    def _intrans(self, is_open: bool) -> None:
        self._here.is_open = is_open

    @property
    def _transaction(self) -> WholeTransaction | None:
        return self._here.transaction

    @_transaction.setter
    def _transaction(self, transaction: WholeTransaction | None) -> None:
        self._here.transaction = transaction

    def start_transaction(self) -> WholeTransaction:
        """Begin a transaction, which `end_transaction` commits."""
        transaction: WholeTransaction = self.transaction
        transaction.start()
        return transaction

    def end_transaction(self) -> None:
        """Commit the transaction that `start_transaction` began."""
        self.transaction.complete()

    @property
    def storage_options(self) -> dict[str, Any]:
        """The options that make a filesystem over the same body."""
        return self._options | ({"body": self.body} if self.document is None else {})

    @storage_options.setter
    def storage_options(self, options: dict[str, Any]) -> None:
        self._options = options

    @property
    def _fs_token(self) -> str:
        return f"{id(self.body):x}" if self.document is None else self._fs_token_

    def __reduce__(self) -> tuple[Any, ...]:
        # What another process writes into its copy of the body would be lost.
        options = self.storage_options | {"read_only": True, "autosave": False, "live": None}
        state = {"_made": self._made}
        return make_instance, (type(self), self.storage_args, options), state

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return the filesystem as a JSON value; only one over `fo=` is one."""
        if self.document is None:
            raise TypeError(
                "a filesystem over a live body is not a JSON value; pickle it, or use fo="
            )
        if self.storage_options.get("resolver") is not None:
            raise TypeError(
                "a filesystem with resolver= is not a JSON value; pickle it, or use allow="
            )
        result: dict[str, Any] = super().to_dict(include_password=include_password)
        return result

    # Opening

    def open(
        self, path: str, mode: str = "rb", block_size: Any = None, cache_options: Any = None,
        compression: str | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Open a file; see fsspec. Text or compression that fails leaves the old content too."""
        kind = plain_mode(mode)
        path = self._strip_protocol(path)
        if kind == "rb" and "b" in mode and compression is None:
            return self._open(path, kind, **options)
        if kind == "rb":
            return super().open(path, mode, block_size, cache_options, compression, **options)
        text = {key: options.pop(key) for key in _TEXT_OPTIONS if key in options}
        codec = None if compression is None else get_compression(path, compression)
        if codec is not None and "+" in kind:
            raise ValueError(f"mode {mode!r}: what is compressed is either read or written")
        stream = self._open(path, kind, **options)
        try:
            if codec is not None:
                stream = CompressingWriter(stream, compr[codec])
            return stream if "b" in mode else TextPartWriter(stream, **text)
        except BaseException:
            stream.discard()
            raise

    def _open(self, path: str, mode: str = "rb", *, whole: bool = False, **options: Any) -> Any:
        # fsspec's caches come here, past `open`, for writing too.
        path, kind = self._strip_protocol(path), plain_mode(mode)
        if kind == "rb":
            return self._reader(path, whole=whole)
        return self._writer(path, kind, **options)

    def _writer(
        self, path: str, mode: str, *, content_type: str | None = None,
        autocommit: bool | None = None, **_: Any,
    ) -> PartWriter | OffloadingWriter:  # fmt: skip
        if mode[0] == "r":
            self._file(path)
        self._check_changeable(path)
        self._check_writable(path, is_new=mode[0] == "x")
        if autocommit is None:
            autocommit = not self._intrans
        options = content_type, autocommit
        writer: PartWriter | OffloadingWriter
        if autocommit and self._is_log(path):
            writer = DatabaseLog(self, path, *options)
        elif mode[0] == "a":
            writer = PartAppender(self, path, mode, *options)
        elif self._offload is None or mode[0] == "r":
            writer = PartWriter(self, path, mode, *options)
        else:
            writer = OffloadingWriter(self, path, mode, *options, to=self._offload)
        if self._intrans and not autocommit:
            self.transaction.files.append(Pending(writer))
        return writer

    # Databases, which hold files open and ask for their size

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Describe a file or directory; the size of an open database is the one it has now.

        A file that is open for writing otherwise is what it was until it is closed: not there, if
        it is new.
        """
        path = self._strip_protocol(path)
        database, now = self._database_at(path), {}
        if database is not None:
            with contextlib.suppress(ValueError):  # another thread has closed it since
                now = {"size": database.size}
        return super().info(path, **options) | now

    def _database_at(self, path: str) -> PartWriter | None:
        file = self._databases.get(path)
        return file if file is not None and file.is_kept_by_flush else None

    def _is_log(self, path: str) -> bool:
        """Return whether DuckDB keeps the changes of a database there that is open."""
        database, suffix, _ = path.rpartition(".wal")
        return bool(suffix) and self._database_at(database) is not None

    # Writing

    def _change(self, path: str, check: Callable[[], Any], apply: Callable[[], Any]) -> None:
        """Make a change: now, or in a transaction when that is committed."""
        with edit(self.body):  # no other thread changes what was checked
            check()
            self._check_changeable(path)
            if self._intrans:
                self.transaction.files.append(Change(check, apply))
            elif self.autosave:
                with self.transaction:
                    self.transaction.files.append(Change(check, apply))
            else:
                apply()

    @contextlib.contextmanager
    def _together(self) -> Iterator[None]:
        """Make all the changes inside, or none."""
        if self.autosave and not self._intrans:
            with self.transaction:
                yield
            return
        queued = len(self.transaction.files) if self._intrans else 0
        try:
            with edit(self.body):
                yield
        except BaseException:
            while self._intrans and len(self.transaction.files) > queued:
                self.transaction.files.pop().discard()
            raise

    def _check_changeable(self, path: str) -> None:
        if self.read_only:
            fail(errno.EROFS, path)
        if self.document is None and os.getpid() != self._process:
            text = "Read-only file system: a forked process has a copy of the body"
            fail(errno.EROFS, path, text)
        if self.document is not None and not (self.autosave or self._intrans):
            text = "Read-only file system: a document changes in `with fs.transaction:`, or with "
            fail(errno.EROFS, path, text + "autosave=True")

    def _check_writable(self, path: str, *, is_new: bool = False) -> None:
        try:
            name = check_part_name(self._name(path))
        except InvalidName as error:
            raise OSError(errno.EINVAL, error.problem, path) from error
        self._check_free(path, name, is_new=is_new)

    def _check_free(self, path: str, name: str, *, is_new: bool) -> None:
        """Refuse a path if something else has its name, or lies above it or below it."""
        blocker = parts_of(self.body).blocker(name)
        if blocker == name:
            if is_new:
                fail(errno.EEXIST, path)
        elif path in self._made or blocker == f"{name}/":
            fail(errno.EISDIR, path)
        elif blocker is not None:
            fail(errno.ENOTDIR, path)

    def _held(
        self, path: str, content: bytes | LocalFile, content_type: str | None
    ) -> bytes | Offloaded:
        """Return content as a part is to hold it: a reference, if it is large and there is a store.

        Done before a change waits for its transaction: sending takes long, and holds nobody up.
        """
        if self._offload is not None:
            return self._offload.of(self._name(path), content, content_type)
        # Unlike `body.add`, this reads the file at once: the caller may delete it afterwards.
        return content if isinstance(content, bytes) else content.read_bytes()

    def _put(self, path: str, content: bytes | Offloaded, content_type: str | None) -> None:
        name = self._name(path)

        def record(old: PartRecord | None) -> PartRecord:
            if not isinstance(content, Offloaded):
                return written_record(content, name, content_type, old)
            kind = content_type or (content.content_type if old is None else None)
            return written_record(content.reference, name, kind, old)

        parts_of(self.body).put(name, record)

    def _content_of(self, part: Part | None) -> bytes:
        if part is None:
            return b""
        with concerning(self._path(str(part.name))):
            return part.read_bytes()

    def pipe_file(
        self, path: str, value: Any, mode: str = "overwrite", *,
        content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Write a whole file.

        Raises:
            TypeError: the value is not bytes, or an object that holds some.
        """
        path = self._strip_protocol(path)
        content = value if isinstance(value, bytes) else memoryview(value).tobytes()
        self._write(path, content, mode, content_type)

    def _write(
        self, path: str, content: bytes | LocalFile, mode: str, content_type: str | None
    ) -> None:
        is_new = mode == "create"

        def check() -> None:
            self._check_writable(path, is_new=is_new)

        if self._offload is not None:
            # What can't be written is refused before anything is sent to a store for it.
            self._check_changeable(path)
            check()
        held = self._held(path, content, content_type)
        self._change(path, check, lambda: self._put(path, held, content_type))

    def put_file(
        self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite",
        *, content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Copy a local file into the body; a local directory is made."""
        rpath = self._strip_protocol(rpath)
        if Path(lpath).is_dir():
            self.makedirs(rpath, exist_ok=True)
            return
        Path(lpath).stat()  # what is missing is an OSError
        file = LocalFile.at(lpath)
        callback.set_size(file.size)
        self._write(rpath, file, mode, content_type)
        callback.relative_update(file.size)

    def put(
        self, lpath: Any, rpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Copy local files and directories; see fsspec.

        Raises:
            FileExistsError: two files would have one path; nothing is written.
        """
        plan = Pairs(self).note_put(lpath, rpath, recursive=recursive, maxdepth=maxdepth)
        callback.set_size(len(plan))
        for source, target in callback.wrap(plan):
            with callback.branched(source, target) as child:
                self.put_file(source, target, callback=child, **options)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file; a reference stays one."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if not self._has(source) and self._is_directory(source):
            if source in self._made and not self._is_directory(target):
                self.mkdir(target)
            return  # other directories are implied by what is copied into them
        check = partial(self._check_copy, source, target)
        self._change(target, check, partial(self._cp, source, target))

    def _check_copy(self, source: str, target: str) -> None:
        self._file(source)
        self._check_writable(target)

    def _cp(self, source: str, target: str) -> None:
        self.body[self._name(target)] = self.body[self._name(source)].with_resolver(None)

    def mv_file(self, path1: str, path2: str, **_: Any) -> None:
        """Give a file another name; it keeps its place."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        check = partial(self._check_copy, source, target)
        self._change(target, check, partial(self._mv, source, target))

    def _mv(self, source: str, target: str) -> None:
        old, new = self._name(source), self._name(target)
        with edit(self.body):
            if new != old and new in self.body:
                del self.body[new]
            self.body.move(old, new)

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        **_: Any,
    ) -> None:  # fmt: skip
        """Move files and directories, every file in its place, all or none.

        What is moved to where it is stays there.

        Raises:
            FileExistsError: two files would have one path, or a path is both source and target.
            OSError: `EINVAL`: a directory would lie in itself.
        """
        if self._is_unmoved(path1, path2):
            return
        if isinstance(path1, str):
            recursive = recursive or not self.isfile(path1)
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        directories = {old for old, _ in plan if self.isdir(old) and not self.isfile(old)}
        with self._together():
            for old, new in plan:
                if old not in directories:
                    self.mv_file(old, new)
        with edit(self.body):
            for old, new in reversed(plan):
                if old in self._made:
                    self._made.remove(old)
                    self._made.add(new)

    def rm_file(self, path: str) -> None:
        """Remove a file; the object behind a reference stays.

        A file that is open for writing then can't be closed without an error (`ESTALE`).
        """
        path = self._strip_protocol(path)
        self._change(path, partial(self._file, path), partial(self._rm_now, path))

    def _rm_now(self, path: str) -> None:
        del self.body[self._name(path)]

    _rm = rm_file

    def rm(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None
    ) -> None:  # fmt: skip
        """Remove files, and with `recursive` all below directories and the directories made."""
        found = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
        with self._together():
            for each in found:
                if self._has(each) or not recursive:
                    self.rm_file(each)
        with edit(self.body):
            for each in found if recursive and maxdepth is None else ():
                self._made.remove(each)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Make a directory, which this filesystem remembers until something lies in it."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if self.exists(path):
                fail(errno.EEXIST, path)
            self._check_changeable(path)
            self._check_writable(path)
            if not create_parents and not self._is_directory(self._parent(path)):
                fail(errno.ENOENT, path)
            self._made.add(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory and those above it."""
        with edit(self.body):
            if not (exist_ok and self.isdir(path)):
                self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory: one that was made and nothing lies in."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if not self._is_directory(path):
                self._file(path)
                fail(errno.ENOTDIR, path)
            if self.ls(path, detail=False) or path == "/":
                fail(errno.ENOTEMPTY, path)
            self._check_changeable(path)
            self._made.remove(path)

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Make an empty file, or empty one."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if truncate or not self._has(path):
                self.pipe_file(path, b"")


def _check_options(options: dict[str, Any]) -> None:
    """Refuse unknown options: an ignored one could mean another body than the caller expects."""
    unknown = sorted(options.keys() - _FSSPEC_OPTIONS)
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], _OPTIONS, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    got = ", ".join(map(repr, unknown))
    raise TypeError(f"MessageBodyFileSystem() got unexpected options: {got}{meant}")
