"""A directory as a store, with atomic writes.

An object is written to a temporary file in its final directory, flushed to disk, and linked to its
key. So readers see the complete object or none, a killed process leaves a temporary file and never
half an object, and no symbolic link is followed.
"""

import contextlib
import errno
import io
import os
import stat as modes
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from messagebody._base.digests import digest_of_stream
from messagebody._base.files import open_below, open_parent, read_at_most, write_below
from messagebody._base.limits import CHUNK
from messagebody.errors import AccessDenied, MessageBodyError, ObjectNotFound, StoreError
from messagebody.storage._stores.base import Stat, Store, segments_of
from messagebody.storage._stores.blobs import Blob

_LONGEST: Final = 4_096
"""Characters of the longest path that most systems can name."""


class FileStore(Store):
    """Objects as files below a directory, which is created by the first write.

    Arguments:
        root: the directory.
    """

    reads_back = True

    def __init__(self, root: str | os.PathLike[str]) -> None:
        # Resolved once: the directory may be a link, because the application chose it, but paths
        # below it may not.
        self.root = Path(os.path.realpath(os.fspath(root)))
        self.url = "file://" + self.root.as_uri().removeprefix("file://").rstrip("/")

    def key_of(self, path: str) -> str | None:
        """Return the key of an absolute path after resolving links; None if it is outside."""
        real = os.path.realpath(path)
        prefix = f"{self.root}/" if str(self.root) != "/" else "/"
        return real.removeprefix(prefix) if real.startswith(prefix) else None

    def stat(self, key: str) -> Stat | None:
        """Return the metadata of a regular file; a link or a directory is not an object."""
        with self._translated(key):
            try:
                with self._directory(key) as (directory, name):
                    return _stat(key, name, directory)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:  # noqa: ARG002
        """Write to a temporary file and link it to the key, so that the write is atomic."""
        with self._translated(key):
            segments = segments_of(key, self.url)
            return write_below(self.root, segments, blob.buffers(CHUNK), replaces=not if_absent)

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return a range of a file."""
        with self._translated(key), self._open(key) as stream:
            stream.seek(start)
            return read_at_most(stream, end - start - 1)

    def stream(self, key: str) -> Iterator[bytes]:
        """Yield the content of a file in order."""
        with self._translated(key), self._open(key) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk

    def measure(self, key: str) -> tuple[int, str]:
        """Read a file, and return its size and digest."""
        with self._translated(key), self._open(key) as stream:
            digest = digest_of_stream(stream)
            return stream.tell(), digest

    def iter_objects(self) -> Iterator[Stat]:
        """Yield every regular file below the root; links are not followed."""
        # Each directory is opened once, without links; opening it for each of its files takes seven
        # times as long. No recursion, because strangers may nest directories a thousand deep.
        directories = [""]
        while directories:
            below = directories.pop()
            try:
                with open_parent(self.root, below.split("/")) as handle:
                    names, found = _entries(handle, below)
            except OSError:
                continue  # it is gone or may not be read
            directories += [f"{below}{name}/" for name in names if len(below) < _LONGEST]
            yield from found

    def iter_links(self) -> Iterator[str]:
        """Yield the key of every symbolic link below the root, to a file or to a directory."""
        for directory, *names in os.walk(self.root):
            for name in (each for listed in names for each in listed):
                path = Path(directory, name)
                if path.is_symlink():
                    yield path.relative_to(self.root).as_posix()

    def delete(self, key: str) -> None:
        """Delete a file."""
        missing = contextlib.suppress(FileNotFoundError)
        with self._translated(key), missing, self._directory(key) as (directory, name):
            os.unlink(name, dir_fd=directory)

    @contextlib.contextmanager
    def _directory(self, key: str) -> Iterator[tuple[int, str]]:
        """Open the directory of `key` segment by segment, without following links."""
        segments = segments_of(key, self.url)
        with open_parent(self.root, segments) as handle:
            yield handle, segments[-1]

    @contextlib.contextmanager
    def _open(self, key: str) -> Iterator[io.FileIO]:
        handle = open_below(self.root, segments_of(key, self.url))
        with io.FileIO(handle, "rb") as stream:
            # Check the open file, because the name can change between a check and `open`.
            if not modes.S_ISREG(os.fstat(handle).st_mode):
                raise ObjectNotFound("not a regular file", self.url, key)
            yield stream

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except MessageBodyError:
            raise
        except OSError as error:
            raise self._error(error, key) from error

    def _error(self, error: OSError, key: str) -> StoreError:
        if error.errno in {errno.ENOENT, errno.ENOTDIR}:
            return ObjectNotFound(store=self.url, key=key)
        # The error of `O_NOFOLLOW` for a link.
        if error.errno == errno.ELOOP:
            return ObjectNotFound("a symbolic link, which is not followed", self.url, key)
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            return AccessDenied(error.strerror or "access denied", self.url, key)
        return StoreError(error.strerror or type(error).__name__, self.url, key)


def open_url(url: str) -> FileStore:
    """Open the store at a `file:///absolute/path` URL."""
    parts = urlsplit(url)
    path = os.fsdecode(unquote_to_bytes(parts.path))
    has_more = parts.netloc not in {"", "localhost"} or parts.query or parts.fragment
    if has_more or not path.startswith("/") or "\x00" in path:
        raise StoreError("a file store is file:///absolute/path", "file://")
    return FileStore(path)


def _entries(directory: int, below: str) -> tuple[list[str], list[Stat]]:
    """Return the directories and the regular files in an open directory, each once."""
    # POSIX lets a directory name an entry twice that is renamed while it is read.
    names, found = set(), {}
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                names.add(entry.name)
            elif stat := _stat(below + entry.name, entry.name, directory):
                found[entry.name] = stat
    return [*names], [*found.values()]


def _stat(key: str, name: str, directory: int) -> Stat | None:
    """Return the metadata of a file in an open directory; None for a link, a FIFO or nothing."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not modes.S_ISREG(status.st_mode):
        return None
    return Stat(key, status.st_size, status.st_mtime, version=str(status.st_ctime_ns))
