"""An entry of a Sentient audit log: what a person reads of a message, on twelve lines."""

import json
import re
from collections.abc import Iterator
from typing import Any

import attrs

from messagebody._core import escape
from messagebody.envelopes._values import Message, list_in, member
from messagebody.envelopes.sentient._forward import read_leniently
from messagebody.envelopes.sentient._rules import LISTS, moment

# Characters that could end a line, hide text or turn its direction: no text may forge an entry.
_UNSAFE = re.compile(
    r"[\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# A table, because a substitution would keep all pieces of a text until its end.
_SAFE = {
    code: _SHORT.get(chr(code)) or escape(chr(code))
    for code in range(0xE000)
    if _UNSAFE.match(chr(code))
}
_SECOND = {"source_refs": "url", "storage_refs": "status", "derived_refs": "asset_type"}


@attrs.frozen
class EntryForm:
    """How entries are written; see `audit_entry`."""

    error_line: bool = False
    plain_lists: bool = False

    def entry(self, message: Message, remark: str | None = None) -> str:
        """Return the entry of a message; `remark` is what its log found wrong with it."""
        value, problem = read_leniently(message)
        problems = [each for each in (problem, remark) if each]
        return "".join(f"{line}\n" for line in self._lines(value, problems))

    def _lines(self, value: dict[str, Any], problems: list[str]) -> Iterator[str]:
        when = moment(member(value, "timestamp", "executed_at"))
        yield f"[TIMESTAMP: {when.strftime('%H:%M:%S') if when else 'unknown'}]"
        yield f"[AGENT: {_field(value, 'agent', 'name')}]"
        yield f"[INPUT SOURCE: {_field(value, 'input', 'source')}]"
        yield f"[INPUT]: {_field(value, 'input', 'content')}"
        yield f"[OUTPUT TYPE: {_field(value, 'output', 'content_type')}]"
        yield f"[STATUS: {_field(value, 'status', 'code')}] {_field(value, 'status', 'message')}"
        if self.error_line and member(value, "error", "has_error") is True:
            yield _error(value)
        yield f"[RESOURCES]: {', '.join(self._references(value, kind) for kind in LISTS)}"
        yield f"[COMPLIANCE NOTES]: {_notes(value, problems)}"
        yield f"[GOVERNANCE FILES]: {self._files(value)}"
        yield f"[MESSAGE_ID: {_field(value, 'message_id')}]"
        yield f"[SESSION_ID: {_field(value, 'metadata', 'session_id')}]"
        yield "---"

    def _references(self, value: dict[str, Any], kind: str) -> str:
        listed = member(value, "resources", kind)
        if not isinstance(listed, list):
            return f"{kind}={_field(value, 'resources', kind)}"
        second = _SECOND[kind]
        pairs = ", ".join(f"{_field(each, 'ref_id')}:{_field(each, second)}" for each in listed)
        return f"{kind}={pairs}" if self.plain_lists else f"{kind}=[{pairs}]"

    def _files(self, value: dict[str, Any]) -> str:
        place = ("audit", "governance_files_consulted")
        if self.plain_lists and isinstance(member(value, *place), list):
            return ", ".join(map(_one_line, list_in(value, *place)))
        return _field(value, *place)


def audit_entry(message: Message, *, error_line: bool = False, plain_lists: bool = False) -> str:
    r"""Return the log entry of a message in any state.

    Arguments:
        message: parsed JSON, or JSON text.
        error_line: add a line for a message that has an error. The published form has none.
        plain_lists: write lists as items with commas between, not as JSON.

    Examples:
        >>> entry = audit_entry({"input": {"source": "user", "content": "hi\n---"}})
        >>> print(entry.splitlines()[3])
        [INPUT]: hi\n---
    """
    return EntryForm(error_line, plain_lists).entry(message)


def _field(value: dict[str, Any], *path: str) -> str:
    holder = member(value, *path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        return "(missing)"
    return _one_line(holder[path[-1]])


def _one_line(value: Any) -> str:
    """Return a value on one line, escaped: text unchanged, anything else as JSON."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):  # not JSON, or an integer too long to print
            value = "(unprintable)"
    text: str = value
    return text.translate(_SAFE) if _UNSAFE.search(text) else text


def _error(value: dict[str, Any]) -> str:
    code, text, retries, recoverable = (
        _field(value, "error", name)
        for name in ("error_code", "error_message", "retry_count", "recoverable")
    )
    return f"[ERROR: {code}] {text} (retry_count={retries}, recoverable={recoverable})"


def _notes(value: dict[str, Any], problems: list[str]) -> str:
    violations = [f"(compliance violation: {_one_line(problem)}) " for problem in problems]
    if isinstance(member(value, "audit"), dict):
        notes = _field(value, "audit", "compliance_notes")
    else:
        notes = "(compliance violation: the message has no audit data)"
    return "".join([*violations, notes])
