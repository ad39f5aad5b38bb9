"""Validation part by part while a message arrives: whether it is valid, or can still become valid.

Parts are never removed: a name that was used with one type can no longer meet a requirement for
another type. The solver decides whether all remaining requirements can still be met without the
used names.
"""

from typing import Final, cast

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.budget import Budget, OutOfBudget
from messagebody._base.guards import require_resolver
from messagebody._base.leaves import FoundList
from messagebody._model.part import Part
from messagebody.compatibility._solver.languages import PartSet, members
from messagebody.compatibility._solver.profile import Profile, profile_of
from messagebody.compatibility._solver.satisfy import NumberedPair, Problem
from messagebody.schema import MessageBodySchema, PartType, Status, Violation
from messagebody.schema._validation import (  # annotations are evaluated on demand
    ContentVerdict,  # noqa: TC001
    StatusWord,  # noqa: TC001
)

# A tenth of the budget of `check`, because it is spent again and again while a message arrives.
_STEPS: Final = 100_000


class SchemaStream:
    """A check of a message, part by part; made by `MessageBodySchema.stream`.

    Arguments:
        schema: the schema of the message.
        max_steps: the budget for each part, to decide whether the message can still become
            valid.
        resolver: reads references whose content decides; None for the part's own resolver.

    Examples:
        >>> from messagebody._model.part import Part
        >>> from messagebody.schema import MessageBodySchema
        >>> stream = SchemaStream(MessageBodySchema([("/a", "image/*", True), ("/**", "text/*")]))
        >>> stream.feed(Part("…", name="/b", content_type="text/plain"))
        <Status waiting>
        >>> stream.feed(Part("…", name="/a", content_type="text/plain"))
        <Status hopeless>
    """

    def __init__(
        self, schema: MessageBodySchema, *, max_steps: int = _STEPS,
        resolver: "messagebody.Resolver | None" = None,
    ) -> None:  # fmt: skip
        self._schema = schema
        self._resolver = require_resolver(resolver)
        self._steps = max_steps
        self._profile = profile_of(schema)
        self._seen: list[PartType] = []
        self._contents: dict[int, ContentVerdict] = {}
        self._told = 0
        self._names: set[str] = set()
        self._pair = NumberedPair(self._profile, Profile(), Budget(max_steps))
        self._missing = self._pair.required
        self._status = self._outlook()

    def feed(self, part: Part) -> Status:
        """Take the next part and return the status of the message."""
        name = part.name
        is_repeated = name in self._names
        self._seen.append(PartType(name, part.content_type))
        if name is not None:
            self._names.add(name)
        matching_parts = self._schema.checker.accepting(name, part.content_type)
        if matching_parts & self._schema.checker.inside:
            matching_parts = self._look_inside(part, matching_parts)
        # These are final, because no later part can correct them.
        if self.status in {"invalid", "hopeless"}:
            self._missing &= ~matching_parts
            return self.status
        if is_repeated or not matching_parts:
            self._status = Status("invalid", missing=self.status.missing)
        else:
            self._accept(name, matching_parts)
        return self.status

    def _look_inside(self, part: Part, matching_parts: PartSet) -> PartSet:
        """Return the schema parts that a part matches, of those that its name and type allow."""
        seen = self._schema.checker.seen(
            len(self._seen) - 1, part, matching_parts, self._missing, self._resolver, self._told
        )
        self._told += bool(seen.violations)
        self._contents[len(self._seen) - 1] = seen
        return matching_parts & ~self._schema.checker.inside | seen.satisfied

    def _accept(self, name: str | None, matching_parts: PartSet) -> None:
        """Update the status after an accepted part."""
        is_needed = bool(self._missing & matching_parts)
        self._missing &= ~matching_parts
        # Only a name that a missing part could have changes the possibilities.
        takes_a_chance = self._uses_up_a_name(name)
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

    def _uses_up_a_name(self, name: str | None) -> bool:
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
            word: StatusWord = "waiting" if demand.is_feasible() else "hopeless"
        except OutOfBudget:
            return Status("waiting", exact=False, missing=missing)
        return Status(word, missing=missing)
