"""Validation: the violations of a schema by a body, each with the nearest schema part.

Of a message that still arrives there is a status.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice, zip_longest
from typing import Any, Final, Literal, Self

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.leaves import leaf
from messagebody._base.media_types import ALIASES, essence
from messagebody._base.text import common_prefix_length, escape, quote
from messagebody.globs import PatternIndex
from messagebody.schema._part import SchemaPart

Differs = Literal["name", "type", "name and type", "content"]

_CUT: Final = 200
"""Characters of a pointer that a text shows."""
_COMPARED: Final = 50
"""Schema parts among which the nearest one to a name is looked for."""


class NearestMiss:
    """The search for the nearest schema part; a set of schema parts is an int with a bit for each.

    A matching name counts most, then a matching type. Among equals, the longest common prefix of
    the other counts. In alphabetical order, patterns with the longest common prefix are adjacent to
    the name.
    """

    def __init__(self, parts: Sequence[SchemaPart]) -> None:
        self._parts = parts
        self._named = sorted(
            (part.name, index) for index, part in enumerate(parts) if part.name is not None
        )

    def find(
        self, name: str | None, kind: str, by_name: int, by_type: int
    ) -> tuple[int, Differs] | None:
        """Return the index of the nearest schema part and the difference, or None without parts.

        Arguments:
            name: the name of a part that no schema part accepts.
            kind: its content type, `type/subtype` in lower case.
            by_name: the schema parts that accept it by name.
            by_type: the schema parts that accept it by content type.
        """
        if not self._parts:
            return None
        if by_name:
            return self._by_type(kind, by_name), "type"
        if by_type:
            return self._by_name(name, by_type), "name"
        return self._by_name(name, (1 << len(self._parts)) - 1), "name and type"

    def _by_type(self, kind: str, candidates: int) -> int:
        # The nearest of hundreds would not help more than the nearest of fifty.
        indexes = islice(members_of(candidates), _COMPARED)
        return max(
            indexes,
            key=lambda index: (
                common_prefix_length(kind, self._parts[index].content_type.lower()),
                -index,
            ),
        )

    def _by_name(self, name: str | None, candidates: int) -> int:
        if name is not None:
            place = bisect_left(self._named, (name, 0))
            # Outwards from the name's place in the order, so that the first match has the longest
            # common prefix.
            before, after = reversed(self._named[:place]), self._named[place:]
            for pair in zip_longest(before, after):
                found = [
                    (-common_prefix_length(name, each[0]), each[1])
                    for each in pair
                    if each is not None and candidates >> each[1] & 1
                ]
                if found:
                    return min(found)[1]
        return next(members_of(candidates))


def members_of(candidates: int) -> Iterator[int]:
    while candidates:
        lowest = candidates & -candidates
        yield lowest.bit_length() - 1
        candidates ^= lowest


Code = Literal[
    "part-not-accepted",
    "required-part-missing",
    "repeated-name",
    "content-not-json",
    "content-invalid",
    "content-not-read",
]


StatusWord = Literal["valid", "waiting", "invalid", "hopeless"]


class Status(str):
    """The status of a message; true only if it is valid now.

    It compares as text: `valid`; `waiting` for required parts; `invalid`, which is final; or
    `hopeless`: nothing is wrong yet, but no further part can make it valid, which is final too.

    Attributes:
        exact: False if the budget ended before it was known whether the message can still become
            valid.
        missing: the indexes of the required schema parts that no part has matched yet.

    Examples:
        >>> Status("waiting", missing=(1,)) == "waiting", bool(Status("waiting"))
        (True, False)
    """

    __slots__ = ("exact", "missing")

    exact: bool
    missing: tuple[int, ...]

    def __new__(
        cls, word: StatusWord, *, exact: bool = True, missing: tuple[int, ...] = ()
    ) -> Self:
        """Make a status of a word and its details."""
        status = super().__new__(cls, word)
        status.exact = exact
        status.missing = missing
        return status

    def __bool__(self) -> bool:
        return self == "valid"

    def __repr__(self) -> str:
        return f"<Status {self!s}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _status, (str(self), self.exact, self.missing)


def _status(word: StatusWord, exact: bool, missing: tuple[int, ...]) -> Status:
    return Status(word, exact=exact, missing=missing)


@attrs.frozen
class Violation:
    """One violation of a schema by a body.

    Arguments:
        code: `part-not-accepted`: no schema part accepts the part; `required-part-missing`: no
            part matches a required schema part; `repeated-name`: an earlier part has the name.
            These three are about what is inside a part that no schema part accepts otherwise:
            `content-not-json`: it is not JSON; `content-invalid`: the content schema refuses it;
            `content-not-read`: it could not be read or checked.
        part_index: the part's index, from 0; None if a part is missing.
        part_name: the part's name; None for an unnamed part.
        schema_index: the index of the nearest or missing schema part; None if there is none.
        expected: the names and types that the schema part accepts, or what its content schema asks
            for.
        got: the name and type of the part, or what is in its content: long texts are cut, and URLs
            have no secrets.
        differs: the difference between the part and the nearest schema part: `name`, `type`,
            `name and type` or `content`.
        content_pointer: the place in the content, a JSON Pointer.
        schema_pointer: the place in the content schema, a JSON Pointer.
        more: the number of further flaws of the content, which are not listed.
    """

    code: Code
    part_index: int | None = None
    part_name: str | None = None
    schema_index: int | None = None
    expected: str = ""
    got: str = ""
    differs: Differs | None = None
    content_pointer: str = ""
    schema_pointer: str = ""
    more: int = 0

    def _repr_html_(self) -> str:
        return leaf("violation_html")(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        if self.code == "required-part-missing":
            return f"required schema part {self.schema_index} {self.expected}: {self.got}"
        if self.differs == "content":
            return self._about_content()
        place = f"part {self.part_index} ({self.got})"
        if self.code == "repeated-name":
            return f"{place}: {self.expected}"
        return f"{place}: accepted by no schema part{self._nearest()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the violation as a JSON value."""
        value = {
            "code": self.code,
            "partIndex": self.part_index,
            "partName": self.part_name,
            "schemaIndex": self.schema_index,
            "text": str(self),
        }
        if self.code == "content-invalid":
            value |= {"contentPointer": self.content_pointer, "schemaPointer": self.schema_pointer}
        return value

    def _about_content(self) -> str:
        who = "unnamed" if self.part_name is None else quote(self.part_name)
        place = f"part {self.part_index} ({who})"
        if self.more:
            return f"{place}: content: and {self.got}"
        if self.code != "content-invalid":
            state = "not JSON" if self.code == "content-not-json" else "not read"
            return f"{place}: content is {state}: {self.got}"
        where = escape(self.content_pointer, limit=_CUT) or "as a whole"
        rule = escape(self.schema_pointer, limit=_CUT)
        got = f", got {self.got}" if self.got else ""
        return (
            f"{place}: content {where}: expected {self.expected}{got} "
            f"(contentSchema of schema part {self.schema_index}{rule and f', {rule}'})"
        )

    def _nearest(self) -> str:
        if self.schema_index is None:
            return ""
        verb = "differ" if self.differs == "name and type" else "differs"
        return f"; nearest is {self.schema_index} {self.expected} ({self.differs} {verb})"


