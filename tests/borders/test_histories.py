"""Histories with contents in a store: OpenAI Agents, pydantic-ai, Temporal."""

import base64
import dataclasses
from pathlib import Path
from typing import Any

import anyio
import pytest

from messagebody import MessageBody, Part, offload
from messagebody._base.digests import sha256_of
from messagebody.errors import (
    DigestMismatch,
    InvalidArgument,
    ObjectNotFound,
    StoreError,
)
from messagebody.frameworks.openai_agents import OffloadingSession
from messagebody.frameworks.pydantic_ai import OffloadingConversationStore
from messagebody.storage import Store, open_store
from tests.borders.conftest import temporal_driver

PICTURE = bytes(range(256)) * 400
URL = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
ITEMS: list[Any] = [
    {"role": "user", "content": [{"type": "input_image", "image_url": URL, "detail": "auto"}]},
    {"role": "user", "content": "x-messagebody:text;sha256=" + "0" * 64 + ";size=3;head="},
    {"type": "function_call_output", "call_id": "1", "output": "cats " * 20_000},
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def test_items_of_a_session_come_back_and_the_database_stays_small(
    store: Store, tmp_path: Path
) -> None:
    from agents import SQLiteSession

    async def run() -> None:
        database = SQLiteSession("1", tmp_path / "sessions.db")
        session = OffloadingSession(database, store)
        await session.add_items(ITEMS)
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS * 2
        assert await session.get_items(1) == ITEMS[-1:]
        assert len(str(await database.get_items())) < 2000
        assert await session.pop_item() == ITEMS[-1]
        await session.clear_session()
        assert (await session.pop_item(), await session.get_items()) == (None, [])
        database.close()

    anyio.run(run)
    sizes = sorted(each.size for each in store.below("owners/sessions/sha256").iter_objects())
    assert sizes == [100_000, len(PICTURE)]


def test_the_runner_uses_it(store: Store) -> None:
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    seen: list[Any] = []

    class Scripted(Model):
        async def get_response(self, *arguments: Any, **named: Any) -> ModelResponse:
            seen.append(named.get("input", arguments[1] if len(arguments) > 1 else None))
            text = ResponseOutputText(annotations=[], text="seen " * 9000, type="output_text")
            message = ResponseOutputMessage(
                id="1", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        def stream_response(self, *arguments: Any, **named: Any) -> Any:
            raise NotImplementedError

    async def run() -> None:
        database = SQLiteSession("1")
        session = OffloadingSession(database, store)
        agent = Agent(name="reader", model=Scripted())
        config = RunConfig(tracing_disabled=True)
        for _ in range(2):
            await Runner.run(agent, "Look. " * 9000, session=session, run_config=config)
        assert "seen seen" in str(seen[1])
        assert "Look. Look." in str(seen[1])
        assert "x-messagebody:" not in str(seen[1])
        assert len(str(await database.get_items())) < 3000
        database.close()

    anyio.run(run)


def test_a_store_that_is_down_adds_nothing(store: Store) -> None:
    from agents import SQLiteSession

    def fail(*_: Any, **__: Any) -> bool:
        raise StoreError("it is down", store.url)

    store.put = fail  # type: ignore[method-assign]

    async def run() -> None:
        database = SQLiteSession("1")
        with pytest.raises(StoreError, match="it is down"):
            await OffloadingSession(database, store).add_items(ITEMS)
        assert await database.get_items() == []
        database.close()

    anyio.run(run)


def conversation_messages() -> list[Any]:
    from pydantic_ai import BinaryContent
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    picture = BinaryContent(PICTURE, media_type="image/png", identifier="chart")
    tricky = BinaryContent(b"x-messagebody:base64;sha256=", media_type="text/plain")
    returned = {"rows": ["cats " * 20_000], "file": picture, "body": MessageBody([Part("note")])}
    return [
        ModelRequest(parts=[UserPromptPart(["What is this?", picture, tricky, URL])]),
        ModelResponse(parts=[TextPart("x-messagebody:text;"), ToolCallPart("read", {"n": 1}, "1")]),
        ModelRequest(parts=[ToolReturnPart("read", returned, tool_call_id="1")]),
        ModelResponse(parts=[TextPart("ä" * 9_000), TextPart("ok")]),
    ]


def test_conversations_of_pydantic_ai_come_back_and_stay_small(store: Store) -> None:
    from pydantic_ai.conversation import Conversation
    from pydantic_ai.conversation_store import InMemoryConversationStore
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages = conversation_messages()

    async def run() -> None:
        kept = InMemoryConversationStore()
        conversations = OffloadingConversationStore(kept, store)
        entries = await conversations.save(Conversation(messages=messages, conversation_id="1"))
        small = await kept.read_history(entries[-1].id)
        assert len(str([each.message for each in small])) < 5_000
        assert await conversations.read_entry(entries[0].id) == entries[0]
        loaded = await conversations.load("1")
        assert loaded is not None
        assert loaded.messages == messages
        assert loaded.messages[0].parts[0].content[1].identifier == "chart"
        dump = ModelMessagesTypeAdapter.dump_json
        assert dump(loaded.messages[:2]) == dump(messages[:2])
        # The same messages again are nothing new; a branch shares them.
        assert await conversations.save(loaded) == []
        fork = await conversations.fork("1", at=3, new_conversation_id="2")
        assert fork.messages == messages[:3]
        assert [each.conversation_id for each in await conversations.list_conversations()]
        await conversations.delete("1")
        assert await conversations.load("1") is None

    anyio.run(run)
    sizes = sorted(each.size for each in store.below("owners/conversations/sha256").iter_objects())
    assert sizes == [18_000, 100_000, len(PICTURE)]  # the picture once, as bytes and in base64


def test_conversations_whose_contents_fail(store: Store) -> None:
    from pydantic_ai.conversation import Conversation
    from pydantic_ai.conversation_store import InMemoryConversationStore

    def fail(*_: Any, **__: Any) -> bool:
        raise StoreError("it is down", store.url)

    async def run() -> None:
        kept = InMemoryConversationStore()
        conversations = OffloadingConversationStore(kept, store)
        await conversations.save(Conversation(messages=conversation_messages()[:1]))
        for each in [*store.iter_objects()]:
            store.delete(each.key)
        [record] = await conversations.read_records()
        with pytest.raises(ObjectNotFound):
            await OffloadingConversationStore(kept, store).load(record.conversation_id)
        store.put = fail  # type: ignore[method-assign]
        with pytest.raises(StoreError, match="it is down"):
            await conversations.save(Conversation(messages=conversation_messages()[2:]))
        assert len(await conversations.read_records()) == 1

    anyio.run(run)
    with pytest.raises(InvalidArgument, match="a ConversationStore"):
        OffloadingConversationStore({}, store)


def test_an_agent_continues_a_conversation(store: Store) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.conversation import Conversation
    from pydantic_ai.conversation_store import InMemoryConversationStore
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    seen: list[str] = []

    def answer(messages: Any, info: Any) -> ModelResponse:
        seen.append(str(messages))
        return ModelResponse(parts=[TextPart("seen " * 9_000)])

    async def run() -> None:
        conversations = OffloadingConversationStore(InMemoryConversationStore(), store)
        agent = Agent(FunctionModel(answer))
        for question in ("Look. " * 9_000, "Again."):
            known = await conversations.load("1") or Conversation(conversation_id="1")
            await conversations.save(await agent.run(question, conversation=known))

    anyio.run(run)
    assert "seen seen" in seen[1]
    assert "Look. Look." in seen[1]
    assert "x-messagebody:" not in seen[1]


def test_bodies_pass_temporals_external_storage(store: Store) -> None:
    from temporalio.contrib.pydantic import pydantic_data_converter
    from temporalio.converter import ExternalStorage

    body = MessageBody([Part("note"), Part(PICTURE, name="/a.png", content_type="image/png")])
    storage = ExternalStorage(drivers=[temporal_driver(store)], payload_size_threshold=1024)
    converter = dataclasses.replace(pydantic_data_converter, external_storage=storage)

    async def run() -> None:
        for _ in range(3):
            payloads = await converter.encode([body])
            assert sum(each.ByteSize() for each in payloads) < 1000
            [again] = await converter.decode(payloads, [MessageBody])
            assert again == body
        small = offload(body, store, threshold="1 KiB")
        [payload] = await converter.encode([small])
        [again] = await converter.decode([payload], [MessageBody])
        assert again == small

    anyio.run(run)
    assert len([*store.iter_objects()]) == 3  # the payload once, the part, and a record


def test_claims_that_fail(store: Store) -> None:
    from temporalio.api.common.v1 import Payload
    from temporalio.converter import StorageDriverClaim

    driver = temporal_driver(store)

    async def run() -> None:
        [claim] = await driver.store(None, [Payload(data=b"x" * 99)])
        assert claim.claim_data.keys() == {"digest", "size"}
        lie = StorageDriverClaim({**claim.claim_data, "size": "3"})
        gone = StorageDriverClaim({"digest": sha256_of(b"gone"), "size": "4"})
        for wrong, error in [(lie, DigestMismatch), (gone, ObjectNotFound)]:
            with pytest.raises(error):
                await driver.retrieve(None, [wrong])

    anyio.run(run)
