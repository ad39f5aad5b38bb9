"""Directories to bodies and back: nothing outside is touched, all refusals come together."""

import os
import socket
from pathlib import Path

import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.errors import InvalidPart, LocalFileChanged, RefusedPaths
from messagebody.interop.directory import pack, unpack


def snapshot(directory: Path) -> dict[str, bytes | str]:
    """Return everything below a directory, links as they are."""
    found: dict[str, bytes | str] = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = "directory"
    return found


def body_of(**files: str) -> MessageBody:
    return MessageBody([Part(text, name="/" + name) for name, text in files.items()])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


class TestUnpack:
    def test_writes_every_named_part(self, out: Path) -> None:
        body = MessageBody(
            [Part("shown"), Part("1", name="/a/1.txt"), Part(b"\0\xff", name="/b.bin")]
        )
        assert unpack(body, out) == [out / "a/1.txt", out / "b.bin"]
        assert snapshot(out) == {"a": "directory", "a/1.txt": b"1", "b.bin": b"\0\xff"}

    def test_a_name_and_one_below_it(self, out: Path) -> None:
        body = MessageBody([Part("x", name="/ok"), Part("f", name="/a"), Part("b", name="/a/b")])
        with pytest.raises(RefusedPaths, match="'/a'"):
            unpack(body, out)
        assert not out.exists()

    def test_names_equal_after_case_folding(self, out: Path) -> None:
        body = MessageBody([Part("1", name="/README"), Part("2", name="/readme")])
        with pytest.raises(RefusedPaths, match="'/readme'"):
            unpack(body, out, portable=True)
        assert not out.exists()

    @pytest.mark.parametrize("name", ["/CON", "/nul.txt", "/a/COM1", "/lpt9.log", "/a."])
    def test_names_other_systems_refuse(self, out: Path, name: str) -> None:
        with pytest.raises(RefusedPaths):
            unpack(MessageBody([Part("x", name=name)]), out, portable=True)
        assert not out.exists()

    def test_all_refusals_together(self, out: Path) -> None:
        body = MessageBody(
            [Part("1", name="/CON"), Part("2", name="/x"), Part("3", name="/X"),
             Part(url="file:///etc/passwd", name="/passwd")]
        )  # fmt: skip
        with pytest.raises(RefusedPaths) as caught:
            unpack(body, out, portable=True)
        text = str(caught.value)
        assert all(name in text for name in ("/CON", "/X", "/passwd"))
        assert not out.exists()

    def test_a_directory_that_is_not_empty(self, out: Path) -> None:
        out.mkdir()
        (out / "mine").write_text("mine")
        before = snapshot(out)
        with pytest.raises(RefusedPaths):
            unpack(body_of(a="x"), out)
        assert snapshot(out) == before
        unpack(body_of(a="x"), out, into=True)
        assert snapshot(out) == {**before, "a": b"x"}

    def test_nothing_is_overwritten_unasked(self, out: Path) -> None:
        out.mkdir()
        (out / "b").write_text("mine")
        with pytest.raises(RefusedPaths, match="'/b'"):
            unpack(body_of(a="x", b="y"), out, into=True)
        assert snapshot(out) == {"b": b"mine"}
        unpack(body_of(a="x", b="y"), out, into=True, overwrite=True)
        assert snapshot(out) == {"a": b"x", "b": b"y"}

    @pytest.mark.parametrize("name", ["/.bashrc", "/.git/hooks/pre-commit"])
    def test_hidden_names_into_a_directory_in_use(self, out: Path, name: str) -> None:
        out.mkdir()
        (out / "mine").write_text("mine")
        body = MessageBody([Part("x", name=name)])
        with pytest.raises(RefusedPaths):
            unpack(body, out, into=True)
        assert snapshot(out) == {"mine": b"mine"}
        unpack(body, out, into=True, hidden=True)
        assert (out / name[1:]).read_text() == "x"

    @pytest.mark.parametrize("target", ["outside", "../outside", "/etc"])
    def test_links_are_not_followed(self, tmp_path: Path, out: Path, target: str) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        out.mkdir()
        (out / "a").symlink_to(outside if target == "outside" else target)
        with pytest.raises((RefusedPaths, OSError)):
            unpack(MessageBody([Part("x", name="/a/b")]), out, into=True, overwrite=True)
        assert list(outside.iterdir()) == []

    def test_a_link_in_a_files_place(self, tmp_path: Path, out: Path) -> None:
        victim = tmp_path / "victim"
        victim.write_text("mine")
        out.mkdir()
        (out / "a").symlink_to(victim)
        with pytest.raises(RefusedPaths):
            unpack(body_of(a="x"), out, into=True, overwrite=True)
        assert victim.read_text() == "mine"
        assert (out / "a").is_symlink()

    def test_a_failure_half_way_takes_back_what_was_written(
        self, tmp_path: Path, out: Path
    ) -> None:
        source = tmp_path / "source.bin"
        source.write_bytes(b"x" * 100)
        body = body_of(a="1")
        body.add(source, name="/z")
        source.write_bytes(b"y")
        with pytest.raises(LocalFileChanged):
            unpack(body, out)
        assert not out.exists() or snapshot(out) == {}

    def test_references_need_a_resolver(self, tmp_path: Path, out: Path) -> None:
        store = tmp_path / "store"
        small = offload(body_of(a="x" * 100), store, threshold=0)
        with pytest.raises(RefusedPaths, match="'/a'"):
            unpack(small, out)
        unpack(small, out, resolver=Resolver(allow=[store]))
        assert (out / "a").read_text() == "x" * 100


