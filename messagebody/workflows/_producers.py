"""What a sender may send: a part of each class that its schema and the steps tell apart."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Final

import attrs

from messagebody._core import Budget, FilledType, extension_of, is_json
from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.compatibility._solver.classes import numbers
from messagebody.compatibility._solver.contents import fillings, takes
from messagebody.compatibility._solver.profile import types_of
from messagebody.errors import DuplicateName
from messagebody.globs import NamePattern
from messagebody.schema import MessageBodySchema, PartType, SchemaPart
from messagebody.workflows._kinds import Setting, asked_types, kinds
from messagebody.workflows._paths import (
    STAY,
    NameClasses,
    NamePath,
    meetings,
    meetings_within,
    paths_of,
    places,
)
from messagebody.workflows._steps import Chain, Mount, Name, Retype, Rewrite, Show, Through

Stage = tuple[int, int]
"""The number of a chain, and how many of its steps are done."""
END: Final[Stage] = (-1, -1)
"""The stage where the parts of all chains, and of all senders, are together."""

_GIVEN: Final = 8
"""Steps of the budget for comparing a given name with a path."""
_MOST_COPIES: Final = 64
"""Bodies with more parts without a name are not made to show a collision."""


@attrs.frozen(eq=False)
class PartOption:
    """A part that a sender may send.

    Arguments:
        part: its name and type.
        sent: the schema parts of the sender that accept it, as bits.
        taken: the schema parts of the taker that accept what arrives of it, as bits.
        refused: how many of it have to be sent, so that something arrives that the taker does not
            accept; 0 if nothing ever does. It is more than one only if parts are numbered.
        names: the names on its path, each with the number of such parts in the body that has it:
            more than one if parts without a name are numbered.
    """

    part: PartType
    sent: int
    taken: int
    refused: int
    names: dict[tuple[Stage, str], int]


def hits(schema: Iterable[SchemaPart], part: PartType) -> int:
    """Return the schema parts that accept a part, as bits."""
    return sum(1 << i for i, each in enumerate(schema) if _accepts(each, part))


def _accepts(each: SchemaPart, part: PartType) -> bool:
    content, kind = each.content_schema, part.content_type
    if content is not None and not takes(content, kind):
        return False
    return _could_accept(each, part)


def _could_accept(each: SchemaPart, part: PartType) -> bool:
    """Return whether a schema part accepts a part with some content."""
    if part.name is None or each.name_pattern is None:
        if part.name is not each.name:
            return False
    elif not each.name_pattern.matches(part.name):
        return False
    return types_of(each).matches_essence(part.content_type)


class SteppedProducer:
    """A schema whose bodies go through steps to one taker.

    Arguments:
        schema: the schema.
        chains: the steps. With several chains, the body goes through each of them, and all that
            arrives is one body.
        setting: all who send to the taker.
        budget: the budget.
    """

    def __init__(
        self,
        schema: MessageBodySchema,
        chains: Sequence[Chain],
        setting: Setting,
        budget: Budget,
    ) -> None:
        self.schema = schema
        self.chains = chains
        self.required = sum(1 << i for i, part in enumerate(schema) if part.required)
        self.length = sum(map(len, chains))
        self._setting, self._taker = setting, setting.taker
        self._budget = budget
        self._questions = ContentQuestions(budget)
        self._patterns = [part.name_pattern for part in schema if part.name_pattern is not None]
        self._given = list(self._given_names())
        self._own = self._own_names()
        self._names = NameClasses(dict(self._own.literals), dict(self._own.patterns))
        self._numbers: dict[str, set[str]] = {}
        for partner in dict.fromkeys(self._own_meetings()):
            self._names.meet(partner, self._own, budget)
        self._number(self)
        for extension in self._extensions:
            self._numbers.setdefault(extension, set()).update(self._fates(extension))

    def meet(self, other: "SteppedProducer") -> None:
        """Tell names apart whose namesakes at the end another sender tells apart."""
        for partner in dict.fromkeys(meetings(self._paths[END], other._paths[END], self._budget)):
            self._names.meet(partner, other._own, self._budget)
        other._number(self)

    def arrive(self, parts: Sequence[PartType]) -> list[PartType]:
        """Return what arrives of the parts of a body.

        Raises:
            DuplicateName: two parts have the same name on the path.
        """
        return [part for chain in self.chains for part in passed(parts, chain)]

    @cached_property
    def is_exact(self) -> bool:
        """Whether the options say all about what arrives.

        They don't if a step is a message format, whose losses may depend on all parts together, or
        if it matters which number a part gets.
        """
        steps = [step for chain in self.chains for step in chain]
        return not any(isinstance(step, Through) for step in steps) and all(
            len(self._fates(extension)) == 1
            # A part that has lost its name gets a number behind others, which are not tried.
            and all(_count(each) <= (1 if self._shown else _MOST_COPIES) for each in found)
            for extension, found in self._numbers.items()
        )

    @cached_property
    def last_number(self) -> int:
        """The last number that matters, if it matters at all which number a part gets."""
        return max((_count(each) for found in self._numbers.values() for each in found), default=0)

    # NameClasses

    @cached_property
    def _paths(self) -> dict[Stage, list[NamePath]]:
        """The paths of names to each stage."""
        found: dict[Stage, list[NamePath]] = {END: []}
        for number, chain in enumerate(self.chains):
            for done, (step, paths) in enumerate(paths_of(chain, self._budget)):
                found[number, done] = paths
                if step is None:
                    found[END] += paths
        return found

    def _own_names(self) -> NameClasses:
        names = NameClasses()
        for pattern in self._patterns:
            names.test(pattern, STAY)
        for stage, tested in self._tests():
            self._budget.spend(len(self._paths[stage]) * len(tested))
            for path, pattern in product(self._paths[stage], tested):
                names.test(pattern, path)
        for number, chain in enumerate(self.chains):
            for done, step in enumerate(chain):
                for place in places(step, self._paths[number, done]):
                    names.mark(place)
        return names

    def _tests(self) -> Iterator[tuple[Stage, Sequence[NamePattern]]]:
        """Yield each stage with the patterns of names that are asked there."""
        for number, chain in enumerate(self.chains):
            for done, step in enumerate(chain):
                yield (number, done), step.tested_names
        yield END, [part.name_pattern for part in self._taker if part.name_pattern is not None]

    def _own_meetings(self) -> Iterator[NamePath]:
        """Yield how names become others that end up equal to them."""
        for paths in self._paths.values():
            yield from meetings_within(list(dict.fromkeys(paths)), self._budget)

    # Names that steps give to parts without one

    def _given_names(self) -> Iterator[tuple[Stage, NamePath]]:
        """Yield names, or what numbered ones begin with, at each stage after they are given."""
        for number, chain in enumerate(self.chains):
            for done, step in enumerate(chain):
                if not isinstance(step, Mount | Name):
                    continue
                text = f"{step.prefix}/" if isinstance(step, Mount) else step.name
                for later, (each, paths) in enumerate(
                    paths_of(chain[done + 1 :], self._budget, NamePath(text, text))
                ):
                    stage = END if each is None else (number, done + 1 + later)
                    yield from ((stage, path) for path in paths)

    def _number(self, other: "SteppedProducer") -> None:
        """Tell names of a sender apart from those that steps give to parts of this one."""
        for stage, given in self._given:
            if other is not self and stage != END:
                continue
            self._budget.spend(_GIVEN * len(other._paths[stage]))
            for path in other._paths[stage]:
                if given.is_whole:
                    other._names.equal(given.new, path)
                    continue
                for extension in self._extensions:
                    for number in self._numbers_for(given.new, extension, other, path):
                        self._numbers.setdefault(extension, set()).add(number)
                        other._names.equal(f"{given.new}{number}{extension}", path)

    def _numbers_for(
        self, text: str, extension: str, other: "SteppedProducer", path: NamePath
    ) -> list[str]:
        if path.is_whole or not text.startswith(path.new):
            number = path.new.removeprefix(text).removesuffix(extension)
            is_numbered = path.is_whole and f"{text}{number}{extension}" == path.new
            return [number] if is_numbered and _NUMBER.fullmatch(number) else []
        before = path.old + text[len(path.new) :]
        tests = [(pattern.automaton, before, extension) for pattern in other._patterns]
        return numbers(tests, self._budget)

    @cached_property
    def _extensions(self) -> list[str]:
        """The extensions of parts whose names are numbers."""
        if not self._may_number:
            return []
        retyped = [step.new for chain in self.chains for step in chain if isinstance(step, Retype)]
        kinds = (*self._unnamed_types, *retyped)
        return list(dict.fromkeys(extension_of(kind, default="") for kind in kinds))

    @cached_property
    def _may_number(self) -> bool:
        steps = [step for chain in self.chains for step in chain]
        return any(isinstance(step, Mount) for step in steps) and (
            any(part.name is None for part in self.schema)
            or any(isinstance(step, Show) for step in steps)
        )

    def _fates(self, extension: str) -> list[str]:
        """Return numbers with an extension, one for each fate that they may have."""
        tests = [
            (pattern.automaton, given.new, extension)
            for stage, tested in self._tests()
            for given, pattern in product(self._given_at(stage), tested)
            if not given.is_whole
        ]
        found = numbers(tests, self._budget)
        for number, chain in enumerate(self.chains):
            for done, step in enumerate(chain):
                found += _numbers_in(step.rewrite, self._given_at((number, done)), extension)
        return found

    def _given_at(self, stage: Stage) -> list[NamePath]:
        return [given for each, given in self._given if each == stage]

    # Types

    @cached_property
    def _types(self) -> list[str]:
        """A content type for each class of types."""
        steps = (step for chain in self.chains for step in chain)
        found, cost = kinds(asked_types([self.schema, self._taker], steps))
        self._budget.spend(cost)
        return found

    @cached_property
    def _unnamed_types(self) -> list[str]:
        """The same for parts without a name, which may be named by their types."""
        if not self._may_number:
            return self._types
        return self._setting.kinds(self.schema, self._budget)

    # Atoms

    def options(self, most: int) -> list[PartOption]:
        """Return a part of each class that may be sent.

        Arguments:
            most: how many names of one class to use; all of them if it has fewer.

        Raises:
            OutOfBudget: the budget ended first.
        """
        names: list[str | None] = [*self._names.words(self._patterns, most, self._budget)]
        if len(self._patterns) < len(self.schema):
            names.insert(0, None)
        return [
            self._option(part)
            for name in names
            for kind in (self._unnamed_types if self.is_numbered(name) else self._types)
            for part in self._filled(PartType(name, kind))
        ]

    def is_numbered(self, name: str | None) -> bool:
        """Return whether the name of a part depends on those before it."""
        return self._may_number and (name is None or name in self._shown)

    @cached_property
    def _shown(self) -> set[str]:
        """The names of the sender that parts lose on their path."""
        return {
            place
            for number, chain in enumerate(self.chains)
            for done, step in enumerate(chain)
            if isinstance(step, Show)
            for place in places(step, self._paths[number, done])
        }

    @cached_property
    def _has_contents(self) -> bool:
        return any(each.content_schema is not None for each in (*self.schema, *self._taker))

    def _filled(self, part: PartType) -> Iterator[PartType]:
        """Yield a part that may be sent, with each content that schemas tell apart."""
        self._budget.spend(1 + len(self.schema) + self.length)
        senders = [each for each in self.schema if _could_accept(each, part)]
        if not senders:
            return
        arrived = self.arrive([part]) if self._has_contents else []
        # A text that is no JSON may have a type of JSON when it arrives.
        if not any(is_json(each.content_type) for each in (part, *arrived)):
            yield part
            return
        takers = [each for each in self._taker if any(_could_accept(each, p) for p in arrived)]
        contents = {
            each.content_schema: each in senders
            for each in (*takers, *senders)
            if each.content_schema is not None
        }
        if not contents:
            yield part
            return
        for _, value in fillings(list(contents.items()), self._questions, self._budget):
            filled = part._replace(content_type=FilledType(part.content_type, value))
            if hits(senders, filled):
                yield filled

    def _option(self, part: PartType) -> PartOption:
        self._budget.spend(len(self._taker) + 2 * self.length)
        taken = [hits(self._taker, each) for each in self.arrive([part])]
        refused = 0 if all(taken) else 1
        names = dict.fromkeys(self._names_of(part, 1), 1)
        for copies in self._copies(part):
            self._budget.spend(copies * self.length)
            for each in self._names_of(part, copies):
                names.setdefault(each, copies)
            if not refused and self._is_refused([part] * copies):
                refused = copies
        return PartOption(part, hits(self.schema, part), _union(taken), refused, names)

    def _is_refused(self, parts: Sequence[PartType]) -> bool:
        try:
            arrived = self.arrive(parts)
        except DuplicateName:
            return False  # that is a collision
        return not all(hits(self._taker, each) for each in arrived)

    def _copies(self, part: PartType) -> list[int]:
        """Return how often to send a part, so that its last copy gets each kind of number."""
        if part.name is not None:
            return []  # no second part has the name
        found = self._numbers.get(extension_of(part.content_type, default=""), ())
        return sorted(each for each in map(_count, found) if 1 < each <= _MOST_COPIES)

    def _names_of(self, part: PartType, copies: int) -> Iterator[tuple[Stage, str]]:
        """Yield the names of the last of some equal parts, at each stage."""
        for number, chain in enumerate(self.chains):
            here = [part] * copies
            for done, step in enumerate(chain, 1):
                try:
                    here = step.types(here)
                except DuplicateName as error:
                    yield (number, done), error.name
                    break
                if here and here[-1].name is not None:
                    yield (number, done), here[-1].name
            else:
                if here and here[-1].name is not None:
                    yield END, here[-1].name


_NUMBER: Final = re.compile("[1-9][0-9]*")


def _count(number: str) -> int:
    """Return a number; of one with very many digits, that it is large."""
    return int(number[:9])


def _numbers_in(
    rewrite: Rewrite | None, given: Sequence[NamePath], extension: str
) -> Iterator[str]:
    """Yield the number of a numbered name that a step changes alone."""
    if rewrite is None:
        return
    for each in given:
        number = rewrite.old.removeprefix(each.new).removesuffix(extension)
        if f"{each.new}{number}{extension}" == rewrite.old and _NUMBER.fullmatch(number):
            yield number


def passed(parts: Sequence[PartType], chain: Chain) -> Sequence[PartType]:
    """Return what is left of parts after steps.

    Raises:
        DuplicateName: two parts have the same name on the path.
    """
    for step in chain:
        parts = step.types(parts)
    return parts


def _union(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found
