"""Chat input and chat output to bodies and back.

A chat is taken apart: its texts become unnamed parts, attachments with an absolute URL or inline
bytes become named parts, and the rest goes into a sidecar. Any other body travels inside a chat as
text, attachments and a manifest; see `messagebody.envelopes._embedding`. Each conversion
is checked by converting its result back.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any, Literal

import attrs

from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.media_types import TEXT_PLAIN
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody.adapters import Converted, Loss, converted_each
from messagebody.adapters.dialects import one_of
from messagebody.envelopes import _php as php
from messagebody.envelopes._attachments import not_taken, put_parts, take_parts
from messagebody.envelopes._embedding import embed, extract, inline_text, is_same
from messagebody.envelopes._rests import Rests, sendable
from messagebody.errors import EnvelopeError, MessageBodyError

Chat = dict[str, Any]
Kind = Literal["input", "output"]

SIDECAR = "/meta/channel.json"
# Ids, and the members that parts hold.
_FORMAL = {"agent", "agent_id", "session_id", "run_id", "message", "reply", "response", "completed"}


def _missed(sidecar: dict[str, Any]) -> list[str]:
    chat = {name: value for name, value in sidecar["chat"].items() if name not in _FORMAL}
    if not not_taken(chat.get("attachments"), sidecar.get("attachments") or {}):
        chat.pop("attachments", None)
    return [name for name, value in chat.items() if value]


_RESTS = Rests("channel", SIDECAR, _missed)

_EMBEDDED = "messagebody"
_ROLES: dict[Kind, str] = {"input": "user", "output": "assistant"}


@attrs.frozen
class _ChatPlaces:
    """The places of attachments, and of the manifest of a carried body, in a kind of chat.

    `attached` is a member of the object at `attached_in`, or of the chat itself.
    """

    noted_in: str
    attached_in: str | None


_SHAPES: dict[str, _ChatPlaces] = {
    "input": _ChatPlaces("client_context", None),
    "output": _ChatPlaces("metadata", "metadata"),
}


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


def to_body(
    chat: Any, /, *, rest: str | None = "beside", limits: Limits = DEFAULT_LIMITS
) -> Converted[MessageBody]:
    """Return the body of chat input or chat output; nothing is lost.

    Arguments:
        chat: parsed JSON, or JSON as text or bytes.
        rest: where to put the members that are not content: "beside" the body, as the `rest` of the
            result, which `from_body` takes back; or in a "part", for those who store bodies.
        limits: what to take before refusing.

    Raises:
        DecodeError: it goes beyond a limit.
        EnvelopeError: it is neither input, which has a `message`, nor output, which has a
            `reply`, `messages` or `response`; or it can't be JSON.

    Examples:
        >>> files = [{"url": "https://e.com/a.png", "mimeType": "image/png"}]
        >>> body = to_body({"agent": "demo", "message": "Look!", "attachments": files}).value
        >>> body.read_text(), body.names()
        ('Look!', ['/attachments/1/file'])
    """
    value = php.from_text(chat, "chat", limits)
    if not isinstance(value, Mapping):
        raise EnvelopeError("a chat is an object with a message, or with a reply")
    value = dict(value)
    problem = php.find_unencodable(value)
    if problem is not None:
        raise EnvelopeError(f"a chat is JSON: {problem}")
    kind = _kind(value)
    body = _brought(value, kind)
    return _RESTS.converted(_decomposed(value, kind) if body is None else body, rest, limits)


def to_bodies(chats: Iterable[Any], /, **options: Any) -> Converted[list[MessageBody]]:
    """Return the body of each chat; `rest` is the list of their rests.

    Arguments:
        chats: the chats, each as `to_body` takes it.
        **options: those of `to_body`.
    """
    return converted_each(chats, partial(to_body, **options))


def from_body(
    body: MessageBody,
    /,
    *,
    rest: Any = None,
    role: str | None = None,
    header: Mapping[str, Any] | None = None,
) -> Converted[Chat]:
    """Return the chat input or output of a body.

    A body that `to_body` made gives its original chat, with later edits. Any other body travels
    whole: its text as message or reply, other parts as attachments, its manifest as JSON text in
    `client_context.messagebody` or `metadata.messagebody`. Parts that keep members of another
    message are left out.

    Arguments:
        body: the body.
        rest: what `to_body` returned as `rest`, if it is beside the body. If another format
            returned it, only the role is used.
        role: who speaks in a body that is not from a chat: a "user" gives input, the "assistant"
            output; by default the role in `rest`, or "user".
        header: for such a body, the chat without its text, such as
            `{"agent": "demo", "session_id": "s-1"}`. The reference refuses input without a text:
            a `message` here stands in for it.

    Raises:
        LocalFileNotSent: a part is still a local file.
        EnvelopeError: the sidecar of the body is not a valid chat.

    Examples:
        >>> chat, losses = from_body(MessageBody([Part(b"GIF89a", name="/cats.gif")]))
        >>> chat["attachments"][0]["filename"], str(losses[0])[:18]
        ('cats.gif', 'downgraded message')
    """
    body = _RESTS.put_back(body, rest)
    sidecar = _sidecar(body)
    if sidecar is None:
        body, losses = sendable(body, SIDECAR)
        header = header or {}
        kind = _kind_of(role, _RESTS.role(rest))
        made = _embedding(body, kind, header, placeholder=header.get("message"))
        return Converted(made, [*losses, *_complaints(made)])
    try:
        made = _resumed(body, sidecar, (header or {}).get("message"))
    except MessageBodyError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise EnvelopeError(f"the part {SIDECAR} makes no chat") from error
    return Converted(made, _complaints(made))


def _kind_of(role: str | None, said: str | None) -> Kind:
    """Return what a speaker writes, given the role that is asked for and that of another format."""
    if role is not None:
        one_of("role", role, ("user", "assistant"))
    return "output" if (role or said) == "assistant" else "input"


def _resumed(body: MessageBody, sidecar: dict[str, Any], placeholder: Any) -> Chat:
    """Return the chat of a body with a sidecar: made from the parts, or carrying the body."""
    kind, embedded = sidecar["kind"], sidecar.get("embedded")
    chat = None if embedded else _rebuilt(body, sidecar)
    if chat is not None and is_same(_decomposed(chat, kind), body, SIDECAR):
        return chat
    rest = MessageBody([part for part in body if part.name != SIDECAR])
    said = sidecar["chat"] if embedded else _without_taken(sidecar, body)
    stated = sidecar.get("placeholder", placeholder)
    return _embedding(rest, kind, said, placeholder=stated)


def _complaints(chat: Chat) -> list[Loss]:
    if "message" not in chat or php.optional_text(chat["message"]):
        return []
    why = "the reference refuses a chat without text; a placeholder says something in its place"
    return [Loss("downgraded", "message", why)]


def _kind(value: Chat) -> Kind:
    if "message" in value:
        if not isinstance(value["message"], str):
            raise EnvelopeError("the message of a chat is text")
        return "input"
    if {"reply", "messages", "response"}.isdisjoint(value):
        raise EnvelopeError("a chat is an object with a message, or with a reply")
    return "output"


# A chat in parts


def _decomposed(chat: Chat, kind: Kind) -> MessageBody:
    rest = dict(chat)
    parts, said = _said_parts(rest, kind)
    taken, left = take_parts(_attached(rest, kind))
    if taken:
        _attach(rest, kind, left)
    aliases = {each.part.name: each.alias for each in taken}
    sidecar = _sidecar_part(kind, {"chat": rest, "said": said, "attachments": aliases})
    return MessageBody([*parts, *(each.part for each in taken), sidecar])


def _sidecar_part(kind: Kind, members: Chat) -> Part:
    # Chats have no roles, but other formats do: who asks is the user.
    value = {"kind": kind, "role": _ROLES[kind], **members}
    return Part(strict_json.dumps(value), name=SIDECAR, content_type="application/json")


def _said_parts(rest: Chat, kind: str) -> tuple[list[Part], list[Any]]:
    """Take the texts out of a chat; return them as parts, and their places.

    A place is the name of a member, or the position of a message. Null replaces each text; a number
    that is read as text stays in its place.
    """
    single = ("message",) if kind == "input" else ("reply", "response")
    for key in single:
        if php.trim(php.text_of(rest.get(key))):
            text, rest[key] = php.text_of(rest[key]), _left_of(rest[key])
            return [Part(text, content_type=TEXT_PLAIN)], [key]
    messages = rest.get("messages")
    if kind == "input" or not isinstance(messages, list):
        return [], []
    places = [index for index, message in enumerate(messages) if _is_spoken(message)]
    parts = [
        Part(php.text_of(messages[index]["content"]), content_type=TEXT_PLAIN) for index in places
    ]
    rest["messages"] = messages = list(messages)
    for index in places:
        message = messages[index]
        messages[index] = {**message, "content": _left_of(message["content"])}
    return parts, places


def _left_of(value: Any) -> Any:
    # A number stays, because its text would not show that it was a number.
    return None if isinstance(value, str) else value


def _is_spoken(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") == "assistant"
        and php.optional_text(message.get("content")) is not None
    )


def _holder(chat: Chat, kind: str) -> Any:
    place = _SHAPES[kind].attached_in
    return chat if place is None else chat.get(place)


def _attached(chat: Chat, kind: str) -> list[Any]:
    holder = _holder(chat, kind)
    attached = holder.get("attachments") if isinstance(holder, dict) else None
    return attached if isinstance(attached, list) else []


def _attach(chat: Chat, kind: str, attachments: list[Any]) -> None:
    place = _SHAPES[kind].attached_in
    if place is None:
        chat["attachments"] = attachments
    else:
        held = chat.get(place)
        chat[place] = {**(held if isinstance(held, dict) else {}), "attachments": attachments}


# A chat from parts


def _sidecar(body: MessageBody) -> dict[str, Any] | None:
    part = body.get(SIDECAR)
    if part is None or part.is_reference or part.local_file:
        return None
    try:
        # In its sidecar, the chat is one level deeper.
        value = strict_json.loads(part.read_bytes(), depth=php.JSON_DEPTH + 1)
    except strict_json.InvalidJson:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("chat"), dict):
        return None
    return value if value.get("kind") in ("input", "output") else None


def _rebuilt(body: MessageBody, sidecar: dict[str, Any]) -> Chat | None:
    """Return the chat of the parts, None if they are not the parts listed in the sidecar."""
    chat, kind = dict(sidecar["chat"]), sidecar["kind"]
    try:
        if isinstance(chat.get("messages"), list):
            chat["messages"] = list(chat["messages"])
        # `strict` checks that there are as many texts as were taken out.
        for part, place in zip(body.unnamed(), sidecar["said"], strict=True):
            _say(chat, place, inline_text(part))
        if sidecar["attachments"]:
            _attach(chat, kind, put_parts(_attached(chat, kind), sidecar["attachments"], body))
        return chat if _kind(chat) == kind and php.find_unencodable(chat) is None else None
    except (MessageBodyError, LookupError, TypeError, ValueError, AttributeError):
        return None  # the parts were edited and no longer fit, so the whole body is carried


def _say(chat: Chat, place: Any, text: str) -> None:
    if isinstance(place, str):
        chat[place] = _kept(chat[place], text)
    else:
        message = chat["messages"][place]
        chat["messages"][place] = {**message, "content": _kept(message["content"], text)}


def _kept(left: Any, text: str) -> Any:
    """Return the original value of `text`: the number that it was read from, or the text."""
    return left if left is not None and php.text_of(left) == text else text


# Any body in a chat


def _without_taken(sidecar: dict[str, Any], body: MessageBody) -> Chat:
    """Return a sidecar without the attachments that are parts, which are embedded again.

    Texts go back to their places if they are inline.
    """
    chat, kind = dict(sidecar["chat"]), sidecar["kind"]
    texts = [part.text or "" for part in body.unnamed()]
    places = sidecar.get("said") or []
    if isinstance(chat.get("messages"), list):
        chat["messages"] = list(chat["messages"])
    for place, text in zip_longest(places, texts[: len(places)], fillvalue=""):
        _say(chat, place, text)
    aliases = sidecar.get("attachments")
    if aliases:
        _attach(chat, kind, not_taken(_attached(chat, kind), aliases))
    return chat


def _embedding(
    body: MessageBody,
    kind: str,
    said: Mapping[str, Any],
    placeholder: Any = None,
) -> Chat:
    """Return a chat that carries a whole body; `said` has the members of a sidecar or header."""
    embedded = embed(body, inline_as="data")
    text = embedded.joined
    if kind == "input":
        given = {"agent": "", "message": "", "session_id": None}
        if not embedded.texts and isinstance(placeholder, str):
            text = placeholder
        chat: Chat = {**given, **said, "message": text}
    else:
        chat = {**said, "reply": text}
        chat.setdefault("completed", True)
    if embedded.attachments or kind == "input":
        _attach(chat, kind, [*_attached(chat, kind), *embedded.attachments])
    place = _SHAPES[kind].noted_in
    held = chat.get(place)
    chat[place] = {**(held if isinstance(held, dict) else {}), _EMBEDDED: embedded.manifest}
    return chat


def _brought(chat: Chat, kind: Kind) -> MessageBody | None:
    """Return the body that a chat carries, None if it carries none."""
    held = chat.get(_SHAPES[kind].noted_in)
    manifest = held.get(_EMBEDDED) if isinstance(held, dict) else None
    if not isinstance(manifest, str):
        return None
    text = chat.get("message" if kind == "input" else "reply")
    for said in (text, ""):  # a placeholder is not a text of the body
        extracted = (
            extract(said, _attached(chat, kind), manifest) if isinstance(said, str) else None
        )
        if extracted is not None and SIDECAR not in extracted[0]:
            return _verified(*extracted, chat, kind)
    return None


def _verified(body: MessageBody, own: int, chat: Chat, kind: Kind) -> MessageBody | None:
    if strict_json.same(_embedding(body, kind, {}), chat):
        return body
    said = {key: value for key, value in chat.items() if key not in ("message", "reply")}
    attached = _attached(chat, kind)
    if attached or kind == "input":
        _attach(said, kind, attached[: len(attached) - own])
    place = _SHAPES[kind].noted_in
    said[place] = {key: value for key, value in said[place].items() if key != _EMBEDDED}
    sidecar: Chat = {"embedded": True, "chat": said}
    if kind == "input" and not any(part.name is None for part in body):
        sidecar["placeholder"] = chat["message"]
    body.append(_sidecar_part(kind, sidecar))
    return body if strict_json.same(from_body(body, role=_ROLES[kind]).value, chat) else None
