"""A cache of verified content by digest, in a directory that processes can share."""

import contextlib
import os
import re
import stat
import time
from pathlib import Path
from typing import BinaryIO, Final

from messagebody._base.digests import Hasher, hex_digits
from messagebody._base.files import TEMPORARY, TEMPORARY_PATTERN, open_below
from messagebody._base.limits import CHUNK
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage._references.spool import Spool, SpoolBlob
from messagebody.storage._stores.blobs import Bytes
from messagebody.storage._stores.directory import FileStore

_TAG: Final = "CACHEDIR.TAG"
"""The file that marks a directory as a cache, also for backup programs: bford.info/cachedir."""
_MARK: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This directory is a cache of MessageBody: contents of references, by digest.\n"
)
_OWN: Final = re.compile(f"[0-9a-f]{{64}}|{TEMPORARY_PATTERN}")
"""Names of files that the cache creates, and may delete."""
_ABANDONED: Final = 24 * 3600.0
"""The age in seconds of a temporary file that a killed process has left."""

_Print = tuple[int, int, int, int, int]


class Cache:
    """Contents of references, each in a file named by its digest.

    Because names are digests, entries never become stale, and references to equal content share an
    entry. A file is hashed when a process first opens it, and again if it has changed since; a
    damaged file is deleted and counts as missing. A full cache evicts the least recently used
    content.

    Arguments:
        directory: a directory that does not exist, is empty, or is already a cache. Only its owner
            can use it.
        max_bytes: the maximum total size of the contents.

    Raises:
        StoreError: the directory has other files, other users may write into it, or another user
            owns it.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int) -> None:
        # Resolved, so that changing a link later does not change the directory.
        self.directory = Path(os.path.realpath(directory))
        self.max_bytes = max_bytes
        self._store = FileStore(self.directory)
        self._prints: dict[str, _Print] = {}
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_owner()
            self._claim()
        except OSError as error:
            raise self._failure(error.strerror or type(error).__name__) from error

    def _check_owner(self) -> None:
        status = self.directory.stat()
        # Another user with write access could change a file after it was hashed.
        if status.st_uid != os.geteuid():
            raise self._failure("the directory belongs to another user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise self._failure("others may write into the directory; chmod go-w, or use another")

    def _claim(self) -> None:
        """Mark an empty directory as a cache; raise an error if it is neither empty nor marked."""
        try:
            if b"".join(self._store.stream(_TAG)) == _MARK:
                return
        except ObjectNotFound:
            # Another process may be marking it at the same time.
            names = {path.name for path in self.directory.iterdir()} - {_TAG}
            if all(re.fullmatch(TEMPORARY_PATTERN, name) for name in names):
                self._store.put(_TAG, Bytes(_MARK), content_type="")
                return
        raise self._failure("the directory has other files; use an empty or a new one")

    def _failure(self, problem: str) -> StoreError:
        return StoreError(f"no cache of references: {problem}", self.directory.as_uri())

    def open(self, digest: str) -> BinaryIO | None:
        """Return a file object over verified content; None if it is not in the cache."""
        name = hex_digits(digest)
        try:
            descriptor = open_below(self.directory, [name])
        except OSError:
            return None
        try:
            if self._is_verified(descriptor, digest):
                return os.fdopen(descriptor, "rb")
        except OSError:
            pass  # a failing disk counts as missing content
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        with contextlib.suppress(StoreError):
            self._store.delete(name)
        return None

    def _is_verified(self, descriptor: int, digest: str) -> bool:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return False
        if self._prints.get(digest) == _print_of(status):
            return True
        hasher = Hasher()
        while block := os.read(descriptor, CHUNK):
            hasher.update(block)
        os.lseek(descriptor, 0, os.SEEK_SET)
        if hasher.digest != digest:
            return False
        # An unchanged file need not be hashed again; its ctime shows every change.
        self._prints[digest] = _print_of(status)
        return True

    def holds(self, digest: str, size: int | None) -> bool:
        """Return whether content is cached, or will be after it is read."""
        # Any content that fits will be cached, so a reader may wait until it is complete.
        if size is not None:
            return size <= self.max_bytes
        return (self.directory / hex_digits(digest)).exists()

    def keep(self, spool: Spool) -> None:
        """Add verified content; errors of the disk are ignored."""
        if spool.size > self.max_bytes:
            return
        name = hex_digits(spool.digest)
        with contextlib.suppress(StoreError):
            # A read must not fail because the cache can't be written.
            self._make_room(spool.size)
            self._store.put(name, SpoolBlob(spool), content_type="", if_absent=False)

    def _make_room(self, size: int) -> None:
        """Delete the least recently used contents until content of the given size fits."""
        kept: list[tuple[float, int, str]] = []
        with os.scandir(self.directory) as entries:
            for entry in entries:
                if not _OWN.fullmatch(entry.name):
                    continue
                with contextlib.suppress(FileNotFoundError):  # another process deleted it
                    status = entry.stat(follow_symlinks=False)
                    kept.append((_last_used(status, entry.name), status.st_size, entry.name))
        total = size + sum(each[1] for each in kept)
        for last_used, length, name in sorted(kept):
            if total <= self.max_bytes and last_used >= 0:
                break
            self._store.delete(name)
            total -= length


def _last_used(status: os.stat_result, name: str) -> float:
    """Return the time of the last use of a file; negative for a file of a killed process."""
    if name.startswith(TEMPORARY) and time.time() - status.st_mtime > _ABANDONED:
        return -1.0
    # Many file systems are mounted without access times; then use the modification time.
    return max(status.st_atime, status.st_mtime)


def _print_of(status: os.stat_result) -> _Print:
    """Return values that identify a version of a file; its ctime can't be set back."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