def part_not_accepted(
    index: int, name: str | None, content_type: str, nearest: tuple[int, SchemaPart, Differs] | None
) -> Violation:
    """Return the violation of a part that no schema part accepts.

    Arguments:
        index: the part's index.
        name: the part's name.
        content_type: the part's content type.
        nearest: the nearest schema part, with its index before and the difference behind it.
    """
    got, expected = description(name, content_type), ""
    schema_index, part, differs = nearest or (None, None, None)
    if part is not None:
        expected = part.label
        got += "" if differs == "name" else _alias(content_type, part)
    return Violation("part-not-accepted", index, name, schema_index, expected, got, differs)


def missing_part(
    schema_index: int, part: SchemaPart, nearest: tuple[int, str | None, str] | None
) -> Violation:
    """Return the violation of a required schema part that no part matches.

    Arguments:
        schema_index: the index of the schema part.
        part: the schema part.
        nearest: the index, name and content type of a part that matches except for its type.
    """
    got = "no part matches"
    differs: Differs | None = None
    if nearest is not None:
        index, name, content_type = nearest
        differing = f"type differs{_alias(content_type, part)}"
        got += f"; nearest is part {index} ({description(name, content_type)}; {differing})"
        differs = "type"
    return Violation(
        "required-part-missing",
        schema_index=schema_index,
        expected=part.label,
        got=got,
        differs=differs,
    )


