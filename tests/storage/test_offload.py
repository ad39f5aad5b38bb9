"""Offload and inline: what goes out comes back, whatever the body and the policy."""

import base64
import gc
import hashlib
import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fsspec.callbacks import Callback
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver, inline, migrate, offload, verify
from messagebody._base.digests import sha256_of
from messagebody._base.threads import Interrupted
from messagebody._model.content import LocalFile
from messagebody.errors import (
    DigestMismatch,
    InvalidPattern,
    InvalidSize,
    LimitExceeded,
    LocalFileChanged,
    ObjectNotFound,
    PartsFailed,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Blob, Bytes, FetchLimits, Stop, Store, open_store, parse_size
from messagebody.storage._stores.directory import FileStore
from messagebody.storage.queues import to_message
from tests.effort import examples

KIB = 1024


@pytest.fixture(params=["file", "memory", "moto", "rclone"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "file":
        return open_store(tmp_path / "store")
    if request.param == "memory":
        return open_store(f"memory://{tmp_path.name}")
    found: Store = request.getfixturevalue(f"{request.param}_store")
    return found


@pytest.fixture
def directory(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def mixed(tmp_path: Path) -> MessageBody:
    body = MessageBody()
    body.add("Cats are cute.", content_type="text/markdown")
    body.add(b"\x89PNG" + bytes(300 * KIB), name="/charts/sales.png", metadata={"dpi": 72})
    body.add("ü" * 200 * KIB, name="/notes.txt", content_type="text/plain; charset=utf-8")
    body.add(url="https://example.com/cats", name="/sources/1", content_type="text/html")
    for name, size in (("talk.bin", 500 * KIB), ("small.bin", 10)):
        (tmp_path / name).write_bytes(bytes([size % 251]) * size)
        body.add(tmp_path / name, name=f"/{name}")
    return body


def objects(store: FileStore) -> list[str]:
    return sorted(p.name for p in store.root.rglob("*") if p.is_file())


class TestRoundTrip:
    def test_large_parts_go_out_and_come_back(self, store: Store, tmp_path: Path) -> None:
        body = mixed(tmp_path)
        before, digests = body.copy(), [part.digest for part in body]
        small = offload(body, store)
        assert body == before
        out = [part.url or "" for part in small]
        assert [url.startswith(store.url) for url in out] == [
            False, True, True, False, True, False]  # fmt: skip
        assert [part.digest for part in small] == digests
        assert small[1].metadata == {"dpi": 72}
        assert small["/small.bin"].local_file is None
        assert len(small.to_json_bytes()) < 4 * KIB
        again = inline(small, resolver=Resolver(allow=store))
        assert again["/talk.bin"].read_bytes() == body["/talk.bin"].read_bytes()
        assert again[:4] == body[:4]
        assert again["/sources/1"].is_reference
        offloaded = MessageBody(part for part in small if part.digest is not None)
        assert verify(offloaded, resolver=Resolver(allow=store))

    def test_content_type_is_sent_with_the_object(self, moto_store: Any, tmp_path: Path) -> None:
        small = offload(mixed(tmp_path), moto_store)
        part = small["/charts/sales.png"]
        bucket, _, key = (part.url or "").removeprefix("s3://").partition("/")
        stated = moto_store.client.head_object(Bucket=bucket, Key=key)
        assert stated["ContentType"] == part.content_type

    def test_offloading_again_changes_nothing(self, store: Store, tmp_path: Path) -> None:
        body = mixed(tmp_path)
        small = offload(body, store)
        assert offload(small, store) == small
        assert offload(body, store) == small

    def test_no_part_of_an_empty_body(self, directory: FileStore) -> None:
        assert offload(MessageBody(), directory) == MessageBody()
        assert inline(MessageBody()) == MessageBody()
        assert verify(MessageBody())

    @given(
        contents=st.lists(st.binary(max_size=3000) | st.text(max_size=1000), max_size=6),
        kinds=st.lists(st.sampled_from(["text/plain", "image/png", None]), min_size=6, max_size=6),
        elsewhere=st.sets(st.integers(0, 5)),
        threshold=st.integers(0, 2000),
        names=st.sampled_from(["/**", "/a/*", "/b/**"]),
        content_type=st.sampled_from(["*/*", "text/*", "image/png"]),
        fit=st.none() | st.just(3000),
        unnamed=st.booleans(),
    )
    @settings(max_examples=examples(60), suppress_health_check=[
              HealthCheck.function_scoped_fixture, HealthCheck.too_slow])  # fmt: skip
    def test_the_digest_is_the_same_whatever_is_done(
        self, tmp_path: Path, contents: list[Any], kinds: list[str | None], elsewhere: set[int],
        threshold: int, names: str, content_type: str, fit: int | None, unnamed: bool,
    ) -> None:  # fmt: skip
        places = ["/a/x", None, "/b/c/y", "/a/z", None, "/q"]
        whole = MessageBody(
            Part(content, name=name, content_type=kind, metadata={"at": name})
            for content, name, kind in zip(contents, places, kinds, strict=False)
        )
        store, other = open_store(tmp_path / "one"), open_store(tmp_path / "two")
        third = open_store(tmp_path / "three")
        both = Resolver(allow=[store, other, third])
        # Some parts come as references with a digest already.
        away = offload(whole, third, threshold=0)
        body = MessageBody(away[at] if at in elsewhere else part for at, part in enumerate(whole))
        assert body.digest == whole.digest
        try:
            small = offload(
                body, store, threshold=threshold, names=names, content_type=content_type,
                fit=fit, unnamed=unnamed,
            )  # fmt: skip
        except LimitExceeded:
            assert fit is not None
            return
        if fit is not None:
            assert len(small.to_json_bytes()) <= fit
        moved = migrate(small, other, resolver=both)
        assert body.digest == small.digest == moved.digest
        back = inline(moved, resolver=both)
        assert inline(small, resolver=both) == whole == back
        assert back.digest == body.digest
        assert offload(back, other, threshold=0).digest == body.digest
        assert verify(small, resolver=both)
        assert all(p.url is None or p.url.startswith(other.url) for p in moved)


FAR = pytest.param("9" * 400, id="beyond numbers")


class TestPolicies:
    @pytest.mark.parametrize(
        ("options", "out"),
        [
            ({}, ["/big.png", "/d/big.txt", None]),
            ({"threshold": 10**9}, []),
            ({"threshold": "1 GB"}, []),
            ({"threshold": 0}, ["/big.png", "/d/big.txt", "/d/small", None, None]),
            ({"names": "/d/*"}, ["/d/big.txt", None]),
            ({"content_type": "image/*"}, ["/big.png"]),
            ({"unnamed": False}, ["/big.png", "/d/big.txt"]),
            ({"names": "/d/*", "unnamed": False, "threshold": 0}, ["/d/big.txt", "/d/small"]),
            ({"fit": "2 KiB", "threshold": 10**9}, ["/big.png", "/d/big.txt", None]),
        ],
    )
    def test_choose_parts(
        self, directory: FileStore, options: dict[str, Any], out: list[str | None]
    ) -> None:
        body = MessageBody()
        body.add(bytes(300 * KIB), name="/big.png", content_type="image/png")
        body.add("x" * 300 * KIB, name="/d/big.txt")
        body.add("x", name="/d/small")
        body.add("y" * 300 * KIB)
        body.add("z")
        small = offload(body, directory, **options)
        assert sorted((p.name for p in small if p.is_reference), key=str) == sorted(out, key=str)

    def test_fit_takes_the_largest_first(self, directory: FileStore) -> None:
        body = MessageBody(Part("x" * 1000 * (n + 1), name=f"/{n}") for n in range(9))
        small = offload(body, directory, fit=12_000)
        assert [part.name for part in small if part.is_reference] == ["/4", "/5", "/6", "/7", "/8"]
        assert len(small.to_json_bytes()) <= 12_000
        assert offload(body, directory, fit="1 MiB") == body

    def test_data_urls_count_as_content(self, directory: FileStore) -> None:
        data = os.urandom(300_000)
        url = "data:image/png;base64," + base64.b64encode(data).decode()
        body = MessageBody([Part(url=url, name="/a.png", content_type="image/png"), Part("x")])
        inlined = MessageBody([Part(data, name="/a.png", content_type="image/png"), Part("x")])
        assert body.digest == inlined.digest
        for small in (
            offload(body, directory),
            offload(body, directory, threshold="1 GiB", fit="1 KiB"),
            MessageBody.from_json(to_message(body, directory)),
        ):
            assert small == offload(inlined, directory)
        assert offload(body, directory, threshold="1 GiB") == body
        assert body.manifest()[0]["size"] == len(data)

    def test_fit_counts_local_files(self, directory: FileStore, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(bytes(range(256)) * 40)
        body = MessageBody()
        body.add(tmp_path / "f", name="/f")
        assert offload(body, directory, fit=2000)["/f"].is_reference
        assert not offload(body, directory, fit=20_000)["/f"].is_reference

    def test_what_can_not_fit_is_refused(self, directory: FileStore) -> None:
        body = MessageBody([Part("x" * 100) for _ in range(100)])
        with pytest.raises(LimitExceeded, match=r"can't be made to fit 1 KiB: .* still has"):
            offload(body, directory, fit="1 KiB")
        assert objects(directory) == []

    @pytest.mark.parametrize("size", ["", "x", "1 XB", "-1", -1, 1.5, None, True, "1e3", FAR])
    def test_a_size_is_bytes_or_text(self, size: Any) -> None:
        with pytest.raises(InvalidSize, match="256 KiB"):
            parse_size(size)

    def test_a_size_goes_as_far_as_64_bits(self) -> None:
        assert parse_size(str(2**64)) == 2**64


class TestLocalFiles:
    def test_a_file_above_64_mib_is_streamed_in_two_passes(
        self, directory: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messagebody.storage._offloading._offload._WHOLE", 1000)
        (tmp_path / "f").write_bytes(bytes(range(256)) * 10_000)
        body = MessageBody()
        body.add(tmp_path / "f", name="/f")
        small = offload(body, directory)
        assert inline(small, resolver=Resolver(allow=directory))["/f"].read_bytes() == (
            tmp_path / "f").read_bytes()  # fmt: skip

    @pytest.mark.parametrize("change", ["grow", "shrink", "rewrite", "vanish"])
    @pytest.mark.parametrize("whole", [10**9, 0])
    def test_a_file_that_changed_is_refused(
        self, directory: FileStore, tmp_path: Path, change: str, whole: int, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr("messagebody.storage._offloading._offload._WHOLE", whole)
        path = tmp_path / "f"
        path.write_bytes(b"a" * 300 * KIB)
        body = MessageBody()
        body.add(path, name="/f")
        _change(path, change)
        with pytest.raises(LocalFileChanged, match=str(path)):
            offload(body, directory)
        assert not directory.root.exists() or objects(directory) == []

    @pytest.mark.parametrize("change", ["grow", "shrink", "rewrite"])
    def test_a_file_that_changes_between_the_passes_is_refused(
        self, directory: FileStore, tmp_path: Path, change: str, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr("messagebody.storage._offloading._offload._WHOLE", 0)
        path = tmp_path / "f"
        path.write_bytes(b"a" * 3000 * KIB)
        body = MessageBody()
        body.add(path, name="/f")
        putting = FileStore.put

        def put(store: FileStore, key: str, blob: Any, **options: Any) -> bool:
            _change(path, change)
            return putting(store, key, blob, **options)

        monkeypatch.setattr(FileStore, "put", put)
        with pytest.raises(LocalFileChanged):
            offload(body, directory)
        assert objects(directory) == []

    def test_a_file_rewritten_with_its_old_time_is_found_by_its_bytes(
        self, directory: FileStore, tmp_path: Path, monkeypatch: Any
    ) -> None:
        import os

        monkeypatch.setattr("messagebody.storage._offloading._offload._WHOLE", 0)
        path = tmp_path / "f"
        path.write_bytes(b"a" * 3000 * KIB)
        putting, times = FileStore.put, path.stat()
        # Its time of change, which nobody can set, is unknown where a file system has none.
        file: Any = LocalFile(path, times.st_size, times.st_mtime_ns)
        body = MessageBody([Part(file, name="/f")])

        def put(store: FileStore, key: str, blob: Any, **options: Any) -> bool:
            path.write_bytes(b"b" * 3000 * KIB)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            return putting(store, key, blob, **options)

        monkeypatch.setattr(FileStore, "put", put)
        with pytest.raises(LocalFileChanged, match="while it was read"):
            offload(body, directory)
        assert objects(directory) == []

    def test_inline_reads_them(self, tmp_path: Path) -> None:
        body = mixed(tmp_path)
        done = inline(body)
        assert all(part.local_file is None for part in done)
        assert done["/talk.bin"].size == 500 * KIB


def _change(path: Path, change: str) -> None:
    data = path.read_bytes()
    match change:
        case "grow":
            path.write_bytes(data + b"x")
        case "shrink":
            path.write_bytes(data[:-1])
        case "rewrite":
            path.write_bytes(b"b" * len(data))
        case _:
            path.unlink()


class TestInline:
    def test_nothing_of_yours_is_open_by_itself(self, store: Store, tmp_path: Path) -> None:
        small = offload(mixed(tmp_path), store)
        with pytest.raises(UnsafeReference) as caught:
            inline(small)
        shared = "part '/charts/sales.png', part '/notes.txt', part '/talk.bin': points to"
        assert str(caught.value).startswith(f"3 parts were not read in. {shared} ")
        assert f'Resolver(allow=["{store.url}/"])' in str(caught.value)
        with pytest.raises(UnsafeReference, match=r"part '/talk\.bin' points to"):
            small["/talk.bin"].read_bytes()

    def test_a_bound_resolver_is_used(self, directory: FileStore, tmp_path: Path) -> None:
        body = mixed(tmp_path)
        bound = offload(body, directory).with_resolver(Resolver(allow=directory))
        assert inline(bound)["/talk.bin"].read_bytes() == body["/talk.bin"].read_bytes()
        assert bound["/notes.txt"].read_text() == "ü" * 200 * KIB
        assert verify(bound).findings[0].name == "/sources/1"

    @pytest.mark.parametrize(
        ("options", "names"),
        [
            ({}, ["/a", None]),
            ({"all": True}, ["/a", "/b", None, None]),
            ({"names": "/b"}, ["/b"]),
            ({"names": "/*"}, ["/a", "/b"]),
            ({"content_type": "image/*"}, ["/b"]),
            ({"names": "/nothing"}, []),
        ],
    )
    def test_chooses(
        self, directory: FileStore, options: dict[str, Any], names: list[str | None]
    ) -> None:
        directory.put("x", Bytes(b"hello"), content_type="a/b")
        url, digest = directory.url_of("x"), Part(b"hello").digest
        body = MessageBody(
            [
                Part(url=url, name="/a", digest=digest, content_type="text/plain"),
                Part(url=url, name="/b", content_type="image/png"),
                Part(url=url, digest=digest, content_type="text/plain"),
                Part(url=url, content_type="text/plain"),
            ]
        )
        done = inline(body, resolver=Resolver(allow=directory), **options)
        assert [part.name for part in done if not part.is_reference] == names

    def test_what_fails_is_one_error_naming_every_part(
        self, directory: FileStore, tmp_path: Path
    ) -> None:
        small = offload(mixed(tmp_path), directory)
        path = directory.root / (small["/charts/sales.png"].url or "").rsplit("/store/")[1]
        path.unlink()
        spoilt = directory.root / (small["/talk.bin"].url or "").rsplit("/store/")[1]
        spoilt.write_bytes(b"x" + spoilt.read_bytes()[1:])
        with pytest.raises(PartsFailed) as caught:
            inline(small, resolver=Resolver(allow=directory))
        kinds = {name: type(error) for name, error in caught.value.failures}
        assert kinds == {"part '/charts/sales.png'": ObjectNotFound,
                         "part '/talk.bin'": DigestMismatch}  # fmt: skip
        assert str(caught.value).startswith("2 parts were not read in. part '/charts/sales.png': ")
        findings = verify(small, resolver=Resolver(allow=directory)).findings
        assert [finding.name for finding in findings] == [
            "/charts/sales.png", "/sources/1", "/talk.bin"]  # fmt: skip
        assert not verify(small, resolver=Resolver(allow=directory), digest=False)

    def test_limits_count_over_the_body(self, directory: FileStore, tmp_path: Path) -> None:
        small = offload(mixed(tmp_path), directory)
        with pytest.raises(LimitExceeded, match=r"max_bytes is 1000 B"):
            inline(small, resolver=Resolver(allow=directory), max_bytes=1000)
        lying = MessageBody(
            p.evolve(url=p.url, digest=p.digest) for p in small if p.digest and p.url
        )
        with pytest.raises((LimitExceeded, PartsFailed), match="body_bytes"):
            inline(lying, resolver=Resolver(allow=directory), max_bytes=100 * KIB)
        tight = Resolver(allow=directory, limits=FetchLimits(part_bytes=10))
        with pytest.raises(PartsFailed, match="part_bytes"):
            inline(small, resolver=tight)


class TestReading:
    def test_open_reads_ranges_and_says_it_is_not_verified(
        self, store: Store, tmp_path: Path
    ) -> None:
        small = offload(mixed(tmp_path), store)
        with small["/charts/sales.png"].open(Resolver(allow=store)) as stream:
            assert stream.verified is False  # type: ignore[attr-defined]
            assert stream.read(4) == b"\x89PNG"
            assert stream.seek(-2, io.SEEK_END) == 300 * KIB + 2
            assert stream.read() == bytes(2)
            assert stream.seek(1) == 1
            assert stream.seek(1, io.SEEK_CUR) == 2
            assert stream.read(2) == b"NG"
            with pytest.raises(ValueError, match="negative"):
                stream.seek(-(9**9))

    @pytest.mark.dear
    def test_with_require_digest_open_verifies_first(
        self, directory: FileStore, tmp_path: Path
    ) -> None:
        small = offload(mixed(tmp_path), directory)
        strict = Resolver(allow=directory, require_digest=True)
        with small["/charts/sales.png"].open(strict) as stream:
            assert stream.verified is True  # type: ignore[attr-defined]
            assert stream.seek(-2, io.SEEK_END) == 300 * KIB + 2
            assert stream.read() == bytes(2)
        with pytest.raises(UnsafeReference, match="has no digest"):
            small["/sources/1"].evolve(url=small["/talk.bin"].url).read_bytes(strict)
        gc.collect()


class TestErrors:
    @pytest.mark.parametrize("patterns", [{"names": "/a/"}, {"content_type": "text/{"}])
    def test_a_pattern_that_can_select_nothing(
        self, patterns: dict[str, Any], directory: FileStore
    ) -> None:
        for call in (partial(offload, MessageBody(), directory), partial(inline, MessageBody())):
            with pytest.raises(InvalidPattern):
                call(**patterns)

    def test_an_error_leaves_the_body_as_it_was(self, tmp_path: Path) -> None:
        body = mixed(tmp_path)
        before = body.copy()
        (tmp_path / "store").write_text("no directory")
        with pytest.raises((StoreError, PartsFailed)):
            offload(body, tmp_path / "store")
        assert body == before

    def test_a_store_that_spoils_bytes_is_found_out(self, tmp_path: Path, monkeypatch: Any) -> None:
        class Spoiling(FileStore):
            def put(self, key: str, blob: Blob, **options: Any) -> bool:
                return super().put(key, Bytes(blob.read()[1:] + b"x"), **options)

        directory, body = Spoiling(tmp_path), MessageBody([Part(bytes(300 * KIB), name="/a")])
        with pytest.raises(DigestMismatch):
            offload(body, directory)
        with pytest.raises(DigestMismatch):
            offload(body, directory, verify="digest")
        monkeypatch.setattr(FileStore, "stat", lambda *_: None)
        with pytest.raises(DigestMismatch, match="nothing"):
            offload(body, directory, verify="size")

    def test_a_spoilt_object_under_the_key_is_written_again(self, directory: FileStore) -> None:
        body = MessageBody([Part(bytes(300 * KIB), name="/a")])
        small = offload(body, directory)
        path = directory.root / (small["/a"].url or "").rsplit("/store/")[1]
        for spoilt in (b"x" * 300 * KIB, b"short"):
            path.write_bytes(spoilt)
            assert offload(body, directory) == small
            assert path.read_bytes() == bytes(300 * KIB)

    @pytest.mark.parametrize("checksum", [True, False])
    def test_garbage_of_the_right_size_is_found_by_the_stores_own_checksum(
        self, checksum: bool, moto_store: Any
    ) -> None:
        data = os.urandom(400_000)
        body = MessageBody([Part(data, name="/a")])
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        garbage = Bytes(bytes(400_000), sha256_of(bytes(400_000)) if checksum else None)
        moto_store.put("sha256/" + digest[7:], garbage, content_type="a/b")
        small = offload(body, moto_store)
        assert inline(small, resolver=Resolver(allow=moto_store)) == body


class TestProgress:
    def test_a_callback_hears_of_every_byte(self, directory: FileStore, tmp_path: Path) -> None:
        callback = Callback()
        body = mixed(tmp_path)
        offload(body, directory, callback=callback)
        sizes = [part.size or 0 for part in body if (part.size or 0) > 256 * KIB]
        assert (callback.size, callback.value) == (sum(sizes), sum(sizes))

    def test_bytes_that_were_there_count_as_sent(self, tmp_path: Path) -> None:
        """Those of a part that another one equals, and of one that was stored before."""
        body = MessageBody([Part(b"a" * 2**21, name="/1"), Part(b"a" * 2**21, name="/2")])
        for _ in range(2):
            callback = Callback()
            offload(body, tmp_path / "store", callback=callback)
            assert callback.value == callback.size == 2 * 2**21


class Watching(FileStore):
    """A directory that counts what is put, and does something before it is read."""

    def __init__(self, root: Path, before: Callable[[], None]) -> None:
        super().__init__(root)
        self.count, self.before = 0, before

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        self.count += 1
        self.before()
        return super().put(key, blob, content_type=content_type, if_absent=if_absent)


class TestEqualParts:
    BODY = MessageBody([Part(b"a" * 1000, name=f"/{each}") for each in range(40)])

    def test_are_sent_once(self, tmp_path: Path) -> None:
        store = Watching(tmp_path, lambda: None)
        small = offload(self.BODY, store, threshold=0)
        assert store.count == 1
        assert inline(small, resolver=Resolver(allow=[tmp_path])) == self.BODY

    def test_fail_together(self, tmp_path: Path) -> None:
        def fail() -> None:
            raise StoreError("it is full", "file://")

        with pytest.raises(PartsFailed, match="40 parts were not offloaded"):
            offload(self.BODY, Watching(tmp_path, fail), threshold=0)
        with pytest.raises(StoreError, match="it is full, storing part '/1'"):
            offload(MessageBody([self.BODY[1]]), Watching(tmp_path, fail), threshold=0)

    def test_a_cancelled_write_leaves_nothing(self, tmp_path: Path) -> None:
        stop = Stop()
        with pytest.raises(Interrupted):
            offload(self.BODY, Watching(tmp_path, stop.set), threshold=0, stop=stop)
        assert [*FileStore(tmp_path).iter_objects()] == []

    def test_the_result_reads_as_the_body_does(self, tmp_path: Path) -> None:
        body = self.BODY.with_resolver(Resolver(allow=[tmp_path]))
        assert offload(body, tmp_path, threshold=0)[0].read_bytes() == b"a" * 1000
