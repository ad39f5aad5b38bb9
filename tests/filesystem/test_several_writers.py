"""What several threads, processes and copies write: what was acknowledged is there."""

import errno
import multiprocessing
import os
import warnings
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import MessageBody, Part
from messagebody.filesystem import MessageBodyFileSystem
from tests.filesystem.failing import failing


def write(document: str, number: int) -> str | None:
    """Write a file as a library does; return its path if the write was acknowledged."""
    path = f"/{number}.txt"
    url = f"messagebody:/{path}::{document}"
    try:
        with fsspec.open(url, "w", messagebody={"autosave": True}) as file:
            file.write(str(number))
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return None
    return path


def pool(kind: str, workers: int) -> Executor:
    if kind == "threads":
        return ThreadPoolExecutor(workers)
    return ProcessPoolExecutor(workers, multiprocessing.get_context(kind))


@pytest.mark.parametrize("kind", ["threads", "fork", "spawn"])
@pytest.mark.dear
def test_an_acknowledged_write_of_a_document_is_kept(kind: str, tmp_path: Path) -> None:
    document = tmp_path / "m.json"
    MessageBody([Part("first")]).save(document)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside other tests' threads
        with pool(kind, 4) as workers:
            done = [*workers.map(partial(write, f"file://{document}"), range(40))]
    acknowledged = {path for path in done if path}
    assert acknowledged
    assert {*MessageBody.load(document).names()} == acknowledged


def test_threads_that_write_one_document_in_memory() -> None:
    fsspec.filesystem("memory").pipe_file("/several/m.json", b"[]")
    with ThreadPoolExecutor(8) as workers:
        done = [*workers.map(partial(write, "memory://several/m.json"), range(40))]
    kept = MessageBody.from_json(fsspec.filesystem("memory").cat_file("/several/m.json")).names()
    assert {*kept} == {path for path in done if path} != set()


def test_a_document_that_is_missing_is_made_by_one(tmp_path: Path) -> None:
    document = tmp_path / "m.json"
    MessageBody().save(document)
    found = [MessageBodyFileSystem(f"file://{document}", autosave=True) for _ in range(8)]
    document.unlink()

    def save(number: int) -> bool:
        with suppress(OSError):
            found[number].pipe_file(f"/{number}", b"x")
            return True
        return False

    with ThreadPoolExecutor(8) as workers:
        saved = [*workers.map(save, range(8))]
    assert MessageBody.load(document).names() == [f"/{saved.index(True)}"]
    assert saved.count(True) == 1


class TestForks:
    """A process that was forked has a copy of the body, which nobody reads."""

    @staticmethod
    def in_a_fork(act: Any) -> int:
        """Return the number of the OSError that an act in a forked process ends with, else 0."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            number = 255
            try:
                act()
                number = 0
            except OSError as error:
                number = error.errno or 254
            finally:
                os._exit(number)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_its_writes_are_refused(self) -> None:
        body = MessageBody([Part("one", name="/1.txt")])
        fs: Any = body.fs
        opened = fs.open("/open", "wb")
        opened.write(b"x")
        acts = [
            partial(fs.pipe_file, "/n", b"1"), partial(fs.rm, "/1.txt"), opened.close,
            partial(fs.mkdir, "/d"), partial(fs.mv, "/1.txt", "/2.txt"),
        ]  # fmt: skip
        assert [self.in_a_fork(act) for act in acts] == [errno.EROFS] * len(acts)
        assert self.in_a_fork(partial(fs.cat_file, "/1.txt")) == 0
        opened.close()
        assert body.names() == ["/1.txt", "/open"]

    def test_those_through_a_live_url_are_refused(self) -> None:
        fs = MessageBody([Part("one", name="/1.txt")]).fs
        url = fs.url("/n")

        def act() -> None:
            with fsspec.open(url, "w") as file:
                file.write("x")

        assert self.in_a_fork(act) == errno.EROFS

    def test_those_into_a_document_are_kept(self, tmp_path: Path) -> None:
        document = tmp_path / "m.json"
        MessageBody().save(document)
        fs = MessageBodyFileSystem(f"file://{document}", autosave=True)
        assert self.in_a_fork(partial(fs.pipe_file, "/n", b"1")) == 0
        assert MessageBody.load(document).names() == ["/n"]
        with failing(errno.ESTALE):
            fs.pipe_file("/m", b"2")


class TestNestedTransactions:
    """A transaction inside another one belongs to it."""

    @pytest.fixture(params=["live", "document"])
    def fs(self, request: pytest.FixtureRequest, tmp_path: Path) -> MessageBodyFileSystem:
        if request.param == "live":
            return MessageBody().fs
        MessageBody().save(tmp_path / "m.json")
        return MessageBodyFileSystem(f"file://{tmp_path / 'm.json'}")

    @staticmethod
    def names(fs: MessageBodyFileSystem) -> list[str]:
        if fs.document is not None:
            assert MessageBodyFileSystem(fs.document.url).body == fs.body
        return fs.body.names()

    def test_an_exception_of_the_inner_one_forgets_its_own(self, fs: MessageBodyFileSystem) -> None:
        with fs.transaction:
            fs.pipe_file("/report", b"r")
            with pytest.raises(ZeroDivisionError), fs.transaction:  # noqa: PT012
                fs.pipe_file("/chart", b"c")
                fs.open("/open", "wb").write(b"x")
                raise ZeroDivisionError
            fs.pipe_file("/end", b"e")
        assert self.names(fs) == ["/report", "/end"]

    def test_those_that_are_started_by_name(self, fs: MessageBodyFileSystem) -> None:
        fs.start_transaction()
        fs.pipe_file("/a", b"a")
        with fs.transaction:
            fs.pipe_file("/b", b"b")
        fs.start_transaction()
        fs.pipe_file("/c", b"c")
        fs.end_transaction()
        assert self.names(fs) == []
        fs.end_transaction()
        assert self.names(fs) == ["/a", "/b", "/c"]
