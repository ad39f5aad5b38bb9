"""The result of a conversation loop: messages, tool results, events, and the outcome of the run."""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from messagebody.envelopes import _php as php
from messagebody.envelopes.agents_api._normalize import as_message, normalize
from messagebody.errors import EnvelopeError

Array = dict[str, Any]

_SCHEMA = "agents-api.conversation-result"
_OUTCOME_SCHEMA = "agents-api.run-outcome"
_STATUSES = frozenset({
    "completed", "failed", "runtime_tool_pending", "approval_required", "budget_exceeded",
    "stalled", "cancelled", "interrupted", "incomplete",
})  # fmt: skip
# The others follow from `completed` and `failure` and add nothing.
_TELLING_STATUSES = _STATUSES - {"completed", "failed", "incomplete"}
_WAITING_STATUSES = frozenset(
    {"runtime_tool_pending", "approval_required", "cancelled", "interrupted"}
)
_DETAILS = ("failure", "assertions", "provider_error", "metadata")
_FAILED = {"code": "agents_api_tool_execution_failed", "message": "Tool execution failed."}
_REJECTED = {"code": "agents_api_tool_call_rejected", "message": "Tool call was rejected."}


def normalize_conversation_result(result: Any, *, php_compatible: bool = False) -> Array:
    """Return a conversation result with canonical messages and every default filled in.

    Unknown members are kept. `tool_observability` is always computed from the events, and
    `run_outcome` completed from status, budget and failure.

    Arguments:
        result: an object with `messages`, and what the loop adds to it.
        php_compatible: see `normalize`.

    Raises:
        EnvelopeError: a member is invalid; the text has its path and the reference's message.

    Examples:
        >>> done = normalize_conversation_result({"messages": [{"content": "Hello!"}]})
        >>> done["run_outcome"]["status"], done["messages"][0]["type"]
        ('completed', 'text')
    """
    given = as_message(result, "WP_Agent_Conversation_Result::normalize(): Argument #1 ($result)")
    done = dict(php.as_map(php.to_array(given)) if php_compatible else given)
    done.setdefault("schema", _SCHEMA)
    done.setdefault("version", 1)
    # In this order, because the reference raises the first error that it finds.
    _check_members(done, "", _HEAD)
    done["messages"] = _messages(done["messages"], php_compatible=php_compatible)
    for key in _ELEMENTS:
        done.setdefault(key, [])
    _check_members(done, "", dict.fromkeys(_ELEMENTS, "an array"))
    for key, kinds in _ELEMENTS.items():
        _check_elements(done[key], key, kinds)
    _check_members(done, "", _TAIL)
    # Always computed, so that a sender can't claim calls that tools did not make.
    done["tool_observability"] = _observability(
        [*php.as_map(done["tool_events"]).values()],
        [*php.as_map(done["tool_execution_results"]).values()],
    )
    done["run_outcome"] = _outcome(done.get("run_outcome"), done)
    return php.to_array(done) if php_compatible else done


# Checks, as tables of members and the words for their kinds; "x?" may be absent


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_filled_text(value: Any) -> bool:
    return isinstance(value, str | bytes) and bool(value)


_FILLED = "a non-empty string"
_KINDS: dict[str, Callable[[Any], bool]] = {
    "an array": php.is_array,
    "an integer": _is_int,
    "a boolean": lambda value: isinstance(value, bool),
    "a string": lambda value: isinstance(value, str | bytes),
    _FILLED: _is_filled_text,
    "1": lambda value: _is_int(value) and value == 1,
    _SCHEMA: lambda value: value == _SCHEMA,
}
_HEAD = {"schema": _SCHEMA, "version": "1", "messages": "an array"}
_ELEMENTS: dict[str, dict[str, str]] = {
    "tool_execution_results": {
        "tool_name": _FILLED,
        "result": "an array",
        "parameters": "an array",
        "is_handler_tool?": "a boolean",
        "runtime?": "an array",
        "turn_count": "an integer",
    },
    "tool_audit_events": {
        "type": _FILLED,
        "tool_name": _FILLED,
        "tool_call_id": _FILLED,
        "parameters_sha256": _FILLED,
        "result_sha256": _FILLED,
        "schema_version": "an integer",
        "turn_count": "an integer",
        "success": "a boolean",
        "error_type?": "a string",
    },
    "tool_events": {
        "type": _FILLED,
        "tool_name": _FILLED,
        "tool_call_id": _FILLED,
        "turn_count": "an integer",
        "status?": "a string",
        "metadata?": "an array",
    },
}
_FAILURE = {"type": _FILLED, "message": _FILLED, "turn_count?": "an integer"}
_TAIL = {
    "status?": "a string",
    "budget?": "a string",
    "turn_count?": "an integer",
    "final_content?": "a string",
    "usage?": "an array",
    "metadata?": "an array",
    "request_metadata?": "an array",
    "provider_diagnostics?": "an array",
    "completed?": "a boolean",
    "failure?": "an array",
    "runtime_tool_pending?": "an array",
}


def _check_members(array: Any, place: str, kinds: dict[str, str]) -> None:
    members = php.as_map(array)
    for name, kind in kinds.items():
        key = name.removesuffix("?")
        if key not in members and key != name:
            continue
        if key not in members or not _KINDS[kind](members[key]):
            when = "" if key == name else " when present"
            raise _invalid(f"{place}{key} must be {kind}{when}")
        # The one nested object, which is checked at this place in the order.
        if key == "failure":
            _check_members(members[key], "failure.", _FAILURE)


