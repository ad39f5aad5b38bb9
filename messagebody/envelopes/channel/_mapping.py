"""Chat input and chat output to bodies and back.

A chat is taken apart: its texts become unnamed parts, attachments with an absolute URL or inline
bytes become named parts, and the rest goes into a sidecar. Any other body travels inside a chat as
text, attachments and a manifest; see `messagebody.envelopes._embedding`.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, Literal

from messagebody._core import TEXT_PLAIN, Limits, MessageBody, Part
from messagebody.adapters import Converted, Loss
from messagebody.adapters.dialects import one_of
from messagebody.envelopes import _php as php
from messagebody.envelopes._attachments import other_attachments, put_parts, take_parts
from messagebody.envelopes._embedding import Embedder, Places, embed
from messagebody.envelopes._format import Header, inline_text
from messagebody.envelopes._values import check_json, read_object
from messagebody.errors import EnvelopeError

Chat = dict[str, Any]
Kind = Literal["input", "output"]

_ROLES: dict[str, str] = {"input": "user", "output": "assistant"}
_MEMBERS = {
    "input": {"agent", "agent_id", "message", "session_id", "run_id", "attachments",
              "client_context"},
    "output": {"session_id", "run_id", "messages", "completed", "metadata"},
}  # fmt: skip
# Ids, and the members that parts hold.
_FORMAL = {"agent", "agent_id", "session_id", "run_id", "message", "reply", "response", "completed"}


def detect(value: Any) -> bool:
    """Return whether a parsed JSON value looks like chat input or chat output.

    Examples:
        >>> detect({"agent": "demo", "message": "Hello!"}), detect({"role": "user", "content": ""})
        (True, False)
    """
    # A message of agents-api has `content`, and a request of JSON-RPC has `jsonrpc`.
    if not isinstance(value, dict) or "content" in value or "jsonrpc" in value:
        return False
    if isinstance(value.get("message"), str):
        return "agent" in value or "session_id" in value or "client_context" in value
    return "session_id" in value and not {"reply", "messages", "response"}.isdisjoint(value)


def _kind(value: Chat) -> Kind:
    if "message" in value:
        if not isinstance(value["message"], str):
            raise EnvelopeError("the message of a chat is text")
        return "input"
    if {"reply", "messages", "response"}.isdisjoint(value):
        raise EnvelopeError("a chat is an object with a message, or with a reply")
    return "output"


_NO_TEXT = "the reference refuses a chat without text; a placeholder says something in its place"


class _ChannelFormat(Embedder):
    name = "channel"
    what = "chat"
    sidecar = "/meta/channel.json"
    members = frozenset(_MEMBERS["input"] | _MEMBERS["output"])
    depth = php.JSON_DEPTH

    def read(self, message: Any, limits: Limits) -> tuple[Chat, tuple[Loss, ...]]:
        value = read_object(message, self.what, limits=limits, depth=self.depth_within(limits))
        _kind(value)
        return value, ()

    def places(self, message: Chat) -> Places:
        if "message" in message:
            return Places(None, "client_context")
        return Places("metadata", "metadata")

    def texts(self, message: Chat) -> Iterable[list[str] | str]:
        text = message["message"] if "message" in message else message.get("reply")
        # A placeholder is not a text of the body.
        return (text, "") if isinstance(text, str) else ("",)

    def unread_members(self, value: dict[str, Any]) -> list[str]:
        chat = {name: each for name, each in value["chat"].items() if name not in _FORMAL}
        if not other_attachments(chat.get("attachments"), value.get("attachments") or {}):
            chat.pop("attachments", None)
        return [name for name, each in chat.items() if each]

    def writing_losses(
        self, message: Chat, body: MessageBody, header: Header  # noqa: ARG002 - others need it
    ) -> Iterable[Loss]:  # fmt: skip
        for name, kind in {"attachments": list, "client_context": dict, "metadata": dict}.items():
            if not isinstance((header or {}).get(name, kind()), kind):
                yield Loss("omitted", name, f"it is no {kind.__name__}")
        yield from _missing_text(message)

    # A chat in parts, and again

    def take_apart(self, message: Chat) -> tuple[list[Part], dict[str, Any]]:
        chat, kind, parts = _with_own_messages(message), _kind(message), []
        places = _text_places(chat, kind)
        for place in places:
            value = _get(chat, place)
            parts.append(Part(php.text_of(value), content_type=TEXT_PLAIN))
            # A number stays, because its text would not show that it was a number.
            if isinstance(value, str):
                _set(chat, place, None)
        taken, rests = take_parts(self.attachments(message))
        if taken:
            chat = self.with_attachments(chat, rests)
        aliases = {each.part.name: each.alias for each in taken}
        left = _left(kind, {"chat": chat, "said": places, "attachments": aliases})
        return [*parts, *(each.part for each in taken)], left

    def is_sidecar(self, value: dict[str, Any]) -> bool:
        return isinstance(value.get("chat"), dict) and value.get("kind") in ("input", "output")

    def put_together(self, body: MessageBody, left: dict[str, Any]) -> Chat | None:
        chat = _with_own_messages(left["chat"])
        # `strict` checks that there are as many texts as were taken out.
        for part, place in zip(body.unnamed(), left["said"], strict=True):
            _set_text(chat, place, inline_text(part))
        if left["attachments"]:
            chat = self.with_attachments(
                chat, put_parts(self.attachments(chat), left["attachments"], body)
            )
        check_json(chat, self.what, depth=self.depth)
        return chat if _kind(chat) == left["kind"] else None

    # Any body in a chat

    def foreign_left(self, role: str | None, stated: str | None, header: Header) -> dict[str, Any]:
        header = header or {}
        if role is not None:
            one_of("role", role, ("user", "assistant"))
        kind: Kind = "output" if (role or stated) == "assistant" else "input"
        if strange := sorted(header.keys() - _MEMBERS[kind]):
            raise EnvelopeError(f"the header of chat {kind} has no member {strange[0]}")
        return {"kind": kind, "chat": dict(header), "placeholder": header.get("message")}

    def from_own_body(self, body: MessageBody, left: Any, role: str | None) -> Converted[Any]:
        message = super().from_own_body(body, left, role).value
        return Converted(message, _missing_text(message))

    def carry(self, body: MessageBody, left: dict[str, Any]) -> Chat:
        embedded = embed(body, inline_as="data")
        text, placeholder = embedded.joined, left.get("placeholder")
        if left["kind"] == "output":
            chat = {"completed": True, **_with_texts(left, body), "reply": text}
        else:
            if not embedded.texts and isinstance(placeholder, str):
                text = placeholder
            given = {"agent": "", "message": "", "session_id": None}
            chat = {**given, **_with_texts(left, body), "message": text}
        return self.with_body(self.without_taken(chat, left.get("attachments")), embedded)

    def left_beside(self, others: dict[str, Any], body: MessageBody) -> dict[str, Any]:
        chat = {key: value for key, value in others.items() if key not in ("message", "reply")}
        left: dict[str, Any] = {"chat": chat}
        if "message" in others and not body.unnamed():
            left["placeholder"] = others["message"]
        return _left(_kind(others), left)


_FORMAT = _ChannelFormat()

to_body = _FORMAT.to_body
"""Return the body of chat input or chat output; nothing is lost.

