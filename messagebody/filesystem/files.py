"""Files opened for writing, and transactions that put them into the body together."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
from fsspec.transaction import Transaction

if TYPE_CHECKING:
    from messagebody.filesystem.body_filesystem import MessageBodyFileSystem
    from messagebody.part import Part


class PartWriter(io.BytesIO):
    """A file open for writing: its bytes become a part when it is closed.

    An exception inside `with` drops them and leaves the old content.

    Arguments:
        filesystem: whose body gets the part.
        path: the name of the part.
        mode: "wb", "xb" or "ab".
        content_type: what the part is; kept or found if None.
        autocommit: whether closing makes the part; else a transaction does.
    """

    def __init__(
        self,
        filesystem: "MessageBodyFileSystem",
        path: str,
        mode: str,
        *,
        content_type: str | None = None,
        autocommit: bool = True,
    ) -> None:
        self._filesystem = filesystem
        self.path = path
        self._is_new = mode == "xb"
        self._is_appending = mode == "ab"
        self._old: Part | None = filesystem._part(path) if self._is_appending else None
        super().__init__(filesystem._content_of(self._old))
        self._start = self.seek(0, io.SEEK_END)
        self._content_type = content_type
        self._autocommit = autocommit
        self._content: bytes | None = None
        self._discarded = False
        self.closers: list[Callable[[], Any]] = [self.close]
        """What closes the file and all that is wrapped around it, outermost last."""

    def write(self, data: Any) -> int:
        """Write some bytes; behind all others in a file that is appended to."""
        if self._is_appending:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def close(self) -> None:
        """Keep what was written; in a transaction, until it is committed."""
        if self.closed:
            return
        self._content = None if self._discarded else self.getvalue()
        super().close()
        if self._autocommit:
            self.commit()

    def commit(self) -> None:
        """Make the part; a file still open is closed for it."""
        if not self.closed:
            self.closers[-1]()
        if self._content is None:
            return
        content, self._content = self._content, None
        self._filesystem._check_writable(self.path, is_new=self._is_new)
        now = self._filesystem._part(self.path) if self._is_appending else self._old
        if now != self._old:  # somebody else wrote since: what was written here goes behind it
            content = self._filesystem._content_of(now) + content[self._start :]
        self._filesystem._put(self.path, content, self._content_type)

    def discard(self) -> None:
        """Drop what was written."""
        self._discarded = True
        self._content = None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()


class CompressingWriter(io.BufferedIOBase):
    """Compresses on the way into a `PartWriter`, which compressors would never close."""

    def __init__(self, target: PartWriter, compressor: Callable[..., Any]) -> None:
        self._target = target
        self._compressor = compressor(target, mode="w")
        self.closers = target.closers
        self.closers.append(self.close)

    def writable(self) -> bool:
        """Tell that it is open for writing."""
        return True

    def write(self, data: Any) -> int:
        """Compress some bytes."""
        written: int = self._compressor.write(data)
        return written

    def discard(self) -> None:
        """Drop what was written."""
        self._target.discard()

    def close(self) -> None:
        """Write the end of the compressed stream, and make the part."""
        if self.closed:
            return
        self._compressor.close()
        self._target.close()
        super().close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        self.close()


class TextPartWriter(io.TextIOWrapper):
    """Text on its way into a `PartWriter`."""

    def __init__(self, target: "PartWriter | CompressingWriter", **options: Any) -> None:
        super().__init__(target, **options)  # type: ignore[arg-type]
        self._target = target
        target.closers.append(self.close)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._target.discard()
        self.close()


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

    fs: "MessageBodyFileSystem | None"

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

    def _commit(self, filesystem: "MessageBodyFileSystem") -> None:
        with filesystem.body._parts.all_or_nothing():
            for each in self.files:
                each.commit()
            if filesystem.document is not None:
                filesystem.save()
