"""An external message in the shape that all channels share, and the chat input made of it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Self

import attrs

from messagebody.envelopes import _php as php
from messagebody.errors import EnvelopeError

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")
_ROOM_KINDS = ("dm", "group", "channel", None)


def normal_slug(text: str) -> str:
    """Return text in the form in which slugs are compared: hyphens, lower case, trimmed.

    Examples:
        >>> normal_slug(" Whats_App ")
        'whats-app'
    """
    return php.trim(php.lower(text.replace("_", "-")))


def _optional(text: str | None) -> str | None:
    return None if text is None else php.trim(text) or None


def _listed(values: Iterable[Any]) -> list[Any]:
    return [*values]


@attrs.frozen
class ExternalMessage:
    """A message from an outside network: trimmed, its slugs checked.

    Arguments:
        text: what was said.
        connector_id: the connector, or instance of a channel; a slug.
        external_provider: the network, such as "whatsapp"; a slug.
        external_conversation_id: the room there.
        external_message_id: the message there.
        sender_id: who sent it there.
        from_self: whether the channel's own account sent it.
        room_kind: "dm", "group", "channel" or None.
        attachments: what the channel knows about them.
        raw: the original, or the part of it that may be kept.

    Raises:
        EnvelopeError: a slug or the kind of room is invalid.

    Examples:
        >>> ExternalMessage(" hi ", "WA_cli", "whatsapp").connector_id
        'wa-cli'
    """

    text: str = attrs.field(converter=php.trim)
    connector_id: str = attrs.field(converter=normal_slug)
    external_provider: str = attrs.field(converter=normal_slug)
    external_conversation_id: str | None = attrs.field(default=None, converter=_optional)
    external_message_id: str | None = attrs.field(default=None, converter=_optional)
    sender_id: str | None = attrs.field(default=None, converter=_optional)
    from_self: bool = False
    room_kind: str | None = attrs.field(default=None, converter=_optional)
    attachments: list[Any] = attrs.field(factory=list, converter=_listed)
    raw: dict[str, Any] = attrs.field(factory=dict, repr=False)

    @connector_id.validator
    @external_provider.validator
    def _check_slug(self, member: "attrs.Attribute[str]", slug: str) -> None:
        if _SLUG.fullmatch(slug) is None:
            raise EnvelopeError(f"{member.name} must be a non-empty slug.")

    @room_kind.validator
    def _check_room_kind(self, _member: Any, kind: str | None) -> None:
        if kind not in _ROOM_KINDS:
            raise EnvelopeError("room_kind must be dm, group, channel, or null.")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make one of parsed JSON, as leniently as the reference.

        Scalars become text, anything else where text belongs is dropped; so are unknown members.

        Raises:
            EnvelopeError: a slug or the kind of room is invalid.
        """
        texts = {key: php.text_of(data.get(key)) for key in _TEXTS}
        attachments, raw = data.get("attachments"), data.get("raw")
        return cls(
            **texts,
            from_self=not php.is_empty(data.get("from_self")),
            attachments=[*php.as_map(attachments).values()] if php.is_array(attachments) else [],
            raw=php.with_text_keys(raw) if php.is_array(raw) else {},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object; an empty `raw` is `[]`, as PHP writes it."""
        members = attrs.asdict(self, recurse=False)
        return {**members, "attachments": list(self.attachments), "raw": self.raw or []}


_TEXTS = (
    "text", "connector_id", "external_provider", "external_conversation_id",
    "external_message_id", "sender_id", "room_kind",
)  # fmt: skip


def client_context(message: ExternalMessage, *, source: str = "channel") -> dict[str, Any]:
    """Return where a message came from, as chat input states it.

    Arguments:
        message: the message.
        source: channel, bridge, rest, block, peer-agent or jsonrpc.

    Examples:
        >>> client_context(ExternalMessage("hi", "wacli", "whatsapp"))["client_name"]
        'wacli'
    """
    return {
        "source": source,
        "connector_id": message.connector_id,
        "client_name": message.connector_id,
        "external_provider": message.external_provider,
        "external_conversation_id": message.external_conversation_id,
        "external_message_id": message.external_message_id,
        "sender_id": message.sender_id,
        "room_kind": message.room_kind,
    }


def chat_payload(
    message: ExternalMessage,
    *,
    agent: str,
    session_id: str | None = None,
    source: str = "channel",
    client_name: str | None = None,
) -> dict[str, Any]:
    """Return the chat input for a message.

    Arguments:
        message: the message.
        agent: the agent to ask.
        session_id: the session to go on with; None or "" for a new one.
        source: see `client_context`.
        client_name: a label for people; the connector if not given.

    Examples:
        >>> chat_payload(ExternalMessage("ping", "wacli", "whatsapp"), agent="demo")["message"]
        'ping'
    """
    named = {} if client_name is None else {"client_name": client_name}
    return {
        "agent": agent,
        "message": message.text,
        "session_id": session_id or None,
        "attachments": list(message.attachments),
        "client_context": {**client_context(message, source=source), **named},
    }
