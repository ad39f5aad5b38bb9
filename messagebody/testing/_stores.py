"""The contract of a store, as tests to inherit, and contents that stores find hard."""

import abc
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Final

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, verify
from messagebody._core import MIB, sha256_of
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.storage import Bytes, Store

_KEY: Final = "sha256/" + "5" * 64
_MISSING: Final = "sha256/" + "2" * 64
_PIECE: Final = 8 * MIB
"""The most bytes that a store yields at a time: services want parts of at least 5 MiB."""


_HALF_HOUR: Final = 1800.0
_PAUSE: Final = 0.03
"""Seconds between two buffers of a slow content: a reader looks at it in between."""
_WAIT: Final = 0.3
"""Seconds that a writer waits for the others; a store may let one after the other write."""
_PADDING: Final = "a" * 100
_ALIKE: Final = (
    # Patterns of file systems, of SQL and of regular expressions, and what they would match.
    ("sha256/a*", "sha256/a?", "sha256/[a]a", "sha256/a_", "sha256/a%", "%/aa", "sha256/%",
     "sha256/.a", "sha256/a.", "aa", "sha256/a", "sha256/aa", "sha256/aaa", "other/aa"),
    # What differs in case, in the form of its letters, in an escape or in a space.
    ("a/ab", "a/AB", "A/ab", "a%2Fab", "a%2fab", "a/%61b", "a/ab ", "a/+ab", "a/ ab", "a\\ab"),
    ("n/\u00e9", "n/e\u0301", "n/e", "n/\u00c9", "n/\ufb01", "n/fi"),
    # What is equal as far as a column or a name of a file goes.
    *(tuple(f"{beginning}{end}" for end in "12") for beginning in (
        "sha256/" + "5" * 63, "long/" + "a" * 120, "long/" + "a" * 249, "deep/" * 40,
        f"deeper/{_PADDING}/{_PADDING}/{_PADDING}/x")),
)  # fmt: skip
"""Groups of keys that a careless store takes for each other."""
_PLAIN: Final = re.compile(r"[a-z0-9/]{1,71}")
_refused: Final = contextlib.suppress(StoreError)
_ODD: Final = ("", "/", "/a", "a/", "a//b", ".", "..", "a/./b", "a/../b", "a\x00b", "a\nb",
               "b" * 5000, "c/" * 600 + "c")  # fmt: skip
"""Keys that a client refuses, with an error of its own. Python can still remove what a directory
makes of the last one: it recurs at each level."""


