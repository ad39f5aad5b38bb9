"""Pre-filter of decisions: cheap tests with samples and texts that settle most parts.

A consumer accepts a producer part if one consumer part contains it, or if each of its alternatives
lies in some consumer part. To show that it does not, one body is enough. It is made of samples: a
likely name for each schema part, and the well-known content types. Answers are always right, and
open questions go to the full search. The pre-filter has a budget of its own; when it is used up,
all further questions stay open.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody._base.media_types import WELL_KNOWN
from messagebody.compatibility._solver.containment import (
    alternatives,
    are_disjoint,
    contains,
    includes,
    is_type,
    matches_type,
    select,
    shared_word,
    texts_of,
)
from messagebody.compatibility._solver.languages import TypeSet, members
from messagebody.compatibility._solver.nearness import Beginnings
from messagebody.compatibility._solver.part_types import Types
from messagebody.compatibility._solver.profile import Profile, lowest
from messagebody.compatibility._solver.step_costs import CHARACTERS_READ, PATTERN_WRITTEN
from messagebody.globs import NamePattern, PatternIndex
from messagebody.names import is_name
from messagebody.schema import PartType


class Answer:
    """The answer to a search for a body: found, refuted or open.

    Arguments:
        body: the body; None if none was found.
        is_settled: whether the answer is certain; without a body, an unsettled answer is open.
        make: a function that makes the body on first access.
    """

    __slots__ = ("_body", "_make", "is_found", "is_settled")

    def __init__(
        self,
        body: Types | None,
        *,
        is_settled: bool = True,
        make: Callable[[], Types] | None = None,
    ) -> None:
        self.is_settled = is_settled
        self.is_found = body is not None or make is not None
        self._body = body
        self._make = make

    @property
    def is_refuted(self) -> bool:
        """Whether it is certain that no such body exists."""
        return self.is_settled and not self.is_found

    @property
    def body(self) -> Types | None:
        """The body, None if none was found."""
        if self._body is None and self._make is not None:
            self._body = self._make()
        return self._body


NONE: Final = Answer(None)
OPEN: Final = Answer(None, is_settled=False)

_FEW: Final = 1024
"""Up to this many matches of names with patterns are neither avoided nor charged."""

_TRIED: Final = 8
"""The number of alternatives of a part that are tried with a sample."""


class _MatchedSchema:
    """A schema with the tried content types that each part matches, as bits."""

    def __init__(self, profile: Profile, odd_types: Sequence[str], budget: Budget) -> None:
        self.profile = profile
        self.budget = budget
        self.kinds = [*profile.kinds]
        # Most patterns have another prefix, so only few have to be tested.
        beginnings = Beginnings(profile.types) if odd_types else None
        for number, kind in enumerate(odd_types, len(WELL_KNOWN)):
            near = members(beginnings.near_word(kind)) if beginnings else []
            budget.spend(1 + len(near))
            for index in near:
                if matches_type(profile.types[index], kind, budget):
                    self.kinds[index] |= 1 << number

    def union(self, chosen: Iterable[int]) -> TypeSet:
        """Return the content types that at least one of the chosen parts matches."""
        union = 0
        for index in chosen:
            union |= self.kinds[index]
        return union

    def accepts(self, part: PartType) -> bool:
        """Return whether some schema part accepts a message part."""
        return any(
            matches_type(self.profile.types[index], part.content_type, self.budget)
            for index in self.accepting_one(part.name)
        )

    def accepting(self, names: Sequence[str | None]) -> list[list[int]]:
        """Return, for each name (None: no name), the schema parts whose name pattern it matches."""
        if len(names) * len(self.profile.names) > _FEW:
            return [self.accepting_one(name) for name in names]
        found: list[list[int]] = [[] for _ in names]
        unnamed = [position for position, name in enumerate(names) if name is None]
        # No pattern matches "", and a list of only texts is searched faster.
        words = [name or "" for name in names] if unnamed else names
        select = self._selecting(words, len(self.profile.names))
        for index, pattern in enumerate(self.profile.names):
            for position in unnamed if pattern is None else select(pattern):
                found[position].append(index)
        return found

    def accepting_one(self, name: str | None) -> list[int]:
        """Return the schema parts whose name pattern a name matches (None: no name), in order.

        The name is looked up, at a cost that hardly grows with the number of schema parts.
        """
        if name is None:
            return self.unnamed
        plain, shapes, others = self._crowd
        found = [plain[each] for each in members(shapes.find(name))] if name else []
        near = members(others.near_word(name))
        self.budget.spend(1 + (len(name) + len(found) + len(near)) // CHARACTERS_READ)
        for index in near:
            pattern = self.profile.names[index]
            if pattern is not None and select(pattern, [name], self.budget):
                found.append(index)
        return sorted(found)

    @cached_property
    def unnamed(self) -> list[int]:
        """The schema parts for unnamed parts."""
        return [index for index, pattern in enumerate(self.profile.names) if pattern is None]

    @cached_property
    def _crowd(self) -> tuple[list[int], PatternIndex, Beginnings]:
        """The plain patterns with an index of them, and an index of the other patterns."""
        names = self.profile.names
        plain = {i: p for i, p in enumerate(names) if p is not None and p.shapes}
        self.budget.spend(PATTERN_WRITTEN * len(names) // CHARACTERS_READ)
        others = Beginnings([None if i in plain else p for i, p in enumerate(names)])
        return [*plain], PatternIndex([*plain.values()]), others

    def including(self, pattern: NamePattern | None, text: str | None) -> list[int]:
        """Return the schema parts whose name pattern surely contains an alternative of a pattern.

        Arguments:
            pattern: the pattern; None for unnamed parts.
            text: its alternative; None for unnamed parts.
        """
        if pattern is None or text is None:
            return self.unnamed
        alike, directories = self._texts
        names = self.profile.names
        above = members(directories.near(pattern))
        self.budget.spend(1 + len(above))
        found = [j for j in above if (name := names[j]) is not None and includes(name, text)]
        return found + alike.get(text, [])

    @cached_property
    def _texts(self) -> tuple[dict[str, list[int]], Beginnings]:
        """The schema parts by each alternative of their names, and an index of those with stars."""
        alike: dict[str, list[int]] = {}
        above: list[NamePattern | None] = []
        for index, pattern in enumerate(self.profile.names):
            texts, directories = (frozenset[str](), ()) if pattern is None else texts_of(pattern)
            for text in texts:
                alike.setdefault(text, []).append(index)
            has_stars = pattern is not None and (pattern.is_universal or directories)
            above.append(pattern if has_stars else None)
        return alike, Beginnings(above)

    @cached_property
    def accepting_samples(self) -> list[list[int]]:
        """For each sample of the schema, the schema parts whose name pattern it matches."""
        return self.accepting(self.profile.samples)

    @cached_property
    def select_samples(self) -> "_Select":
        """A function that returns the positions of the samples a pattern matches."""
        samples = self.profile.samples
        return self._selecting(samples, len(samples))

    def _selecting(self, names: Sequence[str | None], times: int) -> "_Select":
        if len(names) * times <= _FEW:
            return lambda pattern: (
                pattern.select(names) if pattern.shapes else select(pattern, names, self.budget)
            )
        return _SortedNames(names, self.budget).select


_Select = Callable[[NamePattern], list[int]]


class _SortedNames:
    """Many sorted names, so that a pattern is tested only against names with its prefix."""

    def __init__(self, names: Sequence[str | None], budget: Budget) -> None:
        # Names with the same prefix are adjacent, so bisection finds all that a pattern can match.
        order = sorted((name, place) for place, name in enumerate(names) if name)
        self._names = [name for name, _ in order]
        self._places = [place for _, place in order]
        self._budget = budget

    def select(self, pattern: NamePattern) -> list[int]:
        first = bisect_left(self._names, pattern.prefix)
        # 0x7F sorts after every character of a name.
        last = bisect_left(self._names, pattern.prefix + chr(0x7F), first)
        found = select(pattern, self._names[first:last], self._budget)
        return [self._places[first + i] for i in found]


class Sampling:
    """The pre-filter for a pair: an answer for each part, from samples and single parts.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that should accept them.
    """

    def __init__(self, producer: Profile, consumer: Profile) -> None:
        # A budget of its own, so that the pre-filter does not use up the steps of the searches.
        self._budget = Budget(DEFAULT_STEPS)
        self._profiles = producer, consumer
        # Samples of names and types say nothing of contents.
        self._has_contents = producer.has_contents or consumer.has_contents
        self._accepted: dict[int, list[int]] = {}

    @cached_property
    def _odd_types(self) -> list[str]:
        producer, consumer = self._profiles
        return [kind for kind in dict.fromkeys(producer.odd_types + consumer.odd_types) if kind]

    @cached_property
    def _producer(self) -> _MatchedSchema:
        return _MatchedSchema(self._profiles[0], self._odd_types, self._budget)

    @cached_property
    def _consumer(self) -> _MatchedSchema:
        return _MatchedSchema(self._profiles[1], self._odd_types, self._budget)

    def valid_body(self) -> Answer:
        """Return a body that is valid for the producer."""
        return self._within_budget(lambda _: self._valid_body(), 0)

    def _valid_body(self) -> Answer:
        side = self._producer
        for index in side.profile.required_parts:
            # A pattern of a required part matches no name or no type, so no body is valid.
            if side.profile.samples[index] == "" or not side.kinds[index]:
                return NONE
        return Answer(None, make=lambda: self._body_of({})) if self._has_easy_body else OPEN

    def occurrence(self, index: int) -> Answer:
        """Return a valid body with a part that a producer part accepts."""
        return self._within_budget(self._occurrence, index)

    def _occurrence(self, index: int) -> Answer:
        side = self._producer
        if side.profile.samples[index] == "" or not side.kinds[index]:
            return NONE
        return self._body_with(index, side.kinds[index])

    def rejection(self, index: int) -> Answer:
        """Return a valid body with a part of one producer part that the consumer rejects."""
        return self._within_budget(self._rejection, index)

    def omission(self, wanted: int) -> Answer:
        """Return a valid body of the producer that lacks the part one consumer part requires."""
        return self._within_budget(self._omission, wanted)

    def shared(self) -> Answer:
        """Return a body that is valid for both schemas."""
        return self._within_budget(lambda _: self._shared_by_samples(), 0)

    def _within_budget(self, ask: Callable[[int], Answer], index: int) -> Answer:
        # If the budget is used up, further attempts are useless.
        if self._has_contents or self._budget.left < 0:
            return OPEN
        try:
            return ask(index)
        except OutOfBudget:
            return OPEN

    def _rejection(self, index: int) -> Answer:
        mine, theirs = self._producer, self._consumer
        kinds = mine.kinds[index]
        if mine.profile.samples[index] == "" or not kinds:
            return NONE
        accepting = self._accepting(index)
        rejected = kinds & ~theirs.union(accepting)
        if rejected:
            # One rejected sample is a proof if a valid body can have it.
            return self._body_with(index, rejected)
        # A part is accepted in any body if one consumer part contains it, or if each of its
        # alternatives lies in one.
        if any(_is_inside(mine, index, theirs, j) for j in accepting):
            return NONE
        alone = self._alternatives_left(index)
        if alone == []:
            return NONE
        for name, kind in (alone or [])[:_TRIED]:
            part = self._sample_of(name, kind)
            if part is not None and self._has_easy_body and not theirs.accepts(part):
                return Answer([part, *self._body_of({})])
        return OPEN

    def _alternatives_left(self, index: int) -> list[tuple[str | None, str]] | None:
        """Return the alternatives of a part that lie in no consumer part, judged by their texts.

        Most unions in practice are one brace on one side and several parts on the other. None if
        the part is not a union, or if it has too many alternatives.
        """
        name, kind = self._producer.profile.names[index], self._producer.profile.types[index]
        names: Sequence[str | None] = (None,) if name is None else alternatives(name)
        kinds = alternatives(kind)
        count = len(names) * len(kinds)
        # A single alternative is the part itself, which was tested already.
        if not 1 < count <= _FEW:
            return None
        left: list[tuple[str | None, str]] = []
        for text in names:
            holding = self._consumer.including(name, text)
            self._budget.spend(len(kinds) * (1 + len(holding)))
            types = [self._consumer.profile.types[j] for j in holding]
            left += [(text, one) for one in kinds if not any(includes(each, one) for each in types)]
        return left

    def _sample_of(self, name: str | None, kind: str) -> PartType | None:
        """Return a part that matches both alternatives and whose name is not in the easy body."""
        # A globstar also matches exactly one segment.
        name = None if name is None else name.replace("**", "*").replace("*", "a")
        kind = kind.replace("*", "a")
        if not is_type(kind) or (
            name is not None and (not is_name(name) or name in self._easy_names)
        ):
            return None
        return PartType(name, kind)

    def _omission(self, wanted: int) -> Answer:
        mine, theirs = self._producer, self._consumer
        meeting = self._meeting[wanted]
        # Every valid body meets a required producer part, and so a wanted part that contains it.
        if any(_is_inside(mine, index, theirs, wanted) for index in meeting):
            return NONE
        # The types that remain for each required part if it must not satisfy the wanted part.
        avoided = {index: mine.kinds[index] & ~theirs.kinds[wanted] for index in meeting}
        if self._has_easy_body and all(avoided.values()):
            return Answer(None, make=lambda: self._body_of(avoided))
        return OPEN

    def _accepting(self, index: int) -> list[int]:
        """Return the consumer parts whose name pattern matches the sample of a producer part."""
        if index not in self._accepted:
            samples = self._producer.profile.samples
            # In small schemas, all samples together are tried faster.
            if len(samples) * len(self._consumer.profile) <= _FEW:
                self._accepted |= enumerate(self._consumer.accepting(samples))
            else:
                self._accepted[index] = self._consumer.accepting_one(samples[index])
        return self._accepted[index]

    @cached_property
    def _meeting(self) -> dict[int, list[int]]:
        """For each required consumer part, the required producer parts whose sample it matches."""
        required = self._consumer.profile.required_parts
        meeting: dict[int, list[int]] = {wanted: [] for wanted in required}
        for index in self._producer.profile.required_parts:
            for wanted in self._accepting(index):
                if wanted in meeting:
                    meeting[wanted].append(index)
        return meeting

    @property
    def _has_easy_body(self) -> bool:
        return self._producer.profile.easy_body is not None

    def _shared_by_samples(self) -> Answer:
        body: dict[str | int, PartType] = {}
        sides = self._producer, self._consumer
        for side, other in (sides, sides[::-1]):
            required = side.profile.required_parts
            accepting = other.accepting([side.profile.samples[index] for index in required])
            for index, others in zip(required, accepting, strict=True):
                both = side.kinds[index] & other.union(others)
                part = self._shared_part(side, index, other, both)
                if part is None:
                    return NONE if _is_apart(side, index, other) else OPEN
                key = len(body) if part.name is None else part.name
                # A name can't have two types, so clashing samples leave the question to a search.
                if body.setdefault(key, part) != part:
                    return OPEN
        return Answer(list(body.values()))

    def _body_with(self, index: int, kinds: TypeSet) -> Answer:
        """Return a valid body that contains the sample of a part with one of some types."""
        if not self._has_easy_body:
            return OPEN
        side = self._producer
        # A required part is in the easy body already, so only its type is chosen.
        if side.profile.required[index]:
            return Answer(None, make=lambda: self._body_of({index: kinds}))
        sample = side.profile.samples[index]
        # A name occurs at most once in a body.
        if sample in self._easy_names:
            return OPEN
        return Answer(None, make=lambda: [self._part(sample, kinds), *self._body_of({})])

    @cached_property
    def _easy_names(self) -> set[str]:
        """The names in the easy body."""
        return {part.name for part in self._producer.profile.easy_body or () if part.name}

    def _body_of(self, chosen: Mapping[int, TypeSet]) -> Types:
        """Return a valid body of samples, with the types chosen for some parts."""
        side = self._producer
        return [
            self._part(side.profile.samples[index], chosen.get(index, side.kinds[index]))
            for index in side.profile.required_parts
        ]

    def _part(self, name: str | None, kinds: TypeSet) -> PartType:
        """Return a part with the likeliest of some content types."""
        number = lowest(kinds)
        if number < len(WELL_KNOWN):
            return PartType(name, WELL_KNOWN[number])
        return PartType(name, self._odd_types[number - len(WELL_KNOWN)])

    def _shared_part(
        self, side: _MatchedSchema, index: int, other: _MatchedSchema, both: TypeSet
    ) -> PartType | None:
        """Return a part that a schema part and another schema both accept, if easily found.

        Arguments:
            side: the schema of the part.
            index: the index of the part.
            other: the other schema.
            both: the types for which both accept the part's sample.
        """
        if both:
            return self._part(side.profile.samples[index], both)
        pattern = side.profile.names[index]
        if pattern is None or pattern.literal is not None:
            return None
        # Then the samples of the other side, which it accepts.
        for j in other.select_samples(pattern):
            both = side.kinds[index] & other.union(other.accepting_samples[j])
            if both:
                return self._part(other.profile.samples[j], both)
        # Then names with the prefix of one pattern and the suffix of the other.
        for theirs, kinds in zip(other.profile.names, other.kinds, strict=True):
            if theirs is None or not side.kinds[index] & kinds:
                continue
            self._budget.spend(1)
            name = shared_word(pattern, theirs, self._budget)
            if name is not None:
                both = side.kinds[index] & other.union(other.accepting_one(name))
                if both:
                    return self._part(name, both)
        return None


def _is_inside(inner: _MatchedSchema, i: int, outer: _MatchedSchema, j: int) -> bool:
    """Return whether it is certain that one schema part accepts everything another accepts."""
    budget = inner.budget
    budget.spend(1)
    # A type that only the inner part matches refutes it without a comparison of patterns.
    if inner.kinds[i] & ~outer.kinds[j]:
        return False
    if not contains(outer.profile.types[j], inner.profile.types[i], budget):
        return False
    mine, theirs = inner.profile.names[i], outer.profile.names[j]
    if mine is None or theirs is None:
        return mine is theirs
    return bool(contains(theirs, mine, budget))


def _is_apart(side: _MatchedSchema, index: int, other: _MatchedSchema) -> bool:
    """Return whether it is certain that a schema rejects everything a part of another accepts."""
    return all(_are_apart(side, index, other, j) for j in range(len(other.kinds)))


def _are_apart(one: _MatchedSchema, i: int, other: _MatchedSchema, j: int) -> bool:
    mine, theirs, budget = one.profile.names[i], other.profile.names[j], one.budget
    if (mine is None) is not (theirs is None):
        return True
    # Types first, because they are simple. With a shared well-known type, they are not disjoint.
    if not one.kinds[i] & other.kinds[j] and are_disjoint(
        one.profile.types[i], other.profile.types[j], budget
    ):
        return True
    return mine is not None and theirs is not None and bool(are_disjoint(mine, theirs, budget))
