"""Check of an agent in a workflow: what reaches it, and what of that breaks."""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from messagebody._core import Budget, MessageBody, OutOfBudget, example_body, quote
from messagebody.agents import Agent
from messagebody.compatibility import Verdict, check, satisfiable
from messagebody.errors import DuplicateName
from messagebody.schema import MessageBodySchema, PartType
from messagebody.workflows._answers import AgentAnswer, Breach, BreachKind, Edge, described
from messagebody.workflows._decision import Bodies, Break, JointDecision
from messagebody.workflows._images import joint_image
from messagebody.workflows._steps import OwnStep, WorkflowStep, merged

_Steps = tuple[WorkflowStep, ...]

_GLANCE: Final = 50_000
"""Steps for the first look, which most edges need no more of."""


@attrs.frozen
class Incoming:
    """An edge into an agent.

    Arguments:
        number: its number in the workflow.
        edge: the edge.
        sent: the schema of what is sent.
    """

    number: int
    edge: Edge
    sent: MessageBodySchema


@attrs.frozen
class LegSender:
    """What is sent on a leg.

    Arguments:
        name: the name of the agent, or of a step of one's own that sends from there on.
        sent: the schema of what is sent.
        edges: the edges that it takes, each with the steps up to the end of the leg.
    """

    name: str
    sent: MessageBodySchema
    edges: list[tuple[Incoming, _Steps]] = attrs.field(factory=list)


@attrs.frozen
class Leg:
    """Senders up to where a message has to be valid: a step of one's own, or the end.

    Arguments:
        takes: the schema there.
        senders: who sends.
        step: the step of one's own; None at the end.
    """

    takes: MessageBodySchema
    senders: Sequence[LegSender]
    step: OwnStep | None = None

    @property
    def chains(self) -> list[tuple[MessageBodySchema, list[_Steps]]]:
        """What is sent, with the steps of each edge."""
        return [(each.sent, [steps for _, steps in each.edges]) for each in self.senders]


def groups(incoming: Sequence[Incoming]) -> list[list[Incoming]]:
    """Return the edges whose messages come together, and each that comes alone."""
    together = [each for each in incoming if not each.edge.alone]
    alone = [[each] for each in incoming if each.edge.alone]
    return [together, *alone] if together else alone


def answer_for(agent: Agent, incoming: Sequence[Incoming], budget: Budget) -> AgentAnswer:
    """Return whether all that reaches an agent is valid for it."""
    found = _Inspection(agent)
    verdicts = [_verdict_of(found, agent, group, budget) for group in groups(incoming)]
    return AgentAnswer(agent.name, _mixed(verdicts), tuple(found.breaches), found.example)


