"""Checking a body against a schema, column by column."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from messagebody.body import MessageBody
from messagebody.globs import PatternIndex
from messagebody.media_types import essence
from messagebody.part import Part
from messagebody.schema.nearest import Differs, NearestMiss
from messagebody.schema.schema_part import SchemaPart
from messagebody.schema.violations import (
    Violation,
    missing_part,
    part_not_accepted,
    repeated_name,
)

__all__ = ["Checker"]

_EXPLAINED: Final = 100
_SEARCHED: Final = 10_000
_KEPT_TYPES: Final = 10_000

Columns = tuple[Sequence[str | None], Sequence[str]]


class _TypeSets(dict[str, int]):
    """The schema parts that accept a content type, found once for each distinct one."""

    def __init__(self, index: PatternIndex) -> None:
        super().__init__()
        self.index = index

    def __missing__(self, content_type: str) -> int:
        if len(self) >= _KEPT_TYPES:
            self.clear()
        found = self[content_type] = self.index.find(essence(content_type))
        return found


class Checker:
    """Schema parts, ready to meet many parts: a set of schema parts is an int, a bit for each."""

    def __init__(self, parts: Sequence[SchemaPart]) -> None:
        self.parts = parts
        self.unnamed = sum(1 << index for index, part in enumerate(parts) if part.name is None)
        self.required = sum(1 << index for index, part in enumerate(parts) if part.required)
        self._names = PatternIndex([part.name_pattern for part in parts])
        self._types = _TypeSets(PatternIndex([part.content_type_pattern for part in parts]))

    def accepting(self, name: str | None, content_type: str) -> int:
        """Return the set of schema parts that a part of this name and content type matches."""
        by_name = self.unnamed if name is None else self._names.find(name)
        return by_name & self._types[content_type]

    def nearest(self, name: str | None, content_type: str) -> tuple[int, str, Differs] | None:
        """Return index and label of the schema part nearest to accepting a part, and what differs.

        None if the schema is empty.
        """
        by_name = self.unnamed if name is None else self._names.find(name)
        found = self._nearest_miss.find(
            name, essence(content_type), by_name, self._types[content_type]
        )
        return found and (found[0], self.parts[found[0]].label, found[1])

    @cached_property
    def _nearest_miss(self) -> NearestMiss:
        return NearestMiss(self.parts)

    def is_valid(self, body: Iterable[Part]) -> bool:
        """Tell whether a body has no violation; ends at the first."""
        names, types = columns = _columns_of(body)
        if next(_repeated(body, columns), None) is not None:
            return False
        check = _Rejected(self._rejected(names, types))
        return next(iter(check), None) is None and not self.required & ~check.matched

    def violations(self, body: Iterable[Part]) -> Iterator[Violation]:
        """Yield what is wrong with a body: parts in order, then what is missing."""
        names, types = columns = _columns_of(body)
        for position in _repeated(body, columns):
            yield repeated_name(position, names[position] or "", types[position])
        check = _Rejected(self._rejected(names, types))
        for count, position in enumerate(check):
            name, content_type = names[position], types[position]
            nearest = self.nearest(name, content_type) if count < _EXPLAINED else None
            yield part_not_accepted(position, name, content_type, nearest)
        for index, part in enumerate(self.parts):
            if part.required and not check.matched >> index & 1:
                yield missing_part(index, part, _right_name(part, columns))

    def _rejected(
        self, names: Sequence[str | None], types: Sequence[str]
    ) -> Generator[int, None, int]:
        """Yield the positions no schema part accepts; return the schema parts that matched."""
        matched = 0
        unnamed, find, by_type = self.unnamed, self._names.find, self._types
        for position, (name, content_type) in enumerate(zip(names, types, strict=True)):
            found = (unnamed if name is None else find(name)) & by_type[content_type]
            if found:
                matched |= found
            else:
                yield position
        return matched


class _Rejected:
    """Positions that nothing accepts; after the last, `matched` is the set of matched parts."""

    def __init__(self, check: Generator[int, None, int]) -> None:
        self.check = check
        self.matched = 0

    def __iter__(self) -> Iterator[int]:
        self.matched = yield from self.check


def _columns_of(body: Iterable[Part]) -> Columns:
    if isinstance(body, MessageBody):
        return body._columns()
    parts = list(body)
    return [part.name for part in parts], [part.content_type for part in parts]


def _repeated(body: Iterable[Part], columns: Columns) -> Iterator[int]:
    """Yield the positions of names seen before; a `MessageBody` has none."""
    if isinstance(body, MessageBody):
        return
    seen: set[str] = set()
    for position, name in enumerate(columns[0]):
        if name is not None and name in seen:
            yield position
        seen.add(name or "")


def _right_name(part: SchemaPart, columns: Columns) -> tuple[int, str | None, str] | None:
    """Return the first part that a schema part accepts by name, which it then doesn't by type."""
    names, types = columns[0][:_SEARCHED], columns[1]
    if part.name_pattern is None:
        found = [position for position, name in enumerate(names) if name is None]
    else:
        found = part.name_pattern.select(names)
    return (found[0], names[found[0]], types[found[0]]) if found else None
