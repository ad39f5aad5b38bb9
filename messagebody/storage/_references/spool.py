"""Buffers of content that is not verified yet: in memory if small, else in a private file."""

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, Self, cast

import attrs

from messagebody._base.digests import Hasher
from messagebody.errors import StoreError

IN_MEMORY = 8 * 1024 * 1024
"""The maximum size in memory; larger content goes to a private temporary file."""

_GATHERED = 64 * 1024
"""The size up to which pieces are joined, because each object has a large overhead."""


class Spool:
    """A buffer of content, which is hashed while it is written, and then read from the start."""

    def __init__(self) -> None:
        self._pieces: list[bytes | bytearray] = []
        self._file: BinaryIO | None = None
        self._hasher = Hasher()
        self._known_digest: str | None = None
        self.size = 0
        self.verified = False

    @classmethod
    def over(cls, file: BinaryIO, size: int, digest: str) -> Self:
        """Return a spool of a file that is already verified."""
        spool = cls()
        spool._file, spool.size, spool._known_digest = file, size, digest
        return spool

    @contextlib.contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the spool if the block raises an error."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @property
    def digest(self) -> str:
        """The digest of the content so far."""
        return self._known_digest or self._hasher.digest

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._hasher.update(data)
        self.size += len(data)
        if self._file is None and self.size <= IN_MEMORY:
            self._keep(data)
            return
        try:
            self._to_disk().write(data)
        except OSError as error:
            raise StoreError(
                f"can't keep the content in a temporary file: {error.strerror or error}"
            ) from error

    def _keep(self, data: bytes) -> None:
        last = self._pieces[-1] if self._pieces else None
        if last is None or len(last) >= _GATHERED:
            self._pieces.append(data)
        elif isinstance(last, bytearray):
            last += data
        else:
            # A bytearray, so that later pieces are appended in place.
            self._pieces[-1] = bytearray(last) + data

    def read(self) -> bytes:
        """Return all bytes and close the spool."""
        if self._file is None:
            # A small object arrives in one piece, and is returned without a copy.
            if len(self._pieces) == 1 and isinstance(self._pieces[0], bytes):
                return self._pieces[0]
            return b"".join(self._pieces)
        with self._file as file:
            file.seek(0)
            return file.read()

    def stream(self) -> BinaryIO:
        """Return a file object over all bytes; closing it closes the spool."""
        if self._file is None:
            return io.BytesIO(b"".join(self._pieces))
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Delete the content."""
        self._pieces.clear()
        if self._file is not None:
            self._file.close()

    def _to_disk(self) -> BinaryIO:
        if self._file is None:
            # The reader of the content closes it, or `closed_on_error`.
            self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
            for piece in self._pieces:
                self._file.write(piece)
            self._pieces.clear()
        return self._file


@attrs.frozen
class SpoolBlob:
    """A blob of verified content, which leaves the spool unchanged."""

    spool: Spool

    @property
    def size(self) -> int:
        """The size of the content in bytes."""
        return self.spool.size

    @property
    def digest(self) -> str:
        """The digest of the content."""
        return self.spool.digest

    def read(self) -> bytes:
        """Return all bytes."""
        return self.spool.stream().read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield all bytes, `length` at a time."""
        stream = self.spool.stream()
        while chunk := stream.read(length):
            yield chunk
