"""Messages that break something, or get through: made of parts that images pull back, and tried."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, reduce
from itertools import (
    combinations,
    combinations_with_replacement,
    islice,
    permutations,
    product,
)
from operator import or_
from typing import Final

import attrs

from messagebody._core import COMMON, Budget, essence, extension_of
from messagebody.compatibility import Verdict, check, satisfiable
from messagebody.errors import DuplicateName
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._images import (
    ANYTHING,
    Clash,
    Image,
    UnwrittenMeet,
    change,
    clash_of,
    common_name,
    difference,
    images_of,
    is_empty,
    sampled,
    shared,
)
from messagebody.workflows._steps import Chain, Mount, WitnessPart, accepts, distinct, sample_of

WitnessParts = list[WitnessPart]
Stage = tuple[int, int]
"""The number of a chain, and how many of its steps are done."""
END: Final[Stage] = (-1, -1)
"""The stage where the parts of all chains, and of all senders, are together."""
_CACHED: Final = 1024
_EXAMPLE: Final = 100_000
"""Steps for finding a valid body."""
_PART: Final = 50
"""Steps of the budget for each part of a schema when a valid body is found."""
_MOST_COPIES: Final = 64
"""Bodies with more parts without a name are not made."""
_ALIKE: Final = 8
"""Types with different extensions that stand for all that nothing tells apart."""
_MOST_NUMBERS: Final = 6
"""Counts of such parts that are tried."""
_KINDS: Final = [kind for kind in COMMON if kind == essence(kind)]
_OWNERS: Final = Counter(
    extension
    for extension, _ in {(extension_of(kind, default=""), kind.split("/")[0]) for kind in _KINDS}
)
"""How many kinds of media have an extension."""
_ORDERS: Final = 24
"""Orders of parts without a name that are tried."""
_NUMBERS: Final = re.compile(r"(?<![0-9])[1-9][0-9]?(?![0-9])")


@attrs.frozen(eq=False)
class Trace:
    """What becomes of the parts of a schema on an edge.

    Arguments:
        end: what arrives.
        gone: what goes on the way.
        clashes: what may get the same name on the way.
        is_open: whether there is a step of which nothing is known beforehand.
    """

    end: list[Image]
    gone: list[Image]
    clashes: list[Clash]
    is_open: bool


def trace(schema: MessageBodySchema, chain: Chain, budget: Budget) -> Trace:
    """Follow the parts of a schema through steps."""
    images, gone, clashes = images_of(schema), list[Image](), list[Clash]()
    for step in chain:
        found = change(step, images, budget)
        images = found.stay
        gone += found.gone
        clashes += found.clashes
    return Trace(images, gone, clashes, any(step.rules is None for step in chain))


@attrs.frozen(eq=False)
class SentPart:
    """A part that a sender may send.

    Arguments:
        part: the part.
        sent: the schema parts of the sender that accept it, as bits.
        taken: the schema parts of the taker that accept what arrives of it, as bits.
        refused: how many of it have to be sent, so that something arrives that the taker does not
            accept; 0 if nothing ever does. It is more than one only if parts are numbered.
        names: the names on its path, each with the number of such parts in the body that has it.
    """

    part: WitnessPart
    sent: int
    taken: int
    refused: int
    names: Mapping[tuple[Stage, str], int]


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
def _example(schema: MessageBodySchema) -> tuple[bool, WitnessParts]:
    """Return whether no body of a schema is valid, and if not, the parts of one that is."""
    found = satisfiable(schema, steps=_EXAMPLE)
    return found.value is False, [*map(sample_of, found.witness or ())]


class EdgeSender:
    """A schema whose bodies go along edges to one taker.

    Arguments:
        schema: the schema.
        chains: the steps of each edge.
        taker: what arrives is meant for it.
        budget: the budget.
        texts: all names and patterns of those who send to the taker, as one text.
    """

    def __init__(
        self,
        schema: MessageBodySchema,
        chains: Sequence[Chain],
        taker: MessageBodySchema,
        budget: Budget,
        texts: str = "",
    ) -> None:
        self.schema = schema
        self.chains = chains
        self.required = sum(1 << i for i, part in enumerate(schema) if part.required)
        self.length = 1 + sum(map(len, chains))
        self._taker, self._budget, self._texts = taker, budget, texts
        self.traces = [trace(schema, chain, budget) for chain in chains]
        self.is_numbered = any(isinstance(step, Mount) for chain in chains for step in chain)

    @cached_property
    def example(self) -> WitnessParts:
        """The parts of a valid body; none if none were found."""
        return self._example[1]

    @cached_property
    def is_silent(self) -> bool:
        """Whether no body is valid."""
        return self._example[0]

    @cached_property
    def _example(self) -> tuple[bool, WitnessParts]:
        self._budget.spend(_PART * (1 + len(self.schema)))
        return _example(self.schema)

    def arrive(self, parts: Sequence[WitnessPart]) -> WitnessParts:
        """Return what arrives of the parts of a body.

        Raises:
            DuplicateName: two parts have the same name on the path.
        """
        self._budget.spend(self.length * (1 + len(parts)))
        return [part for chain in self.chains for part in passed(parts, chain)]

    # Parts to send

    @cached_property
    def options(self) -> list[SentPart]:
        """Parts of each kind that images tell apart."""
        has_contents = any(part.content_schema for part in (*self.schema, *self._taker))
        found: dict[object, SentPart] = {}
        for part in self._samples():
            key = part if has_contents else part[:2]
            sent = 0 if key in found else hits(self.schema, part)
            self._budget.spend(len(self.schema) + len(self._taker))
            if sent:
                found[key] = self._option(part, sent)
        return list(found.values())

    def _samples(self) -> Iterator[WitnessPart]:
        yield from self.example
        for each in self.traces:
            for image in each.end:
                yield from self._sampled(image, image.part, *self._taker)
                for wanted in self._taker:
                    yield from self._sampled(image, wanted)
            for image in each.gone:
                yield from self._sampled(image, image.part)
            for pair in each.clashes:
                yield from self.namesakes(pair.one, pair.other)
        if self.is_numbered:
            for part in self.schema:
                yield from self._of_other_types(part)

    def _sampled(
        self, image: Image, wanted: SchemaPart, *without: SchemaPart
    ) -> Iterator[WitnessPart]:
        """Yield what has to be sent, so that a part arrives that a schema part accepts."""
        with suppress(UnwrittenMeet):
            part = shared(image.part, wanted, self._budget)
            if part is None:
                return
            found = sampled(attrs.evolve(image, part=part), self._budget, *without)
            sample = found and image.pulled_back(found)
            if sample and image.content and not part.content_schema:
                # Its type did not tell what is inside.
                sent = SchemaPart(*sample[:2], content_schema=image.content)
                sample = difference(sent).sample
            if sample is not None:
                yield sample

    def namesakes(self, one: Image, other: Image) -> Iterator[WitnessPart]:
        """Yield parts to send that get one name."""
        name = common_name(one, other, self._budget)
        for image in (one, other) if name else ():
            yield from self._sampled(image, SchemaPart(name))

    def _of_other_types(self, part: SchemaPart) -> Iterator[WitnessPart]:
        """Yield parts without a name, some of each kind of extension that steps and takers tell."""
        alike: Counter[object] = Counter()
        known = [SchemaPart(None, kind) for kind in _KINDS]
        shown = SchemaPart(None, part.content_type, content_schema=part.content_schema)
        wild = part.name is None and part.content_type_pattern.literal is None
        # The first one has a type that is not known, and so no extension.
        found = [difference(shown, tuple(known)).sample] if wild else []
        for kind in known if wild else ():
            self._budget.spend(2 * self.length)
            with suppress(UnwrittenMeet):
                each = shared(shown, kind, self._budget)
                found += [difference(each).sample] if each is not None else []
        for sample in filter(None, found):
            sign = self._sign(sample)
            alike[sign] += 1
            if alike[sign] <= _ALIKE:
                yield sample

    def _sign(self, part: WitnessPart) -> object:
        """Return what tells the type of a part without a name from others."""
        option = self._option(part, 1)
        extension = extension_of(part.content_type, default="")
        is_told = extension in self._texts or _OWNERS[extension] > 1
        arrived = [len(passed([part], chain)) for chain in self.chains]
        return option.taken, option.refused, is_told and extension, *arrived

    def _option(self, part: WitnessPart, sent: int) -> SentPart:
        taken, refused = 0, 0
        names = dict[tuple[Stage, str], int]()
        for copies in self._copies if part.name is None else (1,):
            for stage, name in self._names([part] * copies):
                names.setdefault((stage, name), copies)
            with suppress(DuplicateName):
                found = [hits(self._taker, each) for each in self.arrive([part] * copies)]
                taken |= 0 if copies > 1 else reduce(or_, found, 0)
                refused = refused or (0 if all(found) else copies)
        return SentPart(part, sent, taken, refused, names)

    @cached_property
    def _copies(self) -> Sequence[int]:
        """How many parts without a name to send, so that the last has a number that matters."""
        if not self.is_numbered:
            return (1,)
        found = [int(each) for each in _NUMBERS.findall(self._texts)]
        near = {1, 2, *found, *(each + 1 for each in found)}
        return sorted(each for each in near if each <= _MOST_COPIES)[:_MOST_NUMBERS]

    def _names(self, parts: Sequence[WitnessPart]) -> Iterator[tuple[Stage, str]]:
        """Yield the names of the last of some equal parts, at each stage."""
        for number, chain in enumerate(self.chains):
            here = parts
            for done, step in enumerate(chain, 1):
                try:
                    here = step.follow(here)
                except DuplicateName as error:
                    yield (number, done), error.name
                    break
                if here and here[-1].name is not None:
                    yield (number, done), here[-1].name
            else:
                if here and here[-1].name is not None:
                    yield END, here[-1].name


def _texts(
    senders: Iterable[tuple[MessageBodySchema, Sequence[Chain]]], taker: MessageBodySchema
) -> str:
    """Return the names and patterns of those who send to a taker, as one text."""
    found = [part.name or "" for part in taker]
    for schema, chains in senders:
        found += [part.name or "" for part in schema]
        found += [f"{step.to_dict()}" for chain in chains for step in chain if step.rules]
    return "\n".join(found)


def _arriving(sender: EdgeSender) -> Iterator[SchemaPart]:
    """Yield schema parts of what arrives of a sender."""
    for each in sender.traces:
        yield from (image.part for image in each.end)
        lost = {image.origin for image in each.gone}
        for at, part in enumerate(sender.schema):
            images = [image.part for image in each.end if image.origin == at]
            is_split = part.required and at not in lost and not any(p.required for p in images)
            alike = {(image.name is None, image.content_schema) for image in images}
            if is_split and len(alike) == 1:
                # One of them always arrives, whichever it is.
                name = _either([image.name for image in images if image.name])
                kind = _either([image.content_type for image in images])
                [(_, content)] = alike
                yield SchemaPart(name, kind or "*/*", required=True, content_schema=content)


def _either(patterns: Sequence[str]) -> str | None:
    """Return a pattern of all that some patterns match; None if there are none."""
    different = list(dict.fromkeys(patterns))
    if len(different) < 2:
        return next(iter(different), None)
    # Names all begin with a slash, and braces stand behind it.
    start = "/" if different[0].startswith("/") else ""
    return f"{start}{{{','.join(each.removeprefix(start) for each in different)}}}"


Bodies = list[WitnessParts]
"""A body of each sender."""
_Chosen = tuple[int, SentPart]
"""The number of a sender, and a part of its body."""
_Fit = Callable[[Sequence[_Chosen]], Sequence[_Chosen] | None]


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
    arrived: WitnessParts = attrs.field(factory=list)


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
        listed = list(senders)
        texts = _texts(listed, taker)
        self.senders = [EdgeSender(*each, taker, budget, texts) for each in listed]
        self.traces = [each for sender in self.senders for each in sender.traces]
        self.clashes = [pair for each in self.traces for pair in each.clashes]
        for one, other in combinations(self.traces, 2):
            for pair in product(one.end, other.end):
                budget.spend(1)
                clash = clash_of(*pair, budget)
                self.clashes += [] if clash is None else [clash]

    @property
    def is_silent(self) -> bool:
        """Whether nothing ever arrives, because one of the senders has no valid body."""
        return any(sender.is_silent for sender in self.senders)

    def proved(self) -> Verdict:
        """Return *always* or *never* if images prove it; else *undecided*."""
        if any(each.is_open for each in self.traces):
            return Verdict.UNDECIDED
        if any(clash.is_certain for clash in self.clashes):
            return Verdict.NEVER
        upper = MessageBodySchema([part for each in self.senders for part in _arriving(each)])
        verdict = self._check(upper, self._taker)
        if verdict is Verdict.NEVER:
            return verdict
        is_met = verdict is Verdict.ALWAYS or self._is_met(upper)
        return Verdict.ALWAYS if is_met and not self.clashes else Verdict.UNDECIDED

    def _is_met(self, upper: MessageBodySchema) -> bool:
        """Return whether each image alone is accepted, and together they are all that is required.

        What is not there in an image counts here, and which parts fit together does not.
        """
        images = [image for each in self.traces for image in each.end]
        if not all(is_empty(image, self._budget, *self._taker) for image in images):
            return False
        required = [part for part in self._taker if part.required]
        wanted = MessageBodySchema([*required, *ANYTHING])
        return self._check(upper, wanted) is Verdict.ALWAYS

    def _check(self, sent: MessageBodySchema, taken: MessageBodySchema) -> Verdict:
        found = check(sent, taken, steps=max(self._budget.left, 0))
        self._budget.spend(found.steps_taken)
        return found.verdict

    def breaks(self) -> Iterator[Break]:
        """Yield bodies that break something, for each thing that is known to break.

        Raises:
            OutOfBudget: some may be missing.
        """
        yield from self._refused()
        yield from self._missing()
        yield from self._collisions()

    def valid(self) -> Bodies | None:
        """Return a body of each sender, so that what arrives is valid; None if none were found.

        Raises:
            OutOfBudget: none were found before the budget ended.
        """
        widths = [len(sender.schema) for sender in self.senders]
        shifts = [sum(widths[:i]) for i in range(len(widths) + 1)]
        needs = self._required << shifts[-1]
        for sender, shift in zip(self.senders, shifts, strict=False):
            needs |= sender.required << shift
        candidates = [
            (at, option, (option.sent << shifts[at] | option.taken << shifts[-1]) & needs)
            for at, sender in enumerate(self.senders)
            for option in sender.options
            if option.refused != 1
        ]
        chosen = _choose(needs, [], candidates, self._fitting, self._budget)
        return None if chosen is None else self._bodies(chosen)

    # What can break

    def _refused(self) -> Iterator[Break]:
        for at, sender in enumerate(self.senders):
            found: set[int] = set()
            for option in sender.options:
                first = option.sent & -option.sent
                if not option.refused or first in found:
                    continue
                copies = [option] * option.refused
                bodies = self._around({at: copies})
                if bodies is not None:
                    found.add(first)
                    arrived = sender.arrive([each.part for each in copies])
                    refused = [each for each in arrived if not hits(self._taker, each)]
                    yield Break(bodies, at, option.part, arrived=refused)

    def _missing(self) -> Iterator[Break]:
        for required in range(len(self._taker)):
            if self._required >> required & 1:
                bodies = self._around({}, without=1 << required)
                if bodies is not None:
                    yield Break(bodies, required=required)

    def _collisions(self) -> Iterator[Break]:
        bearers: dict[tuple[int, Stage, str], list[tuple[int, SentPart, int]]] = {}
        for at, sender in enumerate(self.senders):
            for option in sender.options:
                for (stage, name), copies in option.names.items():
                    place = -1 if stage == END else at
                    bearers.setdefault((place, stage, name), []).append((at, option, copies))
        found: set[tuple[int, int, str]] = set()
        for (_, _, name), listed in bearers.items():
            for one, other in combinations_with_replacement(listed, 2):
                key = one[0], other[0], name
                bodies = None if key in found else self._colliding(one, other)
                if bodies is not None:
                    found.add(key)
                    part = other[1].part
                    yield Break(bodies, other[0], part, name=name, is_shared=one[0] != other[0])

    def _colliding(
        self, one: tuple[int, SentPart, int], other: tuple[int, SentPart, int]
    ) -> Bodies | None:
        """Return bodies with two parts that get one name on their way; None if there are none."""
        (at, option, copies), (where, another, more) = one, other
        fixed = {at: [option] * copies}
        if option is not another or at != where:
            fixed.setdefault(where, []).extend([another] * more)
        elif option.part.name is None:
            fixed[at].append(option)
        chosen = [(each, part) for each, parts in fixed.items() for part in parts]
        self._budget.spend(4)
        if self._named(chosen) and self._arrived(chosen) is None:
            return self._around(fixed)
        return None

    # Bodies

    def _around(self, fixed: Mapping[int, Sequence[SentPart]], without: int = 0) -> Bodies | None:
        """Return a valid body of each sender, some with certain parts; None if none were found."""
        bodies = []
        for at, sender in enumerate(self.senders):
            candidates = [
                (at, option, option.sent & sender.required)
                for option in sender.options
                if not option.taken & without
            ]
            start = [(at, option, option.sent & sender.required) for option in fixed.get(at, ())]
            chosen = _choose(sender.required, start, candidates, self._named, self._budget)
            if chosen is None:
                return None
            bodies.append([option.part for _, option in chosen])
        return bodies

    def _bodies(self, chosen: Iterable[_Chosen]) -> Bodies:
        bodies: Bodies = [[] for _ in self.senders]
        for at, option in chosen:
            bodies[at].append(option.part)
        return bodies

    def _named(self, chosen: Sequence[_Chosen]) -> Sequence[_Chosen] | None:
        """Return parts if those of each sender have different names."""
        named = [(at, option.part.name) for at, option in chosen if option.part.name is not None]
        return chosen if len(set(named)) == len(named) else None

    def _fitting(self, chosen: Sequence[_Chosen]) -> Sequence[_Chosen] | None:
        """Return parts in an order in which they get through; None if none was found."""
        if self._named(chosen) is None:
            return None
        return next(filter(self._is_taken, self._orders(chosen)), None)

    def _orders(self, chosen: Sequence[_Chosen]) -> Iterator[Sequence[_Chosen]]:
        """Yield orders of parts: numbers follow them, and one part more moves them on."""
        yield chosen
        if any(sender.is_numbered for sender in self.senders):
            spare: list[Sequence[_Chosen]] = [()]
            spare += [
                [(at, option)]
                for at, sender in enumerate(self.senders)
                for option in sender.options
                if sender.is_numbered and option.part.name is None and option.refused != 1
            ]
            for more in spare:
                yield from islice(permutations([*more, *chosen]), _ORDERS)

    def _is_taken(self, chosen: Sequence[_Chosen]) -> bool:
        """Return whether parts get through, and the taker accepts all that arrives."""
        arrived = self._arrived(chosen)
        return arrived is not None and all(hits(self._taker, part) for part in arrived)

    def _arrived(self, chosen: Sequence[_Chosen]) -> WitnessParts | None:
        """Return what arrives; None if two parts have one name, on their way or at its end."""
        pairs = zip(self.senders, self._bodies(chosen), strict=True)
        try:
            return distinct([part for sender, body in pairs for part in sender.arrive(body)])
        except DuplicateName:
            return None


_Candidate = tuple[int, SentPart, int]


def _choose(
    needs: int,
    start: Sequence[_Candidate],
    candidates: Sequence[_Candidate],
    fit: _Fit,
    budget: Budget,
) -> Sequence[_Chosen] | None:
    """Return parts that meet all needs and fit together; None if there are none.

    Arguments:
        needs: what has to be met, as bits.
        start: the parts that are chosen already.
        candidates: the parts to choose from, each with its sender and what it meets.
        fit: returns parts as they fit together; if some don't, more of them don't either.
        budget: the budget.
    """
    met = reduce(or_, (meets for _, _, meets in start), 0)
    useful = [each for each in candidates if each[2]]
    stack = [([(at, option) for at, option, _ in start], needs & ~met)]
    while stack:
        chosen, unmet = stack.pop()
        budget.spend(4 + 4 * len(chosen) + len(useful) * unmet.bit_count() // 4)
        fitting = fit(chosen)
        if fitting is None:
            continue
        if not unmet:
            return fitting
        open_needs = [need for need in range(unmet.bit_length()) if unmet >> need & 1]
        rarest = min(open_needs, key=lambda need: sum(meets >> need & 1 for _, _, meets in useful))
        ways = [each for each in useful if each[2] >> rarest & 1]
        # The way that meets most is tried first.
        for at, option, meets in sorted(ways, key=lambda each: (each[2] & unmet).bit_count()):
            stack.append(([*chosen, (at, option)], unmet & ~meets))
    return None
