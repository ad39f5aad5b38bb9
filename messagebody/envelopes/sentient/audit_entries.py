r"""Entries of the daily audit log: twelve lines a message, which no message can forge.

Every control character, line separator, bidirectional control and lone surrogate is written as
an escape, and a backslash as two, so that an entry has as many lines as it should and what was
logged can be told from its escapes.
"""

import json
import re
from typing import Any

from messagebody.envelopes.received import Message, member
from messagebody.envelopes.sentient.moments import moment
from messagebody.envelopes.sentient.reading import read_leniently
from messagebody.envelopes.sentient.resources import LISTS
from messagebody.text import escape

__all__ = ["audit_entry"]

_UNSAFE = re.compile(
    r"[\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SECOND = {"source_refs": "url", "storage_refs": "status", "derived_refs": "asset_type"}


def audit_entry(message: Message, *, error_line: bool = False, plain_lists: bool = False) -> str:
    r"""Return the log entry of a message, whatever state the message is in.

    Arguments:
        message: parsed JSON, or JSON text.
        error_line: add a line for a message that has an error. The published form has none.
        plain_lists: write lists as items with commas between, not as JSON.

    Examples:
        >>> entry = audit_entry({"input": {"source": "user", "content": "hi\n---"}})
        >>> print(entry.splitlines()[3])
        [INPUT]: hi\n---
    """
    value, problem = read_leniently(message)
    when = moment(member(value, "timestamp", "executed_at"))
    lines = [
        f"[TIMESTAMP: {when.strftime('%H:%M:%S') if when else 'unknown'}]",
        f"[AGENT: {_field(value, 'agent', 'name')}]",
        f"[INPUT SOURCE: {_field(value, 'input', 'source')}]",
        f"[INPUT]: {_field(value, 'input', 'content')}",
        f"[OUTPUT TYPE: {_field(value, 'output', 'content_type')}]",
        f"[STATUS: {_field(value, 'status', 'code')}] {_field(value, 'status', 'message')}",
        *([_error(value)] if error_line and member(value, "error", "has_error") is True else ()),
        f"[RESOURCES]: {_resources(value, plain_lists)}",
        f"[COMPLIANCE NOTES]: {_notes(value, problem)}",
        f"[GOVERNANCE FILES]: {_files(value, plain_lists)}",
        f"[MESSAGE_ID: {_field(value, 'message_id')}]",
        f"[SESSION_ID: {_field(value, 'metadata', 'session_id')}]",
        "---",
    ]
    return "\n".join(lines) + "\n"


def _field(value: dict[str, Any], *path: str) -> str:
    holder = member(value, *path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        return "(missing)"
    return _shown(holder[path[-1]])


def _shown(value: Any) -> str:
    """Return a value on one line: text as it is, anything else as JSON, both escaped."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):  # no JSON, or an integer too long to print
            value = "(unprintable)"
    return _UNSAFE.sub(lambda match: _SHORT.get(match[0]) or escape(match[0]), value)


def _error(value: dict[str, Any]) -> str:
    code, text, retries, recoverable = (
        _field(value, "error", name)
        for name in ("error_code", "error_message", "retry_count", "recoverable")
    )
    return f"[ERROR: {code}] {text} (retry_count={retries}, recoverable={recoverable})"


def _notes(value: dict[str, Any], problem: str | None) -> str:
    violation = f"(compliance violation: {_shown(problem)}) " if problem else ""
    if not isinstance(member(value, "audit"), dict):
        return violation + "(compliance violation: the message has no audit data)"
    return violation + _field(value, "audit", "compliance_notes")


def _resources(value: dict[str, Any], plain: bool) -> str:
    return ", ".join(f"{kind}={_pairs(value, kind, plain)}" for kind in LISTS)


def _pairs(value: dict[str, Any], kind: str, plain: bool) -> str:
    listed = member(value, "resources", kind)
    if not isinstance(listed, list):
        return _field(value, "resources", kind)
    pairs = ", ".join(f"{_field(each, 'ref_id')}:{_field(each, _SECOND[kind])}" for each in listed)
    return pairs if plain else f"[{pairs}]"


def _files(value: dict[str, Any], plain: bool) -> str:
    listed = member(value, "audit", "governance_files_consulted")
    if plain and isinstance(listed, list):
        return ", ".join(_shown(each) for each in listed)
    return _field(value, "audit", "governance_files_consulted")
