"""Checkpoints of thirty turns with pictures: LangGraph's own serializer and the one with a store.

It needs what `make test-borders` installs: run it with that environment's Python.
"""

import base64
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from benchmarks.harness import machine, print_table, show_time
from messagebody.interop.langgraph import OffloadingSerializer
from messagebody.stores import open_store
from tests import servers

TURNS = 30
THREAD: Any = {"configurable": {"thread_id": "1"}}


def main() -> None:
    """Print sizes and times by saver, plain and with a store."""
    print(machine("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite"))
    turns = [*_turns()]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, saver in _savers().items():
            plain = _measured(saver, None, turns, Path(place) / f"{name}-plain")
            ours = _measured(saver, Path(place) / f"{name}-store", turns, Path(place) / name)
            rows += [[name, "plain", *plain], ["", "with a store", *ours]]
    columns = ["saver", "serializer", "database", "store", "30 turns", "full history"]
    print_table("15 pictures of 400 KB and ten tool results of 60 KB", columns, rows)


def _turns() -> Iterator[tuple[HumanMessage, list[AnyMessage]]]:
    for number in range(TURNS):
        blocks: list[Any] = [{"type": "text", "text": f"Question {number}"}]
        if number % 2 == 0:
            picture = base64.b64encode(os.urandom(400_000)).decode()
            url = f"data:image/png;base64,{picture}"
            blocks.append({"type": "image_url", "image_url": {"url": url}})
        answers: list[AnyMessage] = []
        if number % 3 == 0:
            result = os.urandom(30_000).hex()
            answers.append(ToolMessage(result, tool_call_id=str(number)))
        answers.append(AIMessage("An answer. " * 90))
        yield HumanMessage(blocks), answers


def _measured(
    saver: Callable[..., Any], store: Path | None, turns: list[Any], place: Path
) -> list[str]:
    serde = None if store is None else OffloadingSerializer(store)
    place.mkdir()
    with saver(place, serde) as (opened, size):
        answers = iter(each for _, each in turns)
        graph = StateGraph(MessagesState)
        graph.add_node("answer", lambda _: {"messages": next(answers)})
        graph.add_edge(START, "answer")
        application = graph.compile(checkpointer=opened)
        start = time.perf_counter()
        for question, _ in turns:
            application.invoke({"messages": [question]}, THREAD)
        written = time.perf_counter()
        history = [*application.get_state_history(THREAD)]
        read = time.perf_counter()
        assert len(history[0].values["messages"]) == TURNS * 2 + 10
        kept = 0 if store is None else sum(each.size for each in open_store(store).iter_objects())
        times = [show_time(written - start), show_time(read - written)]
        return [_megabytes(size()), _megabytes(kept), *times]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.2f} MB" if size else "–"


def _savers() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {"InMemory": _memory, "SQLite": _sqlite}
    return found | ({"Postgres": _postgres} if servers.postgres_binaries() else {})


@contextmanager
def _memory(_: Path, serde: Any) -> Iterator[Any]:
    saver = InMemorySaver(serde=serde)

    def size() -> int:
        blobs = sum(len(data) for _, data in saver.blobs.values())
        checkpoints = sum(
            len(checkpoint[1])
            for namespaces in saver.storage.values()
            for saved in namespaces.values()
            for checkpoint, _, _ in saved.values()
        )
        writes = sum(len(w[2][1]) for of in saver.writes.values() for w in of.values())
        return blobs + checkpoints + writes

    yield saver, size


@contextmanager
def _sqlite(place: Path, serde: Any) -> Iterator[Any]:
    with SqliteSaver.from_conn_string(str(place / "checkpoints.db")) as saver:
        saver.serde = serde or saver.serde

        def size() -> int:
            # The journal holds pages twice until they are moved into the database.
            saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return (place / "checkpoints.db").stat().st_size

        yield saver, size


@contextmanager
def _postgres(_: Path, serde: Any) -> Iterator[Any]:
    from langgraph.checkpoint.postgres import PostgresSaver

    binaries = servers.postgres_binaries()
    assert binaries is not None
    with ExitStack() as stack:
        server = stack.enter_context(servers.postgres(binaries))
        saver = stack.enter_context(PostgresSaver.from_conn_string(server))
        saver.serde = serde or saver.serde
        saver.setup()

        def size() -> int:
            [row] = saver.conn.execute(
                "SELECT pg_total_relation_size('checkpoint_blobs') AS blobs,"
                " pg_total_relation_size('checkpoint_writes') AS writes,"
                " pg_total_relation_size('checkpoints') AS checkpoints"
            )
            return sum(row.values())

        yield saver, size


if __name__ == "__main__":
    main()
