"""The contract of adapters, for each message format."""

from messagebody.formats import (
    anthropic,
    bedrock,
    gemini,
    haystack,
    langchain,
    llamaindex,
    mcp,
    openai_chat,
    openai_responses,
    pydantic_ai,
)
from messagebody.testing import AdapterContract


class TestOpenAIChat(AdapterContract):
    adapter = openai_chat


class TestAnthropic(AdapterContract):
    adapter = anthropic


class TestModelContextProtocol(AdapterContract):
    adapter = mcp


class TestGemini(AdapterContract):
    adapter = gemini


class TestBedrock(AdapterContract):
    adapter = bedrock


class TestOpenAIResponses(AdapterContract):
    adapter = openai_responses


class TestLangChain(AdapterContract):
    adapter = langchain


class TestPydanticAI(AdapterContract):
    adapter = pydantic_ai


class TestLlamaIndex(AdapterContract):
    adapter = llamaindex


class TestHaystack(AdapterContract):
    adapter = haystack
