"""A prefix of an S3 bucket as a store, through boto3."""

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from botocore.exceptions import ClientError

from messagebody._core import CHUNK
from messagebody.errors import LimitExceeded, ObjectNotFound, StoreError
from messagebody.s3 import _uploads as uploads
from messagebody.s3._answers import checksum_of, listed, read_range
from messagebody.s3._client import Clients, S3Client, sends_checksums
from messagebody.s3._faults import code_of, may_refuse_condition, status_of, translated
from messagebody.s3._uploads import Target
from messagebody.storage import Blob, Stat, Store, Upload

_WHOLE: Final = 8 * 1024 * 1024
"""Bytes up to which an object is read in one piece: each piece costs copies."""
_LONGEST_LINK: Final = 7 * 24 * 3600
"""Seconds: what signature version 4 allows a presigned URL to live."""
_NOT_OFFERED: Final = frozenset({"NotImplemented", "MethodNotAllowed"})


class S3Store(Store):
    """Objects below a prefix of a bucket.

    Arguments:
        clients: the clients that know the server and the credentials.
        bucket: the bucket's name.
        prefix: begins every key; may be empty.
    """

    def __init__(self, clients: Clients, bucket: str, prefix: str = "") -> None:
        if not bucket:
            raise StoreError("an S3 store needs a bucket: s3://bucket/prefix", "s3://")
        self.clients = clients
        self.bucket = bucket
        self.prefix = f"{prefix}/" if prefix else ""
        self.url = f"s3://{bucket}/{prefix}".rstrip("/")

    @property
    def client(self) -> S3Client:
        """The boto3 client of this process."""
        return self.clients.get()

    def stat(self, key: str) -> Stat | None:
        """Return size, age and checksum of an object (HEAD)."""
        try:
            with self._translated(key):
                found = self.client.head_object(**self._address(key), ChecksumMode="ENABLED")
                # Where we send no SHA-256, a service computes another checksum, which proves
                # nothing.
                checksum = checksum_of(found) if sends_checksums(self.client) else None
                modified = found["LastModified"].timestamp()
                return Stat(key, found["ContentLength"], modified, checksum)
        except ObjectNotFound:
            return None

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object in one request, or in parts that are aborted unless all arrive."""
        settings = self.clients.settings
        # Content is put under its digest only where nothing is there; results are overwritten.
        target = Target(self.bucket, self.prefix + key, content_type, by_content=if_absent)
        sizes = {"threshold": settings.multipart_threshold, "part_size": settings.part_size}
        with self._translated(key):
            condition = if_absent and self.clients.is_conditional
            try:
                return uploads.put(self.client, target, blob, if_absent=condition, **sizes)
            except ClientError as error:
                if not condition or not may_refuse_condition(error):
                    raise
            written = uploads.put(self.client, target, blob, if_absent=False, **sizes)
            self.clients.is_conditional = False  # as that was it
            return written

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return some bytes of an object."""
        if end <= start:
            return b""
        asked = f"bytes={start}-{end - 1}"
        with self._translated(key):
            try:
                answer = self.client.get_object(**self._address(key), Range=asked)
            except ClientError as error:
                if status_of(error) == 416 or code_of(error) == "InvalidRange":
                    return b""  # the range begins where the object ends
                raise
            with contextlib.closing(answer["Body"]):
                return read_range(answer, start, end, f"s3://{self.bucket}", self.prefix + key)

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield an object from its first byte to its last, in one request."""
        with self._translated(key):
            answer = self.client.get_object(**self._address(key))
            with contextlib.closing(answer["Body"]) as body:
                if answer["ContentLength"] <= _WHOLE:
                    yield body.read()
                else:
                    yield from body.iter_chunks(CHUNK)

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every object below the prefix."""
        with self._translated(""):
            for each in self._list("list_objects_v2", "Contents"):
                key = each["Key"].removeprefix(self.prefix)
                yield Stat(key, each["Size"], each["LastModified"].timestamp())

    def delete(self, key: str) -> None:
        """Delete an object."""
        with self._translated(key):
            self.client.delete_object(**self._address(key))

    def sign(self, key: str, *, expires: int, content_type: str, disposition: str) -> str:
        """Return a presigned URL (signature version 4), which works for at most seven days."""
        if not 0 < expires <= _LONGEST_LINK:
            raise LimitExceeded(
                f"a signed link lives from 1 second to 7 days, got {expires:,} seconds",
                f"s3://{self.bucket}", self.prefix + key,
            )  # fmt: skip
        answer = {"ResponseContentType": content_type, "ResponseContentDisposition": disposition}
        with self._translated(key):
            return self.client.generate_presigned_url(
                "get_object", Params=self._address(key) | answer, ExpiresIn=expires
            )

    def iter_uploads(self) -> Iterator[Upload]:
        """Yield multipart uploads below the prefix that were not finished.

        Servers that cannot list them yield none; they may keep some all the same.
        """
        with self._translated(""):
            try:
                for each in self._list("list_multipart_uploads", "Uploads"):
                    key = each["Key"].removeprefix(self.prefix)
                    yield Upload(key, each["UploadId"], each["Initiated"].timestamp())
            except ClientError as error:
                if status_of(error) not in {405, 501} and code_of(error) not in _NOT_OFFERED:
                    raise

    def abort_upload(self, upload: Upload) -> None:
        """Delete the parts of an unfinished upload; a missing one is not an error."""
        with self._translated(upload.key):
            try:
                self.client.abort_multipart_upload(**self._address(upload.key), UploadId=upload.id)
            except ClientError as error:
                if code_of(error) != "NoSuchUpload":
                    raise

    def _list(self, operation: Any, member: str) -> Iterator[Any]:
        """Yield what a listing of the prefix holds."""
        paginator: Any = self.client.get_paginator(operation)
        pages = paginator.paginate(Bucket=self.bucket, Prefix=self.prefix)
        return listed(pages, member, f"s3://{self.bucket}", self.prefix)

    def _address(self, key: str) -> dict[str, Any]:
        return {"Bucket": self.bucket, "Key": self.prefix + key}

    def _translated(self, key: str) -> contextlib.AbstractContextManager[None]:
        return translated(f"s3://{self.bucket}", self.prefix + key)
