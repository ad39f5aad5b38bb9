"""The parts of a body, indexed by position, name and directory."""

import contextlib

# Not `threading.RLock`, which Temporal forbids in workflows, where bodies are arguments.
from _thread import RLock
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Final

import attrs

from messagebody._wire.members import PartRecord
from messagebody.errors import DuplicateName

ROOT: Final = "/"
_rank = itemgetter(1)
_name, _content_type = attrgetter("name"), attrgetter("content_type")


class Directories:
    """The entries of every directory, updated one name at a time.

    An entry is a path, and the path of a directory ends in "/". So a body with both `/a` and `/a/b`
    has the entries `/a` and `/a/`. Entries are ranked in message order, and a directory has the
    rank of the first name below it. When that name is removed, the rank is marked as unknown and
    computed only when it is needed, so that emptying a directory name by name does not search for
    the first name every time.

    Arguments:
        names: all names, in message order; None for an unnamed part. Positions become ranks.
    """

    __slots__ = ("_doubtful", "_next", "_ranks", "listings")

    def __init__(self, names: Sequence[str | None]) -> None:
        self._ranks: dict[str, dict[str, int]] = {ROOT: {}}
        self._doubtful: set[str] = set()
        self._next = len(names)
        self.listings: dict[str, list[Any]] = {}
        """Cached listings by directory, dropped when something in the directory changes."""
        for rank, name in enumerate(names):
            if name is None:
                continue
            # `add`, inlined, because this runs for every part before the first listing.
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

    def below(self, directory: str) -> list[tuple[str, int]]:
        """Return all names below a directory and their ranks, in message order."""
        found = []
        directories = [directory]
        for each in directories:
            for entry, rank in self._ranks[each].items():
                if entry[-1] == "/":
                    directories.append(entry)
                else:
                    found.append((entry, rank))
        found.sort(key=_rank)
        return found

    def paths(self, directory: str) -> list[str]:
        """Return the directory itself, unless it is the root, and all directories below it."""
        if directory == ROOT:
            return [each[:-1] for each in self._ranks if each != ROOT]
        found = [directory] if directory in self._ranks else []
        for each in found:
            found += [entry for entry in self._ranks[each] if entry[-1] == "/"]
        return [each[:-1] for each in found]

    def add(self, name: str) -> None:
        """Add a name after all others."""
        directory = name[: name.rfind("/") + 1]
        ranks = self._ranks.get(directory)
        if ranks is None:
            ranks = self._ranks[directory] = {}
            self._enter(directory, self._next)
        # Otherwise the directory has the rank of an earlier name, and its parents don't change.
        ranks[name] = self._next
        self.listings.pop(directory, None)
        self._next += 1

    def restore(self, name: str, rank: int) -> None:
        """Add a removed name again, at the rank that `remove` returned."""
        self._enter(name, rank)

    def remove(self, name: str) -> int:
        """Remove a name, and the directories that become empty; return its rank."""
        entry = name
        own = self._ranks[_above(name)][name]
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
        return own

    def rename(self, old: str, new: str) -> None:
        """Replace a name by another, at the same rank."""
        self._enter(new, self.remove(old))

    def touch(self, name: str) -> None:
        """Drop the listing of the directory of a name whose part has changed."""
        self.listings.pop(_above(name), None)

    def _enter(self, entry: str, rank: int) -> None:
        while entry != ROOT:
            directory = _above(entry)
            ranks = self._ranks.get(directory)
            if ranks is None:
                ranks = self._ranks[directory] = {}
            # The directory has the rank of an earlier name, so its parents don't change either.
            elif entry in ranks and ranks[entry] <= rank:
                return
            ranks[entry] = rank
            self._doubtful.discard(entry)
            self.listings.pop(directory, None)
            entry = directory

    def _doubt(self, directory: str, rank: int) -> None:
        """Mark the directories that had the rank of a removed name."""
        while directory != ROOT:
            above = _above(directory)
            if self._ranks[above][directory] != rank:
                return
            self._doubtful.add(directory)
            self.listings.pop(above, None)
            directory = above

    def _settle(self, directory: str) -> None:
        """Rank the entries of a directory by the names that are now below them."""
        doubtful = [directory]
        for each in doubtful:
            doubtful += self._ranks[each].keys() & self._doubtful
        # Deepest first, because a directory has the rank of the first name below it.
        for each in reversed(doubtful[1:]):
            self._ranks[_above(each)][each] = min(self._ranks[each].values())
            self._doubtful.discard(each)


