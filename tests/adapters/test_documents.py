"""Whole documents in another format, whatever they hold."""

import json
import math
from typing import Any

import pydantic
import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import convert, formats_in, json_in
from messagebody.errors import DecodeError, EnvelopeError

HELLO: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Hello!"}]}
ANSWER = {**HELLO, "role": "assistant"}
EVENTS = [
    {"type": "message_start", "message": {"role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Sunny."}},
    {"type": "content_block_stop", "index": 0},
]


def lines_of(*values: Any) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in values)


def test_a_message_becomes_a_body_or_a_message() -> None:
    notes: list[str] = []
    made = convert(json.dumps(HELLO), on_note=notes.append, source="anthropic").value
    assert isinstance(made, MessageBody)
    assert made.read_text() == "Hello!"
    [part] = convert(made.to_json(), "gemini").value["parts"]
    assert part == {"text": "Hello!"}
    assert notes == []
    convert('{"role": "user", "content": "Hello!"}', on_note=notes.append)
    assert notes[0].startswith("the document is read as openai-chat; give source= if it is ")
    convert(json.dumps(HELLO), "body", "haystack", on_note=notes.append)
    assert notes[1].endswith(", not haystack")


def test_a_conversation_becomes_a_list_or_is_refused() -> None:
    talk = [HELLO, ANSWER]
    done = convert(lines_of(talk), "openai-chat", "anthropic")
    assert [each["role"] for each in done.value] == ["user", "assistant"]
    assert convert(lines_of([]), "openai-chat", "anthropic").value == []
    with pytest.raises(EnvelopeError, match="the document holds a conversation of 2 messages, and"):
        convert(lines_of(talk), "zip")


def test_lines_become_a_list() -> None:
    body = MessageBody(["Hi"]).to_dicts()
    made = convert(lines_of(body, HELLO), source=None, lines=True, reading={"rest": "beside"})
    assert [each[0]["content"] for each in made.value] == ["Hi", "Hello!"]
    assert all(loss.message == 1 for loss in made.losses)
    with pytest.raises(DecodeError, match="message 1 is not a valid body"):
        convert(lines_of(body, 5), lines=True)
    with pytest.raises(EnvelopeError, match="lines=True cannot be used with target='zip'"):
        convert(lines_of(body), "zip", lines=True)


def test_the_events_of_an_answer_become_its_message() -> None:
    for data in (
        lines_of(*EVENTS),
        lines_of(EVENTS),
        b"data: " + lines_of(*EVENTS).replace(b"\n", b"\ndata: "),
    ):
        assert convert(data, source="anthropic", stream=True).value.read_text() == "Sunny."
    broken = lines_of(*EVENTS) + b"\n{"
    losses = convert(broken, source="anthropic").losses
    assert [loss.where for loss in losses] == ["line 5", "stream"]
    with pytest.raises(EnvelopeError, match="say which with source="):
        convert("data: {}\n", stream=True)
    marked = convert(lines_of(*EVENTS), source="anthropic", reading={"text": "text/markdown"})
    assert marked.value[0].content_type == "text/markdown"


def test_events_that_can_be_nothing_else_are_recognised() -> None:
    chunks = [{"type": "AIMessageChunk", "id": "run-1", "content": text} for text in ("Su", "nny.")]
    body, losses = convert(lines_of(*chunks))
    assert (body.read_text(), [loss.where for loss in losses]) == ("Sunny.", ["stream"])
    with pytest.raises(EnvelopeError, match=r"no stream of langchain.*another answer begins"):
        convert(lines_of(*chunks, {**chunks[0], "id": "run-2"}))


def test_options_that_a_format_does_not_have() -> None:
    archive = convert(MessageBody(["Hi"]).to_json(), "zip").value
    assert convert(archive).value.names() == ["/parts/1.txt"]
    for option in ("rest", "text"):
        with pytest.raises(EnvelopeError, match=f"{option}= cannot be used with source='zip'"):
            convert(archive, reading={option: "part"})


def test_parsed_json_is_a_document_as_well() -> None:
    turns = [HELLO, {"role": "assistant", "content": "Hi \ud83d"}]
    assert convert(turns, "anthropic") == convert(json.dumps(turns), "anthropic")


def test_an_object_of_an_sdk_is_a_document_as_well() -> None:
    class Message(pydantic.BaseModel):
        role: str
        content: list[dict[str, str]]

    said = Message(role="user", content=[{"text": "Hello!"}])
    assert convert([said], "anthropic").value == convert([said.model_dump()], "anthropic").value


@pytest.mark.parametrize("value", [5, None, object(), math.nan])
def test_what_is_no_document(value: Any) -> None:
    with pytest.raises((EnvelopeError, DecodeError)):
        convert(value)


def test_what_a_document_looks_like() -> None:
    assert formats_in(MessageBody([Part("x")]).to_json_bytes())[0] == "body"
    assert "anthropic" in formats_in(lines_of(HELLO))
    assert formats_in(b"Hello!") == []
    assert json_in(b'["\\ud83d"]') == ["\ud83d"]
    assert json_in(b"{") is None
