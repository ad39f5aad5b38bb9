"""The rules the format states in words only, and its schema doesn't know."""

import re
from collections.abc import Iterator
from typing import Any

from messagebody.envelopes.olympus.findings import Finding, Layer
from messagebody.envelopes.olympus.repository_paths import is_repository_path
from messagebody.envelopes.received import member, pointer, shown

__all__ = ["iter_prose_findings"]

# RFC 9562: version 4, variant 10.
_MESSAGE_ID = re.compile(r"msg-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ANY_MESSAGE_ID = re.compile(r"msg-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")


def iter_prose_findings(envelope: Any) -> Iterator[Finding]:
    """Yield what breaks the rules in words; values of a wrong type are the schema's concern."""
    for check, path, problem in (
        *_identity(envelope),
        *_authentication(envelope),
        *_paths(envelope),
        *_repeated(envelope),
    ):
        yield Finding(check, path, problem, layer=Layer.PROSE)


def _identity(envelope: Any) -> Iterator[tuple[str, str, str]]:
    message_id = member(envelope, "envelope", "message_id")
    if isinstance(message_id, str) and _MESSAGE_ID.fullmatch(message_id) is None:
        problem = f"msg- and a UUID v4 is expected, got {shown(message_id)}"
        yield "message-id", "/envelope/message_id", problem
    if member(envelope, "envelope", "session_id") == "":
        yield "session-id", "/envelope/session_id", "a session has a name, got ''"


def _authentication(envelope: Any) -> Iterator[tuple[str, str, str]]:
    claims = member(envelope, "authentication")
    for check, claim, stated in (
        ("sender-persona", "sender_persona", "source_agent"),
        ("session-id", "session_id", "session_id"),
    ):
        mine, theirs = member(claims, claim), member(envelope, "envelope", stated)
        if isinstance(mine, str) and isinstance(theirs, str) and mine != theirs:
            problem = f"envelope.{stated} is {shown(theirs)}, got {shown(mine)}"
            yield check, pointer("authentication", claim), problem
    parent = member(claims, "parent_message_id")
    if isinstance(parent, str) and parent and _ANY_MESSAGE_ID.fullmatch(parent) is None:
        problem = f"a message id, or '' for a root, is expected, got {shown(parent)}"
        yield "parent-message-id", "/authentication/parent_message_id", problem
    signature = member(claims, "signature")
    if isinstance(signature, str) and _SIGNATURE.fullmatch(signature) is None:
        problem = f"64 lower-case hex digits are expected, got {shown(signature)}"
        yield "signature-form", "/authentication/signature", problem


def _paths(envelope: Any) -> Iterator[tuple[str, str, str]]:
    places = [("persona-path", "/persona", member(envelope, "persona"))]
    for index, attachment in enumerate(_attachments(envelope)):
        path = pointer("context_attachments", index, "path")
        places.append(("attachment-path", path, member(attachment, "path")))
    for check, path, value in places:
        if isinstance(value, str) and not is_repository_path(value):
            problem = f"a path relative to the repository's root is expected, got {shown(value)}"
            yield check, path, problem


def _repeated(envelope: Any) -> Iterator[tuple[str, str, str]]:
    seen: set[tuple[str, ...]] = set()
    for index, attachment in enumerate(_attachments(envelope)):
        # Values of a wrong type are unhashable, and the schema's concern.
        key = tuple(shown(member(attachment, name)) for name in ("type", "path", "section"))
        if key in seen:
            problem = "the same type, path and section stand earlier in the list"
            yield "attachment-repeated", pointer("context_attachments", index), problem
        seen.add(key)


def _attachments(envelope: Any) -> list[Any]:
    attachments = member(envelope, "context_attachments")
    return attachments if isinstance(attachments, list) else []
