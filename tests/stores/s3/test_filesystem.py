"""fsspec's own exam, taken by the S3 filesystem."""

from typing import Any

import pytest
from fsspec.tests import abstract

from messagebody.stores.s3 import S3FileSystem, S3Store

MIB = 1024 * 1024


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


def test_the_parts_of_a_file_are_numbered_from_one(moto_store: S3Store) -> None:
    """As the service counts them, which a reader of single parts asks by number."""
    filesystem, numbers = moto_store.filesystem, list[int]()
    filesystem.client.meta.events.register(
        "before-parameter-build.s3.UploadPart",
        lambda params, **_: numbers.append(params["PartNumber"]),
    )
    with filesystem.open(f"{moto_store.bucket}/x", "wb", block_size=5 * MIB) as file:
        for _ in range(2):
            file.write(bytes(6 * MIB))
    assert numbers == [1, 2]
    assert filesystem.size(f"{moto_store.bucket}/x") == 12 * MIB
