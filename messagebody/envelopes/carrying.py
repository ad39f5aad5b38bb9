"""One way of mapping for formats whose messages hold one content and point to files.

A message received as text keeps its text in one part, with views beside it. A message given as
a value is taken apart: its content becomes parts, the rest goes to a sidecar. A body that never
was such a message travels whole, as the content's only member `messagebody`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from messagebody import strict_json
from messagebody.body import MessageBody
from messagebody.envelopes.conversion import Converted
from messagebody.envelopes.received import (
    JSON,
    Message,
    Slot,
    check_views,
    member,
    read_object,
)
from messagebody.errors import EnvelopeError, MessageBodyError
from messagebody.media_types import TEXT_PLAIN, essence
from messagebody.part import Part

__all__ = ["Carrier"]

_CARRIED = "messagebody"


@attrs.frozen
class Carrier:
    """Describe how a format's messages carry a body.

    Arguments:
        what: the format's word for a message, with its article.
        exact: the name of the part with a received message's text.
        meta: the name of the sidecar of a message taken apart.
        place: the object and member that hold the content.
        links: gives the reference parts a message points to.
        slots: gives the names under which files a message points to may lie.
        as_text: whether content that is text becomes a part of text.
    """

    what: str
    exact: str
    meta: str
    place: tuple[str, str]
    links: Callable[[dict[str, Any]], Iterable[Part]]
    slots: Callable[[dict[str, Any]], Iterable[Slot]] = lambda _: ()
    as_text: bool = False

    def to_body(
        self, message: Message, files: Callable[[dict[str, Any]], Iterable[Part]] = lambda _: ()
    ) -> MessageBody:
        """Return the body of a message; `files` gives the parts for files it points to.

        Raises:
            EnvelopeError: the message is no strict JSON object.
        """
        value = read_object(message, self.what)
        named = {part.name: part for part in (*self.links(value), *files(value))}.values()
        content = self._content(value)
        if isinstance(message, Mapping):
            meta = strict_json.dumps(self._without_content(value))
            return MessageBody([*content, Part(meta, name=self.meta, content_type=JSON), *named])
        text = message if isinstance(message, str) else bytes(message).decode()
        return MessageBody([*content, Part(text, name=self.exact, content_type=JSON), *named])

    def from_body(
        self, body: MessageBody, header: Mapping[str, Any] | None
    ) -> Converted[str | dict[str, Any]]:
        """Return the message that carries a body.

        Raises:
            EnvelopeError: a part contradicts the message, or a header is missing.
        """
        if self.exact in body:
            text = body[self.exact].read_text()
            value = read_object(text, self.what)
            views = [*self._content(value), *self.links(value)]
            return Converted(text, check_views(body, self.exact, views, self.slots(value)))
        if self.meta in body:
            return self._put_together(body)
        if header is None:
            raise EnvelopeError(
                f"the body has neither {self.exact} nor {self.meta}, so nobody says who sends it "
                f"to whom; give a header: {self.what} without its content"
            )
        return Converted(self._with_content(dict(header), {_CARRIED: body.to_dicts()}))

    def _put_together(self, body: MessageBody) -> Converted[str | dict[str, Any]]:
        value = read_object(body[self.meta].read_bytes(), self.meta)
        links, slots = [*self.links(value)], [*self.slots(value)]
        if member(value, *self.place) == {_CARRIED: []}:
            others = {self.meta, *(link.name for link in links), *(slot.name for slot in slots)}
            carried = MessageBody(part for part in body if part.name not in others)
            views = [*carried, *links]
            losses = check_views(body, self.meta, views, slots)
            return Converted(self._with_content(value, {_CARRIED: carried.to_dicts()}), losses)
        content = body.unnamed()[:1]
        losses = check_views(body, self.meta, [*content, *links], slots)
        for part in content:
            value = self._with_content(value, self._value(part))
        return Converted(value, losses)

    def _content(self, value: dict[str, Any]) -> list[Part]:
        """Return the parts a message's content stands for; none if it is absent or null."""
        carried = self._carried(value)
        if carried is not None:
            return [*carried]
        content = member(value, *self.place)
        if content is None:
            return []
        if self.as_text and isinstance(content, str):
            return [Part(content, content_type=TEXT_PLAIN)]
        return [Part(strict_json.dumps(content), content_type=JSON)]

    def _value(self, part: Part) -> Any:
        if self.as_text and essence(part.content_type).startswith("text/"):
            return part.read_text()
        return part.read_json()

    def _carried(self, value: dict[str, Any]) -> MessageBody | None:
        """Return the body a message carries whole, if writing it again gives the same content."""
        content = member(value, *self.place)
        parts = content.get(_CARRIED) if isinstance(content, dict) and len(content) == 1 else None
        if not isinstance(parts, list):
            return None
        try:
            body = MessageBody.from_dicts(parts)
            again = body.to_dicts()
        except MessageBodyError:
            return None
        taken = {self.exact, self.meta, *(slot.name for slot in self.slots(value))}
        taken.update(str(link.name) for link in self.links(value))
        return body if strict_json.same(again, parts) and taken.isdisjoint(body.names()) else None

    def _without_content(self, value: dict[str, Any]) -> dict[str, Any]:
        if self._carried(value) is not None:
            return self._with_content(value, {_CARRIED: []})
        holder, name = self.place
        if member(value, holder, name) is None:
            return value
        rest = {key: each for key, each in value[holder].items() if key != name}
        return {**value, holder: rest}

    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        holder, name = self.place
        held = value.get(holder)
        return {**value, holder: {**(held if isinstance(held, dict) else {}), name: content}}
