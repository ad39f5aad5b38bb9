"""Verdicts in words: the answer to a comparison of two schemas, and its reasons."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import DEFAULT_LIMITS, MAX_LENGTH, count_of, escape
from messagebody.rendering._tables import PLAIN, Cell, Palette, align, folded, listing, preview

REASONS: Final = 20
"""The most reasons that are told one by one; all are in the data of the answer."""
REJECTIONS: Final = 10
"""The most consumer parts that are listed one by one."""
_LONGEST: Final = 2_000
"""Characters of a reason; what strangers wrote may be longer."""
_CONTENT: Final = 300
"""Characters of a content; the body has the rest."""
# Other verdicts are "no": both sometimes and never mean that the pair does not fit.
_ROLES: Final = {"always": "yes", "undecided": "maybe"}


def explanation(
    result: "messagebody.Compatibility",
    *,
    palette: Palette = PLAIN,
    width: int | None = None,
    note: str = "",
) -> list[str]:
    """Return the lines of an answer to `check`: the verdict, its reasons, a counterexample.

    Arguments:
        result: the answer.
        palette: paints what matters most.
        width: columns to keep to; None for any.
        note: a line after the verdict.

    Examples:
        >>> from messagebody import MessageBodySchema, check
        >>> sender = MessageBodySchema([("/a", "image/*")])
        >>> for line in explanation(check(sender, MessageBodySchema([("/b",)])), width=70):
        ...     print(line)
        sometimes
          only the empty body is valid for both
          part '/a' image/png, allowed by producer part 0 '/a' image/*, is
            accepted by no consumer part:
            other name  '/b' */*  part 0
        a message the producer may send and the consumer refuses:
          67 B  image/png  /a
    """
    shown = result.reasons[:REASONS]
    return [
        palette(str(result.verdict), _ROLES.get(result.verdict, "no")),
        *folded([note] if note else [], width),
        *(line for group in grouped(shown) for line in _on_group(group, palette, width)),
        *([f"  {more_reasons(result)}"] if more_reasons(result) else []),
        *_on_counterexample(result, palette, width),
    ]


def more_reasons(result: "messagebody.Compatibility") -> str:
    """Return how many reasons are not shown, in words; empty if all are."""
    more = len(result.reasons) - REASONS
    return f"and {count_of(more, 'more reason')}" if more > 0 else ""


def grouped(
    reasons: Iterable["messagebody.compatibility.Reason"],
) -> list[list["messagebody.compatibility.Reason"]]:
    """Return reasons in groups: those about what is inside one part together."""
    groups = itertools.groupby(
        enumerate(reasons),
        lambda each: each[0] if each[1].difference is None else each[1].subject,
    )
    return [[reason for _, reason in group] for _, group in groups]


def _on_group(
    group: Sequence["messagebody.compatibility.Reason"], palette: Palette, width: int | None
) -> Iterator[str]:
    """Yield reasons; of several about one part, the part is told once."""
    if len(group) == 1:
        yield from _on_reason(group[0], palette, width)
        return
    yield from folded([f"  {escape(group[0].subject, limit=_LONGEST)}:"], width)
    for each in group:
        yield from folded([f"    {escape(str(each.difference), limit=_LONGEST)}"], width)


def _on_reason(
    reason: "messagebody.compatibility.Reason", palette: Palette, width: int | None
) -> Iterator[str]:
    """Yield a reason, a line for each consumer part that refuses, and a hint."""
    end = ":" if reason.rejecting else ""
    yield from folded([f"  {escape(reason.summary, limit=_LONGEST)}{end}"], width)
    rows = [
        [
            Cell(f"other {each.differs}", "no"),
            Cell(each.label),
            Cell(f"part {each.schema_index}", "dim"),
        ]
        for each in reason.nearest(REJECTIONS)
    ]
    yield from _indented(align(rows, palette=palette, width=_less(width, 4)), 4)
    if reason.rejecting > REJECTIONS:
        yield f"    and {count_of(reason.rejecting - REJECTIONS, 'more part')}"
    if reason.hint:
        hint = folded([f"    {escape(reason.hint, limit=_LONGEST)}"], width)
        yield from (palette(line, "maybe") for line in hint)


def _on_counterexample(
    result: "messagebody.Compatibility", palette: Palette, width: int | None
) -> Iterator[str]:
    yield from folded(on_counterexample(result), width)
    if result.counterexample:
        rows = listing(result.counterexample, palette=palette, width=_less(width, 2))
        looking = [
            each
            for each in itertools.chain(result.producer, result.consumer)
            if each.content_schema is not None
        ]
        for row, part in zip(rows, result.counterexample, strict=True):
            yield from _indented([row], 2)
            if not any(each.accepts(part.name, part.content_type) for each in looking):
                continue
            # The row of an unnamed part has the beginning of it already.
            is_told = part.name is None and preview(part) == f'"{part.text}"'
            if part.text and not is_told:
                yield from folded([f"    {escape(part.text, limit=_CONTENT)}"], width)


def on_counterexample(result: "messagebody.Compatibility") -> list[str]:
    """Return what there is to say of a counterexample, before its parts are listed."""
    if result.counterexample_types is None:
        return []
    body, text = result.counterexample, "a message the producer may send and the consumer refuses"
    if body is None:
        longest = max(len(part.content_type) for part in result.counterexample_types)
        wanted = f"the patterns ask for a content type of {longest:,} characters"
        return [f"no message shows it: {wanted}, and at most {MAX_LENGTH:,} are allowed"]
    if not body:
        return ["the producer may send a message without parts, which the consumer refuses"]
    longest, limit = max(map(len, body.names()), default=0), DEFAULT_LIMITS.name_length
    if longest > limit:
        text += f" (it has a name of {longest:,} characters; readers take {limit:,} by default)"
    return [f"{text}:"]


def _indented(lines: list[str], columns: int) -> list[str]:
    return [" " * columns + line for line in lines]


def _less(width: int | None, columns: int) -> int | None:
    return None if width is None else width - columns
