"""The sidecar: members of a foreign message that a body has no place for, kept exactly."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.media_types import TEXT_PLAIN, essence
from messagebody._base.text import quote
from messagebody._model.access import record_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody._wire.manifest import unlisted
from messagebody._wire.walk import TooDeep, containers
from messagebody.adapters import Converted, Loss, LossKind, is_withheld
from messagebody.adapters.dialects import (
    check_length,
    is_missed,
    messages_of,
    refuse_conversation,
)
from messagebody.envelopes._attachments import is_absolute_url
from messagebody.envelopes._embedding import shown_text
from messagebody.envelopes._rests import Rests, sendable
from messagebody.errors import EnvelopeError, MessageBodyError
from messagebody.findings import Finding, Severity
from messagebody.names import safe_name

Message = Mapping[str, Any] | str | bytes | bytearray | memoryview
"""A message as parsed JSON, or as the JSON text it came in."""

JSON = "application/json"
DEPTH = DEFAULT_LIMITS.depth


@attrs.frozen
class Slot:
    """A part name for content that a received message only points to.

    Arguments:
        name: the part name.
        digest: the digest that the message states for the content, if any.
    """

    name: str
    digest: str | None


def read(message: Any) -> Any:
    """Return a message as a JSON value, parsed strictly if it is text.

    Raises:
        strict_json.InvalidJson: it repeats a member, holds NaN or a lone surrogate, is nested more
            than 100 levels deep, or is not JSON.
    """
    if isinstance(message, str | bytes | bytearray | memoryview):
        return strict_json.loads(message, depth=DEPTH)
    value = dict(message) if isinstance(message, Mapping) else message
    strict_json.check_value(value, depth=DEPTH)
    return value


def read_object(message: Any, what: str) -> dict[str, Any]:
    """Return a message as a JSON object.

    Arguments:
        message: parsed JSON or JSON text.
        what: the format, for the error.

    Raises:
        EnvelopeError: it is not strict JSON, or not an object.
    """
    try:
        value = read(message)
    except strict_json.InvalidJson as error:
        raise EnvelopeError(f"{what}: {error}") from error
    if isinstance(value, list):
        raise EnvelopeError(
            f"{what} is a JSON object, got an array of {len(value)}: convert each item by itself"
        )
    if not isinstance(value, dict):
        raise EnvelopeError(f"{what} is a JSON object, got {shown(value)}")
    return value


def check_depth(value: Any) -> None:
    """Raise `EnvelopeError` if a value is nested too deep for a recursive writer; don't recurse."""
    try:
        # The walk itself raises the error.
        for _ in containers(value, depth=DEPTH):
            pass
    except TooDeep as error:
        raise EnvelopeError(str(error)) from error


