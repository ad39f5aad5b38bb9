"""Forwarding: reading a Sentient message, and passing it on with the ids of its chain."""

import json
from collections.abc import Iterator
from typing import Any

import attrs

from messagebody._core import strict_json
from messagebody.envelopes._values import (
    TEXT,
    Message,
    check_depth,
    member,
    plain,
    read,
    read_object,
    text_of,
)
from messagebody.envelopes.sentient._chain import iter_findings
from messagebody.errors import EnvelopeError
from messagebody.findings import Finding


def read_leniently(message: Message) -> tuple[dict[str, Any], str | None]:
    """Return the readable members of a message, and what is wrong with its JSON, None if nothing.

    Text that only breaks the strict rules (repeated members, NaN, lone surrogates) is read as
    Python reads it. Text that is not a JSON object, or is nested too deep, is read as an empty
    object.
    """
    try:
        value, problem = read(message), None
    except strict_json.InvalidJson as error:
        value, problem = _lenient(message), error.problem
    if not isinstance(value, dict):
        return {}, problem or "it is no JSON object"
    return value, problem


def _lenient(message: Message) -> Any:
    try:
        value = json.loads(_text(message)) if isinstance(message, TEXT) else plain(message)
        check_depth(value)
    except (EnvelopeError, ValueError, RecursionError):
        return {}
    return value


def _text(message: str | bytes | bytearray | memoryview) -> str:
    if isinstance(message, str):
        return message
    try:
        return bytes(message).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        # The evidence is kept elsewhere; this text is only for reading.
        return bytes(message).decode("utf-8", "replace")


def evidence(message: Message) -> bytes:
    """Return a message as it was received: its bytes, or JSON for a Python value.

    Raises:
        EnvelopeError: it is a Python value that is nested too deep, or can't be written as JSON.
    """
    if isinstance(message, str):
        return message.encode("utf-8", "surrogatepass")
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message)
    value = plain(message)
    check_depth(value)
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise EnvelopeError(f"a message has no JSON: {error}") from error
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape
        return json.dumps(value).encode()


_INHERITED = ("request_id", "session_id")


@attrs.frozen
class Forwarded:
    """Hold the message for the next agent; unpacks into the copy and the findings.

    Arguments:
        message: the copy, with the parent's ids.
        findings: what was wrong with the received message, index 1; its parent has index 0.
        received: the received message, byte for byte, as evidence.
    """

    message: dict[str, Any]
    findings: tuple[Finding, ...]
    received: bytes = attrs.field(repr=False)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.message, self.findings))


def forward(message: Message, parent: Message | None = None) -> Forwarded:
    """Return a copy of a message with the request and session of its parent.

    Models copy ids wrongly, so ids are overwritten and never trusted. A message that names another
    parent keeps its own ids, and has the finding M004: it may belong to another session. No message
    is dropped: if a message can't be read, its parent's ids are forwarded and the evidence is kept.

    Arguments:
        message: parsed JSON, or the JSON text received.
        parent: the message it answers, None for the first of a chain.

    Raises:
        EnvelopeError: the parent is not a strict JSON object, or the message is a Python value that
            can't be written as JSON.

    Examples:
        >>> parent = {"message_id": "m1", "metadata": {"request_id": "r1", "session_id": "s1"}}
        >>> copy, findings = forward({"metadata": {"request_id": "made up"}}, parent)
        >>> copy
        {'metadata': {'request_id': 'r1', 'session_id': 's1'}}
    """
    before = [] if parent is None else [read_object(parent, "a parent message")]
    # Without a parent, the message still has position 1, so that every finding names the same
    # place.
    found = tuple(
        finding for finding in iter_findings([*(before or [{}]), message]) if finding.index == 1
    )
    copied, _ = read_leniently(message)
    if before:
        copied = _with_ids_of(before[0], copied)
    return Forwarded(copied, found, evidence(message))


def _with_ids_of(parent: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the ids that it inherits, unless it names another parent."""
    named = text_of(message, "metadata", "parent_message_id")
    if named and named != parent.get("message_id"):
        return message
    stated = {name: member(parent, "metadata", name) for name in _INHERITED}
    inherited = {name: value for name, value in stated.items() if isinstance(value, str)}
    metadata = message.get("metadata")
    return {
        **message,
        "metadata": {**(metadata if isinstance(metadata, dict) else {}), **inherited},
    }
