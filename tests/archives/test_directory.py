"""Directories to bodies and back: nothing outside is touched, all refusals come together."""

import errno
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.archives.directory import pack, unpack
from messagebody.errors import InvalidPart, InvalidPattern, LocalFileChanged, RefusedPaths


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


@pytest.fixture(autouse=True)
def no_descriptor_stays_open() -> Iterator[None]:
    before = sorted(Path("/dev/fd").iterdir())
    yield
    assert sorted(Path("/dev/fd").iterdir()) == before


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
        unpack(body_of(a="x"), out, merge=True)
        assert snapshot(out) == {**before, "a": b"x"}

    def test_nothing_is_overwritten_unasked(self, out: Path) -> None:
        out.mkdir()
        (out / "b").write_text("mine")
        with pytest.raises(RefusedPaths, match="'/b'"):
            unpack(body_of(a="x", b="y"), out, merge=True)
        assert snapshot(out) == {"b": b"mine"}
        unpack(body_of(a="x", b="y"), out, merge=True, overwrite=True)
        assert snapshot(out) == {"a": b"x", "b": b"y"}

    @pytest.mark.parametrize("name", ["/.bashrc", "/.git/hooks/pre-commit"])
    def test_hidden_names_into_a_directory_in_use(self, out: Path, name: str) -> None:
        out.mkdir()
        (out / "mine").write_text("mine")
        body = MessageBody([Part("x", name=name)])
        with pytest.raises(RefusedPaths):
            unpack(body, out, merge=True)
        assert snapshot(out) == {"mine": b"mine"}
        unpack(body, out, merge=True, hidden=True)
        assert (out / name[1:]).read_text() == "x"

    @pytest.mark.parametrize("target", ["outside", "../outside", "/etc"])
    def test_links_are_not_followed(self, tmp_path: Path, out: Path, target: str) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        out.mkdir()
        (out / "a").symlink_to(outside if target == "outside" else target)
        with pytest.raises((RefusedPaths, OSError)):
            unpack(MessageBody([Part("x", name="/a/b")]), out, merge=True, overwrite=True)
        assert list(outside.iterdir()) == []

    def test_a_link_in_a_files_place(self, tmp_path: Path, out: Path) -> None:
        victim = tmp_path / "victim"
        victim.write_text("mine")
        out.mkdir()
        (out / "a").symlink_to(victim)
        with pytest.raises(RefusedPaths):
            unpack(body_of(a="x"), out, merge=True, overwrite=True)
        assert victim.read_text() == "mine"
        assert (out / "a").is_symlink()

    @pytest.mark.parametrize("is_there", [True, False])
    def test_a_failure_half_way_takes_back_what_was_written(
        self, is_there: bool, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        if is_there:
            out.mkdir()
        source = tmp_path / "source.bin"
        source.write_bytes(b"x" * 100)
        body = body_of(a="1")
        body.add(source, name="/z")
        source.write_bytes(b"y")
        with pytest.raises(LocalFileChanged):
            unpack(body, out)
        assert out.exists() is is_there
        assert [*out.glob("**/*")] == []

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
        assert pack(source, prefix="/files", exclude=["deep/**"]).names() == ["/files/b.txt"]

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

    @pytest.mark.parametrize(
        ("pattern", "kept"),
        [
            ("secrets/", ["/a.txt", "/b.md", "/deep/My_Report_1", "/deep/c.pyc", "/secrets"]),
            ("*~", ["/a.txt", "/deep/My_Report_1", "/deep/c.pyc", "/deep/secrets/key", "/secrets"]),
            ("My Report*", ["/a.txt", "/b.md", "/deep/c.pyc", "/deep/secrets/key", "/secrets"]),
            ("*.{pyc,md~}", ["/a.txt", "/deep/My_Report_1", "/deep/secrets/key", "/secrets"]),
            ("/secrets", ["/a.txt", "/b.md", "/deep/My_Report_1", "/deep/c.pyc",
                          "/deep/secrets/key"]),
            ("secrets", ["/a.txt", "/b.md", "/deep/My_Report_1", "/deep/c.pyc"]),
            ("deep/**", ["/a.txt", "/b.md", "/secrets"]),
            ("deep/secrets", ["/a.txt", "/b.md", "/deep/My_Report_1", "/deep/c.pyc",
                              "/secrets"]),
            ("[!a]*", ["/a.txt"]),
            ("!(a*)", ["/a.txt"]),
        ],
    )  # fmt: skip
    def test_exclude_means_what_git_means(
        self, tmp_path: Path, pattern: str, kept: list[str]
    ) -> None:
        root = tmp_path / "tree"
        (root / "deep" / "secrets").mkdir(parents=True)
        for name in ("a.txt", "b.md~", "secrets", "deep/My Report 1", "deep/c.pyc",
                     "deep/secrets/key"):  # fmt: skip
            (root / name).write_text("x")
        names = pack(root, exclude=[pattern], rename=True, prefix="/").names()
        assert sorted(names) == sorted(kept)

    def test_hidden_files_are_left_out_and_named(self, source: Path) -> None:
        (source / ".env").write_text("secret")
        (source / "deep" / ".git").mkdir()
        (source / "deep" / ".git" / "config").write_text("x")
        left_out: list[str] = []
        assert pack(source, on_left_out=left_out.append).names() == ["/b.txt", "/deep/a.txt"]
        assert left_out == [".env", "deep/.git/"]
        assert pack(source, hidden=True, exclude=[".git/"]).names() == [
            "/.env", "/b.txt", "/deep/a.txt"]  # fmt: skip
        left_out.clear()
        pack(source, exclude=[".*"], on_left_out=left_out.append)
        assert left_out == []

    def test_a_pattern_of_too_many(self, source: Path) -> None:
        with pytest.raises(InvalidPattern, match="more than 1,000"):
            pack(source, exclude=["{a,b}" * 20])


class TestSwappedFiles:
    """Somebody who owns the directory puts another file in the place of one that was packed."""

    @pytest.fixture
    def secret(self, tmp_path: Path) -> Path:
        path = tmp_path / "secret"
        path.write_text("secret!")
        return path

    @pytest.fixture
    def source(self, tmp_path: Path, secret: Path) -> Path:
        """A directory with a file that has the size and time of the secret."""
        directory = tmp_path / "in"
        (directory / "deep").mkdir(parents=True)
        file = directory / "deep" / "notes.md"
        file.write_text("notes..")
        as_before(file, secret)
        return directory

    def test_a_link_in_its_place(self, source: Path, secret: Path) -> None:
        body = pack(source)
        (source / "deep" / "notes.md").unlink()
        (source / "deep" / "notes.md").symlink_to(secret)
        refuses(body, "link")

    def test_a_link_in_the_place_of_a_directory_above(
        self, source: Path, secret: Path, tmp_path: Path
    ) -> None:
        body = pack(source)
        (source / "deep").rename(tmp_path / "gone")
        (source / "deep").symlink_to(tmp_path / "outside")
        (tmp_path / "outside").mkdir()
        os.link(secret, tmp_path / "outside" / "notes.md")
        refuses(body, "link")

    def test_another_file_in_its_place(self, source: Path, secret: Path) -> None:
        body = pack(source)
        (source / "deep" / "notes.md").unlink()
        os.link(secret, source / "deep" / "notes.md")
        refuses(body, "another file")

    def test_a_change_of_the_same_size_with_the_time_put_back(
        self, source: Path, secret: Path
    ) -> None:
        for body in (pack(source), MessageBody([Part(source / "deep" / "notes.md")])):
            time.sleep(0.02)  # a clock tick of the file system
            (source / "deep" / "notes.md").write_text("changed")
            as_before(source / "deep" / "notes.md", secret)
            refuses(body, "changed")

    def test_untouched_files_are_read_after_a_move_of_the_process(
        self, source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(tmp_path)
        body = pack("in")
        monkeypatch.chdir("/")
        assert body["/deep/notes.md"].read_text() == "notes.."
        assert pickle.loads(pickle.dumps(body))["/deep/notes.md"].read_text() == "notes.."


def as_before(file: Path, model: Path) -> None:
    status = model.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def refuses(body: MessageBody, problem: str) -> None:
    with pytest.raises(LocalFileChanged, match=problem):
        body[0].read_bytes()
    with pytest.raises(LocalFileChanged, match=problem):
        offload(body, "memory://swapped", threshold=0)


class TestKilled:
    """A process that ends while it unpacks leaves no half file under the name of a part."""

    PROGRAM = """
import os, shutil, sys
from messagebody import MessageBody
from messagebody.archives.directory import unpack
def copy(source, file, length=0):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), int(sys.argv[1]))
shutil.copyfileobj = copy
body = MessageBody()
body.add("whole content", name="/a")
unpack(body, "out")
"""

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    @pytest.mark.dear
    def test_no_half_file(self, tmp_path: Path, number: int) -> None:
        program = [sys.executable, "-c", self.PROGRAM, str(int(number))]
        subprocess.run(program, cwd=tmp_path, check=False)
        assert not (tmp_path / "out" / "a").exists()
        [left] = (tmp_path / "out").iterdir()
        assert left.name.startswith(".messagebody-")

    def test_a_file_system_without_hard_links(
        self, out: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
        unpack(body_of(a="x"), out)
        assert snapshot(out) == {"a": b"x"}
        with pytest.raises(RefusedPaths):
            unpack(body_of(a="y"), out, merge=True)

    def test_a_file_that_appears_meanwhile_is_kept(
        self, out: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = os.link

        def late(temporary: str, name: str, **options: Any) -> None:
            (out / "a").write_text("mine")
            link(temporary, name, **options)

        monkeypatch.setattr(os, "link", late)
        with pytest.raises(FileExistsError):
            unpack(body_of(a="theirs"), out)
        assert snapshot(out) == {"a": b"mine"}
