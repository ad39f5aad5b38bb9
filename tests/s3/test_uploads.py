"""Uploads to S3 in parts, with a client that only counts."""

import threading
import time
from collections.abc import Iterator
from typing import Any

from messagebody.s3 import _uploads as uploads

MOST = 4
"""Parts held at a time."""


class SlowClient:
    """Takes parts after a while, and knows how many it has not taken yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held = self.most = 0
        self.numbers: list[int] = []

    def hold(self) -> None:
        """Count a part that was read."""
        with self.lock:
            self.held += 1
            self.most = max(self.most, self.held)

    def create_multipart_upload(self, **_: Any) -> dict[str, Any]:
        return {"UploadId": "1"}

    def upload_part(self, *, PartNumber: int, **_: Any) -> dict[str, Any]:  # noqa: N803
        time.sleep(0.01)
        with self.lock:
            self.held -= 1
        return {"ETag": f'"{PartNumber}"'}

    def complete_multipart_upload(self, *, MultipartUpload: Any, **_: Any) -> None:  # noqa: N803
        self.numbers = [part["PartNumber"] for part in MultipartUpload["Parts"]]


class Parts:
    """Twenty parts of a byte."""

    size, digest = 20, None

    def __init__(self, client: SlowClient) -> None:
        self.client = client

    def read(self) -> bytes:
        return bytes(self.size)

    def buffers(self, length: int) -> Iterator[bytes]:
        for _ in range(0, self.size, length):
            self.client.hold()
            yield bytes(length)


def test_a_part_is_read_when_there_is_room_for_it() -> None:
    client: Any = SlowClient()
    target = uploads.Target("bucket", "key")
    assert uploads.put(client, target, Parts(client), if_absent=False, threshold=1, part_size=1)
    assert client.numbers == [*range(1, 21)]
    assert client.held == 0
    assert client.most <= MOST
