r"""The published JSON Schema of the envelope, and the eight keywords it uses.

Two readings of its patterns exist. ECMA-262, which JSON Schema names, ends a text at `$` and
takes 0-9 for `\d`. Python's `re`, and so every validator built on it, also lets `$` pass before
a final newline and `\d` take the digits of all scripts. Both verdicts are given.
"""

import calendar
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from messagebody._text import quote
from messagebody.digests import DIGEST_PATTERN
from messagebody.envelopes.olympus.findings import Finding
from messagebody.envelopes.sidecar import pointer, shown

__all__ = ["MESSAGE_TYPES", "PERSONAS", "SCHEMA", "fields", "iter_violations"]

PERSONAS = (
    "project-manager",
    "devops-engineer",
    "tech-lead",
    "coder",
    "iac-engineer",
    "tdd-tester",
    "validation-tester",
    "document-writer",
    "documentation-reviewer",
)
MESSAGE_TYPES = (
    "ASSIGN",
    "STATUS",
    "RESULT",
    "FEEDBACK",
    "ESCALATE",
    "APPROVE",
    "BLOCK",
    "CANCEL",
    "WATCH",
)
_ATTACHMENT_TYPES = (
    "plan",
    "config",
    "persona_definition",
    "source_file",
    "documentation",
    "coder_result",
    "checkpoint",
)
_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_MESSAGE_ID = "^msg-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


def _closed(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = _closed(
    ("envelope", "persona", "protocol_message"),
    envelope=_closed(
        (
            "version",
            "message_id",
            "timestamp",
            "source_agent",
            "target_agent",
            "correlation_id",
            "session_id",
        ),
        version={"type": "string", "const": "1.0"},
        message_id={"type": "string", "pattern": _MESSAGE_ID},
        timestamp={"type": "string", "format": "date-time"},
        source_agent={"type": "string", "enum": PERSONAS},
        target_agent={"type": "string", "enum": PERSONAS},
        correlation_id={"type": "string", "pattern": r"^(issue|pr)-\d+$"},
        session_id=_STRING,
    ),
    authentication=_closed(
        ("sender_persona", "sender_task_id", "session_id"),
        sender_persona=_STRING,
        sender_task_id=_STRING,
        parent_message_id=_STRING,
        session_id=_STRING,
        signature=_STRING,
    ),
    persona=_STRING,
    protocol_message=_closed(
        ("message_type", "payload"),
        message_type={"type": "string", "enum": MESSAGE_TYPES},
        payload=_OBJECT,
        constraints=_OBJECT,
    ),
    context_attachments={
        "type": "array",
        "items": _closed(
            ("type", "path"),
            type={"type": "string", "enum": _ATTACHMENT_TYPES},
            path=_STRING,
            hash={"type": "string", "pattern": f"^{DIGEST_PATTERN}$"},
            section=_STRING,
        ),
    },
)
"""The rules of the published schema, without its descriptions."""


def fields() -> tuple[str, ...]:
    """Return the JSON Pointers of all members the schema knows, two levels deep.

    Examples:
        >>> "/envelope/timestamp" in fields(), "/context_attachments" in fields()
        (True, True)
    """
    return tuple(
        pointer(name, inner) if inner else pointer(name)
        for name, schema in SCHEMA["properties"].items()
        for inner in schema.get("properties", ("",))
    )


def iter_violations(envelope: Any, *, strict: bool = False) -> Iterator[Finding]:
    """Yield every violation of the schema.

    Arguments:
        envelope: any JSON value.
        strict: read patterns and date-times as ECMA-262 and RFC 3339 do; otherwise as Python's
            validators do.
    """
    yield from _check(envelope, SCHEMA, "", "", strict)


def _check(
    value: Any, schema: dict[str, Any], path: str, schema_path: str, strict: bool
) -> Iterator[Finding]:
    for keyword, rule in schema.items():
        place = f"{schema_path}/{keyword}"
        if keyword in _NESTING:
            yield from _NESTING[keyword](rule, value, path, place, strict)
        else:
            for problem in _KEYWORDS[keyword](rule, value, schema, strict):
                yield Finding(keyword, path, problem, schema_path=place)


def _properties(
    rule: dict[str, Any], value: Any, path: str, place: str, strict: bool
) -> Iterator[Finding]:
    for name, schema in rule.items():
        if isinstance(value, dict) and name in value:
            yield from _check(value[name], schema, path + pointer(name), f"{place}/{name}", strict)


def _items(
    rule: dict[str, Any], value: Any, path: str, place: str, strict: bool
) -> Iterator[Finding]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from _check(item, rule, path + pointer(index), place, strict)


def _type(rule: str, value: Any, _: dict[str, Any], __: bool) -> Iterator[str]:
    if not isinstance(value, {"object": dict, "array": list, "string": str}[rule]):
        article = "an" if rule[0] in "ao" else "a"
        yield f"{article} {rule} is expected, got {shown(value)}"


def _required(rule: tuple[str, ...], value: Any, _: dict[str, Any], __: bool) -> Iterator[str]:
    for name in rule:
        if isinstance(value, dict) and name not in value:
            yield f"no member {quote(name)}"


def _additional(_: bool, value: Any, schema: dict[str, Any], __: bool) -> Iterator[str]:
    unknown = (
        [name for name in value if name not in schema["properties"]]
        if isinstance(value, dict)
        else []
    )
    if unknown:
        names = ", ".join(quote(name, limit=80) for name in unknown[:5])
        yield f"unknown {names}{', …' if len(unknown) > 5 else ''}; there is no room for more"


def _const(rule: str, value: Any, _: dict[str, Any], __: bool) -> Iterator[str]:
    if value != rule:
        yield f"{quote(rule)} is expected, got {shown(value)}"


def _enum(rule: tuple[str, ...], value: Any, _: dict[str, Any], __: bool) -> Iterator[str]:
    if value not in rule:
        yield f"one of {', '.join(rule)} is expected, got {shown(value)}"


def _pattern(rule: str, value: Any, _: dict[str, Any], strict: bool) -> Iterator[str]:
    if isinstance(value, str) and not _compiled(rule, strict).search(value):
        yield f"{shown(value)} doesn't match {rule}"


@cache
def _compiled(pattern: str, strict: bool) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z").replace(r"\d", "[0-9]") if strict else pattern)


_DATE_TIME = (
    r"^(\d{4})-(0[1-9]|1[0-2])-(\d{2})T"
    r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$"
).replace(r"\d", "[0-9]")


def _format(_: str, value: Any, __: dict[str, Any], strict: bool) -> Iterator[str]:
    if isinstance(value, str) and not _is_date_time(value, strict):
        yield f"{shown(value)} is no RFC 3339 date-time, such as '2026-05-25T00:00:00Z'"


def _is_date_time(text: str, strict: bool) -> bool:
    found = _compiled(_DATE_TIME, strict).search(text.upper())
    if found is None or int(found[1]) == 0:
        return False
    return 1 <= int(found[3]) <= calendar.monthrange(int(found[1]), int(found[2]))[1]


_NESTING: dict[str, Callable[..., Iterator[Finding]]] = {"properties": _properties, "items": _items}
_KEYWORDS: dict[str, Callable[..., Iterator[str]]] = {
    "type": _type,
    "required": _required,
    "additionalProperties": _additional,
    "const": _const,
    "enum": _enum,
    "pattern": _pattern,
    "format": _format,
}
