"""Sentient agent messages: check a chain, build, forward, log, draw, map to a body."""

from messagebody.envelopes.sentient.audit_log import AuditLog, Flaw, audit_entry
from messagebody.envelopes.sentient.chain import (
    CHECKS,
    Check,
    SeveritySource,
    is_valid,
    iter_findings,
    validate,
)
from messagebody.envelopes.sentient.forward import Forwarded, forward, forward_chain
from messagebody.envelopes.sentient.graph import Edge, Graph, Node, chain_graph
from messagebody.envelopes.sentient.mapping import build, detect, from_body, reply, to_body

__all__ = [
    "CHECKS",
    "AuditLog",
    "Check",
    "Edge",
    "Flaw",
    "Forwarded",
    "Graph",
    "Node",
    "SeveritySource",
    "audit_entry",
    "build",
    "chain_graph",
    "detect",
    "forward",
    "forward_chain",
    "from_body",
    "is_valid",
    "iter_findings",
    "reply",
    "to_body",
    "validate",
]
