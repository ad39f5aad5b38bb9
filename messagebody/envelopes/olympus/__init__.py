"""Olympus agent envelopes: check, build, sign, verify, keep within boundaries, map to a body."""

from messagebody.envelopes.olympus._boundary import (
    AccessPolicy,
    Stripped,
    iter_boundary_findings,
    strip,
)
from messagebody.envelopes.olympus._mapping import (
    AttachmentStatus,
    build,
    detect,
    from_bodies,
    from_body,
    reply,
    to_bodies,
    to_body,
    verify_attachment,
)
from messagebody.envelopes.olympus._replay import Admission, ReplayGuard
from messagebody.envelopes.olympus._rules import is_valid, iter_findings, validate
from messagebody.envelopes.olympus._schema import SCHEMA
from messagebody.envelopes.olympus._signature import (
    SignatureCheck,
    SigningProfile,
    sign,
    signed,
    verify,
)

__all__ = [
    "SCHEMA",
    "AccessPolicy",
    "Admission",
    "AttachmentStatus",
    "ReplayGuard",
    "SignatureCheck",
    "SigningProfile",
    "Stripped",
    "build",
    "detect",
    "from_bodies",
    "from_body",
    "is_valid",
    "iter_boundary_findings",
    "iter_findings",
    "reply",
    "sign",
    "signed",
    "strip",
    "to_bodies",
    "to_body",
    "validate",
    "verify",
    "verify_attachment",
]
