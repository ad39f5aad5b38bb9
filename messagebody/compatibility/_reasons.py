"""Reasons for a verdict, as data; their texts follow from them."""

import difflib
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, takewhile
from typing import Final, Literal

import attrs

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import MAX_LENGTH
from messagebody._base.text import count_of, escape, quote
from messagebody.compatibility._solver.budget import OutOfBudget
from messagebody.compatibility._solver.containment import are_disjoint
from messagebody.compatibility._solver.decision import NOTHING, Decision, missing_from, rejected_by
from messagebody.compatibility._solver.languages import members
from messagebody.compatibility._solver.profile import PartType, Types
from messagebody.compatibility._solver.screen import OPEN, Answer
from messagebody.schema import MessageBodySchema, SchemaPart

Code = Literal[
    "part-not-accepted",
    "required-may-be-missing",
    "producer-unsatisfiable",
    "consumer-unsatisfiable",
    "only-empty-body-shared",
    "dead-part",
    "undecided",
]
Differs = Literal["name", "type", "name and type"]

_LISTED: Final = 20
_CLOSE: Final = 0.75


@attrs.frozen
class Rejection:
    """Why one schema part does not accept a message part.

    Arguments:
        schema_index: the schema part's index.
        label: what it accepts, in words.
        differs: what keeps the message part from matching.
    """

    schema_index: int
    label: str
    differs: Differs

    def __str__(self) -> str:
        return f"{self.label} (other {self.differs}; part {self.schema_index})"


@attrs.frozen
class Sides:
    """The schemas and the budget that an answer is about.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that is to accept them.
        steps: the budget of the answer.
    """

    producer: MessageBodySchema
    consumer: MessageBodySchema
    steps: int


@attrs.frozen
class Reason:
    """One reason for a verdict. The texts are made when they are first asked for.

    Arguments:
        code: `part-not-accepted`: the consumer accepts no such part; `required-may-be-missing`:
            a valid body of the producer may lack what the consumer requires;
            `producer-unsatisfiable`, `consumer-unsatisfiable`: no body is valid at all;
            `only-empty-body-shared`: nothing but the empty body is valid for both; `dead-part`:
            a producer part that no valid body can have; `undecided`: the budget ended first.
        part: the message part concerned, if the counterexample has it.
        producer_index: the producer's schema part concerned.
        consumer_index: the consumer's schema part concerned.
        sides: the schemas.
        rejected: a message part that the consumer rejects, whether or not it is shown.
        is_elsewhere: whether it takes another body than the counterexample to show it.
    """

    code: Code
    part: PartType | None = None
    producer_index: int | None = None
    consumer_index: int | None = None
    sides: Sides = attrs.field(kw_only=True, repr=False)
    rejected: PartType | None = attrs.field(default=None, kw_only=True, repr=False)
    is_elsewhere: bool = attrs.field(default=False, kw_only=True)

    @cached_property
    def summary(self) -> str:
        """The reason in words, without the rejections and the hint."""
        if self.code == "part-not-accepted":
            return self._on_rejected_part()
        if self.code == "required-may-be-missing":
            return self._on_missing_part()
        if self.code == "dead-part":
            return f"no valid body has {self._sender}"
        if self.code == "undecided":
            steps = f"{self.sides.steps:,}"
            return f"the budget of {steps} steps ended before all was decided"
        return _SUMMARIES[self.code]

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """Why each consumer part rejects the message part, nearest first."""
        return self.nearest(len(self.sides.consumer))

    def nearest(self, count: int) -> tuple[Rejection, ...]:
        """Return the first rejections, at less cost than all of them.

        Arguments:
            count: how many at most.
        """
        part, consumer = self.rejected, self.sides.consumer
        if part is None:
            return ()
        nearest = heapq.nlargest(
            count, range(len(consumer)), key=lambda i: _closeness(consumer[i], part)
        )
        return tuple([_rejection(index, consumer[index], part) for index in nearest])

    @property
    def rejecting(self) -> int:
        """How many consumer parts reject the message part."""
        return 0 if self.rejected is None else len(self.sides.consumer)

    @cached_property
    def hint(self) -> str:
        """What may have been meant; empty if nothing suggests itself."""
        producer, consumer = self.sides.producer, self.sides.consumer
        if self.producer_index is not None and self.code == "part-not-accepted":
            return _did_you_mean(producer[self.producer_index], consumer)
        if self.consumer_index is not None and self.producer_index is None:
            return _did_you_mean(consumer[self.consumer_index], producer)
        return ""

    @property
    def text(self) -> str:
        """The reason in words, with why each consumer part rejects the part."""
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

    def _on_missing_part(self) -> str:
        wanted = self.consumer_index or 0
        label = self.sides.consumer[wanted].label
        lacking = "another valid body" if self.is_elsewhere else "a valid body"
        text = f"consumer part {wanted} {label} is required, and {lacking} may lack it"
        return text if self.producer_index is None else f"{text}: {self._sender} is optional"


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
class Explanation:
    """The reasons for a verdict, and the counterexample that they speak of.

    Arguments:
        shown: the counterexample, with more parts that the consumer rejects added to it.
        reasons: why the verdict is what it is.
    """

    shown: Types | None
    reasons: tuple[Reason, ...]