def _check_elements(elements: Any, name: str, kinds: dict[str, str]) -> None:
    for key, element in php.as_map(elements).items():
        place = f"{name}[{php.key_text(key)}]"
        if not php.is_array(element):
            raise _invalid(f"{place} must be an array")
        _check_members(element, f"{place}.", kinds)


def _messages(messages: Any, *, php_compatible: bool) -> Any:
    done = {}
    for key, message in php.as_map(messages).items():
        if not php.is_array(message):
            raise _invalid(f"messages[{php.key_text(key)}] must be an array")
        try:
            done[key] = normalize(message, php_compatible=php_compatible)
        except EnvelopeError as error:
            raise _invalid(f"messages[{php.key_text(key)}] {error.problem}") from error
    return done if isinstance(messages, dict) else list(done.values())


def _invalid(complaint: str) -> EnvelopeError:
    return EnvelopeError(f"invalid_agent_conversation_result: {complaint}")


# Tool calls, without their content


def _observability(events: list[Any], results: list[Any]) -> Array:
    calls: list[Array] = []
    pending: defaultdict[str, deque[Array]] = defaultdict(deque)
    unused: defaultdict[str, deque[Any]] = defaultdict(deque)
    for result in results:
        if isinstance(call := result.get("tool_call_id"), str):
            unused[call].append(result["result"])
    for event in events:
        call, metadata = event["tool_call_id"], event.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if event["type"] == "tool_call":
            calls.append(_call(event, metadata, len(calls) + 1))
            pending[call].append(calls[-1])
        elif event["type"] == "tool_result" and pending[call]:
            result = unused[call].popleft() if unused[call] else None
            _settle(pending[call].popleft(), metadata, result)
    return {"version": 1, "calls": calls}


def _call(event: Array, metadata: Array, sequence: int) -> Array:
    parameters = metadata.get("parameters")
    keys = list(php.as_map(parameters)) if php.is_array(parameters) else []
    return {
        "sequence": sequence,
        "turn": event["turn_count"],
        "tool_call_id": event["tool_call_id"],
        "tool_name": event["tool_name"],
        "status": "pending",
        # Names only: values may be secret.
        "arguments": {"keys": keys, "count": len(keys), "redacted": True},
    }


def _settle(call: Array, metadata: Array, result: Any) -> None:
    rejected, succeeded = (metadata.get(name) is True for name in ("rejected", "success"))
    call["status"] = "rejected" if rejected else "succeeded" if succeeded else "failed"
    keyed = result if isinstance(result, dict) else {}
    if _is_filled_text(keyed.get("tool_name")):
        call["tool_name"] = keyed["tool_name"]
    if succeeded and "result" in keyed:
        call["result"] = _shape(keyed["result"])
    if not succeeded:
        call["error"] = dict(_REJECTED if rejected else _FAILED)


def _shape(value: Any) -> Array:
    """Describe a result without showing it."""
    if php.is_array(value):
        array = php.to_array(value)
        return {"type": "array" if isinstance(array, list) else "object", "count": len(array)}
    if isinstance(value, str | bytes):
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return {"type": "string", "size": len(data)}
    if isinstance(value, bool):
        return {"type": "boolean"}
    names = {None.__class__: "null", int: "integer", float: "double"}
    return {"type": names.get(type(value), "object")}


# How the run ended


def _outcome(given: Any, result: Array) -> Array:
    stated = given if isinstance(given, dict) and php.is_array(given) else {}
    completed = result.get("completed")
    completed = stated.get("completed", True if completed is None else completed)
    is_complete = not php.is_empty(completed)
    status = _word(stated.get("status"))
    if status not in _STATUSES:
        status = _status(result, is_complete=is_complete)
    is_complete = is_complete and status == "completed"
    reason = _word(stated.get("stop_reason"))
    reason = reason or _stop_reason(result, status, is_complete=is_complete)
    is_retryable = _is_retryable(result, status)
    if "retryable" in stated:
        is_retryable = not php.is_empty(stated["retryable"])
    return {
        "schema": _OUTCOME_SCHEMA,
        "version": 1,
        "status": status,
        "completed": is_complete,
        "stop_reason": reason,
        "retryable": is_retryable,
        **_details(stated, result.get("failure"), reason),
    }


def _word(value: Any) -> str:
    return php.lower(php.trim(php.text_of(value)))


def _status(result: Array, *, is_complete: bool) -> str:
    status = _word(result.get("status"))
    if status in _TELLING_STATUSES:
        return status
    if status == "failed" or result.get("failure") is not None:
        return "failed"
    return "completed" if is_complete else "incomplete"


def _stop_reason(result: Array, outcome: str, *, is_complete: bool) -> str:
    status = _word(result.get("status"))
    if status == "budget_exceeded" and _word(result.get("budget")) == "turns":
        return "max_turns"
    if outcome == "failed":
        return "provider_error"
    return "natural" if is_complete else status or outcome


def _is_retryable(result: Array, status: str) -> bool:
    if status in _WAITING_STATUSES:
        return False
    return _word(result.get("status")) == "budget_exceeded" or status == "failed"


def _details(stated: Array, failure: Any, stop_reason: str) -> Array:
    """Return the details of the outcome, if they are stated."""
    details = {name: stated.get(name) for name in _DETAILS}
    if not php.is_array(details["failure"]):
        details["failure"] = failure
    if not php.is_array(details["provider_error"]) and stop_reason == "provider_error":
        details["provider_error"] = failure
    return {key: php.with_text_keys(each) for key, each in details.items() if php.is_array(each)}
