"""Verdicts in words: the answer to a comparison of two schemas, and its reasons."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

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
    result: "messagebody.Compatibility", *, palette: Palette = PLAIN, width: int | None = None
) -> list[str]:
    """Return the lines of an answer to `check`: the verdict, its reasons, a counterexample.

    Arguments:
        result: the answer.
        palette: paints what matters most.
        width: columns to keep to; None for any.

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
    return [
        palette(str(result.verdict), _ROLES.get(result.verdict, "no")),
        *(line for each in paragraphs(result) for line in _lines_of(each, palette, width)),
        *_on_counterexample(result, palette, width),
    ]


class Paragraph(NamedTuple):
    """What is said of one part, or of several reasons about what is inside it.

    Arguments:
        text: a sentence.
        points: what differs inside of the part.
        rows: the consumer parts that refuse it: what differs, their patterns and their numbers.
        more: how many consumer parts are not among the rows.
        hint: what could be done.
    """

    text: str
    points: Sequence[str] = ()
    rows: Sequence[tuple[str, str, str]] = ()
    more: int = 0
    hint: str = ""


def paragraphs(result: "messagebody.Compatibility") -> Iterator[Paragraph]:
    """Yield the reasons of an answer in words; those about what is inside one part together."""
    groups = itertools.groupby(
        enumerate(result.reasons[:REASONS]),
        lambda each: each[0] if each[1].difference is None else each[1].subject,
    )
    for _, group in groups:
        first, *others = (reason for _, reason in group)
        if others:
            points = [_cut(str(each.difference)) for each in (first, *others)]
            yield Paragraph(f"{_cut(first.subject)}:", points)
        else:
            rows = [
                (f"other {each.differs}", each.label, f"part {each.schema_index}")
                for each in first.nearest(REJECTIONS)
            ]
            text = f"{_cut(first.summary)}{':' if first.rejecting else ''}"
            yield Paragraph(text, (), rows, first.rejecting - len(rows), _cut(first.hint or ""))
    if (more := len(result.reasons) - REASONS) > 0:
        yield Paragraph(f"and {count_of(more, 'more reason')}")


def _cut(text: str) -> str:
    return escape(text, limit=_LONGEST)


def _lines_of(paragraph: Paragraph, palette: Palette, width: int | None) -> Iterator[str]:
    yield from folded([f"  {paragraph.text}"], width)
    yield from folded([f"    {point}" for point in paragraph.points], width)
    rows = [
        [Cell(differs, "no"), Cell(label), Cell(number, "dim")]
        for differs, label, number in paragraph.rows
    ]
    yield from _indented(align(rows, palette=palette, width=_less(width, 4)), 4)
    if paragraph.more:
        yield f"    and {count_of(paragraph.more, 'more part')}"
    hint = folded([f"    {paragraph.hint}"] if paragraph.hint else [], width)
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
