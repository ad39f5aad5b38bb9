"""Content that is kept until it is verified: in memory while small, then in a private file."""

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from messagebody.digests import Hasher
from messagebody.errors import StoreError

IN_MEMORY = 8 * 1024 * 1024
"""Bytes kept in memory; more go to a temporary file that only this process can open."""


class Spool:
    """Content on its way in: written once, hashed as it comes, then read from the start."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._file: BinaryIO | None = None
        self._hasher = Hasher()
        self.size = 0
        self.verified = False

    @classmethod
    @contextlib.contextmanager
    def guarded(cls) -> Iterator["Spool"]:
        """Make a spool that is thrown away if the block fails."""
        spool = cls()
        try:
            yield spool
        except BaseException:
            spool.close()
            raise

    @property
    def digest(self) -> str:
        """The digest of what was written."""
        return self._hasher.digest

    def write(self, data: bytes) -> None:
        """Add bytes at the end."""
        self._hasher.update(data)
        self.size += len(data)
        if self._file is None and self.size <= IN_MEMORY:
            self._chunks.append(data)
            return
        try:
            self._to_disk().write(data)
        except OSError as error:
            raise StoreError(
                f"can't keep the content in a temporary file: {error.strerror or error}"
            ) from error

    def read(self) -> bytes:
        """Return everything and throw the spool away."""
        if self._file is None:
            return self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        with self._file as file:
            file.seek(0)
            return file.read()

    def stream(self) -> BinaryIO:
        """Return a file object over everything; closing it throws the spool away."""
        if self._file is None:
            return io.BytesIO(b"".join(self._chunks))
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Throw the content away."""
        self._chunks.clear()
        if self._file is not None:
            self._file.close()

    def _to_disk(self) -> BinaryIO:
        if self._file is None:
            # Closed by whoever takes the content, or by `guarded`.
            self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
            for chunk in self._chunks:
                self._file.write(chunk)
            self._chunks.clear()
        return self._file
