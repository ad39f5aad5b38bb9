"""The contract of all adapters: conversions, what they lose, and the kinds of formats."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    runtime_checkable,
)

import attrs

import messagebody
from messagebody._core import DEFAULT_LIMITS, FoundTuple, Limits, escape, quote, require_iterable
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument, LossyConversion
from messagebody.storage import Resolver

if TYPE_CHECKING:
    import messagebody.findings

T = TypeVar("T")

BODY: Final = "body"
"""The name of the format of bodies; the other formats have the names of their adapters."""


class LossKind(StrEnum):
    """How much of something a conversion lost."""

    CONVERTED = "converted"
    """Still there and meaning the same, in another form."""

    DOWNGRADED = "downgraded"
    """Still there, with less meaning."""

    OMITTED = "omitted"
    """Not there any more."""


class Affected(StrEnum):
    """What of a message a loss affects."""

    CONTENT = "content"
    """Something that a person or a model reads: it is not there, or may not arrive."""

    FORM = "form"
    """How it is said: all of the content is there, in another form or another place."""

    LABELS = "labels"
    """What is said about it: names, types, ids, sizes, digests, roles and other metadata."""


_LIKELY: Final = {
    LossKind.OMITTED: Affected.CONTENT,
    LossKind.DOWNGRADED: Affected.CONTENT,
    LossKind.CONVERTED: Affected.FORM,
}
"""What a loss affects if it does not say so."""


@attrs.frozen
class Loss:
    """Say what a conversion lost, where, and why.

    Arguments:
        kind: a `LossKind`, or its text.
        where: the place in the source, such as "metadata.attachments[0].data" or "part 2".
        why: one clause; for a person.
        affects: what is lost, an `Affected` or its text; by default the form if something is
            "converted", else content.
        message: the position of the message in a conversation, None for a message alone.

    Examples:
        >>> loss = Loss("omitted", "tool_calls", "the envelope has no such member", message=3)
        >>> str(loss), loss.message, str(loss.affects)
        ('omitted message 3: tool_calls: the envelope has no such member', 3, 'content')
    """

    kind: LossKind = attrs.field(converter=LossKind)
    where: str
    why: str
    affects: Affected = attrs.field(
        default=attrs.Factory(lambda self: _LIKELY[self.kind], takes_self=True),
        converter=Affected, kw_only=True,
    )  # fmt: skip
    message: int | None = attrs.field(default=None, kw_only=True)

    def __str__(self) -> str:
        whose = "" if self.message is None else f"message {self.message}: "
        return f"{self.kind} {whose}{escape(self.where, limit=200)}: {self.why}"


_NONE: Final[FoundTuple[Loss]] = FoundTuple()


class _Conversion(NamedTuple, Generic[T]):
    value: T
    losses: tuple[Loss, ...] = ()


class Converted(_Conversion[T]):
    """Hold the result of a conversion and what it lost; true only when it lost nothing.

    It unpacks into value and losses.

    Arguments:
        value: the result.
        losses: every `Loss`, in the order of the source.
        rest: the members of a message that are not content, such as its role and ids, as a JSON
            value. The adapter's `from_body` takes it back as `rest`. None if the value holds
            everything.

    Examples:
        >>> value, losses = Converted("a body")
        >>> losses
        ()
        >>> Converted("a body").or_raise()
        'a body'
    """

    rest: Any = None

    def __new__(cls, value: T, losses: Iterable[Loss] = (), rest: Any = None) -> Self:
        made: Self = tuple.__new__(cls, (value, FoundTuple(losses) if losses else _NONE))
        made.rest = rest
        return made

    def __bool__(self) -> bool:
        return not self.losses

    def __repr__(self) -> str:
        rest = "" if self.rest is None else f", rest={self.rest!r}"
        return f"Converted({self.value!r}, {self.losses!r}{rest})"

    def or_raise(self, *affected: str) -> T:
        """Return the value if nothing was lost that matters.

        Arguments:
            *affected: what matters, of "content", "form" and "labels"; by default, all of them.

        Raises:
            LossyConversion: that was lost; the error holds the losses.
            InvalidArgument: losses do not affect such a thing.

        Examples:
            >>> loss = Loss("omitted", "part 0", "there is no place for its size", affects="labels")
            >>> Converted("a message", [loss]).or_raise("content", "form")
            'a message'
        """
        if lost := losses_of(self.losses, affected):
            raise LossyConversion(lost)
        return self.value


def losses_of(losses: Iterable[Loss], affected: Iterable[str]) -> list[Loss]:
    """Return the losses that affect some things; all losses if nothing is named.

    Raises:
        InvalidArgument: losses do not affect such a thing.
    """
    wanted = {*affected}
    if unknown := [each for each in wanted if each not in [*Affected]]:
        expected = "what losses affect: 'content', 'form' or 'labels'"
        raise InvalidArgument(expected, got=quote(unknown[0]))
    return [loss for loss in losses if not wanted or loss.affects in wanted]


class Adapter(Protocol):
    """A foreign format: a module or an object with these four functions.

    `Format`, `Envelope` and `Archive` have more. Each kind takes its own options, too.
    """

    def to_body(
        self, message: Any, /, *, limits: Limits = DEFAULT_LIMITS
    ) -> Converted["messagebody.MessageBody"]:
        """Return the body of a foreign message, given as parsed JSON or as JSON text."""

    def from_body(self, body: "messagebody.MessageBody", /, *, rest: Any = None) -> Converted[Any]:
        """Return the foreign message that carries a body, as a JSON value or exact text.

        `rest` may be what `to_body` of any format returned; of another format only the role counts.
        """

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like this format."""

    def iter_findings(self, message: Any, /) -> Iterator["messagebody.findings.Finding"]:
        """Yield a finding for each rule of the format that a message breaks."""


