"""Directories of a page: parts by the directories of their names, so that each is said once."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Union

import attrs

from messagebody.rendering._limits import DEPTH, RUN

Entry = Union[int, "Directory"]
"""The position of a part, or a directory."""


@attrs.define
class Directory:
    """A directory of parts, or a run of entries of one.

    Arguments:
        prefix: what the names of all its parts begin with; empty at the top.
        entries: in the order in which the body has them.
        is_run: whether it only holds some of the entries of the directory around it.
    """

    prefix: str = ""
    entries: list[Entry] = attrs.Factory(list)
    is_run: bool = False

    def directories(self) -> Iterator["Directory"]:
        """Yield the directories in it, at any depth, each before those inside."""
        for entry in self.entries:
            if isinstance(entry, Directory):
                yield entry
                yield from entry.directories()

    def positions(self) -> Iterator[int]:
        """Yield the positions of all parts in it, at any depth."""
        for entry in self.entries:
            if isinstance(entry, Directory):
                yield from entry.positions()
            else:
                yield entry


def gathered(names: Iterable[str | None]) -> Directory:
    """Return the directories of the parts with these names.

    A directory of one entry is not a level of its own. Many entries are divided into runs.

    Examples:
        >>> found = gathered([None, "/logs/0/a", "/logs/0/b", "/c/d"])
        >>> [each.prefix if isinstance(each, Directory) else each for each in found.entries]
        [0, '/logs/0/', 3]
    """
    root = Directory()
    directories = {"": root}
    for position, name in enumerate(names):
        steps = [] if name is None else name.split("/")[1:-1][:DEPTH]
        _at(directories, steps).entries.append(position)
    return _divided(_lifted(root))


def _at(directories: dict[str, Directory], steps: Sequence[str]) -> Directory:
    """Return the directory at the end of several steps; directories that are missing are made."""
    directory, prefix = directories[""], "/"
    for step in steps:
        prefix += f"{step}/"
        if prefix not in directories:
            directories[prefix] = Directory(prefix)
            directory.entries.append(directories[prefix])
        directory = directories[prefix]
    return directory


def _lifted(directory: Directory) -> Directory:
    """Put the only entry of a directory in the place of that directory."""
    entries = [_lifted(each) if isinstance(each, Directory) else each for each in directory.entries]
    directory.entries = [
        each.entries[0] if isinstance(each, Directory) and len(each.entries) == 1 else each
        for each in entries
    ]
    return directory


def _divided(directory: Directory) -> Directory:
    """Divide long series of parts, and of directories, into runs."""
    entries: list[Entry] = []
    for is_part, group in groupby(directory.entries, lambda each: isinstance(each, int)):
        series = list(group)
        if not is_part:
            series = [_divided(each) for each in series if isinstance(each, Directory)]
        if len(series) > RUN:
            series = [
                Directory(directory.prefix, series[start : start + RUN], is_run=True)
                for start in range(0, len(series), RUN)
            ]
        entries += series
    directory.entries = entries
    return directory
