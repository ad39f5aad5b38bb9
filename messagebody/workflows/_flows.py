"""Flows: which parts can reach which agent, through steps and agents that pass them on."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from messagebody._core import Budget, OutOfBudget
from messagebody.agents import Agent
from messagebody.schema import MessageBodySchema, PartType
from messagebody.workflows._answers import Edge, Flow
from messagebody.workflows._kinds import Setting
from messagebody.workflows._producers import SteppedProducer
from messagebody.workflows._steps import Chain, OwnStep, Select, WorkflowStep, select

_LONGEST: Final = 2
"""Journeys that pass each agent more often on the average are not followed."""
_JOURNEY_FOLLOWED: Final = 500
"""Steps of the budget for each step of a journey."""


@attrs.frozen
class _Journey:
    """A journey of parts through the graph.

    Arguments:
        edges: the edges.
        steps: all that happens to the parts, and what agents let through, as steps.
        marks: how many of the steps are done when each agent sends.
    """

    edges: tuple[Edge, ...]
    steps: Chain
    marks: tuple[int, ...]


def flow(
    agents: Mapping[str, Agent],
    edges: Sequence[Edge],
    names: str | None,
    to: str,
    budget: Budget,
) -> Flow:
    """Return whether a part of some name can reach an agent."""
    is_open = False
    try:
        for journey, source in _journeys(agents, edges, names, budget):
            if len(journey.edges) > _LONGEST * len(agents):
                is_open = True
                break
            producer = _producer(agents[source], journey.steps, agents[to].input, budget)
            if journey.edges[-1].target == to:
                taken = (each.part for each in producer.options(1) if each.taken)
                stops = next(filter(None, (_stops(journey, part) for part in taken)), None)
                if stops is not None:
                    return Flow(names, to, arrives=True, edges=journey.edges, stops=stops)
            is_open |= not producer.is_exact
    except OutOfBudget:
        is_open = True
    return Flow(names, to, arrives=None if is_open else False)


def _journeys(
    agents: Mapping[str, Agent], edges: Sequence[Edge], names: str | None, budget: Budget
) -> Iterator[tuple[_Journey, str]]:
    """Yield the journeys on which a part survives, shortest first, each with where it begins.

    Raises:
        OutOfBudget: there may be more.
    """
    first = select([names])
    met: set[tuple[str, str, Chain]] = set()
    queue = deque((_Journey((edge,), (first, *_chain(edge)), (1,)), edge.source) for edge in edges)
    while queue:
        journey, source = queue.popleft()
        here = journey.edges[-1].target
        # Another journey did the same to the same parts.
        key = (source, here, journey.steps)
        if key in met:
            continue
        met.add(key)
        budget.spend(_JOURNEY_FOLLOWED * (1 + len(journey.steps)))
        if not _survives(agents[source], journey.steps, budget):
            continue
        yield journey, source
        through = _through(journey.steps, agents[here])
        marks = (*journey.marks, len(through))
        queue.extend(
            (_Journey((*journey.edges, edge), (*through, *_chain(edge)), marks), source)
            for edge in edges
            if edge.source == here
        )


def _chain(edge: Edge) -> Chain:
    """Return the steps of an edge, where a function passes on what it takes and may give."""
    found: list[WorkflowStep] = []
    for step in edge.steps:
        if isinstance(step, OwnStep):
            found += [_select(step.takes), _select(step.gives)]
        else:
            found.append(step)
    return tuple(found)


def _through(steps: Chain, agent: Agent) -> Chain:
    """Return steps, and what an agent takes and sends of what they give."""
    for schema in (agent.input, agent.output):
        chosen = _select(schema)
        if not _is_done(steps, chosen):
            steps = (*steps, chosen)
    return steps


def _is_done(steps: Chain, chosen: WorkflowStep) -> bool:
    """Return whether the same was chosen before, and nothing has changed since."""
    for step in reversed(steps):
        if step == chosen:
            return True
        if not isinstance(step, Select):
            return False
    return False


def _select(schema: MessageBodySchema) -> Select:
    return select([(part.name, part.content_type) for part in schema])


def _producer(
    agent: Agent, steps: Chain, taker: MessageBodySchema, budget: Budget
) -> SteppedProducer:
    setting = Setting([(agent.output, [steps])], taker)
    return SteppedProducer(agent.output, [steps], setting, budget)


def _survives(agent: Agent, steps: Chain, budget: Budget) -> bool:
    """Return whether a part gets through steps, or may get through."""
    anything = MessageBodySchema([(None,), ("/**",)])
    producer = _producer(agent, steps, anything, budget)
    return not producer.is_exact or any(option.taken for option in producer.options(1))


def _stops(journey: _Journey, part: PartType) -> tuple[PartType, ...] | None:
    """Return what a part is when each agent sends it, and at the end.

    None if it is not one part all the way: a message format may make several of it, or of nothing.
    """
    found: list[PartType] = []
    parts = [part]
    for done, step in enumerate((*journey.steps, None)):
        if len(parts) != 1:
            return None
        found += parts * journey.marks.count(done)
        if step is not None:
            parts = step.types(parts)
    return (*found, *parts)