def member(value: Any, *keys: str) -> Any:
    """Return a member of nested objects, None if it or an object on the way is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_of(value: Any, *keys: str) -> str:
    """Return a member of nested objects if it is text, else the empty text."""
    found = member(value, *keys)
    return found if isinstance(found, str) else ""


def shown(value: Any) -> str:
    """Return a JSON value as text for an error: short and escaped."""
    if isinstance(value, str):
        return quote(value, limit=80)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 64 else "a large number"
    if isinstance(value, float):
        return repr(value)
    return "an object" if isinstance(value, Mapping) else "an array"


def numbered_name(directory: str, number: int, original: Any) -> str:
    """Return a legal name with a number for the n-th file of a kind, whatever its own name.

    Examples:
        >>> numbered_name("/attachments", 1, "plans/42 (new).md")
        '/attachments/1/42_new.md'
    """
    text = original if isinstance(original, str) else ""
    # A query is not part of a file's name, and may be a secret.
    if "://" in text:
        text = text.partition("?")[0].partition("#")[0]
    return safe_name(text, directory=f"{directory}/{number}")


def check_views(
    body: MessageBody, exact: str, views: Sequence[Part], slots: Iterable[Slot] = ()
) -> tuple[Loss, ...]:
    """Check that a body does not contradict its exact message, and return what would be lost.

    Arguments:
        body: the body on its way back.
        exact: the name of the part that holds the message.
        views: the parts made from the message; unnamed ones come first in the body.
        slots: names of parts for content that the message only points to.

    Raises:
        EnvelopeError: a view was edited, moved or removed; the findings name the places.
    """
    known = {exact, *(view.name for view in views if view.name)}
    unnamed = body.unnamed()
    wanted = [view for view in views if view.name is None]
    conflicts = [*_conflicts(body, unnamed, views)]
    losses: list[Loss] = []
    for slot in slots:
        part = body.get(slot.name)
        # A missing file is not a conflict, because the message only points to it.
        if part is None or slot.name in known:
            continue
        known.add(slot.name)
        if slot.digest is None:
            why = "the message names it without a hash, so its content is not proved"
            losses.append(Loss(LossKind.DOWNGRADED, slot.name, why))
        elif part.digest != slot.digest:
            conflicts.append(slot.name)
    if conflicts:
        raise EnvelopeError(
            f"edited: {', '.join(conflicts)}, which contradicts the message in {exact}. "
            f"Undo the edit, or drop {exact} and build a new message",
            conflicts,
        )
    return (*losses, *_extras(body, known, unnamed[: len(wanted)]))


def _conflicts(body: MessageBody, unnamed: list[Part], views: Sequence[Part]) -> Iterator[str]:
    position = 0
    for view in views:
        if view.name is not None:
            part = body.get(view.name)
        else:
            part = unnamed[position] if position < len(unnamed) else None
            position += 1
        if part is None or not _is_intact(view, part):
            yield view.name or f"unnamed part {position - 1}"


def _is_intact(view: Part, part: Part) -> bool:
    """Return whether a part still equals the view, even offloaded or inlined; fetch nothing."""
    said = [[unlisted(record_of(each)), each.extra] for each in (part, view)]
    if not strict_json.same(*said):
        return False
    # The part may have been inlined or moved, but the same digest means the same content.
    if view.is_reference:
        return part.url == view.url or (view.digest is not None and part.digest == view.digest)
    return part.content_type == view.content_type and part.digest == view.digest


def _extras(body: MessageBody, known: set[str], taken: list[Part]) -> Iterator[Loss]:
    left = len(taken)
    for index, part in enumerate(body):
        if part.name is None and left:
            left -= 1
        elif part.name not in known:
            where = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
            yield Loss(LossKind.OMITTED, where, "the message is sent as it was received")


_CARRIED = "messagebody"
_TEXT = "text"
_LISTED = "listed"

# The checks for a member that is missing.
_ABSENT = {"required", "S001"}

Listing = Callable[[dict[str, Any], list[Part]], dict[str, Any]]


def missing(findings: Iterable[Finding]) -> Iterator[Loss]:
    """Yield the missing members that make a message invalid, as losses; warnings are left out."""
    for finding in findings:
        if finding.severity is Severity.ERROR:
            kind = LossKind.OMITTED if finding.check in _ABSENT else LossKind.DOWNGRADED
            yield Loss(kind, finding.where, f"{finding.problem} ({finding.check})")


def merged(defaults: dict[str, Any], header: Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults, replaced by a header's members, at the top and one level down.

    Examples:
        >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
        {'a': {'b': 3, 'c': 2}}
    """
    made = {**defaults, **header}
    for name, value in defaults.items():
        if isinstance(value, dict) and isinstance(made[name], Mapping):
            # Only one level down: deeper members belong to the caller's own objects.
            made[name] = {**value, **made[name]}
    return made


