"""Exchanges: what agents say to each other beside input and output, and whether both agree on it.

Notifications, interrupts, and kinds of one's own. Who speaks first states what it sends and the
answer it expects; who takes that kind states what it takes and the answer it gives.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

import attrs

from messagebody._core import DEFAULT_LIMITS, DEFAULT_STEPS, Limits, quote
from messagebody.compatibility import Compatibility, Verdict, check
from messagebody.errors import InvalidArgument, InvalidSchema
from messagebody.schema import MessageBodySchema

_MEMBERS: Final = ("sends", "takes", "answers")
_WORST_FIRST: Final = (Verdict.NEVER, Verdict.UNDECIDED, Verdict.SOMETIMES)
_LONGEST_KIND: Final = 100
"""How long the name of a kind may be."""
_MOST_KINDS: Final = 1_000
"""How many kinds are read of one agent."""


def _optional_schema(_: Any, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    if value is not None and not isinstance(value, MessageBodySchema):
        raise InvalidArgument(f"{attribute.name}, a MessageBodySchema or None", value)


@attrs.frozen
class Exchange:
    """The schemas of one kind of communication, as one agent states them.

    Arguments:
        sends: what it sends, if it speaks first; None if it never does.
        takes: what it takes, if the other speaks first; None if it does not take this kind.
        answers: the answer that it expects to what it sends, or gives to what it takes; None if
            there is no answer.

    Raises:
        InvalidArgument: one of them is no schema.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> Exchange(sends=text, answers=text)
        Exchange(sends=MessageBodySchema(1 part: required text/*), takes=None, \
answers=MessageBodySchema(1 part: required text/*))
    """

    sends: MessageBodySchema | None = attrs.field(default=None, validator=_optional_schema)
    takes: MessageBodySchema | None = attrs.field(default=None, validator=_optional_schema)
    answers: MessageBodySchema | None = attrs.field(default=None, validator=_optional_schema)

    def to_dict(self) -> dict[str, Any]:
        """Return the exchange as `from_dict` reads it."""
        stated = {member: getattr(self, member) for member in _MEMBERS}
        return {name: each.to_dicts() for name, each in stated.items() if each is not None}

    @classmethod
    def from_dict(cls, data: Any, *, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read an exchange from parsed JSON: an object with `sends`, `takes` and `answers`.

        Raises:
            InvalidSchema: it is none, or a schema in it breaks the rules.
        """
        if not isinstance(data, Mapping):
            raise InvalidSchema(f"an exchange is an object, got {quote(data)}")
        if unknown := sorted(data.keys() - set(_MEMBERS), key=str):
            shown = ", ".join(map(quote, unknown))
            raise InvalidSchema(f"unknown members {shown}; an exchange has {', '.join(_MEMBERS)}")
        return cls(**{
            member: MessageBodySchema.from_dicts(data[member], limits=limits)
            for member in _MEMBERS
            if data.get(member) is not None
        })  # fmt: skip


Exchanges = Mapping[str, Exchange]


def exchanges_of(data: Any, *, limits: Limits = DEFAULT_LIMITS) -> dict[str, Exchange]:
    """Read exchanges by kind from parsed JSON.

    Raises:
        InvalidSchema: they are none; says of which kind.
    """
    if not isinstance(data, Mapping):
        raise InvalidSchema(f"exchanges are an object, by kind; got {quote(data)}")
    if len(data) > _MOST_KINDS:
        raise InvalidSchema(f"{len(data):,} kinds of exchange are more than {_MOST_KINDS:,}")
    found = {}
    for kind, each in data.items():
        try:
            found[kind] = Exchange.from_dict(each, limits=limits)
        except InvalidSchema as error:
            raise InvalidSchema(f"exchange {quote(kind)}: {error}") from error
    return require_exchanges(found)


def require_exchanges(given: Any) -> dict[str, Exchange]:
    """Return exchanges by kind.

    Raises:
        InvalidArgument: they are none.
        InvalidSchema: the name of a kind is empty or too long.
    """
    if not isinstance(given, Mapping):
        raise InvalidArgument("exchanges, by kind", given)
    for kind, each in given.items():
        if not isinstance(kind, str) or not 0 < len(kind) <= _LONGEST_KIND:
            raise InvalidSchema(f"a kind of exchange is a text of 1 to {_LONGEST_KIND} characters, "
                                f"got {quote(kind)}")  # fmt: skip
        if not isinstance(each, Exchange):
            raise InvalidArgument("an Exchange for each kind", each)
    return dict(given)


@attrs.frozen
class Direction:
    """One direction of a kind: one agent speaks first, and the other answers.

    Arguments:
        speaker: the name of the agent that speaks first.
        taker: the name of the other.
        message: what is sent against what is taken; None if the kind is not taken.
        answer: the given answer against the expected one; None if none is expected or given.
        verdict: *never* if one of both is never or missing, *always* if both are always.
    """

    speaker: str
    taker: str
    message: Compatibility | None
    answer: Compatibility | None
    verdict: Verdict

    def __bool__(self) -> bool:
        return self.verdict is Verdict.ALWAYS

    def __str__(self) -> str:
        if self.message is None:
            return f"{quote(self.taker)} does not take it from {quote(self.speaker)}"
        if self.answer is None and not self:
            if self.message.verdict is self.verdict:
                return str(self.message)
            return f"{quote(self.speaker)} expects an answer, and {quote(self.taker)} gives none"
        answers = [self.message] if self.answer is None else [self.message, self.answer]
        return "\n".join(str(each) for each in answers if self or not each)


@attrs.frozen
class KindAnswer:
    """The answer for one kind of exchange; true only if its verdict is *always*.

    Arguments:
        kind: the kind.
        directions: the directions in which it is used.
    """

    kind: str
    directions: tuple[Direction, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all directions together."""
        return worst(direction.verdict for direction in self.directions)

    def __bool__(self) -> bool:
        return self.verdict is Verdict.ALWAYS

    def __str__(self) -> str:
        return f"{self.kind}: {self.verdict}\n" + "\n".join(map(str, self.directions))


def worst(verdicts: Iterator[Verdict]) -> Verdict:
    """Return the verdict of several things that are all needed."""
    found = {*verdicts}
    return next((each for each in _WORST_FIRST if each in found), Verdict.ALWAYS)


def check_direction(
    speaker: tuple[str, Exchange],
    taker: tuple[str, Exchange],
    *,
    lenient: bool = False,
    max_steps: int = DEFAULT_STEPS,
) -> Direction | None:
    """Decide one direction of a kind, for two names with their exchanges; None if it is not used.

    Arguments:
        speaker: who speaks first.
        taker: who takes it.
        lenient: who takes a body ignores parts it does not know.
        max_steps: the budget of each of both questions.
    """
    (name, first), (other, second) = speaker, taker
    if first.sends is None:
        return None
    if second.takes is None:
        return Direction(name, other, None, None, Verdict.NEVER)
    message = check(first.sends, second.takes, lenient=lenient, max_steps=max_steps)
    if first.answers is None:
        return Direction(name, other, message, None, message.verdict)
    if second.answers is None:
        return Direction(name, other, message, None, Verdict.NEVER)
    answer = check(second.answers, first.answers, lenient=lenient, max_steps=max_steps)
    return Direction(name, other, message, answer, worst(iter((message.verdict, answer.verdict))))


def check_kinds(
    one: tuple[str, Exchanges],
    other: tuple[str, Exchanges],
    *,
    lenient: bool = False,
    max_steps: int = DEFAULT_STEPS,
) -> dict[str, KindAnswer]:
    """Decide every kind that one of two agents sends, for two names with their exchanges.

    Without exchanges of one side, nothing is said: it does not state what it takes.
    """
    (name, mine), (second, theirs) = one, other
    found: dict[str, KindAnswer] = {}
    if not mine or not theirs:
        return found
    for kind in dict.fromkeys((*mine, *theirs)):
        a = name, mine.get(kind, _NONE)
        b = second, theirs.get(kind, _NONE)
        both = (
            check_direction(*pair, lenient=lenient, max_steps=max_steps)
            for pair in ((a, b), (b, a))
        )
        if directions := tuple(direction for direction in both if direction is not None):
            found[kind] = KindAnswer(kind, directions)
    return found


_NONE: Final = Exchange()
