"""A directory as a store: whole or not at all, and never through a link."""

import errno
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody.errors import AccessDenied, ObjectNotFound, StoreError
from messagebody.storage import Bytes, open_store

KEY = "sha256/" + "a" * 64


@attrs.frozen
class Breaking:
    """A blob whose reading fails in the middle."""

    error: BaseException
    size: int = 3_000_000
    digest: str | None = None

    def read(self) -> bytes:
        raise self.error

    def buffers(self, length: int) -> Iterator[bytes]:
        yield bytes(length)
        raise self.error


def files(directory: Path) -> list[str]:
    return sorted(p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_file())


class TestOpening:
    @pytest.mark.parametrize("spelling", ["path", "url", "spaces"])
    def test_a_path_and_its_url_are_one_store(self, tmp_path: Path, spelling: str) -> None:
        root = tmp_path / "my objects ü"
        root.mkdir()
        store = open_store(root if spelling == "path" else root.as_uri())
        assert store.put(KEY, Bytes(b"x"), content_type="a/b")
        assert files(root) == [KEY]
        assert store.url == root.as_uri()
        assert store.url_of(KEY) == f"{root.as_uri()}/{KEY}"

    @pytest.mark.parametrize(
        "url", ["file://host/a", "file:relative", "file:///a?b", "file:///%00"]
    )
    def test_other_urls_are_refused(self, url: str) -> None:
        with pytest.raises(StoreError):
            open_store(url)

    @pytest.mark.parametrize("name", [b"a\\b", b"a\tb", b"a\nb", b"a\x7f"])
    def test_a_directory_that_could_not_be_read_is_refused(
        self, name: bytes, tmp_path: Path
    ) -> None:
        """A reference to it would be no URL that a resolver accepts, whatever it allows."""
        with pytest.raises(StoreError, match="could not be read"):
            open_store(tmp_path / os.fsdecode(name))

    @pytest.mark.parametrize("name", ["a b", "ü", "a%2eb", "a+b=c;d", "a[1]", "~x", "\udcff"])
    def test_what_is_written_can_be_read(self, name: str, tmp_path: Path) -> None:
        store = open_store(tmp_path / name)
        store.put(KEY, Bytes(b"hello"), content_type="a/b")
        assert Resolver(allow=store).fetch(store.url_of(KEY)).read() == b"hello"

    def test_the_root_directory_has_a_url(self) -> None:
        assert open_store(Path("/")).url_of("x") == "file:///x"

    def test_nothing_is_made_before_the_first_write(self, tmp_path: Path) -> None:
        store = open_store(tmp_path / "later")
        assert store.stat(KEY) is None
        assert list(store.iter_objects()) == []
        store.delete(KEY)
        assert not (tmp_path / "later").exists()


class TestWriting:
    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_a_failure_leaves_nothing(self, tmp_path: Path, error: BaseException) -> None:
        store = open_store(tmp_path)
        with pytest.raises((StoreError, KeyboardInterrupt)):
            store.put(KEY, Breaking(error), content_type="a/b")
        assert files(tmp_path) == []

    def test_a_full_disk_at_fsync_is_a_store_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_: int) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="Input/output error") as caught:
            open_store(tmp_path).put(KEY, Bytes(b"x"), content_type="a/b")
        assert caught.value.key == KEY
        assert files(tmp_path) == []

    @pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
    def test_a_file_system_without_hard_links(
        self, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "link", refuse)
        store = open_store(tmp_path)
        assert store.put(KEY, Bytes(b"old"), content_type="a/b")
        assert not store.put(KEY, Bytes(b"new"), content_type="a/b")
        assert store.read_range(KEY, 0, 9) == b"old"
        assert files(tmp_path) == [KEY]

    def test_another_failure_of_the_link_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "link", refuse)
        with pytest.raises(StoreError, match="Input/output error"):
            open_store(tmp_path).put(KEY, Bytes(b"old"), content_type="a/b")
        assert files(tmp_path) == []

    def test_a_directory_that_is_a_file_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "sha256").write_text("x")
        with pytest.raises(StoreError):
            open_store(tmp_path).put(KEY, Bytes(b"x"), content_type="a/b")


