"""The extension of agent cards, and schemas on MCP tools: written, and read again."""

import json
from typing import Any

import pytest

from messagebody import Agent, Exchange, MessageBodySchema, SchemaPart
from messagebody.errors import InvalidArgument, InvalidCard

TEXT = MessageBodySchema([(None, "text/*", True)])
TYPED = MessageBodySchema([
    SchemaPart("/row.json", "application/json", required=True, content_schema={"type": "object"}),
])  # fmt: skip
PICTURE = MessageBodySchema([("/**/*.png", "image/png", True)])
MODES = {"name": "a", "defaultInputModes": ["text/csv"], "defaultOutputModes": ["text/csv"]}
AGENT = Agent("a", TEXT, TYPED, exchanges={"interrupt": Exchange(sends=TEXT, answers=PICTURE)})


def card(*entries: Any, skills: tuple[str, ...] = ()) -> dict[str, Any]:
    made = {**MODES, "skills": [{"id": each} for each in skills],
            "capabilities": {"extensions": [*entries]}}  # fmt: skip
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def test_what_is_written_is_read() -> None:
    other = {"uri": "https://example.com/ext/2", "params": {"input": 3}}
    for entries in ([AGENT.extension()], [other, AGENT.extension(required=True)]):
        assert Agent.from_card(card(*entries)) == AGENT
        assert Agent.from_dict(card(*entries)) == AGENT


def test_a_skill_has_its_own() -> None:
    painter = Agent("painter", TEXT, PICTURE)
    stated = card(AGENT.extension(skills={"paint": painter}), skills=("paint", "add"))
    assert Agent.from_card(stated, skill="paint").output == PICTURE
    assert Agent.from_card(stated, skill="add") == AGENT
    assert Agent.from_card(stated) == AGENT
    with pytest.raises(InvalidCard, match="no skill"):
        Agent.from_card(stated, skill="dance")


def test_modes_stand_for_what_is_left_out() -> None:
    entry = AGENT.extension()
    del entry["params"]["output"]
    read = Agent.from_card(card(entry))
    assert read.input == TEXT
    assert {part.content_type for part in read.output} == {"text/csv"}


@pytest.mark.parametrize(
    ("params", "where"),
    [
        (None, "/params"),
        ([], "/params"),
        ({"inputs": []}, "/params"),
        ({"input": 3}, "/params/input"),
        ({"output": [{"name": "x"}]}, "/params/output"),
        ({"exchanges": {"review": 3}}, "/params/exchanges"),
        ({"skills": []}, ""),
        ({"skills": {"a/b": {"input": 3}}}, "/params/skills/a~1b/input"),
    ],
)
def test_what_can_not_be_read(params: Any, where: str) -> None:
    if params == {"skills": []}:
        params, where = {"skills": [1]}, "/params/skills"
    with pytest.raises(InvalidCard) as caught:
        Agent.from_card(card({**AGENT.extension(), "params": params}))
    assert caught.value.where == f"/capabilities/extensions/0{where}"


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidArgument):
        AGENT.extension(required="yes")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        AGENT.extension(skills={"x": TEXT})  # type: ignore[dict-item]


class TestTools:
    KEY = "https://messagebody.readthedocs.io/mcp/schemas/1"
    TOOL: dict[str, Any] = {"name": "draw", "inputSchema": {"type": "object"}}  # noqa: RUF012

    @pytest.mark.parametrize("holder", ["_meta", "annotations"])
    def test_schemas_of_ours(self, holder: str) -> None:
        stated = {"output": PICTURE.to_dicts()}
        read = Agent.from_mcp_tool({**self.TOOL, holder: {self.KEY: stated}})
        assert read.output == PICTURE
        assert read.input == Agent.from_tool(self.TOOL).input

    def test_structured_results(self) -> None:
        tool = {**self.TOOL, "outputSchema": {"type": "object"}}
        assert Agent.from_mcp_tool(tool) == Agent.from_tool(tool)

    def test_what_can_not_be_read(self) -> None:
        with pytest.raises(InvalidCard) as caught:
            Agent.from_mcp_tool({**self.TOOL, "_meta": {self.KEY: 3}})
        assert caught.value.where.startswith("/_meta/https:~1~1")
