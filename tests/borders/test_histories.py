"""Histories with contents in a store: sessions of OpenAI Agents, payloads of Temporal."""

import base64
import dataclasses
from pathlib import Path
from typing import Any

import anyio
import pytest

from messagebody import MessageBody, Part, offload
from messagebody.digests import sha256_of
from messagebody.errors import DecodeError, DigestMismatch, ObjectNotFound, StoreError
from messagebody.interop.openai_agents import OffloadingSession
from messagebody.interop.temporal import BodyStorageDriver
from messagebody.stores import Store, open_store

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
    sizes = sorted(each.size for each in store.iter_objects())
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


def test_bodies_pass_temporals_external_storage(store: Store) -> None:
    from temporalio.contrib.pydantic import pydantic_data_converter
    from temporalio.converter import ExternalStorage

    body = MessageBody([Part("note"), Part(PICTURE, name="/a.png", content_type="image/png")])
    storage = ExternalStorage(drivers=[BodyStorageDriver(store)], payload_size_threshold=1024)
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
    assert len([*store.iter_objects()]) == 2  # the payload once, and the part


def test_claims_that_fail(store: Store) -> None:
    from temporalio.api.common.v1 import Payload
    from temporalio.converter import StorageDriverClaim

    driver = BodyStorageDriver(store, name="ours")
    assert (driver.name(), driver.type()) == ("ours", "messagebody")

    async def run() -> None:
        [claim] = await driver.store(None, [Payload(data=b"x" * 99)])
        assert claim.claim_data.keys() == {"digest", "size"}
        lie = StorageDriverClaim({**claim.claim_data, "size": "3"})
        gone = StorageDriverClaim({"digest": sha256_of(b"gone"), "size": "4"})
        for wrong, error in [(lie, DigestMismatch), (gone, ObjectNotFound)]:
            with pytest.raises(error):
                await driver.retrieve(None, [wrong])
        for data in ({}, {"digest": "sha256:0", "size": "1"}, {**claim.claim_data, "size": "-1"}):
            with pytest.raises(DecodeError, match="no digest and size"):
                await driver.retrieve(None, [StorageDriverClaim(data)])

    anyio.run(run)
