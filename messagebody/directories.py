"""Directories implied by names: what lies in each, in message order."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

__all__ = ["ROOT", "Directories"]

ROOT: Final = "/"
_rank = itemgetter(1)


class Directories:
    """The entries of every directory, kept in step with one name at a time.

    An entry is a path, and that of a directory ends in "/": so `/a` and `/a/` lie side by side
    where a body has both `/a` and `/a/b`. Entries rank in message order, a directory as the first
    name below it. Removing that name puts the rank in doubt, which is settled when somebody asks:
    a directory that is emptied name by name is not searched for its first name every time.

    Arguments:
        names: all names, in message order; None where there is none. Their positions rank them.
    """

    __slots__ = ("_doubtful", "_next", "_ranks", "listings")

    def __init__(self, names: Sequence[str | None]) -> None:
        self._ranks: dict[str, dict[str, int]] = {ROOT: {}}
        self._doubtful: set[str] = set()
        self._next = len(names)
        self.listings: dict[str, list[Any]] = {}
        """What was made of directories' entries, until something in the directory changes."""
        for rank, name in enumerate(names):
            if name is None:
                continue
            # `_enter`, in place: this runs for every part before the first listing.
            directory = name[: name.rfind("/") + 1]
            ranks = self._ranks.get(directory)
            if ranks is None:
                ranks = self._ranks[directory] = {}
                self._enter(directory, rank)
            ranks[name] = rank

    def __contains__(self, directory: str) -> bool:
        return directory in self._ranks

    def entries(self, directory: str) -> list[tuple[str, int]]:
        """Return the entries of a directory and their ranks, in message order."""
        self._settle(directory)
        return sorted(self._ranks[directory].items(), key=_rank)

    def add(self, name: str) -> None:
        """Take in a name behind all others."""
        self._enter(name, self._next)
        self._next += 1

    def remove(self, name: str) -> None:
        """Forget a name, and the directories that are empty without it."""
        entry = name
        while True:
            directory = _above(entry)
            ranks = self._ranks[directory]
            rank = ranks.pop(entry)
            self._doubtful.discard(entry)
            self.listings.pop(directory, None)
            if ranks or directory == ROOT:
                break
            del self._ranks[directory]
            entry = directory
        self._doubt(directory, rank)

    def rename(self, old: str, new: str) -> None:
        """Put a name in the place of another."""
        rank = self._ranks[_above(old)][old]
        self.remove(old)
        self._enter(new, rank)

    def touch(self, name: str) -> None:
        """Forget what was made of the directory of a name whose part is another now."""
        self.listings.pop(_above(name), None)

    def _enter(self, entry: str, rank: int) -> None:
        while entry != ROOT:
            directory = _above(entry)
            ranks = self._ranks.get(directory)
            if ranks is None:
                ranks = self._ranks[directory] = {}
            elif entry in ranks and ranks[entry] <= rank:
                return
            ranks[entry] = rank
            self._doubtful.discard(entry)
            self.listings.pop(directory, None)
            entry = directory

    def _doubt(self, directory: str, rank: int) -> None:
        """Mark the directories that ranked as a name that is gone."""
        while directory != ROOT:
            above = _above(directory)
            if self._ranks[above][directory] != rank:
                return
            self._doubtful.add(directory)
            self.listings.pop(above, None)
            directory = above

    def _settle(self, directory: str) -> None:
        """Rank the entries of a directory, deepest first, as what is below them now."""
        doubtful = [directory]
        for each in doubtful:
            doubtful += self._ranks[each].keys() & self._doubtful
        for each in reversed(doubtful[1:]):
            self._ranks[_above(each)][each] = min(self._ranks[each].values())
            self._doubtful.discard(each)


def _above(entry: str) -> str:
    """Return the directory an entry lies in."""
    return entry[: entry.rfind("/", 0, -1) + 1]
