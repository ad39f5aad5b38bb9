"""fsspec's own exam, taken by the S3 filesystem."""

from typing import Any

import pytest
from fsspec.tests import abstract

from messagebody.stores.s3 import S3FileSystem, S3Store


class _Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self, moto_store: S3Store) -> S3FileSystem:
        self.bucket = moto_store.bucket
        return moto_store.filesystem

    @pytest.fixture
    def fs_path(self, fs: S3FileSystem) -> str:
        return f"{self.bucket}/exam"

    @pytest.fixture
    def fs_join(self) -> Any:
        return lambda *parts: "/".join(parts)

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return False


@pytest.mark.slow  # a long tail, over HTTP
class TestCopy(abstract.AbstractCopyTests, _Fixtures):  # type: ignore[misc]
    pass


@pytest.mark.slow  # a long tail, over HTTP
class TestGet(abstract.AbstractGetTests, _Fixtures):  # type: ignore[misc]
    pass


@pytest.mark.slow  # a long tail, over HTTP
class TestPut(abstract.AbstractPutTests, _Fixtures):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, _Fixtures):  # type: ignore[misc]
    pass


class TestPipe(abstract.AbstractPipeTests, _Fixtures):  # type: ignore[misc]
    pass
