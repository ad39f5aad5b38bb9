"""Inclusion of schemas: whether every body of one is valid for another, with a counterexample."""

import base64
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final

import attrs

from messagebody._text import count_of
from messagebody.body import MessageBody
from messagebody.compatibility.certification import certificate_of
from messagebody.compatibility.reasons import Reason, missing_part, stray_part
from messagebody.part import Part
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.solver.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody.solver.languages import members
from messagebody.solver.profile import PartType, Profile
from messagebody.solver.satisfy import Demand, Question
from messagebody.solver.screen import Screening

_PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)

_CONTENTS: Final[dict[str, str | bytes]] = {
    "text/markdown": "# Example\n",
    "text/html": "<!doctype html><title>Example</title>",
    "text/csv": "name,value\nexample,1\n",
    "application/json": "{}",
    "application/xml": "<example/>",
    "application/yaml": "example: 1\n",
    "image/png": _PIXEL,
    "image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}
_BY_SUFFIX: Final = {"json": "{}", "xml": "<example/>", "yaml": "example: 1\n"}


def body_of(types: Iterable[PartType]) -> MessageBody:
    """Return a body whose parts have these names and content types, and small contents.

    Unnamed parts come first, as the content to show.
    """
    ordered = sorted(types, key=lambda part: (part.name is not None, part))
    return MessageBody(Part(_content(kind), name=name, content_type=kind) for name, kind in ordered)


def _content(kind: str) -> str | bytes:
    if kind in _CONTENTS:
        return _CONTENTS[kind]
    suffix = _BY_SUFFIX.get(kind.rpartition("+")[2])
    if suffix is not None:
        return suffix
    return "example" if kind.startswith("text/") else b"example"


Types = list[PartType]


def valid_body(question: Question) -> Types | None:
    """Return a body valid for the producer, or None if there is none."""
    return _producer(question).solve()


def shared_body(question: Question) -> Types | None:
    """Return a body valid for both, or None if there is none."""
    return Demand(
        question,
        required=question.required,
        accepted=(question.first, question.second),
    ).solve()


def shared_part(question: Question) -> PartType | None:
    """Return a part that both schemas accept, or None if there is none."""
    groups = (question.first, question.second)
    unnamed = [group & question.unnamed for group in groups]
    if all(unnamed):
        for _, kind in question.type_words(good=unnamed[0] | unnamed[1], need=unnamed):
            return PartType(None, kind)
    named = [group & ~question.unnamed for group in groups]
    if not all(named):
        return None
    for names, name in question.name_words(good=named[0] | named[1], need=named):
        need = [group & names for group in named]
        for _, kind in question.type_words(good=need[0] | need[1], need=need):
            return PartType(name, kind)
    return None


def iter_counterexamples(question: Question) -> Iterator[Types]:
    """Yield bodies valid for the producer and not for the consumer: none if there are none.

    There is at most one for every producer part and every required consumer part: first those
    with a part the consumer does not accept, then those without a part it requires. Each is
    looked for with a share of the budget, so that one hard search does not hide an easy find.

    Raises:
        OutOfBudget: after the last body, if a search ended early.
    """
    demand = _producer(question)
    if demand.solve() is None:
        return
    searches = list(_searches(question, demand))
    purse, rounds = question.budget, 2
    for each in range(rounds):
        share = purse.left // (len(searches) * (8 if each < rounds - 1 else 1) or 1)
        unfinished = []
        for search in searches:
            question.budget = Budget(min(share, purse.left))
            before = question.budget.left
            try:
                body = search()
            except OutOfBudget:
                unfinished.append(search)
                body = None
            purse.left -= before - max(question.budget.left, 0)
            if body is not None:
                yield body
        searches = unfinished
        if not searches:
            break
    question.budget = purse
    if searches:
        raise OutOfBudget


def with_strays(question: Question, body: Iterable[PartType]) -> Types:
    """Return a body of the producer with parts added that the consumer does not accept.

    Afterwards no schema part of the producer is left of which such a part could be added; where
    the budget ends first, some may be.
    """
    found = list(body)
    strays = [part for part in found if not question.hits(part) & question.second]
    for index in members(question.first):
        if any(question.hits(part) >> index & 1 for part in strays):
            continue
        taken = [part.name for part in found if part.name is not None]
        try:
            part = _stray_part(question, taken, index)
        except OutOfBudget:
            break
        if part is not None:
            strays.append(part)
            found.append(part)
    return found


def critical_names(question: Question) -> list[str]:
    """Return the names that required parts of the producer compete for."""
    return _producer(question).critical_names


def can_occur(question: Question, index: int) -> bool:
    """Tell whether some valid body of the producer has a part that its schema part accepts."""
    demand = _producer(question)
    alone = Question(question.producer, Profile((), (), ()), question.budget)
    part = _stray_part(alone, demand.critical_names, index)
    if part is not None:
        return demand.solve(part) is not None
    bit = 1 << index
    for name in demand.critical_names:
        names = alone.matching_name(name)
        if names & bit:
            for _, kind in alone.type_words(good=names & alone.first, need=(bit,)):
                if demand.solve(PartType(name, kind)) is not None:
                    return True
    return False


def _searches(question: Question, demand: Demand) -> Iterator[Callable[[], Types | None]]:
    for index in members(question.first):
        yield partial(_with_stray_part, question, demand, index)
    for name in demand.critical_names:
        yield partial(_with_stray_type, question, demand, name)
    for index in members(question.required & question.second):
        yield partial(_without, question, index)


def _producer(question: Question) -> Demand:
    return Demand(question, required=question.required & question.first, accepted=(question.first,))


def _with_stray_part(question: Question, demand: Demand, index: int) -> Types | None:
    part = _stray_part(question, demand.critical_names, index)
    return None if part is None else demand.solve(part)


def _with_stray_type(question: Question, demand: Demand, name: str) -> Types | None:
    """Return a body in which a critical name has a type the consumer does not accept."""
    names = question.matching_name(name)
    rivals = names & question.second
    words = question.type_words(
        good=names & question.first, bad=rivals, need=(names & question.first,)
    )
    for types, kind in words:
        body = None if types & rivals else demand.solve(PartType(name, kind))
        if body is not None:
            return body
    return None


def _stray_part(question: Question, without: Iterable[str], index: int) -> PartType | None:
    """Return a part that this producer part accepts and the consumer does not.

    Some names are left out. Those that required parts compete for: whether such a part can occur
    at all depends on the rest of the body, which does not matter for any other. And those that
    a body has already.
    """
    bit = 1 << index
    excluded = [name for name in without if question.matching_name(name) & bit]
    is_unnamed = question.unnamed >> index & 1
    rivals = question.second & (question.unnamed if is_unnamed else ~question.unnamed)
    for types, kind in question.type_words(good=bit, bad=rivals, need=(bit,)):
        against = types & rivals
        if is_unnamed:
            if not against:
                return PartType(None, kind)
            continue
        words = question.name_words(good=bit, bad=against, need=(bit,), without=excluded)
        name = next((name for names, name in words if not names & against), None)
        if name is not None:
            return PartType(name, kind)
    return None


def _without(question: Question, index: int) -> Types | None:
    """Return a body that lacks a part the consumer requires."""
    return Demand(
        question,
        required=question.required & question.first,
        accepted=(question.first,),
        avoided=1 << index,
    ).solve()


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
    _lenient: bool = False

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
        found = Screening(Profile.of(self.producer.parts), Profile.of(self.consumer.parts)).shared()
        types = found.body if found.is_settled else shared_body(question)
        if types == []:
            part = shared_part(question)
            return [] if part is None else [part]
        return types

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """The proof of an *always*, a JSON value for `messagebody.certificates.verify`.

        None for the other verdicts, which have bodies to show, and where the budget ends first.
        """
        if self.verdict is not Verdict.ALWAYS:
            return None
        # A lenient consumer is certified as it was given: the checker adds what it ignores.
        consumer = self.consumer.parts[: -len(_ANYTHING)] if self._lenient else self.consumer.parts
        return certificate_of(
            self.producer, MessageBodySchema(consumer), lenient=self._lenient, steps=self.steps
        )

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the verdict is what it is, as data; the text of each names the concrete part."""
        found = tuple(_reasons(self, self._question()))
        if self.verdict is Verdict.UNDECIDED and all(each.code != "undecided" for each in found):
            found += (_ended(self.steps),)
        return found

    def _question(self) -> Question:
        profiles = Profile.of(self.producer.parts), Profile.of(self.consumer.parts)
        return Question(*profiles, Budget(self.steps))


def check(
    producer: MessageBodySchema,
    consumer: MessageBodySchema,
    *,
    lenient: bool = False,
    certificate: bool = False,
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
        certificate: make the certificate of an *always* at once; else it is made when it is asked
            for.
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
    profiles = Profile.of(producer.parts), Profile.of(consumer.parts)
    verdict, body = _decide(*profiles, steps)
    types = None if body is None else tuple(body)
    answer = Compatibility(producer, consumer, verdict, types, steps, lenient)
    if certificate:
        _ = answer.certificate
    return answer


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
