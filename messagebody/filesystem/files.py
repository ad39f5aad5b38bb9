"""Opened files: content of a part to read, and bytes on their way into one."""

import io
import weakref
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO

from messagebody.filesystem.write_through import Offloaded, Spilling, WriteThrough

if TYPE_CHECKING:
    from messagebody.filesystem.body_filesystem import MessageBodyFileSystem
    from messagebody.part import Part


class PartReader(io.BytesIO):
    """A file open for reading whose content is in the message; see `described_stream`."""

    mode = "rb"

    def __init__(self, path: str, name: str, content: bytes) -> None:
        super().__init__(content)
        self.path, self.name = path, name
        self.size = len(content)


# The name of a buffered stream is the one of what it buffers, whatever its class shows as `raw`.
_buffered: Callable[[Any], Any] = vars(io.BufferedReader)["raw"].__get__


def described_stream(stream: BinaryIO, path: str, name: str, size: int | None) -> Any:
    """Return a stream that has the size, the path and the name that fsspec's own files have.

    Libraries find a format by `name`, and some read or write the local file of that name instead of
    the stream. A message must not choose that file, so `name` is a URL.

    Arguments:
        stream: what is read.
        path: the path of the part.
        name: the URL of the part.
        size: bytes, for blocks and progress; None if nobody knows.
    """
    described: Any = stream
    described.size, described.path = size, path
    named: Any = stream if isinstance(stream, io.BytesIO) else described.raw
    if isinstance(stream, io.BufferedReader):
        named = _buffered(stream)
    named.name = name
    if not hasattr(named, "mode"):
        named.mode = "rb"
    return described


@lru_cache(64)
def plain_mode(mode: str) -> str:
    """Return a binary mode as one of rb, wb, xb, ab, or with "+" before the "b".

    Raises:
        ValueError: there is no such mode.
    """
    first = "".join(sorted(set(mode) & set("rwxa")))
    is_known = len(first) == 1 and set(mode) <= {*first, *"bt+"} and not set("bt") <= set(mode)
    if not is_known or len(mode) != len(set(mode)):
        raise ValueError(f"mode {mode!r} is none: one of r, w, x and a, with b or t and perhaps +")
    return first + ("+" if "+" in mode else "") + "b"


class Writing:
    """What all files open for writing do: they become a part when they are closed.

    An exception inside `with` drops what was written and leaves the old content.

    Arguments:
        filesystem: whose body gets the part.
        path: the name of the part.
        mode: "wb", "xb", "ab", or one of "r+b", "w+b", "x+b", "a+b".
        content_type: what the part is; kept or found if None.
        autocommit: whether closing makes the part; else a transaction does.
    """

    closed: bool
    size: Any  # bytes the file has now; the classes below know how to count them
    _discarded = True  # a file whose making failed becomes no part when it is collected

    def _begin(
        self,
        filesystem: "MessageBodyFileSystem",
        path: str,
        mode: str,
        content_type: str | None,
        autocommit: bool,
    ) -> None:
        self._filesystem = filesystem
        self.path = path
        self._mode = mode
        self._content_type = content_type
        self._autocommit = autocommit
        self._content: bytes | Offloaded | None = None
        self._discarded = False
        self._entry = weakref.ref(self)
        with filesystem.body._parts.lock:
            filesystem._writing[path] = self._entry
        self.closers: list[Callable[[], Any]] = []
        """What closes what is wrapped around the file, outermost last."""

    @property
    def name(self) -> str:
        """The URL of the part; libraries find a format by it. See `described_stream`."""
        return str(self._filesystem.unstrip_protocol(self.path))

    @property
    def mode(self) -> str:
        """The binary mode it was opened with."""
        return self._mode

    def _taken(self) -> bytes | Offloaded | None:
        """Return what was written, as a part is to hold it; None if there is nothing to change."""
        raise NotImplementedError

    def close(self) -> None:
        """Keep what was written; in a transaction, until it is committed."""
        if self.closed:
            return
        if self._discarded:
            super().close()  # type: ignore[misc]
            return
        try:
            self._content = self._taken()
        finally:
            super().close()  # type: ignore[misc]
            self._forget()
        if self._autocommit and self._content is not None:
            self._filesystem._change(self.path, self.check, self._apply)

    def check(self) -> None:
        """Raise if the part can't be made now."""
        filesystem, path = self._filesystem, self.path
        filesystem._check_free(path, filesystem._name(path), is_new=self._mode[0] == "x")

    def commit(self) -> None:
        """Make the part; a file still open is closed for it."""
        if not self.closed:
            (self.closers[-1] if self.closers else self.close)()
        if self._content is not None:
            self.check()
            self._apply()

    def _apply(self) -> None:
        content: Any = self._content
        self._content = None
        self._filesystem._put(self.path, content, self._content_type)

    def discard(self) -> None:
        """Drop what was written."""
        self._discarded = True
        self._content = None
        self._forget()

    def _forget(self) -> None:
        filesystem = self._filesystem
        with filesystem.body._parts.lock:  # another thread may begin to write the same file
            # By the reference: what is collected can't be reached by it any more.
            if filesystem._writing.get(self.path) is self._entry:
                del filesystem._writing[self.path]

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()


