"""Bodies in agent frameworks: as state, as tools' arguments and answers, as outputs, in prompts."""

import operator
from typing import Annotated, Any, TypedDict

import anyio
import pytest

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.storage import inline, offload
from tests.borders.conftest import Trip


@pytest.mark.border("pydantic-ai, output", "pydantic-ai-slim", write="output_type=MessageBody")
def test_pydantic_ai_output(trip: Trip) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def write(messages: Any, info: Any) -> ModelResponse:
        [tool] = info.output_tools
        arguments = {"response": trip.body.to_dicts()}
        assert arguments.keys() == tool.parameters_json_schema["properties"].keys()
        return ModelResponse(parts=[ToolCallPart(tool.name, arguments)])

    agent = Agent(FunctionModel(write), output_type=MessageBody)
    trip.came_back(anyio.run(agent.run, "Write a report.").output)


@pytest.mark.border(
    "pydantic-ai, output with a schema", "pydantic-ai-slim",
    write="output_type=Annotated[MessageBody, schema]",
)  # fmt: skip
def test_pydantic_ai_gate(trip: Trip, schema: MessageBodySchema) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    good = [{"name": "/report.md", "contentType": "text/markdown", "content": "Done."}]
    answers = iter([[{"content": "x" * 100_000}], good])
    retries: list[str] = []

    def write(messages: Any, info: Any) -> ModelResponse:
        retries.append(str(messages[-1].parts[-1].content))
        [tool] = info.output_tools
        return ModelResponse(parts=[ToolCallPart(tool.name, {"response": next(answers)})])

    agent = Agent(FunctionModel(write), output_type=Annotated[MessageBody, schema])
    assert anyio.run(agent.run, "Write a report.").output.to_dicts() == good
    # The model is asked again. pydantic-ai itself repeats the answer once, violations do not.
    assert "accepted by no schema part" in retries[1]
    assert len(retries[1]) < 101_000
    trip.arrived_as("equal")


@pytest.mark.border("pydantic-ai, tool", "pydantic-ai-slim")
def test_pydantic_ai_tool(trip: Trip) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    arrived: list[MessageBody] = []

    def talk(messages: Any, info: Any) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("echo", {"body": trip.body.to_dicts()})])
        arrived.append(messages[-1].parts[0].content)
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(talk))

    @agent.tool_plain
    def echo(body: MessageBody) -> MessageBody:
        return body

    anyio.run(agent.run, "Echo it.")
    trip.came_back(arrived[0])


@pytest.mark.border("pydantic-ai, prompt", "pydantic-ai-slim", write="str(body)")
def test_pydantic_ai_prompt(trip: Trip) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    body = trip.body
    messages = anyio.run(Agent(TestModel()).run, str(body)).all_messages()
    assert "Cats are *cute*." in messages[0].parts[0].content
    trip.arrived_as("text")


@pytest.mark.border("MCP SDK, tool", "mcp")
def test_mcp(trip: Trip) -> None:
    from mcp import Client
    from mcp.server.mcpserver import MCPServer
    from pydantic import BaseModel

    class Answer(BaseModel):
        body: MessageBody

    server = MCPServer("reports")

    @server.tool()
    def echo(body: MessageBody) -> Answer:
        return Answer(body=body)

    @server.tool()
    def bare(body: MessageBody) -> MessageBody:
        return body

    @server.tool()
    def accepts(first: Part, schema: MessageBodySchema) -> list[SchemaPart]:
        return [*schema]

    async def call() -> Any:
        async with Client(server) as client:
            arguments = {"first": {"content": "x"}, "schema": [{"name": "/*"}]}
            schema = (await client.call_tool("accepts", arguments)).structured_content
            assert MessageBodySchema.from_dicts(schema["result"]) == MessageBodySchema([("/*",)])
            arguments = {"body": trip.body.to_dicts()}
            return await client.call_tool("echo", arguments), await client.call_tool(
                "bare", arguments
            )

    answer, text = anyio.run(call)
    trip.came_back(MessageBody.from_dicts(answer.structured_content["body"]))
    # Without a model around it, the SDK sends the JSON of each part as text.
    assert text.structured_content is None
    assert "Cats are *cute*." in text.content[0].text


@pytest.mark.border("FastMCP, tool", "fastmcp")
def test_fastmcp(trip: Trip) -> None:
    from fastmcp import Client, FastMCP

    server = FastMCP("reports")

    @server.tool
    def echo(body: MessageBody) -> MessageBody:
        return body

    async def call() -> Any:
        async with Client(server) as client:
            return await client.call_tool("echo", {"body": trip.body.to_dicts()})

    answer = anyio.run(call)
    trip.came_back(MessageBody.from_dicts(answer.structured_content["result"]))


@pytest.mark.border("LangGraph, state", "langgraph")
def test_langgraph_state(trip: Trip) -> None:
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        body: Annotated[MessageBody, operator.add]

    graph = StateGraph(State)
    graph.add_node("write", lambda state: {"body": MessageBody([Part("done", name="/note.txt")])})
    graph.add_edge(START, "write")
    graph.add_edge("write", END)
    answer = graph.compile().invoke({"body": trip.body})["body"]
    assert answer[-1].text == "done"
    trip.came_back(answer.__class__(answer[:-1]))


