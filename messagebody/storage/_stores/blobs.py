"""Blobs: contents on their way to a store."""

from collections.abc import Callable, Iterator
from typing import Protocol

import attrs

from messagebody._base.threads import Stop


class Blob(Protocol):
    """Content to store; it can be read again if a write has to be repeated."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    @property
    def digest(self) -> str | None:
        """The digest of the bytes, if it is known."""

    def read(self) -> bytes:
        """Return all bytes."""

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield all bytes, `length` at a time; raise at the end if the content has changed."""


@attrs.frozen
class Bytes:
    """A blob in memory.

    Arguments:
        data: the bytes.
        digest: their digest, for stores that send it; None if it is not computed.
    """

    data: bytes = attrs.field(repr=False)
    digest: str | None = None

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def read(self) -> bytes:
        """Return all bytes."""
        return self.data

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield all bytes, `length` at a time."""
        # A view, so that slicing copies only the yielded bytes.
        view = memoryview(self.data)
        for start in range(0, len(view), length):
            yield bytes(view[start : start + length])


@attrs.define
class Watched:
    """A blob that reports its progress and can be cancelled.

    Arguments:
        blob: the blob.
        stop: cancels reading it.
        progress: is told of its bytes, and of bytes that are sent again only once.
    """

    blob: Blob
    stop: Stop
    progress: Callable[[int], None] | None = None
    size: int = attrs.field(init=False)
    digest: str | None = attrs.field(init=False)
    _reported: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.size, self.digest = self.blob.size, self.blob.digest

    def read(self) -> bytes:
        """Return all bytes, unless the work is cancelled."""
        self.stop.check()
        return self.blob.read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield all bytes, unless the work is cancelled."""
        for chunk in self.blob.buffers(length):
            self.stop.check()
            yield chunk
            self.report(len(chunk))

    def report(self, count: int) -> None:
        """Report bytes, of which no more than there are."""
        if self.progress is not None:
            count = min(count, self.size - self._reported)
            self._reported += count
            self.progress(count)
