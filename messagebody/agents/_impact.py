"""Impact of a change: the pairs and the exchanges that an agent would lose and gain."""

from collections.abc import Mapping
from typing import Any

import attrs

from messagebody.agents._agents import Agent
from messagebody.agents._exchanges import way_of
from messagebody.compatibility import Verdict

Kinds = tuple[tuple[str, str, str], ...]
"""Kinds of exchange between two agents: who speaks first, who takes it, and the kind."""


@attrs.frozen
class Impact:
    """The effects of a change of one agent; true only if it is certain that no pair is lost.

    Arguments:
        lost: pairs (sender, taker) that fitted and would no longer fit.
        gained: pairs that would fit and did not.
        undecided: pairs for which the budget ended, before the change or after it.
        lost_exchanges: exchanges (speaker, taker, kind) that surely worked and no longer would.
        gained_exchanges: exchanges that surely would work and did not.
        undecided_exchanges: exchanges for which the budget ended.
    """

    lost: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...] = ()
    lost_exchanges: Kinds = ()
    gained_exchanges: Kinds = ()
    undecided_exchanges: Kinds = ()

    def __bool__(self) -> bool:
        unsure = self.undecided or self.undecided_exchanges
        return not (self.lost or self.lost_exchanges or unsure)


@attrs.frozen
class PairsFound:
    """Pairs, or exchanges: those that surely fit, and the undecided ones."""

    fitting: set[Any] = attrs.field(factory=set)
    undecided: set[Any] = attrs.field(factory=set)


def impact_of(
    was: PairsFound, will: PairsFound, change: tuple[Agent | None, Agent],
    others: Mapping[str, Agent], *, lenient: bool, steps: int,
) -> Impact:  # fmt: skip
    """Return what a change does.

    Arguments:
        was: the pairs that the agent is in.
        will: the pairs that it would be in.
        change: the agent as it is, if there is one, and as it would be.
        others: all other agents.
        lenient: takers ignore parts they do not know.
        steps: the work a pair may take.
    """
    spoken = [_exchanges(agent, others, lenient=lenient, steps=steps) for agent in change]
    return Impact(*_compared(was, will), *_compared(*spoken))


def _compared(was: PairsFound, will: PairsFound) -> tuple[tuple[Any, ...], ...]:
    """Return what is lost, what is gained, and what is undecided."""
    undecided = was.undecided | will.undecided
    # Where the budget ended, a pair is neither lost nor gained.
    lost = was.fitting - will.fitting - undecided
    gained = will.fitting - was.fitting - undecided
    return tuple(sorted(lost)), tuple(sorted(gained)), tuple(sorted(undecided))


def _exchanges(
    agent: Agent | None, others: Mapping[str, Agent], *, lenient: bool, steps: int
) -> PairsFound:
    """Return the exchanges of an agent with all others."""
    found = PairsFound()
    if agent is None or not agent.exchanges:
        return found
    for name, other in others.items():
        for kind in agent.exchanges.keys() & other.exchanges.keys():
            ends = (agent.name, agent.exchanges[kind]), (name, other.exchanges[kind])
            for speaker, taker in (ends, ends[::-1]):
                way = way_of(speaker, taker, lenient=lenient, steps=steps)
                if way:
                    found.fitting.add((way.speaker, way.taker, kind))
                elif way is not None and way.verdict is Verdict.UNDECIDED:
                    found.undecided.add((way.speaker, way.taker, kind))
    return found
