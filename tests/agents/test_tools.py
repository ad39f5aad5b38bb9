"""Tools as agents: of MCP, of services of models, and of frameworks."""

import json
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from pydantic import BaseModel, Field

from messagebody import SchemaPart, check
from messagebody.adapters import adapter
from messagebody.agents import Agent, Registry
from messagebody.errors import InvalidSchema
from tests.commands import run

TEXT: dict[str, Any] = {"type": "string"}


def of(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": [*members]}


SEARCH = {"name": "search", "inputSchema": of(query=TEXT), "outputSchema": of(urls={
    "type": "array", "items": TEXT, "minItems": 1,
})}  # fmt: skip
FETCH = {"name": "fetch", "inputSchema": of(urls={"type": "array", "items": TEXT}),
         "outputSchema": of(query=TEXT, pages={"type": "integer"})}  # fmt: skip
STRICT = {"name": "strict", "inputSchema": {**of(query=TEXT), "additionalProperties": False}}
TOOLS = {"tools": [SEARCH, FETCH, STRICT]}


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "search", "inputSchema": of(query=TEXT)},
        {"name": "search", "input_schema": of(query=TEXT)},
        {"type": "function", "function": {"name": "search", "parameters": of(query=TEXT)}},
        {"type": "function", "name": "search", "parameters": of(query=TEXT), "strict": True},
        {"name": "search", "parametersJsonSchema": of(query=TEXT)},
        {"name": "search", "parameters": {
            "type": "OBJECT", "properties": {"query": {"type": "STRING"}}, "required": ["query"],
        }},
    ],
    ids=["mcp", "anthropic", "openai chat", "openai responses", "gemini", "gemini openapi"],
)  # fmt: skip
def test_functions_of_services(tool: dict[str, Any]) -> None:
    expected = (SchemaPart(None, required=True, content_schema=of(query=TEXT)),)
    for agent in Agent.from_tool(tool), Agent.from_dict(tool):
        assert (agent.name, agent.input.parts) == ("search", expected)


class Arguments(BaseModel):
    query: str


class SdkTool(BaseModel):
    name: str
    input_schema: dict[str, Any] = Field(serialization_alias="inputSchema")


@pytest.mark.parametrize(
    "tool",
    [
        SdkTool(name="search", input_schema=Arguments.model_json_schema()),
        SimpleNamespace(name="search", tool_call_schema=Arguments),
        SimpleNamespace(tool_def=SimpleNamespace(
            name="search", parameters_json_schema=Arguments.model_json_schema(),
        )),
    ],
    ids=["a model of an SDK", "langchain", "pydantic-ai"],
)  # fmt: skip
def test_objects_of_libraries(tool: Any) -> None:
    assert (
        Agent.from_tool(tool).input
        == Agent.from_tool({"name": "search", "inputSchema": Arguments.model_json_schema()}).input
    )


@pytest.mark.parametrize(
    ("sent", "is_promised"), [(of(a=TEXT), True), (TEXT, False), (None, False)]
)
def test_a_result_of_pydantic_ai_is_json_only_if_it_is_an_object(
    sent: Any, is_promised: bool
) -> None:
    tool = SimpleNamespace(name="t", parameters_json_schema={}, return_schema=sent)
    [first, *_] = Agent.from_tool(tool).output
    assert first.required is is_promised
    assert (first.content_schema is not None) is is_promised


def test_words_of_openapi_are_read_and_members_of_their_names_are_kept() -> None:
    rule = {"type": "OBJECT", "properties": {
        "nullable": {"type": "STRING", "nullable": True}, "type": {"type": "NUMBER"},
    }}  # fmt: skip
    [part] = Agent.from_tool({"name": "t", "parameters": rule}).input
    assert part.content_schema is not None
    assert part.content_schema.value == {"type": "object", "properties": {
        "nullable": {"type": ["string", "null"]}, "type": {"type": "number"},
    }}  # fmt: skip


def test_the_output_is_what_a_result_becomes() -> None:
    agent = Agent.from_tool(SEARCH)
    result = {
        "content": [
            {"type": "text", "text": "Found one."},
            {"type": "image", "data": "", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "https://example.org/a", "name": "a"},
        ],
        "structuredContent": {"urls": ["https://example.org/a"]},
    }
    assert [*agent.output.iter_violations(adapter("mcp").to_body(result).value)] == []
    result["structuredContent"] = {"urls": []}
    assert not agent.output.is_valid(adapter("mcp").to_body(result).value)


def test_a_tool_feeds_those_whose_arguments_its_result_always_is(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    for document in TOOLS, {"jsonrpc": "2.0", "id": 1, "result": TOOLS}:
        path.write_text(json.dumps(document))
        registry = Registry.from_directory(path)
        # `fetch` sends a member that `strict` does not take.
        assert [*registry.pairs()] == [("search", "fetch"), ("fetch", "search")]
        assert [*registry.undecided()] == []


def test_lists_of_several_servers_feed_each_other(tmp_path: Path) -> None:
    """Agents of another kind beside them take what they say, and nothing else."""
    first, *others = TOOLS["tools"]
    (tmp_path / "one.json").write_text(json.dumps({"tools": [first]}))
    (tmp_path / "two.json").write_text(json.dumps({"tools": others}))
    assert ("search", "fetch") in Registry.from_directory(tmp_path).pairs()
    (tmp_path / "agent.json").write_text(json.dumps({"name": "other", "input": []}))
    assert ("search", "fetch") not in Registry.from_directory(tmp_path).pairs()
    assert ("search", "fetch") in Registry.from_directory(tmp_path, lenient=True).pairs()


def test_without_an_output_schema_nothing_is_promised() -> None:
    plain = Agent.from_tool({"name": "plain", "inputSchema": of(query=TEXT)})
    assert not check(plain.output, Agent.from_tool(SEARCH).input, lenient=True)


def test_the_command_line_reads_a_list_of_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    assert run(["registry", "pairs", str(path)]) == 0
    assert capsys.readouterr().out == "search → fetch\nfetch → search\n"


def test_a_tool_that_is_not_legal_is_left_out_with_its_place(tmp_path: Path) -> None:
    bad = {"name": "bad", "inputSchema": {"$ref": "https://example.org/schema"}}
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [SEARCH, bad]}))
    found = Registry.from_directory(tmp_path)
    assert [*found] == ["search"]
    [finding] = found.findings
    assert finding.place == "tools.json/tools/1"
    assert "leaves the document" in finding.problem
    wrong: list[Any] = [{"name": "", "inputSchema": {}}, {"inputSchema": {}}, 3]
    for tool in wrong:
        with pytest.raises(InvalidSchema):
            Agent.from_tool(tool)


def test_a_registry_keeps_all_digits_of_a_content_schema(tmp_path: Path) -> None:
    least = "0.1000000000000000000000000000001"
    (tmp_path / "a.json").write_text(
        f'{{"tools":[{{"name":"a","inputSchema":{{"minimum":{least}}},"outputSchema":true}}]}}'
    )
    [agent] = Registry.from_directory(tmp_path).values()
    Registry([agent]).to_directory(tmp_path / "kept")
    registry = Registry.from_directory(tmp_path / "kept")
    assert registry["a"] == agent
    content = registry["a"].input[0].content_schema
    assert content is not None
    assert content.value == {"minimum": Decimal(least)}
