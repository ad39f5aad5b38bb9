"""Check of an agent in a workflow: what reaches it, and what of that breaks."""

from collections.abc import Iterator, Sequence

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._core import Budget, MessageBody, OutOfBudget, quote
from messagebody.compatibility import Compatibility, Verdict, check
from messagebody.errors import DuplicateName, InvalidName
from messagebody.schema import MessageBodySchema
from messagebody.workflows._answers import AgentAnswer, Breach, BreachKind, Edge, described
from messagebody.workflows._search import Bodies, Break, WitnessSearch
from messagebody.workflows._steps import Chain, OwnStep, WitnessPart, merged


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
    edges: list[tuple[Incoming, Chain]] = attrs.field(factory=list)


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
    def chains(self) -> list[tuple[MessageBodySchema, list[Chain]]]:
        """What is sent, with the steps of each edge."""
        return [(each.sent, [steps for _, steps in each.edges]) for each in self.senders]

    @property
    def is_plain(self) -> bool:
        """Whether all that arrives is what one agent sends."""
        return self.step is None and [chains for _, chains in self.chains] == [[()]]

    def messages(self, bodies: Bodies) -> dict[str, MessageBody] | None:
        """Return a message of each sender; None if a name is too long for any message."""
        try:
            return {
                sender.name: MessageBody(part.part() for part in parts)
                for sender, parts in zip(self.senders, bodies, strict=True)
            }
        except InvalidName:
            return None

    def rest_of_edges(self) -> tuple[Edge, ...]:
        """Return the edges from where the leg begins, to where it ends."""
        own: Chain = () if self.step is None else (self.step,)
        return tuple(
            Edge(sender.name, incoming.edge.target, steps + own)
            for sender in self.senders
            for incoming, steps in sender.edges
        )

    def edge_at_fault(self, sender: int | None = None) -> int | None:
        """Return the number of the edge that is at fault, if one alone is."""
        senders = self.senders if sender is None else [self.senders[sender]]
        edges = [incoming.number for each in senders for incoming, _ in each.edges]
        return edges[0] if len(edges) == 1 else None

    def arrived(self, breach: Breach) -> MessageBody | None:
        """Return what arrives of the messages of a breach; None if they do not get that far."""
        arrived = [passage.arrived for passage in breach.passages]
        if None in arrived:
            return None
        try:
            return merged(each for each in arrived if each is not None)
        except DuplicateName:
            return None


def groups(incoming: Sequence[Incoming]) -> list[list[Incoming]]:
    """Return the edges whose messages come together, and each that comes alone."""
    together = [each for each in incoming if not each.edge.alone]
    alone = [[each] for each in incoming if each.edge.alone]
    return [together, *alone] if together else alone


def legs(agent: "messagebody.Agent", incoming: Sequence[Incoming]) -> Iterator[Leg]:
    """Yield the legs of edges whose messages come together, the last one to the agent."""
    senders: dict[object, LegSender] = {}
    for each in incoming:
        sender, start = LegSender(each.edge.source, each.sent), 0
        for place, step in enumerate(each.edge.steps):
            if isinstance(step, OwnStep):
                sender.edges.append((each, each.edge.steps[start:place]))
                yield Leg(step.takes, [sender], step)
                sender, start = LegSender(f"a step of edge {each.number}", step.gives), place + 1
        # What an agent sends goes along all of its edges; what a step makes, along its own.
        key: object = each.number if start else each.edge.source
        senders.setdefault(key, sender).edges.append((each, each.edge.steps[start:]))
    yield Leg(agent.input, list(senders.values()))


def answer_for(
    agent: "messagebody.Agent", incoming: Sequence[Incoming], budget: Budget
) -> AgentAnswer:
    """Return whether all that reaches an agent is valid for it."""
    found = _Inspection(agent)
    verdict = _mixed([found.verdict(group, budget) for group in groups(incoming)])
    reason = found.reason if verdict is Verdict.UNDECIDED else ""
    return AgentAnswer(agent.name, verdict, tuple(found.breaches), found.example, reason)