class PartWriter(Writing, io.BytesIO):
    """A file open for writing, and with "+" for reading, in memory; see `Writing`.

    A file that is changed in place ("r+b") is kept by `flush` too: databases hold theirs open.
    """

    _old: "Part | None" = None
    _before = b""
    is_kept_by_flush = False

    def __init__(
        self, filesystem: "MessageBodyFileSystem", path: str, mode: str, *options: Any
    ) -> None:
        if mode[0] in "ar":
            self._old = filesystem._part(path)
            self._before = filesystem._content_of(self._old)
        super().__init__(self._before)
        self._begin(filesystem, path, mode, *options)
        if mode == "r+b":
            self.is_kept_by_flush = self._autocommit

    @property
    def size(self) -> int:
        """Bytes the file has now."""
        return self.getbuffer().nbytes

    def truncate(self, size: int | None = None) -> int:
        """Cut the file, or let it grow by zeros as a file of the system does."""
        if size is None or size <= self.size:
            return super().truncate(size)
        position = self.seek(0, io.SEEK_CUR)
        self.seek(0, io.SEEK_END)
        super().write(bytes(size - self.size))
        self.seek(position)
        return size

    def flush(self) -> None:
        """Keep what was written so far, if the file is changed in place."""
        super().flush()
        if not self.is_kept_by_flush or self._discarded:
            return
        self._content = self._taken()
        if self._content is not None:
            self._filesystem._change(self.path, self.check, self._apply)
            self._old, self._before = self._filesystem._part(self.path), self.getvalue()

    def _taken(self) -> bytes | Offloaded | None:
        content = self.getvalue()
        if self._old is not None and content == self._before:
            return None  # opened to be changed, and was not: a reference stays one
        return self._kept(content)

    def _kept(self, content: bytes) -> bytes | Offloaded:
        return self._filesystem._held(self.path, content, self._content_type)


class PartAppender(PartWriter):
    """A file that is appended to: what is written goes behind all that is there."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seek(0, io.SEEK_END)

    def write(self, data: Any) -> int:
        """Write some bytes behind all others."""
        if memoryview(data).nbytes:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Write several pieces; Python's own would not ask `write` where."""
        for line in lines:
            self.write(line)

    def _kept(self, content: bytes) -> bytes | Offloaded:
        return content  # others may append before this is committed

    def _apply(self) -> None:
        content: Any = self._content
        now = self._filesystem._part(self.path)
        if now != self._old:  # somebody else wrote since: what was written here goes behind it
            content = self._filesystem._content_of(now) + content[len(self._before) :]
        self._content = super()._kept(content)
        super()._apply()


class OffloadingWriter(Writing, Spilling):
    """A file open for writing whose content goes to a store if it grows large; see `Writing`."""

    def __init__(
        self, filesystem: "MessageBodyFileSystem", path: str, mode: str, *options: Any,
        to: WriteThrough,
    ) -> None:  # fmt: skip
        super().__init__(max_size=to.threshold)
        self._to = to
        self._begin(filesystem, path, mode, *options)

    def _taken(self) -> bytes | Offloaded | None:
        if not self.is_large:
            self.seek(0)
            return self.read()
        name = self._filesystem._name(self.path)
        return self._to.of_stream(name, self, self._content_type)  # type: ignore[arg-type]


class CompressingWriter(io.BufferedIOBase):
    """Compresses on the way into a `PartWriter`, which compressors would never close."""

    def __init__(
        self, target: PartWriter | OffloadingWriter, compressor: Callable[..., Any]
    ) -> None:
        self._target = target
        self.path, self.name = target.path, target.name
        self._compressor = compressor(target, mode="w")
        self.closers = target.closers
        self.closers.append(self.close)

    def writable(self) -> bool:
        """Tell that it is open for writing."""
        return True

    def write(self, data: Any) -> int:
        """Compress some bytes."""
        written: int = self._compressor.write(data)
        return written

    def discard(self) -> None:
        """Drop what was written."""
        self._target.discard()

    def close(self) -> None:
        """Write the end of the compressed stream, and make the part."""
        if self.closed:
            return
        self._compressor.close()
        self._target.close()
        super().close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()


class TextPartWriter(io.TextIOWrapper):
    """Text on its way into a `PartWriter`."""

    def __init__(
        self, target: PartWriter | OffloadingWriter | CompressingWriter, **options: Any
    ) -> None:
        super().__init__(target, **options)
        self._target = target
        if isinstance(target, PartWriter):
            target.is_kept_by_flush = False  # a text file flushes whenever it seeks
        target.closers.append(self.close)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._target.discard()
        self.close()
