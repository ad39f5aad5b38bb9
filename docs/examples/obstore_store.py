"""A store over obstore, whose client of S3 is written in Rust: small objects take a fraction.

`S3Store` is over boto3, with uploads in parts, lifetimes of links and sweeps of unfinished uploads.
This one moves whole objects, each in one request and in memory.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import ObjectStore

from messagebody.errors import AccessDenied, ObjectNotFound, StoreError
from messagebody.storage import Blob, Bytes, Stat, Store

PIECE = 4 * 2**20  # bytes


class ObstoreStore(Store):
    """Objects of a bucket or directory that obstore has opened.

    Arguments:
        objects: a store of obstore, such as `obstore.store.S3Store(bucket, prefix="tenant")`.
        url: its URL, with which references begin, such as "s3://bucket/tenant".
    """

    def __init__(self, objects: ObjectStore, url: str) -> None:
        self.url = url.rstrip("/")
        self._objects = objects

    def stat(self, key: str) -> Stat | None:
        """Return the metadata of an object."""
        try:
            with self._translated(key):
                return self._stat(obstore.head(self._objects, key))
        except ObjectNotFound:
            return None

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object in one request; the server decides whether it is there."""
        attributes: Any = {"Content-Type": content_type} if content_type else None
        mode: Any = "create" if if_absent else "overwrite"
        data = b"".join(blob.buffers(PIECE))  # raises if the content has changed
        try:
            with self._translated(key):
                obstore.put(
                    self._objects, key, data,
                    mode=mode, attributes=attributes, use_multipart=False,
                )  # fmt: skip
        except AlreadyExistsError:
            return False
        return True

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return a range of an object."""
        found = self.stat(key)
        if found is None:
            raise ObjectNotFound(store=self.url, key=key)
        end = min(end, found.size)
        if start >= end:
            return b""
        with self._translated(key):
            return bytes(obstore.get_range(self._objects, key, start=start, end=end))

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the content of an object in order."""
        with self._translated(key):
            answer = obstore.get(self._objects, key)
            if answer.meta["size"] <= PIECE:
                yield bytes(answer.bytes())  # a stream costs more calls
                return
            for piece in answer.stream(min_chunk_size=PIECE):
                yield from Bytes(bytes(piece)).buffers(PIECE)

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object."""
        with self._translated(""):
            for page in obstore.list(self._objects):
                yield from map(self._stat, page)

    def delete(self, key: str) -> None:
        """Delete an object."""
        with contextlib.suppress(ObjectNotFound), self._translated(key):
            obstore.delete(self._objects, key)

    def _stat(self, found: Any) -> Stat:
        return Stat(found["path"], found["size"], found["last_modified"].timestamp())

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise ObjectNotFound(store=self.url, key=key) from error
        except AlreadyExistsError:
            raise
        except PermissionError as error:
            raise AccessDenied(store=self.url, key=key) from error
        except (BaseError, OSError, TypeError, ValueError) as error:
            # Its text may hold a signed URL.
            raise StoreError(type(error).__name__, self.url, key) from None
