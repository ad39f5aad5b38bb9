"""Who speaks in a stream, and what else it says beside the content."""

from typing import Any

import pytest

from messagebody.adapters.streams import AnotherMessage, Assembler
from messagebody.errors import EnvelopeError
from tests.adapters.streams.telling import TELLING

Event = dict[str, Any]


def said(text: str, kind: str = "agent_message_chunk") -> Event:
    content = {"type": "text", "text": text}
    return {"sessionId": "s", "update": {"sessionUpdate": kind, "content": content}}


def ag_ui(*messages: tuple[str, str, str]) -> list[Event]:
    events: list[Event] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for number, role, text in messages:
        about = {"messageId": number}
        events += [
            {"type": "TEXT_MESSAGE_START", **about, "role": role},
            {"type": "TEXT_MESSAGE_CONTENT", **about, "delta": text},
            {"type": "TEXT_MESSAGE_END", **about},
        ]
    return [*events, {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}]


def user_chunk(kind: str) -> Event:
    return {"type": kind, "content": "Hi"}


SECOND: list[tuple[str, list[Event]]] = [
    ("ag-ui", ag_ui(("1", "user", "Hi"), ("2", "assistant", "Hello"))[:-3]),
    ("ag-ui", [*ag_ui(("1", "user", "Hi"))[:-1],
               {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"}]),
    ("agent-client", [said("Hi", "user_message_chunk"), said("Hello")]),
    ("agent-client", [said("Hi", "user_message_chunk"), said("Hm", "agent_thought_chunk")]),
    ("openai-chat", [{"choices": [{"delta": {"role": "user", "content": "Hi"}}]},
                     {"choices": [{"delta": {"role": "assistant", "content": "Hello"}}]}]),
    ("gemini", [{"candidates": [{"content": {"role": each, "parts": [{"text": "Hi"}]}}]}
                for each in ("user", "model")]),
    ("langchain", [user_chunk("HumanMessageChunk"), user_chunk("AIMessageChunk")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), SECOND)
def test_a_second_speaker_is_refused(name: str, events: list[Event]) -> None:
    assembler = Assembler(name)
    for event in events[:-1]:
        before = assembler.feed(event)
    with pytest.raises(EnvelopeError, match=r"speaks after 'user'.*another Assembler.*to_bodies"):
        assembler.feed(events[-1])
    assert assembler.finish().value == before


def chat(id: str, text: str, **beside: Any) -> Event:  # noqa: A002 - of the chunk
    return {"id": id, "choices": [{"index": 0, "delta": {"content": text, **beside}}]}


def gemini(id: str, text: str) -> Event:  # noqa: A002 - of the response
    content = {"role": "model", "parts": [{"text": text}]}
    return {"responseId": id, "candidates": [{"content": content}]}


def chunk(id: str, text: str) -> Event:  # noqa: A002 - of the message
    return {"type": "AIMessageChunk", "id": id, "content": text}


def artifact(task: str, key: str) -> Event:
    held = {"artifactId": key, "parts": [{"text": "Hi"}]}
    return {"artifactUpdate": {"taskId": task, "artifact": held}}


PART: Event = {"event_kind": "part_start", "index": 0, "part": {
    "part_kind": "text", "content": "Hi"}}  # fmt: skip
STARTS: dict[str, Event] = {
    "acp": {"type": "message.created", "message": {"role": "agent", "parts": []}},
    "ag-ui": {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    "anthropic": {"type": "message_start", "message": {"role": "assistant", "content": []}},
    "bedrock": {"messageStart": {"role": "assistant"}},
}
ANOTHER: list[tuple[str, list[Event]]] = [
    *((name, [start, start]) for name, start in STARTS.items()),
    ("openai-chat", [chat("1", "Hi", role="assistant"), chat("1", "!"),
                     chat("2", "No", role="assistant")]),
    ("openai-chat", [chat("1", "Hi", role="assistant"), chat("2", "No", role="assistant"),
                     chat("1", "!")]),
    ("openai-chat", [chat("1", "Hi"), {"id": "1", "choices": [{"finish_reason": "stop"}]},
                     chat("2", "No")]),
    ("gemini", [gemini("1", "Hi"), gemini("2", "No")]),
    ("langchain", [chunk("run-1", "Hi"), chunk("run-2", "No")]),
    ("langchain", [chunk("lc_run--1", "Hi"), chunk("msg_1", ""), chunk("lc_run--2", "No")]),
    ("langchain", [chunk("a", "Hi"), chunk("b", "No"), chunk("a", "!")]),
    ("openai-responses", [{"type": "response.created", "response": {"id": each}} for each in "ab"]),
    ("a2a", [artifact("1", "a"), artifact("2", "b")]),
    ("pydantic-ai", [PART, {**PART, "event_kind": "part_end"}, PART]),
    ("pydantic-ai", [PART, {"event_kind": "function_tool_call", "part": {}}, PART]),
    ("pydantic-ai", [PART, {"event_kind": "function_tool_result", "part": {}}, PART]),
    *((name, [*told([["Hi"]]), next(told([["Hi"]]))]) for name, (told, _) in TELLING.items()
      if name not in ("openai-chat", "gemini", "pydantic-ai")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), ANOTHER)
def test_another_message_is_not_glued_to_the_first(name: str, events: list[Event]) -> None:
    first, alone = Assembler(name), Assembler(name)
    for event in events[:-1]:
        before = first.feed(event)
    with pytest.raises(EnvelopeError, match="another Assembler") as caught:
        first.feed(events[-1])
    assert isinstance(caught.value.__cause__, AnotherMessage)
    assert first.finish().value == before
    alone.feed(events[-1])
