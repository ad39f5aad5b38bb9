"""Put and fetch: content without a body becomes a reference, and one part becomes a file."""

import io
import os
from pathlib import Path
from typing import Any

import pytest
from fsspec.callbacks import Callback

from messagebody import MessageBody, Part, Resolver, fetch, migrate, offload, put_content
from messagebody._base.digests import sha256_of
from messagebody.errors import InvalidPart, LocalFileChanged, StoreError, UnsafeReference
from messagebody.storage import Store

DATA = os.urandom(9 * 1024 * 1024)  # more than is kept in memory


@pytest.mark.parametrize("kind", ["bytes", "path", "file", "stream"])
@pytest.mark.dear
def test_content_becomes_a_reference(kind: str, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "talk.mp4"
    path.write_bytes(DATA)
    with path.open("rb") as file:
        content: Any = {"bytes": DATA, "path": path, "file": file, "stream": io.BytesIO(DATA)}[kind]
        reference = put_content(store, content, content_type="video/mp4")
    assert reference.url == store.url_of("sha256/" + sha256_of(DATA)[7:])
    assert (reference.size, reference.digest) == (len(DATA), sha256_of(DATA))
    part = Part(
        url=reference.url, size=reference.size, digest=reference.digest, content_type="video/mp4"
    )
    assert part.read_bytes(Resolver(allow=store)) == DATA
    assert put_content(store, DATA) == reference
    assert len([*store.iter_objects()]) == 1


def test_what_is_no_content(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="binary mode"):
        put_content(tmp_path, io.StringIO("text"))  # type: ignore[arg-type]
    with pytest.raises(InvalidPart, match="No such file"):
        put_content(tmp_path, tmp_path / "missing")
    assert [*tmp_path.iterdir()] == []


def test_a_reference_is_streamed_and_counted(store: Store, tmp_path: Path) -> None:
    small = offload(MessageBody([Part(DATA, name="/a.bin")]), store)
    callback, path = Callback(), tmp_path / "a.bin"
    path.write_text("old")
    bound = small.with_resolver(Resolver(allow=store))
    assert fetch(bound["/a.bin"], path, callback=callback) == path
    assert path.read_bytes() == DATA
    assert (callback.size, callback.value) == (len(DATA), len(DATA))
    with pytest.raises(UnsafeReference):
        fetch(small["/a.bin"], path)


@pytest.mark.parametrize("content", ["text ü", b"bytes", ""])
def test_content_that_is_here(content: Any, tmp_path: Path) -> None:
    part = Part(content)
    assert fetch(part, tmp_path / "x").read_bytes() == part.read_bytes()


def test_a_local_file_is_copied_unless_it_changed(tmp_path: Path) -> None:
    source = tmp_path / "talk.bin"
    source.write_bytes(DATA)
    body = MessageBody()
    part = body.add(source, name="/talk.bin")
    assert fetch(part, tmp_path / "copy").read_bytes() == DATA
    source.write_bytes(DATA[::-1] + b"x")
    with pytest.raises(LocalFileChanged):
        fetch(part, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_migrate_counts_too(store: Store, tmp_path: Path) -> None:
    callback = Callback()
    small = offload(MessageBody([Part(DATA, name="/a.bin")]), store)
    migrate(small, tmp_path / "archive", source=store, callback=callback)
    assert (callback.size, callback.value) == (len(DATA), len(DATA))
