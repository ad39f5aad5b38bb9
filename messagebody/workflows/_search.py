"""Messages that break something, or get through: found among what senders may send, and tried."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations, combinations_with_replacement, islice, permutations, product
from operator import attrgetter, or_
from typing import Final

import attrs

from messagebody._core import Budget
from messagebody.compatibility import Verdict, check
from messagebody.errors import DuplicateName
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._images import (
    ANYTHING,
    Image,
    UnwrittenMeet,
    clash_of,
    is_empty,
    shared,
)
from messagebody.workflows._senders import END, EdgeSender, SentPart, Stage, WitnessParts, hits
from messagebody.workflows._steps import Chain, WitnessPart, distinct

_ORDERS: Final = 24
"""Orders of parts without a name that are tried."""


def _texts(
    senders: Iterable[tuple[MessageBodySchema, Sequence[Chain]]], taker: MessageBodySchema
) -> str:
    """Return the names and patterns of those who send to a taker, as one text."""
    found = [part.name or "" for part in taker]
    for schema, chains in senders:
        found += [part.name or "" for part in schema]
        found += [f"{step.to_dict()}" for chain in chains for step in chain if step.rules]
    return "\n".join(found)


Bodies = list[WitnessParts]
"""A body of each sender."""
_Chosen = Sequence[SentPart]


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
        self.senders = [
            EdgeSender(number, *each, taker, budget, texts) for number, each in enumerate(listed)
        ]
        self.traces = [each for sender in self.senders for each in sender.traces]
        for one, other in combinations(self.traces, 2):
            for pair in product(one.end, other.end):
                budget.spend(1)
                clash = clash_of(*pair, budget)
                if clash is not None:
                    one.clashes.append(clash)
                    other.clashes.append(clash)
        self.clashes = [clash for each in self.traces for clash in each.clashes]

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
        upper = MessageBodySchema([part for each in self.senders for part in each.arriving()])
        verdict = self._check(upper, self._taker)
        if verdict is Verdict.NEVER or (verdict is Verdict.SOMETIMES and self._is_unmet()):
            return Verdict.NEVER
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

    def _is_unmet(self) -> bool:
        """Return whether nothing that arrives is what is required, or all of it that always comes.

        A message then lacks that, or brings what is refused.
        """
        images = [image for each in self.traces for image in each.end]
        required = [part for part in self._taker if part.required]
        if any(not any(self._may_be(image, part) for image in images) for part in required):
            return True
        return any(
            not any(self._may_be(image, part) for image in found for part in self._taker)
            for sender in self.senders
            for found in sender.certain_images()
        )

    def _may_be(self, image: Image, part: SchemaPart) -> bool:
        try:
            both = shared(image.part, part, self._budget)
        except UnwrittenMeet:
            return True
        return both is not None and not is_empty(attrs.evolve(image, part=both), self._budget)

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
        for sender in self.senders:
            needs |= sender.required << shifts[sender.number]

        def meets(part: SentPart) -> int:
            return part.sent << shifts[part.sender] | part.taken << shifts[-1]

        parts = [part for sender in self.senders for part in sender.options if part.refused != 1]
        chosen = _choose(needs, [], parts, meets, self._fitting, self._budget)
        return None if chosen is None else self._bodies(chosen)

    # What can break

    def _refused(self) -> Iterator[Break]:
        for sender in self.senders:
            found: set[int] = set()
            for option in sender.options:
                first = option.sent & -option.sent
                copies = [option] * option.refused
                bodies = self._around(copies) if copies and first not in found else None
                if bodies is not None:
                    found.add(first)
                    arrived = sender.arrive([each.part for each in copies])
                    refused = [each for each in arrived if not hits(self._taker, each)]
                    yield Break(bodies, sender.number, option.part, arrived=refused)

    def _missing(self) -> Iterator[Break]:
        for required in range(len(self._taker)):
            if self._required >> required & 1:
                bodies = self._around([], without=1 << required)
                if bodies is not None:
                    yield Break(bodies, required=required)

    def _collisions(self) -> Iterator[Break]:
        bearers: dict[tuple[int, Stage, str], list[tuple[SentPart, int]]] = {}
        for option in (each for sender in self.senders for each in sender.options):
            for (stage, name), copies in option.names.items():
                place = -1 if stage == END else option.sender
                bearers.setdefault((place, stage, name), []).append((option, copies))
        found: set[tuple[int, int, str]] = set()
        for (_, _, name), listed in bearers.items():
            for (one, copies), (other, more) in combinations_with_replacement(listed, 2):
                key = one.sender, other.sender, name
                bodies = None
                if key not in found:
                    bodies = self._colliding([one] * copies, [other] * more)
                if bodies is not None:
                    found.add(key)
                    is_shared = one.sender != other.sender
                    yield Break(bodies, other.sender, other.part, name=name, is_shared=is_shared)

    def _colliding(self, ones: list[SentPart], others: list[SentPart]) -> Bodies | None:
        """Return bodies with two parts that get one name on their way; None if there are none."""
        if ones[0] is others[0]:
            # The same part goes several ways, or one without a name is sent once more.
            others = [] if ones[0].part.name else others[:1]
        chosen = ones + others
        self._budget.spend(4)
        if self._named(chosen) and self._arrived(chosen) is None:
            return self._around(chosen)
        return None

    # Bodies

    def _around(self, fixed: _Chosen, without: int = 0) -> Bodies | None:
        """Return a valid body of each sender, some with certain parts; None if none were found."""
        bodies = []
        for sender in self.senders:
            start = [part for part in fixed if part.sender == sender.number]
            parts = [part for part in sender.options if not part.taken & without]
            chosen = _choose(
                sender.required, start, parts, attrgetter("sent"), self._named, self._budget
            )
            if chosen is None:
                return None
            bodies.append([option.part for option in chosen])
        return bodies

    def _bodies(self, chosen: _Chosen) -> Bodies:
        bodies: Bodies = [[] for _ in self.senders]
        for option in chosen:
            bodies[option.sender].append(option.part)
        return bodies

    def _named(self, chosen: _Chosen) -> _Chosen | None:
        """Return parts if those of each sender have different names."""
        named = [(each.sender, each.part.name) for each in chosen if each.part.name is not None]
        return chosen if len(set(named)) == len(named) else None

    def _fitting(self, chosen: _Chosen) -> _Chosen | None:
        """Return parts in an order in which they get through; None if none was found."""
        if self._named(chosen) is None:
            return None
        return next(filter(self._is_taken, self._orders(chosen)), None)

    def _orders(self, chosen: _Chosen) -> Iterator[_Chosen]:
        """Yield orders of parts: numbers follow them, and one part more moves them on."""
        yield chosen
        counting = [sender for sender in self.senders if sender.is_numbered]
        spare = [
            [each]
            for sender in counting
            for each in sender.options
            if each.part.name is None and each.refused != 1
        ]
        for more in [[], *spare] if counting else []:
            yield from islice(permutations([*more, *chosen]), _ORDERS)

    def _is_taken(self, chosen: _Chosen) -> bool:
        """Return whether parts get through, and the taker accepts all that arrives."""
        arrived = self._arrived(chosen)
        return arrived is not None and all(hits(self._taker, part) for part in arrived)

    def _arrived(self, chosen: _Chosen) -> WitnessParts | None:
        """Return what arrives; None if two parts have one name, on their way or at its end."""
        pairs = zip(self.senders, self._bodies(chosen), strict=True)
        try:
            return distinct([part for sender, body in pairs for part in sender.arrive(body)])
        except DuplicateName:
            return None


def _choose(
    needs: int,
    start: _Chosen,
    candidates: Iterable[SentPart],
    meets: Callable[[SentPart], int],
    fit: Callable[[_Chosen], _Chosen | None],
    budget: Budget,
) -> _Chosen | None:
    """Return parts that meet all needs and fit together; None if there are none.

    Arguments:
        needs: what has to be met, as bits.
        start: the parts that are chosen already.
        candidates: the parts to choose from.
        meets: returns what a part meets, and maybe more.
        fit: returns parts as they fit together; if some don't, more of them don't either.
        budget: the budget.
    """
    useful = [(part, meets(part) & needs) for part in candidates if meets(part) & needs]
    stack = [(start, needs & ~reduce(or_, map(meets, start), 0))]
    while stack:
        chosen, unmet = stack.pop()
        budget.spend(4 + 4 * len(chosen) + len(useful) * unmet.bit_count() // 4)
        fitting = fit(chosen)
        if fitting is None:
            continue
        if not unmet:
            return fitting
        bits = [1 << need for need in range(unmet.bit_length()) if unmet >> need & 1]
        rarest = min(bits, key=lambda bit: sum(met & bit > 0 for _, met in useful))
        ways = [(part, met) for part, met in useful if met & rarest]
        # The way that meets most is tried first.
        for part, met in sorted(ways, key=lambda way: (way[1] & unmet).bit_count()):
            stack.append(([*chosen, part], unmet & ~met))
    return None
