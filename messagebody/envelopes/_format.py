"""What the four envelopes share: what they take, and where the rest of a message is kept.

A message is taken apart into the parts of a body and what is left: the members beside the content
as an object, or the exact text of the message. What is left goes beside the body or into a part.
"""

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from messagebody._core import (
    DEFAULT_LIMITS,
    Limits,
    MessageBody,
    Part,
    nearest,
    quote,
    require_body,
    require_iterable,
    require_limits,
    strict_json,
)
from messagebody.adapters import (
    Affected,
    Converted,
    Loss,
    LossKind,
    converted_each,
    is_withheld,
    left_behind,
)
from messagebody.adapters.dialects import marked, one_of, rests_for
from messagebody.envelopes._values import DEPTH
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument

Left = dict[str, Any] | str
"""What is left of a message: the members beside the content, or its exact text."""

Header = Mapping[str, Any] | None
"""Members of a message beside its content, for a body from elsewhere."""


class SplitMessage(NamedTuple):
    """A message that was taken apart: the parts of its body, and what is left, if anything is.

    `place` is the number of parts before the part with the rest; by default, it is the last one.
    """

    body: MessageBody
    left: Left | None
    place: int | None = None
    losses: tuple[Loss, ...] = ()


class EnvelopeFormat(abc.ABC):
    """Convert between bodies and the messages of one envelope; a subclass knows its members."""

    name: ClassVar[str]
    """The name of the format."""
    what: ClassVar[str]
    """The format's word for a message."""
    sidecar: ClassVar[str]
    """The name of the part with the members beside the content."""
    exact: ClassVar[str | None] = None
    """The name of the part with the exact text of a message, if the format keeps it."""
    members: ClassVar[frozenset[str]]
    """The members that a header may have."""
    depth: ClassVar[int] = DEPTH
    """The levels of nesting that a message may have."""

    @abc.abstractmethod
    def split(self, message: Any, limits: Limits) -> SplitMessage:
        """Take a message apart."""

    @abc.abstractmethod
    def from_foreign_body(
        self, body: MessageBody, role: str | None, header: Header, rest: Any
    ) -> Converted[Any]:
        """Return the message of a body from elsewhere; `rest` is that of another format."""

    @abc.abstractmethod
    def from_own_body(
        self, body: MessageBody, left: Left, role: str | None, header: Header
    ) -> Converted[Any]:
        """Return the message of which a body came, with later edits."""

    @abc.abstractmethod
    def unread_members(self, value: dict[str, Any]) -> list[str]:
        """Return the members that a reader of another format misses, given what is left."""

    @abc.abstractmethod
    def rest_in_part(self, part: Part) -> Left | None:
        """Return what the sidecar of a stored body holds, None if it is another part."""

    def depth_within(self, limits: Limits) -> int:
        """Return the levels of nesting to take: those of the format, if nobody asks for fewer."""
        is_default = limits.depth == DEFAULT_LIMITS.depth
        return self.depth if is_default else min(self.depth, limits.depth)

    def to_body(self, message: Any, rest: str | None, limits: Limits) -> Converted[MessageBody]:
        """Return the body of a message, with its rest in the place that the caller wants.

        Arguments:
            message: the message.
            rest: "part", or "beside" the body; if None, only the exact text of a message is a part.
            limits: what to take before refusing.
        """
        if rest is not None:
            one_of("rest", rest, ("part", "beside"))
        body, left, place, losses = self.split(message, require_limits(limits))
        # The signature of a message covers its text, so the text stays in a stored body.
        is_part = rest == "part" or (rest is None and isinstance(left, str))
        if left is not None and is_part:
            text = left if isinstance(left, str) else strict_json.dumps(left)
            part = Part(text, name=self._name_of(left), content_type="application/json")
            body.insert(len(body) if place is None else place, part)
        if len(body) > limits.parts:
            raise DecodeError(f"the message has more than {limits.parts:,} parts")
        return Converted(body, losses, None if left is None or is_part else self._beside(left))

    def from_body(
        self, body: MessageBody, rest: Any, role: str | None, header: Header
    ) -> Converted[Any]:
        """Return the message that carries a body.

        Arguments:
            body: the body.
            rest: what `to_body` of any format returned as `rest`.
            role: who speaks, for a body from elsewhere.
            header: for such a body, members of the message beside its content.

        Raises:
            EnvelopeError: `rest` or `role` is wrong, or the header has an unknown member.
            InvalidArgument: the header is not an object.
        """
        require_body(body)
        self.check_header(header)
        left = self._left(body, rest)
        if left is not None:
            return self.from_own_body(body, left, role, header)
        made = self.from_foreign_body(body, role, header, rest)
        why = f"{self.name} has no place for this member of the message"
        return Converted(made.value, [*left_behind(rest, why), *made.losses])

    def check_header(self, header: Any) -> None:
        """Refuse a header that is not an object, or has a member that messages have not."""
        if header is None:
            return
        if not isinstance(header, Mapping):
            raise InvalidArgument(f"a header, the members of {self.what} as a dict", header)
        for name in header:
            if name not in self.members:
                near = nearest(name[:50], self.members) if isinstance(name, str) else ""
                hint = f" (did you mean {quote(near)}?)" if near else ""
                known = ", ".join(sorted(self.members))
                raise EnvelopeError(
                    f"a header has no member {quote(name, limit=60)}{hint}; {self.what} has {known}"
                )

    def _beside(self, left: Left) -> dict[str, Any]:
        """Return what is left as the `rest` of a conversion."""
        if isinstance(left, str):
            value, kept = strict_json.loads(left, depth=self.depth), {"text": left}
        else:
            value = strict_json.checked_copy(left, depth=self.depth + 1)
            kept = {"sidecar": value}
        # Another format takes nothing but these two: the role, and the losses.
        role = {"role": value["role"]} if isinstance(value.get("role"), str) else {}
        missed = {"missed": names} if (names := self.unread_members(value)) else {}
        return {"format": self.name, **role, **missed, **kept}

    def _name_of(self, left: Left) -> str:
        """Return the name of the part that holds what is left."""
        return str(self.exact) if isinstance(left, str) else self.sidecar

    def _left(self, body: MessageBody, rest: Any) -> Left | None:
        """Return what is left of the message that a body came from, None if it came from none."""
        if rest is not None and not isinstance(rest, dict):
            raise EnvelopeError(f"rest is an object that to_body returned, got {quote(rest)}")
        if rest is None or rest.get("format") != self.name:
            names = (self.exact, self.sidecar)
            parts = [body[name] for name in names if name is not None and name in body]
            return self.rest_in_part(parts[0]) if parts else None
        left = self._left_of(rest)
        if (name := self._name_of(left)) in body:
            raise EnvelopeError(f"the body has a part {name} already: give no rest beside it")
        return left

    def _left_of(self, rest: dict[str, Any]) -> Left:
        if self.exact is not None and isinstance(rest.get("text"), str):
            return str(rest["text"])
        if not isinstance(rest.get("sidecar"), dict):
            raise EnvelopeError("rest is not what to_body returned: 'sidecar' is not an object")
        try:
            left: Left = strict_json.checked_copy(rest["sidecar"], depth=self.depth + 1)
        except strict_json.InvalidJson as error:
            raise EnvelopeError(f"rest is not what to_body returned: {error}") from error
        return left


