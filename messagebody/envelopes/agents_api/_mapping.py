"""The mapping between a body and an agents-api message."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.media_types import OCTET_STREAM, TEXT_PLAIN
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody.adapters import Converted, converted_each
from messagebody.adapters.dialects import messages_of, refuse_conversation
from messagebody.envelopes import _php as php
from messagebody.envelopes._attachments import (
    is_absolute_url,
    not_taken,
    put_parts,
    take_parts,
)
from messagebody.envelopes._embedding import embed, extract, inline_text, is_same
from messagebody.envelopes._rests import Rests, sendable
from messagebody.envelopes.agents_api._findings import iter_drops
from messagebody.envelopes.agents_api._normalize import (
    MESSAGE_KEYS,
    SCHEMA,
    VERSION,
    Envelope,
    as_message,
    is_envelope,
    kept_text_fields,
    normalize,
)
from messagebody.errors import EnvelopeError, MessageBodyError


def content_parts(content: Any) -> tuple[list[Part], Any]:
    """Return the unnamed parts of a content, and a note of its original form."""
    if content == "":
        return [], ""
    if isinstance(content, str):
        return [Part(content, content_type=TEXT_PLAIN)], "text"
    if isinstance(content, dict):
        return [_json_part(content)], "value"
    parts, notes = [], []
    for block in content:
        part, note = _block_part(block)
        parts.append(part)
        notes.append(note)
    return parts, notes


def _json_part(value: Any) -> Part:
    return Part(strict_json.dumps(value), content_type="application/json")


def _block_part(block: Any) -> tuple[Part, Any]:
    if isinstance(block, str):
        return Part(block, content_type=TEXT_PLAIN), "string"
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        # The note needs only two members; other members of the block are kept in it.
        note = "text" if len(block) == 2 else {**block, "text": None}
        return Part(block["text"], content_type=TEXT_PLAIN), note
    if kind == "image_url":
        image = block.get("image_url")
        if is_absolute_url(image):
            return _reference(image), {**block, "image_url": None}
        if isinstance(image, dict) and is_absolute_url(image.get("url")):
            return _reference(image["url"]), {**block, "image_url": {**image, "url": None}}
    return _json_part(block), "json"


def _reference(url: str) -> Part:
    # The block states "image" and no type, and we don't invent one.
    return Part(url=url, content_type=OCTET_STREAM)


def rebuilt_content(note: Any, parts: list[Part], read_json: Callable[[Part], Any]) -> Any:
    """Return the content that parts and note describe.

    Raises:
        ValueError: there are more or fewer parts than in the note, or they are references.
    """
    if note == "":
        return ""
    if isinstance(note, list):
        # `strict` checks that there are as many parts as there were blocks.
        pairs = zip(parts, note, strict=True)
        return [_rebuilt_block(part, each, read_json) for part, each in pairs]
    (part,) = parts
    return inline_text(part) if note == "text" else read_json(part)


def _rebuilt_block(part: Part, note: Any, read_json: Callable[[Part], Any]) -> Any:
    if note == "json":
        return read_json(part)
    if note == "string":
        return inline_text(part)
    if note == "text":
        return {"type": "text", "text": inline_text(part)}
    if note["type"] == "text":
        return {**note, "text": inline_text(part)}
    image = note["image_url"]
    return {**note, "image_url": part.url if image is None else {**image, "url": part.url}}


def _missed(sidecar: dict[str, Any]) -> list[str]:
    metadata = sidecar["metadata"]
    if not isinstance(metadata, dict):
        return ["metadata"] if metadata else []
    left = not_taken(metadata.get("attachments"), sidecar.get("attachments") or {})
    found = ["metadata"] if metadata.keys() - {"attachments"} else []
    return [*found, *(["metadata.attachments"] if left else [])]


# The members of an envelope that parts can't hold, so that it comes back exactly.
SIDECAR = "/meta/agents-api.json"
_RESTS = Rests("agents-api", SIDECAR, _missed)

_JSON = "application/json"
_EMBEDDED = "messagebody"
_PAYLOAD_NAMES = {
    "tool_call": "/tool/call.json",
    "tool_result": "/tool/result.json",
    "approval_required": "/approval/request.json",
    "error": "/error.json",
    "final_result": "/result.json",
}


def detect(value: Any) -> bool:
    """Return whether a parsed JSON value looks like a message of agents-api.

    Examples:
        >>> detect({"role": "user", "content": "Hello!"}), detect([{"content": "Hello!"}])
        (True, False)
    """
    if not isinstance(value, dict):
        return False
    # Blocks of content are those of a provider, whose format says more about them.
    is_plain = "role" in value and isinstance(value.get("content"), str)
    return value.get("schema") == SCHEMA or is_envelope(value) or is_plain


def to_body(
    message: Any, /, *, rest: str | None = "beside", limits: Limits = DEFAULT_LIMITS
) -> Converted[MessageBody]:
    """Return the body of a message: an envelope, a plain message, or JSON text of one.

    The losses are the members that normalising drops; an envelope loses nothing.

    Arguments:
        message: parsed JSON, or JSON as text or bytes.
        rest: where to put the members that are not content: "beside" the body, as the `rest` of the
            result, which `from_body` takes back; or in a "part", for those who store bodies.
        limits: what to take before refusing.

    Raises:
        DecodeError: it goes beyond a limit.
        EnvelopeError: it is not a message; repeated members, NaN and nesting past 512 levels
            are refused too.

    Examples:
        >>> body, losses = to_body({"role": "user", "content": "Hello!", "name": "bob"})
        >>> body.read_text(), str(losses[0])
        ('Hello!', 'omitted name: an envelope has no such member')
    """
    value = php.from_text(message, "agents-api message", limits)
    refuse_conversation(messages_of(value), "convert each message by itself")
    row = as_message(
        value,
        "WP_Agent_Message::normalize(): Argument #1 ($message)",
    )
    envelope = _spelled(normalize(row), row)
    body = _brought(envelope)
    whole = _decomposed(envelope) if body is None else body
    return _RESTS.converted(whole, rest, limits, tuple(iter_drops(row)))


def to_bodies(messages: Iterable[Any], /, **options: Any) -> Converted[list[MessageBody]]:
    """Return the body of each message; `rest` is the list of their rests.

    Arguments:
        messages: the messages, each as `to_body` takes it.
        **options: those of `to_body`.
    """
    return converted_each(messages, partial(to_body, **options))


def from_body(
    body: MessageBody,
    /,
    *,
    rest: Any = None,
    role: str | None = None,
    header: Mapping[str, Any] | None = None,
) -> Converted[Envelope]:
    """Return the envelope of a body.

    A body that `to_body` made gives its original envelope, with later edits. Any other body travels
    whole: its text in `content`, other parts in `metadata.attachments`, its manifest as JSON text
    in `metadata.messagebody`. Nothing is lost but parts that keep members of another message.

    Arguments:
        body: the body.
        rest: what `to_body` returned as `rest`, if it is beside the body. If another format
            returned it, only the role is used.
        role: the role, if the body does not state it; by default the role in `rest`, or
            "assistant".
        header: for a body that is not from an envelope, members of the envelope beside its
            content, such as `{"id": "m-1"}`.

    Raises:
        LocalFileNotSent: a part is still a local file.
        EnvelopeError: the sidecar of the body makes no envelope.

    Examples:
        >>> body = MessageBody([Part("Two cats:"), Part(b"GIF89a", name="/cats.gif")])
        >>> envelope = from_body(body).or_raise()
        >>> envelope["content"], envelope["metadata"]["attachments"][0]["filename"]
        ('Two cats:', 'cats.gif')
        >>> to_body(envelope).value == body
        True
    """
    body = _RESTS.put_back(body, rest)
    sidecar = _sidecar(body)
    if sidecar is None:
        body, losses = sendable(body, SIDECAR)
        said = {"role": _RESTS.role(rest) or "assistant", **(header or {})}
        if role is not None:
            said["role"] = role
        return Converted(_embedding(body, said), losses)
    try:
        return Converted(_resumed(body, sidecar))
    except MessageBodyError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise EnvelopeError(f"the part {SIDECAR} makes no envelope") from error


def _resumed(body: MessageBody, sidecar: dict[str, Any]) -> Envelope:
    """Return the envelope of a body with a sidecar: made from the parts, or carrying the body."""
    envelope = None if _EMBEDDED in sidecar else _rebuilt(body, sidecar)
    # The envelope is taken apart again: only if that gives the same body, it was built correctly.
    if envelope is not None and is_same(_decomposed(envelope), body, SIDECAR):
        return envelope
    rest = MessageBody([part for part in body if part.name != SIDECAR])
    return _embedding(rest, _without_taken(sidecar))


# An envelope in parts


def _spelled(envelope: Envelope, row: dict[str, Any]) -> Envelope:
    """Keep the spelling of empty maps in an envelope of PHP's form."""
    for key in ("payload", "metadata"):
        # PHP writes an empty map as `[]`; a message should come back with the same spelling.
        if not envelope[key] and isinstance(row.get(key), list):
            envelope[key] = []
    return envelope


