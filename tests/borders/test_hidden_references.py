"""References in long contents of frameworks: a sweep of the shared store sees them."""

import os
import pickle
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

import anyio
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from messagebody import MessageBody, Part, Resolver, inline, offload, payloads, sweep
from messagebody.errors import DecodeError
from messagebody.frameworks.langgraph import OffloadingSerializer, aowner, owner
from messagebody.frameworks.openai_agents import OffloadingSession
from messagebody.frameworks.pydantic_ai import OffloadingConversationStore
from messagebody.storage import Bodies, Needs, Owner, Recent, Store, open_store
from tests.borders.conftest import temporal_driver
from tests.payloads.test_objects import Xor

LONG = "Cats sleep. " * 3_000
THREAD: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    found: Annotated[Any, lambda _, new: new]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


@pytest.fixture
def live(store: Store) -> MessageBody:
    """Return a message whose content is in the store, next to one that nobody needs."""
    offload(MessageBody([Part("dead " * 500)]), store, threshold=0)
    return offload(MessageBody([Part("live " * 500)]), store, threshold=0)


def check(store: Store, live: MessageBody, *owners: Owner) -> None:
    """Sweep everything that is not needed; what the live message needs has to stay."""
    place = Path(store.url.removeprefix("file://"))
    then = time.time() - 10 * 86_400
    for file in place.rglob("*"):
        if file.is_file():
            os.utime(file, (then, then))
    swept = sweep(store, [Bodies([]), *owners], delete=True, everything=["messages"])
    assert [each.size for each in swept.objects] == [2_500]
    assert inline(live, all=True, resolver=Resolver(allow=store))[0].text == "live " * 500


VALUES: dict[str, Any] = {
    "body": lambda body: body,
    "text": lambda body: body.to_json(),
    "long text": lambda body: body.to_json() + LONG,
    "long bytes": lambda body: body.to_json_bytes() + LONG.encode(),
    "human message": lambda body: HumanMessage(body.to_json() + LONG),
    "arguments": lambda body: AIMessage("", tool_calls=[
        {"name": "read", "args": {"body": body.to_json() + LONG}, "id": "1"}]),
    "artifact": lambda body: ToolMessage("ok", tool_call_id="1", artifact=body),
    "part of bytes": lambda body: MessageBody([Part(body.to_json_bytes() + LONG.encode())]),
    "part of text": lambda body: MessageBody([Part(body.to_json() + LONG)]),
    "small part of bytes": lambda body: MessageBody([Part(body.to_json_bytes())]),
    "payload": lambda body: {"x": [{"y": payloads.offload(body.to_json(), "memory://x")}]},
    "pickle": lambda body: pickle.dumps([body.to_json(), LONG]),
    "url": lambda body: {body[0].url: 1},
}  # fmt: skip


@pytest.mark.parametrize("cipher", [None, Xor()], ids=["", "encrypted"])
@pytest.mark.parametrize("name", VALUES)
def test_in_checkpoints(store: Store, live: MessageBody, name: str, cipher: Any) -> None:
    value = VALUES[name](live)
    with SqliteSaver.from_conn_string(":memory:") as saver:
        serializer = OffloadingSerializer(store, cipher=cipher)
        saver.serde = EncryptedSerializer(cipher, serializer) if cipher else serializer
        graph = StateGraph(State).add_node("n", lambda _: {"found": value}).add_edge(START, "n")
        graph.compile(checkpointer=saver).invoke({"found": LONG}, THREAD)
        check(store, live, owner(saver))


def test_in_a_cipher_that_is_missing(store: Store, live: MessageBody) -> None:
    """What can't be decrypted may mention anything."""
    saver = InMemorySaver(serde=OffloadingSerializer(store, cipher=Xor()))
    graph = StateGraph(State).add_node("n", lambda _: {"found": live.to_json() + LONG})
    graph.add_edge(START, "n").compile(checkpointer=saver).invoke({"found": ""}, THREAD)

    class Other(Xor):
        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            raise KeyError(ciphername)

    saver.serde = OffloadingSerializer(store, cipher=Other())
    with pytest.raises(DecodeError, match="can't be decrypted"):
        sweep(store, [Bodies([]), owner(saver)], delete=True, everything=["messages", "langgraph"])
    saver.serde = OffloadingSerializer(store)
    with pytest.raises(DecodeError, match="no cipher was given"):
        sweep(store, [Bodies([]), owner(saver)], delete=True, everything=["messages", "langgraph"])


def test_in_metadata_of_checkpoints(store: Store, live: MessageBody) -> None:
    """Savers keep it past the serializer."""
    with SqliteSaver.from_conn_string(":memory:") as saver:
        saver.serde = OffloadingSerializer(store)
        graph = StateGraph(State).add_node("n", lambda _: {"found": LONG}).add_edge(START, "n")
        config = {**THREAD, "metadata": {"answer": live[0].url}}
        graph.compile(checkpointer=saver).invoke({"found": LONG}, config)
        check(store, live, owner(saver), Needs("langgraph", []))


def test_of_an_asynchronous_saver(store: Store, live: MessageBody) -> None:
    saver = InMemorySaver(serde=OffloadingSerializer(store, cipher=Xor()))
    value = live.to_json() + LONG
    graph = StateGraph(State).add_node("n", lambda _: {"found": value}).add_edge(START, "n")
    graph.compile(checkpointer=saver).invoke({"found": LONG}, THREAD)
    check(store, live, anyio.run(aowner, saver))


def test_in_a_session_with_a_limit(store: Store, live: MessageBody) -> None:
    """The session shows the last item only; the owner needs all of them."""
    from agents import SQLiteSession
    from agents.memory import SessionSettings

    async def run() -> Owner:
        database = SQLiteSession("1", session_settings=SessionSettings(limit=1))
        session = OffloadingSession(database, store)
        await session.add_items([{"role": "user", "content": live.to_json() + LONG}])
        await session.add_items([{"role": "user", "content": LONG}])
        assert len(await session.get_items()) == 1
        found = await session.owner()
        database.close()
        return found

    check(store, live, anyio.run(run))


@pytest.mark.parametrize("name", ["body", "text", "long text", "small part of bytes", "url"])
def test_in_a_conversation(store: Store, live: MessageBody, name: str) -> None:
    from pydantic_ai.conversation import Conversation
    from pydantic_ai.conversation_store import InMemoryConversationStore
    from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart

    async def run() -> Owner:
        conversations = OffloadingConversationStore(InMemoryConversationStore(), store)
        returned = ToolReturnPart("read", {"found": VALUES[name](live)}, tool_call_id="1")
        messages = [ModelRequest(parts=[UserPromptPart([LONG])]), ModelRequest(parts=[returned])]
        await conversations.save(Conversation(messages=messages, conversation_id="1"))
        return await conversations.owner()

    check(store, live, anyio.run(run))


def test_in_payloads_of_temporal(store: Store, live: MessageBody) -> None:
    from temporalio.api.common.v1 import Payload

    driver = temporal_driver(store)
    payload = Payload(metadata={"encoding": b"json/plain"}, data=live.to_json_bytes())
    anyio.run(driver.store, None, [payload])
    check(store, live, Recent("temporal", 30 * 86_400))
