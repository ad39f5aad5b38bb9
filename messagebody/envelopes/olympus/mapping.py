"""The mapping between a body and an Olympus envelope, attachments included."""

import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from messagebody._text import quote
from messagebody.body import MessageBody
from messagebody.digests import is_digest, sha256_of
from messagebody.envelopes.attachments import is_absolute_url
from messagebody.envelopes.sidecar import Carrier, Message, Slot, numbered_name, text_of
from messagebody.errors import DigestMismatch
from messagebody.formats import Converted
from messagebody.part import Part


class AttachmentStatus(StrEnum):
    """What is known of an attachment; true only when it is ok."""

    OK = "ok"
    """The file has the declared hash."""

    MISMATCH = "mismatch"
    """The file has another hash, or the declared one is malformed."""

    MISSING = "missing"
    """There is no file. Public builders declare 64 zeros for one; that proves nothing."""

    UNVERIFIED = "unverified"
    """No hash is declared."""

    def __bool__(self) -> bool:
        return self is AttachmentStatus.OK


def verify_attachment(attachment: Mapping[str, Any], content: bytes | None) -> AttachmentStatus:
    """Compare a whole file with the SHA-256 its attachment declares.

    Arguments:
        attachment: one of an envelope's context attachments.
        content: the file's bytes, None if there is no file.

    Examples:
        >>> verify_attachment({"type": "plan", "path": "plan.md"}, b"# Plan")
        <AttachmentStatus.UNVERIFIED: 'unverified'>
    """
    if content is None:
        return AttachmentStatus.MISSING
    declared = attachment.get("hash")
    if declared is None:
        return AttachmentStatus.UNVERIFIED
    return AttachmentStatus.OK if declared == sha256_of(content) else AttachmentStatus.MISMATCH


Files = Mapping[str, str | bytes | os.PathLike[str]]
"""Contents of attachments by path: text, bytes, or a local file."""


def detect(value: Any, /) -> bool:
    """Tell whether a JSON value looks like an envelope.

    Examples:
        >>> detect({"envelope": {}, "persona": "", "protocol_message": {}})
        True
    """
    return (
        isinstance(value, dict)
        and isinstance(value.get("envelope"), dict)
        and isinstance(value.get("protocol_message"), dict)
        and "persona" in value
    )


def to_body(message: Message, /, *, files: Files | None = None) -> Converted[MessageBody]:
    """Return the body of an envelope.

    The payload becomes the unnamed part, or the parts of the body it carries. An attachment
    becomes `/attachments/<n>/<name>` if its path is an absolute URL, or if `files` has its
    content; otherwise it stays in the envelope as data, for a path is no URL.

    Arguments:
        message: JSON text, kept byte for byte; or parsed JSON, taken apart.
        files: contents of attachments by path.

    Raises:
        EnvelopeError: the envelope is no strict JSON object.
        DigestMismatch: a file has another hash than its attachment declares.

    Examples:
        >>> body = to_body('{"protocol_message": {"payload": {"task": "Fix it"}}}').or_raise()
        >>> body.names(), body[0].read_json()
        (['/olympus/envelope.json'], {'task': 'Fix it'})
    """
    return Converted(_CARRIER.to_body(message, partial(_given, files=files or {})))


def from_body(
    body: MessageBody, /, *, header: Mapping[str, Any] | None = None
) -> Converted[str | dict[str, Any]]:
    """Return the envelope that carries a body.

    Arguments:
        body: one from `to_body`, or any other.
        header: for any other body, the envelope without its payload.

    Returns:
        The exact text of a received envelope; a JSON value for any other. Parts the envelope
        can't carry are losses.

    Raises:
        EnvelopeError: a part contradicts the envelope, or a header is missing.
    """
    return _CARRIER.from_body(body, header)


def _attachments(envelope: dict[str, Any]) -> list[dict[str, Any]]:
    found = envelope.get("context_attachments")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _slots(envelope: dict[str, Any]) -> Iterator[Slot]:
    for number, attachment in enumerate(_attachments(envelope), 1):
        name = numbered_name("/attachments", number, attachment.get("path"))
        declared = attachment.get("hash")
        yield Slot(name, declared if is_digest(declared) else None)


def _links(envelope: dict[str, Any]) -> Iterator[Part]:
    for slot, attachment in zip(_slots(envelope), _attachments(envelope), strict=True):
        path = text_of(attachment, "path")
        if is_absolute_url(path):
            yield Part(url=path, name=slot.name, digest=slot.digest, metadata=_about(attachment))


def _given(envelope: dict[str, Any], files: Files) -> Iterator[Part]:
    if not files:
        return
    for slot, attachment in zip(_slots(envelope), _attachments(envelope), strict=True):
        path = text_of(attachment, "path")
        if path not in files:
            continue
        content: Any = files[path]
        part = Part(content, name=slot.name, metadata=_about(attachment))
        if slot.digest is not None and part.digest != slot.digest:
            raise DigestMismatch(f"attachment {quote(path)}", slot.digest, str(part.digest))
        yield part


def _about(attachment: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attachment.items() if name != "hash"}


_CARRIER = Carrier(
    what="an envelope",
    exact="/olympus/envelope.json",
    meta="/meta/olympus.json",
    place=("protocol_message", "payload"),
    links=_links,
    slots=_slots,
)
