"""Checkpoints of LangGraph with contents in a store: its own tests, savers, hostile databases."""

import base64
import contextlib
import dataclasses
import operator
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import anyio
import numpy as np
import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from messagebody import MessageBody, MessageBodyError, Part, inline, offload, sweep
from messagebody._base.digests import key_of, sha256_of
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    InvalidArgument,
    InvalidSize,
    LocalFileNotSent,
    ObjectNotFound,
    StoreError,
)
from messagebody.frameworks.langgraph import (
    TYPES,
    OffloadingSerializer,
    aowner,
    owner,
)
from messagebody.storage import Bytes, Owner, Store, open_store
from messagebody.storage._stores import keep
from tests import servers
from tests.borders.conftest import Trip
from tests.payloads.test_objects import Xor

UPSTREAM = Path(sys.prefix) / "upstream"
PICTURE = bytes(range(256)) * 200
URL = "data:image/png;base64," + base64.b64encode(PICTURE).decode()


@dataclasses.dataclass
class Plain:
    pass


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    binaries = servers.postgres_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (on Debian: apt-get install postgresql)")
    with servers.postgres(binaries) as place:
        yield place


# What LangGraph asks of a serializer


@pytest.mark.parametrize("threshold", ["1 KiB", "100 KB"])
@pytest.mark.parametrize("name", ["test_jsonplus", "test_memory", "test_encrypted"])
def test_its_own_tests_pass_with_ours_in_place(name: str, threshold: str) -> None:
    """But for those that ask what a pickle is called, if it is large: it lives in the store."""
    files = [*UPSTREAM.glob(f"langgraph_checkpoint-*/tests/{name}.py")]
    if not files:
        pytest.skip("make test ENV=borders fetches the source of langgraph-checkpoint")
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "upstream_langgraph",
        "-p", "no:cacheprovider", "-c", "/dev/null", "-o", "asyncio_mode=auto", str(files[0]),
    ]  # fmt: skip
    here = Path(__file__).parent
    path = f"{here}{os.pathsep}{here.parents[1]}"
    environment = {**os.environ, "PYTHONPATH": path, "THRESHOLD": threshold}
    done = subprocess.run(
        command, cwd=files[0].parents[1], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    named = re.findall(
        r"^E +AssertionError: assert 'messagebody-pickle' == 'pickle'$", done.stdout, re.MULTILINE
    )
    failed = re.findall("^(?:FAILED|ERROR) ", done.stdout, re.MULTILINE)
    assert len(failed) == len(named), done.stdout[-3000:]
    assert not named or threshold == "1 KiB"
    assert int((re.search(r"(\d+) passed", done.stdout) or [0, 0])[1]) >= 17


def conforms(saver: Callable[[OffloadingSerializer], Any], store: Store) -> int:
    """Run LangGraph's conformance tests on a saver with our serializer; return how many passed."""
    from langgraph.checkpoint.conformance import checkpointer_test, validate

    @checkpointer_test(name="ours")
    async def made() -> Any:
        async with saver(OffloadingSerializer(store, threshold="1 KiB")) as one:
            yield one

    report = anyio.run(validate, made)
    assert report.passed_all(), [each.failures for each in report.results.values()]
    return sum(each.tests_passed for each in report.results.values())


@contextlib.asynccontextmanager
async def memory_saver(serde: OffloadingSerializer) -> Any:
    yield InMemorySaver(serde=serde)


@contextlib.asynccontextmanager
async def sqlite_saver(serde: OffloadingSerializer) -> Any:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
        saver.serde = serde
        yield saver


def test_conformance_in_memory(store: Store) -> None:
    assert conforms(memory_saver, store) >= 58


def test_conformance_of_sqlite(store: Store) -> None:
    assert conforms(sqlite_saver, store) >= 58


def test_conformance_of_postgres(store: Store, postgres: str) -> None:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    @contextlib.asynccontextmanager
    async def postgres_saver(serde: OffloadingSerializer) -> Any:
        async with AsyncPostgresSaver.from_conn_string(postgres, serde=serde) as saver:
            await saver.setup()
            yield saver

    assert conforms(postgres_saver, store) >= 66


# Values

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False),
    st.text(max_size=2000), st.binary(max_size=2000), st.uuids(), st.datetimes(),
    st.integers(0, 3000).map(lambda count: "x" * count),
    st.binary(min_size=1024, max_size=1500).map(lambda d: f"data:image/png;base64,{d.hex()}"),
    st.integers(0, 400).map(np.arange),
    st.text(max_size=2000).map(lambda text: HumanMessage(text, id="1")),
)  # fmt: skip
states = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=5) | st.integers(0, 9), inner, max_size=4),
        st.lists(inner, max_size=3).map(
            lambda items: AIMessage("x", additional_kwargs={"a": items})
        ),
    ),
    max_leaves=10,
)


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and bool(np.array_equal(one, other))
    if isinstance(one, AIMessage):
        return same(one.additional_kwargs, other.additional_kwargs)
    return bool(one == other)


