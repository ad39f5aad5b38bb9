"""A body as the upper layer over another filesystem; the body holds the changes."""

import contextlib
import errno
import os
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import fsspec
from fsspec import AbstractFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import make_instance

from messagebody._model.access import edit
from messagebody._model.body import MessageBody
from messagebody.filesystem._body_filesystem import MessageBodyFileSystem
from messagebody.filesystem._files import plain_mode
from messagebody.filesystem._paths import fail
from messagebody.filesystem._transactions import WholeTransaction
from messagebody.filesystem._transfers import Pairs, WholeTransfers
from messagebody.names import ancestors

_WHITEOUT = ".wh."
"""Prefix for the names of empty parts that hide lower files, as in OCI image layers."""


class OverlayFileSystem(WholeTransfers):
    """A body of changes over a lower filesystem, which is only read.

    A written file becomes a part. A lower file that is removed is hidden by an empty part
    `.wh.<name>`, as in layers of container images (OCI image specification, "Whiteouts"). So the
    body holds the difference: it can be sent as a message, and laid over the same files elsewhere.

    Arguments:
        body: the changes.
        over: the lower filesystem, or its URL or directory. It comes from the program, and never
            from a message.
        path: the directory of the lower filesystem that is shown as "/". If it is local, links that
            lead out of it, or back to one of their own parent directories, are not shown.
        **options: options of the filesystem over the body, such as `offload_to` or `quoted_names`.

    Raises:
        FileNotFoundError: the lower directory does not exist.
        NotADirectoryError: the lower directory is a file.

    Examples:
        >>> import fsspec
        >>> from messagebody import MessageBody
        >>> from messagebody.views import OverlayFileSystem
        >>> below = fsspec.filesystem("memory")
        >>> below.pipe({"/repository/a.txt": b"a", "/repository/b.txt": b"b"})
        >>> changes = MessageBody()
        >>> fs = OverlayFileSystem(changes, below, "/repository")
        >>> fs.pipe_file("/a.txt", b"changed")
        >>> fs.rm("/b.txt")
        >>> fs.find("/"), changes.names()
        (['/a.txt'], ['/a.txt', '/.wh.b.txt'])
        >>> below.cat_file("/repository/a.txt")
        b'a'
    """

    protocol: ClassVar[str] = "overlay"
    root_marker = "/"
    cachable = False

    def __init__(
        self,
        body: MessageBody,
        over: "str | os.PathLike[str] | AbstractFileSystem",
        path: str = "",
        **options: Any,
    ) -> None:
        # Lower files can have any name, and so can the whiteouts that hide them.
        self.upper = body.filesystem(**{"quoted_names": True, **options})
        super().__init__()
        self.body = body
        if isinstance(over, AbstractFileSystem):
            self.lower, self._root = over, str(over._strip_protocol(path)).rstrip("/")
        else:
            self.lower, root = fsspec.core.url_to_fs(os.fspath(over))
            self._root = f"{root.rstrip('/')}/{path.strip('/')}".rstrip("/")
        self._check_root()

    def _check_root(self) -> None:
        if not self._root:
            return
        # A mistyped path would otherwise be an empty tree.
        try:
            kind = self.lower.info(self._root)["type"]
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._root) from error
        if kind != "directory":
            fail(errno.ENOTDIR, self._root)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        stripped: str = MessageBodyFileSystem._strip_protocol(path)
        # Such segments lead to lower files that are not shown, or that were removed.
        if stripped != "/" and not {"", ".", ".."}.isdisjoint(stripped[1:].split("/")):
            fail(errno.EINVAL, stripped, "Invalid argument: a segment is empty, '.' or '..'")
        return stripped

    # Transactions, which belong to the filesystem over the body

    @property
    def transaction(self) -> WholeTransaction:
        """The transaction of the changes."""
        return self.upper.transaction  # type: ignore[no-any-return]

    @property
    def _intrans(self) -> bool:
        return self.upper._intrans

    @_intrans.setter
    def _intrans(self, is_open: bool) -> None:
        """Ignore the initial value that fsspec sets."""

    def start_transaction(self) -> WholeTransaction:
        """Begin a transaction, which `end_transaction` commits."""
        return self.upper.start_transaction()

    def end_transaction(self) -> None:
        """Commit the transaction that `start_transaction` began."""
        self.upper.end_transaction()

    def __reduce__(self) -> tuple[Any, ...]:
        # Writes of another process to its copy of the body would be lost, so `upper` refuses them.
        state = {"body": self.body, "upper": self.upper}
        return make_instance, (type(self), self.storage_args, self.storage_options), state

    # The lower filesystem

    def _below(self, path: str) -> str:
        return self._root + path if path != "/" else self._root or "/"

    def _is_astray(self, place: str) -> bool:
        """Return whether a link in a local path leads out of the root, or in a circle."""
        if not isinstance(self.lower, LocalFileSystem):
            return False
        root, real = os.path.realpath(self._root or "/"), os.path.realpath(place)
        if os.path.commonpath([root, real]) != root or Path(real).is_symlink():
            return True
        below = os.path.relpath(place, self._root or "/")
        if real == os.path.normpath(os.path.join(root, below)):  # noqa: PTH118 - no link in it
            return False
        above = (os.path.realpath(self._below(each)) for each in ancestors(f"/{below}"))
        passed = [root, *above, real]
        return len({*passed}) < len(passed)

    def _is_hidden(self, path: str) -> bool:
        """Return whether a lower file was removed or replaced, or is a whiteout itself."""
        if path == "/":
            return False
        # A whiteout only hides the lower file: a part of the same name is still shown.
        hiding = [*map(_whiteout, [path, *ancestors(path)]), *ancestors(path)]
        return _is_whiteout(path) or any(self.upper.isfile(each) for each in hiding)

    def _info_below(self, path: str) -> dict[str, Any] | None:
        place = self._below(path)
        if self._is_hidden(path) or self._is_astray(place):
            return None
        try:
            info: dict[str, Any] = self.lower.info(place)
        except (FileNotFoundError, NotADirectoryError):
            return {"name": "/", "size": 0, "type": "directory"} if path == "/" else None
        return info | {"name": path}

    def _kind(self, path: str) -> str | None:
        """Return "file", "directory", or None if the path is missing; references are not read."""
        if self.upper.isfile(path) and not _is_whiteout(path):
            return "file"
        info = self._info_below(path)
        if info is not None:
            return "directory" if info["type"] == "directory" else "file"
        return "directory" if self.upper.isdir(path) and self._shown_above(path) else None

    def exists(self, path: str, **_: Any) -> bool:
        """Return whether there is a file or directory."""
        return self._kind_at(path) is not None

    def isfile(self, path: str) -> bool:
        """Return whether there is a file."""
        return self._kind_at(path) == "file"

    def isdir(self, path: str) -> bool:
        """Return whether there is a directory."""
        return self._kind_at(path) == "directory"

    def _kind_at(self, path: str) -> str | None:
        try:
            return self._kind(self._strip_protocol(path))
        except OSError:  # a path that is invalid, such as one with ".."
            return None

    def _check_file(self, path: str) -> None:
        kind = self._kind(path)
        if kind == "directory":
            fail(errno.EISDIR, path)
        if kind is None:
            self._fail_missing(path)

    def _fail_missing(self, path: str) -> NoReturn:
        leads_through_file = any(self.isfile(above) for above in ancestors(path))
        fail(errno.ENOTDIR if leads_through_file else errno.ENOENT, path)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the entry of a file or directory of either layer."""
        path = self._strip_protocol(path)
        if self.upper.isfile(path) and not _is_whiteout(path):
            return self.upper.info(path)
        info = self._info_below(path)
        if info is None and self.upper.isdir(path) and self._shown_above(path):
            return {"name": path, "size": 0, "type": "directory"}
        if info is None:
            self._fail_missing(path)
        return info

    def _shown_above(self, path: str) -> bool:
        """Return whether a directory was made, or has parts other than whiteouts."""
        names = self.upper.find(path, withdirs=True)
        return path in self.upper._made or any(
            not _is_whiteout(each) and self.upper.isfile(each) for each in names
        )

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List a directory: the lower entries, then those that the body adds."""
        path = self._strip_protocol(path)
        if not self.isdir(path):
            own = self.info(path)
            return [own] if detail else [own["name"]]
        # Entries of the body are taken from `ls`, because `info` may open a connection.
        listed = self.upper.ls(path) if self.upper.isdir(path) else []
        above = {entry["name"]: entry for entry in listed}
        found: dict[str, dict[str, Any]] = {}
        for child in [*self._paths_below(path), *above]:
            if child in found or self._kind(child) is None:
                continue
            is_written = child in above and above[child]["type"] == "file"
            below = None if is_written else self._info_below(child)
            found[child] = above[child] if below is None else below
        return [*found.values()] if detail else [*found]

    def _paths_below(self, path: str) -> list[str]:
        """Return the entries of a lower directory, as paths of this filesystem."""
        below = self._info_below(path)
        if below is None or below["type"] != "directory":
            return []
        try:
            entries = self.lower.ls(self._below(path), detail=False)
        except FileNotFoundError:  # a root that was removed meanwhile is empty
            return []
        names = [str(each).rstrip("/").rpartition("/")[2] for each in entries]
        return [f"{path.rstrip('/')}/{name}" for name in names]

    def open(self, path: str, mode: str = "rb", *args: Any, **options: Any) -> Any:
        """Open a file; a lower file is copied into the body before it is changed."""
        path = self._strip_protocol(path)
        if plain_mode(mode) == "rb":
            return super().open(path, mode, *args, **options)
        self._prepare(path, plain_mode(mode))
        return self.upper.open(path, mode, *args, **options)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if plain_mode(mode) != "rb":
            self._prepare(path, plain_mode(mode))
            return self.upper.open(path, mode)
        self._check_file(path)
        if self.upper.isfile(path):
            return self.upper.open(path, "rb")
        return self.lower.open(self._below(path), "rb")

    def _prepare(self, path: str, mode: str) -> None:
        self._check_writable(path, is_new=mode[0] == "x")
        if self._intrans and mode[0] == "r" and not self.upper.isfile(path):
            fail(errno.ENOTSUP, path, "a lower file can't be changed in place in a transaction")
        if mode[0] in "ar" and not self.upper.isfile(path) and self.isfile(path):
            with contextlib.suppress(FileExistsError):  # another thread was faster
                self.upper.pipe_file(path, self.cat_file(path), mode="create")

    def _check_writable(self, path: str, *, is_new: bool = False) -> None:
        if _is_whiteout(path):
            fail(errno.EINVAL, path, f"names that begin with {_WHITEOUT!r} hide lower files")
        if self.isdir(path):
            fail(errno.EISDIR, path)
        if is_new and self.isfile(path):
            fail(errno.EEXIST, path)
        if any(self.isfile(above) for above in ancestors(path)):
            fail(errno.ENOTDIR, path)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return the content of a file, or a range of it."""
        path = self._strip_protocol(path)
        self._check_file(path)
        if self.upper.isfile(path):
            return self.upper.cat_file(path, start, end)
        data: bytes = self.lower.cat_file(self._below(path), start, end)
        return data

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **options: Any) -> None:
        """Write a whole file into the body."""
        path = self._strip_protocol(path)
        self._check_writable(path, is_new=mode == "create")
        self.upper.pipe_file(path, value, mode, **options)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file into the body, or make a directory there."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.isdir(source):
            self.makedirs(target, exist_ok=True)
        else:
            self.pipe_file(target, self.cat_file(source))

    def rm_file(self, path: str) -> None:
        """Remove a file from the body, and hide the lower one."""
        path = self._strip_protocol(path)
        # In a transaction, the file to remove is looked up at the commit.
        self.upper._change(path, partial(self._check_file, path), partial(self._rm_now, path))

    def _rm_now(self, path: str) -> None:
        if self.upper.isfile(path):
            self.upper.rm_file(path)
        self._hide(path)

    _rm = rm_file

    def _hide(self, path: str) -> None:
        if self._info_below(path) is not None:
            self.upper.pipe_file(_whiteout(path), b"", content_type="application/octet-stream")

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove files, and with `recursive` whole directories, all or none."""
        found = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
        # Looked up now: an implied directory disappears with its last file.
        directories = {each for each in found if recursive and self.isdir(each)}
        with self._together():
            for each in reversed(found):
                if each in directories:
                    self._rm_emptied(each)
                else:
                    self.rm_file(each)

    def _rm_emptied(self, path: str) -> None:
        """Remove a directory if it is empty; an implied one is gone already."""
        self.upper._change(path, lambda: None, partial(self._rmdir_now, path, if_empty=True))

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if not self.isdir(path):
                self._check_there(path)
                fail(errno.ENOTDIR, path)
            if self.ls(path, detail=False) or path == "/":
                fail(errno.ENOTEMPTY, path)
            self.upper._check_changeable(path)
            self._rmdir_now(path)

    def _check_there(self, path: str) -> None:
        if self._kind(path) is None:
            self._fail_missing(path)

    def _rmdir_now(self, path: str, *, if_empty: bool = False) -> None:
        if if_empty and (path == "/" or not self.isdir(path) or self.ls(path, detail=False)):
            return
        # Only whiteouts are left in it; the whiteout of the directory replaces them.
        for each in self.upper.find(path):
            self.upper.rm_file(each)
        self.upper._made.remove(path)
        self._hide(path)

    def _together(self) -> contextlib.AbstractContextManager[None]:
        return self.upper._together()

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        **_: Any,
    ) -> None:  # fmt: skip
        """Move files and directories, all or none.

        A file that is moved to its own path stays there.

        Raises:
            FileExistsError: two files have the same target, or a path is both source and target.
            OSError: `EINVAL`: a directory would be inside itself.
        """
        if self._is_unmoved(path1, path2):
            return
        if isinstance(path1, str):
            recursive = recursive or self.isdir(path1)
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        sources = [pair[0] for pair in plan]
        directories = {*filter(self.isdir, sources)}
        with self._together():
            for old, new in plan:
                self.cp_file(old, new)
            for old in reversed(sources):
                if old in directories:
                    self._rm_emptied(old)
                else:
                    self.rm_file(old)

    def get(
        self, rpath: Any, lpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Copy to local files.

        Raises:
            FileExistsError: two files would be the same local file; nothing is written.
        """
        plan = Pairs(self).note_get(rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        callback.set_size(len(plan))
        for source, target in callback.wrap(plan):
            with callback.branched(source, target) as child:
                self.get_file(source, target, callback=child, **options)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Make a directory, which the filesystem over the body remembers."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if self.exists(path):
                fail(errno.EEXIST, path)
            self._check_writable(path)
            self.upper._check_changeable(path)
            self.upper._made.add(path)

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Make an empty file; with `truncate`, empty an existing one."""
        if truncate or not self.isfile(path):
            self.pipe_file(path, b"")

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory and its parents."""
        with edit(self.body):
            if not (exist_ok and self.isdir(path)):
                self.mkdir(path)


def _whiteout(path: str) -> str:
    """Return the name of the part that hides a path."""
    above, _, name = path.rpartition("/")
    return f"{above}/{_WHITEOUT}{name}"


def _is_whiteout(path: str) -> bool:
    return path.rpartition("/")[2].startswith(_WHITEOUT)
