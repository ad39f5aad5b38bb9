"""Transfer of one content into a store, under the key that is its digest."""

import time
from collections.abc import Callable, Iterator
from typing import Literal

import attrs

from messagebody._threads import Stop
from messagebody.content import LocalFile
from messagebody.digests import Hasher, key_of, sha256_of
from messagebody.errors import DigestMismatch, LocalFileChanged, ObjectNotFound
from messagebody.stores import Blob, Stat, Store, digest_of

Verify = Literal["size", "digest"]

GRACE = 7 * 24 * 3600.0
"""Seconds for which `sweep` leaves unreferenced objects alone."""

# Below it, sending once more costs less than asking.
_ASK_FIRST = 1024 * 1024


@attrs.frozen
class FileBlob:
    """A local file that has to have the digest it had when it was read first."""

    file: LocalFile
    digest: str

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.file.size

    def read(self) -> bytes:
        """Return the whole file."""
        data = self.file.read_bytes()
        self._check(sha256_of(data))
        return data

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield the file; at the end raise if these were not the bytes of its digest."""
        hasher = Hasher()
        with self.file.open() as stream:
            while chunk := stream.read(length):
                hasher.update(chunk)
                yield chunk
            # A file that grew behind the last read has another size by now.
            self.file.check(stream)
        self._check(hasher.digest)

    def _check(self, digest: str) -> None:
        if digest != self.digest:
            raise LocalFileChanged(str(self.file.path), "it changed while it was read")


@attrs.frozen
class Watched:
    """A blob that reports its progress and can be stopped."""

    blob: Blob
    stop: Stop
    progress: Callable[[int], None]

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return self.blob.size

    @property
    def digest(self) -> str | None:
        """The digest of the content."""
        return self.blob.digest

    def read(self) -> bytes:
        """Return everything."""
        self.stop.check()
        return self.blob.read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield everything, unless the work is cancelled."""
        for chunk in self.blob.buffers(length):
            self.stop.check()
            yield chunk
            self.progress(len(chunk))


def ensure(
    store: Store, digest: str, blob: Blob, content_type: str, verify: Verify | None = None
) -> str:
    """Make sure that a store has some content, and will keep it; return its key.

    Arguments:
        store: the store.
        digest: the content's digest, which its key is made of.
        blob: the content.
        content_type: sent along.
        verify: look at the object afterwards: ask its size, or read it back.

    Raises:
        DigestMismatch: the store keeps other bytes than it was sent.
    """
    key = key_of(digest)
    # A large object may be there from an attempt that failed later: ask before sending it.
    is_there = blob.size > _ASK_FIRST and _is_fresh(store.stat(key), blob.size, digest)
    if not is_there and not store.put(key, blob, content_type=content_type):
        _renew(store, key, blob, content_type, digest)
    if verify is not None and _found(store, key, verify) != _wanted(blob, digest, verify):
        # What an earlier writer left under the key may be spoilt: write it once more.
        store.put(key, blob, content_type=content_type, if_absent=False)
        found = _found(store, key, verify)
        if found != _wanted(blob, digest, verify):
            raise DigestMismatch(store.url_of(key), _wanted(blob, digest, verify), found)
    return key


def _renew(store: Store, key: str, blob: Blob, content_type: str, digest: str) -> None:
    """Write an object again that is there, if it is spoilt or so old that `sweep` could take it."""
    if not _is_fresh(store.stat(key), blob.size, digest):
        store.put(key, blob, content_type=content_type, if_absent=False)


def _is_fresh(found: Stat | None, size: int, digest: str) -> bool:
    if found is None or found.size != size or found.checksum not in {None, digest}:
        return False  # it is damaged, or was not written by offload
    # Half of the shortest grace: an object that is renewed now outlives any sweep that has seen it.
    return found.modified is None or time.time() - found.modified < GRACE / 2


def _wanted(blob: Blob, digest: str, verify: Verify) -> str:
    return f"{blob.size:,} bytes" if verify == "size" else digest


def _found(store: Store, key: str, verify: Verify) -> str:
    if verify == "digest":
        try:
            return digest_of(store, key)[1]
        except ObjectNotFound:
            return "nothing"
    found = store.stat(key)
    return "nothing" if found is None else f"{found.size:,} bytes"
