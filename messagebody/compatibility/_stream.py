"""Validation part by part while a message arrives: whether it is valid, or can still become valid.

Parts are never removed: a name that was used with one type can no longer meet a requirement for
another type. The solver decides whether all remaining requirements can still be met without the
used names.
"""

from typing import Any, Final, Literal, NamedTuple, Self, cast

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.guards import require_resolver
from messagebody._base.leaves import FoundList
from messagebody._model.part import Part
from messagebody.compatibility._solver.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.languages import PartSet, members
from messagebody.compatibility._solver.profile import Profile
from messagebody.compatibility._solver.satisfy import Pair, Problem
from messagebody.schema import MessageBodySchema, Violation
from messagebody.schema._validation import Seen  # noqa: TC001 - annotations are evaluated on demand

# A tenth of the budget of `check`, because it is spent again and again while a message arrives.
_STEPS: Final = 100_000

Word = Literal["valid", "waiting", "invalid", "hopeless"]


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

    def __new__(cls, word: Word, *, exact: bool = True, missing: tuple[int, ...] = ()) -> Self:
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
        return _restore, (str(self), self.exact, self.missing)


def _restore(word: Word, exact: bool, missing: tuple[int, ...]) -> Status:
    return Status(word, exact=exact, missing=missing)


class _SeenPart(NamedTuple):
    """The remembered data of a part, without its content."""

    name: str | None
    content_type: str


class Stream:
    """A check of a message, part by part; made by `MessageBodySchema.stream`.

    Arguments:
        schema: the schema of the message.
        steps: the budget, for each part, for deciding whether the message can still become valid.
        resolver: reads references whose content decides; None for the part's own resolver.

    Examples:
        >>> from messagebody._model.part import Part
        >>> from messagebody.schema import MessageBodySchema
        >>> stream = Stream(MessageBodySchema([("/a", "image/*", True), ("/**", "text/*")]))
        >>> stream.feed(Part("…", name="/b", content_type="text/plain"))
        <Status waiting>
        >>> stream.feed(Part("…", name="/a", content_type="text/plain"))
        <Status hopeless>
    """

    def __init__(
        self, schema: MessageBodySchema, *, steps: int = _STEPS,
        resolver: "messagebody.Resolver | None" = None,
    ) -> None:  # fmt: skip
        self._schema = schema
        self._resolver = require_resolver(resolver)
        self._steps = steps
        self._profile = schema.profile
        self._seen: list[_SeenPart] = []
        self._contents: dict[int, Seen] = {}
        self._told = 0
        self._names: set[str] = set()
        self._pair = Pair(self._profile, Profile(), Budget(steps))
        self._missing = self._pair.required
        self._status = self._outlook()

    def feed(self, part: Part) -> Status:
        """Take the next part and return the status of the message."""
        name = part.name
        is_repeated = name in self._names
        self._seen.append(_SeenPart(name, part.content_type))
        if name is not None:
            self._names.add(name)
        hits = self._schema.checker.accepting(name, part.content_type)
        if hits & self._schema.checker.inside:
            hits = self._look_inside(part, hits)
        # These are final, because no later part can correct them.
        if self.status in {"invalid", "hopeless"}:
            self._missing &= ~hits
            return self.status
        if is_repeated or not hits:
            self._status = Status("invalid", missing=self.status.missing)
        else:
            self._take(name, hits)
        return self.status

    def _look_inside(self, part: Part, hits: PartSet) -> PartSet:
        """Return the schema parts that a part matches, of those that its name and type allow."""
        seen = self._schema.checker.seen(
            len(self._seen) - 1, part, hits, self._missing, self._resolver, self._told
        )
        self._told += bool(seen.violations)
        self._contents[len(self._seen) - 1] = seen
        return hits & ~self._schema.checker.inside | seen.satisfied

    def _take(self, name: str | None, hits: PartSet) -> None:
        """Update the status after an accepted part."""
        is_needed = bool(self._missing & hits)
        self._missing &= ~hits
        # Only a name that a missing part could have changes the possibilities.
        takes_a_chance = self._takes_a_chance(name)
        if not is_needed and not takes_a_chance:
            return
        if self._missing and not takes_a_chance and self.status.exact:
            # The remaining requirements could be met before, together with others, and this part
            # takes none of the names they need.
            self._status = Status("waiting", missing=tuple(members(self._missing)))
        else:
            self._status = self._outlook()

    @property
    def status(self) -> Status:
        """The present status of the message."""
        return self._status

    def finish(self) -> list[Violation]:
        """End the message and return all its violations."""
        seen = cast("list[Part]", self._seen)
        return FoundList(self._schema.checker.violations_seen(seen, self._contents))

    def _takes_a_chance(self, name: str | None) -> bool:
        """Return whether a missing part with finitely many names could have had this name."""
        if name is None:
            return False
        self._pair.budget.refill(self._steps)
        try:
            matching = self._pair.matching_name(name) & self._missing
        except OutOfBudget:
            return True
        return any(not self._pair.name_language(index).is_infinite for index in members(matching))

    def _outlook(self) -> Status:
        missing = tuple(members(self._missing))
        if not missing:
            return Status("valid")
        pair = self._pair
        pair.budget.refill(self._steps)
        demand = Problem(pair, required=self._missing, accepted=(pair.first,), taken=self._names)
        try:
            word: Word = "waiting" if demand.is_feasible() else "hopeless"
        except OutOfBudget:
            return Status("waiting", exact=False, missing=missing)
        return Status(word, missing=missing)
