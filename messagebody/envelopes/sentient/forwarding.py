"""Passing a message on with the ids of its request and session set right."""

from collections.abc import Iterator
from typing import Any

import attrs

from messagebody.envelopes.received import Message, member, read_object
from messagebody.envelopes.sentient.chain import iter_findings
from messagebody.envelopes.sentient.findings import Finding
from messagebody.envelopes.sentient.reading import evidence, read_leniently

__all__ = ["Forwarded", "forward"]

_INHERITED = ("request_id", "session_id")


@attrs.frozen
class Forwarded:
    """Hold what goes to the next agent; unpacks into the copy and the findings.

    Arguments:
        message: the copy, with the parent's ids.
        findings: what was wrong with the message as it came, index 1; its parent has index 0.
        received: the message as it came, byte for byte, as evidence.
    """

    message: dict[str, Any]
    findings: tuple[Finding, ...]
    received: bytes = attrs.field(repr=False)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.message, self.findings))


def forward(message: Message, parent: Message | None = None) -> Forwarded:
    """Return a copy of a message with the request and session of its parent.

    Models copy ids wrongly, so they are overwritten, never trusted. No message is dropped: of one
    that can't be read, the ids are forwarded, and the evidence kept.

    Arguments:
        message: parsed JSON, or the JSON text received.
        parent: the message it answers, None for the first of a chain.

    Raises:
        EnvelopeError: the parent is no strict JSON object, or the message a Python value that
            has no JSON.

    Examples:
        >>> parent = {"message_id": "m1", "metadata": {"request_id": "r1", "session_id": "s1"}}
        >>> copy, findings = forward({"metadata": {"request_id": "made up"}}, parent)
        >>> copy
        {'metadata': {'request_id': 'r1', 'session_id': 's1'}}
    """
    before = [] if parent is None else [read_object(parent, "a parent message")]
    findings = iter_findings([*before, message])
    found = tuple(
        attrs.evolve(finding, index=1) for finding in findings if finding.index == len(before)
    )
    copied, _ = read_leniently(message)
    if before:
        copied = _overwritten(copied, before[0])
    return Forwarded(copied, found, evidence(message))


def _overwritten(message: dict[str, Any], parent: dict[str, Any]) -> dict[str, Any]:
    metadata = message.get("metadata")
    inherited = {
        name: value
        for name in _INHERITED
        if isinstance(value := member(parent, "metadata", name), str)
    }
    kept = metadata if isinstance(metadata, dict) else {}
    return {**message, "metadata": {**kept, **inherited}}
