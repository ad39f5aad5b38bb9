"""The members of a message: which there are, their types and values."""

from collections.abc import Iterator
from typing import Any

import attrs

from messagebody.envelopes.sidecar import pointer, shown

__all__ = ["Problem", "iter_shape_problems"]

Problem = tuple[str, str, str]
"""A check's id, a place, and what is wrong there."""

_NAMES = {str: "text", bool: "true or false", int: "an integer", dict: "an object", list: "a list"}


@attrs.frozen
class _Value:
    """A member: the types it may have, whether null, which values, from which number on."""

    types: tuple[type, ...]
    nullable: bool = False
    values: tuple[str, ...] = ()
    least: int | None = None


@attrs.frozen
class _Each:
    """A list of members of one shape."""

    item: "_Value | dict[str, Any]"


_TEXT = _Value((str,))
_TEXT_OR_NULL = _Value((str,), nullable=True)
_CONTENT = _Value((str, list, dict), nullable=True)
_SEQUENCE = _Value((int,), least=1)
_SEQUENCE_OR_NULL = _Value((int,), nullable=True, least=1)
_ERROR_CODES = (
    "OUT_OF_SCOPE",
    "INVALID_INPUT",
    "PROCESSING_ERROR",
    "TIMEOUT",
    "DEPENDENCY_ERROR",
    "VALIDATION_ERROR",
)

_MESSAGE: dict[str, Any] = {
    "message_id": _TEXT,
    "timestamp": {"executed_at": _TEXT, "timezone": _TEXT},
    "agent": {
        "name": _TEXT,
        "type": _Value((str,), values=("governance", "operational", "executional")),
    },
    "input": {"source": _TEXT, "content": _CONTENT},
    "output": {"content": _CONTENT, "content_type": _TEXT},
    "next_agent": {"name": _TEXT_OR_NULL, "reason": _TEXT_OR_NULL},
    "status": {
        "code": _Value((str,), values=("success", "partial", "failed", "pending")),
        "message": _TEXT,
    },
    "error": {
        "has_error": _Value((bool,)),
        "error_code": _Value((str,), nullable=True, values=_ERROR_CODES),
        "error_message": _TEXT_OR_NULL,
        "retry_count": _Value((int,), least=0),
        "recoverable": _Value((bool,)),
    },
    "metadata": {
        "session_id": _TEXT,
        "request_id": _TEXT,
        "sequence_number": _SEQUENCE,
        "parent_message_id": _TEXT_OR_NULL,
    },
    "resources": {
        "source_refs": _Each(
            {
                "ref_id": _TEXT,
                "url": _TEXT,
                "platform": _TEXT_OR_NULL,
                "media_type": _TEXT_OR_NULL,
                "provided_by": _TEXT,
                "extracted_at_sequence": _SEQUENCE,
            }
        ),
        "storage_refs": _Each(
            {
                "ref_id": _TEXT,
                "source_ref_id": _TEXT,
                "storage_uri": _TEXT_OR_NULL,
                "storage_backend": _TEXT_OR_NULL,
                "media_type": _TEXT_OR_NULL,
                "created_at_sequence": _SEQUENCE_OR_NULL,
                "status": _Value((str,), values=("pending", "stored", "failed")),
            }
        ),
        "derived_refs": _Each(
            {
                "ref_id": _TEXT,
                "parent_ref_id": _TEXT,
                "storage_uri": _TEXT_OR_NULL,
                "asset_type": _TEXT_OR_NULL,
                "capability_id": _TEXT_OR_NULL,
                "created_at_sequence": _SEQUENCE_OR_NULL,
                "status": _Value((str,), values=("pending", "created", "failed")),
            }
        ),
    },
    "audit": {
        "compliance_notes": _TEXT,
        "governance_files_consulted": _Each(_TEXT),
        "reasoning": _TEXT,
    },
}


def iter_shape_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield members that are missing, of a wrong type or value, or null where they may not be."""
    yield from _group(message, _MESSAGE, "")


def _group(value: dict[str, Any], members: dict[str, Any], path: str) -> Iterator[Problem]:
    for name, shape in members.items():
        place = path + pointer(name)
        if name in value:
            yield from _member(value[name], shape, place)
        else:
            yield "S001", place, "it is missing; null stands for what does not apply"


def _member(value: Any, shape: Any, path: str) -> Iterator[Problem]:
    if isinstance(shape, _Value):
        yield from _value(value, shape, path)
    elif isinstance(shape, _Each):
        yield from _typed(value, (list,), path)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _member(item, shape.item, path + pointer(index))
    else:
        yield from _typed(value, (dict,), path)
        if isinstance(value, dict):
            yield from _group(value, shape, path)


def _value(value: Any, shape: _Value, path: str) -> Iterator[Problem]:
    if value is None and shape.nullable:
        return
    problems = [*_typed(value, shape.types, path)]
    yield from problems
    if problems:
        return
    if shape.values and value not in shape.values:
        yield "S003", path, f"one of {', '.join(shape.values)} is expected, got {shown(value)}"
    if shape.least is not None and value < shape.least:
        yield "S007", path, f"it starts at {shape.least}, got {shown(value)}"


def _typed(value: Any, types: tuple[type, ...], path: str) -> Iterator[Problem]:
    wanted = " or ".join(_NAMES[each] for each in types)
    if value is None:
        yield "S004", path, f"{wanted} is expected, got null"
    elif not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield "S002", path, f"{wanted} is expected, got {shown(value)}"
