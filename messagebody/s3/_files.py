"""Opened objects of S3: read by ranges, and written in parts."""

import contextlib
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import BotoCoreError
from fsspec.spec import AbstractBufferedFile

from messagebody.errors import StoreError
from messagebody.s3._faults import status_of
from messagebody.s3._uploads import Target, send_part, split_path
from messagebody.storage._stores.base import Bytes, Upload

if TYPE_CHECKING:
    from messagebody.s3._filesystem import S3FileSystem


class S3File(AbstractBufferedFile):  # type: ignore[misc]
    """An object open for reading, or being written; an exception while writing leaves nothing."""

    fs: "S3FileSystem"

    def __init__(self, *args: Any, content_type: str | None = None, **kwargs: Any) -> None:
        self._upload: str | None = None
        self._parts: list[dict[str, Any]] = []
        self._content_type = content_type
        super().__init__(*args, **kwargs)
        # Reading the object to write it again would not be atomic, nor would anybody expect its
        # cost.
        if self.mode == "ab":
            raise NotImplementedError("S3 can't append to an object")

    @property
    def _target(self) -> Target:
        return Target(*split_path(self.path), self._content_type)

    def _upload_chunk(self, final: bool = False) -> bool:
        data = self.buffer.getvalue()
        # Small enough for one request, which is atomic by itself.
        if final and self._upload is None and self.autocommit:
            self._publish_small(data)
            return True
        with self.fs._translated(self.path):
            if self._upload is None:
                self._upload = self.fs.client.create_multipart_upload(**self._target.described)[
                    "UploadId"
                ]
            # An upload has one part at least, even an empty one.
            if data or not self._parts:
                self._send(data)
        if final and self.autocommit:
            self.commit()
        return True

    def _publish_small(self, data: bytes) -> None:
        absent = self.mode == "xb"
        written = self.fs.put_blob(
            self.path, Bytes(data), content_type=self._content_type, if_absent=absent
        )
        if not written:
            raise FileExistsError(self.path)

    def _send(self, data: bytes) -> None:
        number = len(self._parts) + 1
        self._parts.append(send_part(self.fs.client, self._target, str(self._upload), number, data))

    def commit(self) -> None:
        """Make the object appear under its key."""
        if self._upload is None:
            return
        condition: dict[str, Any] = {"IfNoneMatch": "*"} if self.mode == "xb" else {}
        try:
            with self.fs._translated(self.path):
                self.fs.client.complete_multipart_upload(
                    **self._target.address,
                    UploadId=self._upload,
                    MultipartUpload={"Parts": cast("Any", self._parts)},
                    **condition,
                )
        except StoreError as error:
            self.discard()
            if status_of(error.__cause__ or error) == 412:
                raise FileExistsError(self.path) from error
            raise
        self._upload = None

    def discard(self) -> None:
        """Abort the upload."""
        if self._upload is not None:
            upload, self._upload = Upload(split_path(self.path)[1], self._upload, 0.0), None
            self.fs.abort_upload(split_path(self.path)[0], upload)

    def close(self) -> None:
        """Finish writing; when that fails nothing is left behind."""
        try:
            super().close()
        except BaseException:
            self.discard()
            raise

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and self.mode != "rb":
            self.discard()
            self.closed = True
        super().__exit__(kind, *rest)

    def __del__(self) -> None:
        # A writer that was dropped without being closed is not to publish anything.
        if not self.closed and self.mode != "rb":
            with contextlib.suppress(StoreError, BotoCoreError):
                self.discard()
            self.closed = True
        super().__del__()
