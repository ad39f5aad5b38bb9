"""The contract of adapters, for each message format."""

from messagebody.formats import anthropic, mcp, openai_chat
from messagebody.testing import AdapterContract


class TestOpenAIChat(AdapterContract):
    adapter = openai_chat


class TestAnthropic(AdapterContract):
    adapter = anthropic


class TestModelContextProtocol(AdapterContract):
    adapter = mcp
