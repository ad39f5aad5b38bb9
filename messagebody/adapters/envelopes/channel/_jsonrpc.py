"""JSON-RPC 2.0 `message/send` parameters as chat input, and chat output as the task to answer."""

from collections.abc import Iterator
from typing import Any

from messagebody.adapters.envelopes import _php as php
from messagebody.adapters.envelopes.channel._channel import Unanswered
from messagebody.errors import EnvelopeError

Map = dict[str, Any]

_ROLES = {"user": "user", "agent": "assistant"}
_DUPLICATES = {"call": "calls", "result": "results"}
# Only the server declares tools, so the client's declarations are left out.
_TOOL_DECLARATIONS = (
    "runtime_tools",
    "runtime_tool_declarations",
    "tool_declarations",
    "runtime_tool_callback",
    "runtime_tool_timeout",
)


def jsonrpc_input(agent: str, params: Any, *, body: Any = None) -> Map:
    """Return the chat input for the parameters of a `message/send` request.

    Text parts become the message, file parts attachments, and data parts history, client context
    or pairs of tool call and result. Parts are recognised by their `type`; parts with a `kind`
    instead are not recognised. Declarations of tools are dropped from the client context, as the
    reference does: only the server declares tools.

    Arguments:
        agent: the slug of the agent.
        params: the request's `params`.
        body: the whole request, if at hand: it may ask for token streaming.

    Raises:
        EnvelopeError: the parameters are not valid chat input. The text is the reference's; the
            `findings` hold the `Unanswered`, with the reference's code.

    Examples:
        >>> parts = [{"type": "text", "text": "Hello!"}]
        >>> jsonrpc_input("demo", {"message": {"parts": parts}})["message"]
        'Hello!'
    """
    if not agent:
        raise _refused("invalid_params", "A non-empty agent id is required.")
    given = params if isinstance(params, dict) else {}
    parts = _parts(given.get("message"))
    text, tool_messages = _text(parts), _tool_messages(parts)
    if not text and not tool_messages:
        complaint = "params.message must contain non-empty text or paired tool call/results."
        raise _refused("invalid_params", complaint)
    chat: Map = {
        "agent": agent,
        "message": text,
        "history": [*_history(parts)],
        "session_id": php.text_of(given.get("sessionId")) or None,
        "run_id": php.text_of(given.get("id")) or None,
        "attachments": [*_attachments(parts)],
        "client_context": _context(parts, given.get("metadata")),
    }
    if tool_messages:
        chat["input_messages"] = tool_messages
    if isinstance(body, dict) and "tokenStreaming" in body:
        chat["token_streaming"] = not php.is_empty(body["tokenStreaming"])
    return chat


def _refused(code: str, complaint: str) -> EnvelopeError:
    return EnvelopeError(complaint, [Unanswered(f"agents_chat_jsonrpc_{code}", complaint)])


def _parts(message: Any) -> list[Map]:
    parts = message.get("parts") if isinstance(message, dict) else None
    found = php.as_map(parts).values() if php.is_array(parts) else ()
    return [part for part in found if isinstance(part, dict)]


def _text(parts: list[Map]) -> str:
    texts = (
        php.text_of(part.get("text"))
        for part in parts
        if part.get("type") == "text" and part.get("contentType") != "context"
    )
    return php.trim("".join(texts))


def _data(parts: list[Map]) -> Iterator[Map]:
    for part in parts:
        if part.get("type") == "data" and isinstance(part.get("data"), dict):
            yield part["data"]


def _history(parts: list[Map]) -> Iterator[Map]:
    for data in _data(parts):
        role, text = data.get("role"), data.get("text")
        if isinstance(role, str) and role in _ROLES and isinstance(text, str) and php.trim(text):
            yield {"role": _ROLES[role], "content": text}


def _attachments(parts: list[Map]) -> Iterator[Map | list[Any]]:
    for part in parts:
        if part.get("type") == "file":
            yield php.string_keyed(part.get("file")) or []


def _context(parts: list[Map], metadata: Any) -> Map:
    context: Map = {}
    for data in _data(parts):
        context.update(php.string_keyed(data.get("clientContext")))
    for name in _TOOL_DECLARATIONS:
        context.pop(name, None)
    # Last, so that a client can't pretend to be another source.
    context.update(source="jsonrpc", client_name="jsonrpc-chat")
    if php.is_array(metadata):
        context["metadata"] = metadata
    return context


# Tool calls and their results


def _tool_messages(parts: list[Map]) -> list[Map]:
    """Return a tool call and a tool result message for every pair of data parts."""
    found: dict[str, dict[str, Map]] = {"call": {}, "result": {}}
    for data in _data(parts):
        call_id = php.text_of(data.get("toolCallId"))
        kind = "result" if "result" in data else "call"
        if call_id and call_id in found[kind]:
            raise _refused(
                f"duplicate_tool_{kind}",
                f"Inbound tool {_DUPLICATES[kind]} must have unique toolCallId values.",
            )
        if call_id:
            found[kind][call_id] = data
    calls, results = found["call"], found["result"]
    # A call without a result would make most providers refuse the whole history.
    if calls.keys() != results.keys():
        complaint = "Every inbound tool call must have one matching result."
        raise _refused("tool_call_mismatch", complaint)
    return [
        message
        for call_id, call in calls.items()
        for message in _pair(call_id, call, results[call_id])
    ]


def _pair(call_id: str, call: Map, result: Map) -> Iterator[Map]:
    tool = php.text_of(call.get("toolId"))
    if not tool:
        raise _refused("invalid_tool_call", "Inbound tool calls require toolId.")
    if php.text_of(result.get("toolId")) not in ("", tool):
        complaint = "Inbound tool call and result toolId values must match."
        raise _refused("tool_name_mismatch", complaint)
    given, outcome = call.get("arguments"), result["result"]
    arguments = (php.is_array(given) and given) or []  # PHP writes an empty object as []
    payload = {"tool_name": tool, "parameters": arguments, "turn": 0}
    yield _message("tool_call", "assistant", "", payload, call_id)
    payload = {"result": outcome, "tool_name": tool}
    yield _message("tool_result", "user", _json(outcome), payload, call_id)


def _message(type_: str, role: str, content: str, payload: Map, call_id: str) -> Map:
    return {
        "schema": "agents-api.message",
        "version": 1,
        "type": type_,
        "role": role,
        "content": content,
        "payload": payload,
        "metadata": {"tool_call_id": php.key_of(call_id)},
    }


def _json(value: Any) -> str:
    try:
        return php.encode(value)
    except EnvelopeError:
        return ""  # as the reference has it; the value itself is in the payload


# The answer


def jsonrpc_task(output: Any) -> Map:
    """Return the task that answers a request with a chat output; it contains only the reply.

    Examples:
        >>> task = jsonrpc_task({"run_id": "r", "reply": "Delete it?", "completed": False})
        >>> task["status"]["state"]
        'input-required'
    """
    members = output if isinstance(output, dict) else {}
    run_id, session_id = (php.text_of(members.get(key)) for key in ("run_id", "session_id"))
    completed = "completed" not in members or not php.is_empty(members["completed"])
    message = {
        "role": "agent",
        "parts": [{"type": "text", "text": php.text_of(members.get("reply"))}],
        "messageId": f"{run_id or 'run'}-message",
        "kind": "message",
    }
    task: Map = {
        "id": run_id or session_id or "run",
        "status": {"state": "completed" if completed else "input-required", "message": message},
    }
    if session_id:
        task["sessionId"] = session_id
    return task
