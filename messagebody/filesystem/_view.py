"""A body as files to list and read: the half of its filesystem that changes nothing."""

import contextlib
import datetime as dt
import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, Final, NoReturn

from fsspec import AbstractFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK

from messagebody._base.digests import sha256_of
from messagebody._base.text import redact_url
from messagebody._model.access import access_of, columns, part_of, parts_of, record_of
from messagebody._model.body import MessageBody
from messagebody._model.index import Entries
from messagebody._model.part import Part
from messagebody._wire.members import PartRecord
from messagebody.errors import UnsafeReference
from messagebody.filesystem._directories import MadeDirectories
from messagebody.filesystem._files import PartReader, described_stream
from messagebody.filesystem._paths import is_live, quote_name, unquote_name
from messagebody.filesystem._patterns import matching
from messagebody.filesystem._transfers import Pairs, results_of_threads
from messagebody.names import ancestors
from messagebody.storage._references import FetchBudget, Resolver

# Where a URL may hold a signature, a password or content.
_SECRET: Final = re.compile(r"[?#@\\]|^data:", re.IGNORECASE)


def fail(number: int, path: str, text: str | None = None) -> NoReturn:
    """Raise the error of a number, in the words of the system unless told.

    Raises:
        OSError: always; the subclass that belongs to the number.
    """
    raise OSError(number, text or os.strerror(number), path)


@contextlib.contextmanager
def concerning(path: str) -> Iterator[None]:
    """Give a refused reference the path it has here, as errors about files do."""
    try:
        yield
    except UnsafeReference as error:
        error.filename = path
        raise


# DuckDB refuses a filesystem that knows no times; parts have none.
_TIME = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


