"""Streams are assembled as the accumulators of the SDKs do; run by `make test ENV=sdks`.

google-genai and the Python SDK of AG-UI have no accumulator; that of AG-UI's npm package, and
Vercel's, are in `tests/npm`.
"""

from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.adapters.streams import Assembler
from tests.adapters.formats.test_messages import adapter
from tests.adapters.streams.streams import STREAMS
from tests.sdks.test_protocols import sdk


def _assembled(name: str) -> MessageBody:
    assembler = Assembler(name)
    for event in STREAMS[name][0]:
        assembler.feed(event)
    return assembler.finish().value


def test_langchain_adds_chunks_up() -> None:
    messages = sdk("langchain_core.messages")
    first, *others = [messages.AIMessageChunk(**event) for event in STREAMS["langchain"][0]]
    for chunk in others:
        first += chunk
    message = messages.message_to_dict(messages.message_chunk_to_message(first))
    assert adapter("langchain").to_body(message).value == _assembled("langchain")


def _chunk(content: Any = "", *calls: tuple[Any, ...], **members: Any) -> dict[str, Any]:
    names = ("index", "id", "name", "args")
    chunks = [{**dict(zip(names, call, strict=True)), "type": "tool_call_chunk"} for call in calls]
    about = {"type": "AIMessageChunk", "id": "m", "content": content}
    return {**about, **({"tool_call_chunks": chunks} if chunks else {}), **members}


_LAST: dict[str, Any] = {"chunk_position": "last"}
CHUNKS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        _chunk([], response_metadata={"model_name": "m", "model_provider": "anthropic"},
               usage_metadata={"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}),
        _chunk([{"type": "thinking", "thinking": "H", "index": 0}]),
        _chunk([{"type": "thinking", "thinking": "m.", "index": 0}]),
        _chunk([{"type": "thinking", "signature": "s", "index": 0}]),
        _chunk([{"type": "tool_use", "id": "t", "name": "f", "input": {}, "index": 1}],
               (1, "t", "f", "")),
        _chunk([{"type": "input_json_delta", "partial_json": '{"q":', "index": 1}],
               (1, None, None, '{"q":')),
        _chunk([{"type": "input_json_delta", "partial_json": '"x"}', "index": 1}],
               (1, None, None, '"x"}')),
        _chunk(response_metadata={"stop_reason": "tool_use"}, **_LAST, usage_metadata={
            "input_tokens": 0, "output_tokens": 9, "total_tokens": 9}),
    ],
    "responses": [
        _chunk([{"type": "reasoning", "id": "r", "index": 0, "summary": [
            {"index": 0, "type": "summary_text", "text": "H"}]}]),
        _chunk([{"type": "reasoning", "index": 0, "summary": [
            {"index": 0, "type": "summary_text", "text": "m."}]}]),
        _chunk([{"type": "text", "text": "Hi ", "index": 1, "id": "msg"}]),
        _chunk([{"type": "text", "text": "there", "index": 1}]),
        _chunk([{"type": "function_call", "name": "f", "arguments": "", "call_id": "c",
                 "id": "fc", "index": 2}], (2, "c", "f", "")),
        _chunk([{"type": "function_call", "arguments": '{"a":1}', "index": 2}],
               (2, None, None, '{"a":1}')),
        _chunk([], response_metadata={"status": "completed"}, **_LAST),
    ],
    "bedrock": [
        _chunk([{"type": "text", "text": "Hi", "index": 0}]), _chunk([{"index": 0}]),
        _chunk([{"type": "tool_use", "name": "f", "id": "c", "index": 1}], (1, "c", "f", None)),
        _chunk([{"type": "tool_use", "input": '{"a":', "index": 1}], (1, None, None, '{"a":')),
        _chunk([{"type": "tool_use", "input": "1}", "index": 1}], (1, None, None, "1}")),
        _chunk([{"index": 1}], response_metadata={"stopReason": "tool_use"}),
        _chunk([], usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}),
    ],
    "beside": [
        _chunk(additional_kwargs={"reasoning_content": "H"}),
        _chunk(additional_kwargs={"reasoning_content": "m."}), _chunk("Hi"),
        _chunk("", (0, "a", "f", "{}"), additional_kwargs={"tool_calls": [
            {"index": 0, "id": "a", "type": "function", "function": {
                "name": "f", "arguments": "{"}}]}),
        _chunk("", (0, "b", "f", "{}"), additional_kwargs={"tool_calls": [
            {"index": 0, "id": None, "type": None, "function": {
                "name": None, "arguments": "}"}}]}),
        _chunk(response_metadata={"finish_reason": "stop"}, **_LAST),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CHUNKS)
def test_langchain_adds_the_chunks_of_services_up(name: str) -> None:
    messages = sdk("langchain_core.messages")
    first, *others = [messages.AIMessageChunk(**event) for event in CHUNKS[name]]
    for chunk in others:
        first += chunk
    message = messages.message_to_dict(messages.message_chunk_to_message(first))
    assembler = Assembler("langchain")
    for event in CHUNKS[name]:
        assembler.feed(event)
    done = assembler.finish()
    assert adapter("langchain").to_body(message).value == done.value
    made = adapter("langchain").from_body(done.value, rest=done.rest).value["data"]
    for key, value in message["data"].items():
        assert (made.get(key) or None) == (value or None)


def test_bedrock_has_these_events() -> None:
    """Each event of the stream is one of botocore's model, and so is each of its members."""
    model = sdk("botocore.session").get_session().get_service_model("bedrock-runtime")
    output = model.operation_model("ConverseStream").output_shape.members["stream"]
    for event in STREAMS["bedrock"][0]:
        _check(event, output)


def _check(value: Any, shape: Any) -> None:
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        assert value.keys() <= shape.members.keys()
        for key, held in value.items():
            _check(held, shape.members[key])
    elif shape.type_name == "list":
        for held in value:
            _check(held, shape.member)


def test_pydantic_ai_applies_deltas() -> None:
    messages = sdk("pydantic_ai.messages")
    events = sdk("pydantic").TypeAdapter(messages.ModelResponseStreamEvent)
    parts: list[Any] = []
    for event in map(events.validate_python, STREAMS["pydantic-ai"][0]):
        if isinstance(event, messages.PartStartEvent):
            parts.append(event.part)
        elif isinstance(event, messages.PartDeltaEvent):
            parts[event.index] = event.delta.apply(parts[event.index])
    response = messages.ModelResponse(parts=parts)
    [message] = messages.ModelMessagesTypeAdapter.dump_python([response], mode="json")
    assert adapter("pydantic-ai").to_body(message).value == _assembled("pydantic-ai")


def test_openai_responses_keeps_a_snapshot() -> None:
    openai, types = sdk("openai"), sdk("openai.types.responses")
    construct = sdk("openai._models").construct_type
    streaming = sdk("openai.lib.streaming.responses._responses")
    state = streaming.ResponseStreamState(text_format=openai.NOT_GIVEN, input_tools=[])
    for event in STREAMS["openai-responses"][0]:
        state.handle_event(construct(type_=types.ResponseStreamEvent, value=event))
    found = state._completed_response.output
    output = [item.model_dump(mode="json", exclude_unset=True) for item in found]
    assert adapter("openai-responses").to_body(output).value == _assembled("openai-responses")
