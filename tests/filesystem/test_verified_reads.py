"""Whole files of references: verified before anything is handed out, in few requests, at once."""

import errno
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pytest
from upath import UPath

from messagebody import MessageBody, Part, Resolver, offload
from messagebody._base.digests import sha256_of
from messagebody.errors import DigestMismatch
from messagebody.storage import Blob, Stat, Store, open_store
from tests.effort import one_in

CONTENT = b"0123456789" * 100


class CountingStore(Store):
    """A store that counts what it is asked, and can wait for several requests at a time."""

    def __init__(self, store: Store) -> None:
        self.store, self.url = store, store.url
        self.asked: Counter[str] = Counter()
        self.together = threading.Barrier(1)

    def _count(self, what: str) -> Store:
        self.asked[what] += 1
        self.together.wait(timeout=10)
        return self.store

    def stat(self, key: str) -> Stat | None:
        return self._count("stat").stat(key)

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        return self.store.put(key, blob, content_type=content_type, if_absent=if_absent)

    def read_range(self, key: str, start: int, end: int) -> bytes:
        self.asked["bytes"] += end - start
        return self._count("range").read_range(key, start, end)

    def stream(self, key: str) -> Iterator[bytes]:
        yield from self._count("stream").stream(key)

    def iter_objects(self) -> Iterator[Stat]:
        return self.store.iter_objects()

    def delete(self, key: str) -> None:
        self.store.delete(key)


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(open_store(tmp_path / "store"))


@pytest.fixture
def body(store: CountingStore) -> MessageBody:
    whole = MessageBody([Part(CONTENT + bytes([n]), name=f"/d/{n}.bin") for n in range(20)])
    return offload(whole, store, threshold=0)


@pytest.fixture
def fs(body: MessageBody, store: CountingStore) -> Any:
    return body.filesystem(resolver=Resolver(allow=[store]))


def to_disk(get: Callable[[Any, str], Any]) -> Callable[[Any, Path], bytes]:
    def read(fs: Any, out: Path) -> bytes:
        get(fs, str(out / "x"))
        return (out / "x").read_bytes()

    return read


WHOLE: dict[str, Callable[[Any, Path], Any]] = {
    "get": to_disk(lambda fs, to: fs.get("/d/0.bin", to)),
    "get_file": to_disk(lambda fs, to: fs.get_file("/d/0.bin", to)),
    "download": to_disk(lambda fs, to: fs.download("/d/0.bin", to)),
    "get recursive": lambda fs, out: (
        fs.get("/d", str(out / "all"), recursive=True), (out / "all" / "0.bin").read_bytes(),
    )[1],
    "read_text": lambda fs, _: fs.read_text("/d/0.bin", encoding="latin-1").encode("latin-1"),
    "read_bytes": lambda fs, _: fs.read_bytes("/d/0.bin"),
    "cat": lambda fs, _: fs.cat("/d/*", on_error="raise")["/d/0.bin"],
    "cat_ranges": lambda fs, _: fs.cat_ranges(["/d/0.bin"], [0], [1001], on_error="raise")[0],
    "cat_file to the end": lambda fs, _: fs.cat_file("/d/0.bin", 0, 5000),
    "mapper": lambda fs, _: fs.get_mapper("/d")["0.bin"],
    "url": lambda fs, _: fsspec.open(fs.url("/d/0.bin"), "rb").fs.cat_file("/d/0.bin"),
    "open": lambda fs, _: fs.open("/d/0.bin").read(),
    "open in chunks": lambda fs, _: b"".join(iter(partial(fs.open("/d/0.bin").read, 100), b"")),
    "open as text": lambda fs, _: fs.open("/d/0.bin", "r", encoding="latin-1").read().encode(),
    "lines": lambda fs, _: b"".join(fs.open("/d/0.bin")),
    "fsspec.open": lambda fs, _: fsspec.open(fs.url("/d/0.bin")).open().read(),
    "path, bytes": lambda fs, _: UPath(fs.url("/d/0.bin")).read_bytes(),
    "path, text": lambda fs, _: UPath(fs.url("/d/0.bin")).read_text(encoding="latin-1").encode(),
    "append": lambda fs, _: fs.open("/d/0.bin", "ab").close() or fs.cat_file("/d/0.bin"),
    "change": lambda fs, _: fs.open("/d/0.bin", "r+b").read(),
}  # fmt: skip


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(read, id=name, marks=pytest.mark.leaf("views") if "path" in name else ())
        for name, read in WHOLE.items()
    ],
)
class TestWholeReads:
    def test_they_return_what_is_there(
        self, read: Callable[[Any, Path], Any], fs: Any, tmp_path: Path
    ) -> None:
        assert read(fs, tmp_path) == CONTENT + b"\0"

    @pytest.mark.parametrize("damage", one_in(3, ["other", "short", "long"]))
    def test_wrong_bytes_are_handed_to_nobody(
        self, read: Callable[[Any, Path], Any], fs: Any, tmp_path: Path, damage: str
    ) -> None:
        path = Path(str(fs.body["/d/0.bin"].url).removeprefix("file://"))
        data = {"other": b"X" * 1001, "short": CONTENT[:5], "long": CONTENT * 3}[damage]
        path.chmod(0o644)
        path.write_bytes(data)
        with pytest.raises(DigestMismatch):
            read(fs, tmp_path)
        assert not (tmp_path / "x").exists()
        assert not (tmp_path / "all" / "0.bin").exists()