class BodyView(AbstractFileSystem):  # type: ignore[misc]
    """A body as files to list and read.

    Arguments:
        body: the body.
        resolver: decides how references are read; the body's own, else the closed default.
        protocol: what URLs begin with, "messagebody" if None.
        quoted_names: whether a character that names don't take is written `_XX`; see `quote_name`.
    """

    protocol: ClassVar[str] = "messagebody"
    root_marker = "/"
    # Two bodies that print alike must never share a filesystem.
    cachable = False

    def __init__(
        self,
        body: MessageBody,
        resolver: Resolver | None,
        *,
        protocol: str | None,
        quoted_names: bool,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.body = body
        self.resolver = resolver
        self._quotes = quoted_names
        self._process = os.getpid()
        self._made = MadeDirectories()
        self._sizes: dict[str, int] = {}
        if protocol is not None:
            # fsspec asks the class for both; only this object has the name.
            strip = partial(_strip, f"{protocol}://", type(self))
            self.__dict__.update(protocol=protocol, _strip_protocol=strip)

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
            return text  # somebody else's: no part has that name, and errors show it as it is
        return "/" + text.strip("/")

    def unstrip_protocol(self, name: str) -> str:
        """Return a path with the protocol before it."""
        return self._url_of(self._strip_protocol(name))

    def _url_of(self, path: str) -> str:
        return f"{self.protocol}://{path}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.body!r})"

    # Names and paths: the same, unless names are quoted

    def _name(self, path: str) -> str:
        return quote_name(path) if self._quotes else path

    def _path(self, name: str) -> str:
        return unquote_name(name) if self._quotes else name

    def _has(self, path: str) -> bool:
        return self._name(path) in self.body

    # What is there

    def _part(self, path: str) -> Part | None:
        part = self.body.get(self._name(path))
        if part is None or self.resolver is None:
            return part
        return part.with_resolver(self.resolver)

    def _file(self, path: str) -> Part:
        part = self._part(path)
        if part is None:
            fail(errno.EISDIR if self._is_directory(path) else self._why_missing(path), path)
        return part

    def _why_missing(self, path: str) -> int:
        """Return what the system says of a path nothing lies at: it may lead through a file."""
        leads_through_file = any(self._has(above) for above in ancestors(path))
        return errno.ENOTDIR if leads_through_file else errno.ENOENT

    def _is_directory(self, path: str) -> bool:
        if path in self._made:
            # Another filesystem over the body may have written a file there since.
            return not self._has(path)
        return parts_of(self.body).is_directory(_with_slash(self._name(path)))

    def _check_there(self, path: str) -> None:
        if not self._has(path):
            self._check_directory(path)

    def _check_directory(self, path: str) -> None:
        if not self._is_directory(path):
            fail(self._why_missing(path), path)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List a directory, or the one file at the path. Does no I/O."""
        path = self._strip_protocol(path)
        listing = parts_of(self.body).listing(_with_slash(self._name(path)), _described_entries)
        if listing is None:
            listing = [] if path in self._made else [_described(record_of(self._file(path)))]
        elif not detail and not self._quotes and not self._made:
            return [entry["name"] for entry in listing]
        # Copies: the listing is kept, and callers write into what they are given.
        found = [entry | {"name": self._path(entry["name"])} for entry in listing]
        there = {entry["name"] for entry in found} if self._made else set()
        found += [_directory(each) for each in self._made.inside(path) if each not in there]
        return found if detail else [entry["name"] for entry in found]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Describe a file or directory; asks the resolver for a size nobody stated, once.

        Content is never hashed for it: `ukey` does that. The URL of a reference is shown without
        its query and user-info, which may be a signature; `body[path].url` has them.

        Raises:
            UnsafeReference: the resolver doesn't allow the reference, so nobody can say its size;
                `ls`, `find`, `exists` and `isfile` ask nobody.
        """
        path = self._strip_protocol(path)
        part = self._part(path)
        if part is None:
            # A directory is needed: another thread may have made a file of this name since.
            self._check_directory(path)
            return _directory(path)
        described = _described(record_of(part), path)
        described["index"] = self.body.index(self._name(path))
        if described["size"] is None:
            described["size"] = self._asked_size(path, part)
        return described

    def _known_size(self, part: Part) -> int | None:
        return self._sizes.get(str(part.url)) if part.size is None else part.size

    def _asked_size(self, path: str, part: Part) -> int:
        url = str(part.url)
        if url not in self._sizes:
            with concerning(path):
                resolver, budget = self._access(part)
                self._sizes[url] = resolver.size(url, subject=part.label, budget=budget)
        return self._sizes[url]

    def _access(self, part: Part) -> tuple[Resolver, FetchBudget | None]:
        """Return who decides about a part's reference, and what reading it may still cost."""
        found = access_of(part)
        return found["resolver"] or Resolver(), found["budget"]

    def exists(self, path: str, **_: Any) -> bool:
        """Return whether there is a file or directory."""
        path = self._strip_protocol(path)
        return self._has(path) or self._is_directory(path)

    def isfile(self, path: str) -> bool:
        """Return whether there is a file."""
        return self._has(self._strip_protocol(path))

    def isdir(self, path: str) -> bool:
        """Return whether there is a directory."""
        return self._is_directory(self._strip_protocol(path))

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False,
        detail: bool = False, **_: Any,
    ) -> Any:  # fmt: skip
        """List all files below a path, in message order, in one pass over the names.

        Arguments:
            path: a directory, or a file, which is all that is found.
            maxdepth: levels to go down; all if None.
            withdirs: whether directories are listed too.
            detail: whether to describe what is found, by path.
        """
        path = self._strip_protocol(path)
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        if maxdepth == 1 and not self._has(path) and self._is_directory(path):
            found = {path: _directory(path)} if withdirs and path != "/" else {}
            for entry in self.ls(path):
                # What is both file and directory is found as the file.
                if entry["type"] == "file" or (withdirs and entry["name"] not in found):
                    found[entry["name"]] = entry
            return found if detail else [*found]
        return self._found(path, maxdepth, withdirs=withdirs, detail=detail)

    def _found(self, path: str, maxdepth: int | None, *, withdirs: bool, detail: bool) -> Any:
        records, files = self._files(path)
        paths = self._with_directories(path, files) if withdirs else files
        if maxdepth is not None:
            start = len(_with_slash(path))
            paths = [each for each in paths if each[start:].count("/") < maxdepth]
        if not detail:
            return paths
        of = dict(zip(files, (each for each in records if each.name is not None), strict=True))
        return {
            each: _described(of[each], each) if each in of else _directory(each) for each in paths
        }

    def _files(self, path: str) -> tuple[list[PartRecord], list[str]]:
        """Return the parts at and below a path, and the paths of those with names, in order."""
        if path == "/":
            records, names, _ = columns(self.body)
        else:
            records = self._records_below(path)
            names = [record.name for record in records]
        if self._quotes:
            return records, [unquote_name(name) for name in names if name is not None]
        return records, [name for name in names if name is not None]

    def _records_below(self, path: str) -> list[PartRecord]:
        parts = parts_of(self.body)
        found = parts.below(_with_slash(self._name(path)))
        own = parts.find(self._name(path))
        if own is None:
            return found
        # What is both file and directory is rare: where it stands among the others is asked then.
        return sorted([own, *found], key=self._position) if found else [own]

    def _position(self, record: PartRecord) -> int:
        position = parts_of(self.body).position_of(str(record.name))
        return len(self.body) if position is None else position  # removed just now

    def _with_directories(self, path: str, files: list[str]) -> list[str]:
        """Return files with the directories they imply, and those that were made, below a path."""
        prefix = _with_slash(path)
        found = [
            each for each in _with_directories(files) if each.startswith(prefix) or each == path
        ]
        there = {*found}
        return found + [each for each in self._made.below(path) if each not in there]

    def glob(
        self, path: str, maxdepth: int | None = None, detail: bool = False,
        *, withdirs: bool = True, **_: Any,
    ) -> Any:  # fmt: skip
        """List what matches a pattern, sorted; see fsspec. Braces, `{a,b}`, work too.

        A pattern with braces has the wide dialect of `MessageBody.glob`, which is never for the
        pattern of a stranger.

        Raises:
            InvalidPattern: its braces stand for more than 1,000 patterns.
        """
        found = sorted(matching(self, path, maxdepth, withdirs=withdirs))
        # What does not match is never described: of a million parts that takes seconds.
        return self._infos(found) if detail else found

    def _files_and_directories(self, path: str) -> tuple[list[str], set[str]]:
        """Return the files and the directories at and below a path."""
        implied = parts_of(self.body).directories(_with_slash(self._name(path)))
        return self._files(path)[1], {*map(self._path, implied), *self._made.below(path)}

    def _infos(self, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        infos = {}
        for path in paths:
            if part := self._part(path):
                infos[path] = _described(record_of(part), path)
            elif self._is_directory(path):  # else another thread removed it just now
                infos[path] = _directory(path)
        return infos

    def du(
        self, path: str, total: bool = True, maxdepth: int | None = None, withdirs: bool = False,
        **_: Any,
    ) -> Any:  # fmt: skip
        """Return the bytes of all files below a path; asks for sizes nobody stated, at once."""
        found = self.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True)
        if withdirs and self.isdir(path):
            found = {self._strip_protocol(path): {"size": 0}} | found
        sizes = {each: info["size"] for each, info in found.items()}
        unknown = [each for each, size in sizes.items() if size is None]
        sizes |= zip(unknown, results_of_threads(self.size, unknown), strict=True)
        return sum(sizes.values()) if total else sizes

    def expand_path(self, path: Any, *args: Any, **options: Any) -> list[str]:
        """Return the paths that patterns and directories stand for; see fsspec."""
        try:
            found: list[str] = super().expand_path(path, *args, **options)
        except FileNotFoundError as error:
            if error.errno is not None:
                raise
            fail(errno.ENOENT, path if isinstance(path, str) else ", ".join(path))
        return found

    def created(self, path: str) -> dt.datetime:
        """Return a constant: parts have no times."""
        self._check_there(self._strip_protocol(path))
        return _TIME

    modified = created

    def ukey(self, path: str) -> str:
        """Return text that changes when the content does: its digest."""
        part = self._file(self._strip_protocol(path))
        # A URL may hold a signature, and keys like this one are logged and stored.
        return part.digest or sha256_of(str(part.url).encode())

    checksum = ukey

    def sign(self, path: str, expiration: int = 100, **_: Any) -> str:
        """Return a signed URL of a reference below an explicit allow entry.

        Raises:
            NotImplementedError: the content is in the message.
            UnsafeReference: no entry of the resolver says which store signs.
        """
        path = self._strip_protocol(path)
        part = self._file(path)
        if part.url is None:
            raise NotImplementedError(f"{part.label} is in the message; nothing to sign")
        with concerning(path):
            return self._access(part)[0].sign(
                part.url, expires=expiration, content_type=part.content_type, subject=part.label
            )

    # What is in it

    def _inline(self, path: str) -> bytes | None:
        """Return content that is in the message; None if it is elsewhere, or there is no part."""
        record = parts_of(self.body).find(self._name(path))
        content = None if record is None else record.content
        return content.encode() if isinstance(content, str) else content

    def _reader(self, path: str, *, whole: bool = False) -> Any:
        """Open a file for reading; `whole` says that all of it is wanted, and so is verified."""
        path = self._strip_protocol(path)
        name = self._url_of(path)
        if (content := self._inline(path)) is not None:
            return PartReader(path, name, content)
        part = self._file(path)
        with concerning(path):
            if not (whole and part.is_reference):
                return described_stream(part.open(), path, name, self._known_size(part))
            resolver, budget = self._access(part)
            spool = resolver.fetch(
                str(part.url), size=part.size, digest=part.digest, subject=part.label, budget=budget
            )
        return described_stream(spool.stream(), path, name, spool.size)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return content, or a range of it; a range of a reference is asked for as one."""
        path = self._strip_protocol(path)
        is_whole = start is None and end is None
        if is_whole and (content := self._inline(path)) is not None:
            return content
        part = self._file(path)
        with concerning(path):
            return part.read_bytes() if is_whole else self._range(path, part, start, end)

    def _range(self, path: str, part: Part, start: int | None, end: int | None) -> bytes:
        size = self._known_size(part)
        if size is None and (end is None or end < 0 or (start or 0) < 0):
            size = self._asked_size(path, part)
        if size is not None:
            # Some servers refuse a range that goes beyond the end.
            start, end, _ = slice(start, end).indices(size)
        start, end = start or 0, end or 0
        # All of it can be verified, and so it is.
        is_whole = size is not None and (start, end) == (0, size)
        resolver, budget = self._access(part)
        if is_whole or resolver.require_digest:
            return part.read_bytes()[start:end]
        if part.is_reference:
            url = str(part.url)
            return resolver.read_range(url, start, end, subject=part.label, budget=budget)
        with part.open() as stream:
            stream.seek(start)
            return stream.read(max(end - start, 0))

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        """Return the content of a file, or of several by path; references are read at once."""
        paths = self.expand_path(path, recursive=recursive)
        if [path] == paths or (isinstance(path, str) and paths == [self._strip_protocol(path)]):
            return self.cat_file(paths[0], **options)
        files = [each for each in paths if self._has(each) or not recursive]
        read = partial(_outcome, partial(self.cat_file, **options), raises=on_error == "raise")
        found = zip(files, self._map_of(files)(read, files), strict=True)
        if on_error == "omit":
            return {each: data for each, data in found if not isinstance(data, Exception)}
        return dict(found)

    def cat_ranges(
        self, paths: list[str], starts: Any, ends: Any, max_gap: int | None = None,
        on_error: str = "return", **options: Any,
    ) -> list[Any]:  # fmt: skip
        """Return ranges of files, those of references at once; see fsspec."""
        if max_gap is not None:
            raise NotImplementedError("ranges are asked for one by one; max_gap is None")
        count = len(paths)
        starts = starts if isinstance(starts, list) else [starts] * count
        ends = ends if isinstance(ends, list) else [ends] * count
        ranges = [*zip(paths, starts, ends, strict=True)]

        def read(position: int) -> Any:
            return _outcome(self.cat_file, *ranges[position], raises=on_error != "return")

        return [*results_of_threads(read, range(count))] if self._any_remote(paths) else [
            read(position) for position in range(count)
        ]  # fmt: skip

    def _any_remote(self, paths: Iterable[str]) -> bool:
        parts = (self._part(self._strip_protocol(each)) for each in paths)
        return any(part is not None and part.is_reference for part in parts)

    def _map_of(self, paths: Iterable[str]) -> Callable[[Any, Iterable[Any]], Iterator[Any]]:
        """Return what acts on every path: in threads if there are references, for it waits."""
        return results_of_threads if self._any_remote(paths) else map

    def read_text(self, path: str, *args: Any, **options: Any) -> Any:
        """Return the content of a file as text, verified; see fsspec."""
        return super().read_text(path, *args, whole=True, **options)

    def get_file(self, rpath: str, lpath: Any = None, **options: Any) -> None:
        """Copy a file to a local one, verified before the first byte; see fsspec."""
        rpath = self._strip_protocol(rpath)
        if not self._is_directory(rpath):
            self._check_there(rpath)  # before a local directory is made for it
        super().get_file(rpath, lpath, whole=True, **options)

    def get(
        self, rpath: Any, lpath: Any, recursive: bool = False, callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Copy to local files, references at once.

        Raises:
            NotADirectoryError: a name is both file and directory; nothing is written.
            FileExistsError: two files would be one local file; nothing is written.
        """
        if recursive:
            for each in [rpath] if isinstance(rpath, str | os.PathLike) else rpath:
                self._refuse_clashes(self._strip_protocol(each))
        plan = Pairs(self).note_get(rpath, lpath, recursive=recursive, maxdepth=maxdepth)
        callback.set_size(len(plan))

        def fetch(pair: tuple[str, str]) -> None:
            with callback.branched(*pair) as child:
                self.get_file(*pair, callback=child, **options)

        for _ in self._map_of(source for source, _ in plan)(fetch, plan):
            callback.relative_update()

    def _refuse_clashes(self, path: str) -> None:
        found = self.expand_path(path, recursive=True)
        clashes = [name for name in found if self._has(name) and self._is_directory(name)]
        if clashes:
            fail(errno.ENOTDIR, path, f"{', '.join(clashes)}: both a file and a directory")


