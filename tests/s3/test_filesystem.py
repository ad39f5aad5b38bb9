"""fsspec's own exam, taken by the S3 filesystem."""

from typing import Any

import pytest
from fsspec.tests import abstract

from messagebody.s3 import S3FileSystem, S3Store

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


def test_what_a_prefix_leaves_out(moto_store: S3Store) -> None:
    fs, root = moto_store.filesystem, f"{moto_store.bucket}/d"
    fs.pipe({f"{root}/{name}": b"" for name in ("a1", "a2/deep", "b")})
    assert fs.find(root, prefix="a") == [f"{root}/a1", f"{root}/a2/deep"]
    assert fs.find(root, prefix="a", maxdepth=1) == [f"{root}/a1"]
    assert [*fs.find(root, prefix="b", detail=True)] == [f"{root}/b"]
    assert fs.find(f"{root}/b", prefix="b") == []


def test_what_is_not_there_is_not_removed(moto_store: S3Store) -> None:
    fs, bucket = moto_store.filesystem, moto_store.bucket
    for recursive in (False, True):
        with pytest.raises(FileNotFoundError):
            fs.rm(f"{bucket}/none", recursive=recursive)


def test_the_mark_of_a_directory_is_removed_with_it(moto_store: S3Store) -> None:
    fs, bucket = moto_store.filesystem, moto_store.bucket
    for names in (["logs/", "logs/a"], ["logs/"]):
        for name in names:
            fs.client.put_object(Bucket=bucket, Key=name)
        fs.rm(f"{bucket}/logs", recursive=True)
        assert not fs.exists(f"{bucket}/logs")


def test_urls_are_paths(moto_store: S3Store) -> None:
    fs, url = moto_store.filesystem, f"s3://{moto_store.bucket}/x"
    fs.pipe_file(url, b"x")
    fs.cp_file(url, url + "2")
    assert (fs.cat_file(url), fs.cat_file(url + "2")) == (b"x", b"x")
    fs.rm_file(url)
    assert not fs.exists(url)
