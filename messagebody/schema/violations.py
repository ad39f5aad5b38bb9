"""What is wrong with a body, as values; the text is derived."""

from typing import Literal

import attrs

from messagebody.schema.nearest import Differs
from messagebody.schema.schema_part import SchemaPart
from messagebody.text import escape, quote

__all__ = ["Violation", "missing_part", "part_not_accepted", "repeated_name"]

Code = Literal["part-not-accepted", "required-part-missing", "repeated-name"]


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
            return ""
        verb = "differ" if self.differs == "name and type" else "differs"
        return f"; nearest is {self.schema_index} {self.expected} ({self.differs} {verb})"


def part_not_accepted(
    index: int, name: str | None, content_type: str, nearest: tuple[int, str, Differs] | None
) -> Violation:
    """Report a part that no schema part accepts.

    Arguments:
        index: the part's.
        name: the part's.
        content_type: the part's.
        nearest: index and label of the schema part that came nearest, and what kept it off.
    """
    schema_index, expected, differs = nearest or (None, "", None)
    got = _description(name, content_type)
    return Violation("part-not-accepted", index, name, schema_index, expected, got, differs)


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
