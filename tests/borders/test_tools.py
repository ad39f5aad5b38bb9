"""Readers, drafts and schemas for output in the real frameworks, with models that are scripted."""

import copy
from typing import Any

import anyio
import pytest
from langchain_core.messages import AIMessage

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.errors import InvalidArgument, InvalidBody
from messagebody.frameworks import langchain, pydantic_ai
from messagebody.prompts import Draft, Reader, output_schema

SCHEMA = MessageBodySchema([("/report.md", "text/markdown", True), ("/notes/*", "text/*")])
CALLS = [
    ("list_parts", {"start": None}),
    ("read_part", {"part": "/lgo.txt", "offset": None, "limit": None}),
    ("read_part", {"part": "/log.txt", "offset": 4, "limit": None}),
    ("search_parts", {"text": "THREE", "part": None}),
]


@pytest.fixture
def reader() -> Reader:
    return Reader(MessageBody([Part("Why?"), Part("one two three", name="/log.txt")]))


def check(answers: list[str]) -> None:
    assert answers[0].splitlines() == ["0  text/plain  4 B", "1  /log.txt  text/plain  13 B"]
    assert "did you mean '/log.txt'?" in answers[1]
    assert answers[2] == "two three"
    assert answers[3] == "/log.txt, offset 8: one two three"


def test_a_reader_in_pydantic_ai(reader: Reader) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    answers: list[str] = []
    calls = iter(CALLS)

    def talk(messages: Any, info: Any) -> ModelResponse:
        assert [tool.name for tool in info.function_tools] == [*Reader.TOOLS]
        assert info.function_tools[1].parameters_json_schema["required"] == [
            "part", "offset", "limit",
        ]  # fmt: skip
        if len(messages) > 1:
            answers.append(messages[-1].parts[0].content)
        for name, arguments in calls:
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart("done")])

    agent: Any = Agent(FunctionModel(talk), toolsets=[pydantic_ai.toolset(reader)])
    assert anyio.run(agent.run, "Why?").output == "done"
    check(answers)


def test_a_reader_in_langchain(reader: Reader) -> None:
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    tools = langchain.tools(reader)
    graph = StateGraph(MessagesState).add_node("tools", ToolNode(tools)).add_edge(START, "tools")
    calls: Any = [
        {"name": name, "args": arguments, "id": str(number), "type": "tool_call"}
        for number, (name, arguments) in enumerate(CALLS)
    ]
    state = graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]})
    check([message.content for message in state["messages"][1:]])
    with pytest.raises(InvalidArgument, match="a Reader or a Draft"):
        langchain.tools(reader.functions)  # type: ignore[arg-type]


def test_a_reader_in_openai_agents(reader: Reader) -> None:
    """Their strict mode takes the schemas as they are."""
    from agents.strict_schema import ensure_strict_json_schema

    for tool in reader.openai_tools() + Draft(SCHEMA).openai_tools():
        parameters = tool["function"]["parameters"]
        assert ensure_strict_json_schema(copy.deepcopy(parameters)) == parameters


def test_a_draft_in_pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    draft = Draft(SCHEMA)
    calls = iter(
        [
            ("finish", {}),
            ("add_part", {"content": "x", "content_type": "text/html", "name": "/report.md"}),
            ("add_part", {"content": "# C", "content_type": "text/markdown", "name": "/report.md"}),
            ("finish", {}),
        ]
    )
    answers: list[str] = []

    def talk(messages: Any, info: Any) -> ModelResponse:
        if len(messages) > 1:
            answers.append(messages[-1].parts[0].content)
        for name, arguments in calls:
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart("done")])

    agent: Any = Agent(FunctionModel(talk), toolsets=[pydantic_ai.toolset(draft)])
    anyio.run(agent.run, draft.instructions())
    assert [answer.split(":")[0].split(";")[0] for answer in answers] == [
        "not finished", "not added", "added as number 0", "finished",
    ]  # fmt: skip
    assert SCHEMA.is_valid(draft.body)


def test_the_output_schema_is_taken_unchanged() -> None:
    from agents.strict_schema import ensure_strict_json_schema
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    schema = output_schema(SCHEMA).json_schema
    assert ensure_strict_json_schema(copy.deepcopy(schema)) == schema
    transformer = OpenAIJsonSchemaTransformer(copy.deepcopy(schema), strict=True)
    assert transformer.walk() == schema
    anthropic = pytest.importorskip("anthropic.lib._parse._transform")
    taken = anthropic.transform_schema(copy.deepcopy(schema))
    assert taken["properties"].keys() == schema["properties"].keys()


def test_structured_output_of_pydantic_ai() -> None:
    from pydantic_ai import Agent, ModelRetry, StructuredDict
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    output = output_schema(SCHEMA)
    note = {"name": "/other", "content_type": "text/plain", "content": "x"}
    good = {"report_md": {"content": "# Cats"}, "notes": []}
    answers = iter([{**good, "notes": [note]}, good])
    retries: list[str] = []

    def write(messages: Any, info: Any) -> ModelResponse:
        retries.append(str(messages[-1].parts[-1].content))
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, next(answers))])

    agent: Any = Agent(FunctionModel(write), output_type=StructuredDict(output.json_schema))

    @agent.output_validator
    def validate(value: dict[str, Any]) -> dict[str, Any]:
        try:
            output.decode(value)
        except InvalidBody as error:
            raise ModelRetry(error.statement) from error
        return value

    body = output.decode(anyio.run(agent.run, "Write a report.").output)
    assert body == MessageBody([Part("# Cats", name="/report.md", content_type="text/markdown")])
    assert "accepted by no schema part" in retries[1]
