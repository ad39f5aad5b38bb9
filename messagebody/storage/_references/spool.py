"""Content that is kept until it is verified: in memory while small, then in a private file."""

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, Self, cast

import attrs

from messagebody._base.digests import Hasher
from messagebody.errors import StoreError

IN_MEMORY = 8 * 1024 * 1024
"""Bytes kept in memory; more go to a temporary file that only this process can open."""

_GATHERED = 64 * 1024
"""Bytes up to which pieces are joined: an object for each tiny one takes many times its bytes."""


class Spool:
    """Content on its way in: written once, hashed as it comes, then read from the start."""

    def __init__(self) -> None:
        self._pieces: list[bytes | bytearray] = []
        self._file: BinaryIO | None = None
        self._hasher = Hasher()
        self._known_digest: str | None = None
        self.size = 0
        self.verified = False

    @classmethod
    def over(cls, file: BinaryIO, size: int, digest: str) -> Self:
        """Return a spool of a file that was verified before."""
        spool = cls()
        spool._file, spool.size, spool._known_digest = file, size, digest
        return spool

    @contextlib.contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Throw the content away if the block fails."""
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
        """Add bytes at the end."""
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
            # Joined in place from here on: an object for each tiny piece takes many times its
            # memory.
            self._pieces[-1] = bytearray(last) + data

    def read(self) -> bytes:
        """Return everything and throw the spool away."""
        if self._file is None:
            # A small object arrives in one piece, and is handed out without a copy.
            if len(self._pieces) == 1 and isinstance(self._pieces[0], bytes):
                return self._pieces[0]
            return b"".join(self._pieces)
        with self._file as file:
            file.seek(0)
            return file.read()

    def stream(self) -> BinaryIO:
        """Return a file object over everything; closing it throws the spool away."""
        if self._file is None:
            return io.BytesIO(b"".join(self._pieces))
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Throw the content away."""
        self._pieces.clear()
        if self._file is not None:
            self._file.close()

    def _to_disk(self) -> BinaryIO:
        if self._file is None:
            # Closed by the reader of the content, or by `closed_on_error`.
            self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
            for piece in self._pieces:
                self._file.write(piece)
            self._pieces.clear()
        return self._file


@attrs.frozen
class SpoolBlob:
    """Verified content on its way into a store; the spool stays as it is."""

    spool: Spool

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return self.spool.size

    @property
    def digest(self) -> str:
        """The digest it was verified by."""
        return self.spool.digest

    def read(self) -> bytes:
        """Return everything."""
        return self.spool.stream().read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield everything."""
        stream = self.spool.stream()
        while chunk := stream.read(length):
            yield chunk
