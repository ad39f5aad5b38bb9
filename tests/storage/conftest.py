import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.network import PUBLIC, Authority, Network, WebServer


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.make(Path(tmp_path_factory.mktemp("authority")))


@pytest.fixture(scope="session")
def context(authority: Authority) -> ssl.SSLContext:
    return authority.server_context("example.com", "other.example.com", PUBLIC)


@pytest.fixture
def web(context: ssl.SSLContext) -> Iterator[WebServer]:
    server = WebServer(context)
    yield server
    server.close()


@pytest.fixture
def network(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> Network:
    """Names and connections as the table says: nothing leaves this machine."""
    network = Network(web.port)
    network.names = {"example.com": [PUBLIC], "other.example.com": [PUBLIC]}
    monkeypatch.setattr("socket.getaddrinfo", network.getaddrinfo)
    monkeypatch.setattr("socket.create_connection", network.create_connection)
    return network
