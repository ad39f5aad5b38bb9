"""The contract of adapters, for each message format."""

from messagebody.formats import anthropic, bedrock, gemini, mcp, openai_chat, openai_responses
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
