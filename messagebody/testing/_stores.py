"""The contract of a store, as tests to inherit."""

import abc
from typing import ClassVar

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, verify
from messagebody.errors import ObjectNotFound
from messagebody.storage._stores import Bytes, Store


class StoreContract(abc.ABC):
    """Inherit this and give it a fixture `store`: an empty `Store`."""

    leaves_objects: ClassVar[bool] = True
    """Whether `put` never replaces an object. Set it to False for a server that ignores
    `If-None-Match`, such as rclone. This is safe: keys are digests, so the contents are equal."""

    @pytest.fixture
    @abc.abstractmethod
    def store(self) -> Store:
        """Return an empty store."""

    def test_what_was_put_comes_back(self, store: Store) -> None:
        """Every byte comes back, also of an empty object."""
        for key, data in (("sha256/" + "0" * 64, b""), ("sha256/" + "1" * 64, bytes(range(256)))):
            store.put(key, Bytes(data), content_type="text/plain")
            assert b"".join(store.stream(key)) == data

    def test_a_missing_object_has_no_stat(self, store: Store) -> None:
        """`stat` returns None, not an error, because offloading calls it before it sends."""
        assert store.stat("sha256/" + "2" * 64) is None

    def test_a_missing_object_can_not_be_read(self, store: Store) -> None:
        """Reading a missing object, whole or a range, raises `ObjectNotFound`."""
        with pytest.raises(ObjectNotFound):
            list(store.stream("sha256/" + "2" * 64))
        with pytest.raises(ObjectNotFound):
            store.read_range("sha256/" + "2" * 64, 0, 1)

    def test_a_range(self, store: Store) -> None:
        """A range ends before `end`, or at the end of the object."""
        key = "sha256/" + "4" * 64
        store.put(key, Bytes(b"0123456789"), content_type="text/plain")
        assert store.read_range(key, 2, 5) == b"234"
        assert store.read_range(key, 8, 50) == b"89"

    def test_what_is_there_is_left_alone(self, store: Store) -> None:
        """Put-if-absent returns False and keeps the old object."""
        key = "sha256/" + "5" * 64
        assert store.put(key, Bytes(b"first"), content_type="text/plain")
        if self.leaves_objects:
            assert not store.put(key, Bytes(b"other"), content_type="text/plain")
        else:
            store.put(key, Bytes(b"first"), content_type="text/plain")
        assert b"".join(store.stream(key)) == b"first"

    def test_stat_and_list(self, store: Store) -> None:
        """Sizes are exact and listings complete."""
        keys = ["sha256/" + str(digit) * 64 for digit in range(5)]
        for key in keys:
            store.put(key, Bytes(b"x" * int(key[-1])), content_type="text/plain")
        assert sorted(found.key for found in store.iter_objects()) == keys
        assert [getattr(store.stat(key), "size", None) for key in keys] == [0, 1, 2, 3, 4]

    def test_delete(self, store: Store) -> None:
        """A deleted object is gone."""
        key = "sha256/" + "3" * 64
        store.put(key, Bytes(b"x"), content_type="text/plain")
        store.delete(key)
        assert store.stat(key) is None

    def test_bodies_come_back(self, store: Store) -> None:
        """Offloaded, verified and inlined, a body is the same and so is its digest."""
        body = MessageBody([Part("hello"), Part(bytes(5000), name="/a.bin"), Part("", name="/b")])
        small = offload(body, store, threshold=0)
        resolver = Resolver(allow=[store])
        assert small.digest == body.digest
        assert verify(small, resolver=resolver)
        assert inline(small, resolver=resolver) == body