class TestPack:
    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        directory = tmp_path / "in"
        (directory / "deep").mkdir(parents=True)
        (directory / "b.txt").write_text("b")
        (directory / "deep" / "a.txt").write_text("a")
        return directory

    def test_there_and_back(self, source: Path, out: Path) -> None:
        body = pack(source)
        assert body.names() == ["/b.txt", "/deep/a.txt"]
        assert all(part.local_file for part in body)
        unpack(body, out)
        assert snapshot(out) == snapshot(source)

    def test_prefix_and_exclude(self, source: Path) -> None:
        assert pack(source, prefix="/files", exclude=["/files/deep/**"]).names() == ["/files/b.txt"]

    def test_what_can_not_be_packed_comes_together(
        self, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        os.mkfifo(source / "fifo")
        (source / "link").symlink_to("/etc/passwd")
        (source / "two words.txt").write_text("x")
        listener = socket.socket(socket.AF_UNIX)
        monkeypatch.chdir(source)  # a socket's path may not be long
        listener.bind("socket")
        try:
            with pytest.raises(RefusedPaths) as caught:
                pack(source)
        finally:
            listener.close()
        text = str(caught.value)
        assert all(name in text for name in ("fifo", "link", "socket", "two words.txt"))
        assert "/two_words.txt" in text

    def test_rename_keeps_the_original(self, source: Path) -> None:
        (source / "zwei wörter.txt").write_text("x")
        part = pack(source, rename=True)["/zwei_worter.txt"]
        assert part.metadata == {"filename": "zwei wörter.txt"}

    def test_links_that_stay_inside(self, source: Path) -> None:
        (source / "link.txt").symlink_to("b.txt")
        (source / "out.txt").symlink_to("/etc/hostname")
        with pytest.raises(RefusedPaths, match=r"out\.txt") as caught:
            pack(source, follow=True)
        assert "link.txt" not in str(caught.value)
        (source / "out.txt").unlink()
        assert pack(source, follow=True)["/link.txt"].read_text() == "b"

    def test_a_file_that_changes(self, source: Path) -> None:
        body = pack(source)
        (source / "b.txt").write_text("longer")
        with pytest.raises(LocalFileChanged):
            body["/b.txt"].read_bytes()

    def test_no_directory(self, tmp_path: Path) -> None:
        with pytest.raises((OSError, InvalidPart)):
            pack(tmp_path / "missing")
