"""The interface of stores: objects by key below a prefix, written atomically."""

import abc
from collections.abc import Iterator

import attrs

from messagebody._base.digests import Hasher
from messagebody._base.text import redact_url, redact_urls
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage._stores.blobs import Blob


@attrs.frozen
class Stat:
    """The metadata of an object.

    Arguments:
        key: its key, below the store's prefix.
        size: its size in bytes.
        modified: the time of the last write, in seconds since the epoch; None if unknown.
        checksum: the checksum that the store keeps, such as "sha256:…" or "crc32:…"; None if it has
            none of the whole object.
        version: a value that changes with every write and that no program can set, such as the
            ctime of a file; None if unknown. It is not the ETag, because some S3 servers return
            another one in a listing.
    """

    key: str
    size: int
    modified: float | None
    checksum: str | None = None
    version: str | None = None


@attrs.frozen
class Upload:
    """A multipart upload that was neither completed nor aborted."""

    key: str
    id: str
    started: float


class Store(abc.ABC):
    """Objects by key below a prefix.

    Writes are atomic: an object appears under its key completely, or not at all. Errors are
    `StoreError` and its subclasses, with store and key.
    """

    url: str
    """The URL of the store: scheme, host or bucket and prefix, without a final slash or secrets."""

    reads_back: bool = False
    """Whether uploads are verified by reading them back, by default."""

    is_asked_first: bool = True
    """Whether a large object that is there is kept as it is; otherwise `put` decides."""

    def url_of(self, key: str) -> str:
        """Return the URL of an object for references in messages."""
        return f"{self.url}/{key}"

    @abc.abstractmethod
    def stat(self, key: str) -> Stat | None:
        """Return the metadata of an object; None if it does not exist."""

    @abc.abstractmethod
    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object atomically, and return whether it was written.

        Arguments:
            key: the key of the object.
            blob: its content; if reading it raises an error, nothing is published.
            content_type: its content type, if the store keeps content types.
            if_absent: return False and keep the old object if there is one.
        """

    @abc.abstractmethod
    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to, not including, `end` or the end of the object.

        Raises:
            ObjectNotFound: the object does not exist.
        """

    @abc.abstractmethod
    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the content of an object in order.

        Raises:
            ObjectNotFound: the object does not exist.
        """

    def measure(self, key: str) -> tuple[int, str]:
        """Read an object, and return its size and digest.

        Raises:
            ObjectNotFound: the object does not exist.
        """
        size, hasher = 0, Hasher()
        for chunk in self.stream(key):
            size += len(chunk)
            hasher.update(chunk)
        return size, hasher.digest

    @abc.abstractmethod
    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object below the prefix, in no particular order."""

    @abc.abstractmethod
    def delete(self, key: str) -> None:
        """Delete an object; a missing object is not an error."""

    def sign(self, key: str, *, expires: int, content_type: str, disposition: str) -> str:  # noqa: ARG002
        """Return a signed URL, with which anyone can read the object for `expires` seconds."""
        raise StoreError("this store can't sign links; only s3:// stores can", self.url, key)

    def iter_uploads(self) -> Iterator[Upload]:
        """Yield the unfinished multipart uploads below the prefix."""
        yield from ()

    def abort_upload(self, upload: Upload) -> None:
        """Delete the parts of an unfinished upload."""
        raise StoreError("this store has no multipart uploads", self.url, upload.key)

    def below(self, name: str) -> "Store":
        """Return a store of the objects below a prefix of this store.

        A program can keep its own objects there: a sweep of this store neither sees nor deletes
        them.

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
        self.reads_back = store.reads_back

    def stat(self, key: str) -> Stat | None:
        """Return the metadata of an object."""
        found = self._store.stat(self._prefix + key)
        return None if found is None else attrs.evolve(found, key=key)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object atomically."""
        place = self._prefix + key
        return self._store.put(place, blob, content_type=content_type, if_absent=if_absent)

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return a range of an object."""
        return self._store.read_range(self._prefix + key, start, end)

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the content of an object in order."""
        return self._store.stream(self._prefix + key)

    def measure(self, key: str) -> tuple[int, str]:
        """Read an object, and return its size and digest."""
        return self._store.measure(self._prefix + key)

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object below the prefix."""
        for found in self._store.iter_objects():
            if found.key.startswith(self._prefix):
                yield attrs.evolve(found, key=found.key.removeprefix(self._prefix))

    def delete(self, key: str) -> None:
        """Delete an object."""
        self._store.delete(self._prefix + key)

    def sign(self, key: str, *, expires: int, content_type: str, disposition: str) -> str:
        """Return a signed URL of an object."""
        return self._store.sign(
            self._prefix + key, expires=expires, content_type=content_type, disposition=disposition
        )

    def iter_uploads(self) -> Iterator[Upload]:
        """Yield the unfinished multipart uploads below the prefix."""
        for each in self._store.iter_uploads():
            if each.key.startswith(self._prefix):
                yield attrs.evolve(each, key=each.key.removeprefix(self._prefix))

    def abort_upload(self, upload: Upload) -> None:
        """Delete the parts of an unfinished upload."""
        self._store.abort_upload(attrs.evolve(upload, key=self._prefix + upload.key))


def segments_of(key: str, store: str) -> list[str]:
    """Return the segments of a key that is a path below the root of a store.

    Raises:
        ObjectNotFound: it is no such path: it could lead out of the store, or to another object.
    """
    segments = key.split("/")
    if any(segment in {"", ".", ".."} or "\x00" in segment for segment in segments):
        raise ObjectNotFound("not a legal key", store, key)
    return segments


def harmless_cause(error: BaseException) -> BaseException:
    """Return an exception as a cause, or a replacement if its text has a signature or password."""
    if redact_urls(str(error)) == str(error):
        return error
    # Tracebacks print causes, too, so only the class of such an error is safe to show.
    return RuntimeError(type(error).__name__)
