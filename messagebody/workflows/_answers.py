"""Answers about a workflow: what breaks, with messages that show it, and their way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import attrs

from messagebody._core import MessageBody, answer_repr, quote, require_iterable
from messagebody.compatibility import Verdict
from messagebody.errors import MessageBodyError
from messagebody.schema import PartType
from messagebody.workflows._steps import WorkflowStep


def _as_steps(steps: Iterable[WorkflowStep]) -> tuple[WorkflowStep, ...]:
    return tuple(require_iterable(steps, "steps"))


@attrs.frozen
class Edge:
    """A connection of a workflow: who sends to whom, and what happens in between.

    Arguments:
        source: the name of the agent that sends.
        target: the name of the agent that takes.
        steps: the steps in between, in order.
        alone: whether its messages come by themselves, and not together with those of other edges:
            where an agent is called by one or by another one.
    """

    source: str
    target: str
    steps: tuple[WorkflowStep, ...] = attrs.field(default=(), converter=_as_steps)
    alone: bool = False

    def __str__(self) -> str:
        return f"{quote(self.source)} → {quote(self.target)}"

    def deliver(self, body: MessageBody) -> MessageBody:
        """Return what arrives of a message.

        Raises:
            MessageBodyError: a step does not let it through.
        """
        for step in self.steps:
            body = step(body)
        return body

    def passage(self, body: MessageBody) -> "Passage":
        """Return what becomes of a message on its way."""
        bodies = [body]
        for step in self.steps:
            try:
                bodies.append(step(bodies[-1]))
            except MessageBodyError as error:
                return Passage(self, tuple(bodies), error)
        return Passage(self, tuple(bodies))


@attrs.frozen
class Passage:
    """A message on its way along an edge.

    Arguments:
        edge: the edge.
        bodies: the message as it is sent, and after each step.
        error: why a step does not let it through; None if it arrives.
    """

    edge: Edge
    bodies: tuple[MessageBody, ...]
    error: MessageBodyError | None = None

    @property
    def arrived(self) -> MessageBody | None:
        """What arrives; None if a step does not let it through."""
        return None if self.error is not None else self.bodies[-1]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        words = [f"{quote(self.edge.source)} sends"]
        words += [step_text(step) for step in self.edge.steps]
        width = max(map(len, words))
        for word, body in zip(words, self.bodies, strict=False):
            yield f"{word:{width}}  {_parts_text(body)}"
        if self.error is not None:
            yield f"{words[len(self.bodies)]:{width}}  {self.error}"


def step_text(step: WorkflowStep) -> str:
    """Return a step in words."""
    try:
        ((word, argument),) = step.to_dict().items()
    except MessageBodyError:
        return "a step of your own"
    if word in ("select", "drop"):
        return f"{word} {', '.join(map(_glob_text, argument))}"
    return f"{word} {' '.join(argument) if isinstance(argument, list) else argument}"


def _glob_text(glob: Any) -> str:
    name, kind = glob if isinstance(glob, list) else (glob, "*/*")
    return " ".join([name or "unnamed", *([kind] if kind != "*/*" else [])])


def described(name: str | None, content_type: str) -> str:
    """Return a part, or a schema part, in words."""
    return f"{'an unnamed part' if name is None else name} of {content_type}"


def _parts_text(body: MessageBody) -> str:
    parts = [f"{part.name or 'unnamed'} {part.content_type}" for part in body]
    return ", ".join(parts) or "nothing"


class BreachKind(StrEnum):
    """What is wrong with a message for an agent."""

    REFUSED = "refused"
    """A part arrives that the agent does not take."""

    MISSING = "missing"
    """A part that the agent requires does not arrive."""

    COLLISION = "collision"
    """Two parts would have the same name."""

    NOT_TAKEN = "not-taken"
    """A step of one's own does not take the message."""


@attrs.frozen
class Breach:
    """Something that can break at an agent, with messages that show it.

    Arguments:
        kind: what is wrong.
        agent: the agent that is reached by it.
        problem: one clause, for a person.
        messages: a message of each agent that sends to it; each is valid for its own schema. What
            comes behind a step of one's own is a message of that step, `a step of edge 0`.
        edges: the edges that the messages take, behind such a step what is left of them.
        edge: the number of the edge that is at fault; None if all edges together are.
        required: the schema part that nothing meets; None if something else is wrong.
    """

    kind: BreachKind
    agent: str
    problem: str
    messages: Mapping[str, MessageBody] = attrs.field(hash=False)
    edges: tuple[Edge, ...]
    edge: int | None = None
    required: int | None = None

    @property
    def passages(self) -> list[Passage]:
        """The ways of the messages, step by step."""
        return [edge.passage(self.messages[edge.source]) for edge in self.edges]

    def __str__(self) -> str:
        return f"{quote(self.agent)}: {self.problem}"

    def to_dict(self) -> dict[str, Any]:
        """Return the breach as JSON."""
        return {
            "kind": self.kind.value,
            "agent": self.agent,
            "problem": self.problem,
            "edge": self.edge,
            "messages": {name: body.to_dicts() for name, body in self.messages.items()},
        }


