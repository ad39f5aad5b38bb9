"""Signatures over an envelope, in two named profiles.

`upstream-5field` covers the fields that the public code signs: message type, both agents,
correlation id and payload. It leaves attachments, constraints, session, parent and time open to
change. `jcs-full-hkdf` covers the whole envelope without the signature, in the canonical JSON of
RFC 8785, under a key for one persona in one session (HKDF, RFC 5869).
"""

import hmac
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs
import rfc8785

from messagebody._core import escape
from messagebody.envelopes._values import (
    Message,
    check_depth,
    check_json,
    member,
    read_object,
    show,
)
from messagebody.envelopes.olympus._schema import fields
from messagebody.errors import EnvelopeError, InvalidArgument

# As long as the digest: a shorter secret is the weakest part (RFC 5869, 2.2; RFC 2104, 3).
_SHORTEST_SECRET = 32
# It names the use and version, so that no other protocol derives the same key (RFC 5869, 3.2).
_INFO = b"olympus/agent-envelope/1.0/"
_SIGNATURE = "/authentication/signature"


class SigningProfile(StrEnum):
    """A profile of signatures: the signed members, and the key."""

    JCS_FULL_HKDF = "jcs-full-hkdf"
    UPSTREAM_5FIELD = "upstream-5field"


_SIGNED_BY_UPSTREAM = {
    "message_type": ("protocol_message", "message_type"),
    "source_agent": ("envelope", "source_agent"),
    "target_agent": ("envelope", "target_agent"),
    "correlation_id": ("envelope", "correlation_id"),
    "payload": ("protocol_message", "payload"),
}
_COVERED = {
    SigningProfile.JCS_FULL_HKDF: tuple(path for path in fields() if path != _SIGNATURE),
    SigningProfile.UPSTREAM_5FIELD: tuple(
        "/" + "/".join(path) for path in _SIGNED_BY_UPSTREAM.values()
    ),
}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@attrs.frozen
class SignatureCheck:
    """State whether a signature is valid, and what it covers; true only if it is valid.

    Arguments:
        valid: the signature is the one expected.
        missing: there is no signature, as opposed to a wrong one.
        profile: the profile that was asked for.
        problem: why it can't be valid, if there is another reason than a wrong signature.
        message_id: the envelope's id, for a replay guard; also session_id and timestamp.
    """

    valid: bool
    missing: bool
    profile: SigningProfile = attrs.field(converter=SigningProfile)
    problem: str | None = None
    message_id: str | None = attrs.field(default=None, converter=_text)
    session_id: str | None = attrs.field(default=None, converter=_text)
    timestamp: str | None = attrs.field(default=None, converter=_text)

    def __bool__(self) -> bool:
        return self.valid

    @property
    def covered(self) -> tuple[str, ...]:
        """Places that nobody can have changed, added or removed; none without a valid signature."""
        return _COVERED[self.profile] if self.valid else ()

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Places of the format that anybody may have changed since."""
        covered = {*self.covered, _SIGNATURE}
        return tuple(path for path in fields() if path not in covered)


def sign(
    envelope: Message,
    secret: str | bytes,
    *,
    profile: str = SigningProfile.JCS_FULL_HKDF,
) -> str:
    """Return the signature of an envelope: 64 lower-case hex digits.

    The signature does not cover a signature that the envelope already carries.

    Arguments:
        envelope: parsed JSON, or JSON text.
        secret: the session's secret; text stands for its UTF-8.
        profile: "jcs-full-hkdf" or "upstream-5field".

    Raises:
        EnvelopeError: the envelope is not strict JSON or lacks a signed member, or the secret is
            empty or too short: "jcs-full-hkdf" requires 32 bytes.

    Examples:
        >>> envelope = {
        ...     "envelope": {"source_agent": "coder", "session_id": "s-1"},
        ...     "protocol_message": {"message_type": "RESULT", "payload": {}},
        ... }
        >>> sign(envelope, bytes(range(32)))[:16]
        '4e036ba847a683fb'
    """
    value, chosen = _read(envelope), _profile(profile)
    raw = _check_secret(secret, chosen)
    return _mac(_key(value, raw, chosen), _canonical(value, chosen))


def signed(
    envelope: Message,
    secret: str | bytes,
    *,
    profile: str = SigningProfile.JCS_FULL_HKDF,
) -> dict[str, Any]:
    """Return a copy of an envelope that carries its signature; see `sign`.

    Raises:
        EnvelopeError: as `sign`, or the envelope has no authentication to carry it.
    """
    value = _read(envelope)
    claims = value.get("authentication")
    if not isinstance(claims, dict):
        raise EnvelopeError(
            "the envelope has no authentication to carry a signature; sign it detached"
        )
    signature = sign(value, secret, profile=profile)
    return {**value, "authentication": {**claims, "signature": signature}}


def verify(
    envelope: Message,
    secret: str | bytes,
    *,
    profile: str = SigningProfile.JCS_FULL_HKDF,
    signature: str | None = None,
) -> SignatureCheck:
    """Return whether an envelope's signature is valid, in constant time.

    A bad signature is a result, not an error. The caller names the profile: it is never guessed and
    never taken from the message.

    Arguments:
        envelope: parsed JSON, or JSON text. Text is safer, because it shows repeated members.
        secret: the session's secret.
        profile: "jcs-full-hkdf" or "upstream-5field".
        signature: a detached signature, used instead of the envelope's own.

    Raises:
        EnvelopeError: the envelope is not strict JSON (repeated members, NaN, ...), or the
            secret is empty or too short.
    """
    value, chosen = _read(envelope), _profile(profile)
    raw = _check_secret(secret, chosen)
    given = member(value, "authentication", "signature") if signature is None else signature
    # A missing and a wrong signature are different answers: some peers do not sign.
    if given is None or given == "":
        check_json(value, "an envelope")
        return SignatureCheck(False, True, chosen, "there is no signature")
    try:
        expected = _mac(_key(value, raw, chosen), _canonical(value, chosen))
    except EnvelopeError as error:
        check_json(value, "an envelope")
        return SignatureCheck(False, False, chosen, error.problem)
    if not isinstance(given, str):
        return SignatureCheck(False, False, chosen, f"a signature is text, got {show(given)}")
    # Compared in constant time, so that the time does not reveal the first difference.
    if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass")):
        return SignatureCheck(False, False, chosen)
    header = value["envelope"]  # it exists, because the key is made of it
    stated = [header.get(name) for name in ("message_id", "session_id", "timestamp")]
    return SignatureCheck(True, False, chosen, None, *stated)


def _key(value: dict[str, Any], secret: bytes, profile: SigningProfile) -> bytes:
    persona = _required_text(value, "envelope", "source_agent")
    if profile is SigningProfile.UPSTREAM_5FIELD:
        return hmac.digest(secret, persona, "sha256")
    # HKDF of RFC 5869 for exactly one block: extract, then expand once.
    extracted = hmac.digest(_required_text(value, "envelope", "session_id"), secret, "sha256")
    return hmac.digest(extracted, _INFO + persona + b"\x01", "sha256")


def _mac(key: bytes, data: bytes) -> str:
    return hmac.digest(key, data, "sha256").hex()


def _canonical(value: dict[str, Any], profile: SigningProfile) -> bytes:
    if profile is SigningProfile.UPSTREAM_5FIELD:
        return _five_fields(value)
    try:
        return rfc8785.dumps(without_signature(value))
    except ValueError as error:  # also lone surrogates in member names, numbers too long to print
        reason = escape(str(error), limit=200)
        raise EnvelopeError(f"the envelope has no canonical JSON (RFC 8785): {reason}") from error


def _five_fields(value: dict[str, Any]) -> bytes:
    check_json(value, "an envelope")
    chosen = {name: _required(value, *path) for name, path in _SIGNED_BY_UPSTREAM.items()}
    try:
        # Exactly the text that the public code writes.
        return json.dumps(chosen, sort_keys=True, separators=(",", ":")).encode("ascii")
    except ValueError as error:  # an integer too long to print
        raise EnvelopeError(f"the envelope can't be signed: {error}") from error


def without_signature(value: dict[str, Any]) -> dict[str, Any]:
    """Return an envelope without its signature."""
    claims = value.get("authentication")
    if not isinstance(claims, dict) or "signature" not in claims:
        return value
    rest = {name: claim for name, claim in claims.items() if name != "signature"}
    return {**value, "authentication": rest}


def _read(envelope: Message) -> dict[str, Any]:
    """Return an envelope's members; values that a canonical form refuses are not checked here."""
    if not isinstance(envelope, Mapping):
        return read_object(envelope, "an envelope")
    value = envelope if isinstance(envelope, dict) else dict(envelope)
    check_depth(value)
    return value


