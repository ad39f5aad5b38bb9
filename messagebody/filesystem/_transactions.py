"""Changes that wait for a commit, and are made together or not at all."""

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final

import attrs
from fsspec.transaction import Transaction

import messagebody  # noqa: TC001 - annotations may be evaluated at runtime
from messagebody._model.access import edit


@attrs.frozen
class Change:
    """A change to a body that waits for the commit of its transaction.

    Arguments:
        check: raises if the body doesn't allow the change now.
        apply: makes the change.
    """

    check: Callable[[], Any]
    apply: Callable[[], Any]

    def commit(self) -> None:
        """Make the change, if it is still allowed after earlier changes."""
        self.check()
        self.apply()

    def discard(self) -> None:
        """Drop the change."""


@attrs.define(eq=False)
class Frame:
    """A transaction that is open, with the changes that wait for its commit.

    Arguments:
        filesystem: whose changes they are.
        above: the transaction that this one is a part of.
    """

    filesystem: "messagebody.filesystem.MessageBodyFileSystem"
    above: "Frame | None"
    changes: list[Any] = attrs.field(factory=list, init=False)
    _is_open: bool = attrs.field(default=True, init=False)
    _process: int = attrs.field(factory=os.getpid, init=False)

    def is_open(self) -> bool:
        """Return whether a change may wait here; a forked process would wait for ever."""
        return self._is_open and self._process == os.getpid()

    def close(self) -> None:
        """Take no more changes."""
        # Another thread that is about to add one holds the same lock.
        with edit(self.filesystem.body):
            self._is_open = False


_FRAMES: Final[ContextVar[Mapping[int, Frame]]] = ContextVar(
    "_FRAMES", default=MappingProxyType({})
)
"""The innermost open transaction of each filesystem, by its `id`.

A context variable belongs to a thread, and to a task of asyncio; tasks that are started in the
meantime, and threads of `asyncio.to_thread`, get a copy of it. All filesystems share one variable,
because a context never forgets one.
"""


def open_frame(filesystem: Any) -> Frame | None:
    """Return the innermost transaction of a filesystem that is open here, None if there is none."""
    frame = _FRAMES.get().get(id(filesystem))
    # A task that was started in a transaction may outlive it.
    while frame is not None and not (frame.is_open() and frame.filesystem is filesystem):
        frame = frame.above
    return frame


class WholeTransaction(Transaction):  # type: ignore[misc]
    """A transaction that makes all its changes together, and then saves the body's document.

    fsspec's own transaction commits file by file and stops at the first error. Here a commit that
    fails leaves body and document as they were, and others see all changes or none.

    It belongs to the thread or the task of asyncio that began it: what others write meanwhile does
    not wait for its commit, and is not dropped with it. A nested transaction belongs to the outer
    one: its changes are made when the outer one is committed, and dropped if either raises an
    exception.
    """

    fs: "messagebody.filesystem.MessageBodyFileSystem"

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.complete(commit=kind is None)

    def start(self) -> None:
        """Begin the transaction: hold changes back from now on."""
        frame = Frame(self.fs, above=open_frame(self.fs))
        _FRAMES.set({**_FRAMES.get(), id(self.fs): frame})

    def complete(self, commit: bool = True) -> None:
        """Make all changes, or drop them; in a nested transaction they wait for the outer one."""
        frame = open_frame(self.fs)
        if frame is None:
            return
        # End it in any case: a later write must not wait for a commit that never comes.
        frame.close()
        above = open_frame(self.fs)
        others = {key: each for key, each in _FRAMES.get().items() if key != id(self.fs)}
        _FRAMES.set(others if above is None else {**others, id(self.fs): above})
        if commit and above is not None:
            above.changes += frame.changes
            return
        if commit:
            self._commit(frame.changes)
        for each in frame.changes:
            each.discard()

    def _commit(self, changes: list[Any]) -> None:
        with edit(self.fs.body):
            for each in changes:
                each.commit()
            if self.fs.document is not None:
                self.fs.save()
