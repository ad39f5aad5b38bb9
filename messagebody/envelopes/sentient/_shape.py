"""The shape of a Sentient message: its members, their types and their values."""

from collections.abc import Iterator
from typing import Any

from messagebody.envelopes._json_schema import iter_violations, whole
from messagebody.envelopes._values import Problem

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_CONTENT = {"type": ["string", "array", "object", "null"]}
_BOOLEAN = {"type": "boolean"}
_SEQUENCE = {"type": "integer", "minimum": 1}
_SEQUENCE_OR_NULL = {"type": ["integer", "null"], "minimum": 1}
_ERROR_CODES = ("OUT_OF_SCOPE", "INVALID_INPUT", "PROCESSING_ERROR", "TIMEOUT",
                "DEPENDENCY_ERROR", "VALIDATION_ERROR")  # fmt: skip


def _one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


SCHEMA: dict[str, Any] = whole(
    message_id=_TEXT,
    timestamp=whole(executed_at=_TEXT, timezone=_TEXT),
    agent=whole(name=_TEXT, type=_one_of("governance", "operational", "executional")),
    input=whole(source=_TEXT, content=_CONTENT),
    output=whole(content=_CONTENT, content_type=_TEXT),
    next_agent=whole(name=_TEXT_OR_NULL, reason=_TEXT_OR_NULL),
    status=whole(code=_one_of("success", "partial", "failed", "pending"), message=_TEXT),
    error=whole(
        has_error=_BOOLEAN,
        error_code={"type": ["string", "null"], "enum": [*_ERROR_CODES, None]},
        error_message=_TEXT_OR_NULL,
        retry_count={"type": "integer", "minimum": 0},
        recoverable=_BOOLEAN,
    ),
    metadata=whole(
        session_id=_TEXT,
        request_id=_TEXT,
        sequence_number=_SEQUENCE,
        parent_message_id=_TEXT_OR_NULL,
    ),
    resources=whole(
        source_refs=_list_of(
            whole(
                ref_id=_TEXT,
                url=_TEXT,
                platform=_TEXT_OR_NULL,
                media_type=_TEXT_OR_NULL,
                provided_by=_TEXT,
                extracted_at_sequence=_SEQUENCE,
            )
        ),
        storage_refs=_list_of(
            whole(
                ref_id=_TEXT,
                source_ref_id=_TEXT,
                storage_uri=_TEXT_OR_NULL,
                storage_backend=_TEXT_OR_NULL,
                media_type=_TEXT_OR_NULL,
                created_at_sequence=_SEQUENCE_OR_NULL,
                status=_one_of("pending", "stored", "failed"),
            )
        ),
        derived_refs=_list_of(
            whole(
                ref_id=_TEXT,
                parent_ref_id=_TEXT,
                storage_uri=_TEXT_OR_NULL,
                asset_type=_TEXT_OR_NULL,
                capability_id=_TEXT_OR_NULL,
                created_at_sequence=_SEQUENCE_OR_NULL,
                status=_one_of("pending", "created", "failed"),
            )
        ),
    ),
    audit=whole(
        compliance_notes=_TEXT,
        governance_files_consulted=_list_of(_TEXT),
        reasoning=_TEXT,
    ),
)
"""The members of a message, for any validator; the format's document states them in tables."""

_CHECKS = {
    "required": "S001",
    "type": "S002",
    "enum": "S003",
    "minimum": "S007",
    "additionalProperties": "S005",
}


def iter_shape_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield members that are missing, unknown, of a wrong type or value, or null by mistake."""
    mistyped: set[str] = set()
    for broken in iter_violations(message, SCHEMA):
        check, problem = _CHECKS[broken.keyword], broken.problem
        if broken.keyword == "type":
            mistyped.add(broken.where)
            check = check if broken.value is not None else "S004"
        elif broken.missing is not None:
            problem = "it is missing; write null if it does not apply"
        elif broken.where in mistyped:
            continue  # a value of a wrong type is reported once
        yield check, broken.place, problem
