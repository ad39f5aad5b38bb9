"""The mapping between a body and an Olympus envelope, attachments included."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any
from uuid import uuid4

from messagebody._core import MessageBody, Part, is_digest, sha256_of
from messagebody.adapters import Converted
from messagebody.envelopes._attachments import is_absolute_url
from messagebody.envelopes._carrier import Carrier, now, with_header
from messagebody.envelopes._values import (
    Message,
    list_in,
    member,
    numbered_name,
    objects_in,
    read_object,
    text_of,
)
from messagebody.envelopes.olympus._rules import iter_findings
from messagebody.envelopes.olympus._schema import SCHEMA
from messagebody.errors import InvalidArgument
from messagebody.findings import Finding


class AttachmentStatus(StrEnum):
    """The result of checking an attachment; true only if it is ok."""

    OK = "ok"
    """The file has the declared hash."""

    MISMATCH = "mismatch"
    """The file has another hash, or the declared one is malformed."""

    MISSING = "missing"
    """There is no file. Public builders declare 64 zeros in this case, which proves nothing."""

    UNVERIFIED = "unverified"
    """No hash is declared."""

    def __bool__(self) -> bool:
        return self is AttachmentStatus.OK


def verify_attachment(attachment: Mapping[str, Any], content: bytes | None) -> AttachmentStatus:
    """Compare a whole file with the SHA-256 that its attachment declares.

    Arguments:
        attachment: one of an envelope's context attachments.
        content: the file's bytes, None if there is no file.

    Examples:
        >>> verify_attachment({"type": "plan", "path": "plan.md"}, b"# Plan")
        <AttachmentStatus.UNVERIFIED: 'unverified'>
    """
    if content is None:
        return AttachmentStatus.MISSING
    if not isinstance(content, bytes | bytearray | memoryview):
        raise InvalidArgument("the bytes of the file", content, "encode text to bytes first")
    declared = attachment.get("hash")
    if declared is None:
        return AttachmentStatus.UNVERIFIED
    return AttachmentStatus.OK if declared == sha256_of(content) else AttachmentStatus.MISMATCH


def detect(value: Any, /) -> bool:
    """Return whether a JSON value looks like an envelope.

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


def build(
    body: MessageBody,
    *,
    source_agent: str,
    target_agent: str,
    message_type: str,
    correlation_id: str,
    task_id: str,
    header: Mapping[str, Any] | None = None,
) -> Converted[dict[str, Any]]:
    """Return the first envelope of a session; ids, time and persona are filled in.

    Arguments:
        body: the payload.
        source_agent: the persona that sends it.
        target_agent: the persona that receives it.
        message_type: "ASSIGN", "RESULT", ...
        correlation_id: the work unit, such as "issue-42" or "pr-7".
        task_id: the sender's task in the orchestrator's registry.
        header: members to use in place of those filled in, such as
            `{"envelope": {"session_id": "s-1"}}`. Without another `persona`, the receiver's is
            `governance/personas/agentic/NAME.md`, as in the format's own repository.

    Returns:
        The envelope, without a signature: `signed` adds one. The losses are the parts that it can't
            show, and the members that it needs to be valid.

    Examples:
        >>> body = MessageBody([Part('{"task":"Fix it"}', content_type="application/json")])
        >>> envelope = build(body, source_agent="tech-lead", target_agent="coder",
        ...                  message_type="ASSIGN", correlation_id="issue-42",
        ...                  task_id="t-1").or_raise()
        >>> envelope["protocol_message"]["payload"], envelope["persona"]
        ({'task': 'Fix it'}, 'governance/personas/agentic/coder.md')
    """
    defaults: dict[str, Any] = {
        "envelope": {
            "version": "1.0",
            "message_id": f"msg-{uuid4()}",
            # RFC 3339 with "Z", as the format's own examples have it.
            "timestamp": now().replace("+00:00", "Z"),
            "source_agent": source_agent,
            "target_agent": target_agent,
            "correlation_id": correlation_id,
            "session_id": f"session-{uuid4()}",
        },
        "authentication": {"sender_task_id": task_id, "parent_message_id": ""},
        "persona": "",
        "protocol_message": {"message_type": message_type, "payload": {}},
        "context_attachments": [],
    }
    _FORMAT.check_header(header)
    envelope = _fill_in(with_header(defaults, header or {}))
    return _FORMAT.send(body, envelope, header)


