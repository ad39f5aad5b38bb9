"""What a write acknowledged is stored, and nothing else; else the writer got an `OSError`."""

import contextlib
import errno
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
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

from messagebody import MessageBody, Resolver
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.names import is_name

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


class StorageMachine(RuleBasedStateMachine):
    """A filesystem beside a dict of what its writers were told is there."""

    quotes = False
    is_document = False

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

    @rule(name=NAMES, other=NAMES)
    def move(self, name: str, other: str) -> None:
        # Into a directory, it would be moved by its own name.
        is_file = name in self.model and self.fs.isfile(name) and not self.fs.isdir(other)
        if is_file and self.told(lambda: self.fs.mv(name, other)):
            self.model[other] = self.model.pop(name)

    @rule(name=NAMES)
    def make_directory(self, name: str) -> None:
        if self.told(lambda: self.fs.mkdir(name)):
            self.made.add(name)

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


class OffloadMachine(StorageMachine):
    def start(self) -> None:
        (self.place / "store").mkdir()
        self.body = MessageBody()
        self.fs = self.whole = self.body.filesystem(offload_to=self.place / "store", threshold=4)

    def open(self) -> Any:
        return self.whole  # only it reads back what it offloaded


class CacheMachine(StorageMachine):
    """What is offloaded comes back through a cache that is full at once."""

    def start(self) -> None:
        store, cache = self.place / "store", self.place / "cache"
        store.mkdir()
        self.resolver = Resolver(allow=store, cache=cache, cache_bytes=16)
        super().start()

    def open(self) -> Any:
        return self.body.filesystem(
            offload_to=self.place / "store", threshold=4, resolver=self.resolver
        )


class OverlayMachine(StorageMachine):
    """Some files lie below, where nothing ever changes."""

    quotes = True
    below: ClassVar[dict[str, bytes]] = {"/a": b"low", "/d/e": b"below", "/é": b""}

    def start(self) -> None:
        for name, content in self.below.items():
            path = self.place / "lower" / name[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.model = dict(self.below)
        super().start()

    def open(self) -> Any:
        from messagebody.views import OverlayFileSystem

        return OverlayFileSystem(self.body, self.place / "lower")

    @invariant()
    def nothing_below_changes(self) -> None:
        lower = self.place / "lower"
        found = {f"/{path.relative_to(lower)}": path.read_bytes()
                 for path in lower.rglob("*") if path.is_file()}  # fmt: skip
        assert found == self.below


class DocumentMachine(StorageMachine):
    quotes = is_document = True

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


class SharedDocumentMachine(DocumentMachine):
    """Forked processes write into the same document."""

    @rule(name=NAMES, content=CONTENTS)
    def pipe_by_a_process(self, name: str, content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads
            child = os.fork()
        if not child:
            with contextlib.suppress(OSError):
                self.open().pipe_file(name, content)
                os._exit(0)
            os._exit(errno.EIO)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            self.model[name] = content


class MemoryDocumentMachine(DocumentMachine):
    def start(self) -> None:
        self.document = f"memory://{uuid4().hex}/m.json"
        self.begin()


MACHINES = [
    StorageMachine, QuotedMachine, OffloadMachine, CacheMachine, DocumentMachine,
    SharedDocumentMachine, MemoryDocumentMachine,
    pytest.param(OverlayMachine, marks=pytest.mark.leaf("views")),
]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
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
