"""Copies of many files: their targets by fsspec's rules, and parallel reads."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from fsspec import AbstractFileSystem

from messagebody._base.threads import results_in_order

_WORKERS = 16
"""Number of references that are read in parallel; each holds a connection."""
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Pairs:
    """A stand-in for a filesystem that records the copies of fsspec's `get`, `put` and `copy`.

    fsspec has the rules for the target of each file, but it copies the files one by one.

    Arguments:
        filesystem: the filesystem where paths are looked up.
    """

    def __init__(self, filesystem: Any) -> None:
        self._filesystem = filesystem
        self._strip_protocol = filesystem._strip_protocol
        self._files: set[str] = set()
        """The sources that are files."""
        self.pairs: list[tuple[str, str]] = []
        """Source and target of every file and directory."""

    def expand_path(self, *args: Any, **options: Any) -> list[str]:
        """Return the sources."""
        found: list[str] = self._filesystem.expand_path(*args, **options)
        self._note_files(found)
        return found

    def _note_files(self, sources: Iterable[str]) -> None:
        self._files |= {each for each in sources if self._filesystem.isfile(each)}

    def isdir(self, path: str) -> bool:
        """Return whether a path is a directory; a source that is a file, too, is to be copied."""
        return path not in self._files and bool(self._filesystem.isdir(path))

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Record a copy."""
        self.pairs.append((path1, path2))

    get_file = put_file = cp_file

    def note_copy(
        self, path1: Any, path2: Any, *, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Return the source and target paths of a copy that loses no file.

        Raises:
            FileExistsError: two files have the same target, or a path is both source and target.
            OSError: `EINVAL`: a directory would be inside itself.
        """
        AbstractFileSystem.copy(self, path1, path2, recursive, maxdepth, on_error="raise")
        strip = self._strip_protocol
        self.pairs = [(strip(old), strip(new)) for old, new in self.pairs]
        self._note_files(old for old, _ in self.pairs)
        self.refuse_clashes()
        self.refuse_loops()
        return self.pairs

    def note_get(
        self, rpath: Any, lpath: Any, *, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Return the source path and the local target of every file.

        Raises:
            FileExistsError: two files would be the same local file.
            NotADirectoryError: a local file would be a directory, too.
        """
        AbstractFileSystem.get(self, rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        self._note_files(old for old, _ in self.pairs)
        self.refuse_clashes()
        self._refuse_files_above()
        return self.pairs

    def note_put(
        self, lpath: Any, rpath: Any, *, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Return the local source and the target path of every file.

        Raises:
            FileExistsError: two files would have the same path.
        """
        AbstractFileSystem.put(self, lpath, rpath, recursive=recursive, maxdepth=maxdepth)
        self.refuse_clashes()
        return self.pairs

    def refuse_clashes(self) -> None:
        """Raise an error if two files have the same target, because one would be lost.

        Raises:
            FileExistsError: two files have the same target.
        """
        sources: dict[str, str] = {}
        for source, target in self.pairs:
            path = os.path.normpath(target)
            if sources.setdefault(path, source) != source:
                text = f"both {sources[path]} and {source} would be this file"
                raise FileExistsError(errno.EEXIST, text, target)

    def _refuse_files_above(self) -> None:
        files = {os.path.normpath(new): old for old, new in self.pairs if old in self._files}
        for source, target in self.pairs:
            for above in map(str, Path(os.path.normpath(target)).parents):
                if above in files:
                    text = f"{files[above]}: both a file and a directory, because of {source}"
                    raise NotADirectoryError(errno.ENOTDIR, text, files[above])

    def refuse_loops(self) -> None:
        """Raise an error if a copy would change a file that is still to be copied.

        Raises:
            OSError: `EINVAL`: a directory would be inside itself.
            FileExistsError: a target is also a source.
        """
        waiting = {source for source, _ in self.pairs}
        for source, target in self.pairs:
            waiting.discard(source)
            if target.startswith(f"{source.rstrip('/')}/") and self.isdir(source):
                raise OSError(errno.EINVAL, f"{source} would be inside itself", target)
            if target in waiting and not self.isdir(target):
                raise FileExistsError(errno.EEXIST, "the file is to be copied or moved too", target)


class FilesOnly:
    """A stand-in for a filesystem in which every path is a file, also if it is a directory, too.

    Arguments:
        filesystem: the filesystem to read.
    """

    def __init__(self, filesystem: Any) -> None:
        self.open = filesystem.open
        self.blocksize = filesystem.blocksize

    def isdir(self, path: str) -> bool:
        """Return False."""
        return False


def results_of_threads(
    act: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = _WORKERS
) -> Iterator[_Result]:
    """Yield the result of `act` for every item, in order, with several calls in parallel.

    At most `workers` results are buffered. After an error no further call begins.
    """
    with ThreadPoolExecutor(workers) as pool:
        yield from results_in_order(pool, act, items, ahead=workers)
