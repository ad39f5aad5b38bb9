"""Write-through offloading: large content goes to a store while it is written."""

import io
import os
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO

import attrs

from messagebody._base.digests import digest_of_stream
from messagebody._base.limits import parse_size
from messagebody._base.sniffing import HEAD
from messagebody._model.content import LocalFile, Reference, guess_type, size_of
from messagebody.storage._references.limits import FetchLimits
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.spool import Spool, SpoolBlob
from messagebody.storage._stores import Store, open_store


@attrs.frozen
class Offloaded:
    """Content that was put into a store: its reference and its type."""

    reference: Reference
    content_type: str


class WriteThrough:
    """Sends written content over a threshold to a store.

    A key is the digest of the content, so content must be complete before it is sent. Until then it
    waits in memory, or above the threshold in a private temporary file.

    Arguments:
        place: the store, or its URL or directory.
        threshold: bytes; longer content is offloaded.
    """

    def __init__(self, place: str | os.PathLike[str] | Store, threshold: int | str) -> None:
        self.store = open_store(place)
        self.threshold = parse_size(threshold)
        self._written: set[Reference] = set()
        self._resolvers: dict[FetchLimits, Resolver] = {}

    def has_written(self, reference: Reference | None) -> bool:
        """Return whether a reference, including its digest, is to content written here."""
        return reference in self._written

    def resolver(self, limits: FetchLimits) -> Resolver:
        """Return a resolver that allows the store; use it only for content written here."""
        # One resolver for all reads, so that they share the budget of the body.
        return self._resolvers.setdefault(limits, Resolver(allow=self.store, limits=limits))

    def _remembered(self, reference: Reference, content_type: str) -> Offloaded:
        self._written.add(reference)
        return Offloaded(reference, content_type)

    def content_for(
        self, name: str, content: bytes | LocalFile, content_type: str | None
    ) -> bytes | Offloaded:
        """Return content for a part, offloaded if it is large; large files are never in memory."""
        if size_of(content) <= self.threshold:
            return content if isinstance(content, bytes) else content.read_bytes()
        from messagebody.storage._offloading._put import put_content

        kind = content_type or guess_type(content, name)
        source = content if isinstance(content, bytes) else content.path
        return self._remembered(put_content(self.store, source, content_type=kind), kind)

    def of_stream(self, name: str, stream: BinaryIO, content_type: str | None) -> Offloaded:
        """Offload the content of a private file object."""
        # `put_content` would copy the file object first, because it may be shared.
        from messagebody.storage._stores.objects import ensure

        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        kind = content_type or guess_type(stream.read(HEAD), name)
        stream.seek(0)
        blob = SpoolBlob(Spool.over(stream, size, digest_of_stream(stream)))
        return self._remembered(ensure(self.store, blob.digest, blob, kind), kind)


class Spilling(SpooledTemporaryFile[bytes]):
    """A file object in memory that moves to a temporary file when it grows large.

    Arguments:
        max_size: bytes to hold in memory.
    """

    def __init__(self, max_size: int) -> None:
        super().__init__(max_size=max(max_size, 1))  # in the base class, 0 means no limit

    @property
    def size(self) -> int:
        """The current size in bytes."""
        position = self.tell()
        size = self.seek(0, io.SEEK_END)
        self.seek(position)
        return size

    def truncate(self, size: int | None = None) -> int:
        """Cut the file, or extend it with zeros."""
        end = self.tell() if size is None else size
        if end > self._max_size:  # type: ignore[attr-defined]
            self.rollover()
        elif end > self.size:
            position = self.tell()
            self.seek(0, io.SEEK_END)
            self.write(bytes(end - self.size))
            self.seek(position)
        file: Any = self._file
        file.truncate(end)
        return end
