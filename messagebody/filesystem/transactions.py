"""Changes that wait for a commit, and are made together or not at all."""

from collections.abc import Callable
from typing import Any

import attrs
from fsspec.transaction import Transaction

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask


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
    """

    fs: "messagebody.filesystem.MessageBodyFileSystem | None"

    def complete(self, commit: bool = True) -> None:
        """Make all changes, or forget them."""
        filesystem = self.fs
        if filesystem is None:
            return
        # It ends whatever comes: a later write is not to wait for a commit that never is.
        filesystem._intrans = False
        filesystem._transaction = self.fs = None
        if commit:
            self._commit(filesystem)
        for each in self.files:
            each.discard()

    def _commit(self, filesystem: "messagebody.filesystem.MessageBodyFileSystem") -> None:
        with filesystem.body._parts.all_or_nothing():
            for each in self.files:
                each.commit()
            if filesystem.document is not None:
                filesystem.save()
