"""A prefix of an S3 bucket as a store."""

from collections.abc import Iterator
from typing import Any

import attrs

from messagebody.errors import StoreError
from messagebody.s3._filesystem import S3FileSystem
from messagebody.storage._stores.base import Blob, Stat, Store, Upload


class S3Store(Store):
    """Objects below a prefix of a bucket.

    Arguments:
        filesystem: the filesystem that knows server and credentials.
        bucket: the bucket's name.
        prefix: begins every key; may be empty.
    """

    def __init__(self, filesystem: S3FileSystem, bucket: str, prefix: str = "") -> None:
        if not bucket:
            raise StoreError("an S3 store needs a bucket: s3://bucket/prefix", "s3://")
        self.filesystem = filesystem
        self.bucket = bucket
        self.prefix = f"{prefix}/" if prefix else ""
        self.url = f"s3://{bucket}/{prefix}".rstrip("/")

    def stat(self, key: str) -> Stat | None:
        """Return size, age and checksum of an object (HEAD)."""
        found = self.filesystem._stat(self.bucket, self.prefix + key)
        return None if found is None else self._stat(found)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object in one request, or in parts that are aborted unless all arrive."""
        return self.filesystem.put_blob(
            self._path(key),
            blob,
            content_type=content_type,
            if_absent=if_absent,
            by_content=True,
        )

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return some bytes of an object."""
        return self.filesystem.cat_file(self._path(key), start, end)

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield an object from its first byte to its last."""
        return self.filesystem.iter_chunks(self._path(key))

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object below the prefix."""
        for found in self.filesystem._list(self.bucket, self.prefix):
            yield self._stat(found)

    def delete(self, key: str) -> None:
        """Delete an object."""
        self.filesystem.rm_file(self._path(key))

    def sign(self, key: str, *, expires: int, content_type: str, disposition: str) -> str:
        """Return a presigned URL (signature version 4)."""
        return self.filesystem.sign(
            self._path(key), expires, content_type=content_type, disposition=disposition
        )

    def iter_uploads(self) -> Iterator[Upload]:
        """Yield multipart uploads below the prefix that were not finished."""
        for each in self.filesystem.iter_uploads(self._path("")):
            yield attrs.evolve(each, key=each.key.removeprefix(self.prefix))

    def abort_upload(self, upload: Upload) -> None:
        """Delete the parts of an unfinished upload."""
        whole = attrs.evolve(upload, key=self.prefix + upload.key)
        self.filesystem.abort_upload(self.bucket, whole)

    def _path(self, key: str) -> str:
        return f"{self.bucket}/{self.prefix}{key}"

    def _stat(self, found: dict[str, Any]) -> Stat:
        key = found["name"].removeprefix(self._path(""))
        # Where we send no SHA-256, a service computes a checksum of its own, which proves nothing.
        checksum = found.get("checksum") if self.filesystem.sends_digests else None
        return Stat(key, found["size"], found["LastModified"].timestamp(), checksum)
