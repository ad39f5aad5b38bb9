"""Inclusion of schemas: whether every body of one is valid for another, with a counterexample."""

from enum import StrEnum
from functools import cached_property
from typing import Any, Final, overload

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody._base.guards import require_schema, schema_of_parts
from messagebody._base.hints import guided
from messagebody._base.leaves import leaf
from messagebody._base.text import answer_repr
from messagebody.compatibility._reasons import (
    Evidence,
    Reason,
    Sides,
    brief_lines,
    evidence_for,
    explain,
)
from messagebody.compatibility._solver.decision import Decision
from messagebody.compatibility._solver.part_types import Types, example_body
from messagebody.compatibility._solver.profile import profile_of
from messagebody.errors import InvalidArgument
from messagebody.schema import MessageBodySchema, PartType, SchemaPart

IGNORED: Final = (SchemaPart("/**"), SchemaPart())
"""The schema parts that make a consumer lenient: they accept every part it does not know."""

_LENIENT: Final = "lenient"
"""Where a schema keeps the one of its lenient consumer."""


class Verdict(StrEnum):
    """How often a body of the producer is valid for the consumer."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"
    UNDECIDED = "undecided"


@attrs.frozen(eq=False, repr=False)
class Compatibility:
    """The answer to `check`; true only if the verdict is *always*.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that should accept them; for a lenient consumer, with the parts that it
            ignores added.
        verdict: *always*, *sometimes*, *never*, or *undecided* if the budget ended first.
        counterexample_types: name and content type of each part of the first counterexample; None
            if none exists or none was found.
        max_steps: the budget; explaining may use the same amount again.
        steps_taken: how many of them the verdict took.
    """

    producer: MessageBodySchema
    consumer: MessageBodySchema
    verdict: Verdict
    counterexample_types: tuple[PartType, ...] | None
    max_steps: int
    steps_taken: int = 0
    _decision: Decision = attrs.field(
        default=attrs.Factory(lambda self: self._new_decision(), takes_self=True), kw_only=True
    )

    def __bool__(self) -> bool:
        return self.verdict is Verdict.ALWAYS

    def __repr__(self) -> str:
        lines = () if self else brief_lines(self.reasons, self._evidence.body)
        return answer_repr(type(self).__name__, self.verdict, lines)

    def _repr_html_(self) -> str:
        return leaf("verdict_html")(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return "\n".join(leaf("explanation")(self))

    @property
    def compatible(self) -> bool | None:
        """Whether every body of the producer is valid for the consumer; None if unknown."""
        if self.counterexample_types is not None:
            return False
        return True if self.verdict is Verdict.ALWAYS else None

    @cached_property
    def counterexample(self) -> "messagebody.MessageBody | None":
        """A body that is valid for the producer and not for the consumer, if one was found.

        If possible, readers accept it with their default limits. Otherwise it has a longer name, or
        it is None although `compatible` is False: the patterns ask for content types that are too
        long for any message.
        """
        if self._evidence.body is None:
            return None
        body = example_body(self._evidence.body)
        if body is not None:
            _confirm(self.producer.is_valid(body) and not self.consumer.is_valid(body))
        return body

    @cached_property
    def example(self) -> "messagebody.MessageBody | None":
        """A body that is valid for both, with at least one part if possible.

        None if none exists, or if the budget ended before one was found.
        """
        types = self._example_types()
        if types is None:
            return None
        body = example_body(types)
        if body is not None:
            _confirm(self.producer.is_valid(body) and self.consumer.is_valid(body))
        return body

    def _example_types(self) -> Types | None:
        decision = self._decision
        decision.budget.refill(self.max_steps)
        try:
            types = decision.shared_body()
        except OutOfBudget:
            return None
        # The empty body is valid for both, but it shows readers nothing.
        if types == []:
            try:
                part = decision.shared_part()
            except OutOfBudget:
                part = None  # the empty body is an example too
            return [] if part is None else [part]
        return types

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons for the verdict, as data; the text of each names the concrete part.

        All are there, but for what is inside a JSON part: at most twenty differences of one part.
        """
        return self._reasons  # a property that is kept could not be one of a subclass

    @cached_property
    def _evidence(self) -> Evidence:
        self._decision.budget.refill(self.max_steps)
        return evidence_for(self._decision, self.verdict, self.counterexample_types)

    @cached_property
    def _reasons(self) -> tuple[Reason, ...]:
        evidence = self._evidence
        self._decision.budget.refill(self.max_steps)
        sides = Sides(self.producer, self.consumer, self.max_steps)
        return explain(sides, self._decision, self.verdict, evidence)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON; from the twenty-first reason on without why each part rejects."""
        bodies = {"counterexample": self.counterexample, "example": self.example}
        return {
            "verdict": self.verdict,
            "compatible": self.compatible,
            **{name: None if body is None else body.to_dicts() for name, body in bodies.items()},
            "reasons": [
                each.to_dict(brief=number >= _FULL) for number, each in enumerate(self.reasons)
            ],
        }

    def _new_decision(self) -> Decision:
        return Decision(
            profile_of(self.producer), profile_of(self.consumer), Budget(self.max_steps)
        )


_FULL: Final = 20
"""Hundreds of parts that hundreds of parts reject would be as many thousands of rejections."""
_Parts = list[Any] | tuple[Any, ...]
"""The parts of a schema, as `MessageBodySchema(…)` takes them."""


@overload
def check(
    producer: MessageBodySchema | _Parts, consumer: MessageBodySchema | _Parts, *,
    lenient: bool = False, max_steps: int = DEFAULT_STEPS,
) -> Compatibility: ...  # fmt: skip


@overload
def check(
    producer: "messagebody.agents.Agent", consumer: "messagebody.agents.Agent", *,
    lenient: bool = False, max_steps: int = DEFAULT_STEPS,
) -> "messagebody.agents.AgentCompatibility": ...  # fmt: skip


@guided
def check(
    producer: "MessageBodySchema | _Parts | messagebody.agents.Agent",
    consumer: "MessageBodySchema | _Parts | messagebody.agents.Agent",
    *,
    lenient: bool = False,
    max_steps: int = DEFAULT_STEPS,
) -> Compatibility:
    """Decide whether every body that is valid for `producer` is valid for `consumer`.

    The answer is exact: *always*, *sometimes* or *never*, with bodies that show it. A schema
    that no body can meet is always compatible with every consumer. If the budget ends first, the
    verdict is *undecided*, which counts as false.

    Of two agents, the output of the first is compared with the input of the second; the answer
    then has one more answer for each kind of exchange, in `exchanges`.

    Arguments:
        producer: the schema of the bodies that are sent, its parts as `MessageBodySchema(…)` takes
            them, or an agent.
        consumer: the same of the bodies that are accepted.
        lenient: the consumer ignores parts it does not know.
        max_steps: the budget. Steps are counted, so that the answer is the same on every machine; a
            step takes about half a microsecond.

    Examples:
        >>> from messagebody.schema import MessageBodySchema, SchemaPart
        >>> agent = MessageBodySchema([(None, "text/markdown", True), ("/sources/*", "text/*")])
        >>> reader = MessageBodySchema([(None, "text/*", True)])
        >>> result = check(agent, reader)
        >>> result.verdict.value, result.counterexample.names()
        ('sometimes', ['/sources/b'])
        >>> bool(check(agent, reader, lenient=True))
        True
    """
    producer, consumer = schema_of_parts(producer), schema_of_parts(consumer)
    if not isinstance(producer, MessageBodySchema) or not isinstance(consumer, MessageBodySchema):
        settings = {"lenient": lenient, "max_steps": max_steps}
        return _check_agents(producer, consumer, settings)
    if not isinstance(lenient, bool):
        # Any text is true, "no" and "false" as well.
        raise InvalidArgument("lenient, True or False", lenient)
    if lenient:
        # Leniency needs no rules of its own: it is the same as two more consumer parts.
        consumer = lenient_schema(consumer)
    decision = Decision(profile_of(producer), profile_of(consumer), Budget(max_steps))
    verdict, body = _decide(decision)
    types = None if body is None else tuple(body)
    taken = max_steps - max(decision.budget.left, 0)
    return Compatibility(producer, consumer, verdict, types, max_steps, taken, decision=decision)


def _check_agents(producer: Any, consumer: Any, settings: dict[str, Any]) -> Compatibility:
    for each in (producer, consumer):
        if not hasattr(each, "exchanges"):
            require_schema(each)
    return leaf("check_agents")(producer, consumer, **settings)  # type: ignore[no-any-return]


def lenient_schema(schema: MessageBodySchema) -> MessageBodySchema:
    """Return the schema with two more parts that accept everything it does not know."""
    kept: MessageBodySchema | None = schema.derived.get(_LENIENT)
    if kept is None:
        kept = schema.derived[_LENIENT] = MessageBodySchema([*schema, *IGNORED])
    return kept


def _decide(decision: Decision) -> tuple[Verdict, Types | None]:
    body = None
    try:
        body = decision.counterexample()
        if body is None:
            return Verdict.ALWAYS, None
        # Last, because it only matters if the answer is not *always*.
        shared = decision.shared_body()
    except OutOfBudget:
        return Verdict.UNDECIDED, body
    return Verdict.NEVER if shared is None else Verdict.SOMETIMES, body


def _confirm(confirmed: bool) -> None:
    """Raise an error if the validator contradicts a witness, because a wrong witness misleads."""
    if not confirmed:
        raise AssertionError("the validator contradicts a witness; please report this pair")
