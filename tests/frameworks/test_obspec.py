"""A body as an object store, beside obstore's store in memory and under libraries that take any."""

import asyncio
import inspect
import io
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import obspec
import obstore.store
import pytest
from hypothesis import given
from hypothesis import strategies as st
from obspec import exceptions
from obspec_utils.glob import glob
from obspec_utils.readers import BlockStoreReader, BufferedStoreReader, EagerStoreReader
from obspec_utils.registry import ObjectStoreRegistry
from obspec_utils.wrappers import CachingReadableStore

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.errors import DigestMismatch
from messagebody.frameworks.obspec import BodyStore
from messagebody.storage import open_store

PROTOCOLS = [
    value
    for name, value in vars(obspec).items()
    if getattr(value, "_is_protocol", False) and not name.startswith(("GetResult", "_"))
]


@pytest.fixture
def body() -> MessageBody:
    return MessageBody(
        [
            Part("Hello!"),
            Part("0123456789", name="/data/digits.txt"),
            Part("a,b\n1,2\n", name="/data/deep/table.csv"),
            Part("{}", name="/top.json", content_type="application/json"),
        ]
    )


@pytest.fixture
def store(body: MessageBody) -> BodyStore:
    return BodyStore(body)


def as_typed(
    store: BodyStore,
) -> tuple[
    obspec.Copy, obspec.CopyAsync, obspec.Delete, obspec.DeleteAsync, obspec.Get, obspec.GetAsync,
    obspec.GetRange, obspec.GetRangeAsync, obspec.GetRanges, obspec.GetRangesAsync, obspec.Head,
    obspec.HeadAsync, obspec.List, obspec.ListAsync, obspec.ListWithDelimiter,
    obspec.ListWithDelimiterAsync, obspec.Put, obspec.PutAsync, obspec.Rename, obspec.RenameAsync,
]:  # fmt: skip
    """What mypy checks: a store is of every one of these types."""
    return (store,) * 20


def test_it_has_every_protocol(store: BodyStore) -> None:
    assert len(as_typed(store)) == len(PROTOCOLS)
    for protocol in PROTOCOLS:
        for name in (name for name in vars(protocol) if not name.startswith("_")):
            ours = inspect.signature(getattr(BodyStore, name)).parameters.values()
            theirs = inspect.signature(getattr(protocol, name)).parameters.values()
            assert [(p.name, p.kind) for p in ours] == [(p.name, p.kind) for p in theirs], name


# Beside a peer

KEYS = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a"])
RANGES = st.tuples(st.integers(0, 6), st.integers(0, 8))
STEPS = st.one_of(
    st.tuples(st.just("put"), KEYS, st.binary(max_size=5)),
    st.tuples(st.just("create"), KEYS, st.binary(max_size=5)),
    st.tuples(st.just("get"), KEYS),
    st.tuples(st.just("range"), KEYS, RANGES),
    st.tuples(st.just("offset"), KEYS, st.integers(0, 6)),
    st.tuples(st.just("suffix"), KEYS, st.integers(1, 6)),
    st.tuples(st.just("ranges"), KEYS, st.lists(RANGES, max_size=2)),
    st.tuples(st.just("head"), KEYS),
    st.tuples(st.just("list"), st.sampled_from([None, "d", "d/", "d/e", "x", "a"])),
    st.tuples(st.just("ls"), st.sampled_from([None, "d", "d/", "x"])),
    st.tuples(st.just("after"), KEYS),
    st.tuples(st.just("copy"), KEYS, KEYS, st.booleans()),
    st.tuples(st.just("rename"), KEYS, KEYS, st.booleans()),
)


def outcome(store: Any, step: Any) -> Any:
    """Return what a call returns, spelled the same for both; the name of its error if it fails."""
    try:
        return called(store, *step)
    except FileNotFoundError:
        return "NotFoundError"
    except Exception as error:  # noqa: BLE001 - theirs are of one class, whose name is compared
        return "AlreadyExistsError" if "Exists" in type(error).__name__ else "refused"


