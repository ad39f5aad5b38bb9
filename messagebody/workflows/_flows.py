"""Flows: which parts can reach which agent, through steps and agents that pass them on."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._core import COMMON, Budget, OutOfBudget, essence
from messagebody.schema import MessageBodySchema, PartType
from messagebody.workflows._answers import Edge, Flow
from messagebody.workflows._images import Image, change, images_of, is_empty, sampled
from messagebody.workflows._steps import (
    Chain,
    OwnStep,
    Select,
    WitnessPart,
    WorkflowStep,
    accepts,
    select,
)

_LONGEST: Final = 2
"""Journeys that pass each agent more often on the average are not followed."""
_JOURNEY_FOLLOWED: Final = 500
"""Steps of the budget for each step of a journey."""


@attrs.frozen(eq=False)
class _Journey:
    """A journey of parts through the graph.

    Arguments:
        source: the agent where it begins.
        edges: the edges.
        images: what arrives at the end of them.
        steps: all that happens to the parts, and what agents let through, as steps.
        marks: how many of the steps are done when each agent sends.
    """

    source: str
    edges: tuple[Edge, ...]
    images: list[Image]
    steps: Chain
    marks: tuple[int, ...]

    def onward(self, steps: Iterable[WorkflowStep], budget: Budget) -> "_Journey":
        """Return the journey with more steps."""
        images = self.images
        for step in steps:
            budget.spend(_JOURNEY_FOLLOWED * (1 + len(images)))
            changed = change(step, images, budget)
            images = [image for image, move in changed if move is not None]
        images = [image for image in images if not is_empty(image, budget)]
        return attrs.evolve(self, images=images, steps=(*self.steps, *steps))

    def stops(self, part: WitnessPart) -> tuple[PartType, ...] | None:
        """Return what a part is when each agent sends it, and at the end.

        None if it is not one part all the way: it goes, or a message format makes several of it.
        """
        found: list[PartType] = []
        parts = [part]
        for done, step in enumerate((*self.steps, None)):
            if len(parts) != 1:
                return None
            found += [PartType(*parts[0][:2])] * self.marks.count(done)
            if step is not None:
                parts = step.follow(parts)
        return (*found, PartType(*parts[0][:2]))


def flow(
    agents: Mapping[str, "messagebody.Agent"],
    edges: Sequence[Edge],
    names: str | None,
    to: str,
    budget: Budget,
) -> Flow:
    """Return whether a part of some name can reach an agent."""
    is_open = False
    try:
        for journey in _journeys(agents, edges, names, budget):
            if len(journey.edges) > _LONGEST * len(agents):
                is_open = True
                break
            if journey.edges[-1].target != to:
                continue
            taken = journey.onward([_select(agents[to].input)], budget)
            for part in _sent(taken, agents[journey.source].output, budget):
                if (stops := taken.stops(part)) is not None:
                    return Flow(names, to, arrives=True, edges=journey.edges, stops=stops)
            is_open |= bool(taken.images)
    except OutOfBudget:
        is_open = True
    return Flow(names, to, arrives=None if is_open else False)


def _journeys(
    agents: Mapping[str, "messagebody.Agent"],
    edges: Sequence[Edge],
    names: str | None,
    budget: Budget,
) -> Iterator[_Journey]:
    """Yield the journeys on which a part survives, shortest first.

    Raises:
        OutOfBudget: there may be more.
    """
    met: set[object] = set()
    queue = deque[tuple[_Journey, Edge]]()
    for name, agent in agents.items():
        start = _Journey(name, (), images_of(agent.output), (), ())
        queue.extend(_ways(start.onward([select([names])], budget), name, edges))
    while queue:
        journey, edge = queue.popleft()
        marks = (*journey.marks, len(journey.steps))
        journey = attrs.evolve(journey, edges=(*journey.edges, edge), marks=marks)
        journey = journey.onward(_chain(edge), budget)
        here = edge.target
        # Another journey brought the same parts.
        key = journey.source, here, frozenset((each.part, each.without) for each in journey.images)
        if key in met or not journey.images:
            continue
        met.add(key)
        yield journey
        passed_on = [_select(agents[here].input), _select(agents[here].output)]
        queue.extend(_ways(journey.onward(passed_on, budget), here, edges))


def _ways(journey: _Journey, agent: str, edges: Sequence[Edge]) -> Iterator[tuple[_Journey, Edge]]:
    return ((journey, edge) for edge in edges if edge.source == agent)


def _sent(journey: _Journey, schema: MessageBodySchema, budget: Budget) -> Iterator[WitnessPart]:
    """Yield parts to send, so that something may arrive."""
    for image in journey.images:
        found = sampled(image, budget)
        if found is None or image.origin < 0:
            continue
        part = image.pulled_back(found)
        kinds = [part.content_type]
        if part.name is None:  # its type decides what name it gets
            kinds += [kind for kind in COMMON if kind == essence(kind)]
        others = (part._replace(content_type=kind) for kind in kinds)
        yield from (each for each in others if accepts(schema[image.origin], each))


def _chain(edge: Edge) -> Chain:
    """Return the steps of an edge, where a function passes on what it takes and may give."""
    found: list[WorkflowStep] = []
    for step in edge.steps:
        if isinstance(step, OwnStep):
            found += [_select(step.takes), _select(step.gives)]
        else:
            found.append(step)
    return tuple(found)


def _select(schema: MessageBodySchema) -> Select:
    return select([(part.name, part.content_type) for part in schema])
