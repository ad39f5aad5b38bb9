"""A file of this machine that stands for its content until it is sent."""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Self

import attrs

from messagebody.errors import InvalidPart, LocalFileChanged
from messagebody.text import quote

__all__ = ["LocalFile"]


@attrs.frozen
class LocalFile:
    """A file of this machine that a part stands for until it is offloaded or inlined.

    Size and time of change are taken when the file is added; a file that changed since is
    refused with `LocalFileChanged` when it is read.
    """

    path: Path
    size: int
    mtime_ns: int

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """Note the file at `path` as it is now.

        Raises:
            InvalidPart: there is no regular file at `path`.
        """
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps ".."
        try:
            status = absolute.stat()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InvalidPart(f"can't add local file {quote(str(path))}: {reason}") from error
        if stat.S_ISDIR(status.st_mode):
            raise InvalidPart(f"{quote(str(path))} is a directory; add its files, or pack it")
        if not stat.S_ISREG(status.st_mode):
            raise InvalidPart(f"{quote(str(path))} is no regular file")
        return cls(absolute, status.st_size, status.st_mtime_ns)

    def open(self) -> BinaryIO:
        """Open the file for reading if it is still the one that was added.

        Raises:
            LocalFileChanged: it is gone, or its size or time of change differ.
        """
        try:
            stream = open(self.path, "rb", opener=_open_without_waiting)  # noqa: SIM115
        except OSError as error:
            raise LocalFileChanged(str(self.path), error.strerror or str(error)) from error
        try:
            self.check(stream)
        except BaseException:
            stream.close()
            raise
        return stream

    def check(self, stream: BinaryIO) -> None:
        """Raise `LocalFileChanged` if the open file is not, or no longer, the one added."""
        now = os.fstat(stream.fileno())
        if not stat.S_ISREG(now.st_mode):
            raise LocalFileChanged(str(self.path), "it is no regular file any more")
        if now.st_size != self.size:
            problem = f"it had {self.size:,} bytes when it was added and has {now.st_size:,} now"
            raise LocalFileChanged(str(self.path), problem)
        if now.st_mtime_ns != self.mtime_ns:
            raise LocalFileChanged(str(self.path), "it was written to since it was added")

    def read_bytes(self) -> bytes:
        """Read the whole file; checked before and after."""
        with self.open() as stream:
            data = stream.read()
            self.check(stream)
            return data

    def digest(self) -> str:
        """Read the file once for its digest."""
        with self.open() as stream:
            import hashlib

            found = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
            self.check(stream)
        return "sha256:" + found.hexdigest()


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that took its place would otherwise wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
