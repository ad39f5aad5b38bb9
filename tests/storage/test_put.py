"""Put: content into a store without a body around it."""

import io
import os
from pathlib import Path
from typing import Any

import pytest

from messagebody import Part, Resolver, put_content
from messagebody._base.digests import sha256_of
from messagebody.errors import InvalidPart, StoreError
from messagebody.storage import Store, open_store

DATA = os.urandom(9 * 1024 * 1024)  # more than is kept in memory


@pytest.fixture(params=["file", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "s3":
        found: Store = request.getfixturevalue("moto_store")
        return found
    return open_store(
        tmp_path / "store" if request.param == "file" else f"memory://{tmp_path.name}"
    )


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
