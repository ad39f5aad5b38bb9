"""Directories implied by names: what lies in each, in message order."""

from typing import Final

from messagebody.names import ancestors, parent
from messagebody.part_list import PartList

__all__ = ["Directories"]

_FILE: Final = False
_DIRECTORY: Final = True


class Directories:
    """The entries of every directory of a body.

    An entry is a path and whether it is a directory: `/a` may be both, beside `/a/b`. Parts that
    were added since are taken in one by one; any other change of names needs a new index.
    """

    __slots__ = ("_entries", "_parts", "_shape", "_slot")

    def __init__(self, parts: PartList) -> None:
        self._parts = parts
        self._shape = parts.shape
        self._slot = 0
        self._entries: dict[str, dict[tuple[str, bool], None]] = {"/": {}}

    def is_of(self, parts: PartList) -> bool:
        """Tell whether the index can still be brought in step with `parts`."""
        return self._parts is parts and self._shape == parts.shape

    def catch_up(self) -> None:
        """Take in the parts that were added since."""
        names, self._slot = self._parts.names_from(self._slot)
        entries = self._entries
        for name in names:
            # `parent(name)`, in place: this runs for every part before the first listing.
            directory = name[: name.rfind("/")] or "/"
            found = entries.get(directory)
            if found is None:
                found = self._entries_of(directory)
            found[name, _FILE] = None

    def _entries_of(self, directory: str) -> dict[tuple[str, bool], None]:
        found = self._entries.get(directory)
        if found is not None:
            return found
        missing = [directory]
        missing += [above for above in ancestors(directory) if above not in self._entries]
        for new in reversed(missing):
            self._entries[new] = {}
            self._entries[parent(new)][new, _DIRECTORY] = None
        return self._entries[directory]

    def __contains__(self, directory: object) -> bool:
        return directory in self._entries

    def entries(self, directory: str) -> list[tuple[str, bool]]:
        """Return the entries of a directory: paths, and whether each is a directory."""
        return list(self._entries[directory])
