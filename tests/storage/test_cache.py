"""The cache by digest: read once, verified, shared, bounded, and safe against what lies in it."""

import hashlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, verify
from messagebody.errors import DigestMismatch, LimitExceeded, StoreError, UnsafeReference
from messagebody.storage import FetchLimits, open_store
from messagebody.storage._stores.directory import FileStore

KIB, MIB = 1024, 1024 * 1024


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def offloaded(store: FileStore, data: bytes) -> Part:
    (part,) = offload(MessageBody([Part(data, name="/x", content_type="a/b")]), store, threshold=0)
    return part


def names(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.name != "CACHEDIR.TAG")


def lose(store: FileStore) -> None:
    for path in store.root.rglob("*"):
        if path.is_file():
            path.unlink()


class TestUse:
    @pytest.mark.parametrize("size", [1, 300 * KIB, 9 * MIB])
    def test_content_is_read_once(self, size: int, store: FileStore, cache: Path) -> None:
        data = os.urandom(size)
        part = offloaded(store, data)
        resolver = Resolver(allow=store, cache=cache)
        assert part.read_bytes(resolver) == data
        lose(store)
        assert part.read_bytes(resolver) == data
        assert names(cache) == [sha256(data)[7:]]
        body = MessageBody([part])
        assert inline(body, resolver=resolver)[0].read_bytes() == data

    def test_file_objects_are_verified_and_seekable(self, store: FileStore, cache: Path) -> None:
        data = os.urandom(300 * KIB)
        part = offloaded(store, data)
        resolver = Resolver(allow=store, cache=cache)
        for _ in range(2):
            with part.open(resolver) as reader:
                assert reader.verified  # type: ignore[attr-defined]
                reader.seek(-10, io.SEEK_END)
                assert reader.read() == data[-10:]
                reader.seek(7)
                assert reader.read(5) == data[7:12]
            lose(store)

    def test_other_processes_share_it(self, store: FileStore, cache: Path) -> None:
        data = os.urandom(300 * KIB)
        part = offloaded(store, data)
        program = f"""
from messagebody import Part, Resolver
part = Part(url={part.url!r}, size={part.size}, digest={part.digest!r}, content_type="a/b")
resolver = Resolver(allow={store.url!r}, cache={str(cache)!r})
print(len(part.read_bytes(resolver)))
"""
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
            assert int(done.stdout) == len(data)
            lose(store)

    def test_references_to_equal_content_share_it(self, cache: Path) -> None:
        first, second = open_store("memory://cache-1"), open_store("memory://cache-2")
        body = MessageBody([Part(bytes(KIB), name="/a")])
        (one,), (other,) = (offload(body, store, threshold=0) for store in (first, second))
        resolver = Resolver(allow=[first, second], cache=cache)
        one.read_bytes(resolver)
        assert other.url
        second.delete(other.url.removeprefix(second.url + "/"))
        assert other.read_bytes(resolver) == bytes(KIB)

    def test_without_a_digest_nothing_is_kept(self, store: FileStore, cache: Path) -> None:
        part = offloaded(store, b"hello")
        bare = Part(url=part.url, content_type="a/b")
        assert bare.read_bytes(Resolver(allow=store, cache=cache)) == b"hello"
        assert names(cache) == []

    def test_verify_asks_the_store(self, store: FileStore, cache: Path) -> None:
        part = offloaded(store, b"hello")
        resolver = Resolver(allow=store, cache=cache)
        part.read_bytes(resolver)
        lose(store)
        assert not verify(MessageBody([part]), resolver=resolver)


class TestVerdict:
    def test_what_is_not_allowed_is_not_read_from_the_cache(
        self, store: FileStore, cache: Path
    ) -> None:
        part = offloaded(store, b"hello")
        part.read_bytes(Resolver(allow=store, cache=cache))
        for read in (part.read_bytes, part.open):
            with pytest.raises(UnsafeReference):
                read(Resolver(cache=cache))

    def test_promises_and_limits_hold(self, store: FileStore, cache: Path) -> None:
        part = offloaded(store, b"hello")
        part.read_bytes(Resolver(allow=store, cache=cache))
        with pytest.raises(DigestMismatch):
            part.evolve(size=4).read_bytes(Resolver(allow=store, cache=cache))
        tight = Resolver(allow=store, cache=cache, limits=FetchLimits(part_bytes=4))
        with pytest.raises(LimitExceeded):
            part.read_bytes(tight)

    def test_what_does_not_match_is_not_kept(self, store: FileStore, cache: Path) -> None:
        part = offloaded(store, b"hello")
        (store.root / str(part.url).removeprefix(store.url + "/")).write_bytes(b"EVIL!")
        with pytest.raises(DigestMismatch):
            part.read_bytes(Resolver(allow=store, cache=cache))
        assert names(cache) == []


