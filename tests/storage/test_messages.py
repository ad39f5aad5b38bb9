"""The messages of a directory or a bucket, as they are when they are asked for."""

import os
from pathlib import Path

import pytest

from messagebody import Limits, MessageBody, Part
from messagebody.errors import DecodeError, StoreError
from messagebody.storage import Bytes, open_store
from messagebody.storage._stores.messages import StoredMessages


@pytest.fixture
def messages(tmp_path: Path) -> StoredMessages:
    return StoredMessages(open_store(tmp_path / "messages"))


def write(path: Path, text: str, age: float = 60) -> None:
    """Save a message as an editor does, some seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    MessageBody([Part(text)]).save(path)
    saved = path.stat().st_mtime - age
    os.utime(path, (saved, saved))


def test_they_come_change_and_go(messages: StoredMessages, tmp_path: Path) -> None:
    assert (bool(messages), [*messages], len(messages)) == (False, [], 0)
    file = tmp_path / "messages" / "deep" / "a.json"
    write(file, "one")
    assert [*messages] == ["deep/a"]
    first = messages["deep/a"]
    assert first()[0].text == "one"
    # What was not written again is the same, so that nobody reads it again.
    assert messages["deep/a"] == first
    write(file, "two")
    assert messages["deep/a"] != first
    assert messages["deep/a"]()[0].text == "two"
    file.unlink()
    assert "deep/a" not in messages
    with pytest.raises(StoreError):
        first()


def test_a_change_within_the_tick_of_a_clock_is_seen(
    messages: StoredMessages, tmp_path: Path
) -> None:
    file = tmp_path / "messages" / "a.json"
    write(file, "one", age=0)
    # Of a file that was written just now, nobody knows whether it will be written once more.
    assert messages["a"] != messages["a"]


def test_other_files_are_no_messages(messages: StoredMessages, tmp_path: Path) -> None:
    """A FIFO would never end, and a link may lead anywhere."""
    directory = tmp_path / "messages"
    write(directory / "a.json", "one")
    write(tmp_path / "secret.json", "secret")
    os.mkfifo(directory / "fifo.json")
    (directory / "link.json").symlink_to(tmp_path / "secret.json")
    (directory / "up").symlink_to(tmp_path)
    (directory / "directory.json").mkdir()
    for hidden in (".h.json", ".hidden/h.json", ".json", "notes.txt"):
        write(directory / hidden, "draft")
    assert [*messages] == ["a"]
    for name in (
        "fifo", "link", "up/secret", "../secret", "directory", ".h", ".hidden/h", "", ".", "..",
        "/a", "./a", "deep/../a", "a\0", "a\0b", "x" * 5_000, str(tmp_path / "secret"),
    ):  # fmt: skip
        try:
            found = name in messages
        except StoreError:
            continue
        assert not found, name
    # A file may be swapped between the look and the read.
    seen = messages["a"]
    (directory / "a.json").unlink()
    (directory / "a.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(StoreError):
        seen()


def test_a_key_of_a_foreign_filesystem_stays_inside() -> None:
    """Such a filesystem may follow ".." itself."""
    open_store("memory://outside").put("secret.json", Bytes(b"[]"), content_type="x/y")
    inside = open_store("memory://outside/in")
    inside.put("a.json", Bytes(b"[]"), content_type="x/y")
    messages = StoredMessages(inside)
    assert [*messages] == ["a"]
    assert "../secret" not in messages


def test_a_message_has_limits(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "x" * 100)
    messages = StoredMessages(open_store(tmp_path), Limits(json_bytes=99))
    with pytest.raises(DecodeError, match="json_bytes is 99 B"):
        messages["a"]()
    # Nobody waits for a file of three gigabytes, which takes no room on the disk.
    (tmp_path / "huge.json").touch()
    os.truncate(tmp_path / "huge.json", 3 * 2**30)
    messages = StoredMessages(open_store(tmp_path))
    with pytest.raises(DecodeError, match="3 GiB of JSON; the limit json_bytes is 256 MiB"):
        messages["huge"]()
