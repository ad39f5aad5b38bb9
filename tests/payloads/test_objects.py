"""Contents of one store: named at once, written together, cached, and encrypted on request."""

import os
from pathlib import Path

import pytest

from messagebody._base.digests import key_of, sha256_of
from messagebody.errors import DecodeError, DigestMismatch, ObjectNotFound
from messagebody.payloads import Objects, Stored
from messagebody.storage import Store, open_store


class Xor:
    """A cipher for tests: a byte is flipped, and a random one makes equal contents differ."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "xor", os.urandom(1) + bytes(byte ^ 0x55 for byte in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        if ciphername != "xor":
            raise RuntimeError("another key: s3cr3t")
        return bytes(byte ^ 0x55 for byte in ciphertext[1:])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def kept(objects: Objects, *contents: bytes) -> list[Stored]:
    batch = objects.batch()
    named = [batch.add(content) for content in contents]
    batch.write()
    return named


def test_contents_are_written_once_and_fetched(store: Store) -> None:
    objects = Objects(store)
    named = kept(objects, b"a" * 9, b"b" * 9, b"a" * 9)
    assert named[0] == named[2] == Stored(sha256_of(b"a" * 9), 9)
    assert objects.fetch_all(named) == {named[0]: b"a" * 9, named[1]: b"b" * 9}
    assert len([*store.iter_objects()]) == 2


def test_nothing_is_written_before_the_batch_is(store: Store) -> None:
    batch = Objects(store).batch()
    batch.add(b"abc")
    assert [*store.iter_objects()] == []


def test_what_was_written_is_remembered_for_an_hour(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = Objects(store)
    [named] = kept(objects, b"abc")
    store.delete(key_of(named.digest))
    kept(objects, b"abc")
    assert [*store.iter_objects()] == []  # it is trusted to be there
    monkeypatch.setattr("messagebody.payloads._objects.time.monotonic", lambda: 1e9)
    kept(objects, b"abc")
    assert len([*store.iter_objects()]) == 1


def test_what_was_written_last_is_remembered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messagebody.payloads._objects._REMEMBERED", 2)
    objects = Objects(store)
    # One after the other: contents of one call are written in any order.
    first, *others = (kept(objects, each)[0] for each in (b"abc", b"def", b"ghi"))
    for named in (first, *others):
        store.delete(key_of(named.digest))
    kept(objects, b"ghi", b"def")
    assert [*store.iter_objects()] == []
    kept(objects, b"abc")
    assert [each.key for each in store.iter_objects()] == [key_of(first.digest)]


def test_errors_are_values_each_in_its_place(store: Store) -> None:
    objects = Objects(store)
    gone, damaged, fine = kept(objects, b"gone", b"damaged", b"fine")
    store.delete(key_of(gone.digest))
    lie = Stored(damaged.digest, damaged.size - 1)
    found = objects.fetch_all([gone, lie, fine])
    assert isinstance(found[gone], ObjectNotFound)
    assert isinstance(found[lie], DigestMismatch)
    assert found[fine] == b"fine"


def test_the_cache_holds_what_was_used_last(store: Store) -> None:
    objects = Objects(store, cache=8)
    one, two, three = kept(objects, b"1111", b"2222", b"3333")
    objects.fetch_all([one, two])
    objects.fetch_all([one])
    objects.fetch_all([three])  # two makes room
    for each in store.iter_objects():
        store.delete(each.key)
    found = objects.fetch_all([one, two, three])
    assert (found[one], found[three]) == (b"1111", b"3333")
    assert isinstance(found[two], ObjectNotFound)


class TestCipher:
    def test_nothing_in_the_store_can_be_read(self, store: Store) -> None:
        objects = Objects(store, cipher=Xor())
        [named] = kept(objects, b"secret" * 9)
        assert named == kept(objects, b"secret" * 9)[0]  # the same is stored once
        [found] = store.iter_objects()
        assert found.key == key_of(named.digest)
        assert b"secret" not in store.read_range(found.key, 0, 99)
        assert objects.fetch_all([named]) == {named: b"secret" * 9}

    def test_without_it_or_with_another(self, store: Store) -> None:
        [named] = kept(Objects(store, cipher=Xor()), b"secret")
        error = Objects(store).fetch_all([named])[named]
        assert isinstance(error, DecodeError)
        assert "no cipher was given" in str(error)
        other = Stored(named.digest, named.size, "aes")
        error = Objects(store, cipher=Xor()).fetch_all([other])[other]
        assert isinstance(error, DecodeError)
        assert "'aes', and can't be decrypted" in str(error)
        assert isinstance(error.__cause__, RuntimeError)
