"""The contract of adapters, for each message format."""

from messagebody.adapters._formats import (
    a2a,
    a2a_0_3,
    acp,
    ag_ui,
    agent_client,
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
    vercel_ai,
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


class TestAgentToAgent(AdapterContract):
    adapter = a2a


class TestAgentToAgent03(AdapterContract):
    adapter = a2a_0_3


class TestAgentCommunication(AdapterContract):
    adapter = acp


class TestAgentUserInteraction(AdapterContract):
    adapter = ag_ui


class TestAgentClient(AdapterContract):
    adapter = agent_client


class TestVercelAI(AdapterContract):
    adapter = vercel_ai