def _mixed(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict over messages of several groups, each of which comes alone."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    # What is known to break sometimes, breaks; what is open may not.
    is_open = Verdict.UNDECIDED in verdicts and Verdict.SOMETIMES not in verdicts
    is_mixed = {Verdict.ALWAYS, Verdict.NEVER} <= set(verdicts)
    return Verdict.UNDECIDED if is_open and not is_mixed else Verdict.SOMETIMES


def _joined(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of legs, each of which has to let a message through."""
    for worst in (Verdict.NEVER, Verdict.UNDECIDED, Verdict.SOMETIMES):
        if worst in verdicts:
            return worst
    return Verdict.ALWAYS


def _is_split(incoming: Sequence[Incoming]) -> bool:
    """Return whether one message has to be right for a step of one's own and for another edge."""
    sources = [each.edge.source for each in incoming]
    return any(
        sources.count(each.edge.source) > 1
        for each in incoming
        if any(isinstance(step, OwnStep) for step in each.edge.steps)
    )


class _Inspection:
    """What was found about an agent."""

    def __init__(self, agent: "messagebody.Agent") -> None:
        self._agent = agent
        self.example: dict[str, MessageBody] | None = None
        self.breaches: list[Breach] = []
        self.reason = ""

    def verdict(self, incoming: Sequence[Incoming], budget: Budget) -> Verdict:
        """Return the verdict over messages that come together."""
        verdict = _joined([self._leg_verdict(leg, budget) for leg in legs(self._agent, incoming)])
        if verdict is not Verdict.SOMETIMES or not _is_split(incoming):
            return verdict
        self.reason = "one message has to be right for a step of your own and for another edge"
        return Verdict.UNDECIDED

    def _leg_verdict(self, leg: Leg, budget: Budget) -> Verdict:
        """Return the verdict of a leg, and keep what breaks there."""
        self.example, found = None, Verdict.UNDECIDED
        plain = (
            check(leg.senders[0].sent, leg.takes, max_steps=budget.left) if leg.is_plain else None
        )
        if not plain:
            try:
                found = self._searched(leg, budget)
            except OutOfBudget:
                self.reason = "the budget ended first"
        if plain is not None:
            self._keep_plain(leg, plain)
            found = plain.verdict if found is Verdict.UNDECIDED else found
        return found

    def _searched(self, leg: Leg, budget: Budget) -> Verdict:
        search = WitnessSearch(leg.chains, leg.takes, budget)
        proved = search.proved()
        if proved is Verdict.ALWAYS:
            if not search.is_silent:
                self.example = leg.messages([each.example for each in search.senders])
            return proved
        breaks: list[bool] = []
        try:
            breaks.extend(self._keep(leg, each) for each in search.breaks())
            valid = None if proved is Verdict.NEVER else search.valid()
        except OutOfBudget:
            if proved is Verdict.NEVER and any(breaks):
                return proved  # what was kept before shows it
            raise
        self.example = None if valid is None else leg.messages(valid)
        if any(breaks) and (proved is Verdict.NEVER or self.example is not None):
            return proved if proved is Verdict.NEVER else Verdict.SOMETIMES
        kind = "gets through" if any(breaks) else "breaks"
        self.reason = f"no message was found that {kind}, and no proof that there is none"
        if search.is_open:
            self.reason += ": what a message format loses depends on the message"
        return Verdict.UNDECIDED

    def _keep_plain(self, leg: Leg, plain: Compatibility) -> None:
        """Keep what the check of a pair without steps shows, if nothing else is known."""
        sender = leg.senders[0].name
        if self.example is None and plain.example is not None:
            self.example = {sender: plain.example}
        if plain.counterexample is None or self.breaches:
            return
        reason = plain.reasons[0]
        is_missing = reason.producer_index is None
        self.breaches.append(
            Breach(
                kind=BreachKind.MISSING if is_missing else BreachKind.REFUSED,
                agent=self._agent.name,
                problem=reason.summary,
                messages={sender: plain.counterexample},
                edges=leg.rest_of_edges(),
                edge=leg.edge_at_fault(),
            )
        )

    def _keep(self, leg: Leg, found: Break) -> bool:
        """Keep what breaks; return whether it really does when it is sent."""
        messages = leg.messages(found.bodies)
        if messages is None:
            return False
        breach = Breach(
            kind=_kind(leg, found),
            agent=self._agent.name,
            problem=_problem(leg, found, self._agent.name),
            messages=messages,
            edges=leg.rest_of_edges(),
            edge=leg.edge_at_fault(None if found.is_shared else found.sender),
            required=found.required,
        )
        arrived = leg.arrived(breach)
        if arrived is not None and (leg.step is not None or leg.takes.is_valid(arrived)):
            return False
        inside = _inside(leg, breach, arrived)
        if inside:
            breach = attrs.evolve(breach, problem=_problem(leg, found, self._agent.name, inside))
        self.breaches.append(breach)
        return True


def _inside(leg: Leg, breach: Breach, arrived: MessageBody | None) -> str:
    """Return where the content that arrives differs from what is taken; "" if that is not why."""
    for each in () if arrived is None else leg.takes.iter_violations(arrived):
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
    sent = described(found.part.name, found.part.content_type)
    came = f", which arrives as {came}" if came else ""
    where = f": {inside}" if inside else ""
    return f"{quote(source)} may send {sent}{came}; {taker} does not take it{where}"


def _arrival(sent: WitnessPart, arrived: WitnessPart) -> str:
    """Return what arrives, without what is the same; empty if all is."""
    if sent.content_type != arrived.content_type:
        return described(arrived.name, arrived.content_type)
    if sent.name == arrived.name:
        return ""
    return "an unnamed part" if arrived.name is None else arrived.name
