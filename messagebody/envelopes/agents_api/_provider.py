"""Messages of model providers, built from agents-api content."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from messagebody.envelopes import _php as php
from messagebody.envelopes.agents_api._normalize import (
    Envelope,
    build_envelope,
    check_encodable,
    normalize,
    normalize_each,
    normalize_many,
    plain_type,
)

Content = str | list[Any] | dict[str, Any]
Map = Mapping[str, Any]


def build_text(role: str, content: Content, metadata: Map | None = None) -> Envelope:
    """Return an envelope of text or content blocks, without a payload.

    The type is "text" unless content or metadata imply another, as for a plain message. All
    builders raise `EnvelopeError` if an argument is not what an envelope takes.

    Examples:
        >>> build_text("user", [{"type": "text", "text": "Hello!"}])["type"]
        'multimodal_part'
    """
    return _build(role, content, plain_type(content, dict(metadata or {})), {}, metadata)


def build_tool_call(
    content: str, tool_name: str, parameters: Map, turn: int, metadata: Map | None = None
) -> Envelope:
    """Return an envelope of a tool call; its role is assistant.

    Arguments:
        content: what a person reads; also for the other builders.
        tool_name: the tool.
        parameters: its parameters.
        turn: the turn of the conversation.
        metadata: details of the adapter; also for the others.

    Examples:
        >>> build_tool_call("Searching", "search", {"q": "cats"}, 1)["payload"]
        {'tool_name': 'search', 'parameters': {'q': 'cats'}, 'turn': 1}
    """
    payload = {"tool_name": tool_name, "parameters": dict(parameters), "turn": turn}
    return _build("assistant", content, "tool_call", payload, metadata)


def build_tool_result(
    content: str, tool_name: str, payload: Map, metadata: Map | None = None
) -> Envelope:
    """Return an envelope of a tool's result; its role is user, as in the reference.

    `tool_name` replaces one in `payload`.

    Examples:
        >>> build_tool_result("3 rows", "search", {"success": True})["payload"]
        {'success': True, 'tool_name': 'search'}
    """
    named = {**payload, "tool_name": tool_name}
    return _build("user", content, "tool_result", named, metadata)


def build_approval_required(content: str, payload: Map, metadata: Map | None = None) -> Envelope:
    """Return an envelope that asks for approval; its role is tool.

    `payload` says what is to be approved, such as action_id, kind, summary, preview, expires_at.

    Examples:
        >>> build_approval_required("Delete it?", {"action_id": "a1"})["role"]
        'tool'
    """
    return _build("tool", content, "approval_required", dict(payload), metadata)


def _build(role: str, content: Content, type_: str, payload: Map, metadata: Map | None) -> Envelope:
    envelope = build_envelope(role, content, type_, payload, dict(metadata or {}))
    return check_encodable(envelope, php_compatible=False)


def to_provider_message(row: Any, *, php_compatible: bool = False) -> dict[str, Any]:
    """Project a message row to a provider's role, content and metadata.

    The projection loses information. Type and payload go into metadata: on a conflict, a member of
    metadata wins over one of the payload, and the type wins over both. Id and times are left out.
    Normalising the result gives a different envelope. For the arguments, see `normalize`.

    Raises:
        EnvelopeError: the row is not a message.

    Examples:
        >>> to_provider_message({"version": 1, "type": "delta", "content": "Hel", "payload": {}})
        {'role': 'assistant', 'content': 'Hel', 'metadata': {'type': 'delta'}}
    """
    envelope = normalize(row, php_compatible=php_compatible)
    payload, type_ = envelope["payload"], envelope["type"]
    metadata = dict(php.as_map(envelope["metadata"]))
    # As in the reference: plain text alone stays without metadata.
    if type_ != "text" or payload or metadata:
        metadata["type"] = type_
    for key, value in php.as_map(payload).items():
        # On a conflict, a member of metadata wins over one of the payload.
        metadata.setdefault(key, value)
    projected = {"role": envelope["role"], "content": envelope["content"]}
    return {**projected, "metadata": metadata} if metadata else projected


def to_provider_messages(rows: Any, *, php_compatible: bool = False) -> list[dict[str, Any]]:
    """Project a list of message rows; see `to_provider_message`.

    Raises:
        EnvelopeError: an element is not a message.
    """
    return normalize_each(
        rows, "to_provider_messages", to_provider_message, php_compatible=php_compatible
    )


def coalesce_consecutive_same_role(rows: Any, *, php_compatible: bool = False) -> list[Envelope]:
    r"""Merge envelopes of one role that follow each other; some providers refuse them.

    A run becomes one multimodal_part whose `payload.parts` holds the originals. Its content is the
    text of the text parts, joined by blank lines, and its metadata is that of the first message.
    Only the parts have the ids and times.

    Raises:
        EnvelopeError: an element is not a message.

    Examples:
        >>> merged = coalesce_consecutive_same_role([{"content": "Hello"}, {"content": "again"}])
        >>> len(merged), merged[0]["content"]
        (1, 'Hello\n\nagain')
    """
    envelopes = normalize_many(rows, php_compatible=php_compatible)
    runs = [list(run) for _, run in groupby(envelopes, key=lambda envelope: envelope["role"])]
    return [run[0] if len(run) == 1 else _merge(run, php_compatible) for run in runs]


def _merge(run: list[Envelope], php_compatible: bool) -> Envelope:
    parts = [part for envelope in run for part in _parts(envelope, [] if php_compatible else {})]
    texts = [part.get("content") for part in parts if part and part.get("type") == "text"]
    content = "\n\n".join(text for text in texts if isinstance(text, str) and text)
    merged = build_envelope(run[0]["role"], content, "multimodal_part", {"parts": parts}, {})
    return {**merged, "metadata": run[0]["metadata"]}


def _parts(envelope: Envelope, empty: Any) -> list[Any]:
    """Return the parts that an envelope adds to a run: the parts merged in it before, or itself."""
    payload = envelope["payload"]
    parts = payload.get("parts") if isinstance(payload, dict) else None
    if envelope["type"] != "multimodal_part" or not php.is_array(parts):
        return [envelope]
    inner = php.as_map(parts).values()
    return [php.with_text_keys(part) or empty for part in inner if php.is_array(part)]
