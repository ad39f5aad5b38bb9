"""The contract of a store, as tests to inherit."""

import abc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Final

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, verify
from messagebody._base.limits import MIB
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage._stores import Bytes, Store

_KEY: Final = "sha256/" + "5" * 64
_MISSING: Final = "sha256/" + "2" * 64
_PIECE: Final = 8 * MIB
"""The most bytes that a store yields at a time: services want parts of at least 5 MiB."""


@attrs.frozen
class _Failing:
    """A blob that can't be read to its end."""

    size: int = 3 * MIB
    digest: str | None = None

    def read(self) -> bytes:
        raise StoreError("the content has changed")

    def buffers(self, length: int) -> Iterator[bytes]:
        yield bytes(min(length, self.size - 1))
        raise StoreError("the content has changed")


class StoreContract(abc.ABC):
    """Inherit this and give it a fixture `store`: an empty `Store`.

    The tests write, read, list and delete some twenty objects, the largest of 9 MiB.

    Examples:
        >>> from messagebody.storage import open_store
        >>> class TestStore(StoreContract):
        ...     @pytest.fixture
        ...     def store(self, tmp_path):
        ...         return open_store(tmp_path / "store")
    """

    leaves_objects: ClassVar[bool] = True
    """Whether `put` never replaces an object. Set it to False for a server that ignores
    `If-None-Match`, such as rclone. This is safe: keys are digests, so the contents are equal."""

    @pytest.fixture
    @abc.abstractmethod
    def store(self) -> Store:
        """Return an empty store."""

    def test_what_was_put_comes_back(self, store: Store) -> None:
        """Every byte comes back, also of an empty object, and each byte only once."""
        for key, data in (("sha256/" + "0" * 64, b""), ("sha256/" + "1" * 64, bytes(range(256)))):
            assert store.put(key, Bytes(data), content_type="text/plain") is True
            assert b"".join(store.stream(key)) == data
            assert _size(store, key) == len(data)

    def test_a_large_object_comes_in_pieces(self, store: Store) -> None:
        """Large content is written whole, and read in order without being in memory at once."""
        data = b"".join(number.to_bytes(4, "big") * 256 for number in range(9 * 1024)) + b"end"
        store.put(_KEY, Bytes(data), content_type="application/octet-stream")
        pieces = [*store.stream(_KEY)]
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) <= _PIECE
        assert _size(store, _KEY) == len(data)
        assert store.read_range(_KEY, len(data) - 3, len(data)) == b"end"

    def test_a_missing_object_has_no_stat(self, store: Store) -> None:
        """`stat` returns None, not an error, because offloading calls it before it sends."""
        assert store.stat(_MISSING) is None

    def test_a_missing_object_can_not_be_read(self, store: Store) -> None:
        """Reading a missing object, whole or a range, raises `ObjectNotFound` with its key."""
        with pytest.raises(ObjectNotFound) as caught:
            list(store.stream(_MISSING))
        assert caught.value.key.endswith(_MISSING)
        with pytest.raises(ObjectNotFound) as caught:
            store.read_range(_MISSING, 0, 1)
        assert caught.value.key.endswith(_MISSING)

    def test_a_range(self, store: Store) -> None:
        """A range ends before `end`, or at the end of the object."""
        store.put(_KEY, Bytes(b"0123456789"), content_type="text/plain")
        wanted = {
            (0, 1): b"0", (2, 5): b"234", (9, 10): b"9", (0, 10): b"0123456789",
            (8, 50): b"89", (3, 3): b"", (10, 12): b"",
        }  # fmt: skip
        assert {span: store.read_range(_KEY, *span) for span in wanted} == wanted

    def test_what_is_there_is_left_alone(self, store: Store) -> None:
        """Put-if-absent returns False and keeps the old object."""
        assert store.put(_KEY, Bytes(b"first"), content_type="text/plain") is True
        if self.leaves_objects:
            assert store.put(_KEY, Bytes(b"other"), content_type="text/plain") is False
        else:
            store.put(_KEY, Bytes(b"first"), content_type="text/plain")
        assert b"".join(store.stream(_KEY)) == b"first"

    def test_what_is_there_is_replaced_if_that_is_asked(self, store: Store) -> None:
        """With `if_absent=False`, the new object is there alone, with its own size."""
        store.put(_KEY, Bytes(b"first"), content_type="text/plain")
        other = Bytes(b"the other")
        assert store.put(_KEY, other, content_type="text/plain", if_absent=False) is True
        assert b"".join(store.stream(_KEY)) == other.data
        assert store.read_range(_KEY, 4, 9) == b"other"
        assert _size(store, _KEY) == other.size
        assert _listed(store) == {_KEY: other.size}

    def test_a_write_that_fails_changes_nothing(self, store: Store) -> None:
        """If content can't be read to its end, nothing is published and an old object stays."""
        with pytest.raises(StoreError):
            store.put(_KEY, _Failing(), content_type="text/plain")
        assert store.stat(_KEY) is None
        assert _listed(store) == {}
        store.put(_KEY, Bytes(b"old"), content_type="text/plain")
        with pytest.raises(StoreError):
            store.put(_KEY, _Failing(), content_type="text/plain", if_absent=False)
        assert b"".join(store.stream(_KEY)) == b"old"
        assert _listed(store) == {_KEY: 3}

    def test_stat_and_list(self, store: Store) -> None:
        """Sizes are exact; listings are complete, name each object once and only what is there."""
        assert _listed(store) == {}
        sizes = {f"sha256/{number:064}": number for number in range(12)}
        for key, size in sizes.items():
            store.put(key, Bytes(b"x" * size), content_type="text/plain")
        assert _listed(store) == sizes
        assert {key: _size(store, key) for key in sizes} == sizes

    def test_delete(self, store: Store) -> None:
        """A deleted object is gone, and may be deleted and written again."""
        key = "sha256/" + "3" * 64
        store.delete(key)
        store.put(key, Bytes(b"x"), content_type="text/plain")
        for _ in range(2):
            store.delete(key)
            assert store.stat(key) is None
            assert _listed(store) == {}
            with pytest.raises(ObjectNotFound):
                list(store.stream(key))
        assert store.put(key, Bytes(b"again"), content_type="text/plain") is True
        assert b"".join(store.stream(key)) == b"again"

    def test_no_key_is_taken_for_another(self, store: Store) -> None:
        """Keys that begin or end alike are different objects, also when one is deleted."""
        keys = ["sha256/aa", "sha256/aaa", "sha256/a", "other/aa", "aa"]
        for key in keys:
            assert store.put(key, Bytes(key.encode()), content_type="text/plain") is True
        for gone in ("sha256/aa", "aa"):
            store.delete(gone)
            keys.remove(gone)
            assert _listed(store) == {key: len(key) for key in keys}
            assert store.stat(gone) is None
            assert [b"".join(store.stream(key)).decode() for key in keys] == keys

    def test_a_key_does_not_lead_out_of_the_store(self, store: Store) -> None:
        """`..` in a key is refused, or it is only a part of the key."""
        tenant, there = store.below("tenant"), f"other/{_KEY}"
        store.put(there, Bytes(b"theirs"), content_type="text/plain")
        odd = f"../{there}"
        try:
            tenant.put(odd, Bytes(b"x"), content_type="text/plain", if_absent=False)
        except StoreError:
            assert _listed(tenant) == {}
        else:
            assert _listed(tenant) == {odd: 1}
        assert b"".join(store.stream(there)) == b"theirs"

    def test_a_prefix_holds_its_own_objects(self, store: Store) -> None:
        """A store `below` another sees only its own objects, under keys of its own."""
        for name in ("own", "own-too"):
            store.below(name).put(_KEY, Bytes(name.encode()), content_type="text/plain")
        own = store.below("own")
        assert b"".join(own.stream(_KEY)) == b"own"
        assert _listed(own) == {_KEY: 3}
        own.delete(_KEY)
        assert _listed(own) == {}
        assert _listed(store) == {f"own-too/{_KEY}": 7}

    def test_threads_may_share_it(self, store: Store) -> None:
        """Several threads may write and read at a time."""

        def use(number: int) -> bytes:
            key = f"sha256/{number:064}"
            store.put(key, Bytes(b"x" * number), content_type="text/plain")
            return b"".join(store.stream(key))

        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(use, range(8))] == [b"x" * number for number in range(8)]
        assert len(_listed(store)) == 8

    def test_bodies_come_back(self, store: Store) -> None:
        """Offloaded, verified and inlined, a body is the same and so is its digest."""
        body = MessageBody([Part("hello"), Part(bytes(5000), name="/a.bin"), Part("", name="/b")])
        small = offload(body, store, threshold=0)
        resolver = Resolver(allow=[store])
        urls = {part.url for part in small if part.is_reference}
        assert urls == {store.url_of(found.key) for found in store.iter_objects()}
        assert len(urls) == 2
        assert small.digest == body.digest
        assert verify(small, resolver=resolver)
        assert inline(small, resolver=resolver) == body


def _size(store: Store, key: str) -> int | None:
    found = store.stat(key)
    assert found is None or found.key == key
    return None if found is None else found.size


def _listed(store: Store) -> dict[str, int]:
    """Return the size of each object in a listing."""
    found = [*store.iter_objects()]
    sizes = {each.key: each.size for each in found}
    assert len(sizes) == len(found)
    return sizes
