"""The contract of streams, for the stream of each format."""

from collections.abc import Sequence
from typing import Any

from messagebody.adapters import adapter
from messagebody.adapters.streams._assembler import _accumulator_of
from messagebody.testing import StreamContract
from tests.adapters.streams.streams import STREAMS
from tests.adapters.streams.telling import TELLING


class Contract(StreamContract):
    name = ""

    def __init_subclass__(cls) -> None:
        cls.accumulator = _accumulator_of(cls.name)
        cls.adapter = adapter(cls.name)
        cls.streams = (STREAMS[cls.name],)
        cls.texts = TELLING[cls.name][1]

    def events_of(self, texts: Sequence[Sequence[str]]) -> list[Any]:
        return [*TELLING[self.name][0](texts)]


class TestAgentToAgent(Contract):
    name = "a2a"


class TestAgentCommunication(Contract):
    name = "acp"


class TestAgentClient(Contract):
    name = "agent-client"
    unknown = {"sessionUpdate": "new_of_tomorrow"}  # noqa: RUF012


class TestAgentUserInteraction(Contract):
    name = "ag-ui"
    piece = "delta"


class TestAnthropic(Contract):
    name = "anthropic"
    piece = "delta/text"


class TestBedrock(Contract):
    name = "bedrock"
    piece = "contentBlockDelta/delta/text"


class TestGemini(Contract):
    name = "gemini"
    ends = False  # older models state the usual end in each chunk


class TestLangChain(Contract):
    name = "langchain"
    piece = "content"
    ends = False


class TestOpenAIChat(Contract):
    name = "openai-chat"
    piece = "choices/0/delta/content"


# A stream says nothing of members that are null in the whole message.
_events, _message = STREAMS["openai-chat"]
_stated = {key: _message[key] for key in _message if _message[key] is not None or key == "content"}
TestOpenAIChat.streams = ((_events, _stated),)


class TestOpenAIResponses(Contract):
    name = "openai-responses"


class TestPydanticAI(Contract):
    name = "pydantic-ai"
    piece = "delta/content_delta"
    unknown = {"event_kind": "new_of_tomorrow"}  # noqa: RUF012
    ends = False


class TestVercelAI(Contract):
    name = "vercel-ai"
    piece = "delta"
