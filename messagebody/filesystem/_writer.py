"""Changes to a body's files: each is checked, and made at once or in a transaction."""

import contextlib
import errno
import os
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from messagebody._base.text import redact_url
from messagebody._model.access import edit, parts_of
from messagebody._model.content import LocalFile, written_record
from messagebody._model.part import Part
from messagebody._wire.members import check_part_name
from messagebody.errors import InvalidName
from messagebody.filesystem._documents import Document
from messagebody.filesystem._files import DatabaseLog, PartAppender, PartWriter
from messagebody.filesystem._paths import concerning, fail
from messagebody.filesystem._transactions import Change, Frame, WholeTransaction, open_frame
from messagebody.filesystem._tree import FileTree


class FileWriter:
    """Changes the files of a tree.

    Arguments:
        tree: the files.
        document: the document that holds the body, if there is one.
        read_only: refuse every change.
        autosave: save the document after every change.
    """

    def __init__(
        self,
        tree: FileTree,
        document: Document | None,
        *,
        read_only: bool,
        autosave: bool,
    ) -> None:
        self.tree = tree
        self.document = document
        self.read_only = read_only
        self.frames: set[Frame] = set()
        """All transactions that are open, wherever they were begun."""
        self.databases: weakref.WeakValueDictionary[str, PartWriter] = weakref.WeakValueDictionary()
        self._autosave = autosave
        self._process = os.getpid()

    @property
    def is_copy(self) -> bool:
        """Whether a fork copied the body, so that its changes would be lost."""
        return os.getpid() != self._process

    # All changes

    def change(self, path: str, check: Callable[[], Any], apply: Callable[[], Any]) -> None:
        """Make a change, now or when the open transaction is committed.

        Arguments:
            path: what changes.
            check: raises an error if the body doesn't allow the change.
            apply: makes it.
        """
        with edit(self.tree.body):  # no other thread makes a change after the check
            check()
            self.check_changeable(path)
            if (frame := open_frame(self)) is not None:
                frame.changes.append(Change(check, apply))
            elif self._autosave:
                with self.together():
                    self.change(path, check, apply)
            else:
                apply()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make all changes in the `with` block, or none."""
        # In a transaction, it is a nested one: all or none of its changes wait for the commit.
        is_whole = self._autosave or open_frame(self) is not None
        whole = WholeTransaction(self) if is_whole else contextlib.nullcontext()
        with edit(self.tree.body), whole:
            yield

    def commit(self, changes: list[Any]) -> None:
        """Make changes together, and save the document."""
        with edit(self.tree.body):
            for each in changes:
                each.check_before()
            for each in changes:
                each.make()
            if self.document is not None:
                self.save()

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all."""
        if self.document is None:
            fail(errno.EINVAL, "/", "a live body has no document to save to")
        if self.read_only:
            fail(errno.EROFS, redact_url(self.document.url))
        with edit(self.tree.body):  # no other thread changes the body meanwhile
            self.document.save(self.tree.body)

    # Checks

    def check_changeable(self, path: str) -> None:
        """Raise `OSError` if nothing may be changed here and now."""
        if self.read_only:
            fail(errno.EROFS, path)
        if self.document is None and self.is_copy:
            text = "Read-only file system: a forked process has a copy of the body"
            fail(errno.EROFS, path, text)
        if self.document is not None and not (self._autosave or open_frame(self) is not None):
            text = "Read-only file system: change a document in `with fs.transaction:`, or use "
            fail(errno.EROFS, path, text + "autosave=True")

    def check_writable(self, path: str, *, is_new: bool = False) -> None:
        """Raise `OSError` if there can be no file at a path."""
        try:
            check_part_name(self.tree.name(path))
        except InvalidName as error:
            raise OSError(errno.EINVAL, error.problem, path) from error
        self.check_free(path, is_new=is_new)

    def check_free(self, path: str, *, is_new: bool) -> None:
        """Raise `OSError` if a file or directory at, above or below a path blocks it."""
        name = self.tree.name(path)
        blocker = parts_of(self.tree.body).blocker(name)
        if blocker == name:
            if is_new:
                fail(errno.EEXIST, path)
        elif path in self.tree.made or blocker == f"{name}/":
            fail(errno.EISDIR, path)
        elif blocker is not None:
            fail(errno.ENOTDIR, path)

    # Content

    def put(self, path: str, content: bytes, content_type: str | None) -> None:
        """Make a part of content, or give it to the part that is there."""
        name = self.tree.name(path)
        record = partial(written_record, content, name, content_type)
        parts_of(self.tree.body).put(name, record)

    def content_of(self, part: Part | None) -> bytes:
        """Return the content of a part that is to be changed."""
        if part is None:
            return b""
        with concerning(self.tree.path(str(part.name))):
            return part.read_bytes()

    def write(
        self, path: str, content: bytes | LocalFile, mode: str, content_type: str | None
    ) -> None:
        """Write a whole file; with the mode "create", only a new one."""

        def check() -> None:
            self.check_writable(path, is_new=mode == "create")

        # Unlike `body.add`, this reads the file now: the caller may delete it afterwards.
        held = content if isinstance(content, bytes) else content.read_bytes()
        self.change(path, check, lambda: self.put(path, held, content_type))

    def open(
        self, path: str, url: str, mode: str, *, content_type: str | None = None,
        autocommit: bool | None = None, **_: Any,
    ) -> PartWriter:  # fmt: skip
        """Open a file for writing; see `Writing` for the arguments."""
        if mode[0] == "r":
            self.tree.file(path)
        self.check_changeable(path)
        self.check_writable(path, is_new=mode[0] == "x")
        waits_for = open_frame(self)
        if autocommit is None:
            autocommit = waits_for is None
        options = content_type, autocommit
        file: PartWriter
        if autocommit and self._is_log(path):
            file = DatabaseLog(self, path, url, *options)
        elif mode[0] == "a":
            file = PartAppender(self, path, url, mode, *options)
        else:
            file = PartWriter(self, path, url, mode, *options)
        if waits_for is not None and not autocommit:
            file.waits = True
            waits_for.changes.append(file)
        return file

    # Databases, which keep files open and ask for their size

    def database(self, path: str) -> PartWriter | None:
        """Return the open file of a database, None if there is none at a path."""
        file = self.databases.get(path)
        return file if file is not None and file.is_kept_by_flush else None

    def _is_log(self, path: str) -> bool:
        """Return whether a path is the write-ahead log of an open DuckDB database."""
        database, suffix, _ = path.rpartition(".wal")
        return bool(suffix) and self.database(database) is not None

    # Files and directories

    def copy(self, source: str, target: str) -> None:
        """Copy a file, or an empty directory; a reference stays a reference."""
        tree = self.tree
        if not tree.has(source) and tree.is_directory(source):
            if source in tree.made and not tree.is_directory(target):
                self.make_directory(target)
            return  # other directories are implied by the files that are copied into them

        def apply() -> None:
            tree.body[tree.name(target)] = tree.body[tree.name(source)].with_resolver(None)

        self.change(target, partial(self._check_copy, source, target), apply)

    def move(self, source: str, target: str) -> None:
        """Rename a file; the part keeps its position."""
        old, new, body = self.tree.name(source), self.tree.name(target), self.tree.body

        def apply() -> None:
            with edit(body):
                if new != old and new in body:
                    del body[new]
                body.move(old, new)

        self.change(target, partial(self._check_copy, source, target), apply)

    def _check_copy(self, source: str, target: str) -> None:
        self.tree.file(source)
        self.check_writable(target)

    def remove(self, path: str) -> None:
        """Remove a file; the object behind a reference stays."""
        name = self.tree.name(path)
        self.change(path, partial(self.tree.file, path), partial(self.tree.body.__delitem__, name))

    def make_directory(self, path: str, *, create_parents: bool = True) -> None:
        """Make a directory, which the tree remembers while it is empty."""
        tree = self.tree
        with edit(tree.body):
            if tree.has(path) or tree.is_directory(path):
                fail(errno.EEXIST, path)
            self.check_changeable(path)
            self.check_writable(path)
            if not create_parents and not tree.is_directory(path.rpartition("/")[0] or "/"):
                fail(errno.ENOENT, path)
            tree.made.add(path)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        tree = self.tree
        with edit(tree.body):
            if not tree.is_directory(path):
                tree.file(path)
                fail(errno.ENOTDIR, path)
            if tree.ls(path, detail=False) or path == "/":
                fail(errno.ENOTEMPTY, path)
            self.check_changeable(path)
            tree.made.remove(path)
