"""zarr's own tests of stores, from its release, over the filesystem of a body."""

import pickle
from typing import Any

import pytest
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from zarr.core.buffer import Buffer, cpu
from zarr.storage import FsspecStore
from zarr.testing.store import StoreTests

from messagebody import MessageBody


class TestFsspecStore(StoreTests[FsspecStore, cpu.Buffer]):
    """Every test of theirs; below are those that each store has to write, and one that differs."""

    store_cls = FsspecStore
    buffer_cls = cpu.Buffer

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        # One filesystem: what a test makes of it twice is equal.
        fs = AsyncFileSystemWrapper(MessageBody().fs, asynchronous=True)
        return {"fs": fs, "path": "/array"}

    async def set(self, store: FsspecStore, key: str, value: Buffer) -> None:
        store.fs.sync_fs.pipe_file(f"{store.path}/{key}", value.to_bytes())

    async def get(self, store: FsspecStore, key: str) -> Buffer:
        return self.buffer_cls.from_bytes(store.fs.sync_fs.cat_file(f"{store.path}/{key}"))

    def test_store_repr(self, store: FsspecStore) -> None:
        assert repr(store) == "<FsspecStore(AsyncFileSystemWrapper, /array)>"

    def test_store_supports_writes(self, store: FsspecStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: FsspecStore) -> None:
        assert store.supports_listing

    async def test_serializable_store(self, store: FsspecStore) -> None:
        """Theirs writes through the copy, which would be lost here: a copy is read-only."""
        await store.set("foo", self.buffer_cls.from_bytes(b"\1\2"))
        copy = pickle.loads(pickle.dumps(store))
        assert (await self.get(copy, "foo")).to_bytes() == b"\1\2"
        with pytest.raises(OSError, match="Read-only"):
            await copy.set("foo", self.buffer_cls.from_bytes(b"\3"))