def _alias(content_type: str, part: SchemaPart) -> str:
    """Return that a type and that of a schema part are names of one, "" if they are not.

    Nothing takes one for the other, because what a schema accepts has to be plain from its text.
    """
    kind, theirs = essence(content_type), part.content_type.lower()
    usual = ALIASES.get(kind, kind)
    if usual != kind and part.content_type_pattern.matches(usual):
        return f"; {kind} is another name of {usual}"
    return f"; {theirs} is another name of {usual}" if ALIASES.get(theirs) == usual else ""


def repeated_name(index: int, name: str, content_type: str) -> Violation:
    """Return the violation of a part with the name of an earlier part."""
    return Violation(
        "repeated-name",
        index,
        name,
        expected="an earlier part has that name; names are unique in a body",
        got=description(name, content_type),
    )


def description(name: str | None, content_type: str) -> str:
    return f"{'unnamed' if name is None else quote(name)}, {escape(content_type, limit=200)}"


@attrs.frozen
class ContentVerdict:
    """What is known of the content of a part after a check, without the content itself.

    Arguments:
        satisfied: the schema parts whose content schema it satisfied.
        violations: why it satisfied no other.
    """

    satisfied: int
    violations: Sequence[Violation]
    is_reference: bool = False

    def satisfied_among(self, wanted: int) -> int:
        """Return the schema parts, of some, whose content schema it satisfied."""
        return self.satisfied & wanted

    def flaws(self, candidates: int, room: int = 0) -> Sequence[Violation]:  # noqa: ARG002
        """Return why it satisfied none."""
        return self.violations


EXPLAINED: Final = 100
"""Violations that name the nearest schema part, which takes long to find."""
_SEARCHED: Final = 10_000
"""Parts of a body among which the nearest one to a schema part is looked for."""
_KEPT: Final = 1_000
"""Names and content types whose matches are remembered, because strangers choose them."""
_FEW: Final = 100
"""Parts of a body whose names are remembered."""

Columns = tuple[Sequence[str | None], Sequence[str]]


