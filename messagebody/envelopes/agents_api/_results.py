"""The result of a conversation loop: messages, tool results, events, and the outcome of the run."""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from messagebody.envelopes import _php as php
from messagebody.envelopes.agents_api._normalize import as_message, normalize
from messagebody.errors import EnvelopeError

Array = dict[str, Any]
Rule = tuple[str, Callable[[Any], bool], str]

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
_FAILED = {
    "code": "agents_api_tool_execution_failed",
    "message": "Tool execution failed.",
}
_REJECTED = {
    "code": "agents_api_tool_call_rejected",
    "message": "Tool call was rejected.",
}


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
    argument = "WP_Agent_Conversation_Result::normalize(): Argument #1 ($result)"
    given = as_message(result, argument)
    done = dict(php.as_map(php.to_array(given)) if php_compatible else given)
    done.setdefault("schema", _SCHEMA)
    done.setdefault("version", 1)
    # In this order, because the reference raises the first error that it finds.
    _check_members(done, "", _HEAD)
    done["messages"] = _messages(done["messages"], php_compatible=php_compatible)
    for key in ("tool_execution_results", "tool_audit_events", "tool_events"):
        done.setdefault(key, [])
    _check_members(done, "", _LISTS)
    for key, rules in _ELEMENTS.items():
        _check_elements(done[key], key, rules)
    _check_members(done, "", _TAIL)
    # Always computed, so that a sender can't claim calls that tools did not make.
    done["tool_observability"] = _observability(
        [*php.as_map(done["tool_events"]).values()],
        [*php.as_map(done["tool_execution_results"]).values()],
    )
    done["run_outcome"] = _outcome(done.get("run_outcome"), done)
    return php.to_array(done) if php_compatible else done


# Checks, as tables of member, test and complaint; "x?" may be absent


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes)


def _is_filled_text(value: Any) -> bool:
    return _is_text(value) and bool(value)


def _filled(*names: str) -> tuple[Rule, ...]:
    return tuple((name, _is_filled_text, "must be a non-empty string") for name in names)


def _optional(name: str, test: Callable[[Any], bool], kind: str) -> Rule:
    return (name + "?", test, f"must be {kind} when present")


_HEAD: tuple[Rule, ...] = (
    ("schema", lambda value: value == _SCHEMA, f"must be {_SCHEMA}"),
    ("version", lambda value: _is_int(value) and value == 1, "must be 1"),
    ("messages", php.is_array, "must be an array"),
)
_LISTS: tuple[Rule, ...] = (
    ("tool_execution_results", php.is_array, "must be an array"),
    ("tool_audit_events", php.is_array, "must be an array"),
    ("tool_events", php.is_array, "must be an array"),
)
_ELEMENTS: dict[str, tuple[Rule, ...]] = {
    "tool_execution_results": (
        *_filled("tool_name"),
        ("result", php.is_array, "must be an array"),
        ("parameters", php.is_array, "must be an array"),
        _optional("is_handler_tool", _is_bool, "a boolean"),
        _optional("runtime", php.is_array, "an array"),
        ("turn_count", _is_int, "must be an integer"),
    ),
    "tool_audit_events": (
        *_filled("type", "tool_name", "tool_call_id", "parameters_sha256", "result_sha256"),
        ("schema_version", _is_int, "must be an integer"),
        ("turn_count", _is_int, "must be an integer"),
        ("success", _is_bool, "must be a boolean"),
        _optional("error_type", _is_text, "a string"),
    ),
    "tool_events": (
        *_filled("type", "tool_name", "tool_call_id"),
        ("turn_count", _is_int, "must be an integer"),
        _optional("status", _is_text, "a string"),
        _optional("metadata", php.is_array, "an array"),
    ),
}
_FAILURE: tuple[Rule, ...] = (
    *_filled("type", "message"),
    _optional("turn_count", _is_int, "an integer"),
)
_TAIL: tuple[Rule, ...] = (
    _optional("status", _is_text, "a string"),
    _optional("budget", _is_text, "a string"),
    _optional("turn_count", _is_int, "an integer"),
    _optional("final_content", _is_text, "a string"),
    _optional("usage", php.is_array, "an array"),
    _optional("metadata", php.is_array, "an array"),
    _optional("request_metadata", php.is_array, "an array"),
    _optional("provider_diagnostics", php.is_array, "an array"),
    _optional("completed", _is_bool, "a boolean"),
    _optional("failure", php.is_array, "an array"),
    _optional("runtime_tool_pending", php.is_array, "an array"),
)


