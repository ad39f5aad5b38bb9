"""Olympus agent envelopes: check, build, sign, verify, keep within boundaries, map to a body."""

from messagebody.adapters.envelopes.olympus._boundary import (
    Stripped,
    UpstreamViolation,
    iter_boundary_findings,
    iter_upstream_violations,
    strip,
    upstream_stripped,
)
from messagebody.adapters.envelopes.olympus._mapping import (
    AttachmentStatus,
    build,
    detect,
    from_body,
    reply,
    to_body,
    verify_attachment,
)
from messagebody.adapters.envelopes.olympus._policy import PUBLISHED, AccessPolicy, Boundary, Scope
from messagebody.adapters.envelopes.olympus._replay import Admission, ReplayGuard
from messagebody.adapters.envelopes.olympus._rules import (
    is_valid,
    iter_chain_findings,
    iter_findings,
    validate,
)
from messagebody.adapters.envelopes.olympus._schema import SCHEMA
from messagebody.adapters.envelopes.olympus._signature import (
    SignatureCheck,
    SigningProfile,
    canonical,
    derive_key,
    sign,
    signed,
    verify,
)

__all__ = [
    "PUBLISHED",
    "SCHEMA",
    "AccessPolicy",
    "Admission",
    "AttachmentStatus",
    "Boundary",
    "ReplayGuard",
    "Scope",
    "SignatureCheck",
    "SigningProfile",
    "Stripped",
    "UpstreamViolation",
    "build",
    "canonical",
    "derive_key",
    "detect",
    "from_body",
    "is_valid",
    "iter_boundary_findings",
    "iter_chain_findings",
    "iter_findings",
    "iter_upstream_violations",
    "reply",
    "sign",
    "signed",
    "strip",
    "to_body",
    "upstream_stripped",
    "validate",
    "verify",
    "verify_attachment",
]