@attrs.frozen
class Carrier:
    """Describe how a format's messages carry a body.

    A body of one part that the format's content can express is written as that content. Any other
    body is written as `{"text": …, "messagebody": [parts]}`: the text is for readers that know only
    the format, and so is the format's own list of references.

    Arguments:
        what: the format's word for a message, with its article.
        format: the name of the format.
        exact: the name of the part with a received message's text.
        meta: the name of the sidecar of a message taken apart.
        place: the object and member that hold the content.
        kinds: what a content of the format may be, besides null.
        links: returns the reference parts that a message points to.
        formal: the members that no reader misses, such as ids and times, and that of the content.
        listed: returns a message that lists these reference parts in the format's own way.
        iter_findings: yields findings about a message that breaks the format's rules.
        slots: returns the names of parts for files that a message points to.
    """

    what: str
    format: str
    exact: str
    meta: str
    place: tuple[str, str]
    kinds: tuple[type, ...]
    links: Callable[[dict[str, Any]], Iterable[Part]]
    formal: frozenset[str]
    listed: Listing
    iter_findings: Callable[[dict[str, Any]], Iterable[Finding]]
    slots: Callable[[dict[str, Any]], Iterable[Slot]] = lambda _: ()

    @property
    def rests(self) -> Rests:
        """The converter that moves the message's own members out of a body and back."""
        return Rests(self.format, self.meta, self._missed, self.exact)

    def _missed(self, message: dict[str, Any]) -> list[str]:
        return [
            name for name, value in message.items()
            if name not in self.formal and is_missed(name, value)
        ]  # fmt: skip

    def to_body(
        self,
        message: Message,
        rest: str | None,
        limits: Limits,
        files: Callable[[dict[str, Any]], Iterable[Part]] = lambda _: (),
    ) -> Converted[MessageBody]:
        """Return the body of a message.

        Arguments:
            message: the message.
            rest: "part", "beside" or None; see `Rests`.
            limits: what to take before refusing.
            files: returns the parts for files that the message points to.

        Raises:
            DecodeError: the message goes beyond a limit.
            EnvelopeError: it is not a strict JSON object.
        """
        if isinstance(message, str | bytes | bytearray | memoryview):
            check_length(message, limits)
        return self.rests.converted(self._body(message, files), rest, limits)

    def _body(
        self, message: Message, files: Callable[[dict[str, Any]], Iterable[Part]]
    ) -> MessageBody:
        value = read_object(message, self.what)
        if self.place[0] not in value:
            refuse_conversation(messages_of(value), "convert each message by itself")
        carried = self._carried(value)
        links = self._links(value, carried)
        named = {part.name: part for part in (*links, *files(value))}.values()
        content = self._content(value, carried)
        if isinstance(message, Mapping):
            meta = strict_json.dumps(self._without_content(value, carried))
            return MessageBody([*content, Part(meta, name=self.meta, content_type=JSON), *named])
        text = message if isinstance(message, str) else bytes(message).decode()
        return MessageBody([*content, Part(text, name=self.exact, content_type=JSON), *named])

    def from_body(
        self, body: MessageBody, rest: Any, role: str | None, header: Mapping[str, Any] | None
    ) -> Converted[str | dict[str, Any]]:
        """Return the message that carries a body.

        Raises:
            EnvelopeError: a part contradicts the message, or a header is missing.
        """
        if role is not None:
            raise EnvelopeError(f"{self.what} has no role; the header names its agents")
        body = self.rests.put_back(body, rest)
        # A received message is passed on unchanged, because its signature covers that text.
        if self.exact in body:
            text = body[self.exact].read_text()
            value = read_object(text, self.what)
            carried = self._carried(value)
            views = [*self._content(value, carried), *self._links(value, carried)]
            return Converted(text, check_views(body, self.exact, views, self.slots(value)))
        if self.meta in body:
            return self._put_together(body)
        if header is None:
            raise EnvelopeError(
                f"the body has neither {self.exact} nor {self.meta}, so its sender and "
                f"receiver are unknown; give a header, {self.what} without its content, or use "
                f"{self.format}.build or {self.format}.reply"
            )
        value = self.carrying(dict(header), body)
        return self.converted(body, value, self.iter_findings(value))

    def converted(
        self, body: MessageBody, message: dict[str, Any], findings: Iterable[Finding]
    ) -> Converted[Any]:
        """Return the message made of a body; the losses are hidden parts and missing members."""
        _, losses = sendable(body)
        return Converted(message, [*losses, *self.unseen(body, message), *missing(findings)])

    def carrying(self, message: dict[str, Any], body: MessageBody) -> dict[str, Any]:
        """Return a message with a body as its content, and its references listed."""
        body, _ = sendable(body)
        content = self._plain_content(body)
        if content is None:
            content = _whole(body)
        return self.listed(self._with_content(message, content), _references(body))

    def unseen(self, body: MessageBody, message: dict[str, Any]) -> Iterator[Loss]:
        """Yield the parts of a body that a reader who knows only the format does not see."""
        content = member(message, *self.place)
        if not isinstance(content, dict) or _CARRIED not in content:
            return
        for index, part in enumerate(body):
            why = _hidden(part)
            if why and not is_withheld(part):
                why = f"a reader that knows only the format does not see it; {why}"
                yield Loss(LossKind.DOWNGRADED, f"part {index} {quote(part.name or '')}", why)

    def _put_together(self, body: MessageBody) -> Converted[str | dict[str, Any]]:
        value = read_object(body[self.meta].read_bytes(), self.meta)
        slots, note = [*self.slots(value)], member(value, *self.place)
        # `_without_content` leaves this note if a message carried a whole body.
        if isinstance(note, dict) and note.get(_CARRIED) == [] and _LISTED in note:
            links = [link for link in self.links(value) if link.url not in note[_LISTED]]
            others = {self.meta, *(link.name for link in links), *(slot.name for slot in slots)}
            carried = MessageBody(part for part in body if part.name not in others)
            losses = check_views(body, self.meta, [*carried, *links], slots)
            new = [part for part in _references(carried) if part.url not in note[_LISTED]]
            return Converted(self.listed(self._with_content(value, _whole(carried)), new), losses)
        content, links = body.unnamed()[:1], [*self.links(value)]
        losses = check_views(body, self.meta, [*content, *links], slots)
        for part in content:
            value = self._with_content(value, self._value(part))
        return Converted(value, losses)

    def _content(self, value: dict[str, Any], carried: MessageBody | None) -> list[Part]:
        """Return the parts of a message's content; none if it is absent or null."""
        if carried is not None:
            return [*carried]
        return self._parts(member(value, *self.place))

    def _parts(self, content: Any) -> list[Part]:
        if content is None:
            return []
        if str in self.kinds and isinstance(content, str):
            return [Part(content, content_type=TEXT_PLAIN)]
        return [Part(strict_json.dumps(content), content_type=JSON)]

    def _value(self, part: Part) -> Any:
        if str in self.kinds and essence(part.content_type).startswith("text/"):
            return part.read_text()
        return part.read_json()

    def _plain_content(self, body: MessageBody) -> Any:
        """Return the content that is exactly equal to a body, None if there is none."""
        part = body[0] if len(body) == 1 else None
        if part is None or part.is_reference or part.local_file or part.name is not None:
            return None
        try:
            content = self._value(part)
        except MessageBodyError:
            return None
        is_content = isinstance(content, self.kinds) and self._parts(content) == [part]
        # As plain content, the other side would read it as a carried body.
        looks_carried = isinstance(content, dict) and _CARRIED in content
        return content if is_content and not looks_carried else None

    def _carried(self, value: dict[str, Any]) -> MessageBody | None:
        """Return the whole body in a message, if writing it again gives the same content."""
        content = member(value, *self.place)
        parts = content.get(_CARRIED) if isinstance(content, dict) else None
        if not isinstance(parts, list):
            return None
        try:
            body = MessageBody.from_dicts(parts)
            # It is only a body if writing it gives the same content; otherwise it only looks like
            # one.
            again = _whole(body)
        except MessageBodyError:
            return None
        urls = {part.url for part in _references(body)}
        taken = {self.exact, self.meta, *(slot.name for slot in self.slots(value))}
        taken.update(str(link.name) for link in self.links(value) if link.url not in urls)
        is_whole = strict_json.same(again, content) and taken.isdisjoint(body.names())
        return body if is_whole else None

    def _links(self, value: dict[str, Any], carried: MessageBody | None) -> Iterable[Part]:
        """Return the parts that a message points to, without those of the body that it carries."""
        if carried is None:
            return self.links(value)
        urls = {part.url for part in _references(carried)}
        return (link for link in self.links(value) if link.url not in urls)

    def _without_content(
        self, value: dict[str, Any], carried: MessageBody | None
    ) -> dict[str, Any]:
        if carried is not None:
            urls = [part.url for part in _references(carried)]
            return self._with_content(value, {_CARRIED: [], _LISTED: urls})
        holder, name = self.place
        if member(value, holder, name) is None:
            return value
        rest = {key: each for key, each in value[holder].items() if key != name}
        return {**value, holder: rest}

    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        holder, name = self.place
        held = value.get(holder)
        return {**value, holder: {**(held if isinstance(held, dict) else {}), name: content}}


def _whole(body: MessageBody) -> dict[str, Any]:
    """Return the content that carries a whole body, with its text for other readers."""
    texts = [text for part in body if (text := shown_text(part)) is not None]
    said = {_TEXT: "\n\n".join(texts)} if texts else {}
    return {**said, _CARRIED: body.to_dicts()}


def _hidden(part: Part) -> str:
    """Return why a message that carries a body neither says nor lists a part, or nothing."""
    if part.is_reference:
        return "" if is_absolute_url(part.url) else "its URL is not one that every resolver reads"
    offload = "offload it, and the message lists it as a reference"
    return offload if shown_text(part) is None else ""


def _references(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if part.is_reference and is_absolute_url(part.url)]
