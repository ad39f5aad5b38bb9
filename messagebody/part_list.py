"""Ordered storage of parts with an index by name: the container behind a body.

Positions of the name index are slots that never move while parts are only added, replaced and
removed: a removed part leaves a hole, and holes are closed when a position is asked for. So
adding, finding and removing by name take constant time, whatever the size of the body.

What is stored is a part, or a record a decoder left: something with `name` and `content_type`
whose `to_part()` makes the part. A record becomes a part when it is first asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, Self

from messagebody.errors import DuplicateName
from messagebody.part import Part

__all__ = ["PartList", "Record"]


class Record(Protocol):
    """A part a decoder has checked but not made."""

    @property
    def name(self) -> str | None:
        """The part's name."""

    @property
    def content_type(self) -> str:
        """The part's content type."""

    def to_part(self) -> Part:
        """Make the part."""


class PartList:
    """An ordered list of uniquely named parts."""

    __slots__ = ("_columns", "_holes", "_slot_of", "_slots", "version")

    def __init__(self, items: Iterable[Part | Record] = ()) -> None:
        """Take items whose names the caller has checked to be unique."""
        self._slots: list[Part | Record | None] = list(items)
        self._slot_of: dict[str, int] | None = None
        self._holes = 0
        self._columns: tuple[list[str | None], list[str]] | None = None
        self.version = 0
        """Counts changes, for whoever keeps something derived."""

    def __len__(self) -> int:
        return len(self._slots) - self._holes

    def __iter__(self) -> Iterator[Part]:
        slot = 0
        while slot < len(self._slots):
            if self._slots[slot] is not None:
                yield self._part(slot)
            slot += 1

    def copy(self) -> Self:
        """Return a list of the same parts."""
        return type(self)(self.items())

    def items(self) -> Iterator[Part | Record]:
        """Yield what is stored, without making parts of records."""
        return (item for item in self._slots if item is not None)

    def columns(self) -> tuple[Sequence[str | None], Sequence[str]]:
        """Return all names and all content types, in order. Kept until the next change."""
        if self._columns is None:
            self._close_holes()
            items: list[Part | Record] = self._slots  # type: ignore[assignment]
            self._columns = [item.name for item in items], [item.content_type for item in items]
        return self._columns

    # By position

    def at(self, position: int) -> Part:
        """Return the part at a position from 0 to the length less one."""
        self._close_holes()
        return self._part(position)

    def insert(self, position: int, part: Part) -> None:
        """Put a part before a position."""
        if position >= len(self):
            self.append(part)
            return
        self._refuse_taken(part.name)
        self._close_holes()
        self._slots.insert(position, part)
        self._slot_of = None
        self._changed()

    def replace(self, position: int, part: Part) -> None:
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

    def in_slot(self, slot: int) -> Part:
        """Return the part in a slot."""
        return self._part(slot)

    def append(self, part: Part) -> None:
        """Put a part at the end."""
        self._refuse_taken(part.name)
        if part.name is not None and self._slot_of is not None:
            self._slot_of[part.name] = len(self._slots)
        self._slots.append(part)
        self._changed()

    def replace_slot(self, slot: int, part: Part) -> None:
        """Put a part in the place of the one in a slot."""
        old = self._slots[slot]
        assert old is not None  # noqa: S101 - slots come from slot_of
        if part.name != old.name:
            self._refuse_taken(part.name)
            if self._slot_of is not None:
                if old.name is not None:
                    del self._slot_of[old.name]
                if part.name is not None:
                    self._slot_of[part.name] = slot
        self._slots[slot] = part
        self._changed()

    def remove_slot(self, slot: int) -> None:
        """Take out the part in a slot."""
        old = self._slots[slot]
        assert old is not None  # noqa: S101 - slots come from slot_of
        if old.name is not None and self._slot_of is not None:
            del self._slot_of[old.name]
        if slot == len(self._slots) - 1:
            self._slots.pop()
        else:
            self._slots[slot] = None
            self._holes += 1
        self._changed()

    def positions_of(self, slots: Iterable[int]) -> list[int]:
        """Return the positions that slots have now."""
        if not self._holes:
            return list(slots)
        holes_before, count = [], 0
        for item in self._slots:
            holes_before.append(count)
            count += item is None
        return [slot - holes_before[slot] for slot in slots]

    def _part(self, slot: int) -> Part:
        item = self._slots[slot]
        if isinstance(item, Part):
            return item
        assert item is not None  # noqa: S101 - callers pass occupied slots
        part = item.to_part()
        self._slots[slot] = part
        return part

    def _refuse_taken(self, name: str | None) -> None:
        if name is not None and self.slot_of(name) is not None:
            raise DuplicateName(name)

    def _close_holes(self) -> None:
        if self._holes:
            self._slots = [item for item in self._slots if item is not None]
            self._slot_of = None
            self._holes = 0

    def _changed(self) -> None:
        self._columns = None
        self.version += 1
