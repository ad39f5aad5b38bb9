"""Changes that wait for a commit, and are made together or not at all."""

import errno
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import attrs
from fsspec.transaction import Transaction

from messagebody._model.access import edit
from messagebody.filesystem._paths import fail

if TYPE_CHECKING:
    from messagebody.filesystem._writer import FileWriter


@attrs.frozen
class Change:
    """A change to a body that waits for the commit of its transaction.

    Arguments:
        check: raises if the body doesn't allow the change now.
        apply: makes the change.
    """

    check: Callable[[], Any]
    apply: Callable[[], Any]

    def check_before(self) -> None:
        """Do nothing: the change is checked when its turn comes."""

    def make(self) -> None:
        """Make the change, if it is still allowed after earlier changes."""
        self.check()
        self.apply()

    def drop(self) -> None:
        """Do nothing: the change is not made."""


def _owner() -> tuple[int, int, int]:
    """Return what identifies this process, thread and task of asyncio."""
    task = None
    if (asyncio := sys.modules.get("asyncio")) is not None:  # else there are no tasks
        try:
            task = asyncio.current_task()
        except RuntimeError:  # no loop runs in this thread
            task = None
    return os.getpid(), threading.get_ident(), id(task)


@attrs.define(eq=False)
class Frame:
    """A transaction that is open, with the changes that wait for its commit.

    Arguments:
        writer: whose changes they are.
        above: the transaction that this one is a part of.
    """

    writer: "FileWriter"
    above: "Frame | None"
    changes: list[Any] = attrs.field(factory=list, init=False)
    is_open: bool = attrs.field(default=True, init=False)
    _owner: tuple[int, int, int] = attrs.field(factory=_owner, init=False)

    def takes_changes(self) -> bool:
        """Return whether a change that is made here waits for the commit.

        A task or thread that was started in a transaction, or a forked process, gets a copy of the
        context. Its changes could be dropped long after they were acknowledged.
        """
        return self.is_open and self._owner == _owner()

    def is_copy(self) -> bool:
        """Return whether a fork copied the transaction, which the other process ends."""
        return self._owner[0] != os.getpid()

    def close(self) -> None:
        """Take no more changes."""
        # Another thread that is about to add one holds the same lock.
        with edit(self.writer.tree.body):
            self.is_open = False
            self.writer.frames.discard(self)


_FRAMES: Final[ContextVar[Mapping[int, Frame]]] = ContextVar(
    "_FRAMES", default=MappingProxyType({})
)
"""The innermost open transaction of each writer, by its `id`.

All writers share one variable, because a context never forgets one.
"""


def open_frame(writer: "FileWriter") -> Frame | None:
    """Return the innermost transaction of a writer that is open here, None if there is none."""
    frame = _FRAMES.get().get(id(writer))
    while frame is not None and not (frame.takes_changes() and frame.writer is writer):
        frame = frame.above
    return frame


class WholeTransaction(Transaction):  # type: ignore[misc]
    """A transaction that makes all its changes together, and then saves the body's document.

    fsspec's own transaction commits file by file and stops at the first error. Here a commit that
    fails leaves body and document as they were, and others see all changes or none.

    It belongs to the thread or the task of asyncio that began it: what others write meanwhile does
    not wait for its commit, and is not dropped with it, even if it started them. It may be ended
    anywhere, by the object that began it. A nested transaction belongs to the outer one: its
    changes are made when the outer one is committed, and dropped if either raises an exception.
    """

    def __init__(self, writer: "FileWriter") -> None:
        super().__init__(writer)
        self._writer = writer
        self._frames: list[Frame] = []

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.complete(commit=kind is None)

    def start(self) -> None:
        """Begin the transaction: hold changes back from now on."""
        frame = Frame(self._writer, above=open_frame(self._writer))
        self._frames.append(frame)
        self._writer.frames.add(frame)
        _FRAMES.set({**_FRAMES.get(), id(self._writer): frame})

    def complete(self, commit: bool = True) -> None:
        """Make all changes, or drop them; in a nested transaction they wait for the outer one.

        Raises:
            OSError: `EINVAL`: another thread or task began the only open transaction, and this
                object did not; or a change is not allowed.
        """
        frame = self._frames.pop() if self._frames else open_frame(self._writer)
        if frame is None and not all(each.is_copy() for each in self._writer.frames):
            problem = (
                "another thread or task began the transaction; end it there, or call `complete` "
                "of what `start_transaction` returned"
            )
            fail(errno.EINVAL, "/", problem)
        if frame is None or not frame.is_open or frame.is_copy():
            return
        # End it in any case: a later write must not wait for a commit that never comes.
        frame.close()
        above = frame.above
        while above is not None and not above.is_open:
            above = above.above
        if _FRAMES.get().get(id(self._writer)) is frame:
            others = {key: each for key, each in _FRAMES.get().items() if key != id(self._writer)}
            _FRAMES.set(others if above is None else {**others, id(self._writer): above})
        if commit and above is not None:
            above.changes += frame.changes
            return
        try:
            if commit:
                self._writer.commit(frame.changes)
        finally:
            for each in frame.changes:
                each.drop()
