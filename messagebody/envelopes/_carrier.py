"""Formats whose content is JSON: a body is that content, or travels inside it as a whole.

A message received as text is kept byte for byte, so that its signature stays valid; the parts of
its body are views of it, which must not contradict it.
"""

import abc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from messagebody._core import (
    TEXT_PLAIN,
    Limits,
    MessageBody,
    Part,
    essence,
    quote,
    record_of,
    strict_json,
    unlisted,
)
from messagebody.adapters import Affected, Converted, Loss, LossKind
from messagebody.adapters.dialects import is_missed, messages_of, refuse_conversation
from messagebody.envelopes._attachments import is_absolute_url
from messagebody.envelopes._embedding import visible_text
from messagebody.envelopes._format import (
    EnvelopeFormat,
    Header,
    Members,
    inline_json,
    inline_text,
)
from messagebody.envelopes._values import TEXT, json_part, member, read_object
from messagebody.errors import EnvelopeError, MessageBodyError
from messagebody.findings import Finding, Severity

_CARRIED = "messagebody"

# The checks for a member that is missing.
_ABSENT = {"required", "S001"}


class Carrier(EnvelopeFormat):
    """Convert between bodies and messages that carry a body as JSON.

    A body of one part that the format's content can express is written as that content. Any other
    body is written as `{"text": …, "messagebody": [parts]}`: the text is for readers that know only
    the format, and so is the format's own list of references.
    """

    place: ClassVar[tuple[str, str]]
    """The object and member that hold the content."""
    kinds: ClassVar[tuple[type, ...]]
    """What a content of the format may be, besides null."""
    formal: ClassVar[frozenset[str]]
    """The members that no reader misses, such as ids and times, and that of the content."""

    @abc.abstractmethod
    def links(self, message: Members) -> Iterable[Part]:
        """Return the reference parts that a message points to."""

    @abc.abstractmethod
    def urls(self, message: Members) -> Iterable[str]:
        """Return the URLs that a message points to; other text may be among them."""

    @abc.abstractmethod
    def with_links(self, message: Members, parts: list[Part]) -> Members:
        """Return a message that points to more reference parts in the format's own way."""

    @abc.abstractmethod
    def broken_rules(self, message: Members) -> Iterable[Finding]:
        """Yield findings about a message that breaks the format's rules."""

    def unread_members(self, value: Members) -> list[str]:
        """Return the members that a reader of another format misses."""
        return [name for name, each in value.items()
                if name not in self.formal and is_missed(name, each)]  # fmt: skip

    # To a body

    def read(self, message: Any, limits: Limits) -> tuple[Members, tuple[Loss, ...]]:
        """Return a message as parsed JSON."""
        value = read_object(message, self.what, limits=limits, depth=self.depth_within(limits))
        if self.place[0] not in value:
            refuse_conversation(messages_of(value), "convert each message by itself")
        return value, ()

    def kept_text(self, message: Any) -> str | None:
        """Return the text of a message: its signature covers it."""
        if not isinstance(message, TEXT):
            return None
        return message if isinstance(message, str) else bytes(message).decode()

    def take_apart(self, message: Members) -> tuple[list[Part], Members]:
        """Return the content and the links of a message, and the message without its content."""
        links = [*self.links(message)]
        holder, name = self.place
        content = member(message, holder, name)
        if content is None:
            return links, message
        held = {key: each for key, each in message[holder].items() if key != name}
        return [self._content_part(content), *links], {**message, holder: held}

    def _content_part(self, content: Any) -> Part:
        if str in self.kinds and isinstance(content, str):
            return Part(content, content_type=TEXT_PLAIN)
        return json_part(content)

    def carried(self, message: Members) -> tuple[MessageBody, Members] | None:
        """Return the body in a message, and the message without it."""
        content = member(message, *self.place)
        parts = content.get(_CARRIED) if isinstance(content, dict) else None
        if not isinstance(parts, list):
            return None
        try:
            # What is left says that it carried a body.
            return MessageBody.from_dicts(parts), self._with_content(message, {_CARRIED: []})
        except MessageBodyError:
            return None

    # From a body

    def foreign_left(self, role: str | None, stated: str | None, header: Header) -> Members:
        """Return the header, without which nobody knows who sends the message."""
        del stated  # the role of another format's message has no place here
        self._refuse_role(role)
        if header is None:
            raise EnvelopeError(
                f"the body has neither {self.exact} nor {self.sidecar}, so its sender and "
                f"receiver are unknown; give a header, {self.what} without its content, or use "
                f"{self.name}.build or {self.name}.reply"
            )
        return dict(header)

    def from_own_body(self, body: MessageBody, left: Any, role: str | None) -> Converted[Any]:
        """Return the message of which a body came; the exact text, if the rest has it."""
        self._refuse_role(role)
        if not isinstance(left, str):
            return super().from_own_body(body, left, role)
        # A received message is passed on unchanged, because its signature covers that text.
        views, _ = self.split(read_object(left, self.what))
        return Converted(left, _check_views(body, str(self.exact), views))

    def _refuse_role(self, role: Any) -> None:
        if role is not None:
            raise EnvelopeError(f"{self.what} has no role; the header names its agents")

    def put_together(self, body: MessageBody, left: Members) -> Members | None:
        """Return the message whose content is the unnamed part."""
        if member(left, *self.place) is not None:
            return None  # it carried a body
        unnamed = body.unnamed()
        if not unnamed:
            return left
        (part,) = unnamed
        return self._with_content(left, self._content_of(part))

    def carry(self, body: MessageBody, left: Members) -> Members:
        """Return a message with a body as its content, and its references listed."""
        content = self._plain_content(body)
        message = self._with_content(left, _embedded(body) if content is None else content)
        known = {*self.urls(message)}
        new = {part.url: part for part in body if _is_listed(part) and part.url not in known}
        return self.with_links(message, [*new.values()]) if new else message

    def writing_losses(self, message: Members, body: MessageBody, header: Header) -> Iterator[Loss]:
        """Yield the parts that a reader does not see, and what the message lacks to be valid."""
        del header
        yield from self.invisible_parts(body)
        yield from losses_of(self.broken_rules(message))

    def invisible_parts(self, body: MessageBody) -> Iterator[Loss]:
        """Yield the parts of a body that a reader who knows only the format does not see."""
        if self._plain_content(body) is not None:
            return
        for index, part in enumerate(body):
            if why := _why_invisible(part):
                why = f"a reader that knows only the format does not see it; {why}"
                where = f"part {index} {quote(part.name or '')}"
                yield Loss(LossKind.DOWNGRADED, where, why, affects=Affected.FORM)

    def _plain_content(self, body: MessageBody) -> Any:
        """Return the content that is exactly equal to a body, None if there is none."""
        part = body[0] if len(body) == 1 else None
        if part is None or part.is_reference or part.local_file or part.name is not None:
            return None
        try:
            content = self._content_of(part)
        except MessageBodyError:
            return None
        is_content = isinstance(content, self.kinds) and self._content_part(content) == part
        # As plain content, the other side would read it as a carried body.
        looks_carried = isinstance(content, dict) and _CARRIED in content
        return content if is_content and not looks_carried else None

    def _content_of(self, part: Part) -> Any:
        if str in self.kinds and essence(part.content_type).startswith("text/"):
            return inline_text(part)
        return inline_json(part, self.depth)

    def _with_content(self, value: Members, content: Any) -> Members:
        holder, name = self.place
        held = value.get(holder)
        return {**value, holder: {**(held if isinstance(held, dict) else {}), name: content}}


