"""Writes that offload: large content is a verified reference, small content stays here."""

import gzip
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver, offload
from messagebody._base.digests import sha256_of
from messagebody.errors import UnsafeReference
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.filesystem._write_through import Spilling

LARGE, SMALL = b"0123456789" * 500, b"small"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def fs(store: Path) -> MessageBodyFileSystem:
    return MessageBody([Part("old", name="/old.md")]).filesystem(
        offload_to=store, threshold="1 KiB", resolver=Resolver(allow=[store])
    )


def test_what_it_wrote_is_read_through_the_cache_of_its_resolver(
    store: Path, tmp_path: Path
) -> None:
    resolver = Resolver(allow=[store], cache=tmp_path / "cache")
    fs = MessageBody().filesystem(offload_to=store, threshold=0, resolver=resolver)
    fs.pipe_file("/new", LARGE)
    assert fs.cat_file("/new") == LARGE
    assert [path.read_bytes() for path in (tmp_path / "cache").iterdir()].count(LARGE) == 1


def objects(store: Path) -> list[Path]:
    return sorted(path for path in store.rglob("*") if path.is_file())


def by_open(fs: Any, path: str, content: bytes, tmp_path: Path) -> None:
    with fs.open(path, "wb") as file:
        for start in range(0, len(content), 7):
            file.write(content[start : start + 7])


