"""Copies of many files: which goes where by fsspec's rules, and several at a time."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from messagebody._threads import results_in_order

_WORKERS = 16
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Pairs:
    """A filesystem's face to fsspec's `get` and `copy`, which notes what they would copy.

    fsspec knows the rules of what goes where, and copies one file after the other.

    Arguments:
        filesystem: what the paths are looked up in.
    """

    def __init__(self, filesystem: Any) -> None:
        self.expand_path = filesystem.expand_path
        self.isdir = filesystem.isdir
        self.pairs: list[tuple[str, str]] = []
        """Source and target of every file and directory."""

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Note a copy."""
        self.pairs.append((path1, path2))

    get_file = cp_file


def results_of_threads(
    act: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = _WORKERS
) -> Iterator[_Result]:
    """Yield what `act` returns for every item, in order, with several calls under way.

    At most `workers` results wait to be taken. After an error no further call begins.
    """
    with ThreadPoolExecutor(workers) as pool:
        yield from results_in_order(pool, act, items, ahead=workers)
