"""The mapping between a body and an agents-api message."""

from collections.abc import Iterable
from typing import Any

from messagebody._core import TEXT_PLAIN, Limits, MessageBody, Part
from messagebody.adapters import Loss
from messagebody.adapters.dialects import messages_of, refuse_conversation
from messagebody.envelopes import _php as php
from messagebody.envelopes._attachments import (
    is_absolute_url,
    media_type,
    other_attachments,
    put_parts,
    take_parts,
)
from messagebody.envelopes._embedding import Embedder, Places, embed
from messagebody.envelopes._format import Header, inline_json, inline_text
from messagebody.envelopes._values import json_part, read_within
from messagebody.envelopes.agents_api._findings import iter_drops
from messagebody.envelopes.agents_api._normalize import (
    MESSAGE_KEYS,
    SCHEMA,
    VERSION,
    Envelope,
    as_message,
    is_envelope,
    kept_text_fields,
    normalize,
)
from messagebody.errors import InvalidArgument


def content_parts(content: Any) -> tuple[list[Part], Any]:
    """Return the unnamed parts of a content, and a note of its original form."""
    if content == "":
        return [], ""
    if isinstance(content, str):
        return [Part(content, content_type=TEXT_PLAIN)], "text"
    if isinstance(content, dict):
        return [json_part(content)], "value"
    parts, notes = [], []
    for block in content:
        part, note = _block_part(block)
        parts.append(part)
        notes.append(note)
    return parts, notes


def _block_part(block: Any) -> tuple[Part, Any]:
    if isinstance(block, str):
        return Part(block, content_type=TEXT_PLAIN), "string"
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        # The note needs only two members; other members of the block are kept in it.
        note = "text" if len(block) == 2 else {**block, "text": None}
        return Part(block["text"], content_type=TEXT_PLAIN), note
    image = block.get("image_url") if kind == "image_url" else None
    url = image.get("url") if isinstance(image, dict) else image
    if is_absolute_url(url):
        left = {**image, "url": None} if isinstance(image, dict) else None
        part = Part(url=url, content_type=media_type("image", url))
        return part, {**block, "image_url": left}
    return json_part(block), "json"


def content_of(note: Any, parts: list[Part]) -> Any:
    """Return the content that parts and note describe.

    Raises:
        ValueError: there are more or fewer parts than in the note, or they are references.
    """
    if note == "":
        return ""
    if isinstance(note, list):
        # `strict` checks that there are as many parts as there were blocks.
        pairs = zip(parts, note, strict=True)
        return [_block_of(part, each) for part, each in pairs]
    (part,) = parts
    return inline_text(part) if note == "text" else _read_json(part)


def _block_of(part: Part, note: Any) -> Any:
    if note == "json":
        return _read_json(part)
    if note == "string":
        return inline_text(part)
    if note == "text":
        return {"type": "text", "text": inline_text(part)}
    if note["type"] == "text":
        return {**note, "text": inline_text(part)}
    image = note["image_url"]
    return {**note, "image_url": part.url if image is None else {**image, "url": part.url}}


def detect(value: Any) -> bool:
    """Return whether a parsed JSON value looks like a message of agents-api.

    Examples:
        >>> detect({"role": "user", "content": "Hello!"}), detect([{"content": "Hello!"}])
        (True, False)
    """
    if not isinstance(value, dict):
        return False
    # Blocks of content are those of a provider, whose format says more about them.
    is_plain = "role" in value and isinstance(value.get("content"), str)
    return value.get("schema") == SCHEMA or is_envelope(value) or is_plain


_PAYLOAD_NAMES = {
    "tool_call": "/tool/call.json",
    "tool_result": "/tool/result.json",
    "approval_required": "/approval/request.json",
    "error": "/error.json",
    "final_result": "/result.json",
}


