"""Copies of many files: their targets by fsspec's rules, and parallel reads."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
        self.expand_path = filesystem.expand_path
        self.isdir = filesystem.isdir
        self._strip_protocol = filesystem._strip_protocol
        self.pairs: list[tuple[str, str]] = []
        """Source and target of every file and directory."""

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
        self.refuse_clashes()
        self.refuse_loops()
        return self.pairs

    def note_get(
        self, rpath: Any, lpath: Any, *, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Return the source path and the local target of every file.

        Raises:
            FileExistsError: two files would be the same local file.
        """
        AbstractFileSystem.get(self, rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        self.refuse_clashes()
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


def results_of_threads(
    act: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = _WORKERS
) -> Iterator[_Result]:
    """Yield the result of `act` for every item, in order, with several calls in parallel.

    At most `workers` results are buffered. After an error no further call begins.
    """
    with ThreadPoolExecutor(workers) as pool:
        yield from results_in_order(pool, act, items, ahead=workers)