class StoreContract(abc.ABC):
    """Inherit this and give it a fixture `store`: an empty `Store`.

    The tests write, read, list and delete some hundred objects of up to 9 MiB, and one of them
    `objects` small ones.

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

    writes_once: ClassVar[bool] = True
    """Whether one of several writers at once writes, and the others leave its object alone. Set it
    to False if your store looks first and writes then, which is safe for the same reason."""
    objects: ClassVar[int] = 1_001
    """How many objects a listing is tried with: more than a page of your server, which has 1,000
    at S3 and 5,000 at Azure."""

    @pytest.fixture
    @abc.abstractmethod
    def store(self) -> Store:
        """Return an empty store."""

    @pytest.fixture
    def failing_store(self) -> Store | None:
        """Return a store whose server does not answer or denies everything, if you can make one."""
        return None

    def content_type_of(self, store: Store, key: str) -> str | None:  # noqa: ARG002
        """Return the content type that your server keeps of an object, None if it keeps none."""
        return None

    def test_what_was_put_comes_back(self, store: Store) -> None:
        """Every byte comes back, also of an empty object, and each byte only once."""
        for key, data in (("sha256/" + "0" * 64, b""), ("sha256/" + "1" * 64, bytes(range(256)))):
            assert store.put(key, Bytes(data), content_type="text/plain") is True
            assert b"".join(store.stream(key)) == data
            assert store.measure(key) == (len(data), sha256_of(data))
            assert _size(store, key) == len(data)

    def test_a_large_object_comes_in_pieces(self, store: Store) -> None:
        """Large content is written whole, and read in order without being in memory at once."""
        data = _large()
        store.put(_KEY, Bytes(data), content_type="application/octet-stream")
        pieces = [*store.stream(_KEY)]
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) <= _PIECE
        assert _size(store, _KEY) == len(data)
        assert store.read_range(_KEY, len(data) - 3, len(data)) == b"end"

    def test_a_missing_object_can_not_be_read(self, store: Store) -> None:
        """`stat` returns None, and reading all or a range raises `ObjectNotFound` with the key."""
        assert store.stat(_MISSING) is None
        with pytest.raises(ObjectNotFound) as caught:
            list(store.stream(_MISSING))
        assert caught.value.key.endswith(_MISSING)
        with pytest.raises(ObjectNotFound) as caught:
            store.measure(_MISSING)
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
        assert _listing(store) == {_KEY: other.size}

    def test_a_write_that_fails_changes_nothing(self, store: Store) -> None:
        """If content can't be read to its end, nothing is published and an old object stays."""
        with pytest.raises(StoreError):
            store.put(_KEY, _Failing(), content_type="text/plain")
        assert store.stat(_KEY) is None
        assert _listing(store) == {}
        store.put(_KEY, Bytes(b"old"), content_type="text/plain")
        with pytest.raises(StoreError):
            store.put(_KEY, _Failing(), content_type="text/plain", if_absent=False)
        assert b"".join(store.stream(_KEY)) == b"old"
        assert _listing(store) == {_KEY: 3}

    def test_nobody_sees_half_of_it(self, store: Store) -> None:
        """While an object is written, readers find what was there before, or all of the new one."""
        # The longer one begins like the other: what is read in ranges may be of both.
        first, second = b"1" * 3 * MIB, b"1" * 4 * MIB
        for data, known in ((first, {None, first}), (second, {first, second})):
            with ThreadPoolExecutor(1) as pool:
                writing = pool.submit(
                    store.put, _KEY, _Slow(data), content_type="text/plain", if_absent=False
                )
                while not writing.done():
                    assert _content(store, _KEY) in known
                    # A temporary object may be listed, too, so that a sweep finds it. A directory
                    # may name a file twice that is renamed meanwhile: POSIX leaves that open.
                    sizes = {each.size for each in store.iter_objects() if each.key == _KEY}
                    assert sizes <= {len(each) for each in known if each is not None}
                    assert sizes or None in known
            assert writing.result() is True
            assert _content(store, _KEY) == data

    def test_one_of_several_writers_writes(self, store: Store) -> None:
        """Of several `put` at once, one returns True, and all find its object."""
        contents = [bytes([number]) * 100 * (number + 1) for number in range(4)]
        for key in (f"sha256/{number:064}" for number in range(4)):
            barrier = threading.Barrier(len(contents))
            blobs = [_Meeting(data, barrier=barrier) for data in contents]
            with ThreadPoolExecutor(len(blobs)) as pool:
                calls = [pool.submit(store.put, key, blob, content_type="a/b") for blob in blobs]
            won = [data for data, call in zip(contents, calls, strict=True) if call.result()]
            assert _content(store, key) in won
            assert len(won) == 1 or not (self.leaves_objects and self.writes_once)
            assert _size(store, key) == len(_content(store, key) or b"")

    def test_many_objects_are_listed(self, store: Store) -> None:
        """A listing is complete, also after the first page of the server, and its sizes exact."""
        sizes = {f"sha256/{number:064}": number % 7 for number in range(self.objects)}

        def put(key: str) -> bool:
            return store.put(key, Bytes(b"x" * sizes[key]), content_type="text/plain")

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(put, sizes))
        assert _listing(store) == sizes

    def test_times_are_seconds(self, store: Store) -> None:
        """`modified` is the time of the last write, on which a sweep decides what is young."""
        for data in (b"first", b"the other"):
            store.put(_KEY, Bytes(data), content_type="text/plain", if_absent=False)
            found = [store.stat(_KEY), *store.iter_objects()]
            assert len(found) == 2
            for each in found:
                assert each is not None
                # The clock of a server may be wrong by minutes, and a time zone is wrong by more.
                assert each.modified is None or abs(each.modified - time.time()) < _HALF_HOUR

    def test_content_types_are_kept(self, store: Store) -> None:
        """If the server keeps content types, it keeps them with their parameters."""
        for number, kind in enumerate(("image/png", 'text/csv; charset=utf-8; header="present"')):
            key = f"sha256/{number:064}"
            store.put(key, Bytes(b"x"), content_type=kind)
            assert self.content_type_of(store, key) in (kind, None)

    def test_delete(self, store: Store) -> None:
        """A deleted object is gone, and may be deleted and written again."""
        key = "sha256/" + "3" * 64
        store.delete(key)
        store.put(key, Bytes(b"x"), content_type="text/plain")
        for _ in range(2):
            store.delete(key)
            assert store.stat(key) is None
            assert _listing(store) == {}
            with pytest.raises(ObjectNotFound):
                list(store.stream(key))
        assert store.put(key, Bytes(b"again"), content_type="text/plain") is True
        assert b"".join(store.stream(key)) == b"again"

    def test_a_large_object_is_deleted(self, store: Store) -> None:
        """Nothing is left of a large object, also if it is written in parts."""
        data = _large()
        for _ in range(2):
            assert store.put(_KEY, Bytes(data), content_type="text/plain") is True
            store.delete(_KEY)
            assert (_content(store, _KEY), store.stat(_KEY), _listing(store)) == (None, None, {})
        store.put(_KEY, Bytes(b"small"), content_type="text/plain")
        assert _content(store, _KEY) == b"small"

    def test_what_is_deleted_meanwhile_does_not_look_whole(self, store: Store) -> None:
        """A reader of an object that is deleted gets all of it, or an error: never the half."""
        data = _large()
        store.put(_KEY, Bytes(data), content_type="text/plain")
        pieces = store.stream(_KEY)
        read = next(pieces)
        store.delete(_KEY)
        try:
            read += b"".join(pieces)
        except StoreError:
            return
        assert read == data

    @pytest.mark.parametrize("keys", _ALIKE, ids=lambda keys: keys[-1][:20])
    def test_no_key_is_taken_for_another(self, store: Store, keys: Sequence[str]) -> None:
        """Keys that are alike are different objects or refused, also when one is deleted."""
        there = {}
        # Only a key that is odd may be refused.
        plain = {key: bool(_PLAIN.fullmatch(key)) for key in keys}
        for key in keys:
            with contextlib.nullcontext() if plain[key] else _refused:
                assert _content(store, key) is None
                assert store.put(key, Bytes(key.encode()), content_type="text/plain") is True
                there[key] = len(key.encode())
        assert {key: _content(store, key) for key in there} == {key: key.encode() for key in there}
        for key in keys:
            assert _listing(store) == there
            with contextlib.nullcontext() if plain[key] else _refused:
                store.delete(key)
                assert _content(store, key) is None
            there.pop(key, None)
        assert _listing(store) == {}

    def test_errors_are_of_the_toolkit(self, store: Store, failing_store: Store | None) -> None:
        """Whatever fails in a client, and whatever key it refuses, raises a `StoreError`."""
        store.put(_KEY, Bytes(b"x"), content_type="text/plain")
        for key in _ODD:
            _use(store, key)
        assert _content(store, _KEY) == b"x"
        if failing_store is not None:
            assert _use(failing_store, _KEY) == 5

    def test_a_key_does_not_lead_out_of_the_store(self, store: Store) -> None:
        """`..` in a key is refused, or it is only a part of the key."""
        tenant, there = store.below("tenant"), f"other/{_KEY}"
        store.put(there, Bytes(b"theirs"), content_type="text/plain")
        odd = f"../{there}"
        try:
            tenant.put(odd, Bytes(b"x"), content_type="text/plain", if_absent=False)
        except StoreError:
            assert _listing(tenant) == {}
        else:
            assert _listing(tenant) == {odd: 1}
        assert b"".join(store.stream(there)) == b"theirs"

    def test_a_prefix_holds_its_own_objects(self, store: Store) -> None:
        """A store `below` another sees only its own objects, under keys of its own."""
        for name in ("own", "own-too"):
            store.below(name).put(_KEY, Bytes(name.encode()), content_type="text/plain")
        own = store.below("own")
        assert b"".join(own.stream(_KEY)) == b"own"
        assert _listing(own) == {_KEY: 3}
        own.delete(_KEY)
        assert _listing(own) == {}
        assert _listing(store) == {f"own-too/{_KEY}": 7}

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


