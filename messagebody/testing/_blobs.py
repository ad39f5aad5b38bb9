"""Contents that stores find hard: they fail, take long, or wait for other writers."""

import contextlib
import threading
import time
from collections.abc import Iterator

import attrs

from messagebody._core import MIB
from messagebody.errors import StoreError
from messagebody.storage import Bytes

_PAUSE = 0.03
"""Seconds between two buffers of a slow content: a reader looks at it in between."""
_WAIT = 0.3
"""Seconds that a writer waits for the others; a store may let one after the other write."""


@attrs.frozen
class Failing:
    """A content that can't be read to its end."""

    size: int = 3 * MIB
    digest: str | None = None

    def read(self) -> bytes:
        """Fail."""
        raise StoreError("the content has changed")

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield a buffer and fail."""
        yield bytes(min(length, self.size - 1))
        raise StoreError("the content has changed")


class Slow(Bytes):
    """A content that takes a while to read."""

    def read(self) -> bytes:
        """Return all bytes after a while."""
        time.sleep(_PAUSE)
        return super().read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield the bytes one by one, after a while each."""
        for buffer in super().buffers(min(length, -(-self.size // 3))):
            time.sleep(_PAUSE)
            yield buffer
        time.sleep(_PAUSE)


@attrs.frozen
class Meeting(Bytes):
    """A content that is read when all other writers read theirs, if the store lets them."""

    barrier: threading.Barrier = attrs.field(kw_only=True)

    def read(self) -> bytes:
        """Return all bytes when the others are there."""
        self._meet()
        return super().read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield all bytes when the others are there."""
        self._meet()
        yield from super().buffers(length)

    def _meet(self) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            self.barrier.wait(_WAIT)
