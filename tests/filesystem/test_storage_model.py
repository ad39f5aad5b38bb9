"""What a write acknowledged is stored, and nothing else; else the writer got an `OSError`.

Writers are in other filesystems, threads, tasks of asyncio, and processes that were forked or
spawned. No rule is left out because of what is there.
"""

import asyncio
import errno
import multiprocessing
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import fsspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from messagebody import MessageBody
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.names import ancestors, is_name

NAMES = st.sampled_from(["/a", "/b", "/a/c", "/d/e", "/a b", "/_20", "/é", "/x=1"])
# Some of them are longer than the threshold of the filesystem that offloads.
CONTENTS = st.binary(max_size=12)
HANDLES = st.integers(0, 1)


@attrs.define
class Handle:
    """A file that is open for writing."""

    file: Any
    name: str
    mode: str
    before: bytes
    """What the file held when it was opened."""
    is_old: bool
    """Whether there was a file when it was opened."""
    written: bytes = b""

    def content(self, now: bytes) -> bytes:
        """Return what is to be there when it is closed; `now` is what is there before."""
        if self.mode == "ab":
            return now + self.written
        return self.written + (self.before[len(self.written) :] if self.mode == "r+b" else b"")


@cache
def spawned() -> ProcessPoolExecutor:
    """Return a process that was spawned, which all examples share."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def write_there(fs: Any, name: str, content: bytes) -> int:
    """Write in another process; return 0, or the number of the error."""
    try:
        fs.pipe_file(name, content)
    except OSError as error:
        return error.errno or errno.EIO
    return 0


class StorageMachine(RuleBasedStateMachine):
    """A filesystem beside a dict of what its writers were told is there."""

    quotes = False
    is_document = False
    is_shared = False
    """Whether other processes see the same storage; where not, they must not write at all."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.model: dict[str, bytes] = {}
        self.handles: dict[int, Handle] = {}
        self.made: set[str] = set()
        """Directories that were made, which nothing can be written to."""
        self.refusal: int | None = 0
        self.start()

    def start(self) -> None:
        self.body = MessageBody()
        self.fs: Any = self.open()

    def open(self) -> Any:
        return self.body.filesystem()

    def teardown(self) -> None:
        for number in list(self.handles):
            self.abandon(number)
        shutil.rmtree(self.place)

    def stored(self) -> dict[str, bytes]:
        """Read what somebody finds who comes afterwards."""
        fs = self.open()
        return {path: fs.cat_file(path) for path in fs.find("/")}

    def told(self, action: Callable[[], Any]) -> bool:
        """Tell whether an action was acknowledged; one that was not is an `OSError`."""
        try:
            action()
        except OSError as error:
            self.refusal = error.errno
            if error.errno == errno.ESTALE:
                self.fs = self.open()
            return False
        return True

    def has_to_take(self, name: str) -> bool:
        """Tell whether nothing stands in the way of a write that was refused."""
        legal = self.quotes or is_name(name)
        above = any(name.startswith(f"{other}/") for other in self.model)
        below = any(other.startswith(f"{name}/") for other in {*self.model, *self.made})
        is_late = self.is_document and self.refusal == errno.ESTALE
        return legal and not (above or below or name in self.made or is_late)

    # One call

    @rule(name=NAMES, content=CONTENTS)
    def pipe(self, name: str, content: bytes) -> None:
        if self.told(lambda: self.fs.pipe_file(name, content)):
            self.model[name] = content
        else:
            assert not self.has_to_take(name)

    @rule(name=NAMES, content=CONTENTS)
    def pipe_from_a_thread(self, name: str, content: bytes) -> None:
        done: list[bool] = []
        call = lambda: done.append(self.told(lambda: self.fs.pipe_file(name, content)))  # noqa: E731
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        if done[0]:
            self.model[name] = content

    @rule(
        first=st.dictionaries(NAMES, CONTENTS, max_size=2),
        other=st.dictionaries(NAMES, CONTENTS, max_size=2),
        last=st.dictionaries(NAMES, CONTENTS, max_size=2),
        fails=st.booleans(),
    )
    def pipe_from_two_tasks(
        self, first: dict[str, bytes], other: dict[str, bytes], last: dict[str, bytes],
        fails: bool,
    ) -> None:  # fmt: skip
        """A task writes, alone and in a transaction, while another one has a transaction open."""
        wrote: dict[str, bytes] = {}

        async def one() -> None:
            with self.fs.transaction:
                for name, content in first.items():
                    self.fs.pipe_file(name, content)
                await asyncio.sleep(0)
                if fails:
                    raise OSError(errno.EIO, "")

        async def two() -> None:
            said = (
                (name, partial(self.fs.pipe_file, name, content)) for name, content in other.items()
            )
            wrote.update({name: other[name] for name, act in said if self.told(act)})

            def together() -> None:
                with self.fs.transaction:
                    for name, content in last.items():
                        self.fs.pipe_file(name, content)

            if self.told(together):
                wrote.update(last)

        async def both() -> Any:
            return await asyncio.gather(one(), two(), return_exceptions=True)

        failed, wrong = asyncio.run(both())
        assert wrong is None
        assert failed is None or isinstance(failed, OSError)
        self.model |= wrote
        if failed is None:
            assert not fails
            self.model |= first
        elif failed.errno == errno.ESTALE:
            self.fs = self.open()

    @rule(name=NAMES, content=CONTENTS)
    def pipe_by_a_fork(self, name: str, content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads
            child = os.fork()
        if not child:
            fs = self.open() if self.is_shared else self.fs
            os._exit(1 if write_there(fs, name, content) else 0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            assert self.is_shared, "it has a copy of the body"
            self.model[name] = content

    @rule(name=NAMES, content=CONTENTS)
    def pipe_by_a_spawned_process(self, name: str, content: bytes) -> None:
        fs = self.spare() if self.is_shared else self.fs
        if spawned().submit(write_there, fs, name, content).result() == 0:
            assert self.is_shared, "it has a copy of the body"
            self.model[name] = content

    def spare(self) -> Any:
        """Return what opens the same storage in another process."""
        raise NotImplementedError

    @rule(name=NAMES, content=CONTENTS)
    def pipe_by_another_filesystem(self, name: str, content: bytes) -> None:
        if self.told(lambda: self.open().pipe_file(name, content)):
            self.model[name] = content

    @rule(name=NAMES, truncate=st.booleans())
    def touch(self, name: str, truncate: bool) -> None:
        old = b"" if truncate else self.model.get(name, b"")
        if self.told(lambda: self.fs.touch(name, truncate=truncate)):
            self.model[name] = old

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        if self.told(lambda: self.fs.rm_file(name)):
            del self.model[name]

    @rule(name=NAMES, other=NAMES)
    def copy(self, name: str, other: str) -> None:
        # To a filesystem that was opened before, it may still be a directory that was made there.
        is_file = name in self.model and self.fs.isfile(name)
        if self.told(lambda: self.fs.cp_file(name, other)):
            if is_file:
                self.model[other] = self.model[name]
            else:
                self.made.add(other)

    def targets(self, name: str, other: str, *, is_slashed: bool = False) -> dict[str, str]:
        """Return where a copy or move puts each file: into a directory, by its own name."""
        is_into = self.fs.isdir(other) or is_slashed
        base = f"{other}/{name.rpartition('/')[2]}" if is_into else other
        if self.fs.isfile(name):
            return {name: base}
        below = [path for path in self.model if path.startswith(f"{name}/")]
        return {path: base + path.removeprefix(name) for path in below}

    @rule(name=NAMES, other=NAMES, is_slashed=st.booleans())
    def move(self, name: str, other: str, is_slashed: bool) -> None:
        """Move a file or a directory, also to where it is, or into a directory."""
        targets, is_same = self.targets(name, other, is_slashed=is_slashed), name == other
        if self.told(lambda: self.fs.mv(name, other + "/" * is_slashed)) and not is_same:
            moved = {new: self.model.pop(old) for old, new in targets.items()}
            self.model |= moved
            self.made = {path for path in self.made if self.fs.isdir(path)}
            self.note_directories()

    @rule(name=NAMES, other=NAMES)
    def copy_all(self, name: str, other: str) -> None:
        targets = self.targets(name, other)
        if self.told(lambda: self.fs.copy(name, other, recursive=True)):
            self.model |= {new: self.model[old] for old, new in targets.items()}
            self.note_directories()

    @rule(name=NAMES)
    def remove_all(self, name: str) -> None:
        if self.told(lambda: self.fs.rm(name, recursive=True)):
            self.model = {
                path: content for path, content in self.model.items()
                if path != name and not path.startswith(f"{name}/")
            }  # fmt: skip
            self.made = {path for path in self.made if self.fs.isdir(path)}

    def note_directories(self) -> None:
        """Note the empty directories that were copied or moved with others."""
        found = self.fs.find("/", withdirs=True)
        self.made |= {path for path in found if path not in self.model and self.fs.isdir(path)}

    @rule(name=NAMES)
    def make_directory(self, name: str) -> None:
        if self.told(lambda: self.fs.mkdir(name)):
            self.made |= {name, *ancestors(name)}

    @rule()
    def reopen(self) -> None:
        before, self.fs = self.fs, self.open()
        if self.fs is not before:
            self.made.clear()  # an empty directory is not stored

    # Files that are open at the same time

    @rule(number=HANDLES, name=NAMES, mode=st.sampled_from(["wb", "ab", "xb", "r+b"]))
    def open_file(self, number: int, name: str, mode: str) -> None:
        if number in self.handles:
            return
        opened: list[Any] = []
        if self.told(lambda: opened.append(self.fs.open(name, mode))):
            before, is_old = self.model.get(name, b""), name in self.model
            self.handles[number] = Handle(opened[0], name, mode, before, is_old)

    @precondition(lambda self: self.handles)
    @rule(number=HANDLES, content=CONTENTS, flush=st.booleans())
    def write(self, number: int, content: bytes, flush: bool) -> None:
        if number not in self.handles:
            return
        handle = self.handles[number]
        handle.file.write(content)
        handle.written += content
        # What a database flushes is kept; it opens its file with "r+b".
        if flush and self.told(handle.file.flush) and handle.mode == "r+b":
            self.keep(handle)

    @precondition(lambda self: self.handles)
    @rule(number=HANDLES)
    def close(self, number: int) -> None:
        if number not in self.handles:
            return
        handle = self.handles.pop(number)
        if self.told(handle.file.close):
            self.keep(handle)

    def keep(self, handle: Handle) -> None:
        """Note that what a file holds was acknowledged."""
        now = self.model.get(handle.name, b"")
        # What was opened to be changed, and was not, changes nothing.
        if handle.mode == "ab" and handle.is_old and not handle.written:
            return
        if handle.mode != "r+b" or handle.content(now) != handle.before:
            self.model[handle.name] = handle.content(now)
            handle.before = handle.content(now) if handle.mode == "r+b" else handle.before

    @precondition(lambda self: self.handles)
    @rule(number=HANDLES)
    def abandon(self, number: int) -> None:
        """Leave a file by an exception."""
        if number in self.handles:
            file = self.handles.pop(number).file
            with pytest.raises(ZeroDivisionError), file:
                raise ZeroDivisionError

    @rule(
        outer=st.dictionaries(NAMES, CONTENTS, max_size=2),
        inner=st.dictionaries(NAMES, CONTENTS, max_size=2),
        fails=st.booleans(),
    )
    def transaction(self, outer: dict[str, bytes], inner: dict[str, bytes], fails: bool) -> None:
        def both() -> None:
            with self.fs.transaction:
                for name, content in outer.items():
                    self.fs.pipe_file(name, content)
                with self.fs.transaction:
                    for name, content in inner.items():
                        self.fs.pipe_file(name, content)
                if fails:
                    raise OSError(errno.EIO, "")

        if self.told(both):
            assert not fails
            self.model |= outer | inner

    @invariant()
    def what_was_acknowledged_is_stored(self) -> None:
        assert self.stored() == self.model


class QuotedMachine(StorageMachine):
    quotes = True

    def open(self) -> Any:
        return self.body.filesystem(quoted_names=True)


@attrs.frozen
class WriterOf:
    """Open a document where it is written; a filesystem that was sent there would be read-only."""

    document: str

    def pipe_file(self, name: str, content: bytes) -> None:
        fs = MessageBodyFileSystem(
            self.document, autosave=True, quoted_names=True, skip_instance_cache=True
        )
        fs.pipe_file(name, content)


class DocumentMachine(StorageMachine):
    quotes = is_document = is_shared = True

    def start(self) -> None:
        self.document = f"file://{self.place}/m.json"
        self.begin()

    def begin(self) -> None:
        with fsspec.open(self.document, "wb") as file:
            file.write(b"[]")
        self.fs = self.open()

    def open(self) -> Any:
        return MessageBodyFileSystem(
            self.document, autosave=True, quoted_names=True, skip_instance_cache=True
        )

    def spare(self) -> Any:
        return WriterOf(self.document)


class MemoryDocumentMachine(DocumentMachine):
    # fsspec's files in memory are those of one process: another one has files of its own.
    pipe_by_a_fork = pipe_by_a_spawned_process = None  # type: ignore[assignment]

    def start(self) -> None:
        self.document = f"memory://{uuid4().hex}/m.json"
        self.begin()


MACHINES = [
    StorageMachine, QuotedMachine, DocumentMachine, MemoryDocumentMachine,
]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.dear
def test_what_was_acknowledged_is_stored(machine: type[StorageMachine]) -> None:
    few = settings(max_examples=10, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(machine, settings=few)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("machine", MACHINES)
def test_at_length(machine: type[StorageMachine]) -> None:
    """Ten thousand steps."""
    many = settings(max_examples=200, stateful_step_count=50, deadline=None)
    run_state_machine_as_test(machine, settings=many)