def explain(
    sides: Sides, decision: Decision, verdict: str, found: Sequence[PartType] | None
) -> Explanation:
    """Explain a verdict, going on from what is decided.

    Arguments:
        sides: the schemas.
        decision: what was decided, with the steps that explaining may take.
        verdict: the verdict.
        found: the counterexample, if there is one.
    """
    # Going on from the decision: what the verdict settled is not searched again.
    answers = dict(decision.settle())
    shown = None if found is None else _readable(found, answers)
    reasons: list[Reason] = []
    try:
        if shown is not None:
            _add_rejected(shown, decision, answers)
        reasons.extend(_reasons(sides, decision, verdict, shown, answers))
        is_open = verdict == "undecided" or not all(each.is_settled for each in answers.values())
    except OutOfBudget:
        is_open = True
    # That nothing useful fits says more than why each part does not.
    reasons.sort(key=lambda reason: reason.code != "only-empty-body-shared")
    if is_open and verdict != "always":
        reasons.append(Reason("undecided", sides=sides))
    return Explanation(shown, tuple(reasons))


def _readable(found: Sequence[PartType], answers: Mapping[int, Answer]) -> Types:
    """Return the body that was found, or another one if readers take only that by default."""
    # Bodies are made when they are asked for, which mostly none but the first is; and only some are
    # tried, because each may have as many parts as there are answers.
    answered = islice((answer for answer in answers.values() if answer.is_found), _LISTED)
    others = (body for answer in answered if (body := answer.body) is not None)
    return list(next((body for body in chain([found], others) if is_readable(body)), found))


def is_readable(parts: Iterable[PartType]) -> bool:
    """Return whether readers take all names and content types by default."""
    longest = DEFAULT_LIMITS.name_length
    return exists(parts) and all(len(part.name or "") <= longest for part in parts)


def exists(parts: Iterable[PartType]) -> bool:
    """Return whether there can be such a body: patterns match content types of any length."""
    return all(len(part.content_type) <= MAX_LENGTH for part in parts)


def _add_rejected(shown: Types, decision: Decision, answers: Mapping[int, Answer]) -> None:
    """Add parts that the consumer rejects, until every producer part that can has sent one.

    A body stays valid for the producer if a part is added that it accepts, of another name.
    """
    pair = decision.pair
    # A name occurs once in a body, so the parts added take others.
    taken = {part.name for part in shown if part.name is not None}
    senders = 0
    for part in rejected_by(pair, shown):
        senders |= pair.hits(part)
    for index in range(len(decision.producer)):
        answer = answers.get(index, OPEN)
        if not answer.is_found or senders >> index & 1:
            continue
        rejected = rejected_by(pair, answer.body or ())
        own = next((each for each in rejected if pair.hits(each) >> index & 1), None)
        # Found in another body: here the name is taken, so another one is looked for.
        if own is None or own.name in taken:
            own = decision.rejected_part(index, taken)
        # A body that can be read stays one: what only longer names show is said without a part.
        if own is not None and is_readable([own]):
            shown.append(own)
            senders |= pair.hits(own)
            if own.name is not None:
                taken.add(own.name)


