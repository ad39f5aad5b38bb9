import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from messagebody.storage import Store, open_store
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


@pytest.fixture(params=["file", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store of each kind."""
    if request.param == "s3":
        found: Store = request.getfixturevalue("moto_store")
        return found
    return open_store(
        tmp_path / "store" if request.param == "file" else f"memory://{tmp_path.name}"
    )
