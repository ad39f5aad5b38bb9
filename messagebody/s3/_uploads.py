"""Uploads to S3: one request for a small object, parts for a large one, nothing half done.

`put_object` and `complete_multipart_upload` are the only calls that take `If-None-Match`;
boto3's managed transfers refuse it, so multipart uploads are begun, sent, completed and aborted
here.
"""

import hashlib
import time
from base64 import b64encode
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import attrs
from botocore.exceptions import BotoCoreError, ClientError

from messagebody._core import PATIENCE, Interrupted, Pool, raw_digest
from messagebody.s3._client import S3Client, sends_checksums
from messagebody.s3._faults import code_of, status_of
from messagebody.storage import Blob

if TYPE_CHECKING:
    from concurrent.futures import Future

# A limit of the service.
_MOST_PARTS = 10_000
# Parts held at a time: more would cost memory and gain little over one connection pool.
_WINDOW = 4
# Two writers of one key at once get 409; the service asks to try again.
_CONFLICTS = 5
_PAUSE = 0.05


@attrs.frozen
class Target:
    """Where an object goes, and as what."""

    bucket: str
    key: str
    content_type: str | None = None
    by_content: bool = False
    """Whether the key is the content's digest, so that any object there is the right one."""

    @property
    def address(self) -> dict[str, Any]:
        """Bucket and key, as requests take them."""
        return {"Bucket": self.bucket, "Key": self.key}

    @property
    def described(self) -> dict[str, Any]:
        """Bucket, key and content type, as requests that create take them."""
        return self.address | ({"ContentType": self.content_type} if self.content_type else {})


def put(
    client: S3Client,
    target: Target,
    blob: Blob,
    *,
    if_absent: bool,
    threshold: int,
    part_size: int,
) -> bool:
    """Write an object whole; return whether it was written.

    Arguments:
        client: the client to write through.
        target: where, and as what.
        blob: what.
        if_absent: send `If-None-Match: *`, and return False if the object is there.
        threshold: bytes from which on an object is sent in parts.
        part_size: bytes a part, more for objects of over 10,000 parts.
    """
    condition: dict[str, Any] = {"IfNoneMatch": "*"} if if_absent else {}
    for attempt in range(_CONFLICTS):
        try:
            if blob.size < threshold:
                _put_whole(client, target, blob, condition)
            else:
                _put_parts(client, target, blob, condition, part_size)
        except ClientError as error:
            # Somebody else was faster, with the same bytes where the key is a digest.
            if if_absent and status_of(error) == 412:
                return False
            if not _is_conflict(error) or attempt == _CONFLICTS - 1:
                raise
            time.sleep(_PAUSE * 2**attempt)
        else:
            return True
    raise AssertionError("the last attempt returns or raises")


def _put_whole(client: S3Client, target: Target, blob: Blob, condition: dict[str, Any]) -> None:
    checksum: dict[str, Any] = {}
    if blob.digest is not None and sends_checksums(client):
        # The server refuses bytes that are others, and botocore computes no checksum of its own.
        hashed = b64encode(raw_digest(blob.digest)).decode()
        checksum = {"ChecksumAlgorithm": "SHA256", "ChecksumSHA256": hashed}
    client.put_object(**target.described, Body=blob.read(), **checksum, **condition)


def _is_conflict(error: Exception) -> bool:
    return status_of(error) == 409 and code_of(error) in {
        "ConditionalRequestConflict",
        "OperationAborted",
        "409",
        "Conflict",
    }


def _put_parts(
    client: S3Client, target: Target, blob: Blob, condition: dict[str, Any], part_size: int
) -> None:
    upload = client.create_multipart_upload(**target.described)["UploadId"]
    try:
        parts = _send(client, target, upload, blob.buffers(_part_size(blob.size, part_size)))
        _complete(client, target, upload, parts, blob.size, condition)
    except BaseException as error:
        _abort(client, target, upload, error)
        raise


def _part_size(size: int, wanted: int) -> int:
    return max(wanted, -(-size // _MOST_PARTS))


def _send(
    client: S3Client, target: Target, upload: str, buffers: Iterator[bytes]
) -> list[dict[str, Any]]:
    """Send parts, a few at a time: memory stays bounded by the window, not by the object."""
    done: list[dict[str, Any]] = []
    pending: deque[Future[dict[str, Any]]] = deque()
    pool = Pool(_WINDOW, "messagebody-part")
    try:
        while (data := next(buffers, None)) is not None:
            number = len(done) + len(pending) + 1
            pending.append(pool.submit(partial(_send_part, client, target, upload, number, data)))
            # Waits before the next part is read: that one would be held besides the window.
            if len(pending) == _WINDOW:
                done.append(pending.popleft().result())
        done.extend(future.result() for future in pending)
    except BaseException as error:
        # A part that arrives after the upload was aborted would stay: wait for those on their
        # way, but not for long once the work is cancelled.
        is_cancelled = isinstance(error, Interrupted) or not isinstance(error, Exception)
        pool.give_up(pending, PATIENCE / 2 if is_cancelled else None)
        raise
    return done


def _send_part(
    client: S3Client, target: Target, upload: str, number: int, data: bytes
) -> dict[str, Any]:
    """Send one part and return how completing the upload refers to it."""
    answer: Any = client.upload_part(
        **target.address, UploadId=upload, PartNumber=number, Body=data
    )
    part: dict[str, Any] = {"PartNumber": number, "ETag": answer["ETag"]}
    # Where the client computed a checksum, completing has to repeat it.
    return part | {name: value for name, value in answer.items() if name.startswith("Checksum")}


def _complete(
    client: S3Client,
    target: Target,
    upload: str,
    parts: list[dict[str, Any]],
    size: int,
    condition: dict[str, Any],
) -> None:
    try:
        client.complete_multipart_upload(
            **target.address,
            UploadId=upload,
            MultipartUpload={"Parts": cast("Any", parts)},
            **condition,
        )
    except (BotoCoreError, ClientError) as error:
        # These answers are certain; after any other the upload may have been completed.
        if status_of(error) in {409, 412, 501} or not _is_there(client, target, parts, size):
            raise


def _is_there(client: S3Client, target: Target, parts: list[dict[str, Any]], size: int) -> bool:
    """Ask whether an upload was completed though its acknowledgement was lost."""
    try:
        found = client.head_object(**target.address)
    except (BotoCoreError, ClientError):
        return False
    if found["ContentLength"] != size:
        return False
    return target.by_content or found["ETag"].strip('"') == _etag(parts)


def _etag(parts: list[dict[str, Any]]) -> str:
    """Return the ETag S3 gives a multipart object: the MD5 of the MD5s of its parts."""
    try:
        tags = b"".join(bytes.fromhex(part["ETag"].strip('"')) for part in parts)
    except ValueError:  # encrypted with a key of the customer's: the tags are not MD5s
        return ""
    return f"{hashlib.md5(tags, usedforsecurity=False).hexdigest()}-{len(parts)}"


def _abort(client: S3Client, target: Target, upload: str, error: BaseException) -> None:
    try:
        client.abort_multipart_upload(**target.address, UploadId=upload)
    except (BotoCoreError, ClientError) as failure:
        if code_of(failure) != "NoSuchUpload":
            error.add_note(
                f"the unfinished upload of {target.key} could not be aborted either "
                f"({type(failure).__name__}); sweep removes it later"
            )
