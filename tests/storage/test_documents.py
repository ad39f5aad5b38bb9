"""Documents at the URLs of stores, which others replace at any moment."""

from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.storage import Store, open_store
from messagebody.storage._stores.directory import FileStore
from messagebody.storage._stores.filesystem import FilesystemStore

MIB = 1 << 20


def version(letter: str) -> MessageBody:
    """Return a body of several pieces; a mixture of two of them is a body, too."""
    return MessageBody(Part(letter * MIB, name=f"/{number}") for number in range(3))


@pytest.mark.parametrize(("scheme", "kind"), [("file", FileStore), ("memory", FilesystemStore)])
def test_a_document_is_read_in_one_version(
    scheme: str, kind: type[Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{scheme}://{tmp_path}/m.json"
    version("a").save(url)
    read_range = kind.read_range

    def replaced(self: Any, key: str, start: int, end: int) -> bytes:
        found = read_range(self, key, start, end)
        version("b").save(url)
        return found

    monkeypatch.setattr(kind, "read_range", replaced)
    assert MessageBody.load(url) == version("a")
    assert MessageBody.load(url) == version("b")


def test_a_document_is_read_to_its_end(tmp_path: Path) -> None:
    """One read of a file may return less than it was asked for."""
    version("a").save(tmp_path / "m.json")
    store = open_store(tmp_path)
    data = (tmp_path / "m.json").read_bytes()
    assert store.read_range("m.json", 0, 1 << 40) == data
    assert store.read_range("m.json", 5, MIB) == data[5:MIB]
    assert store.read_range("m.json", len(data), 1 << 40) == b""


def test_a_schema_is_a_document(tmp_path: Path) -> None:
    schema = MessageBodySchema([("/a", "text/*", True)])
    schema.save(f"file://{tmp_path}/s.json")
    assert MessageBodySchema.load(f"file://{tmp_path}/s.json") == schema
