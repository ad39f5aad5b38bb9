"""The question everybody asks: is every body of this schema valid for that one?"""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from itertools import chain

import attrs

from messagebody.body import MessageBody
from messagebody.compatibility.budgets import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody.compatibility.deciding import (
    can_occur,
    iter_counterexamples,
    shared_body,
    shared_part,
    valid_body,
    with_strays,
)
from messagebody.compatibility.explaining import Reason, missing_part, stray_part
from messagebody.compatibility.languages import members
from messagebody.compatibility.profiles import PartType, Profile
from messagebody.compatibility.questions import Question
from messagebody.compatibility.screening import Screening
from messagebody.compatibility.witnesses import body_of
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.text import count_of

__all__ = ["Compatibility", "Verdict", "check", "find_counterexample", "lenient_schema"]

Types = list[PartType]

_ANYTHING = (SchemaPart("/**"), SchemaPart())


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
        consumer: the schema that is to accept them; a lenient one with what it ignores added.
        verdict: *always*, *sometimes*, *never*, or *undecided* if the budget ended first.
        counterexample_types: name and content type of each part of a body that is valid for the
            producer only, the first that was found; None if there is none, or none was found.
        steps: the budget, which explaining may use once more.
    """

    producer: MessageBodySchema
    consumer: MessageBodySchema
    verdict: Verdict
    counterexample_types: tuple[PartType, ...] | None
    steps: int

    def __bool__(self) -> bool:
        return self.verdict is Verdict.ALWAYS

    def __repr__(self) -> str:
        parts = self.counterexample_types
        found = "" if parts is None else f", counterexample of {count_of(len(parts), 'part')}"
        return f"Compatibility({self.verdict}{found})"

    @property
    def compatible(self) -> bool | None:
        """True if every body of the producer is valid for the consumer, False if one is not.

        None if neither is known.
        """
        if self.counterexample_types is not None:
            return False
        return True if self.verdict is Verdict.ALWAYS else None

    @cached_property
    def counterexample(self) -> MessageBody | None:
        """A body that is valid for the producer and not for the consumer, if one was found.

        It holds every part that a reason names.
        """
        if self._shown is None:
            return None
        body = body_of(self._shown)
        _confirm(self.producer.is_valid(body) and not self.consumer.is_valid(body))
        return body

    @cached_property
    def _shown(self) -> Types | None:
        """The counterexample with whatever else the consumer refuses added to it."""
        types = self.counterexample_types
        return None if types is None else with_strays(self._question(), types)

    @cached_property
    def example(self) -> MessageBody | None:
        """A body that is valid for both, one with parts in it where there is such a one."""
        try:
            types = self._example_types()
        except OutOfBudget:
            return None
        if types is None:
            return None
        body = body_of(types)
        _confirm(self.producer.is_valid(body) and self.consumer.is_valid(body))
        return body

    def _example_types(self) -> Types | None:
        question = self._question()
        found = Screening(Profile.of(self.producer), Profile.of(self.consumer)).shared()
        types = found.body if found.is_settled else shared_body(question)
        if types == []:
            part = shared_part(question)
            return [] if part is None else [part]
        return types

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the verdict is what it is, as data; the text of each names the concrete part."""
        found = tuple(_reasons(self, self._question()))
        if self.verdict is Verdict.UNDECIDED and all(each.code != "undecided" for each in found):
            found += (_ended(self.steps),)
        return found

    def _question(self) -> Question:
        profiles = Profile.of(self.producer), Profile.of(self.consumer)
        return Question(*profiles, Budget(self.steps))


def check(
    producer: MessageBodySchema,
    consumer: MessageBodySchema,
    *,
    lenient: bool = False,
    steps: int = DEFAULT_STEPS,
) -> Compatibility:
    """Decide whether every body that is valid for `producer` is valid for `consumer`.

    The answer is exact: *always*, *sometimes* or *never*, with bodies that show it. A schema
    that no body can meet is always compatible with everything. Where the budget ends first, the
    verdict is *undecided*, which is not true.

    Arguments:
        producer: what is sent.
        consumer: what is taken.
        lenient: the consumer ignores parts it does not know.
        steps: the work that may be done, counted so that it is the same everywhere; a step is
            about half a microsecond.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> agent = MessageBodySchema([(None, "text/markdown", True), ("/sources/*", "text/*")])
        >>> reader = MessageBodySchema([(None, "text/*", True)])
        >>> result = check(agent, reader)
        >>> result.verdict.value, result.counterexample.names()
        ('sometimes', ['/sources/b'])
        >>> bool(check(agent, reader, lenient=True))
        True
    """
    if lenient:
        consumer = lenient_schema(consumer)
    profiles = Profile.of(producer), Profile.of(consumer)
    verdict, body = _decide(*profiles, steps)
    types = None if body is None else tuple(body)
    return Compatibility(producer, consumer, verdict, types, steps)


