"""Streams of each format: events that hold one of every kind, and the message they make."""

# ruff: noqa: E501 - an event a line

import base64
import json
from typing import Any

from tests.adapters.formats.vectors import HERE, ROWS, payload

PNG = base64.b64encode(payload("png")).decode()


def _vector(name: str) -> tuple[list[Any], Any]:
    value = json.loads((HERE / name).read_text(encoding="utf-8"))
    return value["events"], value["message"]


def _responses() -> tuple[list[Any], Any]:
    item: dict[str, Any] = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
    }
    part = {
        "type": "output_text",
        "text": "Look here.",
        "annotations": [
            {
                "type": "url_citation",
                "start_index": 0,
                "end_index": 4,
                "title": "Cats",
                "url": "https://e.com/c",
            }
        ],
    }
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": '{"a":1}'}
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]}
    picture = {"type": "image_generation_call", "id": "i", "status": "completed", "result": PNG}
    output = [thought, {**item, "content": [part]}, call, picture]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**thought, "summary": []}},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0, "part": {"type": "summary_text", "text": ""}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "H"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "m."},
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        {"type": "response.output_item.added", "output_index": 1, "item": {**item, "content": []}},
        {"type": "response.content_part.added", "output_index": 1, "content_index": 0, "part": {**part, "text": "", "annotations": []}},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Look "},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "here."},
        {"type": "response.output_text.annotation.added", "output_index": 1, "content_index": 0, "annotation": part["annotations"][0]},
        {"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "Look here."},
        {"type": "response.output_item.added", "output_index": 2, "item": {**call, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ":1}"},
        {"type": "response.output_item.done", "output_index": 2, "item": call},
        {"type": "response.output_item.added", "output_index": 3, "item": {**picture, "result": None}},
        {"type": "response.image_generation_call.partial_image", "output_index": 3, "partial_image_b64": "AA=="},
        {"type": "response.output_item.done", "output_index": 3, "item": picture},
        {"type": "response.completed", "response": {"id": "resp", "output": output}},
    ]  # fmt: skip
    return [{**event, "sequence_number": number} for number, event in enumerate(events)], output


STREAMS: dict[str, tuple[list[Any], Any]] = {
    "openai-chat": _vector("stream_openai_chat_text_and_tools.json"),
    "anthropic": _vector("stream_anthropic_mixed.json"),
    "vercel-ai": _vector("stream_vercel_ai_mixed.json"),
    "openai-responses": _responses(),
    "gemini": (
        [{"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm", "thought": True}]}}]},
         {"candidates": [{"content": {"role": "model", "parts": [{"text": ".", "thought": True}, {"text": "Lo"}]}}]},
         {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok."}]}}]},
         {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}]},
         {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}], "usageMetadata": {}}],
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Look."}, {"functionCall": {"name": "f", "args": {"a": 1}}}]},
    ),
    "langchain": (
        [{"type": "AIMessageChunk", "id": "m", "content": "Lo", "tool_call_chunks": []},
         {"type": "AIMessageChunk", "id": "m", "content": "ok."},
         {"type": "AIMessageChunk", "content": "", "tool_call_chunks": [{"name": "f", "args": '{"a"', "id": "c", "index": 0, "type": "tool_call_chunk"}]},
         {"type": "AIMessageChunk", "content": "", "tool_call_chunks": [{"name": None, "args": ":1}", "id": None, "index": 0, "type": "tool_call_chunk"}]},
         {"type": "AIMessageChunk", "content": "", "chunk_position": "last"}],
        {"type": "ai", "data": {"type": "ai", "id": "m", "content": "Look.", "tool_calls": [
            {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}]}},
    ),
    "pydantic-ai": (
        [{"event_kind": "part_start", "index": 0, "part": {"part_kind": "thinking", "content": "H"}},
         {"event_kind": "part_delta", "index": 0, "delta": {"part_delta_kind": "thinking", "content_delta": "m.", "signature_delta": "s"}},
         {"event_kind": "part_end", "index": 0, "part": {"part_kind": "thinking", "content": "Hm.", "signature": "s"}},
         {"event_kind": "part_start", "index": 1, "part": {"part_kind": "text", "content": "Lo"}},
         {"event_kind": "final_result", "tool_name": None, "tool_call_id": None},
         {"event_kind": "part_delta", "index": 1, "delta": {"part_delta_kind": "text", "content_delta": "ok."}},
         {"event_kind": "part_end", "index": 1, "part": {"part_kind": "text", "content": "Look."}},
         {"event_kind": "part_start", "index": 2, "part": {"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "c", "args": None}},
         {"event_kind": "part_delta", "index": 2, "delta": {"part_delta_kind": "tool_call", "args_delta": '{"a"'}},
         {"event_kind": "part_delta", "index": 2, "delta": {"part_delta_kind": "tool_call", "args_delta": ":1}"}},
         {"event_kind": "part_end", "index": 2, "part": {"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "c", "args": '{"a":1}'}}],
        {"kind": "response", "parts": [
            {"part_kind": "thinking", "content": "Hm.", "signature": "s"},
            {"part_kind": "text", "content": "Look."},
            {"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "c", "args": '{"a":1}'}]},
    ),
    "acp": (
        [{"type": "run.created", "run": {}},
         {"type": "message.created", "message": {"role": "agent", "parts": []}},
         {"type": "message.part", "part": {"content_type": "text/plain", "content": "Lo"}},
         {"type": "message.part", "part": {"content_type": "text/plain", "content": "ok."}},
         {"type": "message.part", "part": {"content_type": "image/png", "content": PNG, "content_encoding": "base64"}},
         {"type": "message.part", "part": {"content_type": "text/plain", "content": "More."}},
         {"type": "message.completed", "message": {"role": "agent", "parts": []}}],
        {"role": "agent", "parts": [
            {"content_type": "text/plain", "content": "Look."},
            {"content_type": "image/png", "content": PNG, "content_encoding": "base64"},
            {"content_type": "text/plain", "content": "More."}]},
    ),
    "a2a": (
        [{"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}},
         {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "1", "parts": [{"text": "Lo"}]}}},
         {"artifactUpdate": {"taskId": "t", "contextId": "c", "append": True, "artifact": {"artifactId": "1", "parts": [{"text": "ok."}]}}},
         {"artifactUpdate": {"taskId": "t", "contextId": "c", "append": True, "lastChunk": True, "artifact": {"artifactId": "1", "parts": [{"raw": PNG, "mediaType": "image/png"}]}}},
         {"artifactUpdate": {"taskId": "t", "contextId": "c", "lastChunk": True, "artifact": {"artifactId": "2", "parts": [{"text": "More."}]}}},
         {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}],
        {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [
            {"artifactId": "1", "parts": [{"text": "Look."}, {"raw": PNG, "mediaType": "image/png"}]},
            {"artifactId": "2", "parts": [{"text": "More."}]}]},
    ),
    "agent-client": (
        [{"sessionId": "s", "update": {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}}},
         {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Lo"}}},
         {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ok."}}},
         {"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read", "rawInput": {"a": 1}}},
         {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": [
             {"type": "content", "content": {"type": "text", "text": "Done."}}]}},
         {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}],
        [{"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}},
         {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Look."}},
         {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read", "rawInput": {"a": 1}},
         {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Read", "status": "completed", "content": [
             {"type": "content", "content": {"type": "text", "text": "Done."}}]}],
    ),
    "bedrock": (
        [{"messageStart": {"role": "assistant"}},
         {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "H"}}}},
         {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "m."}}}},
         {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "U2ln"}}}},
         {"contentBlockStop": {"contentBlockIndex": 0}},
         {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"reasoningContent": {"redactedContent": "UmVk"}}}},
         {"contentBlockStop": {"contentBlockIndex": 1}},
         {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"text": "Lo"}}},
         {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"text": "ok."}}},
         {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"citation": {"title": "Cats", "location": {"web": {"url": "https://e.com/c"}}}}}},
         {"contentBlockStop": {"contentBlockIndex": 2}},
         {"contentBlockStart": {"contentBlockIndex": 3, "start": {"toolUse": {"toolUseId": "c", "name": "f"}}}},
         {"contentBlockDelta": {"contentBlockIndex": 3, "delta": {"toolUse": {"input": '{"a"'}}}},
         {"contentBlockDelta": {"contentBlockIndex": 3, "delta": {"toolUse": {"input": ":1}"}}}},
         {"contentBlockStop": {"contentBlockIndex": 3}},
         {"contentBlockStart": {"contentBlockIndex": 4, "start": {"toolResult": {"toolUseId": "c", "status": "success"}}}},
         {"contentBlockDelta": {"contentBlockIndex": 4, "delta": {"toolResult": [{"text": "Sun"}]}}},
         {"contentBlockDelta": {"contentBlockIndex": 4, "delta": {"toolResult": [{"text": "ny."}, {"json": {"t": 21}}]}}},
         {"contentBlockStop": {"contentBlockIndex": 4}},
         {"contentBlockStart": {"contentBlockIndex": 5, "start": {"image": {"format": "png"}}}},
         {"contentBlockDelta": {"contentBlockIndex": 5, "delta": {"image": {"source": {"bytes": PNG}}}}},
         {"contentBlockStop": {"contentBlockIndex": 5}},
         {"messageStop": {"stopReason": "tool_use"}},
         {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}, "metrics": {"latencyMs": 4}}}],
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "U2ln"}}},
            {"reasoningContent": {"redactedContent": "UmVk"}},
            {"citationsContent": {"content": [{"text": "Look."}], "citations": [{"title": "Cats", "location": {"web": {"url": "https://e.com/c"}}}]}},
            {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}},
            {"toolResult": {"toolUseId": "c", "status": "success", "content": [{"text": "Sunny."}, {"json": {"t": 21}}]}},
            {"image": {"format": "png", "source": {"bytes": PNG}}}]},
    ),
    "ag-ui": (
        [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
         {"type": "REASONING_MESSAGE_START", "messageId": "0", "role": "reasoning"},
         {"type": "REASONING_MESSAGE_CONTENT", "messageId": "0", "delta": "Hm."},
         {"type": "REASONING_MESSAGE_END", "messageId": "0"},
         {"type": "TEXT_MESSAGE_START", "messageId": "1", "role": "assistant"},
         {"type": "TEXT_MESSAGE_CONTENT", "messageId": "1", "delta": "Lo"},
         {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "1"},
         {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": '{"a":'},
         {"type": "TEXT_MESSAGE_CONTENT", "messageId": "1", "delta": "ok."},
         {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "1}"},
         {"type": "TOOL_CALL_END", "toolCallId": "c"},
         {"type": "TEXT_MESSAGE_END", "messageId": "1"},
         {"type": "TOOL_CALL_RESULT", "messageId": "2", "toolCallId": "c", "content": "Sunny."},
         {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}],
        [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Look."},
         {"type": "function", "id": "c", "function": {"name": "f", "arguments": '{"a":1}'}},
         {"type": "tool", "toolCallId": "c", "content": "Sunny."}],
    ),
    "messagebody": (
        [{"index": 0, "part": {"contentType": "text/plain", "content": "Look."}},
         {"index": 1, "part": {"name": "/a.png", "contentType": "image/png", "content": PNG, "contentEncoding": "base64"}},
         {"end": 2}],
        [{"contentType": "text/plain", "content": "Look."},
         {"name": "/a.png", "contentType": "image/png", "content": PNG, "contentEncoding": "base64"}],
    ),
}  # fmt: skip

assert {row["format"] for row in ROWS if row["kind"] == "stream"} <= STREAMS.keys()