@given(states)
def test_every_value_comes_back_as_langgraphs_own_gives_it(value: Any) -> None:
    ours = OffloadingSerializer("memory://langgraph-values", threshold="1 KiB")
    plain = JsonPlusSerializer()
    expected = plain.loads_typed(plain.dumps_typed(value))
    assert same(ours.loads_typed(ours.dumps_typed(value)), expected)


@given(st.binary(max_size=3000) | st.binary(max_size=3000).map(bytearray))
def test_bytes_come_back(value: Any) -> None:
    ours = OffloadingSerializer("memory://langgraph-values", threshold="1 KiB")
    back = ours.loads_typed(ours.dumps_typed(value))
    assert (type(back), back) == (type(value), value)


def test_what_is_small_is_left_to_langgraph(store: Store) -> None:
    value = {"messages": [HumanMessage("hello " * 20) for _ in range(400)]}
    kind, data = OffloadingSerializer(store).dumps_typed(value)
    assert (kind, data) == JsonPlusSerializer().dumps_typed(value)
    assert len(data) > 16 * 1024
    assert [*store.iter_objects()] == []


numbers = st.lists(st.integers(-(2**63), 2**64 - 1) | st.floats(), min_size=200, max_size=600)
spoken = st.text("aáčřšž\u06af\u06ba", max_size=3000)
kept = st.builds(
    lambda text: offload(MessageBody([Part(text)]), "memory://langgraph-values/ours", threshold=0),
    spoken,
)


@given(states | st.lists(states | numbers | spoken | spoken.map(str.encode) | kept, max_size=6))
def test_a_first_look_changes_no_answer(value: Any) -> None:
    ours = OffloadingSerializer("memory://langgraph-values", threshold="1 KiB", owner="ours")
    thorough = OffloadingSerializer("memory://langgraph-values", threshold="1 KiB", owner="ours")
    thorough._may_change = lambda _, kind, data: kind == "msgpack" or len(data) > 1024  # type: ignore[method-assign, assignment]
    assert ours.dumps_typed(value) == thorough.dumps_typed(value)


