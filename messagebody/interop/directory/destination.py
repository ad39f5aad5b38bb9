"""A directory that is written to without ever leaving it.

Every segment of a path is opened below its open parent, as openat(2) does, and never through a
symbolic link: whatever lies in the directory, or is put there meanwhile, leads nowhere else.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

__all__ = ["Destination", "folds_case"]

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Destination:
    """An open directory; leaving its block with an error takes back what was made."""

    def __init__(self, descriptor: int) -> None:
        self._root = descriptor
        self._made: list[tuple[str, ...]] = []
        self._replacing: list[tuple[tuple[str, ...], str]] = []

    @classmethod
    def at(cls, directory: Path) -> Self:
        """Open a directory that is there."""
        return cls(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    @classmethod
    def made(cls, directory: Path) -> Self:
        """Open a directory, made first if it isn't there."""
        directory.mkdir(parents=True, exist_ok=True)
        return cls.at(directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._take_back()
        os.close(self._root)

    def is_empty(self) -> bool:
        """Tell whether nothing lies in the directory."""
        with os.scandir(self._root) as scan:
            return next(scan, None) is None

    def obstacle(self, name: str, *, overwrite: bool) -> str | None:
        """Return what lies in the way of a file, None if nothing does."""
        *directories, leaf = name[1:].split("/")
        with contextlib.ExitStack() as stack:
            parent = self._root
            for directory in directories:
                mode = _mode(directory, parent)
                if mode is None:
                    return None
                if not stat.S_ISDIR(mode):
                    return (
                        f"'{directory}' there is {_kind(mode)}, so nothing can be written below it"
                    )
                parent = os.open(directory, _DIRECTORY_FLAGS, dir_fd=parent)
                stack.callback(os.close, parent)
            mode = _mode(leaf, parent)
        if mode is None or (overwrite and stat.S_ISREG(mode)):
            return None
        if stat.S_ISREG(mode):
            return "the file exists; unpack with overwrite to replace it"
        return f"it is {_kind(mode)} there, which is never replaced"

    @contextlib.contextmanager
    def create(self, name: str, *, replace: bool = False) -> Iterator[BinaryIO]:
        """Open a new file for writing.

        Arguments:
            name: the part name it goes by.
            replace: where a file exists, open another one, which `publish` puts in its place.
        """
        segments = tuple(name[1:].split("/"))
        with self._parent(segments) as parent:
            leaf = segments[-1]
            if replace and _mode(leaf, parent) is not None:
                leaf = f".messagebody-{secrets.token_hex(8)}"
                self._replacing.append((segments, leaf))
            descriptor = os.open(leaf, _NEW_FILE_FLAGS, 0o666, dir_fd=parent)
            self._made.append((*segments[:-1], leaf))
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            yield file

    def publish(self) -> None:
        """Put the files that replace others in their places, each at once."""
        for segments, temporary in self._replacing:
            with self._parent(segments) as parent:
                os.rename(temporary, segments[-1], src_dir_fd=parent, dst_dir_fd=parent)

    @contextlib.contextmanager
    def _parent(self, segments: tuple[str, ...], *, make: bool = True) -> Iterator[int]:
        """Open the directory a file lies in, making those that are missing."""
        parent = os.dup(self._root)
        try:
            for depth, directory in enumerate(segments[:-1], 1):
                if make and _mode(directory, parent) is None:
                    os.mkdir(directory, dir_fd=parent)
                    self._made.append(segments[:depth])
                below = os.open(directory, _DIRECTORY_FLAGS, dir_fd=parent)
                os.close(parent)
                parent = below
            yield parent
        finally:
            os.close(parent)

    def _take_back(self) -> None:
        for segments in reversed(self._made):
            # What can't be removed any more is somebody else's by now.
            with contextlib.suppress(OSError), self._parent(segments, make=False) as parent:
                mode = _mode(segments[-1], parent)
                remove = os.rmdir if mode is not None and stat.S_ISDIR(mode) else os.unlink
                remove(segments[-1], dir_fd=parent)


def folds_case(directory: Path) -> bool:
    """Tell whether a file system takes names that differ in case for one; writes nothing."""
    path = Path(os.path.abspath(directory))  # noqa: PTH100 - Path.absolute keeps ".."
    for existing in (path, *path.parents):
        other = existing.with_name(existing.name.swapcase()) if existing.name else existing
        if existing.exists() and other.name != existing.name:
            return other.exists() and other.samefile(existing)
    return False


def _mode(name: str, parent: int) -> int | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a directory",
        stat.S_IFREG: "a file",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")
