"""How a stream ended: every word of every format for an end that is none of a whole message."""

from typing import Any

import pytest

from messagebody.adapters.streams import Assembler
from tests.adapters.streams.streams import STREAMS
from tests.adapters.streams.telling import TELLING

Events = list[dict[str, Any]]


def told(name: str, *ends: dict[str, Any], drop: int = 1) -> Events:
    """Return a short stream of a format, with other events at its end."""
    events = [*TELLING[name][0]([["It is ", "sunny."]])]
    return [*events[: len(events) - drop], *ends]


def chat(reason: str, **beside: Any) -> Events:
    choice = {"index": 0, "delta": {}, "finish_reason": reason}
    return told("openai-chat", {"choices": [choice], **beside})


def anthropic(reason: str) -> Events:
    end = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {}}
    return told("anthropic", end, {"type": "message_stop"})


def responses(status: str, **members: Any) -> Events:
    response = {"id": "r", "object": "response", "status": status, "output": [], **members}
    return told("openai-responses", {"type": f"response.{status}", "response": response})


def gemini(reason: str) -> Events:
    return told("gemini", {"candidates": [{"finishReason": reason}]})


def bedrock(reason: str) -> Events:
    return told("bedrock", {"messageStop": {"stopReason": reason}})


def langchain(**metadata: Any) -> Events:
    end = {"type": "AIMessageChunk", "content": "", "chunk_position": "last"}
    return told("langchain", {**end, "response_metadata": metadata})


