"""Typed envelopes from Python values."""

from collections.abc import Mapping
from typing import Any

from messagebody.envelopes.agents_api.normalizing import (
    Envelope,
    build_envelope,
    check_encodable,
    plain_type,
)

__all__ = ["build_approval_required", "build_text", "build_tool_call", "build_tool_result"]

Content = str | list[Any] | dict[str, Any]
Map = Mapping[str, Any]


def build_text(role: str, content: Content, metadata: Map | None = None) -> Envelope:
    """Return an envelope of text or content blocks.

    The type is "text" unless content or metadata say otherwise, as for a plain message; the
    payload stays empty.

    Raises:
        EnvelopeError: an argument is not what an envelope takes.

    Examples:
        >>> build_text("user", [{"type": "text", "text": "Hello!"}])["type"]
        'multimodal_part'
    """
    return _checked(role, content, plain_type(content, dict(metadata or {})), {}, metadata)


def build_tool_call(
    content: str, tool_name: str, parameters: Map, turn: int, metadata: Map | None = None
) -> Envelope:
    """Return an envelope of a tool call; its role is assistant.

    Arguments:
        content: what a person reads.
        tool_name: the tool.
        parameters: its parameters.
        turn: the turn of the conversation.
        metadata: details of the adapter.

    Raises:
        EnvelopeError: an argument is not what an envelope takes.

    Examples:
        >>> build_tool_call("Searching", "search", {"q": "cats"}, 1)["payload"]
        {'tool_name': 'search', 'parameters': {'q': 'cats'}, 'turn': 1}
    """
    payload = {"tool_name": tool_name, "parameters": dict(parameters), "turn": turn}
    return _checked("assistant", content, "tool_call", payload, metadata)


def build_tool_result(
    content: str, tool_name: str, payload: Map, metadata: Map | None = None
) -> Envelope:
    """Return an envelope of a tool's result; its role is user, as in the reference.

    `tool_name` replaces one in `payload`.

    Raises:
        EnvelopeError: an argument is not what an envelope takes.

    Examples:
        >>> build_tool_result("3 rows", "search", {"success": True})["payload"]
        {'success': True, 'tool_name': 'search'}
    """
    named = {**payload, "tool_name": tool_name}
    return _checked("user", content, "tool_result", named, metadata)


def build_approval_required(content: str, payload: Map, metadata: Map | None = None) -> Envelope:
    """Return an envelope that asks for approval; its role is tool.

    Arguments:
        content: what a person reads.
        payload: what is to be approved, such as action_id, kind, summary, preview, expires_at.
        metadata: details of the adapter.

    Raises:
        EnvelopeError: an argument is not what an envelope takes.

    Examples:
        >>> build_approval_required("Delete it?", {"action_id": "a1"})["role"]
        'tool'
    """
    return _checked("tool", content, "approval_required", dict(payload), metadata)


def _checked(
    role: str, content: Content, type_: str, payload: Map, metadata: Map | None
) -> Envelope:
    envelope = build_envelope(role, content, type_, payload, dict(metadata or {}))
    return check_encodable(envelope, php_compatible=False)
