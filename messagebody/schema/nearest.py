"""The schema part that came nearest to accepting a part, found without trying all."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Final, Literal

from messagebody.schema.schema_part import SchemaPart

__all__ = ["Differs", "NearestMiss"]

Differs = Literal["name", "type", "name and type"]

_COMPARED: Final = 50


class NearestMiss:
    """Finds nearest misses among schema parts; a set of them is an int, a bit for each.

    A right name counts most, then a right type; among equals, how much of the other fits from
    its beginning. In the order of the alphabet, patterns that begin like a name stand next to it.
    """

    def __init__(self, parts: Sequence[SchemaPart]) -> None:
        self._parts = parts
        self._named = sorted(
            (part.name, index) for index, part in enumerate(parts) if part.name is not None
        )

    def find(
        self, name: str | None, kind: str, by_name: int, by_type: int
    ) -> tuple[int, Differs] | None:
        """Return the index of the nearest schema part and what keeps it off, if there are any.

        Arguments:
            name: the name of a part that no schema part accepts.
            kind: its content type, `type/subtype` in lower case.
            by_name: the schema parts that accept it by name.
            by_type: those that accept it by content type.
        """
        if not self._parts:
            return None
        if by_name:
            return self._by_type(kind, by_name), "type"
        if by_type:
            return self._by_name(name, by_type), "name"
        return self._by_name(name, (1 << len(self._parts)) - 1), "name and type"

    def _by_type(self, kind: str, candidates: int) -> int:
        indexes = islice(_members(candidates), _COMPARED)
        return max(
            indexes,
            key=lambda index: (_shared(kind, self._parts[index].content_type.lower()), -index),
        )

    def _by_name(self, name: str | None, candidates: int) -> int:
        if name is not None:
            place = bisect_left(self._named, (name, 0))
            before, after = reversed(self._named[:place]), self._named[place:]
            for pair in zip_longest(before, after):
                found = [
                    (-_shared(name, each[0]), each[1])
                    for each in pair
                    if each is not None and candidates >> each[1] & 1
                ]
                if found:
                    return min(found)[1]
        return next(_members(candidates))


def _members(candidates: int) -> Iterator[int]:
    while candidates:
        lowest = candidates & -candidates
        yield lowest.bit_length() - 1
        candidates ^= lowest


def _shared(word: str, pattern: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    for position, (mine, theirs) in enumerate(zip(word, pattern, strict=False)):
        if mine != theirs:
            return position
    return min(len(word), len(pattern))