def called(store: Any, kind: str, *rest: Any) -> Any:
    match kind, *rest:
        case "put", key, data:
            store.put(key, data)
        case "create", key, data:
            store.put(key, data, mode="create")
        case "get", key:
            found = store.get(key)
            buffer = found.buffer() if isinstance(store, BodyStore) else found.bytes()
            return bytes(buffer), found.range, found.meta["size"]
        case "range", key, (start, end):
            return bytes(store.get_range(key, start=start, end=end))
        case (("offset" | "suffix"), key, number):
            found = store.get(key, options={"range": {kind: number}})
            return b"".join(map(bytes, found)), found.range
        case "ranges", key, ranges:
            starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
            return [*map(bytes, store.get_ranges(key, starts=starts, ends=ends))]
        case "head", key:
            return store.head(key)["path"], store.head(key)["size"]
        case "list", prefix:
            return sorted(meta["path"] for batch in store.list(prefix) for meta in batch)
        case "after", offset:
            return sorted(m["path"] for batch in store.list(offset=offset) for m in batch)
        case "ls", prefix:
            found = store.list_with_delimiter(prefix)
            prefixes = sorted(each.rstrip("/") for each in found["common_prefixes"])
            return prefixes, sorted((meta["path"], meta["size"]) for meta in found["objects"])
        case "copy", old, new, overwrite:
            store.copy(old, new, overwrite=overwrite)
        case "rename", old, new, overwrite:
            store.rename(old, new, overwrite=overwrite)
    return None


@given(st.lists(STEPS, max_size=12))
def test_same_as_a_store_of_obstore(steps: list[Any]) -> None:
    ours, theirs = BodyStore(MessageBody()), obstore.store.MemoryStore()
    for step in steps:
        assert outcome(ours, step) == outcome(theirs, step), step


# What only a body has


class TestConditions:
    def test_by_digest(self, store: BodyStore) -> None:
        tag = store.put("new.txt", b"one")["e_tag"]
        assert tag == store.head("new.txt")["e_tag"]
        with pytest.raises(exceptions.NotModifiedError):
            store.get("new.txt", options={"if_none_match": f'"x", {tag}'})
        assert store.get("new.txt", options={"if_match": "*"}).buffer() == b"one"
        assert store.put("new.txt", b"two", mode={"e_tag": tag})["e_tag"] != tag
        for mode in ({"e_tag": tag}, {"e_tag": None}):
            with pytest.raises(exceptions.PreconditionError):
                store.put("new.txt", b"three", mode=mode)  # type: ignore[arg-type]
        with pytest.raises(exceptions.PreconditionError):
            store.put("nothing.txt", b"three", mode={"e_tag": tag})
        with pytest.raises(exceptions.PreconditionError):
            store.get("new.txt", options={"if_match": str(tag)})
        assert store.get("new.txt").buffer() == b"two"

    @pytest.mark.parametrize("option", ["if_modified_since", "if_unmodified_since", "version"])
    def test_parts_have_no_times_and_versions(self, store: BodyStore, option: str) -> None:
        with pytest.raises(exceptions.NotSupportedError, match=option):
            store.get("top.json", options={option: "x"})  # type: ignore[arg-type]
        with pytest.raises(exceptions.NotSupportedError, match="version"):
            store.put("top.json", b"", mode={"version": "1"})


class TestContent:
    @pytest.mark.parametrize("kind", ["bytes", "view", "file", "path", "pieces"])
    def test_of_any_kind(self, store: BodyStore, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"meow")
        content: Any = {
            "bytes": b"meow", "view": memoryview(b"meow"), "file": io.BytesIO(b"meow"),
            "path": path, "pieces": iter([b"me", bytearray(b"ow")]),
        }[kind]  # fmt: skip
        store.put("cat.txt", content, attributes={"Content-Type": "text/x-cat"})
        result = store.get("cat.txt")
        assert (result.buffer(), result.attributes) == (b"meow", {"Content-Type": "text/x-cat"})
        with pytest.raises(exceptions.AlreadyExistsError):
            store.put("cat.txt", b"woof", mode="create")

    def test_what_parts_do_not_have_is_refused(self, store: BodyStore) -> None:
        with pytest.raises(exceptions.NotSupportedError, match="Cache-Control"):
            store.put("a", b"", attributes={"Cache-Control": "no-store"})
        with pytest.raises(exceptions.NotSupportedError, match="tags"):
            store.put("a", b"", tags={"a": "b"})
        with pytest.raises(FileNotFoundError, match="missing"):
            store.put("a", Path("missing"))
        with pytest.raises(exceptions.InvalidPathError, match="my file"):
            store.put("my file", b"")
        with pytest.raises(exceptions.InvalidPathError):
            store.put("top.json/below", b"")
        assert "/a" not in store.filesystem.body

    def test_removals_are_all_or_none(self, store: BodyStore, body: MessageBody) -> None:
        with pytest.raises(exceptions.NotFoundError, match="nothing"):
            store.delete(["top.json", "nothing"])
        assert "/top.json" in body
        store.delete(["top.json", "data/digits.txt"])
        assert body.names() == ["/data/deep/table.csv"]

    def test_read_only(self, body: MessageBody) -> None:
        store = BodyStore(body, read_only=True)
        with pytest.raises(exceptions.PermissionDeniedError, match="Read-only"):
            store.put("a", b"")
        copied = pickle.loads(pickle.dumps(store))
        with pytest.raises(exceptions.PermissionDeniedError):
            copied.delete("top.json")
        assert copied.get("top.json").buffer() == b"{}"
        assert store != copied
        assert BodyStore(body) != BodyStore(body)  # transactions and options are a store's own


