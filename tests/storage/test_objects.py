"""Objects under their digest: kept once, renewed, found by digest, verified."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody._base.digests import key_of, sha256_of
from messagebody._model.content import Reference
from messagebody.errors import (
    DigestMismatch,
    DigestUnknown,
    InvalidArgument,
    ObjectNotFound,
    StoreError,
)
from messagebody.storage import Bytes, Stat, Store, open_store
from messagebody.storage._stores import fetch, keep
from messagebody.storage._stores.objects import GRACE
from tests.forks import ends_in_a_fork


class Counting(Store):
    """A store in memory that counts writes, and can be slow, old or down."""

    url = "memory://counting"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.asked = self.writes = 0
        self.is_down = False
        self.age = 0.0
        self.gate = threading.Event()
        self.gate.set()

    def stat(self, key: str) -> Stat | None:
        found = self.objects.get(key)
        return None if found is None else Stat(key, len(found), time.time() - self.age)

    def put(self, key: str, blob: Any, *, content_type: str, if_absent: bool = True) -> bool:
        self.asked += 1
        self.gate.wait(10)
        if self.is_down:
            raise StoreError("it is down", self.url, key)
        if if_absent and key in self.objects:
            return False
        self.writes += 1
        self.objects[key] = blob.read()
        return True

    def read_range(self, key: str, start: int, end: int) -> bytes:
        if key not in self.objects:
            raise ObjectNotFound(store=self.url, key=key)
        return self.objects[key][start:end]

    def stream(self, key: str) -> Iterator[bytes]:
        yield self.objects[key]

    def iter_objects(self) -> Iterator[Stat]:
        return (stat for key in self.objects if (stat := self.stat(key)) is not None)

    def delete(self, key: str) -> None:
        del self.objects[key]


@given(st.binary(max_size=300))
def test_what_is_kept_is_fetched(data: bytes) -> None:
    store = Counting()
    reference = keep(store, data, content_type="text/plain")
    assert reference == Reference(store.url_of(key_of(sha256_of(data))), len(data), sha256_of(data))
    assert fetch(store, reference) == data
    assert keep(store, memoryview(data)) == reference  # type: ignore[arg-type]
    assert store.writes == 1


def test_it_is_the_object_that_offload_writes(tmp_path: Path) -> None:
    from messagebody import MessageBody, offload

    body = MessageBody()
    body.add("cats " * 100, name="/a.txt")
    store = open_store(tmp_path)
    [part] = offload(body, store, threshold="64 B")
    assert keep(store, b"cats " * 100) == part.reference
    assert len([*store.iter_objects()]) == 1


def test_an_old_object_is_written_again() -> None:
    store = Counting()
    keep(store, b"x")
    store.age = GRACE / 2 + 60
    keep(store, b"x")
    assert store.writes == 2


def test_threads_wait_for_one_write() -> None:
    store = Counting()
    store.gate.clear()
    with ThreadPoolExecutor(8) as pool:
        kept = [pool.submit(keep, store, b"x" * 100) for _ in range(8)]
        store.gate.set()
        assert len({each.result() for each in kept}) == 1
    assert store.writes == 1


def test_threads_that_wait_hear_of_the_failure() -> None:
    store = Counting()
    store.is_down = True
    store.gate.clear()
    with ThreadPoolExecutor(4) as pool:
        kept = [pool.submit(keep, store, b"x") for _ in range(4)]
        store.gate.set()
        assert {type(each.exception()) for each in kept} == {StoreError}
    store.is_down = False
    assert fetch(store, keep(store, b"x")) == b"x"  # nothing of the failure is left


@pytest.mark.parametrize("spoilt", [b"", b"hell", b"hellO", b"hello!"])
def test_a_damaged_object_is_refused(spoilt: bytes) -> None:
    store = Counting()
    reference = keep(store, b"hello")
    store.objects[key_of(sha256_of(b"hello"))] = spoilt
    with pytest.raises(DigestMismatch):
        fetch(store, reference)


def test_a_store_that_is_read_back_is_verified(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    key = key_of(sha256_of(b"hello"))
    store.put(key, Bytes(b"hellO"), content_type="text/plain")
    assert fetch(store, keep(store, b"hello")) == b"hello"


def test_what_cannot_be_fetched() -> None:
    store = Counting()
    reference = keep(store, b"hello")
    for vague in (attrs.evolve(reference, size=None), attrs.evolve(reference, digest=None)):
        with pytest.raises(DigestUnknown):
            fetch(store, vague)
    store.delete(key_of(sha256_of(b"hello")))
    with pytest.raises(ObjectNotFound):
        fetch(store, reference)


def test_text_is_not_bytes() -> None:
    with pytest.raises(InvalidArgument, match="expected bytes, got a str; encode text first"):
        keep(Counting(), "hello")  # type: ignore[arg-type]


def test_a_fork_writes_what_another_thread_has_begun_to_write() -> None:
    store = Counting()
    store.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(keep, store, b"same")
        while not store.asked:
            time.sleep(0.001)

        def write() -> None:
            store.gate = threading.Event()
            store.gate.set()
            keep(store, b"same")
            assert store.writes == 1

        is_done = ends_in_a_fork(write)
        store.gate.set()
        assert begun.result().size == 4
    assert is_done
