"""Adaptation: steps between what one side sends and what another side takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from typing import Any, Final, Self

import attrs

from messagebody._core import (
    DEFAULT_STEPS,
    JSON_TYPES,
    Budget,
    OutOfBudget,
    check_part_name,
    quote,
    require_schema,
)
from messagebody.agents import Agent
from messagebody.compatibility import Verdict, meet
from messagebody.errors import InvalidName
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._answers import described, step_text
from messagebody.workflows._images import trace
from messagebody.workflows._inspection import Incoming
from messagebody.workflows._mending import TEXT, Mending, is_makeable
from messagebody.workflows._search import Break, WitnessSearch
from messagebody.workflows._steps import (
    Chain,
    OwnStep,
    WorkflowStep,
    drop,
    mount,
    name,
    rename,
    retype,
    select,
    show,
    unmount,
)

_ANY_JSON: Final = MessageBodySchema([(None, JSON_TYPES)])
_MOST_WORDS: Final = 500
"""The most steps that are tried at each place."""


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


def adapt(
    producer: MessageBodySchema, consumer: MessageBodySchema, *, steps: int = DEFAULT_STEPS
) -> FoundSteps | None:
    """Return steps that make all that one side sends valid for another side.

    The steps are made of the names and types that the two schemas state, up to three of them. Of
    those that help, they lose least of what the other side could take, and then they are the
    fewest; `lost` says what no longer arrives.

    Arguments:
        producer: the schema of what is sent.
        consumer: the schema of what is taken.
        steps: the budget of all attempts together; see `messagebody.check`.

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
    budget = Budget(steps)
    if not all(is_makeable(each, producer) for each in consumer if each.required):
        return None
    mending = Mending(producer, (), consumer, budget)
    found = mending.search(
        lambda steps: _broken([(producer, [steps])], consumer, budget),
        _words(producer, consumer),
    )
    return None if found is None else FoundSteps(found, mending.lost(found))


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


def adaptation_for(agent: Agent, incoming: Sequence[Incoming], budget: Budget) -> Adaptation | None:
    """Return steps after which all that reaches an agent is valid; None if none were found."""
    if any(isinstance(step, OwnStep) for each in incoming for step in each.edge.steps):
        return None
    added: dict[int, Chain] = {}

    def alone(edge: Incoming, more: Chain) -> Break | None:
        return _broken([(edge.sent, [edge.edge.steps + more])], _share(agent, edge.sent), budget)

    def together(edge: Incoming, more: Chain) -> Break | None:
        senders: dict[str, tuple[MessageBodySchema, list[Chain]]] = {}
        for each in incoming:
            chain = each.edge.steps + added.get(each.number, ()) + (more if each is edge else ())
            senders.setdefault(each.edge.source, (each.sent, []))[1].append(chain)
        return _broken(list(senders.values()), agent.input, budget)

    def mending(edge: Incoming) -> Mending:
        steps = edge.edge.steps + added.get(edge.number, ())
        return Mending(edge.sent, steps, agent.input, budget)

    # First each edge alone, with what it can bring of what is required; then all together.
    try:
        words = {
            each: _words(_arriving(each.sent, each.edge.steps, budget), agent.input)
            for each in incoming
        }
        for each in incoming:
            added[each.number] = mending(each).search(partial(alone, each), words[each]) or ()
        for each in incoming:
            steps = mending(each).search(partial(together, each), words[each])
            if steps is not None:
                added[each.number] += steps
                found = {edge.number: _found(edge, added[edge.number], agent) for edge in incoming}
                return Adaptation(agent.name, {key: each for key, each in found.items() if each})
    except OutOfBudget:
        return None
    return None


def _found(edge: Incoming, steps: Chain, agent: Agent) -> FoundSteps:
    mending = Mending(edge.sent, edge.edge.steps, agent.input, Budget(DEFAULT_STEPS))
    return FoundSteps(steps, mending.lost(steps) if steps else ())


