"""Contents in a search for part types: which schema parts can take one content, and which others.

A part of a JSON type holds a JSON value, or something that is none. Only the schema parts that say
what is inside tell contents apart, so a content stands for all that the same ones of them take.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import attrs

from messagebody._base.budget import Budget, OutOfBudget
from messagebody._base.text import count_of, quote
from messagebody.compatibility._solver.part_types import FilledType, Value
from messagebody.globs import ContentTypePattern, content_type_pattern
from messagebody.schema import ContentSchema
from messagebody.schema._contents import JSON_TYPES

if TYPE_CHECKING:
    from messagebody.compatibility._contents._question import ContentQuestions

_CACHED: Final = 4_096
_EMPTY: Final[Value] = ({},)
"""The content to begin with: an empty object."""


@attrs.frozen
class Undecided:
    """Why a question was left open.

    Arguments:
        keyword: the keyword that decides, or `depth` or `size` of the values, or `budget`.
        place: a JSON Pointer to it in its schema.
    """

    keyword: str
    place: str = ""


@attrs.frozen
class Difference:
    """A rule of the consumer's that contents of the producer may break.

    Arguments:
        pointer: the place in the content, a JSON Pointer.
        sent: what may be sent there, in words.
        taken: what is taken there, in words.
        name: the member that is required and may be missing, if that is the rule.
        elsewhere: at how many other places the same is sent and taken; None if they hold themselves
            and so are without end.
        others: these places, if they are few.
        kind: what is taken of the member that is required, in words, if the producer says nothing
            of it.
        where: which values this is about, in words, if only some.

    Examples:
        >>> print(Difference("/title", "null", "text", elsewhere=2, others=("/a", "/b")))
        at '/title', '/a' and '/b', the producer may send null; the consumer takes text
        >>> print(Difference("/home", "", "/zip", "zip", 9, kind="text"))
        the consumer requires '/home/zip' and at 9 other places (text), which the producer may \
leave out
    """

    pointer: str
    sent: str
    taken: str
    name: str | None = None
    elsewhere: int | None = 0
    others: tuple[str, ...] = ()
    kind: str = ""
    where: str = ""

    def __str__(self) -> str:
        return self.in_words(
            "the consumer requires {places}{kind}, which the producer may leave out",
            "{place}the producer may send {sent}; the consumer takes {taken}",
        )

    def in_words(self, required: str, sent: str) -> str:
        """Return the difference in words of those whom it is about.

        Arguments:
            required: what to say of a required member, with `{places}` and `{kind}`.
            sent: what to say of other values, with `{place}`, `{sent}` and `{taken}`.
        """
        if self.name is not None:
            kind = f" ({self.kind})" if self.kind else ""
            text = required.format(places=self._places(self.taken), kind=kind)
        else:
            place = f"at {self._places()}, " if self.pointer or self.elsewhere != 0 else ""
            text = sent.format(place=place, sent=self.sent, taken=self.taken)
        return f"{text}, {self.where}" if self.where else text

    def _places(self, end: str = "") -> str:
        first = quote(f"{self.pointer}{end}") if self.pointer or end else "the top"
        if self.elsewhere is None:
            return f"{first} and wherever it holds itself"
        if self.others:
            *more, last = (quote(f"{each}{end}") for each in self.others)
            return f"{', '.join([first, *more])} and {last}"
        return (
            f"{first} and at {count_of(self.elsewhere, 'other place')}" if self.elsewhere else first
        )


class OpenContents(OutOfBudget):
    """End a search because it is not known which contents there are.

    Arguments:
        why: the question that was left open.
    """

    def __init__(self, why: Undecided) -> None:
        super().__init__(why)
        self.why = why


def takes(schema: ContentSchema, kind: str) -> bool:
    """Return whether a schema takes the content that a type is filled with."""
    if not isinstance(kind, FilledType) or kind.value is None:
        return False
    return _takes(schema, kind.value[0])


def _takes(schema: ContentSchema, value: Any) -> bool:
    from messagebody.schema._library import TooCostly

    try:
        return schema.validator.is_valid(value)
    except TooCostly as error:
        raise OpenContents(Undecided("size")) from error


@lru_cache(_CACHED)
def json_types(pattern: ContentTypePattern) -> ContentTypePattern:
    """Return a pattern of the JSON types that a pattern matches.

    Raises:
        OutOfBudget: it would be too large.
    """
    if pattern.literal is not None:
        return pattern
    # Loaded here, because few schemas say what is inside.
    from messagebody.compatibility._solver.intersection import intersection

    kinds = intersection(pattern, content_type_pattern(JSON_TYPES), Budget())
    if kinds is None:
        raise OutOfBudget
    return content_type_pattern(kinds[0] if len(kinds) == 1 else "{" + ",".join(kinds) + "}")


def content_choices(
    contents: Sequence[tuple[ContentSchema, bool]], questions: "ContentQuestions", budget: Budget
) -> Iterator[tuple[tuple[bool, ...], Value]]:
    """Yield what may be taken at once of some contents, with a content of which that is true.

    The first is what is wished for, if that may be.

    Arguments:
        contents: schemas of contents, each with whether it is wished that it takes the content.
        questions: answers whether there is a value.
        budget: the budget.

    Raises:
        OpenContents: some may be missing, because a question was left open.
        OutOfBudget: the budget ended first.
    """
    left: Undecided | None = None
    # All that is wished for at once often decides, and takes one question.
    wishes = tuple([is_wished for _, is_wished in contents])
    ideal = _value(contents, wishes, questions) if len(contents) > 1 else None
    if ideal is not None and not isinstance(ideal, Undecided):
        yield wishes, ideal
    stack: list[tuple[tuple[bool, ...], Value]] = [((), _EMPTY)]
    while stack:
        taken, value = stack.pop()
        budget.spend(1)
        if len(taken) == len(contents):
            yield taken, value
            continue
        schema, is_wished = contents[len(taken)]
        holds = value is not None and _takes(schema, value[0])
        for takes in (not is_wished, is_wished):
            chosen = (*taken, takes)
            if takes is holds:
                stack.append((chosen, value))
                continue
            # What is not JSON is taken by none of them.
            answer = _value(contents, chosen, questions)
            if isinstance(answer, Undecided) and any(chosen):
                left = answer
            elif answer is not None or not any(chosen):
                stack.append((chosen, None if isinstance(answer, Undecided) else answer))
    if left is not None:
        raise OpenContents(left)


def _value(
    contents: Sequence[tuple[ContentSchema, bool]],
    chosen: Sequence[bool],
    questions: "ContentQuestions",
) -> Value | Undecided:
    sides = ([], [])  # type: tuple[list[ContentSchema], list[ContentSchema]]
    for (schema, _), takes in zip(contents, chosen, strict=False):
        sides[not takes].append(schema)
    return questions.ask(*sides)