def by_put(fs: Any, path: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(content)
    fs.put(str(tmp_path / "local"), path)
    (tmp_path / "local").unlink()


def by_append(fs: Any, path: str, content: bytes, tmp_path: Path) -> None:
    with fs.open(path, "wb") as file:
        file.write(content[:3])
    with fs.open(path, "ab") as file:
        file.write(content[3:])


WRITES: dict[str, Callable[[Any, str, bytes, Path], Any]] = {
    "open": by_open,
    "put": by_put,
    "append": by_append,
    "pipe_file": lambda fs, path, content, _: fs.pipe_file(path, content),
    "mapper": lambda fs, path, content, _: fs.get_mapper("/").update({path[1:]: content}),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("content", [LARGE, SMALL], ids=["large", "small"])
def test_what_is_large_is_a_reference(
    fs: Any, store: Path, tmp_path: Path, write: Any, content: bytes
) -> None:
    write(fs, "/new.csv", content, tmp_path)
    part = fs.body["/new.csv"]
    assert part.is_reference == (content is LARGE)
    assert (part.size, part.digest) == (len(content), sha256_of(content))
    assert part.content_type == "text/csv"
    assert fs.cat_file("/new.csv") == content
    again = offload(MessageBody([Part(content, name="/new.csv")]), store, threshold="1 KiB")
    assert again["/new.csv"].url == part.url


def test_who_writes_to_a_store_may_not_read_it_for_that(fs: Any, store: Path) -> None:
    fs.pipe_file("/new", LARGE)
    with pytest.raises(UnsafeReference):
        fs.body.filesystem(offload_to=store).cat_file("/new")


def test_an_overwritten_part_keeps_place_and_type(fs: Any, store: Path) -> None:
    fs.pipe_file("/last", b"x")
    by_open(fs, "/old.md", LARGE, store)
    part = fs.body[0]
    assert (part.name, part.content_type, part.is_reference) == ("/old.md", "text/markdown", True)
    fs.pipe_file("/old.md", SMALL)
    assert not fs.body[0].is_reference


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_refused_is_not_sent(fs: Any, store: Path, tmp_path: Path, write: Any) -> None:
    for path, options in (("/old.md/below", {}), ("/new", {"read_only": True})):
        refusing = fs.body.filesystem(offload_to=store, threshold=0, **options)
        with pytest.raises(OSError, match=r"Not a directory|File exists|Read-only"):
            write(refusing, path, LARGE, tmp_path)
    assert objects(store) == []


def test_a_failure_leaves_the_old_content(fs: Any, store: Path) -> None:
    before = fs.body.copy()
    with pytest.raises(ZeroDivisionError), fs.open("/old.md", "wb") as file:  # noqa: PT012
        file.write(LARGE)
        raise ZeroDivisionError
    assert fs.body == before
    assert objects(store) == []


def test_a_transaction_makes_the_parts_together(fs: Any) -> None:
    with pytest.raises(ZeroDivisionError), fs.transaction:  # noqa: PT012
        by_open(fs, "/new", LARGE, Path())
        fs.pipe_file("/newer", LARGE)
        raise ZeroDivisionError
    assert fs.find("/") == ["/old.md"]
    with fs.transaction:
        by_open(fs, "/new", LARGE, Path())
        assert "/new" not in fs.body
    assert fs.body["/new"].is_reference


@pytest.mark.parametrize(("size", "is_reference"), [(2, False), (1024, False), (5000, True)])
def test_a_file_that_is_cut_or_grown(fs: Any, size: int, is_reference: bool) -> None:
    with fs.open("/a.bin", "wb") as file:
        file.write(b"abc")
        file.truncate(size)
    assert fs.cat_file("/a.bin") == b"abc".ljust(size, b"\0")[:size]
    assert fs.body["/a.bin"].is_reference == is_reference


def test_a_file_that_was_large_and_is_cut(fs: Any, store: Path) -> None:
    with fs.open("/a.bin", "wb") as file:
        file.write(LARGE)
        file.truncate(3)
    assert fs.body["/a.bin"].read_bytes() == LARGE[:3]
    assert objects(store) == []


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_everything_goes_to_the_store(tmp_path: Path, write: Any) -> None:
    """But what is empty: it is not longer than a threshold of 0."""
    fs = MessageBody().filesystem(
        offload_to=tmp_path / "store", threshold=0, resolver=Resolver(allow=[tmp_path])
    )
    write(fs, "/new.csv", b"abcd", tmp_path)
    assert (fs.body["/new.csv"].is_reference, fs.cat_file("/new.csv")) == (True, b"abcd")
    write(fs, "/empty.csv", b"", tmp_path)
    assert not fs.body["/empty.csv"].is_reference


def test_a_file_that_is_written_out_of_order(fs: Any) -> None:
    with fs.open("/a.zip", "w+b") as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("one.bin", bytes(range(256)) * 20)
        assert file.size > 1024
        assert (file.name, file.path, file.mode) == ("messagebody:///a.zip", "/a.zip", "w+b")
    assert fs.body["/a.zip"].is_reference
    with fs.open("/a.zip") as file:
        assert zipfile.ZipFile(file).namelist() == ["one.bin"]


def test_text_and_compression(fs: Any) -> None:
    with fs.open("/t.txt", "w") as file:
        file.write("ü" * 2000)
    with fs.open("/t.gz", "wb", compression="gzip") as file:
        for number in range(1000):
            file.write(sha256_of(b"%d" % number).encode())
    assert [fs.body[name].is_reference for name in ("/t.txt", "/t.gz")] == [True, True]
    assert fs.read_text("/t.txt") == "ü" * 2000
    assert gzip.decompress(fs.cat_file("/t.gz")).startswith(b"sha256:")


def test_what_is_written_is_not_held(tmp_path: Path) -> None:
    fs = MessageBody().filesystem(offload_to=tmp_path / "store")
    chunk = bytes(1 << 20)
    fs.pipe_file("/first", chunk)  # what is loaded once
    tracemalloc.start()
    with fs.open("/large", "wb") as file:
        for _ in range(48):
            file.write(chunk)
    (tmp_path / "large").write_bytes(chunk * 40)
    tracemalloc.reset_peak()
    fs.put_file(tmp_path / "large", "/put")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (fs.body["/large"].size, fs.body["/put"].size) == (48 << 20, 40 << 20)
    assert peak < 24 << 20  # the store's own buffers


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.binary(max_size=4)),
            st.tuples(st.just("seek"), st.integers(0, 12)),
            st.tuples(st.just("truncate"), st.none() | st.integers(0, 12)),
            st.tuples(st.just("read"), st.integers(0, 12)),
        )
    )
)
def test_a_file_that_spills_is_a_file(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "spilling"
    with path.open("w+b") as expected, Spilling(max_size=8) as found:
        for step, value in steps:
            results = [getattr(file, step)(value) for file in (expected, found)]
            assert step != "read" or results[0] == results[1]
            assert expected.tell() == found.tell()
        assert found.size == expected.seek(0, 2)
        for file in (expected, found):
            file.seek(0)
        assert found.read() == expected.read()