def reply(
    parent: Message,
    body: MessageBody,
    *,
    message_type: str,
    task_id: str,
    header: Mapping[str, Any] | None = None,
) -> Converted[dict[str, Any]]:
    """Return the envelope that answers another: back to its sender, in its session.

    Arguments:
        parent: the envelope it answers: parsed JSON, or JSON text.
        body: the payload.
        message_type: see `build`, which also says what the losses are.
        task_id: see `build`.
        header: see `build`.

    Raises:
        EnvelopeError: the parent is not a JSON object.
    """
    before = member(read_object(parent, "a parent envelope"), "envelope")
    inherited = {
        "envelope": {"session_id": member(before, "session_id")},
        "authentication": {"parent_message_id": member(before, "message_id")},
    }
    _FORMAT.check_header(header)
    return build(
        body,
        source_agent=member(before, "target_agent"),
        target_agent=member(before, "source_agent"),
        message_type=message_type,
        correlation_id=member(before, "correlation_id"),
        task_id=task_id,
        header=with_header(inherited, header or {}),
    )


def _fill_in(envelope: dict[str, Any]) -> dict[str, Any]:
    """Fill in what repeats or follows from another member, even from one of a header."""
    stated, claims = envelope["envelope"], envelope["authentication"]
    copied = {
        "sender_persona": member(stated, "source_agent"),
        "session_id": member(stated, "session_id"),
    }
    if isinstance(claims, dict):
        claims = {**copied, **claims}
    target = text_of(stated, "target_agent")
    persona = f"governance/personas/agentic/{target}.md" if target else ""
    return {**envelope, "authentication": claims, "persona": envelope["persona"] or persona}


class _OlympusFormat(Carrier):
    name = "olympus"
    what = "an envelope"
    exact = "/olympus/envelope.json"
    sidecar = "/meta/olympus.json"
    members = frozenset(SCHEMA["properties"])
    place = ("protocol_message", "payload")
    kinds = (dict,)
    formal = frozenset({"envelope", "authentication", "protocol_message"})

    def broken_rules(self, message: dict[str, Any]) -> Iterator[Finding]:
        return iter_findings(message, strict=True)

    def links(self, message: dict[str, Any]) -> Iterator[Part]:
        for number, attachment in enumerate(objects_in(message, "context_attachments"), 1):
            path, declared = text_of(attachment, "path"), attachment.get("hash")
            # A path in the repository is not a URL, so nobody could read it.
            if is_absolute_url(path):
                name = numbered_name("/attachments", number, path)
                digest = declared if is_digest(declared) else None
                # The hash is the digest of the part.
                about = {key: value for key, value in attachment.items() if key != "hash"}
                yield Part(url=path, name=name, digest=digest, metadata=about)

    def urls(self, message: dict[str, Any]) -> Iterator[str]:
        return (text_of(each, "path") for each in objects_in(message, "context_attachments"))

    def with_links(self, message: dict[str, Any], parts: list[Part]) -> dict[str, Any]:
        # The format has no kind for any other file.
        is_result = member(message, "protocol_message", "message_type") == "RESULT"
        kind = "coder_result" if is_result else "source_file"
        before = list_in(message, "context_attachments")
        added = [{"type": kind, "path": part.url, **({"hash": part.digest} if part.digest else {})}
                 for part in parts]  # fmt: skip
        return {**message, "context_attachments": [*before, *added]}


_FORMAT = _OlympusFormat()

to_body = _FORMAT.to_body
"""Return the body of an envelope.

The payload becomes the unnamed part, or the parts of the body it carries. An attachment becomes
`/attachments/<n>/<name>` if its path is an absolute URL; otherwise it stays in the envelope as
data, because a path is not a URL. JSON text is kept byte for byte.
"""

to_bodies = _FORMAT.to_bodies
"""Return the body of each envelope; `rest` is the list of their rests."""

from_body = _FORMAT.from_body
"""Return the envelope that carries a body: the exact text of a received one, or a JSON value.

For a body from elsewhere, the header is the envelope without its payload; `build` and `reply` fill
in what a program can know. A body of one JSON object is the payload. Any other body travels whole
beside its text, and its references are listed as context attachments.
"""

from_bodies = _FORMAT.from_bodies
"""Return the envelope of each body."""