Input has a `message`; output has a `reply`, `messages` or a `response`.
"""

to_bodies = _FORMAT.to_bodies
"""Return the body of each chat; `rest` is the list of their rests."""

from_body = _FORMAT.from_body
"""Return the chat input or output of a body.

A body from elsewhere travels whole: its text as message or reply, other parts as attachments, its
manifest as JSON text in `client_context.messagebody` or `metadata.messagebody`. The role "user"
gives input, "assistant" gives output; without a role, it is input. The reference refuses input
without a text: a `message` in the header stands in for it.
"""

from_bodies = _FORMAT.from_bodies
"""Return the chat of each body."""


def _missing_text(chat: Chat) -> Iterator[Loss]:
    if "message" in chat and not php.optional_text(chat["message"]):
        yield Loss("downgraded", "message", _NO_TEXT)


def _left(kind: Kind, members: dict[str, Any]) -> dict[str, Any]:
    # Chats have no roles, but other formats do: who asks is the user.
    return {"kind": kind, "role": _ROLES[kind], **members}


def _with_own_messages(chat: Chat) -> Chat:
    """Return a copy of a chat whose list of messages can be changed."""
    messages = chat.get("messages")
    return {**chat, "messages": [*messages]} if isinstance(messages, list) else dict(chat)


Place = str | int
"""Where a chat has a text: the name of a member, or the position of a message."""


def _text_places(chat: Chat, kind: Kind) -> list[Place]:
    for name in ("message",) if kind == "input" else ("reply", "response"):
        if php.optional_text(chat.get(name)) is not None:
            return [name]
    messages = chat.get("messages")
    if kind == "input" or not isinstance(messages, list):
        return []
    return [
        index
        for index, message in enumerate(messages)
        if isinstance(message, dict)
        and message.get("role") == "assistant"
        and php.optional_text(message.get("content")) is not None
    ]


def _get(chat: Chat, place: Place) -> Any:
    return chat[place] if isinstance(place, str) else chat["messages"][place]["content"]


def _set(chat: Chat, place: Place, value: Any) -> None:
    if isinstance(place, str):
        chat[place] = value
    else:
        chat["messages"][place] = {**chat["messages"][place], "content": value}


def _with_texts(left: dict[str, Any], body: MessageBody) -> Chat:
    """Return a chat whose texts are those of a body, in their places, as far as they are inline."""
    chat, places = _with_own_messages(left["chat"]), left.get("said") or []
    texts = [part.text or "" for part in body.unnamed()]
    for place, text in zip_longest(places, texts[: len(places)], fillvalue=""):
        _set_text(chat, place, text)
    return chat


def _set_text(chat: Chat, place: Place, text: str) -> None:
    """Put a text in its place, where the number stays that it was read from."""
    value = _get(chat, place)
    if value is None or php.text_of(value) != text:
        _set(chat, place, text)
