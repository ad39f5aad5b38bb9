"""Reading of references: whole and verified, or by file objects that fetch ranges on demand."""

import functools
import io
from typing import Any, BinaryIO, Final, cast

from messagebody._base.digests import Hasher
from messagebody._model.content import Reference
from messagebody.errors import DigestMismatch, LimitExceeded, MessageBodyError
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.sources import NoRanges
from messagebody.storage._references.spool import Spool

_SMALL: Final = 256 * 1024
"""The size of the first request, a compromise between small headers and few requests."""
_LARGE: Final = 8 * 1024 * 1024
"""The maximum size of a request, after a long sequential read."""
# Larger than the default of `io`, because each refill is a call through several layers.
_BUFFER: Final = 64 * 1024


@functools.cache
def _closed_default() -> Resolver:
    """Return the default resolver, which opens only `data:` URLs."""
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
        reference: the URL, size and digest.
        resolver: the resolver; the closed default if None.
        subject: the owner of the reference for errors, such as "part '/a'".
        budget: the budget of the body.
    """
    resolver = resolver or _closed_default()
    return resolver.fetch(reference, subject=subject, budget=budget).read()


def read_web(url: str, most: int, resolver: Resolver) -> bytes:
    """Return a document of a web server, or one byte more than `most` if it is longer.

    Arguments:
        url: its URL, which the program names.
        most: the most bytes that the caller accepts.
        resolver: the resolver that must allow it.
    """
    # In one request, because pieces could belong to different versions.
    end = min(most + 1, resolver.limits.part_bytes)
    return resolver.read_range(url, 0, end, subject="the document")


def measure_reference(
    reference: Reference,
    *,
    resolver: Resolver | None,
    subject: str,
    budget: FetchBudget | None = None,
) -> tuple[int, str]:
    """Read a reference and return its size and digest, which are verified if they are known."""
    resolver = resolver or _closed_default()
    return resolver.measure(reference, subject=subject, budget=budget)


def open_reference(
    reference: Reference,
    *,
    resolver: Resolver | None,
    subject: str,
    budget: FetchBudget | None = None,
) -> BinaryIO:
    """Return the content of a reference as a seekable binary file object.

    Ranges are fetched when they are read. Content that is read in order from start to end is
    hashed, and the last read raises an error if the digest differs. `read()` of the whole content
    verifies it before returning it. Other reads can't be verified, so `verified` is False.

    With `require_digest=True`, or a cache that has room for the content, the resolver first reads
    and verifies the whole content, and `verified` is True from the start.

    Arguments:
        reference: the URL, size and digest.
        resolver: the resolver; the closed default if None.
        subject: the owner of the reference for errors, such as "part '/a'".
        budget: the budget of the body.
    """
    resolver = resolver or _closed_default()
    if resolver.require_digest or resolver.keeps(reference.digest, reference.size):
        spool = resolver.fetch(reference, subject=subject, budget=budget)
        return cast("BinaryIO", ReferenceFile(cast("io.RawIOBase", spool.stream()), verified=True))
    # Raise an error for a refused URL now, not at the first read.
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
        """Whether all bytes that were read are verified against the digest."""
        return self._verified if self._window is None else self._window.verified

    @property
    def raw(self) -> io.RawIOBase:  # type: ignore[override]
        """The file object without read-ahead, which requests exactly the bytes that are read."""
        return cast("io.RawIOBase", super().raw) if self._window is None else self._window.ranges


class _Positioned(io.RawIOBase):
    """A seekable file object for reading."""

    _position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position


class _Ranges(_Positioned):
    """A file object that reads exact ranges of a reference."""

    def __init__(
        self, resolver: Resolver, reference: Reference, subject: str, budget: FetchBudget | None
    ) -> None:
        self.reference = reference
        # One budget for all ranges of this file.
        self.budget = budget or resolver.budget()
        self.subject = subject
        self.resolver = resolver
        self._size = reference.size
        self._taken = 0
        self._whole: BinaryIO | None = None
        """All of the content, if the server sends no ranges of it."""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        # Only this seek may send a request.
        if whence == io.SEEK_END:
            offset += self.size()
        elif whence == io.SEEK_CUR:
            offset += self._position
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        self._position = offset
        return offset

    def close(self) -> None:
        """Delete the content, if all of it was read."""
        if self._whole is not None:
            self._whole.close()
        super().close()

    def size(self) -> int:
        """Return the size of the content; if it is unknown, request it once."""
        if self._size is None:
            self._size = self.resolver.size(
                self.reference.url, subject=self.subject, budget=self.budget
            )
        return self._size

    def fetch(self, start: int, end: int, *, past_end: int = 0) -> bytes:
        """Return the bytes of a range, cut at the size of the reference.

        Arguments:
            start: the first byte.
            end: the byte after the last.
            past_end: the number of bytes to request after that size, to detect longer content.

        Raises:
            DigestMismatch: the content is shorter or longer than the size of the reference.
            LimitExceeded: this reader has read too much.
        """
        stated, limit = self.reference.size, self.resolver.limits.part_bytes
        if stated is not None:
            end = min(end, stated + past_end)
        # One byte more than the remaining limit detects larger content.
        end = min(end, start + max(1, min(limit, limit - self._taken + 1)))
        data = self._range(start, end)
        if stated is None:
            return data
        # A short response before the known end means that content is missing.
        if start + len(data) < min(end, stated):
            raise DigestMismatch(self.subject, f"{stated:,} bytes", f"{start + len(data):,}")
        if data and start + len(data) > stated:
            raise DigestMismatch(self.subject, f"{stated:,} bytes", "more")
        return data

    def _range(self, start: int, end: int) -> bytes:
        """Return a range; a server that sends no ranges is asked for the whole content, once."""
        if self._whole is None:
            try:
                data = self.resolver.read_range(
                    self.reference.url, start, end,
                    subject=self.subject, budget=self.budget, skips=False,
                )  # fmt: skip
            except NoRanges:
                self._whole = self.fetch_whole().stream()
            else:
                self._take(len(data))
                return data
        self._whole.seek(start)
        return self._whole.read(max(0, end - start))

    def fetch_whole(self) -> Spool:
        """Return all of the content, verified."""
        return self.resolver.fetch(self.reference, subject=self.subject, budget=self.budget)

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
    """A file object that reads ahead, in growing steps, and hashes content read in order."""

    def __init__(self, ranges: _Ranges) -> None:
        self.ranges = ranges
        self.verified = False
        self._start = 0
        self._data = b""
        self._ahead = _SMALL
        self._hasher = Hasher()
        self._hashed = 0
        self._flaw: MessageBodyError | None = None

    def close(self) -> None:
        """Close the file."""
        self.ranges.close()
        super().close()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.ranges.seek(self._position)
        self._position = self.ranges.seek(offset, whence)
        return self._position

    def readall(self) -> bytes:
        """Return the rest; a read of the whole content is verified before it is returned."""
        # Nothing was returned yet, so everything can be verified first.
        if self._position == 0 and not self._data and self._flaw is None:
            return self._whole()
        pieces = [self.read(_LARGE) or b""]
        while pieces[-1]:
            pieces.append(self.read(_LARGE) or b"")
        return b"".join(pieces)

    def _whole(self) -> bytes:
        spool = self.ranges.fetch_whole()
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
        # After a seek, start again with small steps, because headers and footers are short.
        goes_on = self._data and self._position == self._start + len(self._data)
        self._ahead = min(2 * self._ahead, _LARGE) if goes_on else _SMALL
        # Without a digest, only an extra byte shows that the content has changed.
        past_end = self._hashed == self._position and self.ranges.reference.digest is None
        self._data = self.ranges.fetch(
            self._position, self._position + max(wanted, self._ahead), past_end=int(past_end)
        )
        self._start = self._position
        # Bytes that are read again after the end are not hashed again.
        self.verified = self.verified and not self._data

    def _check(self, data: bytes) -> None:
        """Hash bytes that follow the hashed ones; compare the digest at the end."""
        # Hashing can't continue after a gap, and need not after a seek back.
        if self._position != self._hashed:
            return
        self._hasher.update(data)
        self._hashed += len(data)
        stated = self.ranges.reference
        # If the size is unknown, an empty read is the end.
        if stated.digest is None or (data and self._hashed != stated.size):
            return
        digest = self._hasher.digest
        if digest != stated.digest:
            self._flaw = DigestMismatch(self.ranges.subject, stated.digest, digest)
            raise self._flaw
        self.verified = True
