"""Reasons for a verdict, as data; their texts are made from the data."""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, Literal

import attrs

from messagebody._base.budget import OutOfBudget
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.text import common_prefix_length, count_of, escape, nearest, quote
from messagebody.compatibility._solver.containment import are_disjoint
from messagebody.compatibility._solver.contents import Difference, Undecided
from messagebody.compatibility._solver.decision import NOTHING, Decision, missing_from, rejected_by
from messagebody.compatibility._solver.languages import members
from messagebody.compatibility._solver.part_types import FilledType, Types, can_exist
from messagebody.compatibility._solver.sampling import OPEN, Answer
from messagebody.compatibility._solver.textual_inclusion import contained
from messagebody.schema import MessageBodySchema, PartType, SchemaPart

Code = Literal[
    "part-not-accepted",
    "content-not-accepted",
    "required-may-be-missing",
    "producer-unsatisfiable",
    "consumer-unsatisfiable",
    "only-empty-body-shared",
    "dead-part",
    "undecided",
]
Differs = Literal["name", "type", "name and type", "content"]

_LISTED: Final = 20
"""Rejections that a text lists."""
_CUT: Final = 200
"""Characters of a content that a line holds."""
_CLOSE: Final = 0.75
"""The similarity, by difflib, from which on a name is taken for a mistyped one."""


@attrs.frozen
class Rejection:
    """Why one schema part does not accept a message part.

    Arguments:
        schema_index: the index of the schema part.
        label: the schema part in words.
        differs: the property that does not match: name, type or both, or only the content.
    """

    schema_index: int
    label: str
    differs: Differs

    def __str__(self) -> str:
        return f"{self.label} (other {self.differs}; part {self.schema_index})"


@attrs.frozen
class Sides:
    """The schemas and the budget of an answer.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that should accept them.
        max_steps: the budget of the answer.
    """

    producer: MessageBodySchema
    consumer: MessageBodySchema
    max_steps: int