def _decomposed(envelope: Envelope) -> MessageBody:
    sidecar = {key: value for key, value in envelope.items() if key not in ("content", "payload")}
    parts, sidecar["content"] = content_parts(envelope["content"])
    payload = envelope["payload"]
    if payload:
        parts.append(_json_content_part(payload, _payload_name(envelope["type"])))
    else:
        sidecar["payload"] = payload
    metadata = envelope["metadata"]
    attached = metadata.get("attachments") if isinstance(metadata, dict) else None
    taken, left = take_parts(attached if isinstance(attached, list) else [])
    if taken:
        parts += [each.part for each in taken]
        sidecar["metadata"] = {**metadata, "attachments": left}
        sidecar["attachments"] = {each.part.name: each.alias for each in taken}
    parts.append(_json_content_part(sidecar, SIDECAR))
    return MessageBody(parts)


def _json_content_part(value: Any, name: str) -> Part:
    return Part(strict_json.dumps(value), name=name, content_type=_JSON)


def _payload_name(type_: str) -> str:
    return _PAYLOAD_NAMES.get(type_) or f"/payload/{type_}.json"


# An envelope from parts


def _sidecar(body: MessageBody) -> dict[str, Any] | None:
    part = body.get(SIDECAR)
    value = None if part is None else _read_json(part)
    return value if isinstance(value, dict) and value.get("schema") == SCHEMA else None


