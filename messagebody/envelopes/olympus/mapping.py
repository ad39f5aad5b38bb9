"""Envelopes as bodies, and bodies as envelopes.

A received envelope, given as text, keeps its text byte for byte in `/olympus/envelope.json`. One
built here, given as a value, is taken apart into its payload and `/meta/olympus.json`. A body
that never was an envelope travels whole, as the payload's member `messagebody`.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from messagebody import strict_json
from messagebody.body import MessageBody
from messagebody.envelopes.conversion import Converted, Loss, LossKind
from messagebody.envelopes.received import (
    JSON,
    Message,
    Slot,
    check_views,
    is_digest,
    is_url,
    member,
    numbered_name,
    read_object,
)
from messagebody.errors import DigestMismatch, EnvelopeError, MessageBodyError
from messagebody.part import Part
from messagebody.text import quote

__all__ = ["detect", "from_body", "to_body"]

_EXACT = "/olympus/envelope.json"
_META = "/meta/olympus.json"
_CARRIED = "messagebody"
_WHAT = "an envelope"

Files = Mapping[str, str | bytes | os.PathLike[str]]


def detect(value: Any, /) -> bool:
    """Tell whether a JSON value looks like an envelope.

    Example:
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
        files: contents of attachments by path: text, bytes, or a local file.

    Raises:
        EnvelopeError: the envelope is no strict JSON object.
        DigestMismatch: a file has another hash than its attachment declares.
    """
    envelope = read_object(message, _WHAT)
    attached = [*_attachment_parts(envelope, files or {})]
    if isinstance(message, Mapping):
        return Converted(_taken_apart(envelope, attached))
    text = message if isinstance(message, str) else bytes(message).decode()
    exact = Part(text, name=_EXACT, content_type=JSON)
    return Converted(MessageBody([*_content(envelope, {_EXACT}, attached), exact, *attached]))


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
        EnvelopeError: a view contradicts the received text, or a header is missing.
    """
    if _EXACT in body:
        return _received(body)
    if _META in body:
        return _put_together(body)
    if header is None:
        raise EnvelopeError(
            f"the body has neither {_EXACT} nor {_META}, so somebody must say who sends it to "
            "whom: from_body(body, header={'envelope': {…}, 'persona': …, …})"
        )
    return Converted(_with_payload(dict(header), {_CARRIED: body.to_dicts()}))


def _received(body: MessageBody) -> Converted[str | dict[str, Any]]:
    text = body[_EXACT].read_text()
    envelope = read_object(text, _WHAT)
    linked = [*_attachment_parts(envelope, {})]
    views = [*_content(envelope, {_EXACT}, linked), *linked]
    return Converted(text, check_views(body, _EXACT, views, _slots(envelope)))


def _taken_apart(envelope: dict[str, Any], attached: list[Part]) -> MessageBody:
    content = _content(envelope, {_META}, attached)
    protocol = envelope.get("protocol_message")
    rest = envelope
    if content and isinstance(protocol, dict):
        without = {name: value for name, value in protocol.items() if name != "payload"}
        rest = {**envelope, "protocol_message": without}
        if _carried(envelope) is not None:
            rest = _with_payload(rest, {_CARRIED: []})
    meta = Part(strict_json.dumps(rest), name=_META, content_type=JSON)
    return MessageBody([*content, meta, *attached])


def _put_together(body: MessageBody) -> Converted[str | dict[str, Any]]:
    envelope = read_object(body[_META].read_bytes(), _META)
    attached = {part.name for part in _attachment_parts(envelope, {})}
    attached.update(slot.name for slot in _slots(envelope))
    if member(envelope, "protocol_message", "payload") == {_CARRIED: []}:
        parts = [part for part in body if part.name != _META and part.name not in attached]
        carried = MessageBody(parts).to_dicts()
        return Converted(_with_payload(envelope, {_CARRIED: carried}))
    unnamed = body.unnamed()
    if unnamed:
        envelope = _with_payload(envelope, unnamed[0].read_json())
    return Converted(envelope, (*_unhashed(body, envelope), *_left_over(body, attached)))


def _unhashed(body: MessageBody, envelope: dict[str, Any]) -> Iterator[Loss]:
    linked = {part.name for part in _attachment_parts(envelope, {})}
    for slot in _slots(envelope):
        part = body.get(slot.name)
        if part is None or slot.name in linked:
            continue
        if slot.digest is None or (part.digest is not None and part.digest != slot.digest):
            why = "the envelope names a file, and carries no content of it"
            yield Loss(LossKind.DOWNGRADED, slot.name, why)


def _left_over(body: MessageBody, attached: set[str | None]) -> Iterator[Loss]:
    payload_seen = False
    for index, part in enumerate(body):
        if part.name is None and not payload_seen:
            payload_seen = True
        elif part.name is None or part.name not in {_META, *attached}:
            where = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
            yield Loss(LossKind.OMITTED, where, "the envelope has room for one payload")


def _with_payload(envelope: dict[str, Any], payload: Any) -> dict[str, Any]:
    protocol = envelope.get("protocol_message")
    holder = protocol if isinstance(protocol, dict) else {}
    return {**envelope, "protocol_message": {**holder, "payload": payload}}


def _content(envelope: dict[str, Any], taken: set[str], attached: list[Part]) -> list[Part]:
    """Return the parts the payload stands for; none if it is absent or null."""
    carried = _carried(envelope)
    if carried is not None:
        reserved = {*taken, *(part.name for part in attached), *_slot_names(envelope)}
        if reserved.isdisjoint(carried.names()):
            return [*carried]
    payload = member(envelope, "protocol_message", "payload")
    return [] if payload is None else [Part(strict_json.dumps(payload), content_type=JSON)]


def _carried(envelope: dict[str, Any]) -> MessageBody | None:
    """Return the body a payload carries whole, if writing it again gives the same payload."""
    payload = member(envelope, "protocol_message", "payload")
    parts = payload.get(_CARRIED) if isinstance(payload, dict) and len(payload) == 1 else None
    if not isinstance(parts, list):
        return None
    try:
        body = MessageBody.from_dicts(parts)
    except MessageBodyError:
        return None
    return body if strict_json.dumps(body.to_dicts()) == strict_json.dumps(parts) else None


def _attachment_parts(envelope: dict[str, Any], files: Files) -> Iterator[Part]:
    for slot, attachment in zip(_slots(envelope), _attachments(envelope), strict=True):
        path = member(attachment, "path")
        metadata = {name: value for name, value in attachment.items() if name != "hash"}
        if path in files:
            yield _file(slot, path, files[path], metadata)
        elif is_url(path):
            yield Part(url=path, name=slot.name, digest=slot.digest, metadata=metadata)


def _file(slot: Slot, path: str, content: Any, metadata: dict[str, Any]) -> Part:
    part = Part(content, name=slot.name, metadata=metadata)
    if slot.digest is not None and part.digest != slot.digest:
        raise DigestMismatch(f"attachment {quote(path)}", slot.digest, str(part.digest))
    return part


def _slots(envelope: dict[str, Any]) -> list[Slot]:
    return [
        Slot(
            numbered_name("/attachments", number, attachment.get("path")),
            attachment["hash"] if is_digest(attachment.get("hash")) else None,
        )
        for number, attachment in enumerate(_attachments(envelope), 1)
    ]


def _slot_names(envelope: dict[str, Any]) -> set[str]:
    return {slot.name for slot in _slots(envelope)}


def _attachments(envelope: dict[str, Any]) -> list[dict[str, Any]]:
    found = envelope.get("context_attachments")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