@attrs.frozen
class Reason:
    """One reason for a verdict. Its texts are made on first access.

    Arguments:
        code: `part-not-accepted`: the consumer accepts no such part; `content-not-accepted`: it
            accepts the name and the type, and not the content; `required-may-be-missing`:
            a valid body of the producer may lack a part that the consumer requires;
            `producer-unsatisfiable`, `consumer-unsatisfiable`: no body is valid at all;
            `only-empty-body-shared`: only the empty body is valid for both; `dead-part`: a producer
            part that no valid body can have; `undecided`: the budget ended first, or contents
            decide and were left open.
        part: the message part concerned, if the counterexample has it.
        producer_index: the index of the producer part concerned.
        consumer_index: the index of the consumer part concerned.
        sides: the schemas.
        rejected: a message part that the consumer rejects, whether or not the counterexample has
            it.
        is_elsewhere: whether only a body other than the counterexample shows the reason.
        left_open: the question about contents that was left open, if that is why.
        difference: for `content-not-accepted`, the place in the content, what the producer may
            send there, and what the consumer takes.
    """

    code: Code
    part: PartType | None = None
    producer_index: int | None = None
    consumer_index: int | None = None
    sides: Sides = attrs.field(kw_only=True, repr=False)
    rejected: PartType | None = attrs.field(default=None, kw_only=True, repr=False)
    is_elsewhere: bool = attrs.field(default=False, kw_only=True)
    left_open: Undecided | None = attrs.field(default=None, kw_only=True)
    difference: Difference | None = attrs.field(default=None, kw_only=True)

    @cached_property
    def summary(self) -> str:
        """The reason in words, without the rejections and the hint."""
        if self.code == "part-not-accepted":
            return self._on_rejected_part()
        if self.code == "content-not-accepted":
            return f"{self.subject}: {self.difference or _NOT_JSON}"
        if self.code == "required-may-be-missing":
            return self._on_missing_part()
        if self.code == "dead-part":
            return f"no valid body has {self._sender}"
        if self.code == "undecided":
            if self.left_open is not None:
                return _on_open_content(self.left_open)
            steps = f"{self.sides.max_steps:,}"
            return f"the budget of {steps} steps ended before all was decided"
        return _SUMMARIES[self.code]

    def to_dict(self, *, brief: bool = False) -> dict[str, Any]:
        """Return it as JSON.

        Arguments:
            brief: without why each part rejects.
        """
        found = self.difference
        inside = {} if found is None else {
            "pointer": found.pointer,
            "sent": "nothing" if found.name is not None else found.sent,
            "taken": found.taken,
        }  # fmt: skip
        return {
            "code": self.code,
            "text": self.summary if brief else str(self),
            "producerIndex": self.producer_index,
            "consumerIndex": self.consumer_index,
            **inside,
        }

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """Why each consumer part rejects the message part, nearest first.

        Each has `schema_index`, the `label` of the schema part, and what `differs`: its name, its
        type, both, or its content.
        """
        return self.nearest(len(self.sides.consumer))

    def nearest(self, count: int) -> tuple[Rejection, ...]:
        """Return the nearest rejections, which costs less than all of them.

        Arguments:
            count: the largest number to return.
        """
        part, consumer = self.rejected, self.sides.consumer
        if part is None or not self.rejecting:
            return ()
        nearest = heapq.nlargest(
            count, range(len(consumer)), key=lambda i: _closeness(consumer[i], part)
        )
        return tuple([_rejection(index, consumer[index], part) for index in nearest])

    @property
    def rejecting(self) -> int:
        """The number of consumer parts that reject the message part."""
        # A reason about contents is about a single consumer part, which it names.
        is_about_all = self.rejected is not None and self.code == "part-not-accepted"
        return len(self.sides.consumer) if is_about_all else 0

    @cached_property
    def hint(self) -> str:
        """A guess at a misspelled name pattern; empty if none is close."""
        producer, consumer = self.sides.producer, self.sides.consumer
        if self.producer_index is not None and self.code == "part-not-accepted":
            return _did_you_mean(producer[self.producer_index], consumer)
        if self.consumer_index is not None and self.producer_index is None:
            return _did_you_mean(consumer[self.consumer_index], producer)
        return ""

    @property
    def brief(self) -> str:
        """The reason in words, without what is said of the schemas' parts if it is inside JSON."""
        if self.difference is None or self.rejected is None:
            return self.summary
        return f"{describe_part(self.rejected)}: {self.difference}"

    @property
    def text(self) -> str:
        """The reason in words, with the nearest rejections."""
        shown = [str(rejection) for rejection in self.nearest(_LISTED)]
        more = self.rejecting - len(shown)
        shown += [f"and {count_of(more, 'more part')}"] if more else []
        return f"{self.summary}: {', '.join(shown)}" if shown else self.summary

    def __str__(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text

    @property
    def _sender(self) -> str:
        index = self.producer_index or 0
        return f"producer part {index} {self.sides.producer[index].label}"

    def _on_rejected_part(self) -> str:
        if self.rejected is None:
            part = "a part"
        elif self.rejected.name is None:
            part = f"{describe_part(self.rejected)} part"
        else:
            part = f"part {describe_part(self.rejected)}"
        if self.part is not None:
            text = f"{part}, allowed by {self._sender}, is accepted by no consumer part"
        else:
            text = (
                f"in other messages, {self._sender} allows {part}, which no consumer part accepts"
            )
        return text if self.sides.consumer else f"{text}: it accepts only the empty body"

    @property
    def subject(self) -> str:
        """The part whose content is refused, and who sends and takes it, in words."""
        part = "a part" if self.rejected is None else describe_part(self.rejected)
        sender = self._named("producer", self.producer_index or 0, part)
        taker = self._named("consumer", self.consumer_index or 0, part)
        return f"{part}, allowed by {sender}, is not what {taker} takes"

    def _named(self, side: Literal["producer", "consumer"], index: int, but: str) -> str:
        """Return a schema part in words, without those that were said before."""
        label = getattr(self.sides, side)[index].label
        return f"{side} part {index}" + ("" if label == but else f" {label}")

    def _on_missing_part(self) -> str:
        wanted = self.consumer_index or 0
        label = self.sides.consumer[wanted].label
        lacking = "another valid body" if self.is_elsewhere else "a valid body"
        text = f"consumer part {wanted} {label} is required, and {lacking} may lack it"
        return text if self.producer_index is None else f"{text}: {self._sender} is optional"


def _on_open_content(why: Undecided) -> str:
    if why.keyword in {"size", "depth"}:
        return f"whether contents fit was left open: the {why.keyword} of the values is too large"
    place = f" at {quote(why.place)}" if why.place else ""
    return f"whether contents fit was left open: {why.keyword}{place} decides, and is not followed"


_NOT_JSON: Final = "the producer may send what is not JSON; the consumer takes JSON"

_SUMMARIES: Final = {
    "producer-unsatisfiable": "no body is valid for the producer",
    "consumer-unsatisfiable": "no body is valid for the consumer",
    "only-empty-body-shared": "only the empty body is valid for both",
}


def describe_part(part: PartType) -> str:
    """Return a message part in words.

    Examples:
        >>> describe_part(PartType("/a", "text/plain")), describe_part(PartType(None, "image/png"))
        ("'/a' text/plain", 'an unnamed image/png')
    """
    kind = escape(part.content_type, limit=200)
    return f"an unnamed {kind}" if part.name is None else f"{quote(part.name)} {kind}"


@attrs.frozen
class Evidence:
    """The counterexample to show, and the answers that the reasons are made of.

    Arguments:
        body: the counterexample, extended by more parts that the consumer rejects; None if none was
            found.
        answers: what is known of each part and requirement.
        is_open: whether the budget ended first.
    """

    body: Types | None
    answers: Mapping[int, Answer] = attrs.field(factory=dict)
    is_open: bool = False


def evidence_for(decision: Decision, verdict: str, found: Sequence[PartType] | None) -> Evidence:
    """Return the counterexample to show.

    Arguments:
        decision: the decision, with a budget for what was not asked yet.
        verdict: the verdict.
        found: the counterexample that decided it, if there is one.
    """
    if found is None:
        return Evidence(None, is_open=verdict == "undecided")
    # The decision keeps the answers behind the verdict, so they are not searched again.
    answers = dict(decision.settle())
    body = _readable(found, answers)
    try:
        _add_rejected(body, decision, answers)
    except OutOfBudget:
        return Evidence(body, answers, is_open=True)
    is_settled = all(each.is_settled for each in answers.values())
    return Evidence(body, answers, is_open=verdict == "undecided" or not is_settled)


def explain(
    sides: Sides, decision: Decision, verdict: str, evidence: Evidence
) -> tuple[Reason, ...]:
    """Return the reasons for a verdict, with the answers of its decision.

    Arguments:
        sides: the schemas.
        decision: the decision, with the budget for explaining.
        verdict: the verdict.
        evidence: the counterexample that they refer to.
    """
    if verdict == "undecided" and evidence.body is None:
        # What was too much for the decision would be too much again.
        return (_undecided(sides, decision),)
    reasons: list[Reason] = []
    is_open = evidence.is_open
    try:
        reasons.extend(_reasons(sides, decision, verdict, evidence.body, evidence.answers))
    except OutOfBudget:
        is_open = True
    # First, because it says more than the reasons about single parts.
    reasons.sort(key=lambda reason: reason.code != "only-empty-body-shared")
    if is_open and verdict != "always":
        reasons.append(_undecided(sides, decision))
    return tuple(reasons)


def brief_lines(reasons: Sequence[Reason], body: Sequence[PartType] | None) -> list[str]:
    """Return the first reason and the counterexample, a line each."""
    more = len(reasons) - 1
    end = f"; and {count_of(more, 'more reason')}" if more > 0 else ""
    lines = [f"{each.brief}{end}" for each in reasons[:1]]
    if body is not None:
        parts = [_part_with_content(each) for each in body[:_LISTED]]
        lines.append(f"for example {', '.join(parts) or 'a message without parts'}")
    return lines


def _part_with_content(part: PartType) -> str:
    """Return a part in words, with the beginning of its content if that matters."""
    kind = part.content_type
    if not isinstance(kind, FilledType) or kind.value is None:
        return describe_part(part)
    place = "" if part.name is None else f"{quote(part.name)} "
    return place + kind.beginning(_CUT)


def _undecided(sides: Sides, decision: Decision) -> Reason:
    left_open = next(iter(decision.pair.left_open), None)
    return Reason("undecided", sides=sides, left_open=left_open)


def _readable(found: Sequence[PartType], answers: Mapping[int, Answer]) -> Types:
    """Return the body that was found, or another one if only that is within the default limits."""
    # Bodies are made lazily, because the first usually suffices. Only some are tried, because each
    # may have as many parts as there are answers.
    answered = islice((answer for answer in answers.values() if answer.is_found), _LISTED)
    others = (body for answer in answered if (body := answer.body) is not None)
    return list(next((body for body in chain([found], others) if is_readable(body)), found))


def is_readable(parts: Iterable[PartType]) -> bool:
    """Return whether readers accept all names and content types with their default limits."""
    longest = DEFAULT_LIMITS.name_length
    return can_exist(parts) and all(len(part.name or "") <= longest for part in parts)


def _add_rejected(body: Types, decision: Decision, answers: Mapping[int, Answer]) -> None:
    """Add rejected parts, so that each producer part that allows one has one in the body.

    The body stays valid for the producer, because it accepts the added parts and their names are
    new.
    """
    pair = decision.pair
    # A name occurs at most once in a body, so the added parts need new names.
    taken = {part.name for part in body if part.name is not None}
    senders = 0
    for part in rejected_by(pair, body):
        senders |= pair.accepting_parts(part)
    for index in range(len(decision.producer)):
        answer = answers.get(index, OPEN)
        if not answer.is_found or senders >> index & 1:
            continue
        rejected = rejected_by(pair, answer.body or ())
        own = next((each for each in rejected if pair.accepting_parts(each) >> index & 1), None)
        # The part comes from another body. If its name is taken here, a different part is needed.
        if own is None or own.name in taken:
            own = decision.rejected_part(index, taken)
        # Parts beyond the default limits are not added, so that readers accept the body.
        if own is not None and is_readable([own]):
            body.append(own)
            senders |= pair.accepting_parts(own)
            if own.name is not None:
                taken.add(own.name)


def _reasons(
    sides: Sides,
    decision: Decision,
    verdict: str,
    body: Types | None,
    answers: Mapping[int, Answer],
) -> Iterator[Reason]:
    """Yield the reasons that decided the verdict, then other useful ones."""
    if body is None and decision.valid_body() is None:
        yield Reason("producer-unsatisfiable", sides=sides)
        return
    if verdict != "always":
        rejected: list[Reason] = []
        for each in _on_rejected(sides, decision, body or [], answers):
            rejected.append(each)
            yield each
        settled = {index for each in rejected for index in _requirements_met_outside(sides, each)}
        yield from _on_missing(sides, decision, body, answers, settled)
        yield from _on_overlap(sides, decision, verdict)
    for index in range(len(sides.producer)):
        answer = decision.occurrence(index)
        if answer.is_refuted:
            yield Reason("dead-part", producer_index=index, sides=sides)
        elif not answer.is_settled:
            raise OutOfBudget


def _on_rejected(
    sides: Sides, decision: Decision, body: Types, answers: Mapping[int, Answer]
) -> Iterator[Reason]:
    """Yield a reason for each rejected part body, then for each other rejected producer part."""
    pair = decision.pair
    blamed: set[int] = set()
    examples: dict[int, PartType] = {}
    for part in rejected_by(pair, body):
        senders = members(pair.accepting_parts(part) & pair.first)
        # Several producer parts may allow it: prefer one without a reason so far.
        index = next((each for each in senders if each not in blamed), senders[0])
        blamed.add(index)
        yield from _not_accepted(sides, decision, index, part, part)
        for each in senders:
            examples.setdefault(each, part)
    for index in range(len(sides.producer)):
        answer = answers.get(index, OPEN)
        if answer.is_found and index not in blamed:
            rejected = rejected_by(pair, answer.body or ())
            part = next(each for each in rejected if pair.accepting_parts(each) >> index & 1)
            yield from _not_accepted(sides, decision, index, examples.get(index), part)


def _not_accepted(
    sides: Sides, decision: Decision, index: int, example: PartType | None, rejected: PartType
) -> Iterator[Reason]:
    """Yield why the consumer does not accept a part: in most pairs, one reason."""
    rejected = example or rejected
    kind = rejected.content_type
    taker = _taker(sides.consumer, rejected) if isinstance(kind, FilledType) else None
    if taker is None:
        yield Reason("part-not-accepted", example, index, sides=sides, rejected=rejected)
    else:
        yield from _content_not_accepted(sides, decision, index, taker, example, rejected)


def _content_not_accepted(
    sides: Sides,
    decision: Decision,
    index: int,
    taker: int,
    example: PartType | None,
    rejected: PartType,
) -> Iterator[Reason]:
    """Yield a reason for each difference of what is inside; one for all if it is no JSON."""
    content, kind = sides.consumer[taker].content_schema, rejected.content_type
    found: Sequence[Difference | None] = (None,)
    is_all = True
    if isinstance(kind, FilledType) and kind.value is not None and content is not None:
        found, is_all = decision.pair.differences(index, rejected.name, content, kind.value)
    for each in found:
        yield Reason(
            "content-not-accepted",
            example,
            index,
            taker,
            sides=sides,
            rejected=rejected,
            difference=each,
        )
    if not is_all:
        raise OutOfBudget


def _taker(consumer: MessageBodySchema, part: PartType) -> int | None:
    """Return the nearest schema part that accepts the name and the type of a part."""
    takers = [i for i, each in enumerate(consumer) if each.accepts(*part)]
    return max(takers, key=lambda i: _closeness(consumer[i], part), default=None)


def _requirements_met_outside(sides: Sides, reason: Reason) -> Iterator[int]:
    """Yield the requirement that a required part meets but for what a reason says inside."""
    if reason.code != "content-not-accepted":
        return
    sender = sides.producer[reason.producer_index or 0]
    taker = sides.consumer[reason.consumer_index or 0]
    if sender.required and contained((sender,), (taker,), lambda *_: True) is not None:
        yield reason.consumer_index or 0


def _on_missing(
    sides: Sides,
    decision: Decision,
    body: Types | None,
    answers: Mapping[int, Answer],
    settled: Collection[int],
) -> Iterator[Reason]:
    """Yield a reason for each consumer requirement that a valid body may lack, but for some."""
    lacking = set() if body is None else set(missing_from(decision.pair, body))
    for wanted in decision.consumer.required_parts:
        answer = answers.get(len(decision.producer) + wanted, OPEN)
        if not (answer.is_found or wanted in lacking) or wanted in settled:
            continue
        # What this part refuses may be taken by another one, and be missing here all the same.
        is_inside = False
        for each in _on_promised(sides, decision, wanted, body or answer.body or ()):
            is_inside = True
            yield each
        if not is_inside:
            nearest = _optional_match(sides.producer, sides.consumer[wanted])
            yield Reason(
                "required-may-be-missing",
                producer_index=nearest,
                consumer_index=wanted,
                sides=sides,
                is_elsewhere=body is not None and wanted not in lacking,
            )


def _on_promised(
    sides: Sides, decision: Decision, wanted: int, body: Iterable[PartType]
) -> Iterator[Reason]:
    """Yield why a part that is always sent does not meet a requirement, if only what is inside."""
    taker = sides.consumer[wanted]
    for part in body:
        kind = part.content_type
        if taker.content_schema is None or not isinstance(kind, FilledType) or kind.value is None:
            continue
        for index in members(decision.pair.accepting_parts(part) & decision.pair.first):
            sender = sides.producer[index]
            if sender.required and contained((sender,), (taker,), lambda *_: True) is not None:
                yield from _content_not_accepted(sides, decision, index, wanted, part, part)
                return


def _optional_match(producer: MessageBodySchema, wanted: SchemaPart) -> int | None:
    """Return an optional producer part that could meet a requirement if it were required."""
    return next(
        (
            index
            for index, each in enumerate(producer)
            if each.name == wanted.name
            and not each.required
            # If the types are disjoint, requiring the part would not help.
            and not are_disjoint(each.content_type_pattern, wanted.content_type_pattern)
        ),
        None,
    )


def _on_overlap(sides: Sides, decision: Decision, verdict: str) -> Iterator[Reason]:
    if verdict == "never":
        if Decision(decision.consumer, NOTHING, decision.budget).valid_body() is None:
            yield Reason("consumer-unsatisfiable", sides=sides)
    elif not decision.pair.required and decision.shared_part() is None:
        yield Reason("only-empty-body-shared", sides=sides)


def _rejection(index: int, schema_part: SchemaPart, part: PartType) -> Rejection:
    by_name = schema_part.accepts_name(part.name)
    by_type = schema_part.content_type_pattern.matches_word(part.content_type)
    differs: Differs = "type" if by_name else "name" if by_type else "name and type"
    if by_name and by_type:
        differs = "content"
    label = schema_part.label
    return Rejection(index, f"unnamed {label}" if schema_part.name is None else label, differs)


def _closeness(schema_part: SchemaPart, part: PartType) -> tuple[bool, bool, int, int]:
    """Return a sort key: a matching name first, then a matching type, then common prefixes."""
    # Named and unnamed parts are unlikely to be confused.
    same_sort = (part.name is None) == (schema_part.name is None)
    return (
        schema_part.accepts_name(part.name),
        same_sort and schema_part.content_type_pattern.matches_word(part.content_type),
        common_prefix_length(part.name or "", schema_part.name or "") if same_sort else -1,
        common_prefix_length(part.content_type, schema_part.content_type.lower()),
    )


def _did_you_mean(part: SchemaPart, others: MessageBodySchema) -> str:
    """Return a hint if another schema has nearly the same name pattern."""
    if part.name is None or any(each.name == part.name for each in others):
        return ""
    names = [each.name for each in others if each.name is not None]
    close = nearest(part.name, names, _CLOSE)
    return f"{quote(part.name)} may be meant to be {quote(close)}" if close else ""
