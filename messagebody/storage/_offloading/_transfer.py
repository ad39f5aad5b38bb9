"""Blobs for uploads: local files that must not change, and blobs that report their progress."""

from collections.abc import Callable, Iterator

import attrs

from messagebody._base.digests import Hasher, sha256_of
from messagebody._base.threads import Stop
from messagebody._model.content import LocalFile
from messagebody.errors import LocalFileChanged
from messagebody.storage._stores import Blob


@attrs.frozen
class FileBlob:
    """A local file that must still have a known digest."""

    file: LocalFile
    digest: str

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.file.size

    def read(self) -> bytes:
        """Return the whole file."""
        data = self.file.read_bytes()
        self._check(sha256_of(data))
        return data

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield the bytes of the file; raise an error at the end if the digest differs."""
        hasher = Hasher()
        with self.file.open() as stream:
            while chunk := stream.read(length):
                hasher.update(chunk)
                yield chunk
            # If the file grew after the last read, its size has changed.
            self.file.check(stream)
        self._check(hasher.digest)

    def _check(self, digest: str) -> None:
        if digest != self.digest:
            raise LocalFileChanged(str(self.file.path), "it changed while it was read")


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
