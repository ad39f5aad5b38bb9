"""Transactions: all changes or none, whatever goes wrong, and nothing to see before."""

import asyncio
import errno
import gc
import os
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import MessageBody, Part
from messagebody.filesystem import MessageBodyFileSystem
from tests.filesystem.failing import failing


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part("shown"), Part("one", name="/1.txt"), Part("two", name="/2.txt")])


CHANGES: dict[str, Callable[[MessageBodyFileSystem], Any]] = {
    "pipe": lambda fs: fs.pipe_file("/new", b"x"),
    "pipe many": lambda fs: fs.pipe({"/new": b"x", "/newer": b"y"}),
    "touch": lambda fs: fs.touch("/1.txt"),
    "copy": lambda fs: fs.cp("/1.txt", "/new"),
    "move": lambda fs: fs.mv("/1.txt", "/new"),
    "remove": lambda fs: fs.rm("/1.txt"),
    "remove all": lambda fs: fs.rm("/", recursive=True),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_made_by_the_commit_and_forgotten_with_an_exception(
    body: MessageBody, change: Callable[[MessageBodyFileSystem], Any]
) -> None:
    fs, before = body.fs, body.copy()
    with pytest.raises(ZeroDivisionError), fs.transaction:  # noqa: PT012
        change(fs)
        raise ZeroDivisionError
    assert body == before
    with fs.transaction:
        change(fs)
        assert body == before
    assert body != before


def test_what_others_did_meanwhile_counts_and_stays(body: MessageBody) -> None:
    fs = body.fs
    with failing(errno.ENOENT, "/1.txt"), fs.transaction:
        fs.pipe_file("/new", b"")
        fs.rm("/1.txt")
        body.remove("/1.txt")
        body.add("three", name="/3.txt")
    assert body.names() == ["/2.txt", "/3.txt"]
    with failing(errno.EEXIST, "/x"), fs.transaction:
        with fs.open("/x", "xb") as file:
            file.write(b"mine")
        body.add("theirs", name="/x")
    assert body["/x"].text == "theirs"


@pytest.mark.parametrize("mode", ["w", "wb"])
def test_a_file_left_open_is_closed_by_the_commit(body: MessageBody, mode: str) -> None:
    content: Any = "text" if mode == "w" else b"text"
    with body.fs.transaction:
        file = body.fs.open("/new", mode)
        file.write(content)
    assert file.closed
    assert body["/new"].text == "text"


def test_another_thread_sees_all_or_nothing(body: MessageBody) -> None:
    fs, seen, done = body.fs, set(), threading.Event()

    def watch() -> None:
        while not done.is_set():
            names = body.names()
            seen.add(sum(name.startswith("/new/") for name in names))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(30):
        with fs.transaction:
            for number in range(20):
                fs.pipe_file(f"/new/{number}", b"x")
        with fs.transaction:
            fs.rm("/new", recursive=True)
    done.set()
    watcher.join()
    assert seen <= {0, 20}


class TestDocuments:
    def test_a_commit_that_fails_leaves_the_document(self, document: Path) -> None:
        before = document.read_bytes()
        fs = MessageBodyFileSystem(fo=str(document))
        with failing(errno.ENOTDIR, "/a/b"), fs.transaction:
            fs.pipe({"/a": b"", "/a/b": b""})
        assert document.read_bytes() == before

    def test_a_save_that_fails_undoes_the_commit(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document))
        before = fs.body.copy()
        document.unlink()
        document.parent.rmdir()
        with pytest.raises(FileNotFoundError), fs.transaction:
            fs.pipe_file("/new", b"")
        assert fs.body == before

    @pytest.mark.parametrize(
        "url", ["memory://saved/{name}.json", "dir://{name}.json::file://{root}"]
    )
    def test_documents_elsewhere(self, body: MessageBody, tmp_path: Path, url: str) -> None:
        url = url.format(name=tmp_path.name, root=tmp_path)
        with fsspec.open(url.replace("dir://", f"file://{tmp_path}/").split("::")[0], "wb") as file:
            file.write(body.to_json_bytes())
        fs = MessageBodyFileSystem(fo=url)
        fs.body.add(b"x", name="/new")
        assert MessageBodyFileSystem(fo=url).body == body
        fs.save()
        assert MessageBodyFileSystem(fo=url).body == fs.body
        with fs.transaction:
            fs.rm("/new")
        assert MessageBodyFileSystem(fo=url).body == body


