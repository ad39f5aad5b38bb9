"""Fixtures of S3 servers (one a worker, one bucket a test), and of what is registered."""

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests import servers

if TYPE_CHECKING:  # the tests of the core run without it
    from messagebody.s3 import S3Store
    from messagebody.s3._client import Clients

_numbers = itertools.count()


@pytest.fixture(scope="session")
def moto_server() -> Iterator[servers.Server]:
    with servers.moto() as server:
        yield server


@pytest.fixture(scope="session")
def rclone_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.rclone(tmp_path_factory.mktemp("rclone")) as server:
        yield server


@pytest.fixture
def as_client(monkeypatch: pytest.MonkeyPatch) -> Callable[[servers.Server], None]:
    """Give this process a server's credentials, as users do: by the environment."""

    def become(server: servers.Server) -> None:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)

    return become


@pytest.fixture(scope="session")
def moto_clients(moto_server: servers.Server) -> "Clients":
    from messagebody.s3._client import Clients

    return Clients(session=moto_server.session(), endpoint_url=moto_server.endpoint)


@pytest.fixture(scope="session")
def rclone_clients(rclone_server: servers.Server) -> "Clients":
    from messagebody.s3._client import Clients

    return Clients(
        session=rclone_server.session(),
        endpoint_url=rclone_server.endpoint,
        addressing_style="path",
        response_checksum_validation="when_required",
    )


@pytest.fixture
def moto_store(moto_clients: "Clients") -> "S3Store":
    from messagebody.s3 import S3Store

    bucket = f"bucket-{next(_numbers)}"
    moto_clients.get().create_bucket(Bucket=bucket)
    return S3Store(moto_clients, bucket, "tenant")


@pytest.fixture
def rclone_store(rclone_clients: "Clients") -> "S3Store":
    from messagebody.s3 import S3Store

    bucket = f"bucket-{next(_numbers)}"
    rclone_clients.get().create_bucket(Bucket=bucket)
    return S3Store(rclone_clients, bucket, "tenant")


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let formats that a test registers go with it: what is registered stays for a process."""
    from messagebody.adapters import _registry
    from messagebody.adapters.streams import _assembler

    monkeypatch.setattr(_registry, "_adapters", {**_registry._adapters})
    monkeypatch.setattr(_assembler, "_streams", {**_assembler._streams})
