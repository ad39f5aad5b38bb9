"""Whether what senders send gets through steps to a taker, with bodies that show it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import product

import attrs

from messagebody._core import Budget
from messagebody.compatibility._solver.languages import members
from messagebody.errors import DuplicateName
from messagebody.schema import MessageBodySchema, PartType
from messagebody.workflows._kinds import Setting
from messagebody.workflows._producers import END, PartOption, SteppedProducer, hits
from messagebody.workflows._steps import Chain, distinct

Bodies = list[list[PartType]]
"""A body of each sender."""
_Chosen = tuple[int, PartOption]
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
        sent: the first schema part of that sender that accepts it.
        required: the schema part of the taker that nothing meets; None if something else breaks.
        name: the name that two parts would have; None if none collide.
        is_shared: whether parts of several senders collide.
        arrived: what arrives of the part that is refused.
    """

    bodies: Bodies
    sender: int | None = None
    part: PartType | None = None
    sent: int | None = None
    required: int | None = None
    name: str | None = None
    is_shared: bool = False
    arrived: list[PartType] = attrs.field(factory=list)


class JointDecision:
    """A decision about what senders send to one taker.

    Arguments:
        senders: the schema of each sender, with the steps of each of its edges.
        taker: the schema of what the taker takes.
        budget: the budget.
    """

    def __init__(
        self,
        senders: Sequence[tuple[MessageBodySchema, Sequence[Chain]]],
        taker: MessageBodySchema,
        budget: Budget,
    ) -> None:
        self._taker = taker
        self._budget = budget
        self._required = sum(1 << i for i, part in enumerate(taker) if part.required)
        setting = Setting(senders, taker)
        self._senders = [
            SteppedProducer(schema, chains, setting, budget) for schema, chains in senders
        ]
        for one in self._senders:
            for other in self._senders:
                if one is not other:
                    one.meet(other)
        self._length = 4 + sum(sender.length for sender in self._senders)
        self._options: dict[int, list[list[PartOption]]] = {}

    @property
    def is_exact(self) -> bool:
        """Whether *no bodies found* means that there are none."""
        return self.is_silent or all(sender.is_exact for sender in self._senders)

    @cached_property
    def is_silent(self) -> bool:
        """Whether nothing ever arrives, because one of the senders has no valid body."""
        return any(self._body(at) is None for at in range(len(self._senders)))

    def valid(self) -> Bodies | None:
        """Return a body of each sender, so that what arrives is valid; None if there are none.

        Raises:
            OutOfBudget: none were found before the budget ended.
        """
        widths = [len(sender.schema) for sender in self._senders]
        shifts = [sum(widths[:i]) for i in range(len(widths) + 1)]
        needs = self._required << shifts[-1]
        for sender, shift in zip(self._senders, shifts, strict=False):
            needs |= sender.required << shift

        def meets(at: int, option: PartOption) -> int:
            return (option.sent << shifts[at] | option.taken << shifts[-1]) & needs

        as_chosen = self._unchanged if self.is_exact else self._taken
        tries: list[tuple[_Fit, int]] = [(as_chosen, most) for most in self._sizes]
        if self.is_exact:
            # Other orders are many, and mostly the first one will do.
            tries += [(partial(self._ordered, most), most) for most in self._sizes]
        for fit, most in tries:
            candidates = [
                (at, option, meets(at, option))
                for at, options in enumerate(self._options_of(most))
                for option in options
                if option.refused != 1
            ]
            chosen = _choose(needs, [], candidates, fit, self._budget)
            if chosen is not None:
                return self._bodies(chosen)
        return None

    def breaks(self) -> Iterator[Break]:
        """Yield bodies that break something, for each thing that can break.

        Raises:
            OutOfBudget: some may be missing.
        """
        if self.is_silent:
            return
        yield from self._refused()
        yield from self._missing()
        yield from self._collisions()

    def sendable(self, most: int) -> Iterator[PartOption]:
        """Yield parts of the first sender, up to a number, that stand in some valid body."""
        for option in self._options_of(1)[0][:most]:
            if self._body(0, [option]) is not None:
                yield option

    # What can break

    def _refused(self) -> Iterator[Break]:
        for at, options in enumerate(self._options_of(1)):
            found: set[int] = set()
            for option in options:
                sent = (option.sent & -option.sent).bit_length() - 1
                if not option.refused or sent in found:
                    continue
                copies = [option] * option.refused
                bodies = self._around({at: copies})
                if bodies is not None:
                    found.add(sent)
                    arrived = self._senders[at].arrive([each.part for each in copies])
                    refused = [each for each in arrived if not hits(self._taker, each)]
                    yield Break(bodies, at, option.part, sent, arrived=refused)

    def _missing(self) -> Iterator[Break]:
        for required in members(self._required):
            bodies = self._around({}, without=1 << required)
            if bodies is not None:
                yield Break(bodies, required=required)

    def _collisions(self) -> Iterator[Break]:
        bearers: dict[tuple[int, tuple[int, int], str], list[tuple[int, PartOption, int]]] = {}
        for at, options in enumerate(self._options_of(1)):
            for option in options:
                for (stage, name), copies in option.names.items():
                    place = -1 if stage == END else at
                    bearers.setdefault((place, stage, name), []).append((at, option, copies))
        found: set[tuple[int, int, tuple[int, int]]] = set()
        for (_, stage, name), listed in bearers.items():
            for one, other in product(listed, repeat=2):
                key = (one[0], other[0], stage)
                if key in found or one[0] > other[0]:
                    continue
                bodies = self._colliding(one, other)
                if bodies is not None:
                    found.add(key)
                    part = other[1].part
                    yield Break(bodies, other[0], part, name=name, is_shared=one[0] != other[0])

    def _colliding(
        self, one: tuple[int, PartOption, int], other: tuple[int, PartOption, int]
    ) -> Bodies | None:
        """Return bodies with two parts that get one name on their way; None if there are none."""
        (at, option, copies), (where, another, more) = one, other
        if at == where and option.part.name is not None:
            # One name has one part, which meets itself only if it goes several ways.
            is_same = option.part.name == another.part.name
            if is_same and (option is not another or len(self._senders[at].chains) == 1):
                return None
        self._budget.spend(self._length * (copies + more))
        fixed = {at: [option] * copies}
        if option is not another or at != where or copies > 1:
            fixed.setdefault(where, []).extend([another] * more)
        if _is_alone(fixed) and option.part.name is None:
            fixed[at].append(option)
        chosen = [(each, part) for each, parts in fixed.items() for part in parts]
        if self._have_names(chosen) and not self._get_through(chosen):
            return self._around(fixed)
        return None

    # Bodies

    def _around(
        self,
        fixed: dict[int, list[PartOption]],
        without: int = 0,
    ) -> Bodies | None:
        """Return a valid body of each sender, some with certain parts; None if there are none."""
        bodies = []
        for at in range(len(self._senders)):
            body = self._body(at, fixed.get(at, ()), without)
            if body is None:
                return None
            bodies.append(body)
        return bodies

    def _body(
        self,
        at: int,
        fixed: Sequence[PartOption] = (),
        without: int = 0,
    ) -> list[PartType] | None:
        needs = self._senders[at].required
        for most in self._sizes:
            candidates = [
                (at, option, option.sent & needs)
                for option in self._options_of(most)[at]
                if not option.taken & without
            ]
            start = [(at, option, option.sent & needs) for option in fixed]
            chosen = _choose(needs, start, candidates, self._named, self._budget)
            if chosen is not None:
                return [option.part for _, option in chosen]
        return None

    @property
    def _sizes(self) -> tuple[int, int]:
        """How many names of a class to try: one, or enough for all that is required."""
        required = self._required.bit_count()
        required += sum(sender.required.bit_count() for sender in self._senders)
        return 1, 2 * required + 2

    def _options_of(self, most: int) -> list[list[PartOption]]:
        if most not in self._options:
            self._options[most] = [sender.options(most) for sender in self._senders]
        return self._options[most]

    def _bodies(self, chosen: Iterable[_Chosen]) -> Bodies:
        bodies: Bodies = [[] for _ in self._senders]
        for at, option in chosen:
            bodies[at].append(option.part)
        return bodies

    def _have_names(self, chosen: Sequence[_Chosen]) -> bool:
        """Return whether the parts of each sender have different names."""
        named = [(at, option.part.name) for at, option in chosen if option.part.name is not None]
        return len(set(named)) == len(named)

    def _get_through(self, chosen: Sequence[_Chosen]) -> bool:
        """Return whether no two parts have one name, on their way and at its end."""
        return self._arrived(chosen) is not None

    # Parts as they fit together, None if they don't

    def _named(self, chosen: Sequence[_Chosen]) -> Sequence[_Chosen] | None:
        return chosen if self._have_names(chosen) else None

    def _unchanged(self, chosen: Sequence[_Chosen]) -> Sequence[_Chosen] | None:
        return chosen if self._get_through(chosen) else None

    def _taken(self, chosen: Sequence[_Chosen]) -> Sequence[_Chosen] | None:
        """Return parts if they get through, and the taker accepts all that arrives."""
        arrived = self._arrived(chosen)
        is_taken = arrived is not None and all(hits(self._taker, part) for part in arrived)
        return chosen if is_taken else None

    def _ordered(self, most: int, chosen: Sequence[_Chosen]) -> Sequence[_Chosen] | None:
        """Return parts in an order in which they get through; None if there is none.

        Numbers follow the order of parts, and further parts in between move them on.
        """
        if self._get_through(chosen):
            return chosen
        fixed = [each for each in chosen if not self._is_numbered(*each)]
        counted = [each for each in chosen if self._is_numbered(*each)]
        senders = dict.fromkeys(at for at, _ in counted)
        spare = [[(at, each) for each in self._options_of(most)[at]
                  if each.refused != 1 and self._is_numbered(at, each)]
                 for at in senders]  # fmt: skip
        longest = len(chosen) + sum(self._senders[at].last_number for at in senders)
        stack = [(fixed, counted)] if counted else []
        seen = set()
        while stack:
            placed, left = stack.pop()
            self._budget.spend(self._length * (1 + len(placed)) * (1 + sum(map(len, spare))))
            arrived = self._arrived(placed)
            if arrived is None or len(placed) + len(left) > longest:
                continue
            if not left:
                return placed
            state = (frozenset(part.name for part in arrived), tuple(left))
            if state in seen:
                continue
            seen.add(state)
            for each in spare:
                longer = ([*placed, one] for one in each)
                more = next(filter(self._get_through, longer), None)
                stack += [] if more is None else [(more, left)]
            stack += [([*placed, one], [*left[:i], *left[i + 1 :]]) for i, one in enumerate(left)]
        return None

    def _is_numbered(self, at: int, option: PartOption) -> bool:
        return self._senders[at].is_numbered(option.part.name)

    def _arrived(self, chosen: Sequence[_Chosen]) -> list[PartType] | None:
        """Return what arrives; None if two parts have one name, on their way or at its end."""
        if not self._have_names(chosen):
            return None
        try:
            return distinct(
                [
                    part
                    for sender, body in zip(self._senders, self._bodies(chosen), strict=True)
                    for part in sender.arrive(body)
                ]
            )
        except DuplicateName:
            return None


def _is_alone(fixed: dict[int, list[PartOption]]) -> bool:
    return sum(map(len, fixed.values())) == 1


_Candidate = tuple[int, PartOption, int]


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
    met = 0
    for _, _, meets in start:
        met |= meets
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
        rarest = min(
            members(unmet), key=lambda need: sum(meets >> need & 1 for _, _, meets in useful)
        )
        ways = [each for each in useful if each[2] >> rarest & 1]
        # The way that meets most is tried first.
        for at, option, meets in sorted(ways, key=lambda each: (each[2] & unmet).bit_count()):
            stack.append(([*chosen, (at, option)], unmet & ~meets))
    return None