def _read_json(part: Part) -> Any:
    """Return the JSON of an inline part, None if it does not hold JSON."""
    if part.is_reference or part.local_file:
        return None
    try:
        return strict_json.loads(part.read_bytes(), depth=php.JSON_DEPTH)
    except strict_json.InvalidJson:
        return None


def _rebuilt(body: MessageBody, sidecar: dict[str, Any]) -> Envelope | None:
    """Return the envelope of the parts, None if they are not the parts listed in the sidecar."""
    try:
        envelope = {key: sidecar[key] for key in MESSAGE_KEYS if key in sidecar}
        envelope["content"] = rebuilt_content(sidecar["content"], body.unnamed(), _read_json)
        envelope["payload"] = _payload(body, sidecar)
        envelope["metadata"] = _metadata(body, sidecar)
        return _spelled(normalize(envelope), envelope)
    except (MessageBodyError, LookupError, TypeError, ValueError, AttributeError):
        return None  # the parts were edited and no longer fit, so the whole body is carried


def _payload(body: MessageBody, sidecar: dict[str, Any]) -> Any:
    part = body.get(_payload_name(str(sidecar.get("type"))))
    return sidecar.get("payload", {}) if part is None else _read_json(part)


def _metadata(body: MessageBody, sidecar: dict[str, Any]) -> Any:
    metadata = sidecar["metadata"]
    if "attachments" not in sidecar:
        return metadata
    attachments = put_parts(metadata["attachments"], sidecar["attachments"], body)
    return {**metadata, "attachments": attachments}


# Any body in an envelope


def _without_taken(sidecar: dict[str, Any]) -> dict[str, Any]:
    """Return a sidecar without the attachments that are parts, which are embedded again."""
    aliases, metadata = sidecar.get("attachments"), sidecar.get("metadata")
    if not isinstance(aliases, dict) or not isinstance(metadata, dict):
        return sidecar
    kept = not_taken(metadata.get("attachments") or [], aliases)
    return {**sidecar, "metadata": {**metadata, "attachments": kept}}


def _embedding(body: MessageBody, said: dict[str, Any]) -> Envelope:
    """Return an envelope that carries a whole body; `said` has the members of a sidecar."""
    embedded = embed(body, inline_as="url")
    several = len(embedded.texts) > 1
    blocks = [{"type": "text", "text": text} for text in embedded.texts]
    metadata = dict(php.as_map(said.get("metadata") or {}))
    attachments = [*(metadata.pop("attachments", None) or ()), *embedded.attachments]
    if attachments:
        metadata["attachments"] = attachments
    # As text, because PHP would turn its empty objects into arrays.
    metadata[_EMBEDDED] = embedded.manifest
    payload = _payload(body, said)
    row: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "type": said.get("type", "multimodal_part" if several else "text"),
        "role": said.get("role"),
        "content": blocks if several else embedded.joined,
        "payload": payload if php.is_array(payload) else {},
        "metadata": metadata,
        **kept_text_fields(said),
    }
    return _spelled(normalize(row), row)


def _brought(envelope: Envelope) -> MessageBody | None:
    """Return the body that an envelope carries, None if it carries none."""
    metadata = envelope["metadata"]
    if not isinstance(metadata, dict) or not isinstance(metadata.get(_EMBEDDED), str):
        return None
    attachments = metadata.get("attachments", [])
    extracted = extract(_texts(envelope["content"]), attachments, metadata[_EMBEDDED])
    if extracted is None or SIDECAR in extracted[0]:
        return None
    body, own = extracted
    # PHP writes the empty payload as []; the body is still the same body.
    plain = {**envelope, "payload": envelope["payload"] or {}}
    # The body holds everything in the envelope, so it needs no sidecar.
    if strict_json.same(_embedding(body, {"role": "assistant"}), plain):
        return body
    body.append(_json_content_part(_said(envelope, body, own), SIDECAR))
    # The way back is tried: if the body gives another envelope, it is not the original body.
    return body if strict_json.same(from_body(body).value, envelope) else None


def _texts(content: Any) -> list[str] | str:
    if isinstance(content, str):
        return content
    return [block["text"] for block in content if isinstance(block, dict) and "text" in block]


def _said(envelope: Envelope, body: MessageBody, own: int) -> dict[str, Any]:
    """Return the members of an envelope besides the body that it carries."""
    said = {key: value for key, value in envelope.items() if key != "content"}
    metadata = {key: value for key, value in envelope["metadata"].items() if key != _EMBEDDED}
    # The last attachments are those of the body; the others belong to the message.
    kept = metadata.pop("attachments", [])[: -own or None]
    if kept:
        metadata["attachments"] = kept
    if _payload_name(envelope["type"]) in body:
        del said["payload"]
    return {**said, "metadata": metadata, _EMBEDDED: True}