@attrs.frozen(repr=False)
class AgentAnswer:
    """Whether what reaches an agent is always valid for it.

    Arguments:
        agent: its name.
        verdict: *always*, *sometimes*, *never*, or *undecided*.
        breaches: what can break, each with messages that show it.
        example: messages that get through, one of each agent that sends to it, or of a step of
            one's own as in a breach; None if none do, or none were found.
        reason: why it is undecided; empty if it is not.
    """

    agent: str
    verdict: Verdict
    breaches: tuple[Breach, ...] = ()
    example: Mapping[str, MessageBody] | None = attrs.field(default=None, hash=False)
    reason: str = ""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.ALWAYS

    def __repr__(self) -> str:
        lines = _indented(self.breaches[0]).splitlines() if self.breaches else []
        return answer_repr("AgentAnswer", str(self.verdict), [line.strip() for line in lines[:2]])

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        head = f"{quote(self.agent)}: {self.verdict}{why}"
        return "\n".join([head, *map(_indented, self.breaches)])

    def breaches_of(self, edge: int) -> list[Breach]:
        """Return the breaches at which an edge is at fault, or all edges together are."""
        return [breach for breach in self.breaches if breach.edge in (edge, None)]

    def verdict_of(self, edge: int) -> Verdict:
        """Return the verdict of an edge: that of the agent, if the edge is at fault."""
        is_innocent = self.breaches and not self.breaches_of(edge)
        return Verdict.ALWAYS if is_innocent else self.verdict


def _indented(breach: Breach) -> str:
    lines = [breach.problem]
    lines += [line for passage in breach.passages for line in f"{passage}".splitlines()]
    return "\n".join([f"  {lines[0]}", *(f"    {line}" for line in lines[1:])])


@attrs.frozen
class Flow:
    """Whether a part with some name can reach an agent.

    It is true if one can, or if that is not known.

    Arguments:
        names: the pattern of the name that an agent gives the part; None for parts without one.
        to: the agent.
        arrives: whether such a part can arrive; None if that is not known.
        edges: the edges that it takes; none if it can't arrive.
        stops: the name and type that it has when each agent sends it, and at the end.
    """

    names: str | None
    to: str
    arrives: bool | None
    edges: tuple[Edge, ...] = ()
    stops: tuple[PartType, ...] = ()

    def __bool__(self) -> bool:
        return self.arrives is not False

    def __str__(self) -> str:
        what = "parts without a name" if self.names is None else f"parts {quote(self.names)}"
        if self.arrives is None:
            return f"it is not known whether {what} can reach {quote(self.to)}"
        if not self.arrives:
            return f"no {what} can reach {quote(self.to)}"
        agents = [*(edge.source for edge in self.edges), self.to]
        return f"{what} can reach {quote(self.to)}: " + " → ".join(
            f"{quote(agent)} ({part.name or 'unnamed'} {part.content_type})"
            for agent, part in zip(agents, self.stops, strict=True)
        )


@attrs.frozen(repr=False)
class WorkflowAnswer(Mapping[str, AgentAnswer]):
    """The answer to `Workflow.check`: one for each agent that something reaches.

    It is true if what reaches each agent is always valid for it, and nothing flows where it never
    should.

    Arguments:
        agents: the answers by the name of the agent.
        leaks: what can flow, or may be able to, against a rule of the workflow.
    """

    agents: Mapping[str, AgentAnswer] = attrs.field(hash=False)
    leaks: tuple[Flow, ...] = ()

    def __getitem__(self, name: str) -> AgentAnswer:
        return self.agents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.agents)

    def __len__(self) -> int:
        return len(self.agents)

    def __bool__(self) -> bool:
        return all(self.agents.values()) and not self.leaks

    @property
    def breaches(self) -> list[Breach]:
        """What can break, at all agents."""
        return [breach for answer in self.agents.values() for breach in answer.breaches]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all agents."""
        found = {answer.verdict for answer in self.agents.values()}
        return next((each for each in _WORST_FIRST if each in found), Verdict.ALWAYS)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON: the answer for each agent, and what leaks."""
        return {
            "verdict": self.verdict,
            "agents": {
                name: {
                    "verdict": each.verdict,
                    "reason": each.reason,
                    "breaches": [breach.to_dict() for breach in each.breaches],
                }
                for name, each in self.agents.items()
            },
            "leaks": [str(each) for each in self.leaks],
        }

    def __repr__(self) -> str:
        told: Sequence[Breach | Flow] = [*self.breaches, *self.leaks]
        lines = [str(each) for each in told[:1]]
        lines += [str(each.passages[0]).splitlines()[0] for each in self.breaches[:1] if each.edges]
        lines += [f"and {len(told) - 1:,} more"] if told[1:] else []
        return answer_repr("WorkflowAnswer", str(self.verdict), lines)

    def __str__(self) -> str:
        return "\n".join(map(str, [*self.agents.values(), *self.leaks]))


_WORST_FIRST: Sequence[Verdict] = (Verdict.NEVER, Verdict.SOMETIMES, Verdict.UNDECIDED)
