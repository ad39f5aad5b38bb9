"""What a header of a large object costs, counted by the bytes that its server sends."""

from collections.abc import Iterator
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from tests import servers
from tests.faults.proxy import Exchange, Proxy

SIZE = 64 << 20


class CountingProxy(Proxy):
    """Passes everything on, and counts what comes back."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.sent = 0
        for operation in ("get", "head", "list"):
            self.spoil(operation, self._pass)

    def _pass(self, exchange: Exchange) -> None:
        answer = exchange.forward()
        self.sent += len(answer)
        exchange.send(answer)


@pytest.fixture
def proxy(rclone_server: servers.Server) -> Iterator[CountingProxy]:
    proxy = CountingProxy(int(rclone_server.endpoint.rpartition(":")[2]))
    yield proxy
    proxy.close()


@pytest.fixture
def fs(proxy: CountingProxy, rclone_server: servers.Server, rclone_store: S3Store) -> Any:
    assert rclone_server.directory is not None
    with (rclone_server.directory / rclone_store.bucket / "long.mp4").open("wb") as file:
        file.write(b"header" * 1000)
        file.truncate(SIZE)
    clients = Clients(
        session=rclone_server.session(),
        endpoint_url=proxy.endpoint,
        addressing_style="path",
        response_checksum_validation="when_required",
    )
    store = S3Store(clients, rclone_store.bucket, "")
    body = MessageBody([Part(url=store.url_of("long.mp4"), name="/long.mp4")])
    return body.filesystem(resolver=Resolver(allow=[store]))


def test_a_header_costs_less_than_a_mebibyte(fs: Any, proxy: CountingProxy) -> None:
    with fs.open("/long.mp4") as file:
        assert file.read(4096) == (b"header" * 1000)[:4096]
    assert 4096 < proxy.sent < 1 << 20


def test_a_range_costs_what_it_is(fs: Any, proxy: CountingProxy) -> None:
    assert fs.cat_file("/long.mp4", 0, 4096) == (b"header" * 1000)[:4096]
    assert fs.head("/long.mp4", 6) == b"header"
    assert 4096 < proxy.sent < 1 << 20


def test_a_size_costs_no_content(fs: Any, proxy: CountingProxy) -> None:
    assert fs.size("/long.mp4") == SIZE
    assert 0 < proxy.sent < 4096