def _mixed(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict over messages of several groups, each of which comes alone."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    # What is known to break sometimes, breaks; what is open may not.
    is_open = Verdict.UNDECIDED in verdicts and Verdict.SOMETIMES not in verdicts
    is_mixed = {Verdict.ALWAYS, Verdict.NEVER} <= set(verdicts)
    return Verdict.UNDECIDED if is_open and not is_mixed else Verdict.SOMETIMES


def _verdict_of(
    found: "_Inspection", agent: Agent, incoming: Sequence[Incoming], budget: Budget
) -> Verdict:
    """Return the verdict over messages that come together."""
    verdict = _joined([found.verdict(leg, budget) for leg in legs(agent, incoming)])
    is_open = verdict is Verdict.SOMETIMES and _is_split(incoming)
    return Verdict.UNDECIDED if is_open else verdict


def _is_split(incoming: Sequence[Incoming]) -> bool:
    """Return whether one message has to be right for a step of one's own and for another edge."""
    sources = [each.edge.source for each in incoming]
    return any(
        sources.count(each.edge.source) > 1
        for each in incoming
        if any(isinstance(step, OwnStep) for step in each.edge.steps)
    )


def _joined(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of legs, each of which has to let a message through."""
    for worst in (Verdict.NEVER, Verdict.UNDECIDED, Verdict.SOMETIMES):
        if worst in verdicts:
            return worst
    return Verdict.ALWAYS


def legs(agent: Agent, incoming: Sequence[Incoming]) -> Iterator[Leg]:
    senders: dict[object, LegSender] = {}
    for each in incoming:
        sender, start = LegSender(each.edge.source, each.sent), 0
        for place, step in enumerate(each.edge.steps):
            if isinstance(step, OwnStep):
                rest = each.edge.steps[start:place]
                sender.edges.append((each, rest))
                yield Leg(step.takes, [sender], step)
                sender, start = LegSender(f"a step of edge {each.number}", step.gives), place + 1
        # What an agent sends goes along all of its edges; what a step makes, along its own.
        key: object = each.number if start else each.edge.source
        rest = each.edge.steps[start:]
        senders.setdefault(key, sender).edges.append((each, rest))
    yield Leg(agent.input, list(senders.values()))


class _Inspection:
    """What was found about an agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.example: dict[str, MessageBody] | None = None
        self.breaches: list[Breach] = []

    def verdict(self, leg: Leg, budget: Budget) -> Verdict:
        """Return the verdict of a leg, and keep what breaks there."""
        senders, steps = leg.chains, budget.left
        is_broken = False
        try:
            if (example := _clearly_fits(leg, budget)) is not None:
                self.example = example
                return Verdict.ALWAYS
            decision = JointDecision(senders, leg.takes, budget)
            for each in decision.breaks():
                is_broken |= self._keep(leg, decision, each)
            valid = decision.valid()
        except OutOfBudget:
            return self._plain_verdict(leg, steps)
        if valid is not None:
            self.example = _messages(leg, valid)
        if not is_broken:
            return Verdict.ALWAYS if decision.is_exact else Verdict.UNDECIDED
        if valid is None:
            return Verdict.NEVER if decision.is_exact else Verdict.UNDECIDED
        return Verdict.SOMETIMES

    def _plain_verdict(self, leg: Leg, steps: int) -> Verdict:
        """Return the verdict of a pair without steps, which the check of pairs may decide."""
        sender, *others = leg.senders
        (edge, before), *more = sender.edges
        if others or more or before or leg.step is not None:
            return Verdict.UNDECIDED
        result = check(sender.sent, leg.takes, steps=max(steps, 0))
        if result.example is not None:
            self.example = {sender.name: result.example}
        if result.counterexample is not None and not self.breaches:
            reason = result.reasons[0]
            is_missing = reason.producer_index is None
            self.breaches.append(
                Breach(
                    kind=BreachKind.MISSING if is_missing else BreachKind.REFUSED,
                    agent=self._agent.name,
                    problem=reason.summary,
                    messages={sender.name: result.counterexample},
                    edges=(_rest(leg, sender, before),),
                    edge=edge.number,
                )
            )
        return result.verdict

    def _keep(self, leg: Leg, decision: JointDecision, found: Break) -> bool:
        """Keep what breaks; return whether it really does, which only a sender may leave open."""
        messages = _messages(leg, found.bodies)
        edges = tuple(_rest(leg, each, steps) for each in leg.senders for _, steps in each.edges)
        breach = Breach(
            kind=_kind(leg, found),
            agent=self._agent.name,
            problem=_problem(leg, found, self._agent.name),
            messages=messages or {},
            edges=edges if messages else (),
            edge=_edge_at(leg, found),
            required=found.required,
        )
        if messages is not None and _gets_through(leg, breach):
            if decision.is_exact:
                raise AssertionError("a message gets through that should not; please report this")
            return False
        if inside := _inside(leg, breach):
            breach = attrs.evolve(breach, problem=_problem(leg, found, self._agent.name, inside))
        self.breaches.append(breach)
        return True


def _clearly_fits(leg: Leg, budget: Budget) -> dict[str, MessageBody] | None:
    """Return messages that get through if it is clear that all do; None if a closer look is needed.

    Most edges end here, and what is clear has a short proof.
    """
    image, steps = joint_image(leg.chains), min(max(budget.left, 1), _GLANCE)
    if image is None or not check(image, leg.takes, steps=steps):
        return None
    bodies = {each.name: satisfiable(each.sent, steps=steps).witness for each in leg.senders}
    found = {name: body for name, body in bodies.items() if body is not None}
    return found if found.keys() == bodies.keys() else None


def _messages(leg: Leg, bodies: Bodies) -> dict[str, MessageBody] | None:
    """Return a message of each sender; None if a type is too long for any message."""
    found = {}
    for sender, types in zip(leg.senders, bodies, strict=True):
        body = example_body(types, in_order=True)
        if body is None:
            return None
        found[sender.name] = body
    return found


def _rest(leg: Leg, sender: LegSender, steps: _Steps) -> Edge:
    """Return the edge from where a leg begins, to where it ends."""
    own: _Steps = () if leg.step is None else (leg.step,)
    return Edge(sender.name, sender.edges[0][0].edge.target, steps + own)


def _gets_through(leg: Leg, breach: Breach) -> bool:
    body = _arrived(breach)
    return body is not None and (leg.step is not None or leg.takes.is_valid(body))


def _arrived(breach: Breach) -> MessageBody | None:
    """Return what arrives of the messages of a breach; None if they do not get that far."""
    arrived = [passage.arrived for passage in breach.passages]
    if None in arrived:
        return None
    try:
        return merged(each for each in arrived if each is not None)
    except DuplicateName:
        return None


def _inside(leg: Leg, breach: Breach) -> str:
    """Return where the content that arrives differs from what is taken; "" if that is not why."""
    body = None if leg.step is not None or not breach.messages else _arrived(breach)
    for each in () if body is None else leg.takes.iter_violations(body):
        if each.code == "content-invalid" and breach.required in (None, each.schema_index):
            place = f" at {quote(each.content_pointer)}" if each.content_pointer else ""
            return f"inside{place}, it takes {each.expected} and gets {each.got}"
    return ""


def _kind(leg: Leg, found: Break) -> BreachKind:
    if found.name is not None:
        return BreachKind.COLLISION
    if leg.step is not None:
        return BreachKind.NOT_TAKEN
    return BreachKind.REFUSED if found.required is None else BreachKind.MISSING


def _edge_at(leg: Leg, found: Break) -> int | None:
    """Return the number of the edge that is at fault, if one alone is."""
    edges = [edge for each in leg.senders for edge, _ in each.edges]
    if found.sender is not None and not found.is_shared:
        edges = [edge for edge, _ in leg.senders[found.sender].edges]
    return edges[0].number if len(edges) == 1 else None


def _problem(leg: Leg, found: Break, agent: str, inside: str = "") -> str:
    """Return one clause about what breaks, and where if that is inside a content."""
    taker = quote(agent) if leg.step is None else "a step of your own"
    if found.name is not None:
        return f"two parts would be named {quote(found.name)}"
    if found.required is not None:
        wanted = leg.takes[found.required]
        lacks = f"and another content may arrive: {inside}" if inside else "which may be missing"
        return f"{taker} requires {described(wanted.name, wanted.content_type)}, {lacks}"
    if found.part is None or found.sender is None:
        raise AssertionError(found)
    source = leg.senders[found.sender].name
    came = "; ".join(_arrival(found.part, each) for each in found.arrived)
    sent = described(*found.part)
    came = f", which arrives as {came}" if came else ""
    where = f": {inside}" if inside else ""
    return f"{quote(source)} may send {sent}{came}; {taker} does not take it{where}"


def _arrival(sent: PartType, arrived: PartType) -> str:
    """Return what arrives, without what is the same; empty if all is."""
    if sent.content_type != arrived.content_type:
        return described(*arrived)
    if sent.name == arrived.name:
        return ""
    return "an unnamed part" if arrived.name is None else arrived.name