def _reasons(
    sides: Sides,
    decision: Decision,
    verdict: str,
    shown: Types | None,
    answers: Mapping[int, Answer],
) -> Iterator[Reason]:
    """Yield what decided first, then what else is worth knowing."""
    if shown is None and decision.valid_body() is None:
        yield Reason("producer-unsatisfiable", sides=sides)
        return
    if verdict != "always":
        yield from _on_rejected(sides, decision, shown or [], answers)
        yield from _on_missing(sides, decision, shown, answers)
        yield from _on_overlap(sides, decision, verdict)
    for index in range(len(sides.producer)):
        answer = decision.occurrence(index)
        if answer.is_refuted:
            yield Reason("dead-part", producer_index=index, sides=sides)
        elif not answer.is_settled:
            raise OutOfBudget


def _on_rejected(
    sides: Sides, decision: Decision, shown: Types, answers: Mapping[int, Answer]
) -> Iterator[Reason]:
    """Yield a reason for each rejected part that is shown, and for each producer part that can."""
    pair = decision.pair
    blamed: set[int] = set()
    examples: dict[int, PartType] = {}
    for part in rejected_by(pair, shown):
        senders = members(pair.hits(part) & pair.first)
        # Several producer parts may allow it: take one that has not been named yet.
        index = next((each for each in senders if each not in blamed), senders[0])
        blamed.add(index)
        yield _not_accepted(sides, index, part, part)
        for each in senders:
            examples.setdefault(each, part)
    for index in range(len(sides.producer)):
        answer = answers.get(index, OPEN)
        if answer.is_found and index not in blamed:
            rejected = rejected_by(pair, answer.body or ())
            part = next(each for each in rejected if pair.hits(each) >> index & 1)
            yield _not_accepted(sides, index, examples.get(index), part)


def _not_accepted(sides: Sides, index: int, shown: PartType | None, rejected: PartType) -> Reason:
    return Reason("part-not-accepted", shown, index, sides=sides, rejected=shown or rejected)


def _on_missing(
    sides: Sides, decision: Decision, shown: Types | None, answers: Mapping[int, Answer]
) -> Iterator[Reason]:
    """Yield a reason for each requirement that a valid body may lack, shown or not."""
    lacking = set() if shown is None else set(missing_from(decision.pair, shown))
    for wanted in decision.consumer.required_parts:
        answer = answers.get(len(decision.producer) + wanted, OPEN)
        if answer.is_found or wanted in lacking:
            nearest = _optional_match(sides.producer, sides.consumer[wanted])
            yield Reason(
                "required-may-be-missing",
                producer_index=nearest,
                consumer_index=wanted,
                sides=sides,
                is_elsewhere=shown is not None and wanted not in lacking,
            )


def _optional_match(producer: MessageBodySchema, wanted: SchemaPart) -> int | None:
    """Return the optional producer part that, if it were required, could meet a requirement."""
    return next(
        (
            index
            for index, each in enumerate(producer)
            if each.name == wanted.name
            and not each.required
            # With nothing in common, requiring the part would not help.
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
    by_type = schema_part.content_type_pattern.matches_essence(part.content_type)
    differs: Differs = "type" if by_name else "name" if by_type else "name and type"
    label = schema_part.label
    return Rejection(index, f"unnamed {label}" if schema_part.name is None else label, differs)


def _closeness(schema_part: SchemaPart, part: PartType) -> tuple[bool, bool, int, int]:
    """Return a sort key: a right name counts most, then a right type, then common beginnings."""
    # A part with a name is never meant to be one without.
    same_sort = (part.name is None) == (schema_part.name is None)
    return (
        schema_part.accepts_name(part.name),
        same_sort and schema_part.content_type_pattern.matches_essence(part.content_type),
        _shared(part.name or "", schema_part.name or "") if same_sort else -1,
        _shared(part.content_type, schema_part.content_type.lower()),
    )


def _shared(word: str, pattern: str) -> int:
    pairs = zip(word, pattern, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _did_you_mean(part: SchemaPart, others: MessageBodySchema) -> str:
    """Return a hint where another schema spells nearly the same name pattern."""
    if part.name is None or any(each.name == part.name for each in others):
        return ""
    names = [each.name for each in others if each.name is not None]
    close = difflib.get_close_matches(part.name, names, n=1, cutoff=_CLOSE)
    return f"{quote(part.name)} may be meant to be {quote(close[0])}" if close else ""
