"""Impact of a change: the pairs and the exchanges that a fleet of agents would lose and gain."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import attrs

import messagebody
from messagebody._core import escape
from messagebody.agents._exchanges import Direction, KindAnswer
from messagebody.compatibility import Verdict
from messagebody.errors import AgentNotFound

if TYPE_CHECKING:
    import messagebody.agents

Pairs = tuple[tuple[str, str], ...]
"""Pairs of agents: the sender and the taker."""
Changes = tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]
"""What is lost, what is gained, and what is undecided."""
_MOST_LINES: Final = 100
"""Lines of an impact for a person."""
Kinds = tuple[tuple[str, str, str], ...]
"""Kinds of exchange between two agents: who speaks first, who takes it, and the kind."""


def pair_text(pair: tuple[str, ...]) -> str:
    """Return a pair of agents, or an exchange between them, as a line.

    Examples:
        >>> pair_text(("writer", "desk")), pair_text(("writer", "desk", "interrupt"))
        ('writer → desk', 'writer → desk: interrupt')
    """
    kind = f": {escape(pair[2])}" if len(pair) > 2 else ""
    return " → ".join(map(escape, pair[:2])) + kind


@attrs.frozen
class Impact:
    """The effects of a change of agents; true only if it is certain that no pair is lost.

    Pairs of an agent that is removed are not lost: nobody sends or takes what does not fit. Neither
    is an exchange that its speaker no longer starts.

    Arguments:
        lost: pairs (sender, taker) that fitted and would no longer fit.
        gained: pairs that would fit and did not.
        undecided: pairs for which the budget ended, before the change or after it.
        lost_exchanges: exchanges (speaker, taker, kind) that surely worked and no longer would.
        gained_exchanges: exchanges that surely would work and did not.
        undecided_exchanges: exchanges for which the budget ended.
        changed: the agents that are not as they were.
        added: the agents that would be new.
        removed: the agents that would be gone.
    """

    lost: Pairs
    gained: Pairs
    undecided: Pairs = ()
    lost_exchanges: Kinds = ()
    gained_exchanges: Kinds = ()
    undecided_exchanges: Kinds = ()
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    _after: "Callable[[str, str], messagebody.agents.AgentCompatibility] | None" = attrs.field(
        default=None, eq=False, repr=False, kw_only=True
    )

    def __bool__(self) -> bool:
        unsure = self.undecided or self.undecided_exchanges
        return not (self.lost or self.lost_exchanges or unsure)

    def __str__(self) -> str:
        return "\n".join(islice(self._lines(), _MOST_LINES)) or "no pair is lost or gained"

    def _lines(self) -> Iterator[str]:
        """Yield a line for each effect, with the first reason why something is lost."""
        for pair in self.lost:
            answer = self.explain(*pair) if self._after is not None else None
            why = f": {answer.reasons[0].text}" if answer is not None and answer.reasons else ""
            yield f"- {pair_text(pair)}{why}"
        yield from (f"- {pair_text(each)}" for each in self.lost_exchanges)
        yield from (f"+ {pair_text(each)}" for each in (*self.gained, *self.gained_exchanges))
        unsure = (*self.undecided, *self.undecided_exchanges)
        yield from (f"? {pair_text(each)} is undecided" for each in unsure)
        yield from (f"  {escape(name, limit=100)} is removed" for name in self.removed)

    def explain(self, sender: str, taker: str) -> "messagebody.agents.AgentCompatibility":
        """Return the full answer for two agents after the change, with bodies and reasons.

        Each exchange of theirs that is lost has an answer, also if the taker states none any more.

        Raises:
            AgentNotFound: there would be no such agent.
        """
        if self._after is None:
            raise AgentNotFound(sender)
        answer = self._after(sender, taker)
        untaken = Direction(sender, taker, None, None, Verdict.NEVER)
        kinds = [kind for *pair, kind in self.lost_exchanges if pair == [sender, taker]]
        dropped = {kind: KindAnswer(kind, (untaken,)) for kind in kinds}
        return attrs.evolve(answer, exchanges={**dropped, **answer.exchanges})

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON: the pairs and exchanges, and why each lost pair breaks."""
        broken = [
            {
                "sender": sender, "taker": taker, "verdict": answer.verdict,
                "reasons": [reason.text for reason in answer.reasons],
                "counterexample": answer.counterexample and answer.counterexample.to_dicts(),
            }
            for sender, taker in self.lost
            for answer in [self.explain(sender, taker)]
        ]  # fmt: skip
        return {
            "lost": self.lost, "gained": self.gained, "undecided": self.undecided,
            "lostExchanges": self.lost_exchanges, "gainedExchanges": self.gained_exchanges,
            "undecidedExchanges": self.undecided_exchanges,
            "changed": self.changed, "added": self.added, "removed": self.removed,
            "broken": broken,
        }  # fmt: skip


@attrs.frozen
class PairsFound:
    """Pairs, or exchanges: those that surely fit, and the undecided ones."""

    fitting: set[Any] = attrs.field(factory=set)
    undecided: set[Any] = attrs.field(factory=set)

    def add(self, pair: tuple[str, ...], fits: bool | None) -> None:
        """Add a pair; None is undecided."""
        if fits is not False:
            (self.undecided if fits is None else self.fitting).add(pair)


def compare_pairs(
    was: PairsFound, will: PairsFound, is_left: Callable[[tuple[str, ...]], bool]
) -> Changes:
    """Return what is lost, what is gained, and what is undecided.

    Arguments:
        was: pairs as they are.
        will: pairs as they would be.
        is_left: whether somebody would still speak to somebody in a pair.
    """
    undecided = {*filter(is_left, was.undecided)} | will.undecided
    # Where the budget ended, a pair is neither lost nor gained.
    lost = {*filter(is_left, was.fitting)} - will.fitting - undecided
    gained = will.fitting - was.fitting - undecided
    return tuple(sorted(lost)), tuple(sorted(gained)), tuple(sorted(undecided))
