"""Olympus agent envelopes: check, build, sign, verify, keep within boundaries, map to a body."""

from messagebody.envelopes.olympus.boundary import (
    Stripped,
    UpstreamViolation,
    iter_boundary_findings,
    iter_upstream_violations,
    strip,
    upstream_stripped,
)
from messagebody.envelopes.olympus.mapping import (
    AttachmentStatus,
    build,
    detect,
    from_body,
    reply,
    to_body,
    verify_attachment,
)
from messagebody.envelopes.olympus.policy import PUBLISHED, Boundary, Policy, Scope
from messagebody.envelopes.olympus.replay import Admission, ReplayGuard
from messagebody.envelopes.olympus.rules import (
    is_valid,
    iter_chain_findings,
    iter_findings,
    validate,
)
from messagebody.envelopes.olympus.schema import SCHEMA
from messagebody.envelopes.olympus.signature import (
    Profile,
    Verification,
    canonical,
    derive_key,
    sign,
    signed,
    verify,
)

__all__ = [
    "PUBLISHED",
    "SCHEMA",
    "Admission",
    "AttachmentStatus",
    "Boundary",
    "Policy",
    "Profile",
    "ReplayGuard",
    "Scope",
    "Stripped",
    "UpstreamViolation",
    "Verification",
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
