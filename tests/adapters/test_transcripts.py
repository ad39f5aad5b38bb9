"""Transcripts: a conversation of any format, message by message, and what is wrong with it."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import (
    Format,
    Transcript,
    adapter,
    adapter_names,
    detect,
    read_transcript,
)
from messagebody.errors import DecodeError, EnvelopeError

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


def test_a_format_is_detected_by_most_messages() -> None:
    mixed = [*CHAT, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}]
    assert detect(mixed) == ()
    run = read_transcript(mixed)
    assert (run.format, len(run.messages)) == ("openai-chat", 6)


def test_a_message_that_can_not_be_read_is_there_as_json() -> None:
    run = read_transcript([HELLO, {"role": "user", "content": 5}])
    assert (run.messages[0].problem, run.messages[1].role) == (None, "user")
    assert "/content" in (run.messages[1].problem or "")
    assert run.messages[1].body[0].read_json() == {"role": "user", "content": 5}


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


def test_messages_that_langchain_has_dumped_are_read() -> None:
    def dumped(name: str, **members: Any) -> dict[str, Any]:
        place = ["langchain", "schema", "messages", name]
        return {"lc": 1, "type": "constructor", "id": place, "kwargs": members}

    call = {"name": "look", "args": {}, "id": "c", "type": "tool_call"}
    said = [
        dumped("HumanMessage", type="human", content="Hi"),
        dumped("AIMessage", type="ai", content="", tool_calls=[call]),
        dumped("ToolMessage", type="tool", content="cats", tool_call_id="c"),
    ]
    for value in (said, {"messages": said}, {"values": {"messages": said}}):
        run = read_transcript(value)
        assert (run.format, roles(run)) == ("langchain", ["user", "assistant", "tool"])
        assert run.answers() == {(1, 0): (2, 0)}


@pytest.mark.parametrize(
    ("answer", "format_name"),
    [
        ({"object": "chat.completion", "choices": [{"index": 0, "message": CHAT[4]}]},
         "openai-chat"),
        ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Cats."}]}}]}, "gemini"),
        ({"output": {"message": {"role": "assistant", "content": [{"text": "Cats."}]}},
          "stopReason": "end_turn"}, "bedrock"),
    ],
)  # fmt: skip
def test_the_whole_answer_of_a_service_holds_a_message(answer: Any, format_name: str) -> None:
    run = read_transcript(answer)
    assert (run.format, roles(run)) == (format_name, ["assistant"])
    assert run.messages[0].body.text == "Cats."
    beside = {key: value for key, value in answer.items() if isinstance(value, str)}
    assert beside.items() <= run.messages[0].about.items()


def test_what_is_beside_the_messages_is_kept() -> None:
    run = read_transcript({"values": {"messages": [HELLO], "plan": [1]}, "next": []})
    assert (run.about, run.losses) == ({"plan": [1], "next": []}, ())


def test_losses_are_those_of_their_message() -> None:
    file = {"type": "resource", "resource": {"uri": "a://b", "blob": "AAAA"}}
    run = read_transcript([HELLO, {"role": "user", "content": file}], "mcp")
    assert (len(run.messages[0].losses), len(run.messages[1].losses), run.losses) == (0, 1, ())
    assert not run.messages[1].losses[0].where.startswith("message")


def test_bodies_are_messages() -> None:
    body = MessageBody([Part("cats", name="/cats.txt")])
    stored = MessageBody([Part('{"role": "assistant"}', name="/meta/openai-chat.json")])
    for value in ([body, stored], "\n".join(each.to_json() for each in (body, stored))):
        run = read_transcript(value)
        assert [message.body for message in run.messages] == [body, stored]
        assert roles(run) == [None, "assistant"]
        assert run.messages[1].steps == []  # the rest of a message is not for readers
    assert read_transcript(body.to_json()).messages[0].body == body


def test_members_that_are_not_content_are_kept_apart() -> None:
    said = {"id": "m1", "model": "m", "role": "assistant", "name": "Ann", "content": "Hi"}
    message = read_transcript([said]).messages[0]
    assert message.about == {"id": "m1", "model": "m"}
    assert (message.name, message.role) == ("Ann", "assistant")


def test_without_ids_a_result_answers_the_first_open_call_of_its_tool() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}}]}

    def result(name: str) -> dict[str, Any]:
        said = {"name": name, "response": {"output": name}}
        return {"role": "user", "parts": [{"functionResponse": said}]}

    run = read_transcript([call("a"), call("b"), call("a"), result("a"), result("b"), result("c")])
    assert run.format == "gemini"
    assert run.answers() == {(0, 0): (3, 0), (1, 0): (4, 0)}


def test_an_id_may_be_used_again() -> None:
    pair = CHAT[2:4]
    assert read_transcript([*pair, *pair]).answers() == {(0, 1): (1, 0), (2, 1): (3, 0)}


@pytest.mark.parametrize("value", [5, None, {"a": 1}, [1, 2], ["a"], "no JSON", b"\xff", "\udcb3"])
def test_what_is_no_run_is_refused(value: Any) -> None:
    with pytest.raises((EnvelopeError, DecodeError)):
        read_transcript(value)


def test_an_odd_update_of_a_tool_does_not_stop_the_others() -> None:
    odd = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": []}
    said = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Hi"}}
    run = read_transcript([said, odd], "agent-client")
    assert run.messages[0].body.text == "Hi"
    assert "/title" in (run.messages[1].problem or "")


def test_items_that_nobody_knows_hide_no_conversation() -> None:
    """Also where somebody names the format."""
    items = [
        {"role": "user", "content": "Find it."},
        {"type": "tool_search_call", "call_id": "c", "arguments": {"query": "refunds"}},
        {"type": "tool_search_output", "call_id": "c", "tools": []},
        {"type": "brand_new_item", "id": "n"},
        {"type": "message", "role": "assistant", "content": "Found."},
    ]
    for name in ("openai-responses", None):
        transcript = read_transcript(items, name)
        assert transcript.format == "openai-responses"
        assert [each.problem for each in transcript.messages] == [None] * len(transcript.messages)
        texts = [part.text for each in transcript.messages for part in each.body if part.text]
        assert (texts[0], texts[-1]) == ("Find it.", "Found.")


def test_a_stream_that_only_says_that_it_was_refused_is_one() -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "content": []}
    ends = {"type": "message_delta", "delta": {"stop_reason": "refusal"}}
    events = [{"type": "message_start", "message": message}, ends, {"type": "message_stop"}]
    [only] = read_transcript(events).messages
    assert (only.ending, only.problem) == ("refusal", None)


def test_messages_of_langchain_js_keep_their_speakers() -> None:
    """Its dumps name the class of a message, and no type."""

    def dumped(name: str, **about: Any) -> dict[str, Any]:
        path = ["langchain_core", "messages", name]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": about}

    calls = [{"name": "f", "args": {}, "id": "c", "type": "tool_call"}]
    run = [
        dumped("HumanMessage", content="Delete all?"),
        dumped("AIMessage", content="No.", tool_calls=calls),
        dumped("ToolMessage", content="r", tool_call_id="c"),
    ]
    for name in (None, "langchain"):
        transcript = read_transcript(run, name)
        assert [each.role for each in transcript.messages] == ["user", "assistant", "tool"]
        assert transcript.answers() == {(1, 1): (2, 0)}