class TestLinks:
    def test_a_link_at_the_key_is_replaced_and_its_target_left_alone(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("mine")
        root = tmp_path / "store"
        (root / "sha256").mkdir(parents=True)
        (root / KEY).symlink_to(secret)
        store = open_store(root)
        assert store.stat(KEY) is None
        with pytest.raises(ObjectNotFound):
            store.read_range(KEY, 0, 4)
        with pytest.raises(ObjectNotFound):
            list(store.stream(KEY))
        assert list(store.iter_objects()) == []
        assert not store.put(KEY, Bytes(b"x"), content_type="a/b")
        assert store.put(KEY, Bytes(b"x"), content_type="a/b", if_absent=False)
        assert secret.read_text() == "mine"
        assert store.read_range(KEY, 0, 4) == b"x"

    def test_a_link_on_the_way_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "store").mkdir()
        (tmp_path / "store" / "sha256").symlink_to(tmp_path / "elsewhere")
        store = open_store(tmp_path / "store")
        with pytest.raises(StoreError):
            store.put(KEY, Bytes(b"x"), content_type="a/b")
        assert files(tmp_path) == []

    def test_a_fifo_is_no_object(self, tmp_path: Path) -> None:
        (tmp_path / "sha256").mkdir()
        os.mkfifo(tmp_path / KEY)
        store = open_store(tmp_path)
        assert store.stat(KEY) is None
        with pytest.raises(ObjectNotFound):
            store.read_range(KEY, 0, 1)

    @pytest.mark.parametrize("key", ["../x", "a//b", "/etc/passwd", "a/./b", "a\x00b", ""])
    def test_a_key_can_not_leave_the_directory(self, tmp_path: Path, key: str) -> None:
        store = open_store(tmp_path / "store")
        with pytest.raises(StoreError):
            store.put(key, Bytes(b"x"), content_type="a/b")
        assert files(tmp_path) == []

    def test_a_key_may_have_many_levels(self, tmp_path: Path) -> None:
        """More than Python recurs, which would take a thousand directories here."""
        store, key = open_store(tmp_path), "d/" * 150 + "a"
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack(0)) + 100)
        try:
            store.put(key, Bytes(b"deep"), content_type="a/b")
            found = [each.key for each in store.iter_objects()]
        finally:
            sys.setrecursionlimit(before)
        assert found == [key]
        assert store.read_range(key, 0, 4) == b"deep"


class TestReading:
    def test_a_version_changes_with_every_write(self, tmp_path: Path) -> None:
        """A program can set the time, but not the version."""
        store, found = open_store(tmp_path), []
        for _ in range(2):
            store.put(KEY, Bytes(b"0123456789"), content_type="a/b", if_absent=False)
            os.utime(tmp_path / KEY, (1000, 1000))
            found.append(store.stat(KEY))
        assert found[0] != found[1]
        assert {each and each.modified for each in found} == {1000.0}
        assert [*store.iter_objects()] == found[1:]

    def test_denied_is_a_permission_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = open_store(tmp_path)
        store.put(KEY, Bytes(b"x"), content_type="a/b")

        def deny(*_: object, **__: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "open", deny)
        with pytest.raises(AccessDenied) as caught:
            store.read_range(KEY, 0, 1)
        assert isinstance(caught.value, PermissionError)

    def test_cannot_sign_or_abort(self, tmp_path: Path) -> None:
        store = open_store(tmp_path)
        with pytest.raises(StoreError, match="can't sign"):
            store.sign(KEY, expires=1, content_type="a/b", disposition="inline")
        assert list(store.iter_uploads()) == []
        assert repr(store) == f"<store {store.url}>"


@pytest.mark.parametrize("spelled", ["/{}/x", "./x", "../{}/x", "~/x"])
def test_text_that_can_only_be_a_directory_is_one(
    spelled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    above = str(tmp_path).removeprefix("/") if spelled.startswith("/") else tmp_path.name
    place = spelled.format(above)
    body = MessageBody([Part(bytes(300_000), name="/a")])
    small = offload(body, place)
    assert str(small["/a"].url).startswith((tmp_path / "x").as_uri())
    assert inline(small, resolver=Resolver(allow=[place])) == body


@pytest.mark.parametrize("word", ["x", "s3//bucket", "x/y", ".x", ""])
def test_a_word_may_be_a_bucket_and_is_refused(word: str) -> None:
    with pytest.raises(StoreError, match=r"a directory is '\./"):
        open_store(word)
