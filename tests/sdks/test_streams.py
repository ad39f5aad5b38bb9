"""Streams are assembled as the accumulators of the SDKs do; run by `make test ENV=sdks`.

google-genai and the Python SDK of AG-UI have no accumulator; that of AG-UI's npm package, and
Vercel's, are in `tests/npm`.
"""

from typing import Any

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
