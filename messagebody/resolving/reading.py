"""Reading the references of parts."""

import functools
import io
from typing import TYPE_CHECKING, BinaryIO, cast

from messagebody.resolving.limits import Budget
from messagebody.resolving.resolver import Resolver

if TYPE_CHECKING:
    from messagebody.part import Reference

__all__ = ["Reader", "measure_reference", "open_reference", "read_reference"]

_AHEAD = 256 * 1024
"""Bytes asked for at least: a header costs little, and a walk through a file few requests."""
_CHUNK = 8 * 1024 * 1024


@functools.cache
def _closed_default() -> Resolver:
    """Return what reads where no resolver is given: it allows nothing of the application's."""
    return Resolver()


def read_reference(
    reference: "Reference",
    *,
    resolver: Resolver | None,
    subject: str,
    budget: Budget | None = None,
) -> bytes:
    """Return the whole content of a reference, verified against what it promises.

    Arguments:
        reference: URL, size and digest.
        resolver: decides and reads; the closed default if None.
        subject: who has the reference, such as "part '/a'", for errors.
        budget: shared between the reads of one body.
    """
    resolver = resolver or _closed_default()
    return resolver.fetch(
        reference.url,
        size=reference.size,
        digest=reference.digest,
        subject=subject,
        budget=budget,
    ).read()


def measure_reference(
    reference: "Reference",
    *,
    resolver: Resolver | None,
    subject: str,
    budget: Budget | None = None,
) -> tuple[int, str]:
    """Read a reference once and return its size and digest, stated or not."""
    return (resolver or _closed_default()).measure(
        reference.url,
        size=reference.size,
        digest=reference.digest,
        subject=subject,
        budget=budget,
    )


def open_reference(reference: "Reference", *, resolver: Resolver | None, subject: str) -> BinaryIO:
    """Return a reference's content as a seekable binary file object.

    Only what is read is asked for, by ranges, so it can't be verified: `verified` is False. A
    resolver with `require_digest=True` reads and verifies everything once and serves from that.
    """
    resolver = resolver or _closed_default()
    if resolver.require_digest:
        spool = resolver.fetch(
            reference.url, size=reference.size, digest=reference.digest, subject=subject
        )
        return cast("BinaryIO", Reader(cast("io.RawIOBase", spool.stream()), verified=True))
    resolver.source(reference.url, subject=subject)
    ranges = _Ranges(resolver, reference.url, reference.size, subject)
    return cast("BinaryIO", Reader(ranges, verified=False))


class Reader(io.BufferedReader):
    """A binary file object over a reference; `verified` says whether its bytes were checked."""

    def __init__(self, raw: io.RawIOBase, *, verified: bool) -> None:
        super().__init__(raw, _AHEAD)
        self.verified = verified


class _Ranges(io.RawIOBase):
    """A file object that reads a reference by ranges."""

    def __init__(self, resolver: Resolver, url: str, size: int | None, subject: str) -> None:
        self._read = functools.partial(
            resolver.read_range, url, subject=subject, budget=resolver.budget()
        )
        self._ask = functools.partial(resolver.size, url, subject=subject)
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            if self._size is None:
                self._size = self._ask()
            offset += self._size
        elif whence == io.SEEK_CUR:
            offset += self._position
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        self._position = offset
        return offset

    def readall(self) -> bytes:
        """Return the rest in few requests; Python's own makes one for every few KiB."""
        chunks = [self.read(_CHUNK) or b""]
        while len(chunks[-1]) == _CHUNK:
            chunks.append(self.read(_CHUNK) or b"")
        return b"".join(chunks)

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self._read(self._position, self._position + len(view))
        view[: len(data)] = data
        self._position += len(data)
        return len(data)