class TestOwners:
    """A transaction is that of the thread or task that began it, wherever it is ended."""

    def test_a_task_that_was_started_in_it_writes_at_once(self, body: MessageBody) -> None:
        fs = body.fs

        async def write(path: str) -> None:
            fs.pipe_file(path, b"kept")

        async def begin() -> None:
            with fs.transaction:
                await asyncio.create_task(write("/task"))
                await asyncio.to_thread(fs.pipe_file, "/thread", b"kept")
                await write("/mine")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            asyncio.run(begin())
        assert body.names()[2:] == ["/task", "/thread"]

    def test_a_task_of_a_document_is_told(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document))

        async def begin() -> None:
            with fs.transaction:
                await asyncio.to_thread(fs.pipe_file, "/thread", b"kept")

        with failing(errno.EROFS, "/thread"):
            asyncio.run(begin())

    @pytest.mark.parametrize("end", ["with", "complete"])
    def test_it_is_ended_in_another_thread(self, body: MessageBody, end: str) -> None:
        fs = body.fs
        transaction = fs.start_transaction() if end == "complete" else fs.transaction
        if end == "with":
            transaction.__enter__()
        fs.pipe_file("/new", b"x")
        act = transaction.complete if end == "complete" else partial(transaction.__exit__, None)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(act).result()
        assert "/new" in body
        fs.pipe_file("/after", b"at once")
        assert "/after" in body

    def test_an_end_that_does_not_find_it_is_an_error(self, body: MessageBody) -> None:
        fs = body.fs
        fs.start_transaction()
        fs.pipe_file("/new", b"x")
        with ThreadPoolExecutor(1) as pool, failing(errno.EINVAL, "/"):
            pool.submit(fs.end_transaction).result()
        fs.end_transaction()
        assert "/new" in body
        fs.end_transaction()  # nothing is open

    def test_a_fork_ends_none_of_the_process_that_began_it(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document))
        before = document.read_bytes()
        transaction = fs.start_transaction()
        fs.pipe_file("/new", b"x")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads
            child = os.fork()
        if not child:
            transaction.complete()
            fs.end_transaction()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert document.read_bytes() == before
        fs.end_transaction()
        assert "/new" in MessageBody.load(document)

    @pytest.mark.dear
    def test_the_thread_that_began_it_is_gone(self, body: MessageBody) -> None:
        fs = body.fs

        def begin() -> None:
            fs.start_transaction()
            fs.pipe_file("/new", b"x")

        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
        gc.collect()
        with failing(errno.EINVAL, "/"):
            fs.end_transaction()

    def test_a_file_of_a_transaction_that_was_undone_is_closed(self, body: MessageBody) -> None:
        fs = body.fs
        with pytest.raises(ZeroDivisionError), fs.transaction:  # noqa: PT012
            files = [
                fs.open("/a", "wb"),
                fs.open("/b", "w"),
            ]
            for number, file in enumerate(files):
                file.write(b"x" if number == 0 else "x")
            raise ZeroDivisionError
        assert body.names() == ["/1.txt", "/2.txt"]
        for number, file in enumerate(files):
            with pytest.raises(ValueError, match="closed"):
                file.write(b"y" if number == 0 else "y")
            file.close()
        assert body.names() == ["/1.txt", "/2.txt"]

    def test_a_file_of_a_commit_that_failed_is_closed(self, body: MessageBody) -> None:
        fs = body.fs
        with failing(errno.ENOTDIR, "/a/b"), fs.transaction:
            fs.pipe({"/a": b"", "/a/b": b""})
            file = fs.open("/new", "wb")
            file.write(b"x")
        with pytest.raises(ValueError, match="closed"):
            file.write(b"y")
