"""Copies of many files: which goes where by fsspec's rules, and several at a time."""

import contextlib
import errno
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from fsspec import AbstractFileSystem

from messagebody._base.threads import results_in_order

_WORKERS = 16
"""References that are read at once; each holds a connection."""
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Pairs:
    """A filesystem's face to fsspec's `get`, `put` and `copy`, which notes their copies.

    fsspec knows the rules of what goes where, and copies one file after the other.

    Arguments:
        filesystem: the filesystem in which paths are looked up.
    """

    def __init__(self, filesystem: Any) -> None:
        self.expand_path = filesystem.expand_path
        self.isdir = filesystem.isdir
        self._strip_protocol = filesystem._strip_protocol
        self.pairs: list[tuple[str, str]] = []
        """Source and target of every file and directory."""

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Note a copy."""
        self.pairs.append((path1, path2))

    get_file = put_file = cp_file

    def note_copy(
        self, path1: Any, path2: Any, *, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Return which path would go where; nothing would be lost on the way.

        Raises:
            FileExistsError: two files would have one path, or a path is both source and target.
            OSError: `EINVAL`: a directory would lie in itself.
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
        """Return which path would be which local file.

        Raises:
            FileExistsError: two files would be one local file.
        """
        AbstractFileSystem.get(self, rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        self.refuse_clashes()
        return self.pairs

    def note_put(
        self, lpath: Any, rpath: Any, *, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Return which local file would go to which path.

        Raises:
            FileExistsError: two files would have one path.
        """
        AbstractFileSystem.put(self, lpath, rpath, recursive=recursive, maxdepth=maxdepth)
        self.refuse_clashes()
        return self.pairs

    def refuse_clashes(self) -> None:
        """Refuse copies of two files to one path: one of them would be lost.

        Raises:
            FileExistsError: a path is the target of two files.
        """
        sources: dict[str, str] = {}
        for source, target in self.pairs:
            path = os.path.normpath(target)
            if sources.setdefault(path, source) != source:
                text = f"both {sources[path]} and {source} would be this file"
                raise FileExistsError(errno.EEXIST, text, target)

    def refuse_loops(self) -> None:
        """Refuse copies within one filesystem that would change files before they are copied.

        Raises:
            OSError: `EINVAL`: a directory would lie in itself.
            FileExistsError: a target is a source too.
        """
        waiting = {source for source, _ in self.pairs}
        for source, target in self.pairs:
            waiting.discard(source)
            if target.startswith(f"{source.rstrip('/')}/") and self.isdir(source):
                raise OSError(errno.EINVAL, f"{source} would lie in itself", target)
            if target in waiting and not self.isdir(target):
                raise FileExistsError(errno.EEXIST, "the file is to be copied or moved too", target)


class WholeTransfers(AbstractFileSystem):  # type: ignore[misc]
    """Copies and moves within a filesystem over a body: all or none."""

    @abstractmethod
    def _together(self) -> AbstractContextManager[None]:
        """Make all the changes inside, or none."""

    @abstractmethod
    def _check_there(self, path: str) -> None:
        """Check that there is a file or directory."""

    def copy(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        on_error: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Copy files and directories, all or none; see fsspec.

        Raises:
            FileExistsError: two files would have one path, or a path is both source and target.
            OSError: `EINVAL`: a directory would lie in itself.
        """
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        skips = on_error == "ignore" or (on_error is None and recursive)
        with self._together():
            for old, new in plan:
                with contextlib.suppress(*[FileNotFoundError] * skips):
                    self.cp_file(old, new)

    def _is_unmoved(self, path1: Any, path2: Any) -> bool:
        """Return whether a move leads to where its source is, which has to be there."""
        if not (isinstance(path1, str) and isinstance(path2, str)):
            return False
        source = self._strip_protocol(path1)
        if source != self._strip_protocol(path2):
            return False
        self._check_there(source)
        return True


def results_of_threads(
    act: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = _WORKERS
) -> Iterator[_Result]:
    """Yield what `act` returns for every item, in order, with several calls under way.

    At most `workers` results wait to be taken. After an error no further call begins.
    """
    with ThreadPoolExecutor(workers) as pool:
        yield from results_in_order(pool, act, items, ahead=workers)
