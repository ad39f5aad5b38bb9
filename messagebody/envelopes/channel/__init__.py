"""The chat contract of agents-api: chat input from channels, and the output of agents."""

from messagebody.envelopes.channel._channel import (
    SILENT_SKIP,
    Channel,
    Unanswered,
    extract_replies,
)
from messagebody.envelopes.channel._external import (
    ExternalMessage,
    chat_payload,
    client_context,
)
from messagebody.envelopes.channel._findings import is_valid, iter_findings, validate
from messagebody.envelopes.channel._mapping import (
    detect,
    from_bodies,
    from_body,
    to_bodies,
    to_body,
)
from messagebody.envelopes.channel._sessions import (
    Deduplicator,
    Reservation,
    SeenMessages,
    Sessions,
    idempotency_key,
    session_key,
)

__all__ = [
    "SILENT_SKIP",
    "Channel",
    "Deduplicator",
    "ExternalMessage",
    "Reservation",
    "SeenMessages",
    "Sessions",
    "Unanswered",
    "chat_payload",
    "client_context",
    "detect",
    "extract_replies",
    "from_bodies",
    "from_body",
    "idempotency_key",
    "is_valid",
    "iter_findings",
    "session_key",
    "to_bodies",
    "to_body",
    "validate",
]
