"""A cache of verified content by digest: a directory that processes share."""

import contextlib
import os
import re
import stat
import time
from pathlib import Path
from typing import BinaryIO, Final

from messagebody._base.digests import Hasher, hex_digits
from messagebody._base.files import READ, TEMPORARY, TEMPORARY_PATTERN, open_parent
from messagebody._base.limits import CHUNK
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage._references.spool import Spool, SpoolBlob
from messagebody.storage._stores.base import Bytes
from messagebody.storage._stores.directory import FileStore

_TAG: Final = "CACHEDIR.TAG"
"""What marks a directory as a cache, for programs that make backups too: bford.info/cachedir."""
_MARK: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This directory is a cache of MessageBody: contents of references, by digest.\n"
)
_OWN: Final = re.compile(f"[0-9a-f]{{64}}|{TEMPORARY_PATTERN}")
"""Names of the files that a cache makes, and so may delete."""
_ABANDONED: Final = 24 * 3600.0
"""Seconds after which a temporary file is taken for one of a killed process."""

_Print = tuple[int, int, int, int, int]


class Cache:
    """Contents of references, each in a file that is named by its digest.

    The name says what the content is, so that nothing in the cache is ever out of date, and two
    references to equal content share it. A file is hashed when a process opens it first, and again
    whenever it was touched since; a damaged one is thrown away and counts as not there. When the
    cache is full, the content that was not read for longest goes.

    Arguments:
        directory: where: not there yet, empty, or a cache already. It is for its owner only.
        max_bytes: bytes of all contents together.

    Raises:
        StoreError: the directory holds other files, or others may write into it, or own it.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int) -> None:
        # The real directory, so that a link changed later leads nowhere else.
        self.directory = Path(os.path.realpath(directory))
        self.max_bytes = max_bytes
        self._store = FileStore(self.directory)
        self._prints: dict[str, _Print] = {}
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_owner()
            self._take()
        except OSError as error:
            raise self._failure(error.strerror or type(error).__name__) from error

    def _check_owner(self) -> None:
        status = self.directory.stat()
        # Another user who writes here could change a file after it was hashed, while it is read.
        if status.st_uid != os.geteuid():
            raise self._failure("the directory belongs to another user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise self._failure("others may write into the directory; chmod go-w, or take another")

    def _take(self) -> None:
        """Mark an empty directory as a cache; refuse any other that is not marked."""
        try:
            if b"".join(self._store.stream(_TAG)) == _MARK:
                return
        except ObjectNotFound:
            # Another process may be marking it just now.
            names = {path.name for path in self.directory.iterdir()} - {_TAG}
            if all(re.fullmatch(TEMPORARY_PATTERN, name) for name in names):
                self._store.put(_TAG, Bytes(_MARK), content_type="")
                return
        raise self._failure("the directory holds other files; take one that is empty or not there")

    def _failure(self, problem: str) -> StoreError:
        return StoreError(f"no cache of references: {problem}", self.directory.as_uri())

    def open(self, digest: str) -> BinaryIO | None:
        """Return a file object over content that is verified, None if it is not in the cache."""
        name = hex_digits(digest)
        try:
            with open_parent(self.directory, [name]) as handle:
                # Below the directory, and without following links: see `messagebody._base.files`.
                descriptor = os.open(name, READ, dir_fd=handle)
        except OSError:
            return None
        try:
            if self._is_verified(descriptor, digest):
                return os.fdopen(descriptor, "rb")
        except OSError:
            pass  # a disk that fails is a cache without the content
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
        # An untouched file need not be hashed again; the time of change shows every touch.
        self._prints[digest] = _print_of(status)
        return True

    def holds(self, digest: str, size: int | None) -> bool:
        """Return whether content is here, or would be kept once it is read."""
        # Any content that fits will be kept, so a reader may wait for the whole of it.
        if size is not None:
            return size <= self.max_bytes
        return (self.directory / hex_digits(digest)).exists()

    def keep(self, spool: Spool) -> None:
        """Keep content that was verified; a disk that is full leaves the cache as it was."""
        if spool.size > self.max_bytes:
            return
        name = hex_digits(spool.digest)
        with contextlib.suppress(StoreError):
            # A read does not fail because the cache can't be written.
            self._make_room(spool.size)
            self._store.put(name, SpoolBlob(spool), content_type="", if_absent=False)

    def _make_room(self, size: int) -> None:
        """Delete the least recently used contents until content of a size fits."""
        kept: list[tuple[float, int, str]] = []
        with os.scandir(self.directory) as entries:
            for entry in entries:
                if not _OWN.fullmatch(entry.name):
                    continue
                with contextlib.suppress(FileNotFoundError):  # another process was faster
                    status = entry.stat(follow_symlinks=False)
                    kept.append((_last_used(status, entry.name), status.st_size, entry.name))
        total = size + sum(each[1] for each in kept)
        for last_used, length, name in sorted(kept):
            if total <= self.max_bytes and last_used >= 0:
                break
            self._store.delete(name)
            total -= length


def _last_used(status: os.stat_result, name: str) -> float:
    """Return when a file was used last; negative for the temporary of a killed process."""
    if name.startswith(TEMPORARY) and time.time() - status.st_mtime > _ABANDONED:
        return -1.0
    # Many systems are mounted without access times; then the time of writing has to do.
    return max(status.st_atime, status.st_mtime)


def _print_of(status: os.stat_result) -> _Print:
    """Return what changes when a file is written to: the time of change cannot be put back."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
