"""The contract of adapters, for each message format."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, settings

from messagebody.adapters import adapter
from messagebody.testing import AdapterContract
from tests.adapters.formats.messages import MESSAGES
from tests.effort import examples


class Contract(AdapterContract):
    name = ""

    def __init_subclass__(cls) -> None:
        cls.adapter = adapter(cls.name)
        cls.messages = [each for each in MESSAGES[cls.name] if cls.is_whole(each)]

    @classmethod
    def is_whole(cls, message: Any) -> bool:
        """Return whether it is a message, and not a text or content alone."""
        parts_of_a2a = {"raw", "data"}
        return cls.adapter.detect(message) and not (
            isinstance(message, dict)
            and parts_of_a2a & message.keys()
            and cls.name in ("a2a", "a2a-0.3")
        )

    @pytest.fixture(autouse=True)
    def few_examples(self) -> Iterator[None]:
        """Few, because of the many formats; the first failure is enough."""
        before = settings.get_current_profile_name()
        few = min(8, examples(40))
        settings.register_profile(
            "few",
            settings(),
            max_examples=few,
            phases=(Phase.generate,),
            report_multiple_bugs=False,
        )
        settings.load_profile("few")
        yield
        settings.load_profile(before)

    @pytest.mark.dear
    def test_messages_are_apart(self) -> None:
        super().test_messages_are_apart()

    # Each of these reads hundreds of damaged messages.

    @pytest.mark.slow
    def test_anything_else_is_refused(self) -> None:
        super().test_anything_else_is_refused()

    @pytest.mark.slow
    def test_a_wrong_rest_is_refused(self) -> None:
        super().test_a_wrong_rest_is_refused()


class TestOpenAIChat(Contract):
    name = "openai-chat"


class TestAnthropic(Contract):
    name = "anthropic"


class TestModelContextProtocol(Contract):
    name = "mcp"
    akin = ("agent-client",)  # its blocks are those of MCP


class TestGemini(Contract):
    name = "gemini"


class TestBedrock(Contract):
    name = "bedrock"


class TestOpenAIResponses(Contract):
    name = "openai-responses"


class TestLangChain(Contract):
    name = "langchain"


class TestPydanticAI(Contract):
    name = "pydantic-ai"


class TestLlamaIndex(Contract):
    name = "llamaindex"


class TestHaystack(Contract):
    name = "haystack"


class TestAgentToAgent(Contract):
    name = "a2a"
    invents = ("messageId",)


class TestAgentToAgent03(Contract):
    name = "a2a-0.3"
    invents = ("messageId",)


class TestAgentCommunication(Contract):
    name = "acp"
    ids = False


class TestAgentUserInteraction(Contract):
    name = "ag-ui"
    texts = 1
    invents = ("id",)


class TestAgentClient(Contract):
    name = "agent-client"


class TestVercelAI(Contract):
    name = "vercel-ai"
    invents = ("id",)