@pytest.mark.parametrize(
    "value",
    [
        [HumanMessage("hello " * 20) for _ in range(400)],
        {f"k{i}": f"v{i}" for i in range(3_000)},
        [*range(100_000)],
        [i / 7 for i in range(100_000)],
        [{"id": i, "score": i / 7, "tags": ["a", "b"]} for i in range(1_000)],
        ["lorem ipsum " * 850] * 100,
        ["žluťoučký kůň " * 700] * 100,
    ],
)
def test_a_first_look_is_enough_where_nothing_is_large(
    value: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = "messagebody.frameworks.langgraph._ContentReplacer.packed"
    monkeypatch.setattr(walk, lambda *_: pytest.fail("walked"))
    ours = OffloadingSerializer(store)
    assert ours.dumps_typed({"a": value}) == JsonPlusSerializer().dumps_typed({"a": value})


def test_a_picture_is_stored_as_offload_would(store: Store) -> None:
    ours = OffloadingSerializer(store)
    block = {"type": "image_url", "image_url": {"url": URL}}
    kind, data = ours.dumps_typed({"messages": [HumanMessage([block])]})
    [found] = store.below("owners/langgraph/sha256").iter_objects()
    assert f"sha256/{found.key}" == key_of(sha256_of(PICTURE))
    assert len(data) < 1500
    assert ours.loads_typed((kind, data))["messages"][0].content == [block]
    with pytest.raises(NotImplementedError, match="messagebody-msgpack"):
        JsonPlusSerializer().loads_typed((kind, data))  # loud, where None would be silent


def test_contents_are_found_however_deep(store: Store) -> None:
    value: Any = "x" * 40_000
    for _ in range(40):
        value = HumanMessage("", additional_kwargs={"a": [value]})
    ours = OffloadingSerializer(store)
    kind, data = ours.dumps_typed(value)
    assert len(data) < 40_000
    plain = JsonPlusSerializer()
    expected = plain.loads_typed(plain.dumps_typed(value))
    assert ours.loads_typed((kind, data)).model_dump() == expected.model_dump()


# Bodies


def test_a_plain_serializer_takes_bodies_and_parts(trip: Trip) -> None:
    plain = JsonPlusSerializer()
    for part in trip.body:
        assert plain.loads_typed(plain.dumps_typed(part)) == part
    assert plain.loads_typed(plain.dumps_typed({"b": trip.body}))["b"] == trip.body


def test_a_local_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    part = Part(tmp_path / "a.txt")
    for value in (part, MessageBody([part])):
        with pytest.raises(LocalFileNotSent):
            value._asdict()
        with pytest.raises(TypeError):  # LangGraph drops what an encoder raises
            JsonPlusSerializer().dumps_typed(value)


class State(TypedDict):
    body: Annotated[MessageBody, operator.add]


def graph_of(state: Any, saver: Any, node: Callable[[Any], Any]) -> Any:
    graph = StateGraph(state)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile(checkpointer=saver)


THREAD: Any = {"configurable": {"thread_id": "1"}}


def test_a_body_comes_back_lazy_and_no_url_is_in_the_database(store: Store) -> None:
    chart = Part(PICTURE, name="/chart.png", content_type="image/png", metadata={"page": 1})
    note = Part("note", name="/note.txt").evolve(extra={"x-unknown": 1})
    answers = iter([MessageBody([note]), MessageBody([Part("more")])])
    with SqliteSaver.from_conn_string(":memory:") as saver:
        saver.serde = OffloadingSerializer(store)
        graph = graph_of(State, saver, lambda _: {"body": next(answers)})
        graph.invoke({"body": MessageBody([chart])}, THREAD)
        graph.invoke({"body": MessageBody([])}, THREAD)  # what is lazy is written again
        body = graph.get_state(THREAD).values["body"]
        rows = saver.conn.execute("SELECT checkpoint FROM checkpoints").fetchall()
        [chart_again, *rest] = body
        assert chart_again.is_reference
        assert chart_again.read_bytes() == PICTURE  # its resolver allows the store
        assert (chart_again.name, chart_again.metadata) == (chart.name, chart.metadata)
        assert rest == [note, Part("more")]
        assert inline(body) == MessageBody([chart, note, Part("more")])
        data = b"".join(row[0] for row in rows)
        assert len(data) < 20_000
        assert store.url.encode() not in data
        # sweep keeps what checkpoints need, and nothing else
        place = store.below("owners/langgraph")
        other = offload(MessageBody([Part("y" * 500)]), place, threshold="1 B")
        swept = sweep(store, owner(saver), grace=-60)
        assert [each.key for each in swept.objects] == [
            f"owners/langgraph/{key_of(other[0].digest or '')}"
        ]


def test_the_body_opens_this_store_only(store: Store, tmp_path: Path) -> None:
    ours = OffloadingSerializer(store)
    elsewhere = offload(MessageBody([Part("z" * 99)]), tmp_path / "other", threshold="1 B")
    body = ours.loads_typed(ours.dumps_typed(elsewhere + MessageBody([Part(PICTURE)])))
    assert body[1].read_bytes() == PICTURE
    with pytest.raises(MessageBodyError, match="which no resolver allows"):
        body[0].read_bytes()


def test_strict_mode_takes_our_types(store: Store) -> None:
    strict = OffloadingSerializer(store, allowed_msgpack_modules=None)
    value = {"large": MessageBody([Part(PICTURE)]), "text": "x" * 40_000, "other": Plain()}
    back = strict.loads_typed(strict.dumps_typed(value))
    assert (back["large"][0].read_bytes(), back["text"]) == (PICTURE, "x" * 40_000)
    assert back["other"] == {}  # what is not allowed stays data
    small = [MessageBody([Part("Why?")]), Part("Because.")]
    assert strict.loads_typed(strict.dumps_typed(small)) == small


@dataclasses.dataclass
class Holder:
    value: Any


def warned_of(serde: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> set[str]:
    """Return the types that LangGraph warns of while all are allowed."""
    # It warns of each once a process.
    monkeypatch.setattr(jsonplus, "_warned_unregistered_types", set())
    caplog.clear()
    for value in (MessageBody([Part("Why?")]), MessageBody([Part(PICTURE)]), Part("x"), PICTURE):
        serde.loads_typed(serde.dumps_typed({"value": Holder([value])}))
    return {str(record.args[1]) for record in caplog.records}


def test_no_warning_of_our_types(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert warned_of(OffloadingSerializer(store), monkeypatch, caplog) == {"Holder"}
    plain = warned_of(JsonPlusSerializer(), monkeypatch, caplog)
    assert plain == {"Holder", "MessageBody", "Part"}  # where it is true


# What goes wrong


@pytest.fixture
def stored(store: Store) -> tuple[str, bytes]:
    return OffloadingSerializer(store).dumps_typed(["cats " * 10_000, PICTURE, "kept"])


def test_content_that_is_gone_or_damaged(store: Store, stored: tuple[str, bytes]) -> None:
    contents = OffloadingSerializer(store).contents
    key = key_of(sha256_of(PICTURE))
    contents.delete(key)
    with pytest.raises(ObjectNotFound):
        OffloadingSerializer(store).loads_typed(stored)
    lenient = OffloadingSerializer(store, missing="placeholder")
    text, picture, kept = lenient.loads_typed(stored)
    assert (text, kept) == ("cats " * 10_000, "kept")
    assert picture.startswith(b"[messagebody: bytes sha256:")
    assert b" of 51,200 bytes is missing: " in picture
    contents.put(key, Bytes(b"spoilt"), content_type="image/png")
    with pytest.raises(DigestMismatch):
        OffloadingSerializer(store).loads_typed(stored)
    assert lenient.loads_typed(stored)[1].startswith(b"[messagebody: bytes sha256:")


def test_a_placeholder_is_saved_as_the_content_it_stands_for(store: Store) -> None:
    ours = OffloadingSerializer(store, missing="placeholder", cache=0)
    block = {"type": "image_url", "image_url": {"url": URL}}
    state = {"notes": ["cats " * 10_000, PICTURE], "messages": [HumanMessage([block])]}
    saved = ours.dumps_typed(state)
    there = [each.key for each in ours.contents.iter_objects()]
    contents = {key: b"".join(ours.contents.stream(key)) for key in there}
    for key in contents:
        ours.contents.delete(key)
    shown = ours.loads_typed(saved)
    assert all("is missing" in str(each) for each in shown["notes"])
    saved_again = ours.dumps_typed({**shown, "more": "x"})
    assert ours.dumps_typed([*shown["notes"], "x" * 3000])[0] == "messagebody-msgpack"
    for key, data in contents.items():
        ours.contents.put(key, Bytes(data), content_type="text/plain")
    back = OffloadingSerializer(store).loads_typed(saved_again)
    assert {**back, "more": "x"} == {**state, "more": "x"}
    # A text that only looks like one is a text, also to a serializer that made others.
    forged = shown["notes"][0].replace("cats", "dogs") + " "
    assert ours.loads_typed(ours.dumps_typed([forged])) == [forged]


def test_an_outage_is_never_saved(store: Store, stored: tuple[str, bytes]) -> None:
    lenient = OffloadingSerializer(store, missing="placeholder", cache=0)

    def fail(*_: Any) -> bytes:
        raise StoreError("503 slow down", store.url)

    store.read_range = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(StoreError, match="503"):
        lenient.loads_typed(stored)


def test_a_forged_checkpoint_calls_nothing(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "called"
    call = ormsgpack.packb(["os", "mkdir", str(target)])
    for tag in range(8):
        data = ormsgpack.packb(ormsgpack.Ext(tag, call))
        for kind in ("msgpack", "messagebody-msgpack"):
            with contextlib.suppress(MessageBodyError, ValueError, TypeError, KeyError):
                OffloadingSerializer(store).loads_typed((kind, data))
            assert not target.exists()


def test_own_classes_come_back_where_they_are_named(store: Store) -> None:
    name = (Plain.__module__, Plain.__name__)
    ours = OffloadingSerializer(store, allowed_msgpack_modules=[name])
    assert ours.loads_typed(ours.dumps_typed([Plain(), "x" * 20_000])) == [Plain(), "x" * 20_000]


def test_one_content_that_is_wanted_often(store: Store) -> None:
    ours = OffloadingSerializer(store, max_bytes="1 MiB", cache=0)
    saved = ours.dumps_typed(["x" * 100_000] * 60)
    assert len(saved[1]) < 10_000
    with pytest.raises(DecodeError, match="4,500,000 bytes together; max_bytes is 1,048,576"):
        ours.loads_typed(saved)


def test_mutated_checkpoints_raise_our_errors(store: Store, stored: tuple[str, bytes]) -> None:
    ours = OffloadingSerializer(store)
    kind, data = stored
    for place in range(len(data)):
        for value in (0, 0x7F, 0xC7, 0xD4, 0xD8, 0xFF):
            mutated = data[:place] + bytes([value]) + data[place + 1 :]
            with contextlib.suppress(MessageBodyError):
                ours.loads_typed((kind, mutated))


def test_a_store_that_is_down_leaves_the_state_unchanged(store: Store) -> None:
    with SqliteSaver.from_conn_string(":memory:") as saver:
        saver.serde = OffloadingSerializer(store)
        graph = graph_of(State, saver, lambda _: {"body": MessageBody([])})
        graph.invoke({"body": MessageBody([Part("first")])}, THREAD)

        def fail(*_: Any, **__: Any) -> bool:
            raise StoreError("it is down", store.url)

        store.put = fail  # type: ignore[method-assign]
        with pytest.raises(StoreError, match="it is down"):
            graph.invoke({"body": MessageBody([Part(PICTURE)])}, THREAD)
        assert graph.get_state(THREAD).values["body"] == MessageBody([Part("first")])


@pytest.mark.parametrize(
    "reference",
    [
        [], ["text"], ["text", "", 3, 4, ""], ["text", "", "sha256:00", -1, ""], ["body", {}],
        {"a": 1}, "text", ["zip", "", sha256_of(b"kept"), 4, ""],
    ],
)  # fmt: skip
def test_a_malformed_reference(reference: Any, store: Store) -> None:
    keep(store.below("owners/langgraph"), b"kept")
    data = ormsgpack.packb([ormsgpack.Ext(109, ormsgpack.packb(reference))])
    with pytest.raises(DecodeError):
        OffloadingSerializer(store).loads_typed(("messagebody-msgpack", data))


@given(st.binary(max_size=200))
def test_a_database_of_rubbish_raises_no_surprise(data: bytes) -> None:
    ours = OffloadingSerializer("memory://langgraph-rubbish")
    with contextlib.suppress(MessageBodyError, ValueError):
        ours.loads_typed(("messagebody-msgpack", data))


def test_bad_arguments(store: Store) -> None:
    for threshold in (0, 1023, -1):
        with pytest.raises(InvalidSize):
            OffloadingSerializer(store, threshold=threshold)
    with pytest.raises(ValueError, match="'raise' or 'placeholder'"):
        OffloadingSerializer(store, missing="skip")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="with an OffloadingSerializer"):
        owner(InMemorySaver())


# Encryption, and the asynchronous savers


def test_with_a_cipher_neither_place_can_be_read(store: Store) -> None:
    cipher = Xor()
    secret = "secret " * 5000
    with SqliteSaver.from_conn_string(":memory:") as saver:
        saver.serde = EncryptedSerializer(cipher, OffloadingSerializer(store, cipher=cipher))
        graph = graph_of(State, saver, lambda _: {"body": MessageBody([])})
        graph.invoke({"body": MessageBody([Part(secret)])}, THREAD)
        assert graph.get_state(THREAD).values["body"] == MessageBody([Part(secret)])
        assert sweep(store, owner(saver), grace=-60).objects == ()
    objects = [store.read_range(each.key, 0, 10**6) for each in store.iter_objects()]
    assert objects
    assert not any(b"secret" in each for each in objects)


def test_the_owner_of_an_asynchronous_saver(store: Store) -> None:
    async def run() -> Owner:
        async with sqlite_saver(OffloadingSerializer(store)) as saver:
            graph = graph_of(State, saver, lambda _: {"body": MessageBody([])})
            await graph.ainvoke({"body": MessageBody([Part(PICTURE)])}, THREAD)
            return await aowner(saver)

    found = anyio.run(run)
    assert (found.name, {*found.needed()}) == ("langgraph", {sha256_of(PICTURE)})


def test_the_owner_of_postgres(store: Store, postgres: str) -> None:
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(postgres) as saver:
        saver.serde = OffloadingSerializer(store)
        saver.setup()
        graph = graph_of(State, saver, lambda _: {"body": MessageBody([])})
        graph.invoke({"body": MessageBody([Part(PICTURE)])}, THREAD)
        assert graph.get_state(THREAD).values["body"][0].read_bytes() == PICTURE
        assert sweep(store, owner(saver), grace=-60).objects == ()


def test_langgraphs_own_serializer_takes_our_types(caplog: pytest.LogCaptureFixture) -> None:
    plain = JsonPlusSerializer(allowed_msgpack_modules=TYPES)
    body = MessageBody([Part("Hi", name="/a"), Part(b"\x89PNG", content_type="image/png")])
    back = plain.loads_typed(plain.dumps_typed({"body": body, "part": body[0]}))
    assert back == {"body": body, "part": body[0]}
    assert type(back["body"]) is MessageBody
    assert caplog.records == []
