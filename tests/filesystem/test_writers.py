"""Files open for writing while others change the body, and files that nobody closes."""

import errno
import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.filesystem import MessageBodyFileSystem
from tests.filesystem.failing import failing


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part("0123456789", name="/a.txt"), Part("b", name="/b")])


class TestTwoHandles:
    def test_who_closes_last_undoes_nothing(self, body: MessageBody) -> None:
        first, second = (body.fs.open("/a.txt", "r+b") for _ in range(2))
        first.write(b"FIRST")
        second.seek(8)
        second.write(b"XX")
        first.close()
        with failing(errno.ESTALE):
            second.close()
        assert body["/a.txt"].text == "FIRST56789"
        assert second.closed

    def test_nor_who_flushes(self, body: MessageBody) -> None:
        with body.fs.open("/a.txt", "r+b") as file:
            file.write(b"one")
            file.flush()
            file.write(b"two")
            file.flush()
            body.fs.pipe_file("/a.txt", b"others")
            file.write(b"three")
            with failing(errno.ESTALE):
                file.flush()
            file.discard()
        assert body["/a.txt"].text == "others"

    def test_nor_text(self, body: MessageBody) -> None:
        file = body.fs.open("/a.txt", "r+")
        file.write("text")
        body["/a.txt"] = "others"
        with failing(errno.ESTALE):
            file.close()
        assert body["/a.txt"].text == "others"

    def test_what_else_is_said_of_the_part_may_change(self, body: MessageBody) -> None:
        with body.fs.open("/a.txt", "r+b") as file:
            file.write(b"new")
            body["/a.txt"] = body["/a.txt"].evolve(metadata={"by": "others"})
            body.fs.pipe_file("/a.txt", b"0123456789")
        assert (body["/a.txt"].text, body["/a.txt"].metadata) == ("new3456789", {"by": "others"})

    def test_what_was_only_read_is_not_checked(self, body: MessageBody) -> None:
        with body.fs.open("/a.txt", "r+b") as file:
            file.read()
            body.fs.rm("/a.txt")
        assert "/a.txt" not in body

    def test_in_a_transaction(self, body: MessageBody) -> None:
        with failing(errno.ESTALE), body.fs.transaction:
            body.fs.pipe_file("/c", b"")
            for content in (b"one", b"two"):
                with body.fs.open("/a.txt", "r+b") as file:
                    file.write(content)
        assert (body["/a.txt"].text, "/c" in body) == ("0123456789", False)

    def test_flushed_twice_in_a_transaction(self, body: MessageBody) -> None:
        with body.fs.open("/a.txt", "r+b") as file, body.fs.transaction:
            for content in (b"one", b"two"):
                file.write(content)
                file.flush()
            assert body["/a.txt"].text == "0123456789"
        assert body["/a.txt"].text == "onetwo6789"

    def test_those_who_append_are_merged(self, body: MessageBody) -> None:
        with body.fs.open("/a.txt", "ab") as first, body.fs.open("/a.txt", "ab") as second:
            first.write(b"1")
            second.write(b"2")
        assert body["/a.txt"].text == "012345678921"

    def test_but_not_one_who_cuts(self, body: MessageBody) -> None:
        file = body.fs.open("/a.txt", "a+b")
        file.truncate(3)
        file.write(b"new")
        body.fs.pipe_file("/a.txt", b"others")
        with failing(errno.ESTALE):
            file.close()
        assert body["/a.txt"].text == "others"


@pytest.mark.parametrize("act", ["rm", "mv"])
@pytest.mark.parametrize("mode", ["r+b", "wb", "w+b", "ab"])
def test_what_is_gone_does_not_come_back(body: MessageBody, act: str, mode: str) -> None:
    fs = body.fs
    file = fs.open("/a.txt", mode)
    file.write(b"lost")
    fs.rm("/a.txt") if act == "rm" else fs.mv("/a.txt", "/moved")
    with failing(errno.ESTALE):
        file.close()
    assert "/a.txt" not in body
    assert act == "rm" or body["/moved"].text == "0123456789"


def test_a_file_is_removed_and_written_in_one_transaction(body: MessageBody) -> None:
    with body.fs.transaction:
        body.fs.rm("/a.txt")
        with body.fs.open("/a.txt", "wb") as file:
            file.write(b"new")
    assert body["/a.txt"].text == "new"


