"""Negotiation: what an agent can send and a caller takes, exactly, and why there may be nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._core import DEFAULT_STEPS, quote
from messagebody.agents._agents import Agent
from messagebody.agents._cards import schema_of_modes
from messagebody.compatibility import Verdict, check, disjoint, meet, simplify
from messagebody.errors import InvalidArgument
from messagebody.schema import MessageBodySchema, SchemaPart

_MOST_TRIES = 500
"""How many sets of requirements are tried for the smallest one that conflicts."""


@attrs.frozen
class Conflict:
    """A required schema part that, with the others of its answer, leaves no common body.

    Arguments:
        side: "output" or "accepts", whose part it is.
        index: its index there.
        part: the part.
    """

    side: str
    index: int
    part: SchemaPart

    def __str__(self) -> str:
        whose = "the agent always sends" if self.side == "output" else "the caller requires"
        name = "an unnamed part" if self.part.name is None else quote(self.part.name)
        return f"{whose} {name} of type {self.part.content_type} (schema part {self.index})"


@attrs.frozen
class Agreement:
    """The answer to `negotiate`; true if there is a body that both sides agree on.

    Arguments:
        output: what the agent can send.
        accepts: what the caller takes.
        schema: the schema of exactly the bodies that satisfy both. None if there are none, if no
            single schema says it, or if the budget ended first.
        refused: if no body satisfies both, the smallest set of requirements that conflict.
        verdict: *always* if the caller takes whatever the agent can send, *never* if no body
            satisfies both, else *sometimes*; *undecided* if the budget ended first.
    """

    output: MessageBodySchema
    accepts: MessageBodySchema
    schema: MessageBodySchema | None
    refused: tuple[Conflict, ...]
    verdict: Verdict

    def __bool__(self) -> bool:
        return self.verdict in {Verdict.ALWAYS, Verdict.SOMETIMES}

    def is_valid(
        self,
        body: "Iterable[messagebody.Part]",
        *,
        resolver: "messagebody.Resolver | None" = None,
    ) -> bool:
        """Return whether a body satisfies both sides.

        Arguments:
            body: the body.
            resolver: reads references whose content decides.
        """
        parts = list(body)
        sides = (self.output, self.accepts)
        return all(each.is_valid(parts, resolver=resolver) for each in sides)


def negotiate(
    agent: "Agent | MessageBodySchema",
    accepts: "Agent | MessageBodySchema | Iterable[str]",
    *,
    max_steps: int = DEFAULT_STEPS,
) -> Agreement:
    """Return what an agent can send and a caller takes.

    Arguments:
        agent: the agent, or the schema of its output.
        accepts: what the caller takes: a schema, an agent (its input), or A2A's
            `acceptedOutputModes`; an empty list of those states nothing, so everything is taken.
        max_steps: the budget of each question.

    Raises:
        InvalidArgument: one of both is something else.

    Examples:
        >>> files = MessageBodySchema([(None, "text/*", True), ("/**", "{image,video}/*")])
        >>> negotiate(files, ["text/plain", "image/png"]).schema
        MessageBodySchema(2 parts: required text/plain, '/**' image/png)
        >>> print(negotiate(files, ["image/png"]).refused[0])
        the agent always sends an unnamed part of type text/* (schema part 0)
    """
    output = agent.output if isinstance(agent, Agent) else _schema(agent)
    taken = _accepted_schema(accepts)
    if _is_empty(output, taken, max_steps):
        conflicts = tuple(_minimal_conflict(output, taken, max_steps))
        return Agreement(output, taken, None, conflicts, Verdict.NEVER)
    verdict = check(output, taken, max_steps=max_steps).verdict
    inner = [output] * (verdict is Verdict.ALWAYS)
    inner += [taken] * bool(check(taken, output, max_steps=max_steps))
    agreed = _simplest(inner or [meet(output, taken, max_steps=max_steps)], max_steps)
    return Agreement(output, taken, agreed, (), verdict)


def _simplest(
    equal: Sequence[MessageBodySchema | None], max_steps: int
) -> MessageBodySchema | None:
    """Return the simplest of schemas that say the same, whatever their order."""
    simple = [simplify(each, max_steps=max_steps) for each in equal if each is not None]
    return min(simple, key=_complexity, default=None)


def _complexity(schema: MessageBodySchema) -> tuple[int, str]:
    written = str(schema.to_dicts())
    return len(written), written


def _schema(value: object) -> MessageBodySchema:
    if not isinstance(value, MessageBodySchema):
        raise InvalidArgument("an Agent or a MessageBodySchema", value)
    return value


def _accepted_schema(accepts: object) -> MessageBodySchema:
    if isinstance(accepts, Agent):
        return accepts.input
    if isinstance(accepts, MessageBodySchema):
        return accepts
    if isinstance(accepts, list | tuple) and all(isinstance(each, str) for each in accepts):
        return schema_of_modes(accepts)
    raise InvalidArgument("a MessageBodySchema, an Agent, or a list of modes", accepts)


def _is_empty(output: MessageBodySchema, taken: MessageBodySchema, max_steps: int) -> bool:
    return bool(disjoint(output, taken, max_steps=max_steps))


_Place = tuple[str, int]


def _minimal_conflict(
    output: MessageBodySchema, taken: MessageBodySchema, max_steps: int
) -> Iterator[Conflict]:
    """Yield the requirements of the smallest set that leaves no body."""
    sides = {"output": output, "accepts": taken}
    places = [
        (side, at) for side, schema in sides.items() for at, part in enumerate(schema)
        if part.required
    ]  # fmt: skip

    def conflict(kept: Iterable[_Place]) -> bool:
        needed = {*kept}
        relaxed = [_relax(side, schema, needed) for side, schema in sides.items()]
        return _is_empty(relaxed[0], relaxed[1], max_steps)

    for side, at in _find_conflict(places, conflict):
        yield Conflict(side, at, sides[side][at])


def _relax(side: str, schema: MessageBodySchema, needed: set[_Place]) -> MessageBodySchema:
    """Return a schema whose only requirements are some of its own."""
    return MessageBodySchema(
        attrs.evolve(part, required=(side, at) in needed) for at, part in enumerate(schema)
    )


def _find_conflict(
    places: list[_Place], conflict: Callable[[Iterable[_Place]], bool]
) -> list[_Place]:
    tried = 0
    for size in range(1, len(places)):
        for some in combinations(places, size):
            tried += 1
            if tried > _MOST_TRIES:
                return _minimize(places, conflict)
            if conflict(some):
                return list(some)
    return places


def _minimize(places: list[_Place], conflict: Callable[[Iterable[_Place]], bool]) -> list[_Place]:
    """Return a set of which none can be left out; a smaller one may exist."""
    kept = list(places)
    for each in places:
        fewer = [other for other in kept if other != each]
        if conflict(fewer):
            kept = fewer
    return kept