def _share(agent: Agent, sent: MessageBodySchema) -> MessageBodySchema:
    """Return what an agent takes, where it requires only what can be made of required parts."""
    certain = [part for part in sent if part.required]
    return MessageBodySchema(
        [
            attrs.evolve(part, required=part.required and is_makeable(part, certain))
            for part in agent.input
        ]
    )


_OPEN: Final = Break([])


def _broken(
    senders: Sequence[tuple[MessageBodySchema, Sequence[Chain]]],
    taker: MessageBodySchema,
    budget: Budget,
) -> Break | None:
    """Return something that breaks; None if it is certain that nothing does."""
    search = WitnessSearch(senders, taker, budget)
    if search.proved() is Verdict.ALWAYS:
        return None
    return next(search.breaks(), _OPEN)


def _arriving(sent: MessageBodySchema, steps: Chain, budget: Budget) -> MessageBodySchema:
    """Return the names and types of what arrives, as words for steps."""
    return MessageBodySchema([image.words for image in trace(sent, steps, budget).end])


def _words(producer: MessageBodySchema, consumer: MessageBodySchema) -> list[WorkflowStep]:
    return list(islice(_vocabulary(producer, consumer), _MOST_WORDS))


def _vocabulary(producer: MessageBodySchema, consumer: MessageBodySchema) -> Iterator[WorkflowStep]:
    """Yield the steps that the names and types of two schemas suggest, the gentlest first."""
    sent, taken = _Spelled(producer), _Spelled(consumer)
    yield from (rename(old, new) for old, new in product(sent.names, taken.names) if old != new)
    yield from map(mount, taken.directories)
    yield from map(unmount, sent.directories)
    for old, new in product(sent.directories, taken.directories):
        if old != new:
            yield rename(f"{old}/**", f"{new}/**")
    if taken.is_shown:
        yield from map(show, sent.names)
    if sent.is_shown:
        yield from (name(each, kind) for each, kind in product(taken.names, sent.shown_kinds))
    for old, new in product(sent.texts, taken.texts):
        if old != new:
            yield retype(old, new)
    yield from (drop([_glob(each)]) for each in producer)
    yield select(map(_glob, consumer))


def _glob(part: SchemaPart) -> tuple[str | None, str]:
    if part.content_schema is None:
        return part.name, part.content_type_pattern.text
    # What says what is inside takes only the JSON among its types.
    both = meet(MessageBodySchema([(None, part.content_type)]), _ANY_JSON)
    return part.name, both[0].content_type if both else JSON_TYPES


class _Spelled:
    """The names and types that a schema states."""

    def __init__(self, schema: MessageBodySchema) -> None:
        patterns = [part.name_pattern for part in schema if part.name_pattern is not None]
        literals = [each.literal for each in patterns if each.literal is not None]
        self.names = [*filter(_is_taken, dict.fromkeys(literals))]
        prefixes = [each.literal or each.prefix for each in patterns]
        above = dict.fromkeys(up for each in prefixes for up in _directories(each))
        self.directories = [*filter(_is_taken, above)]
        shown = [part for part in schema if part.name is None]
        self.is_shown = bool(shown)
        self.shown_kinds = list(dict.fromkeys(part.content_type_pattern.text for part in shown))
        kinds = [part.content_type_pattern.literal for part in schema]
        self.texts = list(dict.fromkeys(
            kind for kind in kinds if kind is not None and TEXT.matches_essence(kind)
        ))  # fmt: skip


def _is_taken(name: str) -> bool:
    """Return whether readers take a name: schemas may state longer ones than steps."""
    try:
        check_part_name(name)
    except InvalidName:
        return False
    return True


def _directories(prefix: str) -> Iterator[str]:
    """Yield the directories above what names begin with, the nearest first."""
    end = prefix.rfind("/")
    while end > 0:
        yield prefix[:end]
        end = prefix.rfind("/", 0, end)
