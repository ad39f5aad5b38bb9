"""Changes that wait for a commit, and are made together or not at all."""

from collections.abc import Callable
from typing import Any

import attrs
from fsspec.transaction import Transaction

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._model.access import edit


@attrs.frozen
class Change:
    """A change of a body that waits for its transaction.

    Arguments:
        check: raises where the body doesn't allow the change now.
        apply: makes the change.
    """

    check: Callable[[], Any]
    apply: Callable[[], Any]

    def commit(self) -> None:
        """Make the change, if it is allowed still: others may have come before."""
        self.check()
        self.apply()

    def discard(self) -> None:
        """Forget the change."""


class WholeTransaction(Transaction):  # type: ignore[misc]
    """Hold changes back until all of them are made, and then written to the body's document.

    fsspec's own commits file by file and stops at the first that fails. Here a commit that fails
    leaves body and document as they were, and other threads see all of it or nothing.

    One that begins inside another belongs to it: its changes are made when the outer one is
    committed, and forgotten with an exception of either.
    """

    fs: "messagebody.filesystem.MessageBodyFileSystem | None"

    def __init__(self, fs: Any, **options: Any) -> None:
        super().__init__(fs, **options)
        self._begun: list[int] = []
        """For each open transaction, the number of changes that waited when it began."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.complete(commit=kind is None)

    def start(self) -> None:
        """Begin to hold changes back."""
        self._begun.append(len(self.files))
        if self.fs is not None:
            self.fs._intrans = True

    def complete(self, commit: bool = True) -> None:
        """Make all changes, or forget them; inside another one they wait for that."""
        filesystem = self.fs
        if filesystem is None:
            return
        waited = self._begun.pop() if self._begun else 0
        if self._begun:
            while not commit and len(self.files) > waited:
                self.files.pop().discard()
            return
        # It always ends: a later write must not wait for a commit that never comes.
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
