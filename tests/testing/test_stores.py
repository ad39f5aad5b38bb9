"""The contract of stores holds for what ships."""

from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from messagebody.storage import Store, open_store
from messagebody.testing import StoreContract
from tests.servers import Server, free_port


class Failing(fsspec.AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A filesystem whose client raises errors of its own."""

    protocol = "failing"

    def _fail(self, *given: Any, **options: Any) -> Any:
        raise RuntimeError("the client failed")

    info = makedirs = open = cat_file = rm_file = _fail


class TestFileStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return open_store(tmp_path / "store")


class TestForeignFilesystem(StoreContract):
    """fsspec has no exclusive creation."""

    writes_once = False

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        filesystem = fsspec.filesystem("file")
        return open_store((tmp_path / "store").as_uri(), filesystem=filesystem)

    @pytest.fixture
    def failing_store(self) -> Store:
        return open_store("failing://bucket", filesystem=Failing())


class TestMemoryStore(StoreContract):
    writes_once = False

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return open_store(f"memory://{tmp_path.name}")


@pytest.mark.dear
class TestServer(StoreContract):
    """moto looks at `If-None-Match` first and writes then."""

    writes_once = False

    @pytest.fixture
    def store(self, moto_store: Store) -> Store:
        return moto_store

    @pytest.fixture
    def failing_store(self, moto_server: Server) -> Store:
        nowhere = f"http://127.0.0.1:{free_port()}"
        clients = Clients(session=moto_server.session(), endpoint_url=nowhere, attempts=1)
        return S3Store(clients, "bucket", "tenant")

    def content_type_of(self, store: Store, key: str) -> str:
        assert isinstance(store, S3Store)
        kept = store.client.head_object(Bucket=store.bucket, Key=store.prefix + key)
        return kept["ContentType"]

    @pytest.mark.dear
    def test_many_objects_are_listed(self, store: Store) -> None:
        super().test_many_objects_are_listed(store)


@pytest.mark.dear
class TestServerThatReplaces(StoreContract):
    """rclone ignores `If-None-Match`."""

    leaves_objects = False

    @pytest.fixture
    def store(self, rclone_store: Store) -> Store:
        return rclone_store

    @pytest.mark.dear
    def test_many_objects_are_listed(self, store: Store) -> None:
        super().test_many_objects_are_listed(store)

    @pytest.mark.dear
    def test_errors_are_of_the_toolkit(self, store: Store, failing_store: Store | None) -> None:
        super().test_errors_are_of_the_toolkit(store, failing_store)
