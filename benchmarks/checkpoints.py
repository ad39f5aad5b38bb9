"""Checkpoints of thirty turns with pictures: LangGraph's savers as they are, and with a store.

`make bench ENV=borders` runs it where the savers are installed. The saver of DynamoDB has an
offload of its own, which puts checkpoints of more than 350 KiB into S3 as they are.
"""

import base64
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph_checkpoint_aws import DynamoDBSaver

from benchmarks.harness import machine, print_table, show_time
from messagebody.frameworks.langgraph import OffloadingSerializer
from messagebody.storage import open_store
from tests import servers

TURNS = 30
THREAD: Any = {"configurable": {"thread_id": "1"}}

# A saver, the bytes of its database, and the bytes in its store.
Opened = tuple[Any, Callable[[], int], Callable[[], int]]
OpenSaver = Callable[[Path, bool], AbstractContextManager[Opened]]


def main() -> None:
    """Print sizes and times by saver, plain and with a store."""
    packages = ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite",
                "langgraph-checkpoint-postgres", "langgraph-checkpoint-aws", "moto")  # fmt: skip
    print(machine(*packages))
    turns = [*_turns()]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, saver in _savers().items():
            own = "its own offload" if saver is _dynamodb else "plain"
            for called, is_ours in ((own, False), ("with a store", True)):
                at = Path(place) / f"{name}-{is_ours}"
                at.mkdir()
                rows.append([name, called, *_measured(saver, turns, at, is_ours=is_ours)])
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


def _measured(open_saver: OpenSaver, turns: list[Any], place: Path, *, is_ours: bool) -> list[str]:
    with open_saver(place, is_ours) as (saver, size, kept):
        answers = iter(each for _, each in turns)
        graph = StateGraph(MessagesState)
        graph.add_node("answer", lambda _: {"messages": next(answers)})
        graph.add_edge(START, "answer")
        application = graph.compile(checkpointer=saver)
        start = time.process_time()
        for question, _ in turns:
            application.invoke({"messages": [question]}, THREAD)
        written = time.process_time()
        history = [*application.get_state_history(THREAD)]
        read = time.process_time()
        assert len(history[0].values["messages"]) == TURNS * 2 + 10
        times = [show_time(written - start), show_time(read - written)]
        return [_megabytes(size()), _megabytes(kept()), *times]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.2f} MB" if size else "–"


def _savers() -> dict[str, OpenSaver]:
    found: dict[str, OpenSaver] = {
        "InMemory": _beside_a_directory(_memory),
        "SQLite": _beside_a_directory(_sqlite),
    }
    if servers.postgres_binaries():
        found["Postgres"] = _beside_a_directory(_postgres)
    return found | {"DynamoDB": _dynamodb}


def _beside_a_directory(open_saver: Callable[..., Any]) -> OpenSaver:
    """Return what opens a saver whose store, if it has ours, is a directory."""

    @contextmanager
    def opened(place: Path, is_ours: bool) -> Iterator[Opened]:
        store = open_store(place / "store")
        serde = OffloadingSerializer(store) if is_ours else None
        with open_saver(place, serde) as (saver, size):
            yield saver, size, lambda: sum(each.size for each in store.iter_objects())

    return opened


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


@contextmanager
def _dynamodb(_: Path, is_ours: bool) -> Iterator[Opened]:
    """Open the saver of DynamoDB with a bucket for its offload, or for ours; both are moto's."""
    with servers.moto() as server:
        session, endpoint = server.session(), server.endpoint
        tables = session.client("dynamodb", endpoint_url=endpoint)
        objects = session.client("s3", endpoint_url=endpoint)
        objects.create_bucket(Bucket="checkpoints")
        tables.create_table(
            TableName="checkpoints",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")
            ],
            KeySchema=[
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
        )
        own: Any = {"bucket_name": "checkpoints", "endpoint_url": endpoint}
        saver = DynamoDBSaver(
            "checkpoints", session=session, endpoint_url=endpoint,
            s3_offload_config=None if is_ours else own,
        )  # fmt: skip
        if is_ours:
            at = {"session": session, "endpoint_url": endpoint}
            saver.serializer.serde = OffloadingSerializer("s3://checkpoints", storage_options=at)

        def size() -> int:
            pages = tables.get_paginator("scan").paginate(TableName="checkpoints")
            return sum(_bytes_of(value) for page in pages for value in page["Items"])

        def kept() -> int:
            pages = objects.get_paginator("list_objects_v2").paginate(Bucket="checkpoints")
            return sum(each["Size"] for page in pages for each in page.get("Contents", ()))

        yield saver, size, kept


def _bytes_of(value: Any) -> int:
    """Return the bytes of an item's names and values, which DynamoDB counts."""
    if isinstance(value, dict):
        return sum(len(key) + _bytes_of(each) for key, each in value.items())
    if isinstance(value, list):
        return sum(map(_bytes_of, value))
    return len(value) if isinstance(value, bytes | str) else 1


if __name__ == "__main__":
    main()
