"""The search for steps that mend what breaks: what loses least comes first, then what is shortest.

Steps are made of the names and types that two schemas state. Samples of what may be sent are
followed through them. That is quick, and tells which steps are worth an exact decision.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from heapq import heappop, heappush
from itertools import count, islice, product
from typing import Final

import attrs

from messagebody._core import JSON_TYPES, Budget, OutOfBudget, check_part_name, is_json
from messagebody.compatibility import disjoint, meet
from messagebody.errors import InvalidName
from messagebody.globs import content_type_pattern
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._images import sampled, trace
from messagebody.workflows._search import Break, WitnessSearch, hits, passed
from messagebody.workflows._steps import (
    Chain,
    Select,
    WitnessPart,
    WorkflowStep,
    drop,
    mount,
    name,
    rename,
    retype,
    select,
    show,
    unmount,
)

_TEXT: Final = content_type_pattern("text/*")
_ANY_JSON: Final = MessageBodySchema([(None, JSON_TYPES)])
_MOST_STEPS: Final = 3
"""The most steps that are looked for."""
_MOST_TRIED: Final = 10_000
"""The most steps that are tried among beginnings that lose the same amount."""
_MOST_SAMPLES: Final = 40
_MOST_WORDS: Final = 500
"""The most steps that are tried at each place."""

Attempt = Callable[[Chain], Break | None]
_State = tuple[WitnessPart | None, ...]
"""What has become of each sample; None if it is gone."""


@attrs.frozen
class _Sample:
    """A part that may be sent.

    Arguments:
        origin: the number of the first schema part that accepts it.
        arrives: what it is before the first of the steps that are looked for.
        is_wanted: whether steps could make of it what the taker takes.
    """

    origin: int
    arrives: WitnessPart
    is_wanted: bool


class Mending:
    """The search for steps behind others, between what one side sends and another takes.

    Arguments:
        sent: the schema of what is sent.
        before: the steps that are there already.
        taker: the schema of what is taken.
        budget: the budget.
    """

    def __init__(
        self, sent: MessageBodySchema, before: Chain, taker: MessageBodySchema, budget: Budget
    ) -> None:
        self._sent = sent
        self._before = before
        self._taker = taker
        self._budget = budget
        self._follow = cache(self._followed)
        self._takes = cache(self._is_taken)

    def search(self, attempt: Attempt) -> Chain | None:
        """Return the steps that lose least, and of these the fewest; None if none were found.

        Arguments:
            attempt: returns what breaks after steps, None if nothing does.
        """
        best: tuple[int, Chain] | None = None
        try:
            for loss, steps in self._candidates(attempt):
                if best is not None and loss >= best[0]:
                    break
                # The samples may have missed something.
                exact = _weight(self._fates(steps))
                if best is None or exact < best[0]:
                    best = exact, steps
        except OutOfBudget:
            pass
        return None if best is None else best[1]

    def lost(self, steps: Chain) -> list[SchemaPart]:
        """Return the schema parts of which something does not arrive; all if that is not known."""
        try:
            gone = {sample.origin for sample, is_gone in self._fates(steps) if is_gone}
        except OutOfBudget:
            return list(self._sent)
        return [part for at, part in enumerate(self._sent) if at in gone]

    def _candidates(self, attempt: Attempt) -> Iterator[tuple[int, Chain]]:
        """Yield steps after which nothing breaks, with what their samples lose, the least first."""
        arriving = [image.words for image in trace(self._sent, self._before, self._budget).end]
        words = list(islice(_vocabulary(arriving, self._taker), _MOST_WORDS))
        start: _State = tuple(sample.arrives for sample in self._samples)
        number, tried, seen = count(), Counter[int](), set[_State]()
        queue: list[tuple[int, int, int, int, Chain, _State]] = [(0, 0, 0, next(number), (), start)]
        while queue:
            loss, length, _, _, steps, state = heappop(queue)
            refused = self._refused(state)
            if not refused:
                broken = attempt(steps)
                if broken is None:
                    yield loss, steps
                    continue
                refused = broken.arrived
            if length == _MOST_STEPS or state in seen or tried[loss] > _MOST_TRIED:
                continue
            seen.add(state)
            tried[loss] += len(words)
            self._budget.spend(len(words))
            for word in words:
                after = None if word in steps else self._next(word, state, refused)
                # The last step has to mend all that is refused.
                if after is not None and (length + 1 < _MOST_STEPS or not self._refused(after)):
                    more = (*steps, word)
                    # `drop` says what goes, and `select` does not.
                    selects = sum(isinstance(each, Select) for each in more)
                    heappush(
                        queue,
                        (self._loss(after), length + 1, selects, next(number), more, after),
                    )

    def _next(self, word: WorkflowStep, state: _State, refused: list[WitnessPart]) -> _State | None:
        """Return what becomes of samples in a step; None if it changes nothing that matters."""
        concerned = refused or [part for part in state if part is not None]
        if all(self._follow(word, part) == part for part in concerned):
            return None
        return tuple(part and self._follow(word, part) for part in state)

    def _followed(self, word: WorkflowStep, part: WitnessPart) -> WitnessPart | None:
        self._budget.spend(4)
        return next(iter(word.follow([part])), None)

    def _refused(self, state: _State) -> list[WitnessPart]:
        return [part for part in state if part is not None and not self._takes(part)]

    def _is_taken(self, part: WitnessPart) -> bool:
        self._budget.spend(len(self._taker))
        return hits(self._taker, part) != 0

    # What is lost

    def _loss(self, state: _State) -> int:
        pairs = zip(self._samples, state, strict=True)
        return _weight((sample, part is None) for sample, part in pairs)

    @cached_property
    def _samples(self) -> list[_Sample]:
        """A sendable part of each kind that the schemas tell apart, as far as it arrives."""
        search = WitnessSearch([(self._sent, [self._before])], self._taker, self._budget)
        found: dict[object, _Sample] = {}
        for option in search.options[0][:_MOST_SAMPLES]:
            sample = self._sample(option.part)
            if sample is not None:
                kinds = tuple(_meets(each, sample.arrives) for each in self._taker)
                key = option.sent, kinds, self._takes(sample.arrives)
                found.setdefault(key, sample)
        return list(found.values())

    def _fates(self, steps: Chain) -> Iterator[tuple[_Sample, bool]]:
        """Yield a part of each kind that these steps tell apart, and whether it goes."""
        found = trace(self._sent, (*self._before, *steps), self._budget)
        for image in (*found.end, *found.gone):
            part = sampled(image, self._budget)
            sample = None if part is None else self._sample(image.pulled_back(part))
            if sample is not None:
                yield sample, image in found.gone

    def _sample(self, part: WitnessPart) -> _Sample | None:
        origin = hits(self._sent, part)
        arrives = passed([part], self._before)
        if not arrives or not origin:
            return None
        wanted = any(_meets(each, arrives[0]) for each in self._taker)
        is_text = _TEXT.matches_word(arrives[0].content_type)
        wanted |= is_text and any(map(_may_be_text, self._taker))
        return _Sample((origin & -origin).bit_length() - 1, arrives[0], wanted)


def _meets(wanted: SchemaPart, part: WitnessPart) -> bool:
    if wanted.content_schema is not None and not is_json(part.content_type):
        return False
    return wanted.content_type_pattern.matches_word(part.content_type)


def _weight(fates: Iterable[tuple[_Sample, bool]]) -> int:
    """Return how much is lost: for each schema part 1 if something goes, 2 if everything does."""
    found: dict[int, set[bool]] = {}
    for sample, is_gone in fates:
        if sample.is_wanted:
            found.setdefault(sample.origin, set()).add(is_gone)
    return sum({True} <= each for each in found.values()) + sum(
        each == {True} for each in found.values()
    )


def is_makeable(wanted: SchemaPart, producer: Iterable[SchemaPart]) -> bool:
    """Return whether steps can make a part out of some part that is sent."""
    # Steps change no type, but that of a text into another one.
    is_text = _may_be_text(wanted)
    return any(_have_types(wanted, each) or (is_text and _may_be_text(each)) for each in producer)


def _may_be_text(part: SchemaPart) -> bool:
    return _have_types(part, SchemaPart(None, _TEXT.text))


def _have_types(one: SchemaPart, other: SchemaPart) -> bool:
    """Return whether two schema parts have types in common."""
    unnamed = (attrs.evolve(each, name=None, required=True) for each in (one, other))
    return disjoint(*(MessageBodySchema([each]) for each in unnamed)).value is not True


# Which steps are tried


def _vocabulary(
    producer: Sequence[SchemaPart], consumer: MessageBodySchema
) -> Iterator[WorkflowStep]:
    """Yield the steps that the names and types of two sides suggest, the gentlest first."""
    sent, taken = _Spelled(producer), _Spelled(consumer)
    yield from (rename(old, new) for old, new in product(sent.names, taken.names) if old != new)
    yield from map(mount, taken.directories)
    yield from map(unmount, sent.directories)
    for old, new in product(sent.directories, taken.directories):
        if old != new:
            yield rename(f"{old}/**", f"{new}/**")
    if taken.unnamed:
        yield from map(show, sent.names)
    yield from (name(each, kind) for each, kind in product(taken.names, sent.unnamed))
    yield from (retype(old, new) for old, new in product(sent.texts, taken.texts) if old != new)
    yield from (drop([_glob(each)]) for each in producer)
    yield select(map(_glob, consumer))


def _glob(part: SchemaPart) -> tuple[str | None, str]:
    if part.content_schema is None:
        return part.name, part.content_type_pattern.text
    # What says what is inside takes only the JSON among its types.
    both = meet(MessageBodySchema([(None, part.content_type)]), _ANY_JSON)
    return part.name, both[0].content_type if both else JSON_TYPES


class _Spelled:
    """The names and types that schema parts state: also of what has no name."""

    def __init__(self, parts: Iterable[SchemaPart]) -> None:
        listed = list(parts)
        patterns = [part.name_pattern for part in listed if part.name_pattern is not None]
        literals = dict.fromkeys(each.literal for each in patterns if each.literal is not None)
        self.names = [*filter(_is_legal, literals)]
        prefixes = [each.literal or each.prefix for each in patterns]
        above = dict.fromkeys(up for each in prefixes for up in _directories(each))
        self.directories = [*filter(_is_legal, above)]
        kinds = [part.content_type_pattern for part in listed if part.name is None]
        self.unnamed = list(dict.fromkeys(kind.text for kind in kinds))
        types = dict.fromkeys(part.content_type_pattern.literal for part in listed)
        self.texts = [kind for kind in types if kind is not None and _TEXT.matches_word(kind)]


def _is_legal(name: str) -> bool:
    """Return whether readers take a name: schemas may state longer ones than steps."""
    try:
        check_part_name(name)
    except InvalidName:
        return False
    return True


def _directories(prefix: str) -> Iterator[str]:
    """Yield the directories above what names begin with, the nearest first."""
    end = prefix.rfind("/")
    while end > 0:
        yield prefix[:end]
        end = prefix.rfind("/", 0, end)
