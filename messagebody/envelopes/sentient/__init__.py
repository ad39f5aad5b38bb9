"""Sentient agent messages: check a chain, build, forward, log, map to a body."""

from messagebody.envelopes.sentient._audit_entry import audit_entry
from messagebody.envelopes.sentient._audit_log import AuditLog, Flaw
from messagebody.envelopes.sentient._chain import (
    CHECKS,
    Check,
    is_valid,
    iter_findings,
    validate,
)
from messagebody.envelopes.sentient._forward import Forwarded, forward
from messagebody.envelopes.sentient._mapping import (
    build,
    detect,
    from_bodies,
    from_body,
    reply,
    to_bodies,
    to_body,
)

__all__ = [
    "CHECKS",
    "AuditLog",
    "Check",
    "Flaw",
    "Forwarded",
    "audit_entry",
    "build",
    "detect",
    "forward",
    "from_bodies",
    "from_body",
    "is_valid",
    "iter_findings",
    "reply",
    "to_bodies",
    "to_body",
    "validate",
]
