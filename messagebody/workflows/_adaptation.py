"""Adaptation: steps between what one side sends and what another side takes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

import attrs

from messagebody._core import DEFAULT_STEPS, Budget, OutOfBudget, quote, require_schema
from messagebody.compatibility import Verdict
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._answers import Edge, described, step_text
from messagebody.workflows._inspection import Incoming
from messagebody.workflows._mending import Mending, is_makeable
from messagebody.workflows._search import Break, WitnessSearch
from messagebody.workflows._steps import Chain, OwnStep, WorkflowStep

_OPEN: Final = Break([])
"""Nothing is known that breaks, and no proof that there is nothing."""


class FoundSteps(tuple[WorkflowStep, ...]):  # noqa: SLOT001 - tuples take no slots with names
    """Steps that were found, with what they lose.

    Attributes:
        lost: the schema parts of the sender of which something no longer arrives.
    """

    lost: tuple[SchemaPart, ...]

    def __new__(cls, steps: Iterable[WorkflowStep] = (), lost: Iterable[SchemaPart] = ()) -> Self:
        self = super().__new__(cls, steps)
        self.lost = tuple(lost)
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.lost

    def __str__(self) -> str:
        steps = ", ".join(map(step_text, self)) or "no steps"
        return f"{steps}{lost_text(self.lost)}"


def lost_text(lost: Iterable[SchemaPart]) -> str:
    """Return in words what steps lose, to be put behind them; empty if they lose nothing."""
    listed = ", ".join(described(part.name, part.content_type) for part in lost)
    return f" (loses {listed})" if listed else ""


@attrs.frozen
class Adaptation:
    """Steps at the end of edges, after which all that reaches an agent is valid for it.

    Arguments:
        agent: the agent.
        steps: the steps, by the number of the edge; `lost` of each says what they lose.
    """

    agent: str
    steps: Mapping[int, FoundSteps] = attrs.field(hash=False)

    def __str__(self) -> str:
        lines = (f"  edge {number}: {steps}" for number, steps in self.steps.items())
        return "\n".join([f"steps that mend {quote(self.agent)}:", *lines])

    @property
    def lost(self) -> tuple[SchemaPart, ...]:
        """The schema parts of senders of which something no longer arrives."""
        return tuple(part for steps in self.steps.values() for part in steps.lost)

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON."""
        added = [
            {
                "edge": number,
                "steps": [step.to_dict() for step in steps],
                "lost": MessageBodySchema(steps.lost).to_dicts(),
            }
            for number, steps in self.steps.items()
        ]
        return {"agent": self.agent, "add": added}


def adapt(
    producer: MessageBodySchema, consumer: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS
) -> FoundSteps | None:
    """Return steps that make all that one side sends valid for another side.

    The steps are made of the names and types that the two schemas state, up to three of them. Of
    those that help, they lose least of what the other side could take, and then they are the
    fewest; `lost` says what no longer arrives.

    Arguments:
        producer: the schema of what is sent.
        consumer: the schema of what is taken.
        max_steps: the budget of all attempts together; see `messagebody.check`.

    Returns:
        The steps, none if all is valid as it is; None if such steps were not found.

    Examples:
        >>> report = MessageBodySchema([("/report.md", "text/markdown", True), ("/log", "*/*")])
        >>> brief = MessageBodySchema([("/input/brief.md", "text/*", True)])
        >>> print(adapt(report, brief))
        rename /report.md /input/brief.md, drop /log (loses /log of */*)
    """
    for each in (producer, consumer):
        require_schema(each)
    edge = Incoming(0, Edge("producer", "consumer"), producer)
    found = steps_for(consumer, [edge], Budget(max_steps))
    return None if found is None else found.get(0, FoundSteps())


def steps_for(
    taker: MessageBodySchema, incoming: Sequence[Incoming], budget: Budget
) -> dict[int, FoundSteps] | None:
    """Return steps at the end of edges, after which all that arrives is valid; None if not found.

    Arguments:
        taker: the schema of what is taken.
        incoming: the edges, whose messages come together.
        budget: the budget.
    """
    if any(isinstance(step, OwnStep) for each in incoming for step in each.edge.steps):
        return None
    sent = [part for each in incoming for part in each.sent]
    if not all(is_makeable(part, sent) for part in taker if part.required):
        return None
    edges = _Edges(taker, incoming, budget)
    try:
        # First each edge alone, with what it can bring of what is required; then all together.
        for each in incoming if incoming[1:] else ():
            edges.mend(each, [each], _share(taker, each.sent))
        if any(edges.mend(each, incoming, taker) for each in incoming):
            return edges.found()
    except OutOfBudget:
        pass
    return None


def _share(taker: MessageBodySchema, sent: MessageBodySchema) -> MessageBodySchema:
    """Return what is taken, where only what can be made of required parts is required."""
    certain = [part for part in sent if part.required]
    return MessageBodySchema(
        attrs.evolve(part, required=part.required and is_makeable(part, certain)) for part in taker
    )


class _Edges:
    """The steps of edges to one taker, while more are looked for."""

    def __init__(
        self, taker: MessageBodySchema, incoming: Sequence[Incoming], budget: Budget
    ) -> None:
        self._taker, self._incoming, self._budget = taker, incoming, budget
        self._added: dict[int, Chain] = dict.fromkeys((each.number for each in incoming), ())

    def mend(self, edge: Incoming, edges: Iterable[Incoming], taker: MessageBodySchema) -> bool:
        """Add steps to an edge, after which nothing breaks; return whether they were found."""
        added = self._added[edge.number]

        def attempt(more: Chain) -> Break | None:
            self._added[edge.number] = added + more
            return self._broken(edges, taker)

        before = edge.edge.steps + added
        found = Mending(edge.sent, before, self._taker, self._budget).search(attempt)
        self._added[edge.number] = added + (found or ())
        return found is not None

    def _broken(self, edges: Iterable[Incoming], taker: MessageBodySchema) -> Break | None:
        """Return something that breaks; None if it is certain that nothing does."""
        senders: dict[str, tuple[MessageBodySchema, list[Chain]]] = {}
        for each in edges:
            _, chains = senders.setdefault(each.edge.source, (each.sent, []))
            chains.append(each.edge.steps + self._added[each.number])
        search = WitnessSearch(senders.values(), taker, self._budget)
        return None if search.proved() is Verdict.ALWAYS else next(search.breaks(), _OPEN)

    def found(self) -> dict[int, FoundSteps]:
        """Return the steps that were added, with what they lose."""
        found = {}
        for each in self._incoming:
            steps = self._added[each.number]
            if steps:
                mending = Mending(each.sent, each.edge.steps, self._taker, Budget(DEFAULT_STEPS))
                found[each.number] = FoundSteps(steps, mending.lost(steps))
        return found
