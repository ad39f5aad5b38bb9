"""What is wrong with a body, as values; the text is derived."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

import attrs

from messagebody.media_types import essence
from messagebody.schema.schema_part import SchemaPart
from messagebody.text import escape, quote

__all__ = ["Violation", "missing_part", "part_not_accepted", "repeated_name"]

Code = Literal["part-not-accepted", "required-part-missing", "repeated-name"]
Differs = Literal["name", "type", "name and type"]


@attrs.frozen
class Violation:
    """One thing that is wrong with a body.

    Arguments:
        code: `part-not-accepted`: no schema part accepts the part; `required-part-missing`: no
            part matches a required schema part; `repeated-name`: an earlier part has the name.
        part_index: the part's index from 0; None if a part is missing.
        part_name: the part's name; None if it has none.
        schema_index: the schema part that came nearest, or that is missing; None if none is told.
        expected: what that schema part accepts.
        got: what the part is.
        differs: what keeps the part from matching the nearest schema part: `name`, `type` or
            `name and type`.
    """

    code: Code
    part_index: int | None = None
    part_name: str | None = None
    schema_index: int | None = None
    expected: str = ""
    got: str = ""
    differs: Differs | None = None

    def __str__(self) -> str:
        if self.code == "required-part-missing":
            return f"required schema part {self.schema_index} {self.expected}: {self.got}"
        place = f"part {self.part_index} ({self.got})"
        if self.code == "repeated-name":
            return f"{place}: {self.expected}"
        return f"{place}: accepted by no schema part{self._nearest()}"

    def _nearest(self) -> str:
        if self.schema_index is None:
            return "" if not self.expected else f"; {self.expected}"
        verb = "differ" if self.differs == "name and type" else "differs"
        return f"; nearest is {self.schema_index} {self.expected} ({self.differs} {verb})"


def part_not_accepted(
    index: int, name: str | None, content_type: str, nearest: Sequence[SchemaPart] | None
) -> Violation:
    """Report a part that no schema part accepts.

    Arguments:
        index: the part's.
        name: the part's.
        content_type: the part's.
        nearest: the schema parts to find the nearest miss among; None looks for none.
    """
    got = _description(name, content_type)
    if nearest is None:
        return Violation("part-not-accepted", index, name, got=got)
    if not nearest:
        expected = "the schema has no parts and accepts only the empty body"
        return Violation("part-not-accepted", index, name, expected=expected, got=got)
    schema_index, differs = _nearest_miss(name, content_type, nearest)
    label = nearest[schema_index].label
    return Violation("part-not-accepted", index, name, schema_index, label, got, differs)


def missing_part(
    schema_index: int, part: SchemaPart, nearest: tuple[int, str | None, str] | None
) -> Violation:
    """Report a required schema part that no part matches.

    Arguments:
        schema_index: its index.
        part: the schema part.
        nearest: index, name and content type of a part whose type alone is in the way.
    """
    got = "no part matches"
    differs: Differs | None = None
    if nearest is not None:
        index, name, content_type = nearest
        got += f"; nearest is part {index} ({_description(name, content_type)}; type differs)"
        differs = "type"
    return Violation(
        "required-part-missing",
        schema_index=schema_index,
        expected=part.label,
        got=got,
        differs=differs,
    )


def repeated_name(index: int, name: str, content_type: str) -> Violation:
    """Report a part whose name an earlier part has."""
    return Violation(
        "repeated-name",
        index,
        name,
        expected="an earlier part has that name; names are unique in a body",
        got=_description(name, content_type),
    )


def _description(name: str | None, content_type: str) -> str:
    return f"{'unnamed' if name is None else quote(name)}, {escape(content_type, limit=200)}"


def _nearest_miss(
    name: str | None, content_type: str, parts: Sequence[SchemaPart]
) -> tuple[int, Differs]:
    """Return the schema part that came closest, the first of equals, and what kept it off.

    A right name counts most, then a right type, then how much of each fits from its beginning.
    """
    kind = essence(content_type)

    def closeness(index: int) -> tuple[bool, bool, int, int]:
        part = parts[index]
        by_type = part.content_type_pattern.matches_essence(kind)
        same_sort = (name is None) == (part.name is None)
        shared = _shared(name, part.name) if name and part.name else int(same_sort)
        shared_type = _shared(kind, part.content_type.lower())
        return part.accepts_name(name), by_type, shared, shared_type

    best = max(range(len(parts)), key=lambda index: (*closeness(index), -index))
    by_name, by_type, *_ = closeness(best)
    if by_name:
        return best, "type"
    return best, "name" if by_type else "name and type"


def _shared(word: str, pattern: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(word, pattern, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