def lenient_schema(schema: MessageBodySchema) -> MessageBodySchema:
    """Return a schema that ignores the parts it does not know: it accepts them as well."""
    return MessageBodySchema([*schema, *_ANYTHING])


def find_counterexample(
    producer: Profile, consumer: Profile, budget: Budget, screening: Screening | None = None
) -> Types | None:
    """Return a body valid for the producer and not for the consumer; None if there is none.

    Raises:
        OutOfBudget: the budget ended first.
    """
    answer = (screening or Screening(producer, consumer)).counterexample()
    if answer.is_settled:
        return answer.body
    return next(iter_counterexamples(Question(producer, consumer, budget)), None)


def _decide(producer: Profile, consumer: Profile, steps: int) -> tuple[Verdict, Types | None]:
    screening = Screening(producer, consumer)
    budget = Budget(steps)
    body = None
    try:
        body = find_counterexample(producer, consumer, budget, screening)
        if body is None:
            return Verdict.ALWAYS, None
        answer = screening.shared()
        shared = answer.body
        if not answer.is_settled:
            shared = shared_body(Question(producer, consumer, budget))
    except OutOfBudget:
        return Verdict.UNDECIDED, body
    return Verdict.NEVER if shared is None else Verdict.SOMETIMES, body


def _reasons(result: Compatibility, question: Question) -> Iterator[Reason]:
    """Yield what decided first, then what else is worth knowing."""
    try:
        if result.counterexample_types is None and valid_body(question) is None:
            yield Reason("producer-unsatisfiable", "no body is valid for the producer")
            return
        if result.verdict is not Verdict.ALWAYS:
            yield from _objections(result, question)
            yield from _on_overlap(result, question)
        for index, part in enumerate(result.producer):
            if not can_occur(question, index):
                text = f"no valid body has producer part {index} {part.label}"
                yield Reason("dead-part", text, producer_index=index)
    except OutOfBudget:
        yield _ended(result.steps)


def _ended(steps: int) -> Reason:
    return Reason("undecided", f"the budget of {steps:,} steps ended before all was decided")


def _objections(result: Compatibility, question: Question) -> Iterator[Reason]:
    """Explain the counterexample that is shown, then what else is wrong in other bodies."""
    blamed, missed = 0, set()
    others = iter_counterexamples(question)
    for body in chain([] if result._shown is None else [result._shown], others):
        strays = [part for part in body if not question.hits(part) & question.second]
        for part in strays:
            senders = question.hits(part) & question.first
            if not senders & blamed:
                is_shown = body is result._shown
                yield stray_part(part, result.producer, result.consumer, is_shown=is_shown)
                blamed |= senders
        for index in [] if strays else _missing(body, question):
            if index not in missed:
                yield missing_part(index, result.producer, result.consumer)
            missed.add(index)


def _missing(body: Types, question: Question) -> list[int]:
    """Return the consumer's schema parts that are required and that a body lacks."""
    wanted = question.required & question.second
    for part in body:
        wanted &= ~question.hits(part)
    return members(wanted >> len(question.producer))


def _on_overlap(result: Compatibility, question: Question) -> Iterator[Reason]:
    if result.verdict is Verdict.NEVER:
        alone = Question(question.consumer, question.consumer, question.budget)
        if valid_body(alone) is None:
            yield Reason("consumer-unsatisfiable", "no body is valid for the consumer")
    elif not question.required and shared_part(question) is None:
        text = "the empty body is all that is valid for both"
        yield Reason("only-empty-body-shared", text)


def _confirm(confirmed: bool) -> None:
    """Stop at a witness that the validator does not bear out, rather than show it."""
    if not confirmed:
        raise AssertionError("the validator contradicts a witness; please report this pair")