def _above(entry: str) -> str:
    """Return the directory that contains an entry."""
    return entry[: entry.rfind("/", 0, -1) + 1]


@attrs.define(eq=False)
class Columns:
    """A snapshot of all parts, with their names and content types, and the names there are."""

    records: list[PartRecord]
    names: list[str | None]
    types: list[str]
    named: list[str]


Entries = list[tuple[str, PartRecord | None]]


class PartList:
    """An ordered list of uniquely named parts."""

    __slots__ = ("_columns", "_directories", "_holes", "_slot_of", "_slots", "_undo", "lock")

    def __init__(self, records: list[Any]) -> None:
        """Take ownership of a list of records; the caller has checked that names are unique."""
        self._slots: list[PartRecord | None] = records
        self._slot_of: dict[str | None, int] | None = None
        self._holes = 0
        self._columns: Columns | None = None
        self._directories: Directories | None = None
        self.lock = RLock()
        """Held during each call; hold it around several calls to make them atomic."""
        self._undo: list[Callable[[], None]] | None = None

    def __len__(self) -> int:
        with self.lock:
            return len(self._slots) - self._holes

    def __iter__(self) -> Iterator[PartRecord]:
        # No lock while a caller iterates: insertions make a new list instead of moving records.
        return filter(None, self._slots)

    def only(self) -> PartRecord | None:
        """Return the only record, None if there are others or were some."""
        slots = self._slots
        return slots[0] if len(slots) == 1 else None

    def records(self, chosen: slice = slice(None)) -> list[PartRecord]:
        """Return a copy of the records, or of some of them, in order."""
        with self.lock:
            if self._holes:
                self._close_holes()
            return self._slots[chosen]  # type: ignore[return-value]

    def columns(self) -> Columns:
        """Return all parts, names and content types, in order; cached until the next change."""
        columns = self._columns
        if columns is None:
            with self.lock:
                if self._holes:
                    self._close_holes()
                records: list[Any] = self._slots.copy()
                names = [*map(_name, records)]
                named = [*filter(None, names)]
                # Held once where every part has a name.
                named = names if len(named) == len(names) else named
                columns = Columns(records, names, [*map(_content_type, records)], named)
                self._columns = columns
        return columns

    # By position

    def at(self, position: int) -> PartRecord:
        """Return the part at a position; a negative one counts from the end."""
        with self.lock:
            if self._holes:
                self._close_holes()
            return self._slots[position]  # type: ignore[return-value]

    def insert(self, position: int, part: PartRecord) -> None:
        """Insert a part before a position."""
        with self.lock:
            if position >= len(self):
                self.append(part)
                return
            self._refuse_taken(part.name)
            self._close_holes()
            self._note(self._put_back, self._slots, 0)
            # A new list, so that running iterations over the old one don't see a part twice.
            self._slots = [*self._slots[:position], part, *self._slots[position:]]
            self._slot_of = self._directories = self._columns = None

    def replace(self, position: int, part: PartRecord) -> None:
        """Replace the part at a position."""
        with self.lock:
            self._close_holes()
            self._replace(position, part)

    def remove(self, position: int) -> None:
        """Remove the part at a position."""
        with self.lock:
            self._close_holes()
            self._remove(position)

    # By name

    def find(self, name: str) -> PartRecord | None:
        """Return the part with a name, or None."""
        with self.lock:
            slot = self._slot_by_name().get(name)
            return None if slot is None else self._slots[slot]

    def blocker(self, name: str) -> str | None:
        """Return the entry that prevents a new file with a name, or None.

        It is the name itself if a part has it, the name and "/" if it is a directory, or a parent
        directory of the name that is also the name of a part.
        """
        with self.lock:
            taken = self._slot_by_name()
            if name in taken:
                return name
            if (directory := f"{name}/") in self._index():
                return directory
            # `ancestors`, inlined, because this runs for every small write.
            end = name.rfind("/")
            while end > 0:
                if (above := name[:end]) in taken:
                    return above
                end = name.rfind("/", 0, end)
            return None

    def position_of(self, name: str) -> int | None:
        """Return the position of the part with a name, or None."""
        with self.lock:
            self._close_holes()
            return self._slot(name)

    def append(self, part: PartRecord) -> None:
        """Add a part at the end."""
        with self.lock:
            self._refuse_taken(part.name)
            self._add(part)

    def extend(self, parts: Sequence[PartRecord]) -> None:
        """Add parts at the end, or none of them if a name is already taken."""
        with self.lock:
            names = [part.name for part in parts if part.name is not None]
            if len({*names}) < len(names):
                raise DuplicateName(
                    next(name for name, count in Counter(names).items() if count > 1)
                )
            if self._slots:
                for name in names:
                    self._refuse_taken(name)
            for part in parts:
                self._add(part)

    def put(self, name: str, make: Callable[[PartRecord | None], PartRecord]) -> None:
        """Replace the part with a name, or add one at the end if there is none.

        Arguments:
            name: the name of the part.
            make: a function that returns the new part, given the old part or None.
        """
        with self.lock:
            slot = self._slot_by_name().get(name)
            if slot is None:
                self._add(make(None))
            else:
                self._replace(slot, make(self._held(slot)))

    def replace_named(self, name: str, part: PartRecord) -> bool:
        """Replace the part with a name, and return whether it exists."""
        with self.lock:
            slot = self._slot(name)
            if slot is not None:
                self._replace(slot, part)
            return slot is not None

    def remove_named(self, name: str) -> bool:
        """Remove the part with a name, and return whether it existed."""
        with self.lock:
            slot = self._slot(name)
            if slot is not None:
                self._remove(slot)
            return slot is not None

    # By directory

    def is_directory(self, directory: str) -> bool:
        """Return whether a directory, given with a trailing "/", has names below it."""
        with self.lock:
            return directory in self._index()

    def directories(self, directory: str) -> list[str]:
        """Return a directory, given with a trailing "/", and all those below it, unordered."""
        with self.lock:
            return self._index().paths(directory)

    def below(self, directory: str) -> list[PartRecord]:
        """Return the parts below a directory, given with a trailing "/", in message order.

        The cost depends on the number of parts found, not on the size of the body.
        """
        with self.lock:
            index = self._index()
            if directory not in index:
                return []
            found = (self._ranked(name, rank) for name, rank in index.below(directory))
            return [record for record in found if record is not None]

    def listing(self, directory: str, make: Callable[[Entries], list[Any]]) -> list[Any] | None:
        """Return the result of `make` for a directory's entries; None if it does not exist.

        The result is cached until something in the directory changes. It is shared, so don't modify
        it.

        Arguments:
            directory: the directory, with a trailing "/".
            make: a function of the entries, in message order: the path and the part for a file, the
                path with a trailing "/" and None for a directory.
        """
        index = self._directories
        found = None if index is None else index.listings.get(directory)
        if found is None:
            with self.lock:
                index = self._index()
                if directory in index:
                    entries = [
                        (path, None if path[-1] == "/" else self._ranked(path, rank))
                        for path, rank in index.entries(directory)
                    ]
                    found = index.listings[directory] = make(entries)
        return found

    # Transactions

    @contextlib.contextmanager
    def all_or_nothing(self) -> "Iterator[PartList]":
        """Make several changes in a transaction; an error rolls them back.

        Each change records how to undo it, so the cost does not depend on the size of the body.
        """
        with self.lock:
            # Nested: the outer transaction also rolls back the changes of the inner one.
            around, self._undo = self._undo, []
            try:
                yield self
            except BaseException:
                self._roll_back()
                raise
            else:
                if around is not None:
                    around += self._undo
            finally:
                self._undo = around

    # Internal, called under the lock

    def _add(self, part: PartRecord) -> None:
        if part.name is not None:
            if self._slot_of is not None:
                self._slot_of[part.name] = len(self._slots)
            if self._directories is not None:
                self._directories.add(part.name)
        self._slots.append(part)
        self._columns = None
        if self._undo is not None:
            self._undo.append(partial(self._remove, len(self._slots) - 1))

    def _note(self, undo: Callable[..., None], *arguments: Any) -> None:
        """Record how to undo a change, inside a transaction."""
        if self._undo is not None:
            self._undo.append(partial(undo, *arguments))

    def _roll_back(self) -> None:
        # Undoing also makes changes, which must not be recorded.
        recorded, self._undo = self._undo or [], None
        for undo in reversed(recorded):
            undo()

    def _put_back(self, slots: list[PartRecord | None], holes: int) -> None:
        """Restore the list that a change has replaced by a new one."""
        self._slots, self._holes = slots, holes
        self._slot_of = self._directories = self._columns = None

    def _slot(self, name: str) -> int | None:
        return self._slot_by_name().get(name)

    def _slot_by_name(self) -> dict[str | None, int]:
        slots = self._slot_of
        if slots is None:
            names = self._names()
            slots = self._slot_of = dict(zip(names, range(len(names)), strict=True))
            slots.pop(None, None)
        return slots

    def _names(self) -> list[str | None]:
        return [None if item is None else item.name for item in self._slots]

    def _index(self) -> Directories:
        if self._directories is None:
            self._directories = Directories(self._names())
        return self._directories

    def _ranked(self, name: str, rank: int) -> PartRecord | None:
        """Return the part with a name; its rank is its slot unless holes were closed."""
        record = self._slots[rank] if rank < len(self._slots) else None
        return record if record is not None and record.name == name else self.find(name)

    def _replace(self, slot: int, part: PartRecord) -> None:
        old, new = self._name_in(slot), part.name
        if new != old:
            self._refuse_taken(new)
        self._note(self._replace, slot, self._held(slot))
        self._slots[slot] = part
        self._columns = None
        if new == old:
            if new is not None and self._directories is not None:
                self._directories.touch(new)
            return
        if self._slot_of is not None:
            self._slot_of.pop(old or "", None)
            if new is not None:
                self._slot_of[new] = slot
        self._rename_in_directories(old, new)

    def _rename_in_directories(self, old: str | None, new: str | None) -> None:
        if self._directories is None:
            return
        if old is None:
            self._directories = None  # the rank among the other names is unknown
        elif new is None:
            self._directories.remove(old)
        else:
            self._directories.rename(old, new)

    def _remove(self, slot: int) -> None:
        name, index, rank = self._name_in(slot), self._directories, 0
        if name is not None:
            if self._slot_of is not None:
                del self._slot_of[name]
            if index is not None:
                rank = index.remove(name)
        self._note(self._restore, slot, self._held(slot), index, rank)
        # A hole keeps the slots of other parts, so that removing many parts is not quadratic.
        if slot == len(self._slots) - 1:
            self._slots.pop()
        else:
            self._slots[slot] = None
            self._holes += 1
        self._columns = None

    def _restore(self, slot: int, record: PartRecord, index: Directories | None, rank: int) -> None:
        """Put a part back into its old slot."""
        if slot == len(self._slots):
            self._slots.append(record)
        else:
            self._slots[slot] = record
            self._holes -= 1
        self._columns = None
        if record.name is None:
            return
        if self._slot_of is not None:
            self._slot_of[record.name] = slot
        if index is not None and index is self._directories:
            index.restore(record.name, rank)
        else:
            self._directories = None  # ranks are only valid in the index that they come from

    def _name_in(self, slot: int) -> str | None:
        return self._held(slot).name

    def _held(self, slot: int) -> PartRecord:
        record = self._slots[slot]
        assert record is not None  # noqa: S101 - a hole has no name and no position
        return record

    def _refuse_taken(self, name: str | None) -> None:
        if name is not None and self._slot(name) is not None:
            raise DuplicateName(name)

    def _close_holes(self) -> None:
        if self._holes:
            self._note(self._put_back, self._slots, self._holes)
            self._slots = [item for item in self._slots if item is not None]
            self._slot_of = None
            self._holes = 0