class TestDamage:
    def spoil(self, path: Path, how: str, elsewhere: Path) -> None:
        path.unlink()
        elsewhere.write_bytes(b"hello")
        makers: dict[str, Any] = {
            "changed": lambda: path.write_bytes(b"EVIL!"),
            "cut": lambda: path.write_bytes(b"hel"),
            "empty": lambda: path.write_bytes(b""),
            "link": lambda: path.symlink_to(elsewhere),
            "fifo": lambda: os.mkfifo(path),
            "directory": path.mkdir,
            "gone": lambda: None,
        }
        makers[how]()

    @pytest.mark.parametrize(
        "how", ["changed", "cut", "empty", "link", "fifo", "directory", "gone"]
    )
    @pytest.mark.parametrize("is_fresh", [True, False])
    def test_never_comes_out(
        self, how: str, is_fresh: bool, store: FileStore, cache: Path, tmp_path: Path
    ) -> None:
        part = offloaded(store, b"hello")
        resolver = Resolver(allow=store, cache=cache)
        part.read_bytes(resolver)
        self.spoil(cache / str(part.digest)[7:], how, tmp_path / "elsewhere")
        if is_fresh:
            resolver = Resolver(allow=store, cache=cache)
        descriptors = len([*Path("/dev/fd").iterdir()])
        for _ in range(2):
            assert part.read_bytes(resolver) == b"hello"
            with part.open(resolver) as reader:
                assert reader.read() == b"hello"
        assert (tmp_path / "elsewhere").read_bytes() == b"hello"
        assert len([*Path("/dev/fd").iterdir()]) == descriptors

    def test_an_interrupt_leaves_no_file_open(
        self, store: FileStore, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        part = offloaded(store, b"hello")
        resolver = Resolver(allow=store, cache=cache)
        part.read_bytes(resolver)
        descriptors = len([*Path("/dev/fd").iterdir()])

        def interrupted(_: int) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "fstat", interrupted)
            with pytest.raises(KeyboardInterrupt):
                part.read_bytes(resolver)
        assert len([*Path("/dev/fd").iterdir()]) == descriptors

    def test_a_change_with_the_time_put_back_is_noticed(
        self, store: FileStore, cache: Path
    ) -> None:
        part = offloaded(store, b"hello")
        resolver = Resolver(allow=store, cache=cache)
        part.read_bytes(resolver)
        part.read_bytes(resolver)
        path = cache / str(part.digest)[7:]
        times = path.stat()
        path.write_bytes(b"EVIL!")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert part.read_bytes(resolver) == b"hello"

    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
    def test_a_directory_that_others_write_is_refused(self, mode: int, cache: Path) -> None:
        cache.mkdir()
        cache.chmod(mode)
        with pytest.raises(StoreError, match="others may write"):
            Resolver(cache=cache)

    def test_a_directory_of_another_user_is_refused(
        self, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache.mkdir(mode=0o755)
        monkeypatch.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
        with pytest.raises(StoreError, match="another user"):
            Resolver(cache=cache)

    def test_a_file_is_no_directory(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("")
        with pytest.raises(StoreError):
            Resolver(cache=tmp_path / "x")

    def test_it_is_for_its_owner_only(self, cache: Path) -> None:
        Resolver(cache=cache)
        assert cache.stat().st_mode & 0o777 == 0o700

    def test_a_full_disk_leaves_the_content_readable(
        self, store: FileStore, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        part = offloaded(store, b"hello")
        resolver = Resolver(allow=store, cache=cache)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        assert part.read_bytes(resolver) == b"hello"
        assert names(cache) == []


class TestPlace:
    """Only what a cache made is deleted from it."""

    @pytest.mark.parametrize("name", ["a.jpg", "0" * 64, "x/y.txt", ".git/HEAD"])
    def test_a_directory_with_other_files_is_refused(self, name: str, cache: Path) -> None:
        file = cache / name
        file.parent.mkdir(parents=True)
        file.write_text("precious")
        with pytest.raises(StoreError, match="has other files"):
            Resolver(cache=cache, cache_bytes=1)
        assert file.read_text() == "precious"
        assert not (cache / "CACHEDIR.TAG").exists()

    def test_files_that_came_later_stay(self, store: FileStore, cache: Path) -> None:
        resolver = Resolver(allow=store, cache=cache, cache_bytes=2)
        for name in ("a.jpg", ".messagebody-x", "0" * 63):
            (cache / name).write_text("precious")
            os.utime(cache / name, (0, 0))
        (cache / "folder").mkdir()
        for data in (b"1", b"2", b"3", b"4"):
            assert offloaded(store, data).read_bytes(resolver) == data
        Resolver(cache=cache)
        assert len({*names(cache)} - {"a.jpg", ".messagebody-x", "0" * 63, "folder"}) == 2
        assert (cache / "a.jpg").read_text() == "precious"

    def test_another_programs_cache_is_refused(self, cache: Path) -> None:
        cache.mkdir()
        signature = "Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n"
        (cache / "CACHEDIR.TAG").write_text(signature)
        with pytest.raises(StoreError, match="has other files"):
            Resolver(cache=cache)


class TestBounds:
    def test_what_was_not_used_for_longest_makes_room(self, store: FileStore, cache: Path) -> None:
        resolver = Resolver(allow=store, cache=cache, cache_bytes=3 * KIB)
        parts = [offloaded(store, bytes([n]) * KIB) for n in range(5)]
        for age, part in enumerate(parts[:3]):
            part.read_bytes(resolver)
            long_ago = time.time() - 1000 + age
            os.utime(cache / str(part.digest)[7:], (long_ago, long_ago))
        os.utime(cache / str(parts[0].digest)[7:])
        parts[3].read_bytes(resolver)
        parts[4].read_bytes(resolver)
        assert names(cache) == sorted(str(parts[n].digest)[7:] for n in (0, 3, 4))

    def test_what_is_too_large_is_read_and_not_kept(self, store: FileStore, cache: Path) -> None:
        resolver = Resolver(allow=store, cache=cache, cache_bytes="1 KiB")
        part = offloaded(store, bytes(KIB + 1))
        assert part.read_bytes(resolver) == bytes(KIB + 1)
        assert not part.open(resolver).verified  # type: ignore[attr-defined]
        assert names(cache) == []

    def test_what_a_killed_process_left_is_removed(self, store: FileStore, cache: Path) -> None:
        resolver = Resolver(allow=store, cache=cache)
        old, young = (cache / f".messagebody-{n:016x}" for n in (0, 1))
        for path in (old, young):
            path.write_bytes(bytes(KIB))
        os.utime(old, (0, 0))
        offloaded(store, b"hello").read_bytes(resolver)
        assert not old.exists()
        assert young.exists()
