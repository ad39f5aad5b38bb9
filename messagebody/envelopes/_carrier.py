"""Formats whose content is JSON: a body is that content, or travels inside it as a whole.

A message received as text is kept byte for byte, so that its signature stays valid; the parts of
its body are views of it, which must not contradict it.
"""

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

from messagebody._core import (
    TEXT_PLAIN,
    Limits,
    MessageBody,
    Part,
    essence,
    quote,
    strict_json,
)
from messagebody.adapters import Affected, Converted, Loss, LossKind, is_withheld
from messagebody.adapters.dialects import is_missed, messages_of, refuse_conversation
from messagebody.envelopes._attachments import is_absolute_url
from messagebody.envelopes._embedding import visible_text
from messagebody.envelopes._format import (
    EnvelopeFormat,
    Header,
    Left,
    SplitMessage,
    without_withheld,
)
from messagebody.envelopes._values import TEXT, json_part, member, read_object
from messagebody.envelopes._views import check_views
from messagebody.errors import EnvelopeError, MessageBodyError
from messagebody.findings import Finding, Severity

_CARRIED = "messagebody"
_TEXT = "text"
_LISTED = "listed"

# The checks for a member that is missing.
_ABSENT = {"required", "S001"}


class _SplitValue(NamedTuple):
    """A message that was taken apart: the parts of its content, its links, and what is left."""

    content: list[Part]
    links: list[Part]
    left: dict[str, Any]


class Carrier(EnvelopeFormat):
    """Convert between bodies and messages that carry a body as JSON.

    A body of one part that the format's content can express is written as that content. Any other
    body is written as `{"text": …, "messagebody": [parts]}`: the text is for readers that know only
    the format, and so is the format's own list of references.
    """

    exact: ClassVar[str]
    place: ClassVar[tuple[str, str]]
    """The object and member that hold the content."""
    kinds: ClassVar[tuple[type, ...]]
    """What a content of the format may be, besides null."""
    formal: ClassVar[frozenset[str]]
    """The members that no reader misses, such as ids and times, and that of the content."""

    @abc.abstractmethod
    def links(self, message: dict[str, Any]) -> Iterable[Part]:
        """Return the reference parts that a message points to."""

    @abc.abstractmethod
    def urls(self, message: dict[str, Any]) -> Iterable[str]:
        """Return the URLs that a message points to; other text may be among them."""

    @abc.abstractmethod
    def with_links(self, message: dict[str, Any], parts: list[Part]) -> dict[str, Any]:
        """Return a message that points to more reference parts in the format's own way."""

    @abc.abstractmethod
    def iter_findings(self, message: dict[str, Any]) -> Iterable[Finding]:
        """Yield findings about a message that breaks the format's rules."""

    def unread_members(self, value: dict[str, Any]) -> list[str]:
        """Return the members that a reader of another format misses."""
        return [name for name, each in value.items()
                if name not in self.formal and is_missed(name, each)]  # fmt: skip

    # To a body

    def split(self, message: Any, limits: Limits) -> SplitMessage:
        """Take a message apart."""
        value = read_object(message, self.what, limits=limits, depth=self.depth_within(limits))
        if self.place[0] not in value:
            refuse_conversation(messages_of(value), "convert each message by itself")
        content, links, others = self._take_apart(value)
        named = {part.name: part for part in links}.values()
        left: Left = others
        if isinstance(message, TEXT):
            left = message if isinstance(message, str) else bytes(message).decode()
        return SplitMessage(MessageBody([*content, *named]), left, len(content))

    def _take_apart(self, value: dict[str, Any]) -> _SplitValue:
        links = [*self.links(value)]
        carried = self._carried_body(value, links)
        if carried is not None:
            urls = [part.url for part in _references(carried)]
            links = [link for link in links if link.url not in urls]
            left = self._with_content(value, {_CARRIED: [], _LISTED: urls})
            return _SplitValue([*carried], links, left)
        holder, name = self.place
        content = member(value, holder, name)
        if content is None:
            return _SplitValue([], links, value)
        held = {key: each for key, each in value[holder].items() if key != name}
        return _SplitValue(self._content_parts(content), links, {**value, holder: held})

    def _content_parts(self, content: Any) -> list[Part]:
        if str in self.kinds and isinstance(content, str):
            return [Part(content, content_type=TEXT_PLAIN)]
        return [json_part(content)]

    def _carried_body(self, value: dict[str, Any], links: list[Part]) -> MessageBody | None:
        """Return the whole body in a message, if writing it again gives the same content."""
        content = member(value, *self.place)
        parts = content.get(_CARRIED) if isinstance(content, dict) else None
        if not isinstance(parts, list):
            return None
        try:
            body = MessageBody.from_dicts(parts)
            # If writing it gives another content, it only looks like a body.
            again = _embedded_body(body)
        except MessageBodyError:
            return None
        urls = {part.url for part in _references(body)}
        taken = {self.exact, self.sidecar}
        taken.update(str(link.name) for link in links if link.url not in urls)
        is_whole = strict_json.same(again, content) and taken.isdisjoint(body.names())
        return body if is_whole else None

    # From a body

    def from_foreign_body(
        self, body: MessageBody, role: str | None, header: Header, rest: Any
    ) -> Converted[Any]:
        """Return the message that carries a body from elsewhere."""
        del rest  # the role, all that counts of another format's, has no place here
        self._refuse_role(role)
        if header is None:
            raise EnvelopeError(
                f"the body has neither {self.exact} nor {self.sidecar}, so its sender and "
                f"receiver are unknown; give a header, {self.what} without its content, or use "
                f"{self.name}.build or {self.name}.reply"
            )
        return self.carry(dict(header), body, self.iter_findings)

    def from_own_body(
        self, body: MessageBody, left: Left, role: str | None, header: Header
    ) -> Converted[Any]:
        """Return the message of which a body came; the exact text, if the rest has it."""
        del header  # the message has its own
        self._refuse_role(role)
        # A received message is passed on unchanged, because its signature covers that text.
        if isinstance(left, str):
            value = read_object(left, self.what)
            content, links, _ = self._take_apart(value)
            views = [*content, *links]
            return Converted(left, check_views(body, self.exact, views))
        note = member(left, *self.place)
        # `_take_apart` leaves this note if a message carried a whole body.
        if isinstance(note, dict) and note.get(_CARRIED) == [] and _LISTED in note:
            return self._with_edited_body(left, body, note[_LISTED])
        content = body.unnamed()[:1]
        views = [*content, *self.links(left)]
        losses = check_views(body, self.sidecar, views)
        for part in content:
            left = self._with_content(left, self._content_of(part))
        return Converted(left, losses)

    def _with_edited_body(
        self, left: dict[str, Any], body: MessageBody, listed: list[str]
    ) -> Converted[Any]:
        """Return a message that carries a body, which may have been edited since it was received.

        Arguments:
            left: the message without the body.
            body: the parts of the body, and those that the message makes beside it.
            listed: the URLs of the body's references that the message points to.
        """
        links = [link for link in self.links(left) if link.url not in listed]
        others = {self.sidecar, *(link.name for link in links)}
        carried = MessageBody(part for part in body if part.name not in others)
        losses = check_views(body, self.sidecar, [*carried, *links])
        message = self._with_content(left, _embedded_body(carried))
        new = [part for part in _references(carried) if part.url not in listed]
        return Converted(self._with_references(message, new), losses)

    def _refuse_role(self, role: Any) -> None:
        if role is not None:
            raise EnvelopeError(f"{self.what} has no role; the header names its agents")

    def rest_in_part(self, part: Part) -> Left:
        """Return the exact text of a message, or the members beside its content."""
        if part.name == self.exact:
            return part.read_text()
        return read_object(part.read_bytes(), self.sidecar)

    def carry(
        self,
        message: dict[str, Any],
        body: MessageBody,
        iter_findings: Callable[[dict[str, Any]], Iterable[Finding]],
    ) -> Converted[Any]:
        """Return a message with a body as its content, and its references listed.

        The losses are parts that a reader does not see, and what the message lacks to be valid.
        """
        sent, losses = without_withheld(body)
        content = self._plain_content(sent)
        if content is None:
            content = _embedded_body(sent)
            losses += _losses_for_plain_readers(body)
        message = self._with_references(self._with_content(message, content), _references(sent))
        return Converted(message, [*losses, *_broken_rules(iter_findings(message))])

    def _with_references(self, message: dict[str, Any], parts: list[Part]) -> dict[str, Any]:
        """Return a message that points to references, each once."""
        known = {*self.urls(message)}
        new = {part.url: part for part in parts if part.url not in known}
        return self.with_links(message, [*new.values()]) if new else message

    def _plain_content(self, body: MessageBody) -> Any:
        """Return the content that is exactly equal to a body, None if there is none."""
        part = body[0] if len(body) == 1 else None
        if part is None or part.is_reference or part.local_file or part.name is not None:
            return None
        try:
            content = self._content_of(part)
        except MessageBodyError:
            return None
        is_content = isinstance(content, self.kinds) and self._content_parts(content) == [part]
        # As plain content, the other side would read it as a carried body.
        looks_carried = isinstance(content, dict) and _CARRIED in content
        return content if is_content and not looks_carried else None

    def _content_of(self, part: Part) -> Any:
        if str in self.kinds and essence(part.content_type).startswith("text/"):
            return part.read_text()
        return part.read_json()

    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
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


