"""A body as an fsspec filesystem: its calls, options and URLs, over a tree, reader and writer."""

import contextlib
import datetime as dt
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from fsspec import AbstractFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.core import get_compression
from fsspec.spec import make_instance

from messagebody._base.digests import sha256_of
from messagebody._base.text import did_you_mean
from messagebody._model.access import edit, record_of
from messagebody._model.body import MessageBody
from messagebody._model.content import LocalFile
from messagebody._model.views import BodyFileSystem
from messagebody.filesystem._documents import Document
from messagebody.filesystem._files import TextPartWriter, plain_mode
from messagebody.filesystem._paths import Live, fail, is_live, live_target, live_token
from messagebody.filesystem._patterns import matching
from messagebody.filesystem._reader import FileReader
from messagebody.filesystem._transactions import WholeTransaction, open_frame
from messagebody.filesystem._transfers import FilesOnly, Pairs, results_of_threads
from messagebody.filesystem._tree import FileTree, directory_entry, file_entry
from messagebody.filesystem._writer import FileWriter
from messagebody.storage._references.resolver import Resolver

# Options that fsspec itself accepts for every filesystem, and `anon`, with which pandas asks again
# after any PermissionError: its TypeError would hide which reference was refused.
_FSSPEC_OPTIONS = frozenset(
    {
        "anon", "asynchronous", "batch_size", "listings_expiry_time", "loop", "max_paths",
        "skip_instance_cache", "use_listings_cache",
    }
)  # fmt: skip
_OPTIONS = (
    "fo", "body", "resolver", "allow", "read_only", "autosave", "protocol", "quoted_names",
    "target_protocol", "target_options",
)  # fmt: skip
_TEXT_OPTIONS: Final = ("encoding", "errors", "newline")
# DuckDB refuses a filesystem without modification times, and parts have none.
_TIME: Final = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


