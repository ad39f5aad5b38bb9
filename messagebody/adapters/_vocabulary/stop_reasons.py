"""Stop reasons: how a message or a step ended, if otherwise than usual."""

import re
from collections.abc import Iterable
from typing import Any, Final

from messagebody._core import DEFAULT_LIMITS, JSON, TEXT_PLAIN, Part, essence, strict_json

ENDS: Final = frozenset({
    "stop", "end_turn", "stop_sequence", "tool_use", "tool_calls", "toolcalls", "function_call",
    "complete", "completed", "done", "success", "succeeded", "finished", "finish", "ok",
    "task_state_completed", "final", "output-available", "input-available",
    "input-streaming", "in_progress", "pending", "conversation",
})  # fmt: skip
"""The ordinary states and ends of a message; any other is reported, such as an answer cut short."""

_STATES: Final = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "status", "state",
    "blockReason", "block_reason",
)  # fmt: skip
"""Members that say how a message or a block ended."""
_HOLDERS: Final = ("response_metadata", "status", "promptFeedback", "prompt_feedback")
"""Members that hold such members."""
_REASONS: Final = ("incomplete_details", "statusDetails")
_OF_TASK: Final = re.compile("TASK_STATE_(.*)")
"""A state of a task as A2A 1.0 writes it, where 0.3 has the word alone."""
_USUAL: Final = ENDS | {
    "tool_call", "end", "eos", "eos_token", "unknown", "working", "submitted", "running", "queued",
    "active", "input_required", "auth_required", "requires_action",
}  # fmt: skip
_FAILED: Final = re.compile(r"fail|error|exceeded|denied|refus", re.IGNORECASE)
_LONGEST: Final = 2_000
_CODES: Final = ("exit_code", "return_code", "returncode", "exitCode", "returnCode")
_MOST_READ: Final = 64 * 1024
"""Bytes of a result that is looked at."""


def ending_in(about: Any) -> str | None:
    """Return how a message ended by its members, None if as usual or if they do not say it.

    Examples:
        >>> ending_in({"finish_reason": "content_filter"}), ending_in({"stop_reason": "end_turn"})
        ('content_filter', None)
        >>> ending_in({"status": "requires_action"})  # a client runs the tools
        >>> ending_in({"status": "incomplete", "incomplete_details": {"reason": "max_tokens"}})
        'incomplete: max_tokens'
    """
    if not isinstance(about, dict):
        return None
    named = [(name.rpartition("/")[2], held) for name, held in about.items()]
    said = [held for name, held in named if name in _STATES and isinstance(held, str)]
    words = [_OF_TASK.sub(lambda word: word[1].lower(), each) for each in said]
    found = [each for each in words if not _is_usual(each)]
    inner = [ending_in(held) for name, held in named if name in _HOLDERS]
    reasons = [_reason_in(held) for name, held in named if name in _REASONS]
    told = [*found, *(each for each in (*inner, *reasons, _error_in(about)) if each)]
    return ": ".join(dict.fromkeys(told))[:_LONGEST] or None


def _is_usual(said: str) -> bool:
    word = said.lower().replace("-", "_")
    return not {word, said}.isdisjoint(_USUAL) or word.endswith("unspecified")


def _reason_in(held: Any) -> str | None:
    reason = held.get("reason") if isinstance(held, dict) else None
    return reason if isinstance(reason, str) else None


def _error_in(about: dict[str, Any]) -> str | None:
    """Return what an error says: a text, or the members that services have for it."""
    error = about.get("error")
    if about.get("isError") is True:
        return "error"
    if isinstance(error, str):
        return f"error: {error}" if error else None
    if not isinstance(error, dict):
        return None
    said = [error[name] for name in ("type", "code", "status", "message") if error.get(name)]
    return ": ".join(["error", *map(str, said)])


def has_failed(outcome: str) -> bool:
    """Return whether the outcome of code says that it failed.

    Examples:
        >>> has_failed("OUTCOME_FAILED"), has_failed("OUTCOME_OK")
        (True, False)
    """
    return _FAILED.search(outcome) is not None


def tells_failure(parts: Iterable[Part]) -> bool:
    """Return whether a result is JSON that says that the tool failed.

    Examples:
        >>> tells_failure([Part('{"error": "no such city"}')]), tells_failure([Part("no error")])
        (True, False)
    """
    return any(_is_failure(_json_in(part)) for part in parts)


def _json_in(part: Part) -> Any:
    if part.text is None or not part.text.lstrip().startswith(("{", "[")):
        return None
    is_told = essence(part.content_type) in (JSON, TEXT_PLAIN)
    if not is_told or len(part.text) > _MOST_READ:
        return None
    try:
        return strict_json.loads(part.text, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson:
        return None


def _is_failure(value: Any) -> bool:
    """Return whether a JSON value has an error, or the exit code of one."""
    if isinstance(value, list):  # of commands that ran one after the other
        return any(_is_failure(each) for each in value if isinstance(each, dict))
    if not isinstance(value, dict):
        return False
    kind, error = value.get("type"), value.get("error")
    if isinstance(kind, str) and kind.endswith("_error"):
        return True
    codes = [value[name] for name in _CODES if type(value.get(name)) is int]
    return any(codes) or (isinstance(error, str | dict) and bool(error)) or _is_failure(
        value.get("outcome")
    )  # fmt: skip