def now(clock: Callable[[], datetime]) -> str:
    """Return the time as ISO 8601 in UTC; without fractions, as the formats' examples have it."""
    return clock().astimezone(UTC).isoformat(timespec="seconds")


def _embedded_body(body: MessageBody) -> dict[str, Any]:
    """Return the content that carries a whole body, with its text for other readers."""
    texts = [text for part in body if (text := visible_text(part)) is not None]
    readable = {_TEXT: "\n\n".join(texts)} if texts else {}
    return {**readable, _CARRIED: body.to_dicts()}


def _losses_for_plain_readers(body: MessageBody) -> Iterator[Loss]:
    """Yield the parts of a body that a reader who knows only the format does not see."""
    for index, part in enumerate(body):
        why = _why_invisible(part)
        if why and not is_withheld(part):
            why = f"a reader that knows only the format does not see it; {why}"
            where = f"part {index} {quote(part.name or '')}"
            yield Loss(LossKind.DOWNGRADED, where, why, affects=Affected.FORM)


def _why_invisible(part: Part) -> str:
    """Return why a message that carries a body neither says nor lists a part, or nothing."""
    if part.is_reference:
        return "" if is_absolute_url(part.url) else "its URL is not one that every resolver reads"
    offload = "offload it, and the message lists it as a reference"
    return offload if visible_text(part) is None else ""


def _references(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if part.is_reference and is_absolute_url(part.url)]


def _broken_rules(findings: Iterable[Finding]) -> Iterator[Loss]:
    """Yield the missing members that make a message invalid, as losses; warnings are left out."""
    for finding in findings:
        if finding.severity is Severity.ERROR:
            kind = LossKind.OMITTED if finding.check in _ABSENT else LossKind.DOWNGRADED
            why = f"{finding.problem} ({finding.check})"
            yield Loss(kind, finding.where, why, affects=Affected.LABELS)
