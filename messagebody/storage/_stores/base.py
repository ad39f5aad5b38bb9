"""The interface of stores: bytes by key below a prefix, written whole or not at all."""

import abc
from collections.abc import Iterator
from typing import Protocol

import attrs

from messagebody._base.digests import Hasher
from messagebody._base.text import redact_url, redact_urls
from messagebody.errors import StoreError


class Blob(Protocol):
    """Content to store; it can be read again when a write has to be repeated."""

    @property
    def size(self) -> int:
        """Bytes in all."""

    @property
    def digest(self) -> str | None:
        """The digest of the bytes, if it is known."""

    def read(self) -> bytes:
        """Return everything."""

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield everything, `length` bytes at a time; raise at the end if the content changed."""


@attrs.frozen
class Bytes:
    """A blob in memory.

    Arguments:
        data: the bytes.
        digest: theirs, for stores that send it along; None if they were not hashed.
    """

    data: bytes = attrs.field(repr=False)
    digest: str | None = None

    @property
    def size(self) -> int:
        """Bytes in all."""
        return len(self.data)

    def read(self) -> bytes:
        """Return everything."""
        return self.data

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield everything, `length` bytes at a time."""
        # A view, so that slicing copies only what is yielded.
        view = memoryview(self.data)
        for start in range(0, len(view), length):
            yield bytes(view[start : start + length])


@attrs.frozen
class Stat:
    """The record that a store has of an object.

    Arguments:
        key: where it is, below the store's prefix.
        size: its bytes.
        modified: when it was written last, in seconds since the epoch; None if not known.
        checksum: the one that the store itself keeps, such as "sha256:…" or "crc32:…"; None if it
            keeps none, or none of the whole object.
        version: what changes with every write and which no program can set, such as the time of the
            last change of a file's record; None if not known. S3 servers state ETags, but not all
            of them state the same one in a listing.
    """

    key: str
    size: int
    modified: float | None
    checksum: str | None = None
    version: str | None = None


@attrs.frozen
class Upload:
    """A multipart upload that was begun and neither completed nor aborted."""

    key: str
    id: str
    started: float


class Store(abc.ABC):
    """Bytes by key below a prefix.

    A write is all or nothing: an object appears under its key whole, or not at all. Errors are
    `StoreError` and its subclasses, naming store and key.
    """

    url: str
    """Where the store is: scheme, place and prefix, without a final slash and without secrets."""

    public_base: str | None = None
    """The https URL under which everybody reads the same objects, such as that of a CDN."""

    reads_back: bool = False
    """Whether an upload is verified by reading it back unless the caller says otherwise."""

    def url_of(self, key: str) -> str:
        """Return the URL under which a message refers to the object at `key`."""
        return f"{self.public_base or self.url}/{key}"

    @abc.abstractmethod
    def stat(self, key: str) -> Stat | None:
        """Return what the store knows of `key`, None if there is no such object."""

    @abc.abstractmethod
    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object whole; return whether it was written.

        Arguments:
            key: where, below the prefix.
            blob: what; if reading it raises, nothing is published.
            content_type: sent along where the store keeps content types.
            if_absent: leave an object that is there alone, and return False.
        """

    @abc.abstractmethod
    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to, not including, `end`; fewer where the object ends.

        Raises:
            ObjectNotFound: there is no such object.
        """

    @abc.abstractmethod
    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the object from its first byte to its last.

        Raises:
            ObjectNotFound: there is no such object.
        """

    @abc.abstractmethod
    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object below the prefix, in no particular order."""

    @abc.abstractmethod
    def delete(self, key: str) -> None:
        """Delete an object; a missing one is not an error."""

    def sign(self, key: str, *, expires: int, content_type: str, disposition: str) -> str:  # noqa: ARG002
        """Return a URL that lets everybody who has it read the object for `expires` seconds."""
        raise StoreError("this store can't sign links; only s3:// stores can", self.url, key)

    def iter_uploads(self) -> Iterator[Upload]:
        """Yield multipart uploads below the prefix that were not finished."""
        yield from ()

    def abort_upload(self, upload: Upload) -> None:
        """Delete the parts of an unfinished upload."""
        raise StoreError("this store has no multipart uploads", self.url, upload.key)

    def below(self, name: str) -> "Store":
        """Return the part of the store below a prefix, with objects of its own.

        What one program keeps there, a sweep of the rest neither sees nor deletes.

        Arguments:
            name: the prefix, a segment of a key.
        """
        return Below(self, name)

    def __repr__(self) -> str:
        return f"<store {redact_url(self.url)}>"


class Below(Store):
    """The objects of a store whose keys begin with a prefix.

    Arguments:
        store: the store.
        name: the prefix, without a slash.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._prefix = f"{name}/"
        self.url = f"{store.url}/{name}"
        self.public_base = None if store.public_base is None else f"{store.public_base}/{name}"
        self.reads_back = store.reads_back

    def stat(self, key: str) -> Stat | None:
        """Return what the store knows of an object."""
        found = self._store.stat(self._prefix + key)
        return None if found is None else attrs.evolve(found, key=key)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object whole."""
        place = self._prefix + key
        return self._store.put(place, blob, content_type=content_type, if_absent=if_absent)

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return some bytes of an object."""
        return self._store.read_range(self._prefix + key, start, end)

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield an object from its first byte to its last."""
        return self._store.stream(self._prefix + key)

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object below the prefix."""
        for found in self._store.iter_objects():
            if found.key.startswith(self._prefix):
                yield attrs.evolve(found, key=found.key.removeprefix(self._prefix))

    def delete(self, key: str) -> None:
        """Delete an object."""
        self._store.delete(self._prefix + key)

    def sign(self, key: str, *, expires: int, content_type: str, disposition: str) -> str:
        """Return a URL that lets everybody read the object for a time."""
        return self._store.sign(
            self._prefix + key, expires=expires, content_type=content_type, disposition=disposition
        )

    def iter_uploads(self) -> Iterator[Upload]:
        """Yield multipart uploads below the prefix that were not finished."""
        for each in self._store.iter_uploads():
            if each.key.startswith(self._prefix):
                yield attrs.evolve(each, key=each.key.removeprefix(self._prefix))

    def abort_upload(self, upload: Upload) -> None:
        """Delete the parts of an unfinished upload."""
        self._store.abort_upload(attrs.evolve(upload, key=self._prefix + upload.key))


def read_back(store: Store, key: str) -> tuple[int, str]:
    """Read an object back and return its size and digest."""
    size, hasher = 0, Hasher()
    for chunk in store.stream(key):
        size += len(chunk)
        hasher.update(chunk)
    return size, hasher.digest


def harmless_cause(error: BaseException) -> BaseException:
    """Return an exception as a cause; a stand-in if its text shows a signature or a password."""
    if redact_urls(str(error)) == str(error):
        return error
    # A traceback prints causes too: only the class of such an error is safe to show.
    return RuntimeError(type(error).__name__)
