"""Open files: readers of the content of a part, and writers whose bytes become a part."""

import atexit
import contextlib
import errno
import io
import os
import weakref
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, BinaryIO

from messagebody._model.access import record_of

if TYPE_CHECKING:
    from messagebody._model.part import Part
    from messagebody.filesystem._writer import FileWriter


class PartReader(io.BytesIO):
    """A file open for reading whose content is in the message; see `described_stream`."""

    mode = "rb"

    def __init__(self, path: str, name: str, content: bytes) -> None:
        super().__init__(content)
        self.path, self.name = path, name
        self.size = len(content)

    # What fsspec's cache of blocks asks of each file, and sets: it closes files by `closed`, too.
    blocksize = io.DEFAULT_BUFFER_SIZE

    def _fetch_range(self, start: int, end: int) -> bytes:
        return bytes(self.getbuffer()[start:end])

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return super().closed

    @closed.setter
    def closed(self, value: bool) -> None:
        if value:
            super().close()


# A buffer of another stream has no name of its own. Python's classes know which stream they buffer,
# even if a class derived from them shows another one as `raw`.
_BUFFERS = (io.BufferedReader, io.BufferedRandom)


def described_stream(stream: BinaryIO, path: str, name: str, size: int | None) -> Any:
    """Return a stream with the size, path and name attributes of fsspec's own files.

    Libraries guess the format from `name`, and some read or write the local file of that name
    instead of the stream. A message must not choose that file, so `name` is a URL.

    Arguments:
        stream: the stream to read.
        path: the path of the part.
        name: the URL of the part.
        size: bytes, for blocks and progress; None if unknown.
    """
    described: Any = stream
    described.size, described.path = size, path
    named: Any = stream
    while buffer := next((kind for kind in _BUFFERS if isinstance(named, kind)), None):
        named = vars(buffer)["raw"].__get__(named)
    named.name = name
    if not hasattr(named, "mode"):
        named.mode = "rb"
    return described


@lru_cache(64)
def plain_mode(mode: str) -> str:
    """Return a mode in binary form: "rb", "wb", "xb" or "ab", or with a "+" as in "r+b".

    Raises:
        ValueError: the mode is invalid.
    """
    first = "".join(sorted(set(mode) & set("rwxa")))
    is_known = len(first) == 1 and set(mode) <= {*first, *"bt+"} and not set("bt") <= set(mode)
    if not is_known or len(mode) != len(set(mode)):
        raise ValueError(f"invalid mode {mode!r}: expected r, w, x or a, perhaps with b or t and +")
    return first + ("+" if "+" in mode else "") + "b"


