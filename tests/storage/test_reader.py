"""File objects over references: how much they ask for, what they verify, and where they stop."""

import hashlib
import io
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Part, Resolver
from messagebody.errors import DigestMismatch, LimitExceeded, UnsafeReference
from messagebody.storage import Blob, FetchLimits, ReferenceFile, Stat, Store

KIB, MIB = 1024, 1024 * 1024
_numbers = itertools.count()


class Recording(Store):
    """A store with one object, as long as it likes to be, that writes down what it is asked."""

    def __init__(self, content: bytes, *, endless: bool = False) -> None:
        self.url = f"memory://recording-{next(_numbers)}"
        self.content = content
        self.endless = endless
        self.asked: list[Any] = []

    def stat(self, key: str) -> Stat | None:
        self.asked.append("size")
        return Stat(key, len(self.content), None)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        raise NotImplementedError

    def read_range(self, key: str, start: int, end: int) -> bytes:
        self.asked.append((start, end))
        return bytes(end - start) if self.endless else self.content[start:end]

    def stream(self, key: str) -> Iterator[bytes]:
        self.asked.append("all")
        yield self.content
        while self.endless:
            yield bytes(MIB)

    def iter_objects(self) -> Iterator[Stat]:
        raise NotImplementedError

    def delete(self, key: str) -> None:
        raise NotImplementedError


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def part_of(store: Recording, promised: bytes | None = None, **changes: Any) -> Part:
    """Return a reference to the store's object that promises some content."""
    promised = store.content if promised is None else promised
    members: dict[str, Any] = {"size": len(promised), "digest": sha256(promised)} | changes
    return Part(url=store.url_of("x"), name="/x", content_type="a/b", **members)


def opened(store: Recording, promised: bytes | None = None, **changes: Any) -> ReferenceFile:
    part = part_of(store, promised, **changes)
    return cast("ReferenceFile", part.open(Resolver(allow=store)))


def to_the_end(reader: Any, length: int) -> None:
    while reader.read(length):
        pass


class TestRequests:
    @pytest.mark.dear
    def test_they_grow_while_reading_goes_on(self) -> None:
        store = Recording(os.urandom(100 * MIB))
        out = io.BytesIO()
        shutil.copyfileobj(opened(store), out, 64 * KIB)
        assert out.getvalue() == store.content
        assert len(store.asked) < 20
        assert max(end - start for start, end in store.asked) <= 8 * MIB

    def test_every_byte_is_asked_for_once_and_none_beyond_the_size(self) -> None:
        store = Recording(os.urandom(3 * MIB + 5))
        reader = opened(store)
        while reader.read(1000):
            pass
        assert [start for start, _ in store.asked] == [0, *[end for _, end in store.asked][:-1]]
        assert store.asked[-1][1] == len(store.content)

    def test_a_seek_falls_back_to_a_small_one(self) -> None:
        store = Recording(os.urandom(20 * MIB))
        reader = opened(store)
        reader.read(3 * MIB)
        store.asked.clear()
        for at in (15 * MIB, 9 * MIB, 12 * MIB):
            reader.seek(at)
            assert reader.read(10) == store.content[at : at + 10]
        assert [end - start for start, end in store.asked] == [256 * KIB] * 3

    def test_a_stated_size_is_never_asked(self) -> None:
        store = Recording(b"hello" * 1000)
        reader = opened(store)
        assert reader.seek(-5, io.SEEK_END) == 4995
        assert reader.read(100) == b"hello"
        assert reader.read(100) == b""
        assert store.asked == [(4995, 5000)]

    def test_an_unstated_size_is_asked_once(self) -> None:
        store = Recording(b"hello" * 1000)
        reader = opened(store, size=None, digest=None)
        for _ in range(3):
            assert reader.seek(0, io.SEEK_END) == 5000
        assert store.asked == ["size"]

    def test_reading_everything_is_one_request(self) -> None:
        store = Recording(os.urandom(9 * MIB))
        reader = opened(store)
        assert reader.read() == store.content
        assert store.asked == ["all"]
        assert reader.verified
        assert reader.read() == b""

    def test_raw_asks_for_what_is_read(self) -> None:
        store = Recording(b"hello" * 1000)
        raw = opened(store).raw
        raw.seek(3)
        assert raw.read(4) == b"lohe"
        assert store.asked == [(3, 7)]

    def test_a_reader_may_ask_more_often_than_a_body(self) -> None:
        store = Recording(bytes(2 * MIB))
        limits = FetchLimits(fetches=2)
        reader = part_of(store).open(Resolver(allow=store, limits=limits))
        for at in range(0, MIB, 1000):
            reader.seek(at)
        assert reader.read(1)


