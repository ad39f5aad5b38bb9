"""Changes to a body's files: opening, writing, copying, moving and removing."""

import contextlib
import errno
import os
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.compression import compr
from fsspec.core import get_compression

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
from messagebody.filesystem._paths import concerning, fail
from messagebody.filesystem._reading import BodyReader
from messagebody.filesystem._transactions import Change, open_frame
from messagebody.filesystem._transfers import Pairs
from messagebody.filesystem._write_through import Offloaded, WriteThrough
from messagebody.storage._references import Resolver

_TEXT_OPTIONS: Final = ("encoding", "errors", "newline")


class BodyWriter(BodyReader):
    """A body as files to list, read and change.

    Arguments:
        body: the body.
        resolver: decides how references are read; by default the body's resolver, or a closed one.
        document: the document that holds the body, if there is one.
        read_only: refuse every change.
        autosave: save the document after every change.
        offload: sends large content to a store, if there is one.
        **options: those of `BodyListing`.
    """

    def __init__(
        self,
        body: MessageBody,
        resolver: Resolver | None,
        *,
        document: Document | None,
        read_only: bool,
        autosave: bool,
        offload: WriteThrough | None,
        **options: Any,
    ) -> None:
        self.document = document
        self.read_only = read_only
        self.autosave = autosave
        self._offload = offload
        self._databases: weakref.WeakValueDictionary[str, PartWriter] = (
            weakref.WeakValueDictionary()
        )
        super().__init__(body, resolver, **options)

    def _part(self, path: str) -> Part | None:
        part = super()._part(path)
        if part is None or self._offload is None or not self._offload.has_written(part.reference):
            return part
        given = resolver_of(part) or Resolver()
        # The caller's own allow entry takes precedence, because it may have a cache.
        if given.allows(str(part.url)):
            return part
        return part.with_resolver(self._offload.resolver(given.limits))

    # Opening

    def open(
        self, path: str, mode: str = "rb", block_size: Any = None, cache_options: Any = None,
        compression: str | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Open a file; see fsspec. If encoding or compression fails, the old content stays."""
        kind = plain_mode(mode)
        path = self._strip_protocol(path)
        if kind == "rb" and "b" in mode and compression is None:
            return self._open(path, kind, **options)
        if kind == "rb":
            return super().open(path, mode, block_size, cache_options, compression, **options)
        text = {key: options.pop(key) for key in _TEXT_OPTIONS if key in options}
        codec = None if compression is None else get_compression(path, compression)
        if codec is not None and "+" in kind:
            raise ValueError(f"mode {mode!r}: a compressed file is either read or written")
        stream = self._open(path, kind, **options)
        try:
            if codec is not None:
                stream = CompressingWriter(stream, compr[codec])
            return stream if "b" in mode else TextPartWriter(stream, **text)
        except BaseException:
            stream.discard()
            raise

    def _open(self, path: str, mode: str = "rb", *, whole: bool = False, **options: Any) -> Any:
        # fsspec's caches call this instead of `open`, for writing too.
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
        waits_for = open_frame(self)
        if autocommit is None:
            autocommit = waits_for is None
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
        if waits_for is not None and not autocommit:
            waits_for.changes.append(Pending(writer))
        return writer

    # Databases, which keep files open and ask for their size

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Return the entry of a file or directory, with the current size of an open database.

        Any other file that is open for writing keeps its old state until it is closed. A new file
        does not exist until then.
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
        """Return whether a path is the write-ahead log of an open DuckDB database."""
        database, suffix, _ = path.rpartition(".wal")
        return bool(suffix) and self._database_at(database) is not None

    # Writing

    def _change(self, path: str, check: Callable[[], Any], apply: Callable[[], Any]) -> None:
        """Make a change, now or when the open transaction is committed."""
        with edit(self.body):  # no other thread makes a change after the check
            check()
            self._check_changeable(path)
            if (frame := open_frame(self)) is not None:
                frame.changes.append(Change(check, apply))
            elif self.autosave:
                with self._together():
                    self._change(path, check, apply)
            else:
                apply()

    @contextlib.contextmanager
    def _together(self) -> Iterator[None]:
        """Make all changes in the `with` block, or none."""
        # In a transaction, it is a nested one: all or none of its changes wait for the commit.
        is_whole = self.autosave or self._intrans
        with edit(self.body), self.transaction if is_whole else contextlib.nullcontext():
            yield

    def _check_changeable(self, path: str) -> None:
        if self.read_only:
            fail(errno.EROFS, path)
        if self.document is None and os.getpid() != self._process:
            text = "Read-only file system: a forked process has a copy of the body"
            fail(errno.EROFS, path, text)
        if self.document is not None and not (self.autosave or self._intrans):
            text = "Read-only file system: change a document in `with fs.transaction:`, or use "
            fail(errno.EROFS, path, text + "autosave=True")

    def _check_writable(self, path: str, *, is_new: bool = False) -> None:
        try:
            name = check_part_name(self._name(path))
        except InvalidName as error:
            raise OSError(errno.EINVAL, error.problem, path) from error
        self._check_free(path, name, is_new=is_new)

    def _check_free(self, path: str, name: str, *, is_new: bool) -> None:
        """Raise `OSError` if a file or directory at, above or below a path blocks it."""
        blocker = parts_of(self.body).blocker(name)
        if blocker == name:
            if is_new:
                fail(errno.EEXIST, path)
        elif path in self._made or blocker == f"{name}/":
            fail(errno.EISDIR, path)
        elif blocker is not None:
            fail(errno.ENOTDIR, path)

    def _offload_if_large(
        self, path: str, content: bytes | LocalFile, content_type: str | None
    ) -> bytes | Offloaded:
        """Return content for a part: a reference, if it is large and there is a store.

        Called before a change waits for its transaction, because sending takes long.
        """
        if self._offload is not None:
            return self._offload.content_for(self._name(path), content, content_type)
        # Unlike `body.add`, this reads the file now: the caller may delete it afterwards.
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
            TypeError: the value is not a bytes-like object.
        """
        path = self._strip_protocol(path)
        content = value if isinstance(value, bytes) else memoryview(value).tobytes()
        self._write(path, content, mode, content_type)

    def pipe(self, path: str | dict[str, Any], value: Any = None, **options: Any) -> None:
        """Write a file, or all files of a dict or none; see `pipe_file` and fsspec."""
        # Sending one file to a store takes long, and needs no other to wait.
        is_one = not isinstance(path, dict)
        with contextlib.nullcontext() if is_one else self._together():
            super().pipe(path, value, **options)

    def _write(
        self, path: str, content: bytes | LocalFile, mode: str, content_type: str | None
    ) -> None:
        is_new = mode == "create"

        def check() -> None:
            self._check_writable(path, is_new=is_new)

        if self._offload is not None:
            # Refuse an invalid write before anything is sent to the store.
            self._check_changeable(path)
            check()
        held = self._offload_if_large(path, content, content_type)
        self._change(path, check, lambda: self._put(path, held, content_type))

    def put_file(
        self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite",
        *, content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Copy a local file into the body; for a local directory, only make a directory."""
        rpath = self._strip_protocol(rpath)
        if Path(lpath).is_dir():
            self.makedirs(rpath, exist_ok=True)
            return
        Path(lpath).stat()  # raises OSError if the file is missing
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
            FileExistsError: two files would have the same path; nothing is written.
            OSError: a path can't be written, such as one that is not a name; nothing is written.
        """
        plan = Pairs(self).note_put(lpath, rpath, recursive=recursive, maxdepth=maxdepth)
        for source, target in plan:
            path = self._strip_protocol(target)
            if not (Path(source).is_dir() and self.isdir(path)):
                self._check_changeable(path)
                self._check_writable(path, is_new=options.get("mode") == "create")
        callback.set_size(len(plan))
        for source, target in callback.wrap(plan):
            with callback.branched(source, target) as child:
                self.put_file(source, target, callback=child, **options)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file; a reference stays a reference."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if not self._has(source) and self._is_directory(source):
            if source in self._made and not self._is_directory(target):
                self.mkdir(target)
            return  # other directories are implied by the files that are copied into them
        check = partial(self._check_copy, source, target)
        self._change(target, check, partial(self._cp, source, target))

    def copy(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        on_error: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Copy files and directories, all or none; see fsspec.

        Raises:
            FileExistsError: two files have the same target, or a path is both source and target.
            OSError: `EINVAL`: a directory would be inside itself.
        """
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        skips = on_error == "ignore" or (on_error is None and recursive)
        with self._together():
            for old, new in plan:
                with contextlib.suppress(*[FileNotFoundError] * skips):
                    self.cp_file(old, new)

    def _check_copy(self, source: str, target: str) -> None:
        self._file(source)
        self._check_writable(target)

    def _cp(self, source: str, target: str) -> None:
        self.body[self._name(target)] = self.body[self._name(source)].with_resolver(None)

    def mv_file(self, path1: str, path2: str, **_: Any) -> None:
        """Rename a file; the part keeps its position."""
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
        """Move files and directories, all or none; every part keeps its position.

        A file that is moved to its own path stays there.

        Raises:
            FileExistsError: two files have the same target, or a path is both source and target.
            OSError: `EINVAL`: a directory would be inside itself. `ENOTDIR`: a directory would take
                the place of a file.
        """
        if isinstance(path1, str) and isinstance(path2, str):
            source = self._strip_protocol(path1)
            if source == self._strip_protocol(path2):
                self._check_there(source)
                return
        if isinstance(path1, str):
            recursive = recursive or not self.isfile(path1)
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        directories = {old for old, _ in plan if self.isdir(old) and not self.isfile(old)}
        for old, new in plan:
            if old in directories and self._has(new):
                fail(errno.ENOTDIR, new)
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

        If the file is open for writing, closing it fails with `ESTALE`.
        """
        path = self._strip_protocol(path)
        self._change(path, partial(self._file, path), partial(self._rm_now, path))

    def _rm_now(self, path: str) -> None:
        del self.body[self._name(path)]

    _rm = rm_file

    def rm(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None
    ) -> None:  # fmt: skip
        """Remove files, and with `recursive` directories and everything below them."""
        found = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
        with self._together():
            for each in found:
                if self._has(each) or not recursive:
                    self.rm_file(each)
        with edit(self.body):
            for each in found if recursive and maxdepth is None else ():
                self._made.remove(each)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Make a directory, which this filesystem remembers while it is empty."""
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
        """Make a directory and its parents."""
        with edit(self.body):
            if not (exist_ok and self.isdir(path)):
                self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory that was made by `mkdir`."""
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
        """Make an empty file; with `truncate`, empty an existing one."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if truncate or not self._has(path):
                self.pipe_file(path, b"")