@runtime_checkable
class Envelope(Adapter, Protocol):
    """Messages that carry one content between programs, with rules that they can be checked by."""

    def to_body(
        self, message: Any, /, *, rest: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Converted["messagebody.MessageBody"]:
        """Return the body of a message, with its `rest` "beside" it or in a "part" of it."""

    def from_body(
        self,
        body: "messagebody.MessageBody",
        /,
        *,
        rest: Any = None,
        role: str | None = None,
        header: Mapping[str, Any] | None = None,
    ) -> Converted[Any]:
        """Return the message that carries a body.

        `role` and `header` say what a body from elsewhere does not: who speaks, and the members of
        the message beside its content.
        """

    def to_bodies(
        self, messages: Iterable[Any], /, **options: Any
    ) -> Converted[list["messagebody.MessageBody"]]:
        """Return the body of each message; `rest` is the list of their rests."""

    def from_bodies(
        self,
        bodies: Iterable["messagebody.MessageBody"],
        /,
        *,
        rest: Sequence[Any] = (),
        **options: Any,
    ) -> Converted[list[Any]]:
        """Return the message of each body."""

    def is_valid(self, message: Any, /) -> bool:
        """Return whether a message breaks no rule."""

    def validate(self, message: Any, /) -> None:
        """Raise `EnvelopeError` with all findings if a message breaks a rule."""


@runtime_checkable
class Archive(Adapter, Protocol):
    """Files in one file: bytes, not JSON."""

    def to_body(
        self,
        source: Any,
        /,
        *,
        into: str | os.PathLike[str] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        max_bytes: int | None = None,
    ) -> Converted["messagebody.MessageBody"]:
        """Return the body of the files, with their content in memory or in a directory."""

    def from_body(
        self,
        body: "messagebody.MessageBody",
        /,
        *,
        rest: Any = None,
        resolver: Resolver | None = None,
    ) -> Converted[bytes]:
        """Return the bytes of the archive of a body; without a resolver, no reference is read."""

    def write(
        self,
        body: "messagebody.MessageBody",
        file: BinaryIO,
        /,
        *,
        resolver: Resolver | None = None,
    ) -> list[Loss]:
        """Write the archive of a body to a file, part by part, and return what was lost."""


def converted_each(
    values: Iterable[Any], convert: Callable[[Any], Converted[T]]
) -> Converted[list[T]]:
    """Convert all messages; losses and errors name the position of their message.

    Arguments:
        values: the messages, or the bodies.
        convert: converts one of them.

    Raises:
        EnvelopeError, DecodeError: one can't be converted; the text says which.
        InvalidArgument: the values are one message, and not several.

    Examples:
        >>> read = converted_each(["a", "b"], lambda text: Converted(text.upper()))
        >>> read.value
        ['A', 'B']
    """
    made: list[T] = []
    losses: list[Loss] = []
    left = []
    one = "to_body(…) reads one message"
    for number, value in enumerate(require_iterable(values, "messages in a list", hint=one)):
        try:
            done = convert(value)
        except EnvelopeError as error:
            raise EnvelopeError(f"message {number}: {error.problem}", error.findings) from error
        except DecodeError as error:
            raise DecodeError(f"message {number}: {error.statement}") from error
        made.append(done.value)
        left.append(done.rest)
        if done.losses:
            losses += [in_message(number, loss) for loss in done.losses]
    return Converted(made, losses, left)


def in_message(number: int, loss: Loss) -> Loss:
    """Return a loss that names the message that it is of."""
    return attrs.evolve(loss, message=number)


def left_behind(rest: Any, why: str) -> tuple[Loss, ...]:
    """Return a loss for each member of a message that a reader misses if its rest is left behind.

    Arguments:
        rest: what `to_body` of any format returned as `rest`.
        why: why it is left behind.

    Raises:
        EnvelopeError: `rest` is something else.
    """
    missed = rest.get("missed", []) if isinstance(rest, dict) else []
    if not isinstance(missed, list):
        raise EnvelopeError("rest is not what to_body returned: 'missed' is not a list")
    return tuple(Loss(LossKind.OMITTED, escape(str(name), limit=100), why) for name in missed)