class TestReferences:
    @pytest.fixture
    def remote(self, tmp_path: Path) -> tuple[BodyStore, Path]:
        place = tmp_path / "store"
        small = offload(MessageBody([Part(b"x" * 5000, name="/x")]), place, threshold=1)
        store = BodyStore(small, resolver=Resolver(allow=open_store(place)))
        return store, next(path for path in place.rglob("*") if path.is_file())

    def test_they_are_read_and_verified(self, remote: tuple[BodyStore, Path]) -> None:
        store, file = remote
        (meta,) = next(iter(store.list()))
        assert (meta["size"], meta["e_tag"]) == (5000, store.head("x")["e_tag"])
        assert store.get("x").buffer() == b"x" * 5000
        file.write_bytes(b"y" * 5000)
        with pytest.raises(DigestMismatch):
            store.get("x").buffer()
        with pytest.raises(DigestMismatch):
            b"".join(store.get("x"))
        file.unlink()
        with pytest.raises(exceptions.NotFoundError):
            store.get("x").buffer()

    def test_a_refused_one_is_no_empty_object(self) -> None:
        body = MessageBody()
        body.add(url="s3://somebody/x", name="/x")
        with pytest.raises(exceptions.PermissionDeniedError, match="no resolver allows"):
            [*BodyStore(body).list()]

    def test_large_content_is_written_through(self, tmp_path: Path) -> None:
        body = MessageBody()
        store = BodyStore(body, offload_to=tmp_path, threshold=10)
        store.put("big", iter([b"x" * 8] * 8))
        assert body["/big"].is_reference


async def pieces() -> AsyncIterator[bytes]:
    yield b"me"
    yield b"ow"


def test_asynchronous_twins_do_the_same(store: BodyStore, body: MessageBody) -> None:
    asyncio.run(use_asynchronously(store))
    assert body.names() == ["/data/digits.txt", "/data/deep/table.csv", "/c/2.txt", "/c/1.txt"]


async def use_asynchronously(store: BodyStore) -> None:
    await store.put_async("cat.txt", pieces())
    await store.put_async("dog.txt", b"woof", mode="create")
    found = await store.get_async("cat.txt")
    assert (await found.buffer_async(), [each async for each in found]) == (b"meow", [b"meow"])
    assert await store.get_range_async("cat.txt", start=1, length=2) == b"eo"
    assert await store.get_ranges_async("cat.txt", starts=[0, 2], lengths=[1, 9]) == [b"m", b"ow"]
    assert await store.head_async("cat.txt") == store.head("cat.txt")
    assert [batch async for batch in store.list_async("data")] == [*store.list("data")]
    assert await store.list_with_delimiter_async() == store.list_with_delimiter()
    await store.copy_async("cat.txt", "c/1.txt")
    await store.rename_async("dog.txt", "c/2.txt", overwrite=False)
    await store.delete_async(["cat.txt", "top.json"])


# Libraries that take any object store


class TestLibraries:
    @pytest.mark.parametrize("reader", [EagerStoreReader, BlockStoreReader, BufferedStoreReader])
    def test_file_objects(self, store: BodyStore, reader: Any) -> None:
        with reader(store, "data/digits.txt") as file:
            file.seek(2)
            assert (file.read(3), file.read()) == (b"234", b"56789")

    def test_globs(self, store: BodyStore) -> None:
        assert [*glob(store, "data/**/*.csv")] == ["data/deep/table.csv"]

    def test_caches(self, store: BodyStore) -> None:
        cached = CachingReadableStore(store)
        assert bytes(cached.get_range("data/digits.txt", start=0, end=2)) == b"01"
        store.put("data/digits.txt", b"abc")
        assert bytes(cached.get_range("data/digits.txt", start=0, end=2)) == b"01"

    def test_registries(self, store: BodyStore) -> None:
        registry = ObjectStoreRegistry({"messagebody://left": store})
        found, path = registry.resolve("messagebody://left/data/digits.txt")
        assert (found, str(path)) == (store, "data/digits.txt")
