"""Validation of what is inside JSON parts, each content read and checked once."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.leaves import leaf
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import is_json
from messagebody._base.text import count_of, escape, redact_urls
from messagebody._wire import exact_json
from messagebody._wire.strict_json import InvalidJson
from messagebody.errors import (
    DigestMismatch,
    LimitExceeded,
    LocalFileChanged,
    ObjectNotFound,
    UnsafeReference,
)
from messagebody.findings import pointer
from messagebody.schema._library import LISTED, TooCostly
from messagebody.schema._part import SchemaPart
from messagebody.schema._validation import (
    EXPLAINED,
    Checker,
    Code,
    Columns,
    ContentVerdict,
    Violation,
    columns_of,
    description,
    members_of,
    missing_part,
    part_not_accepted,
    repetitions,
    right_name,
)

_LISTED: Final = 20
"""Flaws of a content that are listed."""
_TRIED: Final = 5
"""Schema parts of which the nearest one to a content is looked for."""
_CUT: Final = 300
_UNREAD: Final = object()
# What is wrong with a message, and not with the place of its contents.
_NOT_READ: Final = (
    UnsafeReference, ObjectNotFound, DigestMismatch, LimitExceeded, LocalFileChanged,
)  # fmt: skip


class Inside(Protocol):
    """What is inside a part, as far as content schemas ask."""

    @property
    def is_reference(self) -> bool:
        """Whether the content is a reference to another place."""

    def satisfied_among(self, wanted: int) -> int:
        """Return the schema parts, of some, whose content schema it satisfies."""

    def flaws(self, candidates: int, room: int = LISTED) -> Sequence[Violation]:
        """Return why it satisfies none of some schema parts, within bytes for all flaws."""


class Content:
    """The content of a part, read when it is first asked for.

    Arguments:
        parts: the schema parts.
        position: the position of the part.
        part: the part.
        resolver: reads a reference; None for the part's own resolver.
    """

    def __init__(
        self,
        parts: Sequence[SchemaPart],
        position: int,
        part: "messagebody.Part",
        resolver: "messagebody.Resolver | None",
    ) -> None:
        self._parts = parts
        self._position = position
        self._part = part
        self._resolver = resolver
        self._problem: tuple[Code, str] | None = None
        self._held: Any = _UNREAD
        self._size = 0

    @property
    def is_reference(self) -> bool:
        """Whether it is elsewhere."""
        return self._part.is_reference

    @property
    def _value(self) -> Any:
        """The content as a JSON value; None, with a problem, if it is none."""
        if self._held is _UNREAD:
            self._held = self._read()
        return self._held

    def _read(self) -> Any:
        part = self._part
        try:
            text = part.text
            data = part.read_bytes(self._resolver) if text is None else text
            self._size = len(data)
            return exact_json.contents(data, depth=DEFAULT_LIMITS.depth)
        except InvalidJson as error:
            where = pointer(*error.path)
            problem = error.problem.removeprefix("not JSON: ")
            text = f"{where}: {problem}" if where else problem
            self._problem = "content-not-json", escape(text, limit=_CUT)
        except _NOT_READ as error:
            self._problem = "content-not-read", escape(redact_urls(str(error)), limit=_CUT)
        return None

    def satisfied_among(self, wanted: int) -> int:
        """Return the schema parts, of some, whose content schema it satisfies."""
        value, held = self._value, 0
        if self._problem is not None:
            return 0
        values = self._size // 2 + 1  # each has a character, and one after it
        for index in members_of(wanted):
            schema = self._parts[index].content_schema
            try:
                held |= (schema is None or schema.validator.is_valid(value, values)) << index
            except TooCostly as error:
                self._problem = "content-not-read", str(error)
        return held

    def flaws(self, candidates: int, room: int = LISTED) -> Sequence[Violation]:
        """Return why it satisfies none of some schema parts: the flaws for the nearest one.

        Arguments:
            candidates: the schema parts.
            room: bytes that the flaws for all of them may take while they are made.
        """
        value = self._value
        indexes = [*members_of(candidates)][:_TRIED]
        if self._problem is not None:
            code, text = self._problem
            return [self._violation(code, indexes[0], expected="JSON", got=text)]
        # The fewest flaws, and the first of equals.
        found = [self._flaws_for(index, value, room // len(indexes)) for index in indexes]
        return min(found, key=lambda each: each[0])[1]

    def _flaws_for(self, index: int, value: Any, room: int) -> tuple[float, list[Violation]]:
        """Return the number of flaws for a schema part, infinite if not known, and the first."""
        schema = self._parts[index].content_schema
        assert schema is not None  # noqa: S101 - candidates have one
        listed, more = schema.validator.flaws(value, _LISTED, room)
        violations = [
            self._violation(
                "content-invalid", index, expected=flaw.expected, got=flaw.got,
                content_pointer=flaw.place, schema_pointer=flaw.rule,
            )
            for flaw in listed
        ]  # fmt: skip
        if more:
            rest = count_of(more, "more flaw")
            violations.append(self._violation("content-invalid", index, got=rest, more=more))
        return (math.inf if more is None else len(listed) + more), violations

    def _violation(self, code: Code, index: int, **about: Any) -> Violation:
        return Violation(code, self._position, self._part.name, index, differs="content", **about)


@attrs.define
class _Examination:
    """What a body satisfies, and which of its parts nothing accepts.

    Arguments:
        matched: the schema parts that a part matches.
        rejected: the positions of parts whose name and type nothing accepts.
        refused: the positions of parts whose content decides and is refused, with the schema parts
            that would accept another content.
    """

    matched: int = 0
    rejected: list[int] = attrs.field(factory=list)
    refused: dict[int, int] = attrs.field(factory=dict)

    @property
    def is_refusal(self) -> bool:
        """Whether a part is not accepted."""
        return bool(self.rejected or self.refused)


class ContentChecker(Checker):
    """A checker of schema parts of which some say what is inside."""

    def __init__(self, parts: Sequence[SchemaPart]) -> None:
        super().__init__(parts)
        self.inside = sum(
            1 << index for index, part in enumerate(parts) if part.content_schema is not None
        )

    def _of_type(self, content_type: str) -> int:
        found = super()._of_type(content_type)
        return found if is_json(content_type) else found & ~self.inside

    def accepts(self, names: Sequence[str | None], types: Sequence[str]) -> bool:
        """Return whether such parts have no violation, whatever is inside."""
        matched = 0
        for name, content_type in zip(names, types, strict=True):
            found = self.accepting(name, content_type) & ~self.inside
            if not found:
                return False
            matched |= found
        return not self.required & ~matched

    def is_valid(
        self,
        body: "Iterable[messagebody.Part]",
        resolver: "messagebody.Resolver | None" = None,
    ) -> bool:
        """Return whether a body has no violation; stop at the first one."""
        parts = _indexed(body)
        columns = columns_of(parts)
        if next(repetitions(parts, columns), None) is not None:
            return False
        outcome = self._examine(columns, self._contents(parts, resolver), stops=True)
        return not outcome.is_refusal and not self.required & ~outcome.matched

    def violations(
        self,
        body: "Iterable[messagebody.Part]",
        resolver: "messagebody.Resolver | None" = None,
    ) -> Iterator[Violation]:
        """Yield the violations of a body: rejected parts in order, then missing parts."""
        parts = _indexed(body)
        columns = columns_of(parts)
        yield from repetitions(parts, columns)
        yield from self.violations_of(columns, self._contents(parts, resolver))

    def violations_of(
        self, columns: Columns, contents: Callable[[int], Inside]
    ) -> Iterator[Violation]:
        """Yield the violations of parts with these names, types and contents."""
        names, types = columns
        outcome = self._examine(columns, contents)
        for count, position in enumerate(sorted([*outcome.rejected, *outcome.refused])):
            if position in outcome.refused:
                # Bodies may have any number of parts, so what many may take is less for each.
                room = LISTED // (count + 1)
                flaws = contents(position).flaws(outcome.refused[position], room)
                yield from flaws if count < EXPLAINED else flaws[:1]
            else:
                name, content_type = names[position], types[position]
                nearest = self.nearest(name, content_type) if count < EXPLAINED else None
                yield part_not_accepted(position, name, content_type, nearest)
        for index in members_of(self.required & ~outcome.matched):
            yield self._missing(index, columns, contents, outcome)

    def seen(
        self, position: int, part: "messagebody.Part", found: int, missing: int,
        resolver: "messagebody.Resolver | None", told: int = 0,
    ) -> ContentVerdict:  # fmt: skip
        """Return what is inside a part, which is not kept.

        Arguments:
            position: the position of the part.
            part: the part.
            found: the schema parts that its name and type allow.
            missing: the required schema parts that no part has matched yet.
            resolver: reads a reference; None for the part's own resolver.
            told: the parts before it whose flaws were listed.
        """
        content = Content(self.parts, position, part, resolver)
        plain, inside = found & ~self.inside, found & self.inside
        wanted = inside & missing if plain else inside
        held = content.satisfied_among(wanted) if wanted else 0
        refused = wanted & ~held
        is_told = refused & missing or not (held or plain)
        flaws = content.flaws(refused, LISTED // (told + 1)) if is_told else ()
        return ContentVerdict(held, flaws, content.is_reference)

    def violations_seen(
        self, seen: "Iterable[messagebody.Part]", contents: Mapping[int, ContentVerdict]
    ) -> Iterator[Violation]:
        """Yield the violations of parts that are not kept, with what was inside them."""
        columns = columns_of(seen)
        yield from repetitions(seen, columns)
        nothing = ContentVerdict(0, ())
        yield from self.violations_of(columns, lambda position: contents.get(position, nothing))

    def _contents(
        self, parts: "Sequence[messagebody.Part]", resolver: "messagebody.Resolver | None"
    ) -> Callable[[int], Inside]:
        known: dict[int, Content] = {}

        def content(position: int) -> Content:
            if position not in known:
                known[position] = Content(self.parts, position, parts[position], resolver)
            return known[position]

        return content

    def _examine(
        self, columns: Columns, contents: Callable[[int], Inside], *, stops: bool = False
    ) -> _Examination:
        """Return what the parts match; contents are read only if they decide.

        Arguments:
            columns: the names and types of the parts.
            contents: returns what is inside a part.
            stops: whether to stop at the first part that is not accepted.
        """
        outcome, undecided = _Examination(), []
        for position, (name, content_type) in enumerate(zip(*columns, strict=True)):
            found = self.accepting(name, content_type)
            inside = found & self.inside
            plain = found ^ inside
            outcome.matched |= plain
            if inside:
                undecided.append((position, plain, inside))
            elif not plain:
                outcome.rejected.append(position)
                if stops:
                    return outcome
        if len(undecided) > 1:
            # References last: what others match needs no look at what is elsewhere.
            undecided.sort(key=lambda each: contents(each[0]).is_reference)
        for position, plain, inside in undecided:
            needed = inside & self.required & ~outcome.matched
            wanted = needed if plain else inside
            held = contents(position).satisfied_among(wanted) if wanted else 0
            outcome.matched |= held
            if not held and not plain:
                outcome.refused[position] = inside
                if stops:
                    return outcome
        return outcome

    def _missing(
        self,
        index: int,
        columns: Columns,
        contents: Callable[[int], Inside],
        outcome: _Examination,
    ) -> Violation:
        part = self.parts[index]
        if part.content_schema is not None:
            for position, (name, content_type) in enumerate(zip(*columns, strict=True)):
                if self.accepting(name, content_type) >> index & 1:
                    flaw = contents(position).flaws(1 << index, LISTED // (index + 1))[0]
                    # Then it is not known that the part is missing.
                    if flaw.code == "content-not-read" and position not in outcome.refused:
                        return flaw
                    where = escape(flaw.content_pointer, limit=_CUT)
                    differs = f"content differs{where and f' at {where}'}"
                    nearest = f"{position} ({description(name, content_type)}; {differs})"
                    got = f"no part matches; nearest is part {nearest}"
                    return Violation(
                        "required-part-missing", schema_index=index, expected=part.label, got=got
                    )
        return missing_part(index, part, right_name(part, columns))


def _indexed(body: "Iterable[messagebody.Part]") -> "Sequence[messagebody.Part]":
    return body if isinstance(body, leaf("MessageBody")) else list(body)