def with_header(defaults: dict[str, Any], header: Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults, replaced by a header's members, at the top and one level down.

    Examples:
        >>> with_header({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
        {'a': {'b': 3, 'c': 2}}
    """
    made = {**defaults, **header}
    for name, value in defaults.items():
        if isinstance(value, dict) and isinstance(made[name], Mapping):
            # Only one level down: deeper members belong to the caller's own objects.
            made[name] = {**value, **made[name]}
    return made


def now() -> str:
    """Return the time as ISO 8601 in UTC; without fractions, as the formats' examples have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def losses_of(findings: Iterable[Finding]) -> Iterator[Loss]:
    """Yield the missing members that make a message invalid, as losses; warnings are left out."""
    for finding in findings:
        if finding.severity is Severity.ERROR:
            kind = LossKind.OMITTED if finding.check in _ABSENT else LossKind.DOWNGRADED
            why = f"{finding.problem} ({finding.check})"
            yield Loss(kind, finding.where, why, affects=Affected.LABELS)


def _embedded(body: MessageBody) -> dict[str, Any]:
    """Return the content that carries a whole body, with its text for other readers."""
    texts = [text for part in body if (text := visible_text(part)) is not None]
    readable = {"text": "\n\n".join(texts)} if texts else {}
    return {**readable, _CARRIED: body.to_dicts()}


def _is_listed(part: Part) -> bool:
    return part.is_reference and is_absolute_url(part.url)


def _why_invisible(part: Part) -> str:
    """Return why a message that carries a body neither says nor lists a part, or nothing."""
    if part.is_reference:
        return "" if _is_listed(part) else "its URL is not one that every resolver reads"
    offload = "offload it, and the message lists it as a reference"
    return offload if visible_text(part) is None else ""


# Views of a message that is kept as it was received


def _check_views(body: MessageBody, exact: str, views: Sequence[Part]) -> Iterator[Loss]:
    """Check that a body does not contradict its exact message, and yield what would be lost.

    Arguments:
        body: the body on its way back.
        exact: the name of the part that holds the message.
        views: the parts made from the message; unnamed ones come first in the body.

    Raises:
        EnvelopeError: a view was edited, moved or removed; the findings name the places.
    """
    unnamed = body.unnamed()
    wanted = [view for view in views if view.name is None]
    named = {view.name: view for view in views if view.name is not None}
    pairs = [
        (f"unnamed part {at}", view, unnamed[at] if at < len(unnamed) else None)
        for at, view in enumerate(wanted)
    ]
    pairs += [(name, view, body.get(name)) for name, view in named.items()]
    conflicts = [place for place, view, part in pairs if part is None or not _is_intact(view, part)]
    if conflicts:
        raise EnvelopeError(
            f"edited: {', '.join(conflicts)}, which contradicts the message in {exact}. "
            f"Undo the edit, or drop {exact} and build a new message",
            conflicts,
        )
    seen = 0
    for index, part in enumerate(body):
        seen += part.name is None
        if seen > len(wanted) if part.name is None else part.name not in {exact, *named}:
            where = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
            yield Loss(LossKind.OMITTED, where, "the message is sent as it was received")


def _is_intact(view: Part, part: Part) -> bool:
    """Return whether a part still equals the view, even offloaded or inlined; fetch nothing."""
    described = [[unlisted(record_of(each)), each.extra] for each in (part, view)]
    if not strict_json.same(*described):
        return False
    # The part may have been inlined or moved, but the same digest means the same content.
    if view.is_reference:
        return part.url == view.url or (view.digest is not None and part.digest == view.digest)
    return part.content_type == view.content_type and part.digest == view.digest
