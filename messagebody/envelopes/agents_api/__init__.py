"""The message envelope of agents-api, exactly as its reference implementation reads it."""

from messagebody.envelopes._php import PhpObject
from messagebody.envelopes._php import encode as to_wire
from messagebody.envelopes.agents_api._findings import is_valid, iter_findings, validate
from messagebody.envelopes.agents_api._mapping import (
    detect,
    from_bodies,
    from_body,
    to_bodies,
    to_body,
)
from messagebody.envelopes.agents_api._normalize import (
    SCHEMA,
    TYPES,
    message_type,
    normalize,
    normalize_many,
)
from messagebody.envelopes.agents_api._provider import (
    build_approval_required,
    build_text,
    build_tool_call,
    build_tool_result,
    coalesce_consecutive_same_role,
    to_provider_message,
    to_provider_messages,
)
from messagebody.envelopes.agents_api._results import normalize_conversation_result

__all__ = [
    "SCHEMA",
    "TYPES",
    "PhpObject",
    "build_approval_required",
    "build_text",
    "build_tool_call",
    "build_tool_result",
    "coalesce_consecutive_same_role",
    "detect",
    "from_bodies",
    "from_body",
    "is_valid",
    "iter_findings",
    "message_type",
    "normalize",
    "normalize_conversation_result",
    "normalize_many",
    "to_bodies",
    "to_body",
    "to_provider_message",
    "to_provider_messages",
    "to_wire",
    "validate",
]
