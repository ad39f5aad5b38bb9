"""Stores over any fsspec filesystem, and what opens a store at all."""

from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Resolver
from messagebody._base.threads import Interrupted
from messagebody.errors import (
    AccessDenied,
    MissingDependency,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Bytes, Store, open_store
from tests.storage.test_directory import Breaking

KEY = "sha256/" + "a" * 64


@pytest.fixture(params=["memory://tests/a", "memory://", "local", "dir"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "local":
        filesystem: Any = LocalFileSystem(auto_mkdir=True)
        return open_store(f"local://{tmp_path}/s", filesystem=filesystem)
    if request.param == "dir":
        filesystem = DirFileSystem(str(tmp_path), LocalFileSystem(auto_mkdir=True))
        return open_store("mine://place", filesystem=filesystem)
    MemoryFileSystem.store.clear()
    return open_store(request.param)


def test_streams_of_one_object_have_places_of_their_own(store: Store) -> None:
    data = b"".join(b"%08d" % number for number in range(400_000))
    store.put(KEY, Bytes(data), content_type="a/b")
    first, second = store.stream(KEY), store.stream(KEY)
    begun = next(first)
    assert b"".join(second) == data
    assert begun + b"".join(first) == data


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_publishes_nothing(store: Store, error: BaseException) -> None:
    with pytest.raises((StoreError, KeyboardInterrupt)):
        store.put(KEY, Breaking(error), content_type="a/b")
    assert store.stat(KEY) is None


def test_errors_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("memory://tests/a")

    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(MemoryFileSystem, "cat_file", deny)
    with pytest.raises(AccessDenied):
        store.read_range(KEY, 0, 1)


def test_no_exception_of_a_client_crosses_the_border(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("memory://tests/a")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("lost https://example.com/?sig=s3cr3t")

    for name in ("pipe_file", "cat_file", "find", "rm_file"):
        monkeypatch.setattr(MemoryFileSystem, name, fail)
    for work in (
        lambda: store.put(KEY, Bytes(b"x"), content_type="a/b"),
        lambda: store.read_range(KEY, 0, 1),
        lambda: list(store.iter_objects()),
        lambda: store.delete(KEY),
    ):
        with pytest.raises(StoreError, match=r"lost https://example\.com/\?…") as caught:
            work()
        assert "s3cr3t" not in f"{caught.value} {caught.value.__cause__}"


def test_a_cancelled_write_stays_cancelled(store: Store) -> None:
    with pytest.raises(Interrupted):
        store.put(KEY, Breaking(Interrupted()), content_type="a/b")
    assert store.stat(KEY) is None


@pytest.mark.parametrize(
    "place",
    [
        "s3://key:secret@bucket/prefix", "s3://bucket/../x", "s3://bucket//x", "s3://bucket/x?y=1",
        "bucket/prefix", "", "s3://", "s3:///prefix", 3, None, "ftp2://x", "memory://a::file:///x",
        "gs://", "s3://buck et/x", "memory://tests/ü", "memory://tests/{a}", 'memory://tests/"',
        "memory://tests/a|b", "memory://tests/^", "memory://tests/%2e", "s3://bucket/ü",
        "memory://-tests", "memory://tests/a::b", "memory://tests/%", "memory://t/" + "x" * 9000,
    ],
)  # fmt: skip
def test_what_is_no_store(place: Any) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(place)
    assert "secret" not in str(caught.value)


@given(st.from_regex(r"(memory|s3)://[a-z0-9._-]{1,5}(/[!-~]{1,4}){0,3}", fullmatch=True))
def test_what_is_written_can_be_read(url: str) -> None:
    """A store that opens is one whose references a resolver accepts that allows the store."""
    try:
        store = open_store(url)
    except StoreError:
        return
    assert Resolver(allow=store).allows(store.url_of(KEY))


def test_a_store_is_its_own(store: Store) -> None:
    assert open_store(store) is store


@pytest.mark.parametrize(("url", "extra"), [("gs://bucket/x", "gcs"), ("abfs://c/x", "azure")])
def test_a_missing_filesystem_names_its_extra(
    url: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ImportError("no module")

    monkeypatch.setattr(fsspec, "filesystem", missing)
    with pytest.raises(MissingDependency, check=lambda error: error.extra == extra):
        open_store(url)


class _Dated(DirFileSystem):  # type: ignore[misc]
    """A filesystem that spells ages and types as Google's does."""

    protocol = "gcs"
    cachable = False

    def __init__(self, root: Path, dates: dict[str, Any]) -> None:
        super().__init__(str(root), LocalFileSystem(auto_mkdir=True))
        self.dates, self.types = dates, list[str]()

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        info = super().info(path, **kwargs)
        return {k: v for k, v in info.items() if k not in {"mtime", "created"}} | self.dates

    def open(self, path: str, mode: str = "rb", content_type: str = "", **kwargs: Any) -> Any:
        self.types.append(content_type)
        return super().open(path, mode, **kwargs)


@pytest.mark.parametrize(
    ("dates", "modified"),
    [({"mtime": 5}, 5.0), ({"updated": "1970-01-01T00:00:07+00:00"}, 7.0), ({"mtime": "x"}, None),
     ({}, None)],
)  # fmt: skip
def test_ages_and_types_as_other_services_spell_them(
    dates: dict[str, Any], modified: float | None, tmp_path: Path
) -> None:
    filesystem = _Dated(tmp_path, dates)
    store = open_store("gs://dated/x", filesystem=filesystem)
    store.put(KEY, Bytes(b"x"), content_type="image/png")
    found = store.stat(KEY)
    assert found is not None
    assert found.modified == modified
    assert filesystem.types == ["image/png"]
    assert store.url_of(KEY) == f"gs://dated/x/{KEY}"


@pytest.mark.parametrize(
    "url",
    [
        "zip://x", "dir://x/y", "webhdfs://h/x", "reference://x", "ftp://example.com/store",
        "github://example/store",
    ],
)  # fmt: skip
def test_a_filesystem_that_does_not_open(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="could not be opened") as caught:
        open_store(url)
    assert "filesystem=" in str(caught.value)
    with pytest.raises(UnsafeReference):
        Resolver(allow=url)
