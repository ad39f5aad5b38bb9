"""Events of each format that bring texts, each of them in pieces."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Texts = Sequence[Sequence[str]]
Events = Iterator[dict[str, Any]]


def a2a(texts: Texts) -> Events:
    about = {"taskId": "t", "contextId": "c"}
    for number, pieces in enumerate(texts):
        for place, piece in enumerate(pieces):
            artifact = {"artifactId": str(number), "parts": [{"text": piece}]}
            is_last = place == len(pieces) - 1
            told = {**about, "append": place > 0, "lastChunk": is_last, "artifact": artifact}
            yield {"artifactUpdate": told}
    yield {"statusUpdate": {**about, "status": {"state": "TASK_STATE_COMPLETED"}}}


def acp(texts: Texts) -> Events:
    yield {"type": "message.created", "message": {"role": "agent", "parts": []}}
    for piece in texts[0]:
        yield {"type": "message.part", "part": {"content_type": "text/plain", "content": piece}}
    yield {"type": "message.completed", "message": {"role": "agent", "parts": []}}


def agent_client(texts: Texts) -> Events:
    for piece in texts[0]:
        content = {"type": "text", "text": piece}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        yield {"sessionId": "s", "update": update}
    yield {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}


def ag_ui(texts: Texts) -> Events:
    yield {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    for number, pieces in enumerate(texts):
        about = {"messageId": str(number)}
        yield {"type": "TEXT_MESSAGE_START", **about, "role": "assistant"}
        for piece in pieces:
            yield {"type": "TEXT_MESSAGE_CONTENT", **about, "delta": piece}
        yield {"type": "TEXT_MESSAGE_END", **about}
    yield {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def anthropic(texts: Texts) -> Events:
    yield {"type": "message_start", "message": {"role": "assistant", "content": []}}
    for index, pieces in enumerate(texts):
        block = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_stop"}


def bedrock(texts: Texts) -> Events:
    yield {"messageStart": {"role": "assistant"}}
    for index, pieces in enumerate(texts):
        for piece in pieces:
            yield {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"text": piece}}}
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": "end_turn"}}


def gemini(texts: Texts) -> Events:
    for piece in texts[0]:
        content = {"role": "model", "parts": [{"text": piece}]}
        yield {"candidates": [{"content": content}]}
    yield {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}


def langchain(texts: Texts) -> Events:
    for piece in texts[0]:
        yield {"type": "AIMessageChunk", "id": "m", "content": piece}
    yield {"type": "AIMessageChunk", "id": "m", "content": "", "chunk_position": "last"}


def openai_chat(texts: Texts) -> Events:
    for piece in texts[0]:
        yield {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def openai_responses(texts: Texts) -> Events:
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
    contents = []
    for number, pieces in enumerate(texts):
        about = {"output_index": 0, "content_index": number}
        part = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **about, "part": part}
        for piece in pieces:
            yield {"type": "response.output_text.delta", **about, "delta": piece}
        contents.append({**part, "text": "".join(pieces)})
    output = [{**item, "content": contents}]
    yield {"type": "response.completed", "response": {"id": "r", "output": output}}


def pydantic_ai(texts: Texts) -> Events:
    for index, pieces in enumerate(texts):
        part = {"part_kind": "text", "content": ""}
        yield {"event_kind": "part_start", "index": index, "part": part}
        for piece in pieces:
            delta = {"part_delta_kind": "text", "content_delta": piece}
            yield {"event_kind": "part_delta", "index": index, "delta": delta}
        part = {"part_kind": "text", "content": "".join(pieces)}
        yield {"event_kind": "part_end", "index": index, "part": part}


def vercel_ai(texts: Texts) -> Events:
    yield {"type": "start", "messageId": "m"}
    for number, pieces in enumerate(texts):
        about = {"id": f"t{number}"}
        yield {"type": "text-start", **about}
        for piece in pieces:
            yield {"type": "text-delta", **about, "delta": piece}
        yield {"type": "text-end", **about}
    yield {"type": "finish"}


TELLING: dict[str, tuple[Callable[[Texts], Events], int]] = {
    "a2a": (a2a, 5), "acp": (acp, 1), "agent-client": (agent_client, 1), "ag-ui": (ag_ui, 5),
    "anthropic": (anthropic, 5), "bedrock": (bedrock, 5), "gemini": (gemini, 1),
    "langchain": (langchain, 1),
    "openai-chat": (openai_chat, 1), "openai-responses": (openai_responses, 5),
    "pydantic-ai": (pydantic_ai, 5), "vercel-ai": (vercel_ai, 5),
}  # fmt: skip
"""The events of each format, and how many texts its message holds."""