def agent_client(reason: str) -> Events:
    return told("agent-client", {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": reason}})


def a2a(state: str) -> Events:
    about = {"taskId": "t", "contextId": "c", "status": {"state": state}}
    return told("a2a", {"statusUpdate": about})


UNUSUAL: list[tuple[str, Events, str]] = [
    *(("openai-chat", chat(each), each) for each in
      ("length", "content_filter", "model_length", "insufficient_system_resource", "abort")),
    ("openai-chat", chat("error", error={"code": 502, "message": "busy"}), "busy"),
    ("openai-chat", told("openai-chat", {"error": {"message": "busy", "type": "overloaded"}}),
     "overloaded: busy"),
    ("openai-chat", told("openai-chat", {"choices": [], "error": "busy"}), "error: busy"),
    ("openai-chat", told("openai-chat", {"object": "error", "message": "busy", "code": 503}),
     "error: 503: busy"),
    *(("anthropic", anthropic(each), each) for each in
      ("max_tokens", "refusal", "pause_turn", "model_context_window_exceeded")),
    ("anthropic", told("anthropic", {"type": "error", "error": {
        "type": "overloaded_error", "message": "Overloaded"}}), "overloaded_error: Overloaded"),
    ("openai-responses", responses("incomplete", incomplete_details={"reason": "content_filter"}),
     "incomplete: content_filter"),
    ("openai-responses", responses("failed", error={"code": "server_error", "message": "boom"}),
     "server_error: boom"),
    ("openai-responses", responses("cancelled"), "cancelled"),
    ("openai-responses", told("openai-responses", {
        "type": "error", "code": "x", "message": "boom"}), "error: x: boom"),
    *(("gemini", gemini(each), each) for each in
      ("SAFETY", "MAX_TOKENS", "RECITATION", "MALFORMED_FUNCTION_CALL", "OTHER")),
    ("gemini", told("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
     "PROHIBITED_CONTENT"),
    ("gemini", told("gemini", {"candidates": [{"finish_reason": "SAFETY"}]}), "SAFETY"),
    ("gemini", told("gemini", {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
     "UNAVAILABLE: busy"),
    *(("bedrock", bedrock(each), each) for each in
      ("max_tokens", "guardrail_intervened", "content_filtered", "malformed_tool_use")),
    ("bedrock", told("bedrock", {"event": {"messageStop": {"stopReason": "max_tokens"}}}),
     "max_tokens"),
    ("bedrock", told("bedrock", {"throttlingException": {"message": "slow down"}}),
     "throttlingException: slow down"),
    ("langchain", langchain(finish_reason="length"), "length"),
    ("langchain", langchain(stop_reason="max_tokens"), "max_tokens"),
    ("langchain", langchain(finish_reason="SAFETY"), "SAFETY"),
    ("langchain", langchain(status="incomplete", incomplete_details={
        "reason": "max_output_tokens"}), "max_output_tokens"),
    *(("agent-client", agent_client(each), each) for each in
      ("max_tokens", "max_turn_requests", "refusal", "cancelled")),
    ("agent-client", told("agent-client", {"id": 1, "error": {"code": -32603, "message": "boom"}}),
     "boom"),
    ("a2a", a2a("TASK_STATE_FAILED"), "failed"),
    ("a2a", a2a("rejected"), "rejected"),
    ("a2a", a2a("TASK_STATE_CANCELED"), "canceled"),
    ("a2a", told("a2a", {"jsonrpc": "2.0", "id": 1, "error": {
        "code": -32603, "message": "boom"}}), "error: -32603: boom"),
    ("acp", told("acp", {"type": "error", "error": {"code": "server_error", "message": "boom"}}),
     "server_error: boom"),
    ("acp", told("acp", {"type": "run.failed", "run": {"status": "failed", "error": {
        "message": "boom"}}}), "failed: error: boom"),
    ("acp", told("acp", {"type": "run.cancelled", "run": {"status": "cancelled"}}, drop=0),
     "cancelled"),
    ("ag-ui", told("ag-ui", {"type": "RUN_ERROR", "message": "boom", "code": "E1"}), "E1: boom"),
    ("ag-ui", told("ag-ui", {"type": "RUN_FINISHED", "outcome": {"type": "cancelled"}}),
     "cancelled"),
    *(("vercel-ai", told("vercel-ai", {"type": "finish", "finishReason": each}), each) for each in
      ("length", "content-filter", "error", "other")),
    ("vercel-ai", told("vercel-ai", {"type": "error", "errorText": "boom"}), "error: boom"),
    ("vercel-ai", told("vercel-ai", {"type": "abort", "reason": "user"}), "abort: user"),
    ("vercel-ai", told("vercel-ai", {"type": "abort"}), "abort"),
    ("pydantic-ai", told("pydantic-ai", {"event_kind": "agent_run_result", "result": {
        "response": {"finish_reason": "length"}}}, drop=0), "length"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events", "word"), UNUSUAL)
def test_an_unusual_end_is_told(name: str, events: Events, word: str) -> None:
    assembler = Assembler(name)
    for event in events:
        assembler.feed(event)
    done = assembler.finish()
    assert "".join(part.text or "" for part in done.value) == "It is sunny."
    assert assembler.ending is not None
    assert word in assembler.ending
    [loss] = [str(loss) for loss in done.losses if loss.where == "stream"]
    assert word in loss


USUAL: list[tuple[str, Events]] = [
    *(("openai-chat", chat(each)) for each in ("stop", "tool_calls", "function_call", "eos")),
    ("openai-chat", [{"choices": [{"delta": {"content": text}, "finish_reason": end}]}
                     for text, end in (("It is ", ""), ("sunny.", ""), ("", "stop"))]),
    *(("anthropic", anthropic(each)) for each in ("end_turn", "tool_use", "stop_sequence")),
    *(("bedrock", bedrock(each)) for each in ("end_turn", "tool_use", "stop_sequence")),
    ("openai-responses", responses("completed", error=None, incomplete_details=None)),
    ("gemini", gemini("STOP")),
    ("langchain", langchain(finish_reason="STOP", model_name="m")),
    ("langchain", langchain(stopReason="end_turn")),
    ("agent-client", agent_client("end_turn")),
    ("a2a", a2a("TASK_STATE_COMPLETED")),
    ("a2a", a2a("TASK_STATE_INPUT_REQUIRED")),
    ("ag-ui", told("ag-ui", {"type": "RUN_FINISHED", "outcome": {"type": "success"}})),
    *(("vercel-ai", told("vercel-ai", {"type": "finish", "finishReason": each})) for each in
      ("stop", "tool-calls", "unknown")),
    *((name, [*events]) for name, (events, _) in STREAMS.items()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), USUAL)
def test_a_whole_message_has_no_such_loss(name: str, events: Events) -> None:
    assembler = Assembler(name)
    for event in events:
        assembler.feed(event)
    assert assembler.ending is None
    assert [loss for loss in assembler.finish().losses if loss.where == "stream"] == []


TEXT: dict[str, Any] = {"part_kind": "text", "content": "It is sunny."}
WITHOUT_END: list[tuple[str, Events, bool]] = [
    ("anthropic", anthropic("end_turn")[:-1], True),
    ("anthropic", anthropic("end_turn")[:-2], False),
    ("acp", told("acp", {"type": "run.completed", "run": {"status": "completed"}}), True),
    ("acp", told("acp"), False),
    ("pydantic-ai", told("pydantic-ai", drop=0), True),
    ("pydantic-ai", told("pydantic-ai", {"event_kind": "part_end", "index": 0, "part": TEXT,
                                         "next_part_kind": "tool-call"}), False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events", "is_whole"), WITHOUT_END)
def test_a_message_may_be_whole_before_its_stream_ends(
    name: str, events: Events, is_whole: bool
) -> None:
    assembler = Assembler(name)
    for event in events:
        assembler.feed(event)
    assert assembler.outcome == (None if is_whole else "broke off")


USAGE: dict[str, dict[str, Any]] = {
    "bedrock": {"metadata": {"usage": {"inputTokens": 1}}},
    "langchain": {"type": "AIMessageChunk", "content": "", "usage_metadata": {"input_tokens": 1}},
    "anthropic": {"type": "ping"},
    "openai-responses": {"type": "keepalive"},
    "openai-chat": {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""},
                                 "finish_reason": "stop"}], "usage": {"total_tokens": 2}},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}}]},
    "ag-ui": {"type": "STATE_SNAPSHOT", "snapshot": {}},
    "agent-client": {"sessionId": "s", "update": {"sessionUpdate": "usage_update"}},
    "vercel-ai": {"type": "message-metadata", "messageMetadata": {"a": 1}},
    "acp": {"type": "run.completed", "run": {"status": "completed"}},
}  # fmt: skip
"""Events without content that come after the end."""


@pytest.mark.parametrize("name", USAGE)
def test_what_has_no_content_may_follow_the_end(name: str) -> None:
    assembler = Assembler(name)
    for event in STREAMS[name][0]:
        whole = assembler.feed(event)
    for _ in range(2):
        assert assembler.feed(USAGE[name]) == whole
    assert [loss for loss in assembler.finish().losses if loss.where == "stream"] == []
