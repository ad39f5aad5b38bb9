"""Transcripts: a conversation of any format, message by message, and what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.adapters import (
    ChatMessage,
    Format,
    Step,
    Transcript,
    adapter,
    adapter_names,
    holds_messages,
    read_transcript,
)
from messagebody.adapters.streams import Assembler
from messagebody.errors import DecodeError, EnvelopeError
from tests.adapters.streams.streams import STREAMS
from tests.adapters.streams.test_recorded import CASES

FORMATS = [name for name in adapter_names() if isinstance(adapter(name), Format)]
CALL = {"name": "look", "arguments": '{"at": "cats"}'}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "What is in it?"},
    {"role": "assistant", "content": "I look.",
     "tool_calls": [{"id": "c1", "type": "function", "function": CALL}]},
    {"role": "tool", "tool_call_id": "c1", "content": "cats"},
    {"role": "assistant", "content": "Cats."},
]  # fmt: skip
HELLO = {"role": "user", "content": "Hello"}


def roles(run: Transcript) -> list[str | None]:
    return [message.role for message in run.messages]


def kinds(run: Transcript) -> list[str]:
    return [step.kind for message in run.messages for step in message.steps]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_tells_who_speaks_and_which_result_answers_a_call(name: str) -> None:
    chat = adapter("openai-chat")
    read = chat.to_bodies(CHAT)  # type: ignore[attr-defined]
    written = adapter(name).from_bodies(read.value, rest=read.rest)  # type: ignore[attr-defined]
    for value in (written.value, json.dumps(written.value)):
        run = read_transcript(value, name)
        assert [message.problem for message in run.messages if message.problem] == []
        assert run.format == name
        said = {step.parts[0].text: message.role for message in run.messages
                for step in message.steps if step.kind == "content"}  # fmt: skip
        assert (said["What is in it?"], said["Cats."]) == ("user", "assistant")
        if "call" in kinds(run):
            ((call, result),) = run.answers().items()
            assert run.messages[call[0]].role == "assistant"
            assert run.messages[result[0]].steps[result[1]].parts[0].read_text() == "cats"


@pytest.mark.parametrize(
    "value",
    [
        CHAT,
        {"messages": CHAT},
        {"values": {"messages": CHAT}},
        json.dumps(CHAT),
        json.dumps(CHAT).encode(),
        "\n".join(map(json.dumps, CHAT)),
        adapter("openai-chat").to_bodies(CHAT),  # type: ignore[attr-defined]
    ],
)
def test_a_run_may_be_given_in_many_ways(value: Any) -> None:
    run = read_transcript(value)
    assert roles(run) == ["system", "user", "assistant", "tool", "assistant"]
    assert kinds(run) == ["content", "content", "content", "call", "result", "content"]
    assert (run.format, run.losses, read_transcript(run)) == ("openai-chat", (), run)


def test_bodies_are_messages() -> None:
    body = MessageBody([Part("cats", name="/cats.txt")])
    stored = MessageBody([Part('{"role": "assistant"}', name="/meta/openai-chat.json")])
    for value in ([body, stored], "\n".join(each.to_json() for each in (body, stored))):
        run = read_transcript(value)
        assert [message.body for message in run.messages] == [body, stored]
        assert roles(run) == [None, "assistant"]
        assert run.messages[1].steps == []  # the rest of a message is not for readers
    assert read_transcript(body.to_json()).messages[0].body == body


@pytest.mark.parametrize("value", [5, None, {"a": 1}, [1, 2], ["a"], "no JSON", b"\xff", "\udcb3"])
def test_what_is_no_run_is_refused(value: Any) -> None:
    with pytest.raises((EnvelopeError, DecodeError)):
        read_transcript(value)


# Streams

ANSWER = {"role": "assistant", "content": "Hi"}


def texts(run: Transcript) -> list[str | None]:
    return [message.body.text for message in run.messages]


CHUNKS = [
    {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "H"}}]},
    {"id": "c", "choices": [{"index": 0, "delta": {"content": "i"}, "finish_reason": "stop"}]},
]
EVENTS = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
    {"type": "message_stop"},
]
PIECES = [
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "H"}]}}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "i"}]},
                     "finishReason": "STOP"}]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "format_name"),
    [(CHUNKS, "openai-chat"), (EVENTS, "anthropic"), (PIECES, "gemini")],
)
def test_the_events_of_a_stream_are_one_message(events: list[Any], format_name: str) -> None:
    lines = [*map(json.dumps, events)]
    sent = "".join(f"event: e\ndata: {line}\n\n" for line in lines) + "data: [DONE]\n\n"
    for value in (events, json.dumps(events), "\n".join(lines), sent):
        run = read_transcript(value)
        assert (run.format, texts(run), roles(run)) == (format_name, ["Hi"], ["assistant"])
        assert run.messages[0].losses == ()
    assert texts(read_transcript(events, format_name)) == ["Hi"]
    assert holds_messages(events)


LOGS: list[Any] = [
    *(pytest.param(name, events, id=name) for name, (events, _) in STREAMS.items()),
    *(pytest.param(case["format"], case["events"], id=case["id"]) for case in CASES
      if "refused" not in case and all(isinstance(each, dict) for each in case["events"])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), LOGS)
def test_a_run_says_of_a_stream_what_an_assembler_says(name: str, events: list[Any]) -> None:
    # A whole task is a message of A2A, and no piece of one.
    for end in range(2 if name == "a2a" else 1, len(events) + 1):
        assembler = Assembler(name)
        for event in events[:end]:
            assembler.feed(event)
        body, losses = made = assembler.finish()
        role = None if name == "messagebody" else (made.rest or {}).get("role", "assistant")
        for run in (read_transcript(events[:end]), read_transcript(events[:end], name)):
            [message] = run.messages
            assert (message.body, message.role, run.format) == (body, role, name)
            assert message.ending == assembler.ending
            assert message.losses == losses


@pytest.mark.parametrize("fault", [5, None, "text", {"foo": 1}, {"role": 5}, [1]])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_message_does_not_stop_the_others(fault: Any, place: int) -> None:
    said: list[Any] = [HELLO, ANSWER]
    said.insert(place, fault)
    for value in (said, {"messages": said}, json.dumps(said), "\n".join(map(json.dumps, said))):
        run = read_transcript(value)
        assert run.format == "openai-chat"
        wrong = [i for i, message in enumerate(run.messages) if message.problem]
        assert wrong == [place]
        assert run.messages[place].body[0].read_json() == fault
        assert [text for i, text in enumerate(texts(run)) if i != place] == ["Hello", "Hi"]
    assert holds_messages(said)


CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [
        {"role": "user", "content": [{"type": "text", "text": "a"},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "a"}]},
        {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "c", "content": [{"text": "x"}]}}]},
    ],
    "openai-responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ],
    "vercel-ai": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "a"}]},
        {"id": "2", "role": "assistant", "parts": [
            {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {},
             "output": "x"}]},
    ],
    "langchain": [
        {"type": "human", "content": "a"},
        {"type": "ai", "content": "", "tool_calls": [
            {"name": "f", "args": {}, "id": "c", "type": "tool_call"}]},
        {"type": "tool", "content": "x", "tool_call_id": "c"},
    ],
}  # fmt: skip
ODD: list[Any] = [None, 5, [], {}, "", [{}], {"type": "new"}, [5], [{"type": "new", "x": 1}]]


@pytest.mark.parametrize("name", CONVERSATIONS)
@given(data=st.data())
def test_a_fault_is_blamed_on_the_format_of_the_conversation(name: str, data: Any) -> None:
    said = CONVERSATIONS[name]
    place = data.draw(st.integers(0, len(said) - 1))
    member = data.draw(st.sampled_from(sorted(said[place].keys() - {"type", "role", "id"})))
    odd = data.draw(st.sampled_from(ODD))
    run = read_transcript([*said[:place], {**said[place], member: odd}, *said[place + 1 :]])
    assert run.format == name


# What is logged, and what is shown of it

VECTORS = Path(__file__).parents[1] / "vectors/recorded/transcripts.jsonl"
ROWS = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


def told(**members: Any) -> dict[str, Any]:
    """Return the members that say something, as JSON."""
    return {key: value for key, value in members.items() if value not in (None, [], {}, (), False)}


def told_of_step(step: Step) -> dict[str, Any]:
    return told(
        kind=step.kind, id=step.id, name=step.name, arguments=step.arguments,
        is_error=str(step.is_error) if step.is_error is not None else None, about=step.about,
        ending=step.ending, parts=[[part.name, part.text or part.url] for part in step.parts],
    )  # fmt: skip


def told_of_message(message: ChatMessage) -> dict[str, Any]:
    return told(
        role=message.role, name=message.name, about=message.about, ending=message.ending,
        problem=message.problem, losses=[*map(str, message.losses)],
        steps=[*map(told_of_step, message.steps)],
    )  # fmt: skip


def what_is_shown(row: dict[str, Any]) -> dict[str, Any]:
    run = read_transcript(row["value"], row.get("format"))
    return told(
        format=run.format, about=run.about, losses=[*map(str, run.losses)],
        messages=[*map(told_of_message, run.messages)],
        answers=[[*map(list, pair)] for pair in run.answers().items()],
    )  # fmt: skip


@pytest.mark.whole
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_what_is_logged_is_shown_for_what_it_is(row: dict[str, Any]) -> None:
    """Requests, answers, errors, streams, states of agents, and lists with faults."""
    assert what_is_shown(row) == row["expected"]
    if not isinstance(row["value"], str):
        assert holds_messages(row["value"]) == row["is_run"]
