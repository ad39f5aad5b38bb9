"""What the public code says of an envelope: for talking to a peer that runs it.

It fails open where `boundary` doesn't. It looks at attachment types only, doesn't check an
unlisted receiver, and skips authentication that is absent.
"""

from collections.abc import Iterator
from typing import NamedTuple

from messagebody.envelopes.olympus.policy import Policy
from messagebody.envelopes.olympus.published import PUBLISHED
from messagebody.envelopes.received import Message, read_object, text_of

__all__ = ["UpstreamViolation", "iter_upstream_violations", "upstream_stripped"]


class UpstreamViolation(NamedTuple):
    """Name a kind of violation and the field it is reported for."""

    check: str
    field: str

    def __str__(self) -> str:
        return f"{self.check} @ {self.field}"


def iter_upstream_violations(
    envelope: Message, policy: Policy = PUBLISHED
) -> Iterator[UpstreamViolation]:
    """Yield the violations the public code reports, in its order.

    Raises:
        EnvelopeError: the envelope is no strict JSON object.
    """
    value = read_object(envelope, "an envelope")
    agents = [text_of(value, "envelope", f"{role}_agent") for role in ("source", "target")]
    unknown = [
        UpstreamViolation("invalid_transition", f"envelope.{role}_agent")
        for role, agent in zip(("source", "target"), agents, strict=True)
        if agent not in policy.boundaries
    ]
    if unknown:
        yield from unknown
        return
    source, target = agents
    kind = text_of(value, "protocol_message", "message_type")
    allowed = policy.types_between(source, target)
    if not allowed:
        yield UpstreamViolation("invalid_transition", "envelope")
    elif kind not in allowed:
        yield UpstreamViolation("invalid_transition", "protocol_message.message_type")
    if kind not in policy.boundaries[target].messages:
        yield UpstreamViolation("unauthorized_context", "protocol_message.message_type")
    for _ in upstream_stripped(value, policy):
        yield UpstreamViolation("unauthorized_context", "context_attachments")
    claimed = text_of(value, "authentication", "sender_persona")
    if claimed and claimed != source:
        yield UpstreamViolation("unauthorized_context", "authentication.sender_persona")


def upstream_stripped(envelope: Message, policy: Policy = PUBLISHED) -> list[str]:
    """Return the attachments the public code strips, as it lists them: "type:path".

    Raises:
        EnvelopeError: the envelope is no strict JSON object.
    """
    value = read_object(envelope, "an envelope")
    boundary = policy.boundaries.get(text_of(value, "envelope", "target_agent"))
    attachments = value.get("context_attachments")
    if boundary is None or not isinstance(attachments, list):
        return []
    return [
        f"{text_of(attachment, 'type')}:{text_of(attachment, 'path') or 'unknown'}"
        for attachment in attachments
        if text_of(attachment, "type") not in boundary.attachments
    ]
