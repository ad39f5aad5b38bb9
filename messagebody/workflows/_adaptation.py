"""Adaptation: the fewest steps between what one side sends and what another side takes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from typing import Any, Final

import attrs

from messagebody._core import check_part_name, require_schema
from messagebody.agents import Agent
from messagebody.compatibility._solver.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody.compatibility._solver.containment import are_disjoint
from messagebody.compatibility._solver.profile import types_of
from messagebody.errors import InvalidName
from messagebody.globs import content_type_pattern
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._decision import Break, JointDecision
from messagebody.workflows._inspection import Incoming
from messagebody.workflows._paths import paths_of
from messagebody.workflows._steps import (
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

Steps = tuple[WorkflowStep, ...]

_MOST: Final = 3
"""The most steps that are looked for."""
_MOST_WORDS: Final = 500
"""The most steps that are tried at each place."""
_TEXT: Final = content_type_pattern("text/*")


def adapt(
    producer: MessageBodySchema, consumer: MessageBodySchema, *, steps: int = DEFAULT_STEPS
) -> Steps | None:
    """Return the fewest steps that make all that one side sends valid for another side.

    The steps are made of the names and types that the two schemas state, up to three of them. Steps
    that leave parts out are taken only where no others, as few, help.

    Arguments:
        producer: the schema of what is sent.
        consumer: the schema of what is taken.
        steps: the budget of all attempts together; see `messagebody.check`.

    Returns:
        The steps, none if all is valid as it is; None if such steps were not found.

    Examples:
        >>> report = MessageBodySchema([("/report.md", "text/markdown", True)])
        >>> brief = MessageBodySchema([("/input/brief.md", "text/*", True)])
        >>> [step.to_dict() for step in adapt(report, brief)]
        [{'rename': ['/report.md', '/input/brief.md']}]
    """
    for each in (producer, consumer):
        require_schema(each)
    budget = Budget(steps)
    if not all(_is_makeable(each, producer) for each in consumer if each.required):
        return None
    return _search(
        lambda steps: _broken([(producer, [steps])], consumer, budget),
        _words(producer, consumer),
    )


@attrs.frozen
class Adaptation:
    """Steps at the end of edges, after which all that reaches an agent is valid for it.

    Arguments:
        agent: the agent.
        steps: the steps, by the number of the edge.
    """

    agent: str
    steps: Mapping[int, Steps] = attrs.field(hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON."""
        added = [
            {"edge": number, "steps": [step.to_dict() for step in steps]}
            for number, steps in self.steps.items()
        ]
        return {"agent": self.agent, "add": added}


def adaptation_for(agent: Agent, incoming: Sequence[Incoming], budget: Budget) -> Adaptation | None:
    """Return steps after which all that reaches an agent is valid; None if none were found."""
    if any(isinstance(step, OwnStep) for each in incoming for step in each.edge.steps):
        return None
    added: dict[int, Steps] = {}

    def alone(edge: Incoming, more: Steps) -> Break | None:
        return _broken([(edge.sent, [edge.edge.steps + more])], _share(agent, edge.sent), budget)

    def together(edge: Incoming, more: Steps) -> Break | None:
        senders: dict[str, tuple[MessageBodySchema, list[Steps]]] = {}
        for each in incoming:
            chain = each.edge.steps + added.get(each.number, ()) + (more if each is edge else ())
            senders.setdefault(each.edge.source, (each.sent, []))[1].append(chain)
        return _broken(list(senders.values()), agent.input, budget)

    # First each edge alone, with what it can bring of what is required; then all together.
    try:
        words = {
            each: _words(_arriving(each.sent, each.edge.steps, budget), agent.input)
            for each in incoming
        }
    except OutOfBudget:
        return None
    for each in incoming:
        steps = _search(partial(alone, each), words[each])
        if steps:
            added[each.number] = steps
    for each in incoming:
        steps = _search(partial(together, each), words[each])
        if steps is not None:
            added[each.number] = added.get(each.number, ()) + steps
            return Adaptation(agent.name, {key: found for key, found in added.items() if found})
    return None


def _share(agent: Agent, sent: MessageBodySchema) -> MessageBodySchema:
    """Return what an agent takes, where it requires only what can be made of required parts."""
    certain = [part for part in sent if part.required]
    return MessageBodySchema(
        [
            attrs.evolve(part, required=part.required and _is_makeable(part, certain))
            for part in agent.input
        ]
    )


_OPEN: Final = Break([])


def _broken(
    senders: Sequence[tuple[MessageBodySchema, Sequence[Steps]]],
    taker: MessageBodySchema,
    budget: Budget,
) -> Break | None:
    """Return something that breaks; None if it is certain that nothing does."""
    decision = JointDecision(senders, taker, budget)
    found = next(decision.breaks(), None)
    return _OPEN if found is None and not decision.is_exact else found


def _search(
    attempt: Callable[[Steps], Break | None], words: Sequence[WorkflowStep]
) -> Steps | None:
    """Return the fewest steps after which nothing breaks; None if there are none.

    Arguments:
        attempt: returns what breaks after steps, None if nothing does.
        words: the steps to try, in any order.
    """
    # The last step has to mend what breaks without it, so that is asked once for each beginning.
    beginnings: list[Steps] = [()]
    try:
        for _ in range(_MOST):
            onward: list[Steps] = []
            for beginning in beginnings:
                broken = attempt(beginning)
                if broken is None:
                    return beginning
                for word in words:
                    if word in beginning:
                        continue
                    onward.append((*beginning, word))
                    if _may_mend(word, broken) and attempt(onward[-1]) is None:
                        return onward[-1]
            beginnings = onward
    except OutOfBudget:
        return None
    return None


def _may_mend(word: WorkflowStep, broken: Break) -> bool:
    """Return whether a last step changes what is refused."""
    return not broken.arrived or any(word.follow(part) != part for part in broken.arrived)


def _arriving(sent: MessageBodySchema, steps: Steps, budget: Budget) -> MessageBodySchema:
    """Return the names and types of what arrives, as words for steps; it is no exact schema."""
    ends = [path for step, paths in paths_of(steps, budget) if step is None for path in paths]
    found = []
    for part in sent:
        if part.name is None:
            found.append(part)
            continue
        found += [
            attrs.evolve(part, name=path.new + part.name[len(path.old) :])
            for path in ends
            if part.name.startswith(path.old)
        ]
    return MessageBodySchema(found)


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
    return part.name, types_of(part).text


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
            kind for kind in kinds if kind is not None and _TEXT.matches_essence(kind)
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


def _is_makeable(wanted: SchemaPart, producer: Iterable[SchemaPart]) -> bool:
    """Return whether steps can make a part out of some part that is sent."""
    # Steps change no type, but that of a text into another one.
    kinds = [types_of(each) for each in producer]
    asked = types_of(wanted)
    is_text = not are_disjoint(asked, _TEXT)
    return any(
        not are_disjoint(asked, kind) or (is_text and not are_disjoint(kind, _TEXT))
        for kind in kinds
    )
