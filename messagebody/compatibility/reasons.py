"""Why a verdict is what it is: findings as data, and the words that follow from them."""

import difflib
from collections.abc import Sequence
from itertools import takewhile
from typing import Final, Literal

import attrs

from messagebody._text import count_of, escape, quote
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.solver.profile import PartType

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
        return f"{self.schema_index} {self.label} ({self.differs})"


@attrs.frozen
class Reason:
    """One reason for a verdict.

    Arguments:
        code: `part-not-accepted`: the consumer accepts no such part; `required-may-be-missing`:
            a valid body of the producer may lack what the consumer requires;
            `producer-unsatisfiable`, `consumer-unsatisfiable`: no body is valid at all;
            `only-empty-body-shared`: nothing but the empty body is valid for both; `dead-part`:
            a producer part that no valid body can have; `undecided`: the budget ended first.
        summary: the reason in words; `text` adds the rejections, and `str` the hint.
        part: the message part concerned, if the counterexample has it.
        producer_index: the producer's schema part concerned.
        consumer_index: the consumer's schema part concerned.
        rejections: why each consumer part refuses the message part, nearest first.
        hint: what may have been meant; empty if nothing suggests itself.
    """

    code: Code
    summary: str
    part: PartType | None = None
    producer_index: int | None = None
    consumer_index: int | None = None
    rejections: tuple[Rejection, ...] = ()
    hint: str = ""

    @property
    def text(self) -> str:
        """The reason in words, with why each consumer part refuses."""
        if not self.rejections:
            return self.summary
        return f"{self.summary}: {_listed(self.rejections)}"

    def __str__(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text


def describe_part(part: PartType) -> str:
    """Return a message part in words.

    Examples:
        >>> describe_part(PartType("/a", "text/plain")), describe_part(PartType(None, "image/png"))
        ("'/a' text/plain", 'an unnamed image/png')
    """
    kind = escape(part.content_type, limit=200)
    return f"an unnamed {kind}" if part.name is None else f"{quote(part.name)} {kind}"


def stray_part(
    part: PartType, producer: MessageBodySchema, consumer: MessageBodySchema, *, is_shown: bool
) -> Reason:
    """Explain a part that the producer may send and the consumer does not accept.

    Arguments:
        part: the message part.
        producer: who may send it.
        consumer: who does not accept it.
        is_shown: whether the counterexample has it; only then the text names it.
    """
    sender = next(i for i, each in enumerate(producer) if each.accepts(*part))
    rejections = sorted(
        (_rejection(index, each, part) for index, each in enumerate(consumer)),
        key=lambda rejection: _closeness(consumer[rejection.schema_index], part),
        reverse=True,
    )
    allowed = f"producer part {sender} {producer[sender].label}"
    if is_shown:
        text = f"part {describe_part(part)}, allowed by {allowed}, is accepted by no consumer part"
    else:
        text = f"in other messages, {allowed} allows a part that no consumer part accepts"
    if not rejections:
        text += ": it accepts only the empty body"
    return Reason(
        "part-not-accepted",
        text,
        part=part if is_shown else None,
        producer_index=sender,
        rejections=tuple(rejections),
        hint=_did_you_mean(producer[sender], consumer),
    )


def missing_part(wanted: int, producer: MessageBodySchema, consumer: MessageBodySchema) -> Reason:
    """Explain a part that the consumer requires and a body of the producer may lack."""
    part = consumer[wanted]
    overlapping = [
        index for index, each in enumerate(producer) if each.name == part.name and not each.required
    ]
    text = f"consumer part {wanted} {part.label} is required, and a valid body may lack it"
    nearest = overlapping[0] if overlapping else None
    if nearest is not None:
        text += f": producer part {nearest} {producer[nearest].label} is optional"
    return Reason(
        "required-may-be-missing",
        text,
        producer_index=nearest,
        consumer_index=wanted,
        hint="" if nearest is not None else _did_you_mean(part, producer),
    )


def _listed(rejections: Sequence[Rejection]) -> str:
    more = len(rejections) - _LISTED
    shown = [str(rejection) for rejection in rejections[:_LISTED]]
    shown += [f"and {count_of(more, 'more part')}"] if more > 0 else []
    return ", ".join(shown)


def _rejection(index: int, schema_part: SchemaPart, part: PartType) -> Rejection:
    by_name = schema_part.accepts_name(part.name)
    by_type = schema_part.content_type_pattern.matches_essence(part.content_type)
    differs: Differs = "type" if by_name else "name" if by_type else "name and type"
    return Rejection(index, schema_part.label, differs)


def _closeness(schema_part: SchemaPart, part: PartType) -> tuple[bool, bool, int, int]:
    """Return a sort key: a right name counts most, then a right type, then common beginnings."""
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