@pytest.mark.border(
    "LangGraph, checkpoints", "langgraph-checkpoint-sqlite",
    write="offload(body, store) … body.to_dicts()",
)  # fmt: skip
def test_langgraph_checkpoints(trip: Trip) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    from messagebody.storage import Resolver, open_store

    class State(TypedDict):
        body: list[dict[str, Any]]

    store = open_store("memory://borders-langgraph")
    original = trip.body
    body = original.copy()
    del body["/sources/1"]
    image = bytes(1_000_000)
    body.add(image, name="/charts/big.png", content_type="image/png")
    whole = body.copy()

    seen = MessageBody([Part("seen")])

    def read(state: State) -> State:
        return {"body": (MessageBody.from_dicts(state["body"]) + seen).to_dicts()}

    graph = StateGraph(State)
    graph.add_node("read", read)
    graph.add_edge(START, "read")
    graph.add_edge("read", END)
    with SqliteSaver.from_conn_string(":memory:") as saver:
        application = graph.compile(checkpointer=saver)
        thread: Any = {"configurable": {"thread_id": "1"}}
        body = offload(body, store)
        application.invoke({"body": body.to_dicts()}, thread)
        state = application.get_state(thread).values["body"]
        [(size,)] = saver.conn.execute(
            "SELECT (SELECT sum(length(checkpoint)) FROM checkpoints)"
            " + (SELECT sum(length(value)) FROM writes)"
        )
    assert size < 20_000
    again = inline(MessageBody.from_dicts(state), resolver=Resolver(allow=store))
    assert again[:-1] == [*whole]
    trip.arrived_as("equal")


@pytest.mark.border("LangChain, message", "langchain-core", write="content=str(body)")
def test_langchain_message(trip: Trip) -> None:
    from langchain_core.messages import HumanMessage

    body = trip.body
    assert "Cats are *cute*." in HumanMessage(content=str(body)).text
    trip.arrived_as("text")


@pytest.mark.border(
    "LangChain, tool", "langchain-core",
    write='response_format="content_and_artifact" … return str(body), body',
)  # fmt: skip
def test_langchain_tool(trip: Trip) -> None:
    from langchain_core.tools import tool

    @tool(response_format="content_and_artifact")
    def echo(body: MessageBody) -> tuple[str, MessageBody]:
        """Return a report."""
        return str(body), body

    call = {"type": "tool_call", "id": "1", "name": "echo", "args": {"body": trip.body.to_dicts()}}
    message = echo.invoke(call)
    assert "Cats are *cute*." in message.content
    trip.came_back(message.artifact)


@pytest.mark.border("OpenAI Agents, tool", "openai-agents")
def test_openai_agents_tool(trip: Trip) -> None:
    from agents import function_tool
    from agents.tool_context import ToolContext

    @function_tool
    def echo(body: MessageBody) -> MessageBody:
        """Return a report."""
        return body

    context: Any = ToolContext(
        context=None, tool_name="echo", tool_call_id="1", tool_arguments="{}"
    )

    async def call() -> Any:
        import json

        return await echo.on_invoke_tool(context, json.dumps({"body": trip.body.to_dicts()}))

    answer = anyio.run(call)
    assert "Cats are *cute*." in str(answer)
    trip.came_back(answer)


@pytest.mark.border("OpenAI Agents, output", "openai-agents", write="output_type=MessageBody")
def test_openai_agents_output(trip: Trip) -> None:
    import json

    from agents import Agent, AgentOutputSchema

    agent = Agent(name="writer", output_type=MessageBody)
    schema = AgentOutputSchema(agent.output_type)
    assert schema.is_strict_json_schema()
    trip.came_back(schema.validate_json(json.dumps({"response": trip.body.to_dicts()})))


@pytest.mark.border("LlamaIndex, tool", "llama-index-core")
def test_llama_index_tool(trip: Trip) -> None:
    from llama_index.core.tools import FunctionTool

    def echo() -> MessageBody:
        """Return a report."""
        return trip.body

    answer = FunctionTool.from_defaults(echo).call()
    assert "Cats are *cute*." in answer.content
    trip.came_back(answer.raw_output)


@pytest.mark.border("LlamaIndex, message", "llama-index-core", write="content=str(body)")
def test_llama_index_message(trip: Trip) -> None:
    from llama_index.core.llms import ChatMessage

    body = trip.body
    assert "Cats are *cute*." in (ChatMessage(content=str(body)).content or "")
    trip.arrived_as("text")


@pytest.mark.border("agno, tool", "agno")
def test_agno_tool(trip: Trip) -> None:
    from agno.tools.function import Function, FunctionCall

    def echo(body: MessageBody) -> MessageBody:
        """Return a report."""
        return body

    function = Function.from_callable(echo)
    function.process_entrypoint()
    call = FunctionCall(function=function, arguments={"body": trip.body.to_dicts()})
    answer = call.execute()
    assert answer.status == "success"
    # What the model reads.
    assert "Cats are *cute*." in str(answer.result)
    trip.came_back(answer.result)


@pytest.mark.border("smolagents, tool", "smolagents")
def test_smolagents_tool(trip: Trip) -> None:
    from smolagents import tool

    @tool
    def echo(body: MessageBody) -> MessageBody:
        """Return a report.

        Args:
            body: The report.
        """
        return body

    assert echo.inputs.keys() == {"body"}
    trip.came_back(echo(body=trip.body))
