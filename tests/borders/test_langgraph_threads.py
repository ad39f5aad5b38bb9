"""Threads of LangGraph to look at: messages and bodies in a database, and what is no database."""

import operator
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph, add_messages

from messagebody import MessageBody, Part
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument
from messagebody.frameworks.langgraph import OffloadingSerializer
from messagebody.frameworks.langgraph_threads import read_thread
from messagebody.samples import sample
from tests.commands import run

CALL = {"name": "look", "args": {"at": "cats"}, "id": "c1"}


class Chat(TypedDict):
    messages: Annotated[list[Any], add_messages]
    plan: list[str]


class Report(TypedDict):
    body: Annotated[MessageBody, operator.add]


def answer(state: Chat) -> Any:
    said = [
        AIMessage("I look.", tool_calls=[CALL]),
        ToolMessage("two cats", tool_call_id="c1"),
        AIMessage("Two cats."),
    ]
    return {"messages": said, "plan": ["look"]}


def draw(state: Report) -> Any:
    return {"body": MessageBody([Part(sample("chart.png"), name="/chart.png")])}


def save(
    file: Path, state: Any, node: Callable[[Any], Any], values: Any, *threads: str,
    serde: Any = None,
) -> Path:  # fmt: skip
    """Run a graph of one node with its states in a database."""
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        if serde is not None:
            saver.serde = serde
        graph = StateGraph(state).add_node(node).add_edge(START, node.__name__)
        compiled = graph.compile(checkpointer=saver)
        for thread in threads:
            compiled.invoke(values, {"configurable": {"thread_id": thread}})
    return file


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    values = {"messages": [HumanMessage("What is there?")]}
    return save(tmp_path / "c.sqlite", Chat, answer, values, "1")


def test_the_messages_of_the_last_state_are_a_run(chat: Path) -> None:
    found = read_thread(chat)
    assert found.format == "langchain"
    assert [each.role for each in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert found.answers() == {(1, 1): (2, 0)}


def test_bodies_are_messages_as_often_as_they_change(tmp_path: Path) -> None:
    store = tmp_path / "store"
    serde = OffloadingSerializer(store, threshold="1 KiB")
    values = {"body": MessageBody([Part("Draw.")])}
    file = save(tmp_path / "c.sqlite", Report, draw, values, "1", serde=serde)
    found = read_thread(file, store=store)
    assert [len(each.body) for each in found.messages] == [1, 2]
    picture = found.messages[1].body["/chart.png"]
    assert (picture.is_reference, picture.read_bytes()) == (True, sample("chart.png"))


def test_one_of_several_threads_is_named(tmp_path: Path) -> None:
    file = save(tmp_path / "c.sqlite", Chat, answer, {"messages": ["Hi"]}, "1", "2")
    assert len(read_thread(file, "2").messages) == 4
    with pytest.raises(InvalidArgument, match="one of the threads '1', '2' as thread_id"):
        read_thread(file)
    with pytest.raises(InvalidArgument, match="a thread of the database"):
        read_thread(file, "3")


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    class Plan(TypedDict):
        plan: list[str]

    def think(state: Plan) -> Any:
        return {"plan": ["look"]}

    file = save(tmp_path / "c.sqlite", Plan, think, {"plan": []}, "1")
    with pytest.raises(EnvelopeError, match="its channels: 'plan'"):
        read_thread(file)
    (tmp_path / "other.sqlite").write_bytes(b"SQLite format 3\0 and nothing more")
    with pytest.raises(DecodeError, match="is no database of checkpoints"):
        read_thread(tmp_path / "other.sqlite")
    with pytest.raises(DecodeError):
        read_thread(tmp_path / "missing.sqlite")
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_database_is_not_written(chat: Path) -> None:
    before = chat.read_bytes()
    read_thread(chat)
    assert chat.read_bytes() == before


def test_view_shows_a_thread(tmp_path: Path, chat: Path, capsys: Any) -> None:
    page = tmp_path / "a.html"
    assert run(["view", str(chat), "-o", str(page)]) == 0
    assert page.read_text("utf-8").count("<article") == 4
    assert run(["view", str(chat), "-o", str(page), "--thread", "7"]) == 2
    assert "a thread of the database" in capsys.readouterr().err
    store = tmp_path / "store"
    serde = OffloadingSerializer(store, threshold="1 KiB")
    values = {"body": MessageBody([Part("Draw.")])}
    file = save(tmp_path / "r.sqlite", Report, draw, values, "1", serde=serde)
    assert run(["view", str(file), "-o", str(page)]) == 0
    assert "data:image/png" not in page.read_text("utf-8")
    assert run(["view", str(file), "-o", str(page), "--store", str(store)]) == 0
    assert page.read_text("utf-8").count('src="data:image/png') == 1
