"""Satisfiability: whether one body can meet all requirements of two schemas at once."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from messagebody._base.budget import Budget, OutOfBudget
from messagebody._base.media_types import WELL_KNOWN, is_json
from messagebody.compatibility._solver.containment import (
    EVERY_TYPE,
    clearly_contains,
    known_types,
    language_of,
    matches_type,
    priced_language,
    select,
)
from messagebody.compatibility._solver.contents import (
    Difference,
    OpenContents,
    Undecided,
    content_choices,
    takes,
)
from messagebody.compatibility._solver.cover import cover
from messagebody.compatibility._solver.languages import Language, PartSet, members, set_of
from messagebody.compatibility._solver.nearness import Beginnings
from messagebody.compatibility._solver.part_types import FilledType, Value
from messagebody.compatibility._solver.profile import Profile
from messagebody.compatibility._solver.search import search
from messagebody.compatibility._solver.step_costs import (
    CHARACTERS_READ,
    NAMES_LOOKED_UP,
    OPTIONS_TESTED,
    PATTERN_TAKEN,
)
from messagebody.globs import ContentTypePattern, NamePattern, name_pattern
from messagebody.schema import ContentSchema, PartType

if TYPE_CHECKING:
    from messagebody.compatibility._contents._question import ContentQuestions

_P = TypeVar("_P")

# With more needed parts, nearly all parts are reachable, and leaving out the others saves nothing.
_FEW_NEEDED: Final = 8


class NumberedPair:
    """A pair of schemas with numbered parts, so that a set of parts is a bit mask.

    The parts of the producer come first. Results about names, types and patterns are cached,
    because all searches of a decision need the same ones.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that should accept them.
        budget: the budget of all searches together.
    """

    def __init__(self, producer: Profile, consumer: Profile, budget: Budget) -> None:
        self.producer = producer
        self.consumer = consumer
        self.budget = budget
        self.names = producer.names + consumer.names
        self.types = producer.types + consumer.types
        self.first: PartSet = (1 << len(producer.names)) - 1
        self.second: PartSet = ((1 << len(consumer.names)) - 1) << len(producer.names)
        self.unnamed: PartSet = _bits(name is None for name in self.names)
        self.required: PartSet = _bits(producer.required + consumer.required)
        self.inside: PartSet = 0
        """The schema parts that say what is inside."""
        if producer.has_contents or consumer.has_contents:
            self.inside = _bits(
                part.content_schema is not None for part in producer.parts + consumer.parts
            )
        self.left_open: dict[Undecided, None] = {}
        """Questions about contents that were left open."""
        self._of_name: dict[str | None, PartSet] = {None: self.unnamed}
        self._of_type: dict[str, PartSet] = {}
        self._near_names: dict[int, PartSet] = {}
        self._near_types: dict[int, PartSet] = {}
        self._words: dict[NamePattern | None, tuple[list[str], Iterator[str]]] = {}
        self._options: dict[Any, list[tuple[PartSet, str]]] = {}

    def matching_name(self, name: str | None) -> PartSet:
        """Return the schema parts whose name pattern matches a name (None: no name)."""
        found = self._of_name.get(name)
        if found is None and name is not None:
            # Only patterns whose prefix begins the name are tested; most schemas have few of them.
            near = self._name_beginnings.near_word(name)
            self.budget.spend(1 + len(name) // CHARACTERS_READ)
            found = 0
            for index in members(near):
                # Equal patterns are tested once.
                if near >> index & 1:
                    alike = self._of_equal_name[index]
                    near &= ~alike
                    found |= alike if self._matches_name(index, name) else 0
            self._of_name[name] = found
        return found or 0

    @cached_property
    def _of_equal_name(self) -> list[PartSet]:
        """For each schema part, the schema parts with the same name pattern."""
        return [self._of_name_pattern[pattern] for pattern in self.names]

    @cached_property
    def _of_name_pattern(self) -> dict[NamePattern | None, PartSet]:
        return _positions(self.names)

    @cached_property
    def _of_type_pattern(self) -> dict[ContentTypePattern, PartSet]:
        return _positions(self.types)

    def content_of(self, index: int) -> ContentSchema | None:
        """Return what a schema part says of what is inside."""
        count = len(self.producer)
        part = self.producer.parts[index] if index < count else self.consumer.parts[index - count]
        return part.content_schema

    def covers(self, outer: ContentSchema, inner: ContentSchema | None) -> bool:
        """Return whether it is certain that a schema takes all contents that another takes."""
        if inner is None:
            return False  # what is not JSON
        try:
            return self._questions.ask([inner], [outer]) is None
        except OutOfBudget:
            return False

    def differences(
        self, index: int, name: str | None, refused: ContentSchema, refused_value: Value = None
    ) -> "tuple[list[Difference], bool]":
        """Return where contents of a producer part of some name may be what a schema refuses.

        Arguments:
            index: the producer part.
            name: the name.
            refused: the schema.
            refused_value: a content that it refuses: what it breaks comes first.

        Returns:
            The differences, and whether these are all.

        Raises:
            OutOfBudget: the budget ended first.
        """
        here = members(self.matching_name(name) & self.first & self.inside)
        # A name has one part, so it meets all that is required of this name and no other.
        met = [
            self.content_of(each)
            for each in here
            if each == index or (self.required >> each & 1 and self._is_single(each))
        ]
        known = [content for content in met if content is not None]
        return self._questions.differences(known, refused, refused_value)

    def _is_single(self, index: int) -> bool:
        pattern = self.names[index]
        return pattern is not None and pattern.literal is not None

    def clearly_takes(self, outer: int, inner: int) -> bool:
        """Return whether it is clear that a schema part takes the types and contents of another."""
        if not clearly_contains(self.types[outer], self.types[inner]):
            return False
        content = self.content_of(outer) if self.inside >> outer & 1 else None
        return content is None or content == self.content_of(inner)

    def matching_type(self, content_type: str) -> PartSet:
        """Return the schema parts that take a content type, with its content if it has one."""
        found = self._of_type.get(content_type)
        if found is None:
            near = members(self._type_beginnings.near_word(content_type))
            self.budget.spend(1 + len(near))
            found = sum(
                1 << i for i in near if matches_type(self.types[i], content_type, self.budget)
            )
            self._of_type[str(content_type)] = found
        if isinstance(content_type, FilledType):
            for index in members(found & self.inside):
                content = self.content_of(index)
                if content is not None and not takes(content, content_type):
                    found &= ~(1 << index)
        return found

    def _matches_name(self, index: int, name: str) -> bool:
        pattern = self.names[index]
        return pattern is not None and bool(select(pattern, [name], self.budget))

    def accepting_parts(self, part: PartType) -> PartSet:
        """Return the schema parts that accept a message part."""
        return self.matching_name(part.name) & self.matching_type(part.content_type)

    def near_names(self, index: int) -> PartSet:
        """Return the schema parts that may accept a name that one schema part accepts."""
        if index not in self._near_names:
            pattern = self.names[index]
            near = self.unnamed if pattern is None else self._name_beginnings.near(pattern)
            self._near_names[index] = near
        return self._near_names[index]

    def near_types(self, index: int) -> PartSet:
        """Return the schema parts that may accept a content type that one schema part accepts."""
        if index not in self._near_types:
            self._near_types[index] = self._type_beginnings.near(self.types[index])
        return self._near_types[index]

    @cached_property
    def _name_beginnings(self) -> Beginnings:
        return Beginnings(self.names)

    @cached_property
    def _type_beginnings(self) -> Beginnings:
        return Beginnings(self.types)

    def name_language(self, index: int) -> Language:
        """Return the language of the name pattern of a named schema part."""
        pattern = self.names[index]
        assert pattern is not None  # noqa: S101 - only named parts are asked for
        return priced_language(pattern, self.budget)

    def names_of(self, index: int) -> Iterator[str]:
        """Yield the names that the pattern of a named schema part matches, shortest first.

        They are cached, because the search for each requirement needs all of them.
        """
        pattern = self.names[index]
        if pattern not in self._words:
            self._words[pattern] = [], self.name_language(index).words(self.budget)
        found, more = self._words[pattern]
        for place in itertools.count():
            if place == len(found):
                try:
                    found.append(next(more))
                    self.budget.hold(len(found[-1]))
                except StopIteration:
                    return
                except OutOfBudget:
                    # A generator that has raised an error would seem to be finished.
                    self._words.pop(pattern, None)
                    raise
            yield found[place]

    def are_all_names(self, index: int, names: Collection[str]) -> bool:
        """Return whether a named schema part matches only these names, all of which it matches."""
        if self.name_language(index).is_infinite:
            return False
        return len(list(itertools.islice(self.names_of(index), len(names) + 1))) <= len(names)

    def types_at(
        self, good: PartSet, bad: PartSet, need: Sequence[PartSet]
    ) -> list[tuple[PartSet, str]]:
        """Return the result of `type_words` as a list, cached, because many names need the same."""
        key = good, bad, tuple(need)
        if key not in self._options:
            self._options[key] = list(self.type_words(good=good, bad=bad, need=need))
        return self._options[key]

    def type_words(
        self, *, good: PartSet, bad: PartSet = 0, need: Sequence[PartSet]
    ) -> Iterator[tuple[PartSet, str]]:
        """Yield sets of schema parts that one content type matches, with that type.

        Only optimal sets are yielded, as in `search`; the type is well-known if possible. The sets
        leave out schema parts that share no type with the needed parts. If some schema part says
        what is inside, a JSON type comes with a content.

        Arguments:
            good: schema parts that the type should match.
            bad: schema parts that the type should not match.
            need: sets of schema parts; the type matches one part of each set.
        """
        chosen = _reachable(good | bad, need, self.near_types)
        labels = self._labels(chosen, self.types, self._of_type_pattern)
        if self.inside and all(pattern.literal is not None for pattern in labels):
            yield from self._literal_types(labels, good, bad, need)
            return
        languages = [
            (label, priced_language(pattern, self.budget)) for pattern, label in labels.items()
        ]
        for signature, word in search(languages, self.budget, good=good, bad=bad, need=need):
            self.budget.spend(len(labels) // OPTIONS_TESTED)
            known = EVERY_TYPE
            for pattern, label in labels.items():
                matched = known_types(pattern)
                # A well-known type with the same matches is easier to read than an invented type.
                known &= matched if label & signature else ~matched
            kind = WELL_KNOWN[members(known)[0]] if known else word
            if self.inside and is_json(kind):
                yield from self._with_contents(signature, kind, good, bad, need)
            else:
                yield signature, kind

    def _literal_types(
        self,
        labels: Mapping[ContentTypePattern, PartSet],
        good: PartSet,
        bad: PartSet,
        need: Sequence[PartSet],
    ) -> Iterator[tuple[PartSet, str]]:
        """Yield what `type_words` does if each pattern is a single type."""
        matching: dict[str, PartSet] = {}
        for pattern, label in labels.items():
            kind = pattern.literal or ""
            matching[kind] = matching.get(kind, 0) | label
        for kind, signature in matching.items():
            if all(signature & group for group in need):
                if is_json(kind):
                    yield from self._with_contents(signature, kind, good, bad, need)
                else:
                    yield signature, kind

    def _with_contents(
        self, matching: PartSet, kind: str, good: PartSet, bad: PartSet, need: Sequence[PartSet]
    ) -> Iterator[tuple[PartSet, str]]:
        """Yield the sets of schema parts that take a type with some content, and with which."""
        parts: dict[ContentSchema, PartSet] = {}
        for index in members(matching & self.inside & (good | bad)):
            content = self.content_of(index)
            if content is not None:
                parts[content] = parts.get(content, 0) | 1 << index
        contents = [(content, bool(each & good)) for content, each in parts.items()]
        try:
            for taken, value in content_choices(contents, self._questions, self.budget):
                matching_parts = matching
                for each, takes in zip(parts.values(), taken, strict=True):
                    matching_parts &= -1 if takes else ~each
                if all(matching_parts & group for group in need):
                    yield matching_parts, FilledType(kind, value)
                # Nothing is better than all that is good and nothing that is bad.
                if (
                    matching_parts & good == matching & good
                    and not matching_parts & bad & self.inside
                ):
                    return
        except OpenContents as error:
            self.left_open[error.why] = None
            raise

    @cached_property
    def _questions(self) -> "ContentQuestions":
        # Loaded here, because few schemas say what is inside.
        from messagebody.compatibility._contents._question import ContentQuestions

        return ContentQuestions(self.budget)

    def _labels(
        self, chosen: PartSet, patterns: Sequence[_P], alike: Mapping[_P, PartSet]
    ) -> dict[_P, PartSet]:
        """Return, for each pattern, the chosen schema parts that have it.

        Equal patterns are searched once, under the labels of all their parts.
        """
        is_part = chosen.bit_count() < len(alike)
        taken = dict.fromkeys([patterns[i] for i in members(chosen)]) if is_part else alike
        self.budget.spend(len(taken) * PATTERN_TAKEN)
        return {pattern: label for pattern in taken if (label := alike[pattern] & chosen)}

    def name_words(
        self,
        *,
        good: PartSet,
        bad: PartSet = 0,
        need: Sequence[PartSet],
        without: Iterable[str] = (),
    ) -> Iterator[tuple[PartSet, str]]:
        """Yield sets of named schema parts that one name matches, with a shortest such name.

        Arguments:
            good: schema parts that the name should match.
            bad: schema parts that the name should not match.
            need: sets of schema parts; the name matches one part of each set.
            without: names to leave out.
        """
        chosen = _reachable((good | bad) & ~self.unnamed, need, self.near_names)
        labels = self._labels(chosen, self.names, self._of_name_pattern)
        languages = [
            (label, priced_language(pattern, self.budget))
            for pattern, label in labels.items()
            if pattern
        ]
        taken = 1 << len(self.names)
        # Each name to leave out becomes one more bad pattern.
        languages += [(taken, language_of(name_pattern(name))) for name in without]
        for signature, word in search(
            languages, self.budget, good=good, bad=bad | taken, need=need
        ):
            if not signature & taken:
                yield signature, word


def _reachable(parts: PartSet, need: Sequence[PartSet], near: Callable[[int], PartSet]) -> PartSet:
    """Leave out the parts that share no word with the needed parts."""
    for group in need:
        # A word has to match a part of the group, so it never matches a part that is disjoint from
        # all of them.
        if group.bit_count() <= _FEW_NEEDED:
            reach = 0
            for index in members(group):
                reach |= near(index)
            parts &= reach
    return parts


def _union(groups: Iterable[PartSet]) -> PartSet:
    union = 0
    for group in groups:
        union |= group
    return union


def _bits(flags: Iterable[bool]) -> PartSet:
    bits = 0
    for index, flag in enumerate(flags):
        if flag:
            bits |= 1 << index
    return bits


def _positions(patterns: Iterable[_P]) -> dict[_P, PartSet]:
    """Return the positions of each pattern."""
    found: dict[_P, list[int]] = {}
    for position, pattern in enumerate(patterns):
        found.setdefault(pattern, []).append(position)
    return {pattern: set_of(each) for pattern, each in found.items()}


class Problem:
    """A satisfiability problem: the parts that a body must have, may have and must not have.

    Arguments:
        pair: the schema parts.
        required: schema parts; for each, some part of the body must satisfy it.
        accepted: sets of schema parts; each part of the body must satisfy one part of each set.
        avoided: schema parts that no part of the body may satisfy.
        taken: names that no part of the body may have.
        base: the same problem without avoided parts. Its results are valid here for names that
            match no avoided part.
    """

    def __init__(
        self,
        pair: NumberedPair,
        *,
        required: PartSet,
        accepted: Sequence[PartSet],
        avoided: PartSet = 0,
        taken: Collection[str] = (),
        base: "Problem | None" = None,
    ) -> None:
        self._pair = pair
        self._base = base
        self._required = required
        self._accepted = accepted
        self._avoided = avoided
        self._taken = taken
        self._types: dict[int, list[int]] = {}
        self._options: dict[str, list[tuple[int, str]]] = {}

    def avoiding(self, avoided: PartSet) -> "Problem":
        """Return the same problem with some avoided schema parts."""
        return Problem(
            self._pair,
            required=self._required,
            accepted=self._accepted,
            avoided=avoided,
            base=self,
        )

    def allows(self, matching_parts: PartSet) -> bool:
        """Return whether a part that satisfies these schema parts may be in the body."""
        return not matching_parts & self._avoided and all(
            matching_parts & group for group in self._accepted
        )

    def solve(self, fixed: PartType | None = None) -> list[PartType] | None:
        """Return the parts of a body with short names, or None if the problem has no solution.

        Arguments:
            fixed: an allowed part that the body must have.

        Raises:
            OutOfBudget: the search ended early.
        """
        if not self._is_possible:
            return None
        body = [] if fixed is None else [fixed]
        chosen = self._choose(body)
        return None if chosen is None else self._add_large_parts(body + chosen)

    def is_feasible(self) -> bool:
        """Return whether the problem has a solution.

        Raises:
            OutOfBudget: the search ended early.
        """
        return self._is_possible and self._choose(()) is not None

    @cached_property
    def critical_names(self) -> list[str]:
        """The names that small required parts compete for, shortest first."""
        names = {name for each in self._small.values() for name in each}
        return sorted(names, key=lambda name: (len(name), name))

    # Small and large

    @cached_property
    def _is_possible(self) -> bool:
        """Whether each required part, taken alone, can be satisfied."""
        unnamed = members(self._required & self._pair.unnamed)
        return all(self._type_at(None, index) for index in unnamed) and all(self._small.values())

    @cached_property
    def _small(self) -> dict[int, list[str]]:
        """For each small required part, the names that can satisfy it."""
        # A part with more names than there are requirements always finds a free name, so it does
        # not constrain the others.
        most = self._required.bit_count()
        small = self._small_of_base()
        for index in members(self._required & ~self._pair.unnamed):
            if index in small:
                continue
            # This test is cheaper than listing names, and true for most patterns with a star.
            if not self._is_surely_large(index):
                # One name more than `most` proves that the part is large.
                names = list(itertools.islice(self._names(index), most + 1))
                if len(names) <= most:
                    small[index] = names
        return small

    def _small_of_base(self) -> dict[int, list[str]]:
        """Return the small parts of the base, with the names that remain despite avoided parts."""
        if self._base is None:
            return {}
        small, pair = self._base._small, self._pair
        hit = {n for n in self._base.critical_names if pair.matching_name(n) & self._avoided}
        pair.budget.spend(sum(map(len, small.values())) // NAMES_LOOKED_UP)
        return {
            index: [
                name for name in names if name not in hit or self._can_still_satisfy(index, name)
            ]
            for index, names in small.items()
        }

    def _can_still_satisfy(self, index: int, name: str) -> bool:
        """Return whether a name can still satisfy a part although avoided parts also match it."""
        pair, names = self._pair, self._pair.matching_name(name)
        pair.budget.spend(1)
        if any(pair.clearly_takes(each, index) for each in members(names & self._avoided)):
            return False
        bit = 1 << index
        return any(
            names & types & bit and self.allows(names & types) for types in self._types_of(index)
        )

    def _is_surely_large(self, index: int) -> bool:
        """Return whether a quick test shows that infinitely many names satisfy a part."""
        return self._pair.name_language(index).is_infinite and any(
            self.allows(types & 1 << index) and not types & self._avoided
            for types in self._types_of(index)
        )

    def _types_of(self, index: int) -> list[int]:
        """Return the sets of named schema parts that a content type of this part can match."""
        if index not in self._types:
            named = ~self._pair.unnamed
            need = 1 << index
            words = self._pair.type_words(
                good=(need | self._helpful_parts) & named, bad=self._avoided & named, need=(need,)
            )
            self._types[index] = [signature for signature, _ in words]
        return self._types[index]

    @cached_property
    def _helpful_parts(self) -> int:
        """Schema parts that help a name to be accepted by both schemas; none for one schema."""
        if len(self._accepted) < 2:
            return 0
        return _union(self._accepted)

    def _names(self, index: int) -> Iterator[str]:
        """Yield the names that can satisfy a named required part; all of them if finitely many."""
        pair, types, bit = self._pair, self._types_of(index), 1 << index

        # Only these parts matter, so most names are equivalent.
        relevant, known = bit | self._avoided | _union(self._accepted), dict[int, bool]()

        def fits(names: int) -> bool:
            names &= relevant
            if names not in known:
                known[names] = any(names & t & bit and self.allows(names & t) for t in types)
            return known[names]

        language = pair.name_language(index)
        found = []
        # Listing the shortest words is fast if most of them fit. After `limit` words, a search for
        # fitting names is better.
        limit = 4 * self._required.bit_count() + 16 + len(self._taken)
        if language.is_infinite and self._helpful_parts:
            limit = 0  # the other schema rejects too many of these names
        for tried, name in enumerate(pair.names_of(index)):
            if tried == limit:
                break
            pair.budget.spend(1)
            if name not in self._taken and fits(pair.matching_name(name)):
                found.append(name)
                yield name
        else:
            return
        # Few of many names fit, so search for them, without those that are found or taken.
        found += [name for name in self._taken if pair.matching_name(name) & bit]
        good, bad = self._helpful_parts & ~pair.unnamed | bit, self._avoided & ~pair.unnamed
        while True:
            search = pair.name_words(good=good, bad=bad, need=(bit,), without=found)
            another = next((name for names, name in search if fits(names)), None)
            if another is None:
                return
            # A search finds one name; longer forms of it fill the list without another search.
            for name in (another, *self._lengthened_names(another, fits)):
                if name not in found:
                    found.append(name)
                    yield name

    def _lengthened_names(self, name: str, fits: Callable[[int], bool]) -> Iterator[str]:
        """Yield names made by inserting letters into a name, as long as they fit.

        If infinitely many names fit, they mostly differ in the text that a star matches.
        """
        for place in range(1, len(name) + 1):
            for count in range(1, self._required.bit_count() + 2):
                longer = name[:place] + "a" * count + name[place:]
                if longer in self._taken or not fits(self._pair.matching_name(longer)):
                    break
                yield longer

    # Choosing and completing

    def _choose(self, body: Sequence[PartType]) -> list[PartType] | None:
        """Return parts with critical names that satisfy all small parts that are still unmet."""
        taken = {part.name for part in body}
        # Large parts are left out, because each gets a fresh name afterwards.
        needs = sum(1 << index for index in self._small) & ~self._satisfied(body)
        names = [name for name in self.critical_names if name not in taken] if needs else []
        options = [self._options_at(name) for name in names]
        # Options that meet no open need would only widen the search.
        self._pair.budget.spend(sum(map(len, options)) // OPTIONS_TESTED)
        slots = [
            [matching_parts & needs for matching_parts, _ in each if matching_parts & needs]
            for each in options
        ]
        choice = cover(slots, needs, self._pair.budget)
        if choice is None:
            return None
        return [
            PartType(
                name,
                next(kind for matching_parts, kind in each if matching_parts & needs == chosen),
            )
            for name, each, chosen in zip(names, options, choice, strict=True)
            if chosen is not None
        ]

    def _satisfied(self, body: Sequence[PartType]) -> int:
        satisfied = 0
        for part in body:
            satisfied |= self._pair.accepting_parts(part)
        return satisfied & self._required

    def _options_at(self, name: str) -> list[tuple[int, str]]:
        """Return sets of schema parts that a part of this name can satisfy, each with a type."""
        if name not in self._options:
            names = self._pair.matching_name(name)
            if self._base is not None and not names & self._avoided:
                return self._base._options_at(name)
            self._options[name] = list(self._allowed_types(names, 0))
        return self._options[name]

    def _allowed_types(self, names: int, need: int) -> Iterator[tuple[int, str]]:
        """Yield (hits, content type) for allowed parts whose name matches these schema parts."""
        accepted = [group & names for group in self._accepted]
        words = self._pair.types_at(
            self._required & names | _union(accepted),
            self._avoided & names,
            [*accepted, need & names] if need else accepted,
        )
        for signature, kind in words:
            if not signature & self._avoided:
                yield signature, kind

    def _type_at(self, name: str | None, index: int) -> str | None:
        """Return a content type for a part of this name that satisfies a required part."""
        allowed = self._allowed_types(self._pair.matching_name(name), 1 << index)
        return next((kind for matching_parts, kind in allowed if matching_parts >> index & 1), None)

    def _add_large_parts(self, body: list[PartType]) -> list[PartType]:
        """Add a part for each large required part that is not satisfied yet."""
        satisfied, taken = self._satisfied(body), {part.name for part in body}
        for index in members(self._required):
            if not satisfied >> index & 1:
                part = self._fresh_name(index, taken)
                body.append(part)
                taken.add(part.name)
                satisfied |= self._pair.accepting_parts(part)
        return body

    def _fresh_name(self, index: int, taken: Collection[str | None]) -> PartType:
        name = None
        if not self._pair.unnamed >> index & 1:
            name = next(name for name in self._names(index) if name not in taken)
        kind = self._type_at(name, index)
        assert kind is not None  # noqa: S101 - the part is possible, and the name one of its names
        return PartType(name, kind)
