"""The contract of stores holds for what ships."""

from pathlib import Path

import fsspec
import pytest

from messagebody.storage import Store, open_store
from messagebody.testing import StoreContract


class TestFileStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return open_store(tmp_path / "store")


class TestForeignFilesystem(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        filesystem = fsspec.filesystem("file")
        return open_store((tmp_path / "store").as_uri(), filesystem=filesystem)


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return open_store(f"memory://{tmp_path.name}")


class TestServer(StoreContract):
    @pytest.fixture
    def store(self, moto_store: Store) -> Store:
        return moto_store


class TestServerThatReplaces(StoreContract):
    """rclone ignores `If-None-Match`."""

    leaves_objects = False

    @pytest.fixture
    def store(self, rclone_store: Store) -> Store:
        return rclone_store
