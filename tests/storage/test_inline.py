"""Fetch: one part becomes a file, whatever it is."""

import os
from pathlib import Path
from typing import Any

import pytest
from fsspec.callbacks import Callback

from messagebody import MessageBody, Part, Resolver, fetch, migrate, offload
from messagebody.errors import LocalFileChanged, UnsafeReference
from messagebody.storage import Store, open_store

DATA = os.urandom(9 * 1024 * 1024)  # more than is kept in memory


@pytest.fixture(params=["file", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "s3":
        found: Store = request.getfixturevalue("moto_store")
        return found
    return open_store(tmp_path / "s" if request.param == "file" else f"memory://{tmp_path.name}")


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