def _check_members(array: Any, place: str, rules: tuple[Rule, ...]) -> None:
    members = php.as_map(array)
    for name, test, complaint in rules:
        key = name.removesuffix("?")
        if key not in members and key != name:
            continue
        if key not in members or not test(members[key]):
            raise _invalid(f"{place}{key} {complaint}")
        # The one nested object, which is checked at this place in the order.
        if key == "failure":
            _check_members(members[key], "failure.", _FAILURE)


def _check_elements(elements: Any, name: str, rules: tuple[Rule, ...]) -> None:
    for key, element in php.as_map(elements).items():
        place = f"{name}[{php.shown_key(key)}]"
        if not php.is_array(element):
            raise _invalid(f"{place} must be an array")
        _check_members(element, f"{place}.", rules)


def _messages(messages: Any, *, php_compatible: bool) -> Any:
    done = {}
    for key, message in php.as_map(messages).items():
        if not php.is_array(message):
            raise _invalid(f"messages[{php.shown_key(key)}] must be an array")
        try:
            done[key] = normalize(message, php_compatible=php_compatible)
        except EnvelopeError as error:
            raise _invalid(f"messages[{php.shown_key(key)}] {error.problem}") from error
    return done if isinstance(messages, dict) else list(done.values())


def _invalid(complaint: str) -> EnvelopeError:
    return EnvelopeError(f"invalid_agent_conversation_result: {complaint}")


# Tool calls, without their content


def _observability(events: list[Any], results: list[Any]) -> Array:
    calls: list[Array] = []
    pending: defaultdict[str, deque[Array]] = defaultdict(deque)
    unused = _results_by_call(results)
    for event in events:
        metadata = event.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if event["type"] == "tool_call":
            calls.append(_call(event, metadata, len(calls) + 1))
            pending[event["tool_call_id"]].append(calls[-1])
        elif event["type"] == "tool_result" and pending[event["tool_call_id"]]:
            found = unused[event["tool_call_id"]]
            result = found.popleft() if found else None
            _settle(pending[event["tool_call_id"]].popleft(), metadata, result)
    return {"version": 1, "calls": calls}


def _results_by_call(results: list[Any]) -> defaultdict[str, deque[Any]]:
    found: defaultdict[str, deque[Any]] = defaultdict(deque)
    for result in results:
        if isinstance(call := result.get("tool_call_id"), str):
            found[call].append(result["result"])
    return found


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
    rejected = metadata.get("rejected") is True
    succeeded = metadata.get("success") is True
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
    raw = given if isinstance(given, dict) and php.is_array(given) else {}
    completed = not php.is_empty(raw.get("completed", _or(result.get("completed"), True)))
    status = _word(raw.get("status"))
    if status not in _STATUSES:
        status = _derived_status(result, completed=completed)
    outcome: Array = {
        "schema": _OUTCOME_SCHEMA,
        "version": 1,
        "status": status,
        "completed": completed and status == "completed",
        "stop_reason": "",
        "retryable": _derived_retryable(result, status),
    }
    outcome["stop_reason"] = _stop_reason(raw, result, outcome)
    if "retryable" in raw:
        outcome["retryable"] = not php.is_empty(raw["retryable"])
    return {**outcome, **_details(raw, result, outcome["stop_reason"])}


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _word(value: Any) -> str:
    return php.lower(php.trim(php.text_of(value)))


def _derived_status(result: Array, *, completed: bool) -> str:
    status = _word(result.get("status"))
    if status in _TELLING_STATUSES:
        return status
    if status == "failed" or result.get("failure") is not None:
        return "failed"
    return "completed" if completed else "incomplete"


def _stop_reason(raw: Array, result: Array, outcome: Array) -> str:
    stated, status = _word(raw.get("stop_reason")), _word(result.get("status"))
    if stated:
        return stated
    if status == "budget_exceeded" and _word(result.get("budget")) == "turns":
        return "max_turns"
    if outcome["status"] == "failed":
        return "provider_error"
    if outcome["completed"]:
        return "natural"
    return status or str(outcome["status"])


def _derived_retryable(result: Array, status: str) -> bool:
    if status in _WAITING_STATUSES:
        return False
    return _word(result.get("status")) == "budget_exceeded" or status == "failed"


def _details(raw: Array, result: Array, stop_reason: str) -> Array:
    """Return the details of the outcome, if they are stated."""
    sources = {
        "failure": (raw.get("failure"), result.get("failure")),
        "assertions": (raw.get("assertions"),),
        "provider_error": (
            raw.get("provider_error"),
            result.get("failure") if stop_reason == "provider_error" else None,
        ),
        "metadata": (raw.get("metadata"),),
    }
    found = {
        key: next((value for value in values if php.is_array(value)), None)
        for key, values in sources.items()
    }
    return {key: php.string_keyed(value) for key, value in found.items() if value is not None}