class PartWriter(io.BytesIO):
    """A file in memory, open for writing and, with "+", for reading.

    It becomes a part when it is closed. An exception inside `with` drops the written content and
    leaves the old one. A file that is never closed is closed when it is collected, or when the
    program ends. If it is changed in place ("r+b"), `flush` makes the part, too, because databases
    keep their files open.

    Arguments:
        writer: makes the part.
        path: the path of the part.
        name: its URL, from which libraries guess the format; see `described_stream`.
        mode: "wb", "xb", "ab", or one of "r+b", "w+b", "x+b", "a+b".
        content_type: the type of the part; if None, the old type is kept, or one is guessed.
        autocommit: whether closing makes the part, instead of a transaction or `commit`.
    """

    is_kept_by_flush = False
    is_discarded = True  # until it is open: a file that failed to open must not become a part
    _process = 0

    def __init__(
        self,
        writer: "FileWriter",
        path: str,
        name: str,
        mode: str,
        content_type: str | None,
        autocommit: bool,
    ) -> None:
        self._writer = writer
        self.path, self._name, self._mode = path, name, mode
        self._content_type = content_type
        self._autocommit = autocommit
        self._old = writer.tree.part(path)
        is_read = mode[0] in "ar"
        super().__init__(writer.content_of(self._old) if is_read else b"")
        # The content of the part, as far as this file knows; None if it differs from this file's.
        self._before = self.getvalue() if is_read and self._old is not None else None
        self._content: bytes | None = None
        self.waits = False
        """Whether a transaction makes the part, which may have removed it before."""
        self._process = os.getpid()
        self.is_discarded = False
        _open_files.add(self)
        # Such as that of a database: `flush` makes the part, and `info` has the current size.
        self.is_kept_by_flush = autocommit and mode == "r+b"
        if self.is_kept_by_flush:
            writer.databases[path] = self

    @property
    def name(self) -> str:
        """The URL of the part; libraries guess the format from it. See `described_stream`."""
        return self._name

    @property
    def mode(self) -> str:
        """The binary mode that the file was opened with."""
        return self._mode

    @property
    def size(self) -> int:
        """The current size in bytes."""
        return self.getbuffer().nbytes

    def truncate(self, size: int | None = None) -> int:
        """Cut the file, or extend it with zeros, as local files do."""
        if size is None or size <= self.size:
            return super().truncate(size)
        position = self.seek(0, io.SEEK_CUR)
        self.seek(0, io.SEEK_END)
        super().write(bytes(size - self.size))
        self.seek(position)
        return size

    def flush(self) -> None:
        """Make the part from the content written so far, if the file belongs to a database."""
        super().flush()
        if not self.is_kept_by_flush or self.is_discarded:
            return
        content = self._new_content()
        if content is not None:
            self._keep(content)
            self._before = self.getvalue()

    def close(self) -> None:
        """Close the file and make the part; in a transaction, the part waits for the commit.

        Raises:
            OSError: `ESTALE`: somebody else changed the part since the file was opened.
        """
        if self.closed:
            return
        try:
            self._content = None if self.is_discarded else self._new_content()
        finally:
            super().close()
        if not self.is_discarded and self._autocommit:
            self.commit()

    def _new_content(self) -> bytes | None:
        """Return the new content of the part; None if nothing changes."""
        content = self.getvalue()
        return None if content == self._before else content  # a reference stays a reference

    def commit(self) -> None:
        """Make the part, now or in the open transaction; a file that is still open is closed."""
        if (content := self._closed_content()) is not None:
            self._keep(content)

    def _closed_content(self) -> bytes | None:
        """Close the file, and return its content once; None if there is none to keep."""
        self.close()
        content, self._content = self._content, None
        return content

    def _keep(self, content: bytes) -> None:
        self._writer.change(self.path, self.check, partial(self._apply, content))

    def check(self) -> None:
        """Raise `OSError` if the part can't be made now."""
        if self._undoes(self._writer.tree.part(self.path)):
            raise self._stale()
        self._writer.check_free(self.path, is_new=self._mode[0] == "x")

    def _stale(self) -> OSError:
        problem = "somebody else changed the part since it was opened; open it again"
        return OSError(errno.ESTALE, problem, self.path)

    def _undoes(self, now: "Part | None") -> bool:
        """Return whether the write would undo a change that was made since the file was opened.

        A write that replaces the whole file only undoes the removal or the move of the file.
        """
        if self._mode[0] == "r":
            return not have_same_content(now, self._old)
        return now is None and self._old is not None and not self.waits

    def _apply(self, content: bytes) -> None:
        self._writer.put(self.path, content, self._content_type)
        self._old = self._writer.tree.part(self.path)

    # In a transaction, the file is one of the changes that wait for the commit

    def check_before(self) -> None:
        """Raise `OSError` if others removed the part, before a transaction makes its changes."""
        if self._old is not None and self._writer.tree.part(self.path) is None:
            raise self._stale()

    def make(self) -> None:
        """Make the part in the commit; a file that is still open is closed first."""
        if (content := self._closed_content()) is not None:
            self.check()
            self._apply(content)

    def drop(self) -> None:
        """Drop the written content, and close the file: nothing that it takes would be kept."""
        self.discard()
        self.close()

    def discard(self) -> None:
        """Drop the written content."""
        self.is_discarded = True
        self._content = None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def let_go(self) -> None:
        """Close a file that nobody closed; a forked process has a copy of it, and drops that."""
        if self._process != os.getpid():
            self.discard()
        self.close()

    __del__ = let_go  # unlike that of Python's own files, an error is shown


_open_files: "weakref.WeakSet[PartWriter]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close open files at exit, while all modules still work; errors are shown."""
    with contextlib.ExitStack() as stack:
        for file in [*_open_files]:
            stack.callback(file.let_go)


class DatabaseLog(PartWriter):
    """The write-ahead log of an open DuckDB database: commits that the database lacks so far.

    DuckDB opens the log with "wb" but appends to it, and relies on `flush`.
    """

    def __init__(self, writer: "FileWriter", path: str, name: str, *options: Any) -> None:
        super().__init__(writer, path, name, "r+b", *options)
        self.seek(0, io.SEEK_END)
        self.flush()  # the log exists from now on


class PartAppender(PartWriter):
    """A file open for appending: written content goes after the existing content."""

    _is_cut = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seek(0, io.SEEK_END)

    def write(self, data: Any) -> int:
        """Write bytes at the end of the file."""
        if memoryview(data).nbytes:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Write several pieces; the inherited method would bypass `write`."""
        for line in lines:
            self.write(line)

    def _new_content(self) -> bytes | None:
        content = super()._new_content()
        self._is_cut = content is not None and not content.startswith(self._before or b"")
        return content

    def _undoes(self, now: "Part | None") -> bool:
        # An append keeps content that others appended meanwhile; a cut would remove it.
        return (now is None or self._is_cut) and not have_same_content(now, self._old)

    def _apply(self, content: bytes) -> None:
        now = self._writer.tree.part(self.path)
        if not have_same_content(now, self._old):
            content = self._writer.content_of(now) + content[len(self._before or b"") :]
        super()._apply(content)


def have_same_content(one: "Part | None", other: "Part | None") -> bool:
    """Return whether two parts have the same content, regardless of their other members."""
    if one is None or other is None:
        return one is other
    mine, theirs = record_of(one), record_of(other)
    return mine is theirs or (mine.content, one.reference, one.local_file) == (
        theirs.content, other.reference, other.local_file,
    )  # fmt: skip


class TextPartWriter(io.TextIOWrapper):
    """A text file that is encoded into a `PartWriter`."""

    def __init__(self, target: PartWriter, **options: Any) -> None:
        # Whatever is written is in the file below, which a commit may close first.
        super().__init__(target, write_through=True, **options)
        self._target = target
        target.is_kept_by_flush = False  # a text file flushes whenever it seeks

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._target.discard()
        self.close()