def _strip(prefix: str, kind: type[BodyView], path: Any) -> Any:
    if isinstance(path, list):
        return [_strip(prefix, kind, each) for each in path]
    return kind._strip_protocol(os.fspath(path).removeprefix(prefix))


def _outcome(act: Any, *args: Any, raises: bool) -> Any:
    """Return what a call returns, or its exception if that is wanted."""
    try:
        return act(*args)
    except Exception as error:
        if raises:
            raise
        return error


def _with_slash(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _with_directories(names: list[str]) -> list[str]:
    """Return names, and every directory before the first name in it."""
    found: dict[str, None] = {}
    for name in names:
        # A directory that was met already brought those above it along.
        if name[: name.rfind("/")] not in found:
            found |= dict.fromkeys(reversed([*ancestors(name)]))
        found[name] = None
    return [*found]


def _directory(path: str) -> dict[str, Any]:
    return {"name": path, "size": 0, "type": "directory"}


def _described_entries(entries: Entries) -> list[dict[str, Any]]:
    return [
        _directory(path[:-1]) if record is None else _described(record) for path, record in entries
    ]


def _described(record: PartRecord, path: str | None = None) -> dict[str, Any]:
    described = {
        "name": path or record.name,
        "size": record.size if record.url is not None else _size(record),
        "type": "file",
        "ContentType": record.content_type,
    }
    if record.url is not None:
        described["url"], described["digest"] = _shown_url(record.url), record.digest
    return described


def _shown_url(url: str) -> str:
    """Return a URL without what is secret in it: descriptions are logged, and shown in browsers."""
    is_open = url.isascii() and _SECRET.search(url) is None
    return url if is_open else redact_url(url, limit=len(url))


def _size(record: PartRecord) -> int | None:
    content = record.content
    # Most parts are one of these; making an object for each would take as long as all the rest.
    if isinstance(content, bytes) or (content is not None and content.isascii()):
        return len(content)
    return part_of(record).size
