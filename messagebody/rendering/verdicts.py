"""Verdicts in words: the answer to a comparison of two schemas, and its reasons."""

from collections.abc import Iterator
from typing import Final

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._text import count_of, escape
from messagebody.rendering.tables import PLAIN, Cell, Palette, align, folded, listing

# The most consumer parts that are listed one by one.
_REJECTIONS: Final = 10
_LONGEST: Final = 2_000
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
          part '/a' image/png, allowed by producer part 0 '/a' image/*, is
            accepted by no consumer part:
            0  '/b' */*  other name
          the empty body is all that is valid for both
        a message the producer may send and the consumer refuses:
          67 B  image/png  /a
    """
    return [
        palette(str(result.verdict), _ROLES.get(result.verdict, "no")),
        *folded([note] if note else [], width),
        *(line for reason in result.reasons for line in _on_reason(reason, palette, width)),
        *_on_counterexample(result.counterexample, palette, width),
    ]


def _on_reason(
    reason: "messagebody.compatibility.Reason", palette: Palette, width: int | None
) -> Iterator[str]:
    """Yield a reason, a line for each consumer part that refuses, and a hint."""
    end = ":" if reason.rejections else ""
    yield from folded([f"  {escape(reason.summary, limit=_LONGEST)}{end}"], width)
    rows = [
        [
            Cell(f"{each.schema_index}", "dim", right=True),
            Cell(each.label),
            Cell(f"other {each.differs}", "no"),
        ]
        for each in reason.rejections[:_REJECTIONS]
    ]
    yield from _indented(align(rows, palette=palette, width=_less(width, 4)), 4)
    if len(reason.rejections) > _REJECTIONS:
        yield f"    and {count_of(len(reason.rejections) - _REJECTIONS, 'more part')}"
    if reason.hint:
        hint = folded([f"    {escape(reason.hint, limit=_LONGEST)}"], width)
        yield from (palette(line, "maybe") for line in hint)


def _on_counterexample(
    body: "messagebody.MessageBody | None", palette: Palette, width: int | None
) -> Iterator[str]:
    if body is not None:
        yield "a message the producer may send and the consumer refuses:"
        yield from _indented(listing(body, palette=palette, width=_less(width, 2)), 2)


def _indented(lines: list[str], columns: int) -> list[str]:
    return [" " * columns + line for line in lines]


def _less(width: int | None, columns: int) -> int | None:
    return None if width is None else width - columns