class Checker:
    """Schema parts prepared for checking; a set of schema parts is an int with a bit for each."""

    inside: int = 0
    """The schema parts that say what is inside."""

    def __init__(self, parts: Sequence[SchemaPart]) -> None:
        self.parts = parts
        self.unnamed = sum(1 << index for index, part in enumerate(parts) if part.name is None)
        self.required = sum(1 << index for index, part in enumerate(parts) if part.required)
        self._find = PatternIndex([part.name_pattern for part in parts]).find
        self._kinds = PatternIndex([part.content_type_pattern for part in parts])
        # Senders choose names and types, and can invent any number of them.
        self._by_name = lru_cache(_KEPT)(self._find)
        self._by_type = lru_cache(_KEPT)(self._of_type)

    def _of_type(self, content_type: str) -> int:
        """Return the set of schema parts that accept a content type."""
        return self._kinds.find(essence(content_type))

    def accepting(self, name: str | None, content_type: str) -> int:
        """Return the set of schema parts that a part of this name and content type may match.

        What is inside decides with a content schema, and is not looked at here.
        """
        by_name = self.unnamed if name is None else self._by_name(name)
        return by_name & self._by_type(content_type)

    def nearest(
        self, name: str | None, content_type: str
    ) -> tuple[int, SchemaPart, Differs] | None:
        """Return the index of the nearest schema part, the schema part, and the difference.

        Return None if the schema is empty.
        """
        by_name = self.unnamed if name is None else self._by_name(name)
        found = self._nearest_miss.find(
            name, essence(content_type), by_name, self._by_type(content_type)
        )
        return found and (found[0], self.parts[found[0]], found[1])

    @cached_property
    def _nearest_miss(self) -> NearestMiss:
        return NearestMiss(self.parts)

    def is_valid(
        self,
        body: "Iterable[messagebody.Part]",
        resolver: "messagebody.Resolver | None" = None,  # noqa: ARG002 - contents need it
    ) -> bool:
        """Return whether a body has no violation; stop at the first one."""
        names, types = columns = columns_of(body)
        is_body = isinstance(body, leaf("MessageBody"))  # which has no name twice
        if not is_body and next(_repeated(columns), None) is not None:
            return False
        return self.accepts(names, types)

    def accepts(self, names: Sequence[str | None], types: Sequence[str]) -> bool:
        """Return whether parts of these names, none of them twice, and types have no violation."""
        matched = 0
        unnamed, by_type = self.unnamed, self._by_type
        # Messages of agents share their names; those of a large one would only push them out.
        find = self._by_name if len(names) <= _FEW else self._find
        for name, content_type in zip(names, types, strict=True):
            found = (unnamed if name is None else find(name)) & by_type(content_type)
            if not found:
                return False
            matched |= found
        return not self.required & ~matched

    def violations(
        self,
        body: "Iterable[messagebody.Part]",
        resolver: "messagebody.Resolver | None" = None,  # noqa: ARG002 - contents need it
    ) -> Iterator[Violation]:
        """Return the violations of a body: rejected parts in order, then missing parts."""
        columns = columns_of(body)
        # Most bodies are valid, and the loop that says only this is the quicker one.
        if isinstance(body, leaf("MessageBody")) and self.accepts(*columns):
            return iter(())
        return chain(repetitions(body, columns), self._refusals(columns))

    def _refusals(self, columns: Columns) -> Iterator[Violation]:
        """Yield the violations but for repeated names."""
        matched = refused = 0
        for position, (name, content_type) in enumerate(zip(*columns, strict=True)):
            found = self.accepting(name, content_type)
            matched |= found
            if not found:
                # Only of the first, because the search costs more than the check itself.
                nearest = self.nearest(name, content_type) if refused < EXPLAINED else None
                refused += 1
                yield part_not_accepted(position, name, content_type, nearest)
        for index in members_of(self.required & ~matched):
            part = self.parts[index]
            yield missing_part(index, part, right_name(part, columns))

    def seen(
        self,
        position: int,  # noqa: ARG002 - content schemas need them
        part: "messagebody.Part",
        found: int,  # noqa: ARG002
        missing: int,  # noqa: ARG002
        resolver: "messagebody.Resolver | None",  # noqa: ARG002
        told: int = 0,  # noqa: ARG002
    ) -> ContentVerdict:
        """Return what is inside a part, as far as it decides; nothing without content schemas."""
        return ContentVerdict(0, (), part.is_reference)

    def violations_seen(
        self,
        seen: "Iterable[messagebody.Part]",
        contents: Mapping[int, ContentVerdict],  # noqa: ARG002 - content schemas need it
    ) -> Iterator[Violation]:
        """Yield the violations of parts that are not kept, with what was inside them."""
        return self.violations(seen)


def columns_of(body: "Iterable[messagebody.Part]") -> Columns:
    if isinstance(body, leaf("MessageBody")):
        return body._columns()  # type: ignore[no-any-return]
    parts = list(body)
    return [part.name for part in parts], [part.content_type for part in parts]


def repetitions(body: "Iterable[messagebody.Part]", columns: Columns) -> Iterator[Violation]:
    """Yield a violation for each part with the name of an earlier part; a body has none."""
    if isinstance(body, leaf("MessageBody")):
        return
    names, types = columns
    for position in _repeated(columns):
        yield repeated_name(position, names[position] or "", types[position])


def _repeated(columns: Columns) -> Iterator[int]:
    """Yield the positions of repeated names."""
    seen: set[str] = set()
    for position, name in enumerate(columns[0]):
        if name is not None and name in seen:
            yield position
        seen.add(name or "")


def right_name(part: SchemaPart, columns: Columns) -> tuple[int, str | None, str] | None:
    """Return the first part that a schema part accepts by name but not by type."""
    # A hint is not worth a search through a million names for each missing part.
    names, types = columns[0][:_SEARCHED], columns[1]
    if part.name_pattern is None:
        found = [position for position, name in enumerate(names) if name is None]
    else:
        found = part.name_pattern.select(names)
    return (found[0], names[found[0]], types[found[0]]) if found else None