def _profile(profile: str) -> SigningProfile:
    try:
        return SigningProfile(profile)
    except ValueError as error:
        known = ", ".join(SigningProfile)
        raise EnvelopeError(f"unknown profile {show(profile)}; there are {known}") from error


def _check_secret(secret: str | bytes, profile: SigningProfile) -> bytes:
    if not isinstance(secret, str | bytes | bytearray):
        raise InvalidArgument("a secret as text or bytes", got=type(secret).__name__)
    raw = secret.encode() if isinstance(secret, str) else bytes(secret)
    if not raw:
        raise EnvelopeError("the session secret is empty")
    # Peers in use sign the five fields with shorter secrets. The full profile has no such peers.
    if profile is SigningProfile.JCS_FULL_HKDF and len(raw) < _SHORTEST_SECRET:
        raise EnvelopeError(
            f"a secret for {profile} has at least {_SHORTEST_SECRET} bytes, got {len(raw)}; "
            "secrets.token_bytes(32) makes one"
        )
    return raw


def _required_text(envelope: Any, *path: str) -> bytes:
    text = _required(envelope, *path)
    if not isinstance(text, str):
        raise EnvelopeError(f"{'.'.join(path)} is text, got {show(text)}")
    return text.encode("utf-8", "surrogatepass")


def _required(envelope: Any, *path: str) -> Any:
    holder = member(envelope, *path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        raise EnvelopeError(f"the envelope has no {'.'.join(path)}, which is signed")
    return holder[path[-1]]