def bodies_of(
    to_body: Callable[..., Converted[MessageBody]],
) -> Callable[..., Converted[list[MessageBody]]]:
    """Return `to_bodies` for a function that returns the body of a message."""

    def to_bodies(messages: Iterable[Any], /, **options: Any) -> Converted[list[MessageBody]]:
        """Return the body of each message; `rest` is the list of their rests, which find them.

        Arguments:
            messages: the messages, each as `to_body` takes it.
            **options: those of `to_body`.

        Raises:
            EnvelopeError, DecodeError: a message can't be read; the text says which.
        """
        made = converted_each(messages, partial(to_body, **options))
        return Converted(made.value, made.losses, [*map(marked, made.rest, made.value)])

    # For help, and so that another process can load it.
    to_bodies.__module__, to_bodies.__qualname__ = to_body.__module__, "to_bodies"
    return to_bodies


def messages_by(from_body: Callable[..., Converted[Any]]) -> Callable[..., Converted[list[Any]]]:
    """Return `from_bodies` for a function that returns the message of a body."""

    def from_bodies(
        bodies: Iterable[MessageBody], /, *, rest: Sequence[Any] = (), **options: Any
    ) -> Converted[list[Any]]:
        """Return the message of each body; the losses name the positions of the bodies.

        Arguments:
            bodies: the bodies, in order.
            rest: what `to_bodies` of any format returned as `rest`.
            **options: others of `from_body`.

        Raises:
            EnvelopeError: a body can't be written, and the text says which; or it does not follow
                which rest belongs to which body.
            InvalidArgument: the bodies are one body, and not several.
        """
        if isinstance(bodies, MessageBody):
            raise InvalidArgument("bodies in a list", bodies, hint="from_body(…) writes one body")
        given = [*require_iterable(bodies, "bodies in a list")]
        pairs = zip(given, rests_for([*map(require_body, given)], rest), strict=True)
        return converted_each(pairs, lambda pair: from_body(pair[0], rest=pair[1], **options))

    from_bodies.__module__, from_bodies.__qualname__ = from_body.__module__, "from_bodies"
    return from_bodies


def role_in(rest: Any) -> str | None:
    """Return the role that the rest of a message of any format states."""
    role = rest.get("role") if isinstance(rest, dict) else None
    return role if isinstance(role, str) else None


def without_withheld(body: MessageBody, own: str = "") -> tuple[MessageBody, list[Loss]]:
    """Return a body without the members of other messages that it keeps, and their losses.

    The receiver of a message may be a model.

    Arguments:
        body: the body.
        own: the sidecar of the format itself, which goes along even if it can't be read here.
    """
    why = "it keeps members of a message that are not content"
    kept, losses = MessageBody(), []
    for index, part in enumerate(body):
        if is_withheld(part) and part.name != own:
            where = f"part {index} {part.name}"
            losses.append(Loss(LossKind.OMITTED, where, why, affects=Affected.LABELS))
        else:
            kept.append(part)
    return (kept, losses) if losses else (body, losses)