class _AgentsApiFormat(Embedder):
    name = "agents-api"
    what = "agents-api message"
    sidecar = "/meta/agents-api.json"
    members = frozenset(MESSAGE_KEYS) - {"content"}
    depth = php.JSON_DEPTH

    def read(self, message: Any, limits: Limits) -> tuple[Envelope, tuple[Loss, ...]]:
        value = read_within(message, self.what, limits, self.depth_within(limits))
        refuse_conversation(messages_of(value), "convert each message by itself")
        row = as_message(value, "WP_Agent_Message::normalize(): Argument #1 ($message)")
        return _with_spelling_of(normalize(row), row), tuple(iter_drops(row))

    def places(self, message: Envelope) -> Places:  # noqa: ARG002 - all have the same
        return Places("metadata", "metadata")

    def texts(self, message: Envelope) -> Iterable[list[str] | str]:
        content = message["content"]
        if isinstance(content, str):
            return (content,)
        return ([each["text"] for each in content if isinstance(each, dict) and "text" in each],)

    def unread_members(self, value: dict[str, Any]) -> list[str]:
        metadata = value["metadata"]
        if not isinstance(metadata, dict):
            return ["metadata"] if metadata else []
        left = other_attachments(metadata.get("attachments"), value.get("attachments") or {})
        found = ["metadata"] if metadata.keys() - {"attachments"} else []
        return [*found, *(["metadata.attachments"] if left else [])]

    def writing_losses(
        self, message: Envelope, body: MessageBody, header: Header  # noqa: ARG002 - others need it
    ) -> Iterable[Loss]:  # fmt: skip
        return iter_drops({**message, **header}) if header else ()

    # An envelope in parts, and again

    def take_apart(self, message: Envelope) -> tuple[list[Part], dict[str, Any]]:
        left = {key: value for key, value in message.items() if key not in ("content", "payload")}
        parts, left["content"] = content_parts(message["content"])
        if message["payload"]:
            parts.append(json_part(message["payload"], _payload_name(message["type"])))
        else:
            left["payload"] = message["payload"]
        taken, rests = take_parts(self.attachments(message))
        if taken:
            parts += [each.part for each in taken]
            left = self.with_attachments(left, rests)
            left["attachments"] = {each.part.name: each.alias for each in taken}
        return parts, left

    def is_sidecar(self, value: dict[str, Any]) -> bool:
        return value.get("schema") == SCHEMA

    def put_together(self, body: MessageBody, left: dict[str, Any]) -> Envelope:
        envelope = {key: left[key] for key in MESSAGE_KEYS if key in left}
        envelope["content"] = content_of(left["content"], body.unnamed())
        envelope["payload"] = _payload(body, left)
        if "attachments" in left:
            attached = left["metadata"]["attachments"]
            envelope = self.with_attachments(
                envelope, put_parts(attached, left["attachments"], body)
            )
        return _with_spelling_of(normalize(envelope), envelope)

    # Any body in an envelope

    def foreign_left(self, role: str | None, stated: str | None, header: Header) -> dict[str, Any]:
        if role is not None and not isinstance(role, str):
            raise InvalidArgument("a role, such as 'user'", role)
        left = {"role": stated or "assistant", **(header or {})}
        return left if role is None else {**left, "role": role}

    def carry(self, body: MessageBody, left: dict[str, Any]) -> Envelope:
        embedded = embed(body, inline_as="url")
        several = len(embedded.texts) > 1
        blocks = [{"type": "text", "text": text} for text in embedded.texts]
        payload, metadata = _payload(body, left), left.get("metadata")
        row: dict[str, Any] = {
            "schema": SCHEMA,
            "version": VERSION,
            "type": left.get("type", "multimodal_part" if several else "text"),
            "role": left.get("role"),
            "content": blocks if several else embedded.joined,
            "payload": payload if php.is_array(payload) else {},
            "metadata": dict(php.as_map(metadata)) if php.is_array(metadata) else {},
            **kept_text_fields(left),
        }
        row = self.without_taken(row, left.get("attachments"))
        if not row["metadata"].get("attachments"):
            row["metadata"].pop("attachments", None)
        row = self.with_body(row, embedded)
        return _with_spelling_of(normalize(row), row)

    def left_beside(self, others: dict[str, Any], body: MessageBody) -> dict[str, Any]:
        gone = {"content", *(["payload"] if _payload_name(others["type"]) in body else [])}
        return {key: each for key, each in others.items() if key not in gone}


_FORMAT = _AgentsApiFormat()

to_body = _FORMAT.to_body
"""Return the body of a message: an envelope, a plain message, or JSON text of one.

The losses are the members that normalising drops; an envelope loses nothing.
"""

to_bodies = _FORMAT.to_bodies
"""Return the body of each message; `rest` is the list of their rests."""

from_body = _FORMAT.from_body
"""Return the envelope of a body.

A body from elsewhere travels whole: its text in `content`, other parts in `metadata.attachments`,
its manifest as JSON text in `metadata.messagebody`. Without a role, the assistant speaks.
"""

from_bodies = _FORMAT.from_bodies
"""Return the envelope of each body."""


def _with_spelling_of(envelope: Envelope, row: dict[str, Any]) -> Envelope:
    """Keep the spelling of empty maps in an envelope of PHP's form."""
    for key in ("payload", "metadata"):
        # PHP writes an empty map as `[]`; a message should come back with the same spelling.
        if not envelope[key] and isinstance(row.get(key), list):
            envelope[key] = []
    return envelope


def _payload_name(type_: str) -> str:
    return _PAYLOAD_NAMES.get(type_) or f"/payload/{type_}.json"


def _payload(body: MessageBody, left: dict[str, Any]) -> Any:
    part = body.get(_payload_name(str(left.get("type"))))
    return left.get("payload", {}) if part is None else _read_json(part)


def _read_json(part: Part) -> Any:
    return inline_json(part, php.JSON_DEPTH)
