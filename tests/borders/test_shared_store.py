"""Several frameworks with one store: what one of them does not need any more is not another's."""

import operator
import os
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

import anyio
import pytest
from agents import SQLiteSession
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.messages import ModelRequest, UserPromptPart
from temporalio.api.common.v1 import Payload

from messagebody import MessageBody, Part, Resolver, offload, payloads, sweep
from messagebody.errors import StoreError
from messagebody.frameworks.langgraph import OffloadingSerializer, owner
from messagebody.frameworks.openai_agents import OffloadingSession
from messagebody.frameworks.pydantic_ai import OffloadingConversationStore
from messagebody.storage import Bodies, Needs, Owner
from tests.borders.conftest import temporal_driver

LONG = "Cats are cute. " * 10_000


class State(TypedDict):
    notes: Annotated[list[str], operator.add]


class Users:
    """One user of each framework, all with one store."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.saver = InMemorySaver(serde=OffloadingSerializer(store))
        node = lambda _: {"notes": ["ok"]}  # noqa: E731
        graph = StateGraph(State).add_node("n", node).add_edge(START, "n")
        self.graph = graph.compile(checkpointer=self.saver)
        self.thread: Any = {"configurable": {"thread_id": "1"}}
        self.graph.invoke({"notes": [LONG]}, self.thread)
        self.session = OffloadingSession(SQLiteSession("t"), store)
        self.conversations = OffloadingConversationStore(InMemoryConversationStore(), store)
        self.driver = temporal_driver(store)
        anyio.run(self._converse)
        self.small = payloads.offload({"text": LONG}, store)
        self.body = offload(MessageBody([Part(LONG * 3)]), store)

    async def _converse(self) -> None:
        await self.session.add_items([{"role": "user", "content": LONG}])
        question = ModelRequest(parts=[UserPromptPart([LONG])])
        await self.conversations.save(Conversation(messages=[question], conversation_id="1"))
        self.claims = await self.driver.store(None, [Payload(data=LONG.encode())])

    async def _recall(self) -> None:
        assert (await self.session.get_items())[0]["content"] == LONG
        again = await self.conversations.load("1")
        assert LONG in str(again)
        assert (await self.driver.retrieve(None, self.claims))[0].data == LONG.encode()

    def check_all(self) -> None:
        """Read what each of them keeps."""
        assert self.graph.get_state(self.thread).values["notes"][0] == LONG
        anyio.run(self._recall)
        assert payloads.inline(self.small, self.store) == {"text": LONG}
        assert self.body[0].read_text(Resolver(allow=self.store)) == LONG * 3

    async def owners(self) -> list[Owner]:
        """Return all of them, as owners of what they still need."""
        return [
            owner(self.saver),
            await self.session.owner(),
            await self.conversations.owner(),
            Needs("temporal", [claim.claim_data["digest"] for claim in self.claims]),
            payloads.owner(self.small),
            Bodies(self.body),
        ]


@pytest.fixture
def users(tmp_path: Path) -> Users:
    found = Users(tmp_path / "store")
    make_old(found.store)
    return found


def make_old(store: Path) -> None:
    old = time.time() - 10 * 86_400
    for file in store.rglob("*"):
        if file.is_file():
            os.utime(file, (old, old))


def test_a_sweep_needs_all_of_them(users: Users) -> None:
    owners = anyio.run(users.owners)
    assert sweep(users.store, owners, delete=True).objects == ()
    users.check_all()
    for missing in owners:
        others = [each for each in owners if each is not missing]
        with pytest.raises(StoreError, match=rf": {missing.name} \([^)]*\(.*; for one"):
            sweep(users.store, others, delete=True)
        users.check_all()


def test_what_one_does_not_need_any_more_goes(users: Users) -> None:
    other: Any = {"configurable": {"thread_id": "2"}}
    users.graph.invoke({"notes": ["birds " * 20_000]}, other)
    make_old(users.store)
    users.saver.delete_thread("2")
    users.graph.invoke({"notes": ["dogs " * 20_000]}, other)
    swept = sweep(users.store, anyio.run(users.owners), delete=True)
    assert [each.size for each in swept.objects] == [120_000]
    assert users.graph.get_state(other).values["notes"][0] == "dogs " * 20_000
    anyio.run(users._recall)
    assert payloads.inline(users.small, users.store) == {"text": LONG}
