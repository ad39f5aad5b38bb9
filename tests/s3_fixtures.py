"""Fixtures over the servers: one server a worker, one bucket a test."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody.stores import open_store
from messagebody.stores.s3 import S3Store
from tests import servers

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


@pytest.fixture
def moto_store(moto_server: servers.Server, as_client: Any) -> S3Store:
    as_client(moto_server)
    bucket = f"bucket-{next(_numbers)}"
    store = open_store(f"s3://{bucket}/tenant", endpoint_url=moto_server.endpoint)
    assert isinstance(store, S3Store)
    store.filesystem.client.create_bucket(Bucket=bucket)
    return store


@pytest.fixture
def rclone_store(rclone_server: servers.Server, as_client: Any) -> S3Store:
    as_client(rclone_server)
    bucket = f"bucket-{next(_numbers)}"
    (rclone_server.directory or Path()).joinpath(bucket).mkdir()
    store = open_store(
        f"s3://{bucket}/tenant",
        endpoint_url=rclone_server.endpoint,
        addressing_style="path",
        response_checksum_validation="when_required",
    )
    assert isinstance(store, S3Store)
    return store