class MessageBodyFileSystem(BodyFileSystem):
    """A body as a filesystem: named parts are files, unnamed ones are not shown.

    Directories are implied by names. The filesystem remembers an empty directory made by `mkdir`,
    but it is not part of the body. `ls`, `find` and `walk` keep message order; `glob` sorts, as in
    fsspec. A new part is added at the end; an overwritten part keeps its position and its content
    type. Removing a reference removes the part, never the object behind its URL. In a transaction,
    the changes of the thread or task that began it wait for the commit, and are made together or
    not at all.

    Arguments:
        fo: URL of a JSON document with a body, instead of `body`. It is written back when a
            transaction is committed, or by `save()`. A change outside a transaction fails with
            `EROFS`, because it would not be saved.
        body: a live body; changes go both ways.
        resolver: decides how references are read; by default the body's resolver, or a closed one.
        allow: URLs that references may have, instead of `resolver`; keeps the filesystem
            serialisable.
        read_only: refuse every change with `EROFS`. An unpickled filesystem is read-only, because
            its body is a copy.
        autosave: save the document after every change.
        protocol: the protocol of its URLs, for programs that tell filesystems apart by protocol.
        quoted_names: accept paths with any character, such as `city=Oslo`. A byte that names can't
            hold is written as `_` and two hex digits in the part's name.
        target_protocol, target_options: how to open `fo`, as for fsspec's archives.
        live: the live URL that this filesystem was opened by, set by fsspec. Its own URLs then
            begin with the same token.

    Raises:
        ValueError: neither `body` nor `fo` is given, or both are.
        TypeError: an option is unknown.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> body.fs.ls("/sources", detail=False), body.fs.cat_file("/sources/1.txt")
        (['/sources/1.txt'], b'meow')
        >>> with body.fs.open("/notes.md", "w") as file:
        ...     _ = file.write("# Cats")
        >>> body["/notes.md"]
        Part('/notes.md', text/markdown, '# Cats', 6 B)
    """

    protocol: ClassVar[str] = "messagebody"
    root_marker = "/"
    # Two bodies with the same `repr` must never share a cached filesystem.
    cachable = False
    # fsspec makes a token from the text of all options. The text of a body is slow to make and does
    # not identify the body.
    _strip_tokenize_options = ("body",)

    def __init__(
        self,
        fo: str | None = None,
        *,
        body: MessageBody | None = None,
        resolver: Resolver | None = None,
        allow: Iterable[str] = (),
        read_only: bool = False,
        autosave: bool = False,
        protocol: str | None = None,
        quoted_names: bool = False,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        live: Live | None = None,
        **options: Any,
    ) -> None:
        _check_options(options)
        if (fo is None) == (body is None):
            got = "neither" if fo is None else "both"
            raise ValueError(f"a filesystem takes either body= or fo=, got {got}")
        if autosave and fo is None:
            raise ValueError("autosave needs a document (fo=); a live body has none to save to")
        super().__init__(**options)
        self._live, self._token = live, ""
        document = None if fo is None else Document(fo, target_protocol, target_options)
        shown = body if document is None else document.load()
        assert shown is not None  # noqa: S101 - one of the two is given
        given = resolver or (Resolver(allow=list(allow)) if allow else None)
        self.body, self.document = shown, document
        self._tree = FileTree(shown, given, quotes=quoted_names)
        self._reader = FileReader(self._tree)
        self._writer = FileWriter(self._tree, document, read_only=read_only, autosave=autosave)
        if protocol is not None:
            # fsspec defines both on the class, but this protocol belongs to one object only.
            strip = partial(_strip, f"{protocol}://", type(self))
            self.__dict__.update(protocol=protocol, _strip_protocol=strip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.body!r})"

    # Paths and URLs

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        text = os.fspath(path)
        if text.startswith("/"):
            return text.rstrip("/") or "/"
        text = text.removeprefix("messagebody://")
        text = text.removeprefix("messagebody:")
        if is_live(text):
            text = text.partition("/")[2]
        if "://" in text:
            return text  # another filesystem's: no part has that name, errors show it as is
        return "/" + text.strip("/")

    def unstrip_protocol(self, name: str) -> str:
        """Return a path with its protocol."""
        return self._url_of(self._strip_protocol(name))

    def _url_of(self, path: str) -> str:
        # A filesystem that was opened by a live URL has live URLs.
        return f"{self.protocol}://{path}" if self._live is None else self.url(path)

    def url(self, path: str) -> str:
        """Return a URL of a path in this very body, for libraries that only take text.

        It works only in this process, and only while this filesystem is in use. `body.fs` is in use
        as long as its body.

        Examples:
            >>> import fsspec
            >>> from messagebody import MessageBody, Part
            >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
            >>> with fsspec.open(body.fs.url("/sources/1.txt")) as file:
            ...     file.read()
            b'meow'
        """
        if self._live is not None:
            token = self._live.token
        else:
            token = self._token = self._token or live_token(self)
        return f"messagebody://{token}{self._strip_protocol(path)}"

    @classmethod
    def _get_kwargs_from_urls(cls, path: str) -> dict[str, Any]:
        """Return the options of the filesystem that made a live URL."""
        live = live_target(path)
        if live is None:
            return {}
        made: Any = live.filesystem
        # A forked process has a copy, whose changes would be lost.
        copied = {"read_only": True} if made._writer.is_copy else {}
        options: dict[str, Any] = made.storage_options | copied | {"live": live}
        return options

    # Files and directories

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List a directory, or the one file at the path. Does no I/O."""
        return self._tree.ls(self._strip_protocol(path), detail=detail)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the entry of a file or directory. A size that is not stated is requested once.

        Content is not hashed for the entry; use `ukey`. The URL of a reference is shown without its
        query and user-info, which may be a signature; `body[path].url` has them.

        A file that is open for writing keeps its old state until it is closed, and a new one does
        not exist until then; but databases keep their files open and ask for the current size.

        Raises:
            UnsafeReference: the resolver doesn't allow the reference, so its size is unknown; `ls`,
                `find`, `exists` and `isfile` request nothing.
        """
        path = self._strip_protocol(path)
        database, now = self._writer.database(path), {}
        if database is not None:
            with contextlib.suppress(ValueError):  # another thread has closed it since
                now = {"size": database.size}
        part = self._tree.part(path)
        if part is None:
            # Only a directory will do: another thread may have written a file there since.
            self._tree.check_directory(path)
            return directory_entry(path) | now
        described = file_entry(record_of(part), path)
        described["index"] = self.body.index(self._tree.name(path))
        if described["size"] is None:
            described["size"] = self._reader.size(path, part)
        return described | now

    def exists(self, path: str, **_: Any) -> bool:
        """Return whether there is a file or directory."""
        path = self._strip_protocol(path)
        return self._tree.has(path) or self._tree.is_directory(path)

    def isfile(self, path: str) -> bool:
        """Return whether there is a file."""
        return self._tree.has(self._strip_protocol(path))

    def isdir(self, path: str) -> bool:
        """Return whether there is a directory."""
        return self._tree.is_directory(self._strip_protocol(path))

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False,
        detail: bool = False, **_: Any,
    ) -> Any:  # fmt: skip
        """List all files below a path, in message order, in one pass over the names.

        Arguments:
            path: a directory, or a single file.
            maxdepth: levels to go down; all if None.
            withdirs: whether directories are listed too.
            detail: whether to return a dict of entries by path.
        """
        _check_depth(maxdepth)
        path = self._strip_protocol(path)
        return self._tree.find(path, maxdepth, withdirs=withdirs, detail=detail)

    def glob(
        self, path: str, maxdepth: int | None = None, detail: bool = False,
        *, withdirs: bool = True, **_: Any,
    ) -> Any:  # fmt: skip
        """Return the paths that match a pattern, sorted; see fsspec."""
        _check_depth(maxdepth)
        pattern = self._strip_protocol(path) + "/" * path.endswith("/")
        found = sorted(matching(self._tree, pattern, maxdepth, withdirs=withdirs))
        # Only matches get an entry: entries of a million parts take seconds.
        return self._tree.entries(found) if detail else found

    def du(
        self, path: str, total: bool = True, maxdepth: int | None = None, withdirs: bool = False,
        **_: Any,
    ) -> Any:  # fmt: skip
        """Return the size of all files below a path; unknown sizes are requested in parallel."""
        found = self.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True)
        if withdirs and self.isdir(path):
            found = {self._strip_protocol(path): {"size": 0}} | found
        sizes = {each: info["size"] for each, info in found.items()}
        unknown = [each for each, size in sizes.items() if size is None]
        sizes |= zip(unknown, results_of_threads(self.size, unknown), strict=True)
        return sum(sizes.values()) if total else sizes

    def expand_path(self, path: Any, *args: Any, **options: Any) -> list[str]:
        """Return the paths that patterns and directories expand to; see fsspec."""
        try:
            found: list[str] = super().expand_path(path, *args, **options)
        except FileNotFoundError as error:
            if error.errno is not None:
                raise
            fail(errno.ENOENT, path if isinstance(path, str) else ", ".join(path))
        return found

    def created(self, path: str) -> dt.datetime:
        """Return a constant time, because parts have none."""
        self._tree.check_there(self._strip_protocol(path))
        return _TIME

    modified = created

    def ukey(self, path: str) -> str:
        """Return a key that changes when the content does: the digest, or a hash of the URL."""
        part = self._tree.file(self._strip_protocol(path))
        # Hashed, because a URL may hold a signature, and keys are logged and stored.
        return part.digest or sha256_of(str(part.url).encode())

    checksum = ukey

    # Opening and reading

    def open(
        self, path: str, mode: str = "rb", block_size: Any = None, cache_options: Any = None,
        compression: str | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """Open a file; see fsspec. If encoding fails, the old content stays.

        A stream has the URL of the part as its name, from which libraries guess the format.

        Raises:
            NotImplementedError: a compressed file is to be written; `fsspec.open` does that.
        """
        kind = plain_mode(mode)
        path = self._strip_protocol(path)
        if kind == "rb" and "b" in mode and compression is None:
            return self._open(path, kind, **options)
        if kind == "rb":
            return super().open(path, mode, block_size, cache_options, compression, **options)
        if compression is not None and get_compression(path, compression) is not None:
            # Compressors don't close the file below them, so the part would be missing.
            raise NotImplementedError("a compressed file is written by fsspec.open of fs.url(path)")
        text = {key: options.pop(key) for key in _TEXT_OPTIONS if key in options}
        stream = self._open(path, kind, **options)
        if "b" in mode:
            return stream
        try:
            return TextPartWriter(stream, **text)
        except BaseException:
            stream.discard()
            raise

    def _open(self, path: str, mode: str = "rb", *, whole: bool = False, **options: Any) -> Any:
        # fsspec's caches call this instead of `open`, for writing too.
        path, kind = self._strip_protocol(path), plain_mode(mode)
        if kind == "rb":
            return self._reader.open(path, self._url_of(path), whole=whole)
        return self._writer.open(path, self._url_of(path), kind, **options)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return the content of a file, or a range; of a reference only the range is requested."""
        path = self._strip_protocol(path)
        if start is None and end is None and (content := self._reader.inline(path)) is not None:
            return content
        return self._reader.read(path, start, end)

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        """Return the content of a file, or a dict of several; references are read in parallel."""
        paths = self.expand_path(path, recursive=recursive)
        if [path] == paths or (isinstance(path, str) and paths == [self._strip_protocol(path)]):
            return self.cat_file(paths[0], **options)
        files = [each for each in paths if self._tree.has(each) or not recursive]
        read = partial(_outcome, partial(self.cat_file, **options), raises=on_error == "raise")
        found = zip(files, self._map_of(files)(read, files), strict=True)
        if on_error == "omit":
            return {each: data for each, data in found if not isinstance(data, Exception)}
        return dict(found)

    def cat_ranges(
        self, paths: list[str], starts: Any, ends: Any, max_gap: int | None = None,
        on_error: str = "return", **options: Any,
    ) -> list[Any]:  # fmt: skip
        """Return ranges of files; see fsspec. References are read in parallel."""
        if max_gap is not None:
            raise NotImplementedError("max_gap must be None; ranges are requested one by one")
        count = len(paths)
        starts = starts if isinstance(starts, list) else [starts] * count
        ends = ends if isinstance(ends, list) else [ends] * count
        ranges = [*zip(paths, starts, ends, strict=True)]

        def read(position: int) -> Any:
            return _outcome(self.cat_file, *ranges[position], raises=on_error != "return")

        return [*self._map_of(paths)(read, range(count))]

    def _map_of(self, paths: Iterable[str]) -> Callable[[Any, Iterable[Any]], Iterator[Any]]:
        """Return `map`, or a `map` with threads if there are references, which are slow to read."""
        is_slow = self._reader.has_references(map(self._strip_protocol, paths))
        return results_of_threads if is_slow else map

    def read_text(self, path: str, *args: Any, **options: Any) -> Any:
        """Return the content of a file as text, verified; see fsspec."""
        return super().read_text(path, *args, whole=True, **options)

    def get_file(self, rpath: str, lpath: Any = None, **options: Any) -> None:
        """Copy a file to a local one, after its content is verified; see fsspec."""
        rpath = self._strip_protocol(rpath)
        if not self._tree.is_directory(rpath):
            self._tree.check_there(rpath)  # before a local directory is made for it
        source = FilesOnly(self) if self._tree.has(rpath) else self
        AbstractFileSystem.get_file(source, rpath, lpath, whole=True, **options)

    def get(
        self, rpath: Any, lpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Copy to local files; references are fetched in parallel.

        Raises:
            OSError: `EINVAL`: no local file can have a name; nothing is written.
            NotADirectoryError: a name is both a file and a directory; nothing is written.
            FileExistsError: two files would be the same local file; nothing is written.
        """
        plan = Pairs(self).note_get(rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        for source, target in plan:
            if "\0" in target:  # a quoted name may hold any byte, and a local one may not
                fail(errno.EINVAL, source, "Invalid argument: no local file can have this name")
        callback.set_size(len(plan))

        def fetch(pair: tuple[str, str]) -> None:
            with callback.branched(*pair) as child:
                self.get_file(*pair, callback=child, **options)

        for _ in self._map_of(source for source, _ in plan)(fetch, plan):
            callback.relative_update()

    def sign(self, path: str, expiration: int = 100, **_: Any) -> str:
        """Return a signed URL of a reference that an explicit allow entry covers.

        Raises:
            NotImplementedError: the content is in the message.
            UnsafeReference: no entry of the resolver names the store that signs.
        """
        return self._reader.sign(self._strip_protocol(path), expiration)

    # Writing

    def pipe_file(
        self, path: str, value: Any, mode: str = "overwrite", *,
        content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Write a whole file.

        Raises:
            TypeError: the value is not a bytes-like object.
        """
        path = self._strip_protocol(path)
        content = value if isinstance(value, bytes) else memoryview(value).tobytes()
        self._writer.write(path, content, mode, content_type)

    def pipe(self, path: str | dict[str, Any], value: Any = None, **options: Any) -> None:
        """Write a file, or all files of a dict or none; see `pipe_file` and fsspec."""
        # Sending one file to a store takes long, and needs no other to wait.
        is_one = not isinstance(path, dict)
        with contextlib.nullcontext() if is_one else self._writer.together():
            super().pipe(path, value, **options)

    def put_file(
        self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite",
        *, content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Copy a local file into the body; for a local directory, only make a directory."""
        rpath = self._strip_protocol(rpath)
        if Path(lpath).is_dir():
            self.makedirs(rpath, exist_ok=True)
            return
        Path(lpath).stat()  # raises OSError if the file is missing
        file = LocalFile.at(lpath)
        callback.set_size(file.size)
        self._writer.write(rpath, file, mode, content_type)
        callback.relative_update(file.size)

    def put(
        self, lpath: Any, rpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Copy local files and directories; see fsspec.

        Raises:
            FileExistsError: two files would have the same path; nothing is written.
            OSError: a path can't be written, such as one that is not a name; nothing is written.
        """
        plan = Pairs(self).note_put(lpath, rpath, recursive=recursive, maxdepth=maxdepth)
        for source, target in plan:
            path = self._strip_protocol(target)
            if not (Path(source).is_dir() and self.isdir(path)):
                self._writer.check_changeable(path)
                self._writer.check_writable(path, is_new=options.get("mode") == "create")
        callback.set_size(len(plan))
        for source, target in callback.wrap(plan):
            with callback.branched(source, target) as child:
                self.put_file(source, target, callback=child, **options)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """Copy a file; a reference stays a reference."""
        self._writer.copy(self._strip_protocol(path1), self._strip_protocol(path2))

    def copy(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        on_error: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Copy files and directories, all or none; see fsspec.

        Raises:
            FileExistsError: two files have the same target, or a path is both source and target.
            OSError: `EINVAL`: a directory would be inside itself.
        """
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        skips = on_error == "ignore" or (on_error is None and recursive)
        with self._writer.together():
            for old, new in plan:
                with contextlib.suppress(*[FileNotFoundError] * skips):
                    self.cp_file(old, new)

    def mv_file(self, path1: str, path2: str, **_: Any) -> None:
        """Rename a file; the part keeps its position."""
        self._writer.move(self._strip_protocol(path1), self._strip_protocol(path2))

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None,
        **_: Any,
    ) -> None:  # fmt: skip
        """Move files and directories, all or none; every part keeps its position.

        A file that is moved to its own path stays there.

        Raises:
            FileExistsError: two files have the same target, or a path is both source and target.
            OSError: `EINVAL`: a directory would be inside itself. `ENOTDIR`: a directory would take
                the place of a file.
        """
        if isinstance(path1, str) and isinstance(path2, str):
            source = self._strip_protocol(path1)
            if source == self._strip_protocol(path2):
                self._tree.check_there(source)
                return
        if isinstance(path1, str):
            recursive = recursive or not self.isfile(path1)
        plan = Pairs(self).note_copy(path1, path2, recursive=recursive, maxdepth=maxdepth)
        directories = {old for old, _ in plan if self.isdir(old) and not self.isfile(old)}
        for old, new in plan:
            if old in directories and self._tree.has(new):
                fail(errno.ENOTDIR, new)
        with self._writer.together():
            for old, new in plan:
                if old not in directories:
                    self.mv_file(old, new)
        with edit(self.body):
            for old, new in reversed(plan):
                if old in self._tree.made:
                    self._tree.made.remove(old)
                    self._tree.made.add(new)

    def rm_file(self, path: str) -> None:
        """Remove a file; the object behind a reference stays.

        If the file is open for writing, closing it fails with `ESTALE`.
        """
        self._writer.remove(self._strip_protocol(path))

    _rm = rm_file

    def rm(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None
    ) -> None:  # fmt: skip
        """Remove files, and with `recursive` directories and everything below them."""
        found = self.expand_path(path, recursive=recursive, maxdepth=maxdepth)
        with self._writer.together():
            for each in found:
                if self._tree.has(each) or not recursive:
                    self.rm_file(each)
        with edit(self.body):
            for each in found if recursive and maxdepth is None else ():
                self._tree.made.remove(each)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Make a directory, which this filesystem remembers while it is empty."""
        self._writer.make_directory(self._strip_protocol(path), create_parents=create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory and its parents."""
        with edit(self.body):
            if not (exist_ok and self.isdir(path)):
                self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory that was made by `mkdir`."""
        self._writer.remove_directory(self._strip_protocol(path))

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:
        """Make an empty file; with `truncate`, empty an existing one."""
        path = self._strip_protocol(path)
        with edit(self.body):
            if truncate or not self._tree.has(path):
                self.pipe_file(path, b"")

    # Documents and transactions

    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all.

        Raises:
            OSError: the filesystem is over a live body and has no document (`EINVAL`), it is
                read-only (`EROFS`), or somebody else changed the document since it was read
                (`ESTALE`).
        """
        self._writer.save()

    @property
    def transaction(self) -> WholeTransaction:
        """The context of a transaction, which belongs to the thread or task that begins it."""
        return WholeTransaction(self._writer)

    @property
    def _intrans(self) -> bool:
        return open_frame(self._writer) is not None

    @_intrans.setter
    def _intrans(self, is_open: bool) -> None:
        """Take what fsspec sets when a filesystem is made."""

    def start_transaction(self) -> WholeTransaction:
        """Begin a transaction, which `end_transaction` commits in the same thread or task."""
        transaction = self.transaction
        transaction.start()
        return transaction

    def end_transaction(self) -> None:
        """Commit the transaction that `start_transaction` began."""
        self.transaction.complete()

    # Options and copies

    @property
    def storage_options(self) -> dict[str, Any]:
        """The options that make a filesystem over the same body."""
        return self._options | ({"body": self.body} if self.document is None else {})

    @storage_options.setter
    def storage_options(self, options: dict[str, Any]) -> None:
        self._options = options

    @property
    def _fs_token(self) -> str:
        return f"{id(self.body):x}" if self.document is None else self._fs_token_

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process gets a copy of the body, so its writes would be lost.
        options = self.storage_options | {"read_only": True, "autosave": False, "live": None}
        state = {"made": self._tree.made}
        return make_instance, (type(self), self.storage_args, options), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._tree.made = state["made"]

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return the filesystem as a JSON value, which needs `fo=`."""
        if self.document is None:
            raise TypeError(
                "a filesystem over a live body is not a JSON value; pickle it, or use fo="
            )
        if self.storage_options.get("resolver") is not None:
            raise TypeError(
                "a filesystem with resolver= is not a JSON value; pickle it, or use allow="
            )
        result: dict[str, Any] = super().to_dict(include_password=include_password)
        return result


def _check_depth(maxdepth: int | None) -> None:
    if maxdepth is not None and maxdepth < 1:
        raise ValueError("maxdepth must be at least 1")


def _strip(prefix: str, kind: type[MessageBodyFileSystem], path: Any) -> Any:
    if isinstance(path, list):
        return [_strip(prefix, kind, each) for each in path]
    return kind._strip_protocol(os.fspath(path).removeprefix(prefix))


def _outcome(act: Any, *args: Any, raises: bool) -> Any:
    """Return what a call returns, or its exception if `raises` is false."""
    try:
        return act(*args)
    except Exception as error:
        if raises:
            raise
        return error


def _check_options(options: dict[str, Any]) -> None:
    """Raise `TypeError` for unknown options, because ignoring one could hide a mistake."""
    unknown = sorted(options.keys() - _FSSPEC_OPTIONS)
    if not unknown:
        return
    meant = did_you_mean(unknown[0], _OPTIONS)
    got = ", ".join(map(repr, unknown))
    raise TypeError(f"MessageBodyFileSystem() got unexpected options: {got}{meant}")