def _large() -> bytes:
    return b"".join(number.to_bytes(4, "big") * 256 for number in range(9 * 1024)) + b"end"


def _content(store: Store, key: str) -> bytes | None:
    """Return the bytes of an object, None if there is none."""
    try:
        return b"".join(store.stream(key))
    except ObjectNotFound:
        return None


def _use(store: Store, key: str) -> int:
    """Call all methods with a key, and return how many of them raised an error of the toolkit."""
    calls: tuple[Callable[[], object], ...] = (
        lambda: store.stat(key),
        lambda: store.put(key, Bytes(b"odd"), content_type="text/plain"),
        lambda: store.read_range(key, 0, 1),
        lambda: b"".join(store.stream(key)),
        lambda: store.delete(key),
    )
    failed = 0
    for call in calls:
        try:
            call()
        except StoreError:
            failed += 1
    return failed


def _size(store: Store, key: str) -> int | None:
    found = store.stat(key)
    assert found is None or found.key == key
    return None if found is None else found.size


def _listing(store: Store) -> dict[str, int]:
    """Return the size of each object in a listing."""
    found = [*store.iter_objects()]
    sizes = {each.key: each.size for each in found}
    assert len(sizes) == len(found)
    return sizes


# Contents that fail, take long, or wait for other writers


@attrs.frozen
class _Failing:
    """A content that can't be read to its end."""

    size: int = 3 * MIB
    digest: str | None = None

    def read(self) -> bytes:
        """Fail."""
        raise StoreError("the content has changed")

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield a buffer and fail."""
        yield bytes(min(length, self.size - 1))
        raise StoreError("the content has changed")


class _Slow(Bytes):
    """A content that takes a while to read."""

    def read(self) -> bytes:
        """Return all bytes after a while."""
        time.sleep(_PAUSE)
        return super().read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield the bytes one by one, after a while each."""
        for buffer in super().buffers(min(length, -(-self.size // 3))):
            time.sleep(_PAUSE)
            yield buffer
        time.sleep(_PAUSE)


@attrs.frozen
class _Meeting(Bytes):
    """A content that is read when all other writers read theirs, if the store lets them."""

    barrier: threading.Barrier = attrs.field(kw_only=True)

    def read(self) -> bytes:
        """Return all bytes when the others are there."""
        self._meet()
        return super().read()

    def buffers(self, length: int) -> Iterator[bytes]:
        """Yield all bytes when the others are there."""
        self._meet()
        yield from super().buffers(length)

    def _meet(self) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            self.barrier.wait(_WAIT)
