"""Changes that wait for a commit, and are made together or not at all."""

from collections.abc import Callable
from typing import Any

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


class WholeTransaction(Transaction):  # type: ignore[misc]
    """A transaction that makes all its changes together, and then saves the body's document.

    fsspec's own transaction commits file by file and stops at the first error. Here a commit that
    fails leaves body and document as they were, and other threads see all changes or none.

    A nested transaction belongs to the outer one: its changes are made when the outer one is
    committed, and dropped if either raises an exception.
    """

    fs: "messagebody.filesystem.MessageBodyFileSystem | None"

    def __init__(self, fs: Any, **options: Any) -> None:
        super().__init__(fs, **options)
        self._begun: list[int] = []
        """For each open transaction, the number of changes that waited when it began."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.complete(commit=kind is None)

    def start(self) -> None:
        """Begin the transaction: hold changes back from now on."""
        self._begun.append(len(self.files))
        if self.fs is not None:
            self.fs._intrans = True

    def complete(self, commit: bool = True) -> None:
        """Make all changes, or drop them; in a nested transaction they wait for the outer one."""
        filesystem = self.fs
        if filesystem is None:
            return
        waited = self._begun.pop() if self._begun else 0
        if self._begun:
            while not commit and len(self.files) > waited:
                self.files.pop().discard()
            return
        # End it in any case: a later write must not wait for a commit that never comes.
        filesystem._intrans = False
        filesystem._transaction = self.fs = None
        if commit:
            self._commit(filesystem)
        for each in self.files:
            each.discard()

    def _commit(self, filesystem: "messagebody.filesystem.MessageBodyFileSystem") -> None:
        with edit(filesystem.body):
            for each in self.files:
                each.commit()
            if filesystem.document is not None:
                filesystem.save()