BROKEN: dict[str, Callable[[Any], Any]] = {
    "encoding": lambda fs: fs.open("/a.txt", "w", encoding="nope"),
    "newline": lambda fs: fs.open("/a.txt", "w", newline="nope"),
}


@pytest.mark.parametrize("opening", BROKEN.values(), ids=BROKEN)
@pytest.mark.dear
def test_a_file_that_could_not_be_opened_changes_nothing(
    body: MessageBody, opening: Callable[[Any], Any]
) -> None:
    with pytest.raises((LookupError, ValueError)):
        opening(body.fs)
    gc.collect()
    assert body["/a.txt"].text == "0123456789"


class TestCommit:
    def test_of_one_file(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document), autosave=True)
        file = fs.open("/new", "wb", autocommit=False)
        file.write(b"x")
        file.close()
        assert "/new" not in fs.body
        file.commit()
        assert "/new" in MessageBody.from_json(document.read_bytes())

    def test_that_a_transaction_holds_back(self, body: MessageBody) -> None:
        file = body.fs.open("/new", "wb", autocommit=False)
        with body.fs.transaction:
            file.commit()
            assert "/new" not in body
        assert "/new" in body

    def test_of_none(self, body: MessageBody) -> None:
        file = body.fs.open("/new", "wb", autocommit=False)
        file.discard()
        file.commit()
        assert "/new" not in body


PROGRAMS = {
    "bytes": "file = fs.open('/new', 'wb'); file.write(b'kept')",
    "text": "file = fs.open('/new', 'w'); file.write('kept')",
    "append": "file = fs.open('/new', 'a'); file.write('kept')",
    "changed": "fs.pipe_file('/new', b'KEpt'); f = fs.open('/new', 'r+b'); f.write(b'ke')",
}
BEGIN = """
import os, sys
from pathlib import Path
from messagebody.filesystem import MessageBodyFileSystem
fs = MessageBodyFileSystem(fo="message.json", autosave=True)
"""


def run(program: str, directory: Path) -> str:
    """Run a program to its end; return what it says."""
    command = [sys.executable, "-c", BEGIN + program]
    ran = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, check=True, timeout=60
    )
    return ran.stderr + ran.stdout


class TestNeverClosed:
    @pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
    @pytest.mark.dear
    def test_kept_when_the_program_ends(self, document: Path, program: str) -> None:
        assert run(program, document.parent) == ""
        assert MessageBody.from_json(document.read_bytes())["/new"].text == "kept"

    def test_said_if_it_can_not_be_kept(self, document: Path) -> None:
        program = "one, two = (fs.open(name, 'wb') for name in ('/1.txt', '/new')); fs.rm('/1.txt')"
        body = MessageBody([Part("one", name="/1.txt")])
        document.write_bytes(body.to_json_bytes())
        assert f"[Errno {errno.ESTALE}] somebody else changed" in run(program, document.parent)
        assert MessageBody.from_json(document.read_bytes()).names() == ["/new"]

    def test_dropped_if_that_was_the_wish(self, document: Path) -> None:
        program = "file = fs.open('/new', 'wb'); file.write(b'x'); file.discard()"
        assert run(program, document.parent) == ""
        assert "/new" not in MessageBody.from_json(document.read_bytes())

    def test_a_child_keeps_nothing_of_its_parent(self, document: Path) -> None:
        program = """
file = fs.open("/new", "wb")
file.write(b"parent")
if (child := os.fork()) == 0:
    sys.exit()
os.waitpid(child, 0)
print("/new" in fs.body)
print(b"/new" in open("message.json", "rb").read())
"""
        assert run(program, document.parent) == "False\nFalse\n"
        assert MessageBody.from_json(document.read_bytes())["/new"].text == "parent"

    def test_kept_or_said_when_it_is_collected(
        self, body: MessageBody, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[Any] = []
        monkeypatch.setattr(sys, "unraisablehook", said.append)
        for path in ("/a.txt", "/new"):
            file = body.fs.open(path, "wb")
            file.write(b"x")
            if path == "/a.txt":
                body.fs.rm(path)
            del file
            gc.collect()
        assert [each.exc_value.errno for each in said] == [errno.ESTALE]
        assert body.names() == ["/b", "/new"]