class TestRequests:
    def test_a_whole_file_is_one(self, fs: Any, store: CountingStore, tmp_path: Path) -> None:
        fs.get("/d", str(tmp_path / "out"), recursive=True)
        assert store.asked == {"stream": 20}
        store.asked.clear()
        assert fs.cat("/d", recursive=True).keys() == {*fs.find("/d")}
        assert store.asked == {"stream": 20}

    def test_sizes_that_are_stated_are_not_asked_for(self, fs: Any, store: CountingStore) -> None:
        assert fs.du("/") == 20 * 1001
        assert fs.cat_file("/d/1.bin", -5) == CONTENT[-4:] + b"\1"
        assert fs.cat_file("/d/1.bin", 990) == CONTENT[990:] + b"\1"
        assert store.asked == {"range": 2, "bytes": 5 + 11}

    def test_nothing_is_asked_for_beyond_the_size(self, fs: Any, store: CountingStore) -> None:
        assert fs.cat_file("/d/1.bin", 1001, 2000) == b""
        assert fs.cat_file("/d/1.bin", 150_000, 150_010) == b""
        assert fs.cat_file("/d/1.bin", 5, 5) == fs.cat_file("/d/1.bin", 9, 2) == b""
        assert not store.asked
        assert fs.cat_file("/d/1.bin", 1, 10**15) == CONTENT[1:] + b"\1"
        assert store.asked == {"range": 1, "bytes": 1000}

    @pytest.mark.parametrize(
        "act",
        [
            lambda fs, out: fs.get("/d", str(out / "out"), recursive=True),
            lambda fs, _: fs.cat("/d/*"),
            lambda fs, _: fs.cat_ranges(fs.find("/d"), 0, 10, on_error="raise"),
        ],
        ids=["get", "cat", "cat_ranges"],
    )
    def test_several_at_a_time(
        self, fs: Any, store: CountingStore, tmp_path: Path, act: Callable[[Any, Path], Any]
    ) -> None:
        store.together = threading.Barrier(4)  # which breaks if they come one by one
        act(fs, tmp_path)
        assert store.asked["stream"] + store.asked["range"] == 20

    def test_sizes_are_asked_for_several_at_a_time(
        self, body: MessageBody, store: CountingStore
    ) -> None:
        loose = MessageBody(Part(url=part.url, name=part.name) for part in body)
        fs = loose.filesystem(resolver=Resolver(allow=[store]))
        store.together = threading.Barrier(4)
        assert fs.du("/") == 20 * 1001
        assert fs.du("/", total=False)["/d/3.bin"] == 1001
        assert store.asked == {"stat": 20}

    def test_an_error_is_the_one_of_the_file(self, fs: Any, tmp_path: Path) -> None:
        fs.body.add(url="https://example.invalid:444/x", name="/d/refused")
        with pytest.raises(PermissionError) as caught:
            fs.get("/d", str(tmp_path / "out"), recursive=True)
        assert (caught.value.errno, caught.value.filename) == (errno.EACCES, "/d/refused")
        found = fs.cat("/d/*", on_error="return")
        assert isinstance(found["/d/refused"], PermissionError)
        assert "/d/refused" not in fs.cat("/d/*", on_error="omit")
        found = fs.cat_ranges(["/d/refused", "/d/0.bin"], 0, 3)
        assert (type(found[0]).__name__, found[1]) == ("UnsafeReference", b"012")


class TestKeys:
    def test_they_hold_no_signature(self) -> None:
        url = "https://example.com/x?X-Amz-Signature=secret"
        body = MessageBody([Part(url=url, name="/a"), Part("x", name="/b")])
        assert "secret" not in body.fs.ukey("/a")
        assert body.fs.ukey("/b") == sha256_of(b"x")


@pytest.mark.parametrize("options", ["cache", "digest"])
def test_what_is_read_whole_opens_as_a_file_with_a_name(options: str, tmp_path: Path) -> None:
    """Content from a cache, or spooled to disk, is a file like any other to libraries."""
    store, content = open_store("memory://opened"), b"a,b\n1,2\n" * 1_200_000
    body = offload(MessageBody([Part(content, name="/x.csv")]), store)
    resolver = Resolver(allow=[store], cache=tmp_path) if options == "cache" else Resolver(
        allow=[store], require_digest=True
    )  # fmt: skip
    fs = body.filesystem(resolver=resolver)
    for _ in range(2):
        with fs.open("/x.csv") as file:
            assert (file.name, file.size) == ("messagebody:///x.csv", len(content))
            assert file.read() == content
        with fs.open("/x.csv", "rt") as text:
            assert text.readline() == "a,b\n"
