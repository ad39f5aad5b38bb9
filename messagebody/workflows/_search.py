"""Messages that break something at a taker, or get through: made of what images show, and tried."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, reduce
from itertools import combinations, product
from operator import attrgetter, or_
from typing import Final

import attrs

from messagebody._core import COMMON, Budget
from messagebody.compatibility import Verdict, check, satisfiable
from messagebody.errors import DuplicateName
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._images import (
    Clash,
    Image,
    Trace,
    UnwrittenMeet,
    clash_of,
    common_name,
    difference,
    images_of,
    is_empty,
    may_share,
    sampled,
    shared,
    trace,
)
from messagebody.workflows._steps import Chain, Mount, WitnessPart, accepts, distinct, sample_of

_CACHED: Final = 1024
_EXAMPLE: Final = 100_000
"""Steps for finding a valid body."""
_PART: Final = 50
"""Steps of the budget for each part of a schema when a valid body is found."""
_COPIES: Final = (1, 2, 3)
"""How many parts without a name are tried where each gets a number."""
_KINDS: Final = [SchemaPart(None, kind) for kind in COMMON[:8]]
"""Types that are tried where the extension of a type is put behind a number."""

Bodies = list[list[WitnessPart]]
"""A body of each sender."""


@attrs.frozen
class Break:
    """Bodies that break something.

    Arguments:
        bodies: a body of each sender.
        sender: the number of the sender whose part is refused, or collides; None if a required
            part is missing.
        part: the part that is refused, or whose name is taken.
        required: the schema part of the taker that nothing meets; None if something else breaks.
        name: the name that two parts would have; None if none collide.
        is_shared: whether parts of several senders collide.
        arrived: what arrives of the part that is refused.
    """

    bodies: Bodies
    sender: int | None = None
    part: WitnessPart | None = None
    required: int | None = None
    name: str | None = None
    is_shared: bool = False
    arrived: list[WitnessPart] = attrs.field(factory=list)


@attrs.frozen(eq=False)
class SentPart:
    """A part that a sender may send.

    Arguments:
        part: the part.
        sender: the number of the sender.
        sent: the schema parts of the sender that accept it, as bits.
        taken: the schema parts of the taker that accept what arrives of it, as bits.
        refused: how many of it have to be sent, so that something arrives that the taker does not
            accept; 0 if nothing ever does. It is more than one only if parts are numbered.
    """

    part: WitnessPart
    sender: int
    sent: int
    taken: int = 0
    refused: int = 0


_Chosen = Sequence[SentPart]


def hits(schema: Iterable[SchemaPart], part: WitnessPart) -> int:
    """Return the schema parts that accept a part, as bits."""
    return sum(1 << i for i, each in enumerate(schema) if accepts(each, part))


def passed(parts: Sequence[WitnessPart], chain: Chain) -> Sequence[WitnessPart]:
    """Return what is left of parts after steps.

    Raises:
        DuplicateName: two parts have the same name on the path.
    """
    for step in chain:
        parts = step.follow(parts)
    return parts


@lru_cache(_CACHED)
def _example(schema: MessageBodySchema) -> tuple[bool, list[WitnessPart]]:
    """Return whether no body of a schema is valid, and if not, the parts of one that is."""
    found = satisfiable(schema, max_steps=_EXAMPLE)
    return found.value is False, [*map(sample_of, found.witness or ())]


class EdgeSender:
    """A schema whose bodies go along edges to one taker.

    Arguments:
        schema: the schema.
        chains: the steps of each edge.
        budget: the budget.
    """

    def __init__(self, schema: MessageBodySchema, chains: Sequence[Chain], budget: Budget) -> None:
        self.schema, self.chains = schema, chains
        self.required = sum(1 << i for i, part in enumerate(schema) if part.required)
        self.length = 1 + sum(map(len, chains))
        self.traces = [trace(schema, chain, budget) for chain in chains]
        self.is_numbered = any(isinstance(step, Mount) for chain in chains for step in chain)
        budget.spend(_PART * (1 + len(schema)))
        self.is_silent, self.example = _example(schema)

    def certain(self) -> Iterator[list[Image]]:
        """Yield images of which one always arrives: those of a required part that never goes."""
        for each in self.traces:
            lost = {image.origin for image in each.gone}
            for at, part in enumerate(self.schema):
                if part.required and at not in lost:
                    yield [image for image in each.end if image.origin == at]

    def arrive(self, parts: Sequence[WitnessPart]) -> list[WitnessPart]:
        """Return what arrives of the parts of a body.

        Raises:
            DuplicateName: two parts have the same name on the path.
        """
        return [part for chain in self.chains for part in passed(parts, chain)]


class WitnessSearch:
    """A search for messages of senders that break something at a taker, or get through.

    Arguments:
        senders: the schema of each sender, with the steps of each of its edges.
        taker: the schema of what the taker takes.
        budget: the budget.
    """

    def __init__(
        self,
        senders: Iterable[tuple[MessageBodySchema, Sequence[Chain]]],
        taker: MessageBodySchema,
        budget: Budget,
    ) -> None:
        self._taker, self._budget = taker, budget
        self._required = sum(1 << i for i, part in enumerate(taker) if part.required)
        self.senders = [EdgeSender(*each, budget) for each in senders]
        traces = [(at, each) for at, sender in enumerate(self.senders) for each in sender.traces]
        self.is_open = any(each.is_open for _, each in traces)
        self._images = [image for _, each in traces for image in each.end]
        self._clashes = [
            clash._replace(senders=(at, at)) for at, each in traces for clash in each.clashes
        ]
        for (at, one), (place, other) in combinations(traces, 2):
            found = self._between(one, other)
            self._clashes += (clash._replace(senders=(at, place)) for clash in found)

    def _between(self, one: Trace, other: Trace) -> Iterator[Clash]:
        """Yield what of two edges may get one name."""
        self._budget.spend(len(one.end) * len(other.end))
        for pair in product(one.end, other.end):
            clash = clash_of(*pair, self._budget)
            if clash is not None:
                yield clash

    @property
    def is_silent(self) -> bool:
        """Whether nothing ever arrives, because one of the senders has no valid body."""
        return any(sender.is_silent for sender in self.senders)

    # What images prove

    def proved(self) -> Verdict:
        """Return *always* or *never* if images prove it; else *undecided*."""
        if self.is_silent:
            return Verdict.ALWAYS  # who sends nothing breaks nothing
        if self.is_open:
            return Verdict.UNDECIDED
        certain = [images for sender in self.senders for images in sender.certain()]
        required = [part for part in self._taker if part.required]
        if not self._clashes and (
            self._fits()
            or (
                self._are(self._images, self._taker)
                and all(self._is_met(part, certain) for part in required)
            )
        ):
            return Verdict.ALWAYS
        if (
            any(clash.is_certain for clash in self._clashes)
            or not all(self._may_be(self._images, [part]) for part in required)
            or not all(self._may_be(images, self._taker) for images in certain)
        ):
            return Verdict.NEVER
        return Verdict.UNDECIDED

    def _fits(self) -> bool:
        """Return whether all messages of images are valid, though they may be more than arrive."""
        images = MessageBodySchema([image.part for image in self._images])
        found = check(images, self._taker, max_steps=max(self._budget.left, 0))
        self._budget.spend(found.steps_taken)
        return bool(found)

    def _is_met(self, part: SchemaPart, certain: Iterable[Sequence[Image]]) -> bool:
        """Return whether it is certain that something arrives which a schema part accepts."""
        return any(
            any(may_share(image.part, part) for image in images) and self._are(images, [part])
            for images in certain
        )

    def _are(self, images: Iterable[Image], schema: Iterable[SchemaPart]) -> bool:
        """Return whether it is certain that a schema accepts all that some images do."""
        return all(is_empty(image, self._budget, *schema) for image in images)

    def _may_be(self, images: Sequence[Image], schema: Iterable[SchemaPart]) -> bool:
        """Return whether a schema may accept something that some images do."""
        for image, part in product(images, schema):
            try:
                both = shared(image.part, part, self._budget)
            except UnwrittenMeet:
                return True
            if both is not None and not is_empty(attrs.evolve(image, part=both), self._budget):
                return True
        return False

    # Parts to send

    @cached_property
    def options(self) -> list[list[SentPart]]:
        """Parts of each kind that images tell apart, of each sender."""
        return [list(self._options(number)) for number in range(len(self.senders))]

    def _options(self, number: int) -> Iterator[SentPart]:
        sender = self.senders[number]
        has_contents = any(part.content_schema for part in (*sender.schema, *self._taker))
        found: set[object] = set()
        for part in filter(None, self._samples(sender)):
            key = part if has_contents else part[:2]
            self._budget.spend(len(sender.schema) + len(self._taker))
            option = None if key in found else self._option(number, part)
            found.add(key)
            if option is not None:
                yield option

    def _samples(self, sender: EdgeSender) -> Iterator[WitnessPart | None]:
        yield from sender.example
        for each in sender.traces:
            # If nothing is known of what arrives, what is sent is tried.
            for image in images_of(sender.schema) if each.is_open else each.end:
                yield self._sampled(image, image.part, *self._taker)
                yield from (self._sampled(image, wanted) for wanted in self._taker)
            yield from (self._sampled(image, image.part) for image in each.gone)
        for image in images_of(sender.schema) if sender.is_numbered or self.is_open else ():
            if image.part.name is None and image.part.content_type_pattern.literal is None:
                yield self._sampled(image, image.part, *_KINDS)
                yield from (self._sampled(image, kind) for kind in _KINDS)

    def _sampled(
        self, image: Image, wanted: SchemaPart, *without: SchemaPart
    ) -> WitnessPart | None:
        """Return what has to be sent, so that a part arrives that a schema part accepts."""
        part = None
        with suppress(UnwrittenMeet):
            part = shared(image.part, wanted, self._budget)
        if part is None:
            return None
        found = sampled(attrs.evolve(image, part=part), self._budget, *without)
        if found is None:
            return None
        sample = image.pulled_back(found)
        if image.content and not part.content_schema:
            # Its type did not tell what is inside.
            sent = SchemaPart(*sample[:2], content_schema=image.content)
            return difference(sent).sample
        return sample

    def _option(self, number: int, part: WitnessPart) -> SentPart | None:
        """Return a part with what becomes of it; None if the sender does not send it."""
        sender = self.senders[number]
        sent = hits(sender.schema, part)
        taken = [0]
        if not sent:
            return None
        for copies in _COPIES if part.name is None and sender.is_numbered else (1,):
            self._budget.spend(sender.length * (1 + copies))
            with suppress(DuplicateName):
                found = [hits(self._taker, each) for each in sender.arrive([part] * copies)]
                taken += found if copies == 1 else []
                if not all(found):
                    return SentPart(part, number, sent, reduce(or_, taken), refused=copies)
        return SentPart(part, number, sent, reduce(or_, taken))

    # What can break, and what gets through

    def breaks(self) -> Iterator[Break]:
        """Yield bodies that break something, for each thing that is known to break.

        Raises:
            OutOfBudget: some may be missing.
        """
        yield from self._refused()
        yield from self._missing()
        yield from self._collisions()

    def _refused(self) -> Iterator[Break]:
        found: set[tuple[int, int]] = set()
        for option in (option for options in self.options for option in options):
            key = option.sender, option.sent & -option.sent
            copies = [option] * option.refused
            bodies = self._around(copies) if copies and key not in found else None
            if bodies is not None:
                found.add(key)
                arrived = self.senders[option.sender].arrive([each.part for each in copies])
                refused = [each for each in arrived if not hits(self._taker, each)]
                yield Break(bodies, option.sender, option.part, arrived=refused)

    def _missing(self) -> Iterator[Break]:
        for required in range(len(self._taker)):
            if self._required >> required & 1:
                bodies = self._around([], without=1 << required)
                if bodies is not None:
                    yield Break(bodies, required=required)

    def _collisions(self) -> Iterator[Break]:
        found: set[tuple[tuple[int, int], str | None]] = set()
        for clash in self._clashes:
            each = next(self._colliding(clash), None)
            if each is not None and (clash.senders, each.name) not in found:
                found.add((clash.senders, each.name))
                yield each

    def _colliding(self, clash: Clash) -> Iterator[Break]:
        """Yield bodies with two parts that get one name."""
        is_shared = len(set(clash.senders)) > 1
        for pair in self._namesakes(clash):
            bodies = self._around(pair)
            name = None if bodies is None else self._collision(bodies)
            if bodies is not None and name is not None:
                last = pair[-1]
                yield Break(bodies, last.sender, last.part, name=name, is_shared=is_shared)

    def _namesakes(self, clash: Clash) -> Iterator[_Chosen]:
        """Yield parts to send that may get one name on their way."""
        one, other, _, (number, other_number) = clash
        if other.is_numbered and not one.is_numbered:
            one, number, other, other_number = other, other_number, one, number
        name = common_name(one, other, self._budget)
        # The extension of a type stands behind a number, so some types are tried.
        wanted = [SchemaPart(one.part.name, kind.content_type) for kind in _KINDS]
        for each in wanted if one.is_numbered else [SchemaPart(name)] if name else []:
            first = self._sampled(one, each)
            if first is None:
                continue
            arrived = one.arrived(first)
            kind = arrived.content_type if other.is_numbered else "*/*"
            second = self._sampled(other, SchemaPart(arrived.name, kind))
            if first == second and number == other_number and first.name is not None:
                second = None  # the same part goes several ways
            pair = [self._option(number, first), second and self._option(other_number, second)]
            yield [option for option in pair if option]

    def _collision(self, bodies: Bodies) -> str | None:
        """Return the name that two parts of bodies would have; None if they get through."""
        try:
            self._arrived(bodies)
        except DuplicateName as error:
            return error.name
        return None

    def valid(self) -> Bodies | None:
        """Return a body of each sender, so that what arrives is valid; None if none were found.

        Raises:
            OutOfBudget: none were found before the budget ended.
        """
        shifts, needs, shift = list[int](), self._required, len(self._taker)
        for sender in self.senders:
            shifts.append(shift)
            needs |= sender.required << shift
            shift += len(sender.schema)

        def meets(part: SentPart) -> int:
            return part.sent << shifts[part.sender] | part.taken

        parts = [part for options in self.options for part in options if part.refused != 1]
        chosen = _choose(needs, [], parts, meets, self._gets_through, self._budget)
        return None if chosen is None else self._bodies(chosen)

    # Bodies

    def _around(self, fixed: _Chosen, without: int = 0) -> Bodies | None:
        """Return a valid body of each sender, some with certain parts; None if none were found."""
        found: list[SentPart] = []
        for number, sender in enumerate(self.senders):
            start = [part for part in fixed if part.sender == number]
            parts = [part for part in self.options[number] if not part.taken & without]
            chosen = _choose(
                sender.required, start, parts, attrgetter("sent"), _are_named_apart, self._budget
            )
            if chosen is None:
                return None
            found += chosen
        return self._bodies(found)

    def _bodies(self, chosen: _Chosen) -> Bodies:
        bodies: Bodies = [[] for _ in self.senders]
        for option in chosen:
            bodies[option.sender].append(option.part)
        return bodies

    def _gets_through(self, chosen: _Chosen) -> bool:
        """Return whether parts get through, and the taker accepts all that arrives."""
        if not _are_named_apart(chosen):
            return False
        try:
            return all(hits(self._taker, part) for part in self._arrived(self._bodies(chosen)))
        except DuplicateName:
            return False

    def _arrived(self, bodies: Bodies) -> list[WitnessPart]:
        """Return what arrives.

        Raises:
            DuplicateName: two parts have one name, on their way or at its end.
        """
        arrived: list[WitnessPart] = []
        for sender, body in zip(self.senders, bodies, strict=True):
            self._budget.spend(sender.length * (1 + len(body)))
            arrived += sender.arrive(body)
        return distinct(arrived)


def _are_named_apart(chosen: _Chosen) -> bool:
    """Return whether the parts of each sender have different names."""
    named = [(each.sender, each.part.name) for each in chosen if each.part.name is not None]
    return len(set(named)) == len(named)


def _choose(
    needs: int,
    start: _Chosen,
    candidates: Iterable[SentPart],
    meets: Callable[[SentPart], int],
    fit: Callable[[_Chosen], bool],
    budget: Budget,
) -> _Chosen | None:
    """Return parts that meet all needs and fit together; None if there are none.

    Arguments:
        needs: what has to be met, as bits.
        start: the parts that are chosen already.
        candidates: the parts to choose from.
        meets: returns what a part meets, and maybe more.
        fit: returns whether parts fit together; if some don't, more of them don't either.
        budget: the budget.
    """
    useful = [(part, meets(part) & needs) for part in candidates if meets(part) & needs]
    stack = [(start, needs & ~reduce(or_, map(meets, start), 0))]
    while stack:
        chosen, unmet = stack.pop()
        budget.spend(4 + 4 * len(chosen) + len(useful) * unmet.bit_count() // 4)
        if not fit(chosen):
            continue
        if not unmet:
            return chosen
        bits = [1 << need for need in range(unmet.bit_length()) if unmet >> need & 1]
        rarest = min(bits, key=lambda bit: sum(met & bit > 0 for _, met in useful))
        ways = [(part, met) for part, met in useful if met & rarest]
        # The way that meets most is tried first.
        for part, met in sorted(ways, key=lambda way: (way[1] & unmet).bit_count()):
            stack.append(([*chosen, part], unmet & ~met))
    return None
