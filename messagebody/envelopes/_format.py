"""What the four envelopes share: both ways between a message and its body, and where its rest is.

A message is taken apart into the parts of a body and what is left: the members beside the content
as an object, or the exact text of the message. What is left goes beside the body or into a part.
A body that no longer fits what is left of its message, or that is from elsewhere, travels whole.
"""

import abc
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

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
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument, MessageBodyError

Members = dict[str, Any]
"""A message, or what is left of it: the members beside the content."""

Header = Mapping[str, Any] | None
"""Members of a message beside its content, for a body from elsewhere."""

_FLAWS = (MessageBodyError, LookupError, TypeError, ValueError, AttributeError)
"""What is raised by pieces that no longer fit together, because a stranger or an edit made them."""


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

    def __reduce__(self) -> str:
        """Return the name of the one instance, so that another process finds its functions."""
        return "_FORMAT"

    # What a format knows

    @abc.abstractmethod
    def read(self, message: Any, limits: Limits) -> tuple[Members, tuple[Loss, ...]]:
        """Return a message in the form that is written, and what reading lost."""

    @abc.abstractmethod
    def take_apart(self, message: Members) -> tuple[list[Part], Members]:
        """Return the parts of a message, and what is left of it."""

    @abc.abstractmethod
    def put_together(self, body: MessageBody, left: Members) -> Members | None:
        """Return the message of parts and what is left; raise or return None if they don't fit."""

    @abc.abstractmethod
    def carry(self, body: MessageBody, left: Members) -> Members:
        """Return a message that carries a whole body; `left` has its other members."""

    @abc.abstractmethod
    def carried(self, message: Members) -> tuple[MessageBody, Members] | None:
        """Return a body that a message may carry, and what is left for `carry`."""

    @abc.abstractmethod
    def foreign_left(self, role: str | None, stated: str | None, header: Header) -> Members:
        """Return the other members for a body from elsewhere; `stated` is the role in its rest."""

    @abc.abstractmethod
    def writing_losses(self, message: Members, body: MessageBody, header: Header) -> Iterable[Loss]:
        """Yield what is missing in the message of a body from elsewhere, and what of its header."""

    @abc.abstractmethod
    def unread_members(self, value: Members) -> list[str]:
        """Return the members that a reader of another format misses, given what is left."""

    def is_sidecar(self, value: Members) -> bool:  # noqa: ARG002 - a hook
        """Return whether an object is what is left of a message."""
        return True

    # To a body

    def to_body(
        self, message: Any, /, *, rest: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Converted[MessageBody]:
        """Return the body of a message.

        Arguments:
            message: parsed JSON, or JSON as text or bytes.
            rest: where the members that are not content go: "beside" the body, as the `rest` of the
                result, or in a "part" of it, for those who store bodies. By default they are
                beside; the exact text of a message that can be signed is in a part, which no format
                sends to a model.
            limits: what to take before refusing. Without others, a message may be nested as deep as
                its format allows.

        Raises:
            DecodeError: it has more bytes or parts than the limits allow.
            EnvelopeError: it is not a message, nested too deep, repeats a member or holds NaN.
        """
        if rest is not None:
            one_of("rest", rest, ("part", "beside"))
        value, losses = self.read(message, require_limits(limits))
        parts, members = self.split(value)
        body = MessageBody(parts)
        left = self.kept_text(message) or members
        # The signature of a message covers its text, so the text stays in a stored body.
        is_part = rest == "part" or (rest is None and isinstance(left, str))
        if is_part:
            text = left if isinstance(left, str) else strict_json.dumps(left)
            body.append(Part(text, name=self._name_of(left), content_type="application/json"))
        if len(body) > limits.parts:
            raise DecodeError(f"the message has more than {limits.parts:,} parts")
        return Converted(body, losses, None if is_part else self._beside(left, members))

    def to_bodies(self, messages: Iterable[Any], /, **options: Any) -> Converted[list[MessageBody]]:
        """Return the body of each message; `rest` is the list of their rests, which find them.

        Arguments:
            messages: the messages, each as `to_body` takes it.
            **options: those of `to_body`.

        Raises:
            EnvelopeError, DecodeError: a message can't be read; the text says which.
        """
        made = converted_each(messages, partial(self.to_body, **options))
        return Converted(made.value, made.losses, [*map(marked, made.rest, made.value)])

    def kept_text(self, message: Any) -> str | None:  # noqa: ARG002 - a hook
        """Return the text of a message if the format keeps it."""
        return None

    def split(self, value: Members) -> tuple[Sequence[Part], Members]:
        """Take a message apart, or take out the body that it carries."""
        found = self.carried(value)
        if found is None or not {self.sidecar, self.exact}.isdisjoint(found[0].names()):
            return self.take_apart(value)
        # The way back is tried: a body that gives another message is not one that was carried.
        is_whole = strict_json.same(self.written(*found), value)
        return found if is_whole else self.take_apart(value)

    def _beside(self, left: Members | str, members: Members) -> dict[str, Any]:
        """Return what is left as the `rest` of a conversion."""
        kept: Members = {"text": left}
        if not isinstance(left, str):
            members = strict_json.checked_copy(left, depth=self.depth + 1)
            kept = {"sidecar": members}
        # Another format takes nothing but these two: the role, and the losses.
        role = {"role": members["role"]} if isinstance(members.get("role"), str) else {}
        missed = {"missed": names} if (names := self.unread_members(members)) else {}
        return {"format": self.name, **role, **missed, **kept}

    def _name_of(self, left: Members | str) -> str:
        """Return the name of the part that holds what is left."""
        return str(self.exact) if isinstance(left, str) else self.sidecar

    # From a body

    def from_body(
        self,
        body: MessageBody,
        /,
        *,
        rest: Any = None,
        role: str | None = None,
        header: Header = None,
    ) -> Converted[Any]:
        """Return the message of a body.

        A body that `to_body` made gives its original message, with later edits; an exact text comes
        back as it was, and an edit that contradicts it is an error. Any other body travels whole,
        but for the parts that keep members of another message.

        Arguments:
            body: the body.
            rest: what `to_body` returned as `rest`; of another format's, only the role is used.
            role: who speaks in a body from elsewhere, in formats that have roles; by default the
                role in `rest`.
            header: for such a body, other members of the message; some formats need them.

        Raises:
            LocalFileNotSent: a part is still a local file.
            EnvelopeError: a part contradicts the text of the message; `rest` or `role` is wrong; or
                the header is missing, or has an unknown member.
            InvalidArgument: the header is not an object.

        Returns:
            The message. The losses are parts that a reader of the format does not see, and what is
            missing for a valid message.
        """
        require_body(body)
        self.check_header(header)
        left = self._left(body, rest)
        if left is not None:
            return self.from_own_body(body, left, role)
        made = self.send(body, self.foreign_left(role, _role_in(rest), header), header)
        why = f"{self.name} has no place for this member of the message"
        return Converted(made.value, [*left_behind(rest, why), *made.losses])

    def from_bodies(
        self, bodies: Iterable[MessageBody], /, *, rest: Sequence[Any] = (), **options: Any
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
        return converted_each(pairs, lambda pair: self.from_body(pair[0], rest=pair[1], **options))

    def send(self, body: MessageBody, left: Members, header: Header) -> Converted[Any]:
        """Return the message that carries a body from elsewhere, and what is lost."""
        sent, losses = _without_withheld(body, self.sidecar)
        message = self.carry(sent, left)
        return Converted(message, [*losses, *self.writing_losses(message, sent, header)])

    def from_own_body(
        self, body: MessageBody, left: Any, role: str | None  # noqa: ARG002 - others need it
    ) -> Converted[Any]:  # fmt: skip
        """Return the message of the parts and what is left, or one that carries the body."""
        try:
            return Converted(self.written(body, left))
        except MessageBodyError:
            raise
        except _FLAWS as error:
            raise EnvelopeError(f"the part {self.sidecar} makes no {self.what}") from error

    def written(self, body: MessageBody, left: Members) -> Members:
        """Return the message of parts and what is left, or one that carries all parts."""
        if self.sidecar in body:
            body = body.copy()
            body.remove(self.sidecar)
        try:
            message = self.put_together(body, left)
        except _FLAWS:
            message = None  # the parts were edited and no longer fit
        # It is taken apart again: only if that gives the same body, it was built correctly.
        if message is not None:
            parts = self.take_apart(message)[0]
            if len(parts) == len(body) and all(map(self._is_same, parts, body)):
                return message
        return self.carry(body, left)

    def _is_same(self, mine: Part, given: Part) -> bool:
        """Return whether a part is the one of a body, but for the spelling of edited JSON."""
        if mine == given:
            return True
        if given.is_reference or mine.content_type != "application/json":
            return False
        return given.evolve(content=strict_json.dumps(inline_json(given, self.depth))) == mine

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

    def _left(self, body: MessageBody, rest: Any) -> Members | str | None:
        """Return what is left of the message that a body came from, None if it came from none."""
        if rest is not None and not isinstance(rest, dict):
            raise EnvelopeError(f"rest is an object that to_body returned, got {quote(rest)}")
        if rest is None or rest.get("format") != self.name:
            names = (self.exact, self.sidecar)
            parts = [body[name] for name in names if name is not None and name in body]
            return self._left_in(parts[0]) if parts else None
        left = self._left_of(rest)
        if (name := self._name_of(left)) in body:
            raise EnvelopeError(f"the body has a part {name} already: give no rest beside it")
        return left

    def _left_in(self, part: Part) -> Members | str | None:
        """Return what the sidecar of a stored body holds, None if it is another part."""
        if part.name == self.exact:
            return part.read_text()
        value = inline_json(part, self.depth + 1)
        return value if isinstance(value, dict) and self.is_sidecar(value) else None

    def _left_of(self, rest: dict[str, Any]) -> Members | str:
        if self.exact is not None and isinstance(rest.get("text"), str):
            return str(rest["text"])
        if not isinstance(rest.get("sidecar"), dict):
            raise EnvelopeError("rest is not what to_body returned: 'sidecar' is not an object")
        try:
            left: Members = strict_json.checked_copy(rest["sidecar"], depth=self.depth + 1)
        except strict_json.InvalidJson as error:
            raise EnvelopeError(f"rest is not what to_body returned: {error}") from error
        return left

    def depth_within(self, limits: Limits) -> int:
        """Return the levels of nesting to take: those of the format, if nobody asks for fewer."""
        is_default = limits.depth == DEFAULT_LIMITS.depth
        return self.depth if is_default else min(self.depth, limits.depth)


def inline_text(part: Part) -> str:
    """Return the text of an inline part; nothing is fetched to put a message together.

    Raises:
        ValueError: the part is a reference, or still a local file.
    """
    if part.is_reference or part.local_file:
        raise ValueError("the text is not here")
    return part.read_text()


def inline_json(part: Part, depth: int) -> Any:
    """Return the JSON of an inline part, None if it does not hold JSON."""
    if part.is_reference or part.local_file:
        return None
    try:
        return strict_json.loads(part.read_bytes(), depth=depth)
    except strict_json.InvalidJson:
        return None


def _role_in(rest: Any) -> str | None:
    """Return the role that the rest of a message of any format states."""
    role = rest.get("role") if isinstance(rest, dict) else None
    return role if isinstance(role, str) else None


def _without_withheld(body: MessageBody, own: str) -> tuple[MessageBody, list[Loss]]:
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
