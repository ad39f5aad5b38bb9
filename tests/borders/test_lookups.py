"""Servers and tools for models ask the network nothing about a body of foreign links."""

from types import SimpleNamespace

import anyio
import pytest

from messagebody import MessageBody, Part
from messagebody.errors import DecodeError
from messagebody.frameworks import langgraph
from messagebody.frameworks.mcp import _server, tool_result
from messagebody.payloads import Objects
from messagebody.storage import open_store
from tests.lookups.network import LINKS, TYPES, Network


@pytest.fixture
def foreign() -> MessageBody:
    return MessageBody(
        Part(url=url, content_type=kind, name=f"/{number}.{kind.partition('/')[2]}")
        for number, url in enumerate(LINKS)
        for kind in TYPES
    )


def test_an_mcp_server_asks_nothing(foreign: MessageBody, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    network.watch(monkeypatch)
    served = _server.Served({"": foreign}, None, 50_000, is_single=True)

    async def ask() -> None:
        await served.list_resources(None, None)
        calls = [("list_parts", {}), ("search_parts", {"text": "x"})]
        calls += [("read_part", {"part": name}) for name in foreign.names()]
        for name, arguments in calls:
            await served.call_tool(None, SimpleNamespace(name=name, arguments=arguments))

    anyio.run(ask)
    tool_result(foreign)
    assert network.asked == []


@pytest.mark.parametrize("digest", [None, 5, "5", "sha256:5", "../x"])
def test_a_checkpoint_names_no_other_objects(digest: object) -> None:
    token = langgraph._loading.set(Objects(open_store("memory://checkpoints")))
    try:
        with pytest.raises(DecodeError):
            langgraph.stored_body([{"name": "/a", "digest": digest}])
    finally:
        langgraph._loading.reset(token)