class TestVerification:
    @pytest.mark.parametrize("chunk", [1000, 64 * KIB, MIB])
    @pytest.mark.parametrize("size", [1, 5000, 256 * KIB, 256 * KIB + 1, 2 * MIB])
    def test_reading_in_order_raises_at_the_end_at_the_latest(self, size: int, chunk: int) -> None:
        promised = os.urandom(size)
        store = Recording(promised[:-1] + bytes([promised[-1] ^ 1]))
        reader = opened(store, promised)
        with pytest.raises(DigestMismatch, match="part '/x'"):
            to_the_end(reader, chunk)
        with pytest.raises(DigestMismatch):
            reader.read(chunk)
        assert not reader.verified

    @pytest.mark.parametrize("chunk", [1000, MIB])
    def test_what_is_right_is_verified_at_the_end(self, chunk: int) -> None:
        store = Recording(os.urandom(300 * KIB))
        reader = opened(store)
        reader.read(10)
        assert not reader.verified
        while reader.read(chunk):
            pass
        assert reader.verified

    def test_reading_again_is_not(self) -> None:
        store = Recording(os.urandom(MIB))
        reader = opened(store)
        while reader.read(1000):
            pass
        reader.seek(0)
        reader.read(1000)
        assert not reader.verified

    @pytest.mark.parametrize("size", [None, 5])
    def test_without_a_stated_size_too(self, size: int | None) -> None:
        reader = opened(Recording(b"EVIL!"), b"hello", size=size)
        with pytest.raises(DigestMismatch):
            list(iter(lambda: reader.read(2), b""))

    @pytest.mark.parametrize(
        "read", [ReferenceFile.read, list, lambda reader: shutil.copyfileobj(reader, io.BytesIO())]
    )
    def test_everything_at_once_is_verified_too(self, read: Callable[[ReferenceFile], Any]) -> None:
        with pytest.raises(DigestMismatch):
            read(opened(Recording(b"EVIL!"), b"hello"))

    @pytest.mark.parametrize("content", [b"hell", b"", b"hello, and more"])
    @pytest.mark.parametrize("digest", [None, sha256(b"hello")])
    def test_a_size_is_held_against_the_content(self, content: bytes, digest: str | None) -> None:
        for length in (-1, 2, 5, 100):
            reader = opened(Recording(content), b"hello", digest=digest)
            if digest and len(content) > 5 and length > 0:
                # No byte beyond the stated size is asked for: the digest is what is checked.
                assert b"".join(iter(lambda: reader.read(length), b"")) == b"hello"  # noqa: B023
                continue
            with pytest.raises(DigestMismatch):
                list(iter(lambda: reader.read(length), b""))  # noqa: B023

    @given(
        st.integers(0, 700 * KIB),
        st.lists(st.tuples(st.integers(0, 700 * KIB), st.integers(1, 300 * KIB)), max_size=6),
    )
    def test_reads_anywhere_are_those_of_a_file(
        self, size: int, reads: list[tuple[int, int]]
    ) -> None:
        content = bytes(range(256)) * (size // 256 + 1)
        store, file = Recording(content[:size]), io.BytesIO(content[:size])
        reader = opened(store)
        for at, length in reads:
            assert reader.seek(at) == file.seek(at)
            assert reader.read(length) == file.read(length)
        reader.seek(0)
        assert b"".join(iter(lambda: reader.read(50_000), b"")) == content[:size]


class TestLimits:
    def test_no_more_than_the_stated_size_is_taken(self) -> None:
        """A server that answers every range and never ends."""
        for length in (-1, 1000, 10**6):
            store = Recording(b"", endless=True)
            with pytest.raises(DigestMismatch):
                opened(store, b"hello", digest=None).read(length)
            with pytest.raises(DigestMismatch):
                opened(store, b"hello").read(length)
            assert max((ask[1] for ask in store.asked if ask[0] == 0), default=0) <= 6

    @pytest.mark.parametrize("length", [-1, 1000, 64 * KIB])
    def test_part_bytes_stop_a_reader(self, length: int) -> None:
        store = Recording(b"", endless=True)
        resolver = Resolver(allow=store, limits=FetchLimits(part_bytes=3 * MIB))
        reader = part_of(store, size=None, digest=None).open(resolver)
        with pytest.raises(LimitExceeded, match="part_bytes"):
            to_the_end(reader, length)
        assert reader.tell() <= 3 * MIB

    @pytest.mark.parametrize("promise", [{}, {"digest": None}, {"size": None, "digest": None}])
    @pytest.mark.parametrize("size", [KIB, 300 * KIB, 3 * MIB])
    def test_as_many_as_part_bytes_may_be_read(self, promise: dict[str, Any], size: int) -> None:
        store = Recording(os.urandom(size))
        resolver = Resolver(allow=store, limits=FetchLimits(part_bytes=size))
        reader = part_of(store, **promise).open(resolver)
        found = b"".join(iter(lambda: reader.read(100_000), b""))
        assert found == store.content
        assert all(end - start <= size for start, end in store.asked)

    @pytest.mark.parametrize("promise", [{"digest": None}, {"size": None, "digest": None}])
    def test_a_byte_more_than_part_bytes_is_refused_again_and_again(
        self, promise: dict[str, Any]
    ) -> None:
        store = Recording(os.urandom(KIB + 1))
        resolver = Resolver(allow=store, limits=FetchLimits(part_bytes=KIB))
        reader = part_of(store, **promise).open(resolver)
        for _ in range(3):  # an error must not turn into the end of the content
            with pytest.raises(LimitExceeded, match="part_bytes"):
                to_the_end(reader, 100)

    def test_no_byte_at_all_may_be_read(self) -> None:
        resolver = Resolver(allow=(store := Recording(b"x")), limits=FetchLimits(part_bytes=0))
        for promise in ({"digest": None}, {"size": None, "digest": None}):
            with pytest.raises(LimitExceeded, match="part_bytes"):
                part_of(store, **promise).open(resolver).read(1)

    def test_going_back_and_forth_counts_too(self) -> None:
        store = Recording(bytes(2 * MIB))
        resolver = Resolver(allow=store, limits=FetchLimits(part_bytes=3 * MIB))
        reader = part_of(store).open(resolver)

        def back_and_forth() -> None:
            for turn in range(100):
                reader.seek(turn % 2 * MIB)
                reader.read(1000)

        with pytest.raises(LimitExceeded, match="part_bytes"):
            back_and_forth()

    def test_a_closed_resolver_opens_nothing(self) -> None:
        with pytest.raises(UnsafeReference):
            part_of(Recording(b"hello")).open()
