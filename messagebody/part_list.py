"""Ordered storage of parts with an index by name: the container behind a body.

Positions of the name index are slots that never move while parts are only added, replaced and
removed: a removed part leaves a hole, and holes are closed when a position is asked for. So
adding, finding and removing by name take constant time, whatever the size of the body.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from messagebody.errors import DuplicateName
from messagebody.record import PartRecord

__all__ = ["PartList"]


class PartList:
    """An ordered list of uniquely named parts."""

    __slots__ = ("_columns", "_holes", "_slot_of", "_slots", "shape")

    def __init__(self, records: Iterable[PartRecord] = ()) -> None:
        """Take records whose names the caller has checked to be unique."""
        self._slots: list[PartRecord | None] = list(records)
        self._slot_of: dict[str, int] | None = None
        self._holes = 0
        self._columns: tuple[list[str | None], list[str]] | None = None
        self.shape = 0
        """Counts changes of names other than those at the end, for whoever keeps an index."""

    def __len__(self) -> int:
        return len(self._slots) - self._holes

    def __iter__(self) -> Iterator[PartRecord]:
        return (record for record in self._slots if record is not None)

    def copy(self) -> Self:
        """Return a list of the same parts."""
        return type(self)(self)

    def records(self) -> list[PartRecord]:
        """Return all records in order; the list is the storage itself and not to be changed."""
        self._close_holes()
        return self._slots  # type: ignore[return-value]

    def columns(self) -> tuple[Sequence[str | None], Sequence[str]]:
        """Return all names and all content types, in order. Kept until the next change."""
        if self._columns is None:
            records = self.records()
            self._columns = (
                [record.name for record in records],
                [record.content_type for record in records],
            )
        return self._columns

    def names_from(self, slot: int) -> tuple[list[str], int]:
        """Return the names from a slot on, and the slot behind the last.

        While `shape` is the same, parts have only been added since: an index of names reads on
        where it left off.
        """
        names = [
            item.name for item in self._slots[slot:] if item is not None and item.name is not None
        ]
        return names, len(self._slots)

    # By position

    def at(self, position: int) -> PartRecord:
        """Return the part at a position from 0 to the length less one."""
        return self.records()[position]

    def insert(self, position: int, part: PartRecord) -> None:
        """Put a part before a position."""
        if position >= len(self):
            self.append(part)
            return
        self._refuse_taken(part.name)
        self._close_holes()
        self._slots.insert(position, part)
        self._slot_of = None
        self._changed()
        self.shape += 1

    def replace(self, position: int, part: PartRecord) -> None:
        """Put a part in the place of another."""
        self._close_holes()
        self.replace_slot(position, part)

    def remove(self, position: int) -> None:
        """Take out the part at a position."""
        self._close_holes()
        self.remove_slot(position)

    # By name

    def slot_of(self, name: str) -> int | None:
        """Return the slot of the part with a name."""
        if self._slot_of is None:
            self._slot_of = {
                item.name: slot
                for slot, item in enumerate(self._slots)
                if item is not None and item.name is not None
            }
        return self._slot_of.get(name)

    def in_slot(self, slot: int) -> PartRecord:
        """Return the part in a slot that `slot_of` gave."""
        record = self._slots[slot]
        assert record is not None  # noqa: S101 - slots come from slot_of
        return record

    def append(self, part: PartRecord) -> None:
        """Put a part at the end."""
        self._refuse_taken(part.name)
        if part.name is not None and self._slot_of is not None:
            self._slot_of[part.name] = len(self._slots)
        self._slots.append(part)
        self._changed()

    def replace_slot(self, slot: int, part: PartRecord) -> None:
        """Put a part in the place of the one in a slot."""
        old = self.in_slot(slot)
        if part.name != old.name:
            self._refuse_taken(part.name)
            if self._slot_of is not None:
                if old.name is not None:
                    del self._slot_of[old.name]
                if part.name is not None:
                    self._slot_of[part.name] = slot
            self.shape += 1
        self._slots[slot] = part
        self._changed()

    def remove_slot(self, slot: int) -> None:
        """Take out the part in a slot."""
        old = self.in_slot(slot)
        if old.name is not None and self._slot_of is not None:
            del self._slot_of[old.name]
        if slot == len(self._slots) - 1:
            self._slots.pop()
        else:
            self._slots[slot] = None
            self._holes += 1
        self._changed()
        self.shape += 1

    def positions_of(self, slots: Iterable[int]) -> list[int]:
        """Return the positions that slots have now."""
        if not self._holes:
            return list(slots)
        holes_before, count = [], 0
        for item in self._slots:
            holes_before.append(count)
            count += item is None
        return [slot - holes_before[slot] for slot in slots]

    def _refuse_taken(self, name: str | None) -> None:
        if name is not None and self.slot_of(name) is not None:
            raise DuplicateName(name)

    def _close_holes(self) -> None:
        if self._holes:
            self._slots = [item for item in self._slots if item is not None]
            self._slot_of = None
            self._holes = 0
            self.shape += 1

    def _changed(self) -> None:
        self._columns = None
