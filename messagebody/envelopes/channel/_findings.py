"""Findings about chat input and chat output that break the contract."""

from collections.abc import Iterator
from typing import Any

from messagebody._core import strict_json
from messagebody.envelopes import _php as php
from messagebody.envelopes._json_schema import iter_violations
from messagebody.envelopes._values import objects_in, read
from messagebody.findings import Finding, Severity, pointer, validator_of, verdict_of

SOURCES = frozenset({"channel", "bridge", "rest", "block", "peer-agent", "jsonrpc"})
_ROOM_KINDS = frozenset({"dm", "group", "channel"})


def iter_findings(chat: Any) -> Iterator[Finding]:
    """Yield a finding for each place where chat input or chat output breaks the contract.

    Arguments:
        chat: parsed JSON, or JSON text.

    Examples:
        >>> for finding in iter_findings({"agent": "demo", "message": " ", "attachments": {}}):
        ...     print(finding)
        /message: it is blank; the reference refuses a chat without text (blank)
        /attachments: an array is expected, got an object (type)
    """
    try:
        value = read(chat, depth=php.JSON_DEPTH)
    except strict_json.InvalidJson as error:
        yield Finding("json", pointer(*error.path), error.problem)
        return
    if not isinstance(value, dict):
        yield Finding("type", "", "a chat is an object with a message, or with a reply")
        return
    # Input may carry a `reply` of an earlier turn; only input has a message.
    is_output = "message" not in value and not {"reply", "messages", "response"}.isdisjoint(value)
    yield from _output_findings(value) if is_output else _input_findings(value)


is_valid = verdict_of(iter_findings)
"""Return whether chat input or chat output keeps the contract."""

validate = validator_of(iter_findings)
"""Raise `EnvelopeError` with all findings, if chat input or output breaks the contract."""


_TEXT = {"type": "string"}
_TEXT_OR_NUMBER = {"type": ["string", "integer"]}
_TEXT_OR_NULL = {"type": ["string", "null"]}
# PHP writes an empty object as [].
_OBJECT: dict[str, Any] = {"type": ["object", "array"], "maxItems": 0}

_INPUT: dict[str, Any] = {
    "required": ["message"],
    "properties": {
        # Runtimes name an agent by its slug or by a number.
        "agent": _TEXT_OR_NUMBER,
        "agent_id": _TEXT_OR_NUMBER,
        "message": _TEXT,
        "session_id": _TEXT_OR_NULL,
        "run_id": _TEXT_OR_NULL,
        "attachments": {"type": "array"},
        "client_context": {
            **_OBJECT,
            "properties": {
                "source": {"enum": sorted(SOURCES)},
                "client_name": _TEXT,
                "external_provider": _TEXT_OR_NULL,
                "external_conversation_id": _TEXT_OR_NULL,
                "external_message_id": _TEXT_OR_NULL,
                "sender_id": _TEXT_OR_NULL,
                "connector_id": _TEXT_OR_NULL,
                "room_kind": {"enum": [*sorted(_ROOM_KINDS), None]},
            },
        },
    },
}
_OUTPUT: dict[str, Any] = {
    "properties": {
        "session_id": _TEXT_OR_NULL,
        "reply": _TEXT,
        "messages": {"type": "array", "items": {"type": "object"}},
        "completed": {"type": "boolean"},
        "metadata": _OBJECT,
    },
}


def _shape_findings(chat: dict[str, Any], schema: dict[str, Any]) -> Iterator[Finding]:
    for each in iter_violations(chat, schema):
        yield Finding(each.keyword, each.place, each.problem, rule=each.rule)


def _input_findings(chat: dict[str, Any]) -> Iterator[Finding]:
    message = chat.get("message")
    if isinstance(message, str) and not php.trim(message):
        problem = "it is blank; the reference refuses a chat without text"
        yield Finding("blank", "/message", problem)
    if chat.keys().isdisjoint({"agent", "agent_id"}):
        yield Finding("required", "/agent", "no member 'agent'")
    yield from _shape_findings(chat, _INPUT)


def _output_findings(chat: dict[str, Any]) -> Iterator[Finding]:
    yield from _shape_findings(chat, _OUTPUT)
    if "reply" in chat:
        return
    if "response" in chat:
        problem = "some runtimes write it, and the reference does not read it; write reply"
        yield Finding("alias", "/response", problem, Severity.WARNING)
    # Only of these messages does the reference read replies.
    elif not any(each.get("role") == "assistant" for each in objects_in(chat, "messages")):
        yield Finding("required", "/reply", "no member 'reply', and no message of the assistant")
