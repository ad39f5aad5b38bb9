"""The JSON Schema of the Olympus envelope, as its authors published it."""

from typing import Any

from messagebody._core import DIGEST_PATTERN
from messagebody.envelopes._json_schema import closed, whole
from messagebody.findings import pointer

PERSONAS = (
    "project-manager", "devops-engineer", "tech-lead", "coder", "iac-engineer", "tdd-tester",
    "validation-tester", "document-writer", "documentation-reviewer",
)  # fmt: skip
MESSAGE_TYPES = (
    "ASSIGN", "STATUS", "RESULT", "FEEDBACK", "ESCALATE", "APPROVE", "BLOCK", "CANCEL", "WATCH",
)  # fmt: skip
ATTACHMENT_TYPES = (
    "plan", "config", "persona_definition", "source_file", "documentation", "coder_result",
    "checkpoint",
)  # fmt: skip
_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_MESSAGE_ID = "^msg-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


_MEMBERS = closed(
    ("envelope", "persona", "protocol_message"),
    envelope=whole(
        version={"type": "string", "const": "1.0"},
        message_id={"type": "string", "pattern": _MESSAGE_ID},
        timestamp={"type": "string", "format": "date-time"},
        source_agent={"type": "string", "enum": list(PERSONAS)},
        target_agent={"type": "string", "enum": list(PERSONAS)},
        correlation_id={"type": "string", "pattern": r"^(issue|pr)-\d+$"},
        session_id=_STRING,
    ),
    authentication=closed(
        ("sender_persona", "sender_task_id", "session_id"),
        sender_persona=_STRING,
        sender_task_id=_STRING,
        parent_message_id=_STRING,
        session_id=_STRING,
        signature=_STRING,
    ),
    persona=_STRING,
    protocol_message=closed(
        ("message_type", "payload"),
        message_type={"type": "string", "enum": list(MESSAGE_TYPES)},
        payload=_OBJECT,
        constraints=_OBJECT,
    ),
    context_attachments={
        "type": "array",
        "items": closed(
            ("type", "path"),
            type={"type": "string", "enum": list(ATTACHMENT_TYPES)},
            path=_STRING,
            hash={"type": "string", "pattern": f"^{DIGEST_PATTERN}$"},
            section=_STRING,
        ),
    },
)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://convergent-systems-co.github.io/olympus/schemas/agent-envelope.schema.json",
    "title": "Agent Context Envelope",
    **_MEMBERS,
}
"""The published schema, for any validator; without its descriptions."""


def fields() -> tuple[str, ...]:
    """Return the JSON Pointers of all members in the schema, two levels deep.

    Examples:
        >>> "/envelope/timestamp" in fields(), "/context_attachments" in fields()
        (True, True)
    """
    return tuple(
        pointer(name, inner) if inner else pointer(name)
        for name, schema in SCHEMA["properties"].items()
        for inner in schema.get("properties", ("",))
    )
