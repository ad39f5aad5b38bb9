"""Readers of references: whole and verified, or as file objects that fetch ranges on demand."""

import functools
import io
from typing import Any, BinaryIO, Final, cast

from messagebody._base.digests import Hasher
from messagebody._model.content import Reference
from messagebody.errors import DigestMismatch, LimitExceeded, MessageBodyError
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.resolver import Resolver

_SMALL: Final = 256 * 1024
"""Bytes that the first request asks for: a header costs little, and a walk few requests."""
_LARGE: Final = 8 * 1024 * 1024
"""Bytes that a request asks for in the end, while reading goes on and on."""
# Larger than the default of `io`, since each refill is a call through several layers.
_BUFFER: Final = 64 * 1024


@functools.cache
def _closed_default() -> Resolver:
    """Return the resolver for calls without one: it opens `data:` URLs only."""
    return Resolver()


def read_reference(
    reference: Reference,
    *,
    resolver: Resolver | None,
    subject: str,
    budget: FetchBudget | None = None,
) -> bytes:
    """Return the whole content of a reference, verified against its size and digest.

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
    reference: Reference,
    *,
    resolver: Resolver | None,
    subject: str,
    budget: FetchBudget | None = None,
) -> tuple[int, str]:
    """Read a reference once and return its size and digest, stated or not."""
    return (resolver or _closed_default()).measure(
        reference.url,
        size=reference.size,
        digest=reference.digest,
        subject=subject,
        budget=budget,
    )


def open_reference(
    reference: Reference,
    *,
    resolver: Resolver | None,
    subject: str,
    budget: FetchBudget | None = None,
) -> BinaryIO:
    """Return a reference's content as a seekable binary file object.

    Ranges are fetched as they are read. Bytes that are read in order from the first to the
    last are hashed on the way: the read that comes to the end raises if they are not the ones
    promised. `read()` of everything verifies first and returns then. Other reads can't be
    verified, and `verified` is False for them.

    A resolver with `require_digest=True`, or with a cache that has room for the content, reads
    and verifies everything once and serves from that: `verified` is True from the start.

    Arguments:
        reference: URL, size and digest.
        resolver: decides and reads; the closed default if None.
        subject: who has the reference, such as "part '/a'", for errors.
        budget: shared between the reads of one body.
    """
    resolver = resolver or _closed_default()
    if resolver.require_digest or resolver.keeps(reference.digest, reference.size):
        spool = resolver.fetch(
            reference.url,
            size=reference.size,
            digest=reference.digest,
            subject=subject,
            budget=budget,
        )
        return cast("BinaryIO", ReferenceFile(cast("io.RawIOBase", spool.stream()), verified=True))
    # The verdict comes at once, and not with the first read.
    resolver.source(reference.url, subject=subject)
    return cast("BinaryIO", ReferenceFile(_Window(_Ranges(resolver, reference, subject, budget))))


class ReferenceFile(io.BufferedReader):
    """A binary file object over a reference."""

    def __init__(self, raw: io.RawIOBase, *, verified: bool = False) -> None:
        super().__init__(raw, _BUFFER)
        self._window = raw if isinstance(raw, _Window) else None
        self._verified = verified

    @property
    def verified(self) -> bool:
        """Whether every byte that was returned has been verified against the digest."""
        return self._verified if self._window is None else self._window.verified

    @property
    def raw(self) -> io.RawIOBase:  # type: ignore[override]
        """The file object without any reading ahead: it asks for just the bytes that are read."""
        return cast("io.RawIOBase", super().raw) if self._window is None else self._window.ranges


class _Positioned(io.RawIOBase):
    """A file object that is read from a position, which a seek can move."""

    _position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position


class _Ranges(_Positioned):
    """A file object that reads a reference by ranges, and asks for no byte too many."""

    def __init__(
        self, resolver: Resolver, reference: Reference, subject: str, budget: FetchBudget | None
    ) -> None:
        self.reference = reference
        self.budget = budget
        self.subject = subject
        self.resolver = resolver
        self._size = reference.size
        self._taken = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        # The only seek that may ask the server.
        if whence == io.SEEK_END:
            offset += self.size()
        elif whence == io.SEEK_CUR:
            offset += self._position
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        self._position = offset
        return offset

    def size(self) -> int:
        """Return the size of the content; the server is asked once if no size is stated."""
        if self._size is None:
            self._size = self.resolver.size(
                self.reference.url, subject=self.subject, budget=self.budget
            )
        return self._size

    def fetch(self, start: int, end: int, *, past_end: int = 0) -> bytes:
        """Return the bytes of a range, cut at the stated size.

        Arguments:
            start: the first byte.
            end: the byte after the last.
            past_end: bytes to ask for beyond the stated size, to see whether there are any.

        Raises:
            DigestMismatch: the content ends before its stated size, or goes on after it.
            LimitExceeded: this reader has read too much.
        """
        stated, limit = self.reference.size, self.resolver.limits.part_bytes
        if stated is not None:
            end = min(end, stated + past_end)
        # A byte more than the rest of the limit shows whether there is more.
        end = min(end, start + max(1, min(limit, limit - self._taken + 1)))
        data = self.resolver.read_range(
            self.reference.url, start, end, subject=self.subject, budget=self.budget
        )
        self._take(len(data))
        if stated is None:
            return data
        # A short answer is not the end: the stated size says where that is.
        if start + len(data) < min(end, stated):
            raise DigestMismatch(self.subject, f"{stated:,} bytes", f"{start + len(data):,}")
        if data and start + len(data) > stated:
            raise DigestMismatch(self.subject, f"{stated:,} bytes", "more")
        return data

    def _take(self, count: int) -> None:
        limit = self.resolver.limits.part_bytes
        self._taken += count
        if self._taken > limit:
            raise LimitExceeded(
                f"{self.subject}: reading it took over {limit:,} bytes (limit part_bytes)"
            )

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.fetch(self._position, self._position + len(view))
        view[: len(data)] = data
        self._position += len(data)
        return len(data)


class _Window(_Positioned):
    """A file object that reads ahead, more and more while reading goes on, and hashes in order."""

    def __init__(self, ranges: _Ranges) -> None:
        self.ranges = ranges
        self.verified = False
        self._start = 0
        self._data = b""
        self._ahead = _SMALL
        self._hasher = Hasher()
        self._hashed = 0
        self._flaw: MessageBodyError | None = None

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.ranges.seek(self._position)
        self._position = self.ranges.seek(offset, whence)
        return self._position

    def readall(self) -> bytes:
        """Return the rest; the whole content is verified before any of it is returned."""
        # Nothing was handed out yet, so all of it can be verified before any of it is.
        if self._position == 0 and not self._data and self._flaw is None:
            return self._whole()
        pieces = [self.read(_LARGE) or b""]
        while pieces[-1]:
            pieces.append(self.read(_LARGE) or b"")
        return b"".join(pieces)

    def _whole(self) -> bytes:
        found, ranges = self.ranges.reference, self.ranges
        spool = ranges.resolver.fetch(
            found.url,
            size=found.size,
            digest=found.digest,
            subject=ranges.subject,
            budget=ranges.budget,
        )
        self.verified = spool.verified
        self._position = spool.size
        return spool.read()

    def readinto(self, buffer: Any) -> int:
        if self._flaw is not None:
            raise self._flaw
        view = memoryview(buffer).cast("B")
        offset = self._position - self._start
        if not 0 <= offset < len(self._data):
            self._fill(len(view))
            offset = 0
        data = self._data[offset : offset + len(view)]
        self._check(data)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def _fill(self, wanted: int) -> None:
        # A seek elsewhere begins small again: headers and footers are short.
        goes_on = self._data and self._position == self._start + len(self._data)
        self._ahead = min(2 * self._ahead, _LARGE) if goes_on else _SMALL
        # Without a digest only a byte too many shows that the content is not the one promised.
        past_end = self._hashed == self._position and self.ranges.reference.digest is None
        self._data = self.ranges.fetch(
            self._position, self._position + max(wanted, self._ahead), past_end=int(past_end)
        )
        self._start = self._position
        # Bytes after a complete reading are read anew, and not hashed again.
        self.verified = self.verified and not self._data

    def _check(self, data: bytes) -> None:
        """Hash bytes that follow those hashed; at the end compare with the stated digest."""
        # A gap or a second reading: hashing can't go on from elsewhere.
        if self._position != self._hashed:
            return
        self._hasher.update(data)
        self._hashed += len(data)
        stated = self.ranges.reference
        # The end shows as an empty read where no size is stated.
        if stated.digest is None or (data and self._hashed != stated.size):
            return
        digest = self._hasher.digest
        if digest != stated.digest:
            self._flaw = DigestMismatch(self.ranges.subject, stated.digest, digest)
            raise self._flaw
        self.verified = True
