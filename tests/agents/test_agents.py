"""Agents: what their members take, and what is refused at once."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from messagebody import Agent, MessageBodySchema, check
from messagebody.agents import Registry
from messagebody.errors import InvalidArgument, InvalidSchema

TEXT = MessageBodySchema([(None, "text/*", True)])
ADVICE = r"MessageBodySchema\(\[SchemaPart\(required=True, content_schema=Model\)\]\)"


@attrs.frozen
class Model:
    """What a part of JSON holds."""

    x: int = 1


def test_schemas_are_made_of_what_they_take() -> None:
    parts: Any = [(None, "text/*", True)]
    agent = Agent("a", parts, parts, parts, interrupts=parts)
    assert agent == Agent("a", TEXT, TEXT, TEXT, interrupts=TEXT)
    assert agent.exchanges["notification"].sends == TEXT
    with pytest.raises(InvalidSchema):
        Agent("a", ["text/*"], TEXT)


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("a", [Model, TEXT]),
        ("a", [TEXT, Model]),
        ("a", [TEXT, TEXT, Model]),
        ("a", [TEXT, TEXT, TEXT, Model]),
    ],
)
def test_a_model_leads_to_its_schema(name: str, members: list[Any]) -> None:
    with pytest.raises(InvalidArgument, match=ADVICE):
        Agent(name, *members)


@pytest.mark.parametrize(
    "call",
    [
        MessageBodySchema,
        lambda model: check(model, model),
        lambda model: check(TEXT, model),
    ],
)
def test_a_model_in_place_of_a_schema_leads_to_its_schema(call: Any) -> None:
    with pytest.raises(InvalidArgument, match=ADVICE):
        call(Model)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Agent("", TEXT, TEXT),
        lambda: Agent(3, TEXT, TEXT),  # type: ignore[arg-type]
        lambda: Agent("a", None, TEXT),
        lambda: Agent("a", "text/*", TEXT),
        lambda: Agent("a", TEXT, 5),
        lambda: Agent("a", TEXT, TEXT, exchanges=3),  # type: ignore[arg-type]
        lambda: Agent("a", TEXT, TEXT, findings=3),
        lambda: Agent("a", TEXT, TEXT, findings=("odd",)),
    ],
)
def test_other_members_are_refused_at_once(made: Any) -> None:
    with pytest.raises(InvalidArgument, match="expected "):
        made()


def test_agents_of_cards_are_strict_unless_they_are_said_to_be_lenient(tmp_path: Path) -> None:
    card = {"name": "a", "defaultInputModes": ["text/plain"], "defaultOutputModes": ["image/png"]}
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(json.dumps({**card, "name": name, "skills": []}))
    assert not Registry.from_cards(tmp_path).check("a", "b")
    assert Registry.from_cards(tmp_path, lenient=True).check("a", "b")
