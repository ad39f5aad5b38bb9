"""A body as files and directories that can be listed, described and found."""

import datetime as dt
import errno
import os
from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar, Final

from messagebody._base.digests import sha256_of
from messagebody._model.access import access_of, columns, parts_of, record_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._model.views import BodyFileSystem
from messagebody._wire.members import PartRecord
from messagebody.filesystem._directories import MadeDirectories
from messagebody.filesystem._entries import (
    directory_entry,
    entries_of,
    file_entry,
    with_directories,
)
from messagebody.filesystem._paths import (
    concerning,
    fail,
    is_live,
    quote_name,
    unquote_name,
    with_slash,
)
from messagebody.filesystem._patterns import matching
from messagebody.filesystem._transfers import results_of_threads
from messagebody.names import ancestors
from messagebody.storage._references import FetchBudget, Resolver

# DuckDB refuses a filesystem without modification times, and parts have none.
_TIME: Final = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


class BodyListing(BodyFileSystem):
    """A body as files to list.

    Arguments:
        body: the body.
        resolver: decides how references are read; by default the body's resolver, or a closed one.
        protocol: the protocol of URLs; "messagebody" if None.
        quoted_names: whether bytes that names can't hold are written as `_XX`; see `quote_name`.
    """

    protocol: ClassVar[str] = "messagebody"
    root_marker = "/"
    # Two bodies with the same `repr` must never share a cached filesystem.
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
            # fsspec defines both on the class, but this protocol belongs to one object only.
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
            return text  # another filesystem's: no part has that name, errors show it as is
        return "/" + text.strip("/")

    def unstrip_protocol(self, name: str) -> str:
        """Return a path with its protocol."""
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

    # Files and directories

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
        """Return the error number of a missing path, which may lead through a file."""
        leads_through_file = any(self._has(above) for above in ancestors(path))
        return errno.ENOTDIR if leads_through_file else errno.ENOENT

    def _is_directory(self, path: str) -> bool:
        if path in self._made:
            # Another filesystem over the body may have written a file there since.
            return not self._has(path)
        return parts_of(self.body).is_directory(with_slash(self._name(path)))

    def _check_there(self, path: str) -> None:
        if not self._has(path):
            self._check_directory(path)

    def _check_directory(self, path: str) -> None:
        if not self._is_directory(path):
            fail(self._why_missing(path), path)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List a directory, or the one file at the path. Does no I/O."""
        path = self._strip_protocol(path)
        listing = parts_of(self.body).listing(with_slash(self._name(path)), entries_of)
        if listing is None:
            listing = [] if path in self._made else [file_entry(record_of(self._file(path)))]
        elif not detail and not self._quotes and not self._made:
            return [entry["name"] for entry in listing]
        # Copies, because the listing is cached, and callers may change the entries they get.
        found = [entry | {"name": self._path(entry["name"])} for entry in listing]
        there = {entry["name"] for entry in found} if self._made else set()
        found += [directory_entry(each) for each in self._made.inside(path) if each not in there]
        return found if detail else [entry["name"] for entry in found]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the entry of a file or directory. A size that is not stated is requested once.

        Content is not hashed for the entry; use `ukey`. The URL of a reference is shown without its
        query and user-info, which may be a signature; `body[path].url` has them.

        Raises:
            UnsafeReference: the resolver doesn't allow the reference, so its size is unknown; `ls`,
                `find`, `exists` and `isfile` request nothing.
        """
        path = self._strip_protocol(path)
        part = self._part(path)
        if part is None:
            # Only a directory will do: another thread may have written a file there since.
            self._check_directory(path)
            return directory_entry(path)
        described = file_entry(record_of(part), path)
        described["index"] = self.body.index(self._name(path))
        if described["size"] is None:
            described["size"] = self._requested_size(path, part)
        return described

    def _known_size(self, part: Part) -> int | None:
        return self._sizes.get(str(part.url)) if part.size is None else part.size

    def _requested_size(self, path: str, part: Part) -> int:
        url = str(part.url)
        if url not in self._sizes:
            with concerning(path):
                resolver, budget = self._access(part)
                self._sizes[url] = resolver.size(url, subject=part.label, budget=budget)
        return self._sizes[url]

    def _access(self, part: Part) -> tuple[Resolver, FetchBudget | None]:
        """Return the resolver of a part, and the remaining fetch budget if there is one."""
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
            path: a directory, or a single file.
            maxdepth: levels to go down; all if None.
            withdirs: whether directories are listed too.
            detail: whether to return a dict of entries by path.
        """
        path = self._strip_protocol(path)
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        if maxdepth == 1 and not self._has(path) and self._is_directory(path):
            found = {path: directory_entry(path)} if withdirs and path != "/" else {}
            for entry in self.ls(path):
                # A path that is both a file and a directory is listed as the file.
                if entry["type"] == "file" or (withdirs and entry["name"] not in found):
                    found[entry["name"]] = entry
            return found if detail else [*found]
        return self._found(path, maxdepth, withdirs=withdirs, detail=detail)

    def _found(self, path: str, maxdepth: int | None, *, withdirs: bool, detail: bool) -> Any:
        records, files = self._files(path)
        paths = self._with_directories(path, files) if withdirs else files
        if maxdepth is not None:
            start = len(with_slash(path))
            paths = [each for each in paths if each[start:].count("/") < maxdepth]
        if not detail:
            return paths
        of = dict(zip(files, (each for each in records if each.name is not None), strict=True))
        return {
            each: file_entry(of[each], each) if each in of else directory_entry(each)
            for each in paths
        }

    def _files(self, path: str) -> tuple[list[PartRecord], list[str]]:
        """Return the parts at and below a path, and the paths of those with names, in order."""
        if path == "/":
            all_parts = columns(self.body)
            records, names = all_parts.records, all_parts.named.copy()
        else:
            records = self._records_below(path)
            names = [str(record.name) for record in records]
        return records, [*map(unquote_name, names)] if self._quotes else names

    def _records_below(self, path: str) -> list[PartRecord]:
        parts = parts_of(self.body)
        found = parts.below(with_slash(self._name(path)))
        own = parts.find(self._name(path))
        if own is None:
            return found
        # A path that is both file and directory is rare, so only then its position is looked up.
        return sorted([own, *found], key=self._position) if found else [own]

    def _position(self, record: PartRecord) -> int:
        position = parts_of(self.body).position_of(str(record.name))
        return len(self.body) if position is None else position  # removed by another thread

    def _with_directories(self, path: str, files: list[str]) -> list[str]:
        """Return files together with the implied and made directories below a path."""
        prefix = with_slash(path)
        found = [
            each for each in with_directories(files) if each.startswith(prefix) or each == path
        ]
        there = {*found}
        return found + [each for each in self._made.below(path) if each not in there]

    def glob(
        self, path: str, maxdepth: int | None = None, detail: bool = False,
        *, withdirs: bool = True, **_: Any,
    ) -> Any:  # fmt: skip
        """Return the paths that match a pattern, sorted; see fsspec. Braces, `{a,b}`, work too.

        A pattern with braces is in the wide dialect of `MessageBody.glob`, which is not safe for
        untrusted patterns.

        Raises:
            InvalidPattern: the braces expand to more than 1,000 patterns.
        """
        found = sorted(matching(self, path, maxdepth, withdirs=withdirs))
        # Only matches get an entry: entries of a million parts take seconds.
        return self._infos(found) if detail else found

    def _files_and_directories(self, path: str) -> tuple[list[str], set[str]]:
        """Return the files and the directories at and below a path."""
        implied = parts_of(self.body).directories(with_slash(self._name(path)))
        paths = map(self._path, implied) if self._quotes else implied
        return self._files(path)[1], {*paths, *self._made.below(path)}

    def _infos(self, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        infos = {}
        for path in paths:
            if part := self._part(path):
                infos[path] = file_entry(record_of(part), path)
            elif self._is_directory(path):  # else another thread removed it just now
                infos[path] = directory_entry(path)
        return infos

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
        self._check_there(self._strip_protocol(path))
        return _TIME

    modified = created

    def ukey(self, path: str) -> str:
        """Return a key that changes when the content does: the digest, or a hash of the URL."""
        part = self._file(self._strip_protocol(path))
        # Hashed, because a URL may hold a signature, and keys are logged and stored.
        return part.digest or sha256_of(str(part.url).encode())

    checksum = ukey


def _strip(prefix: str, kind: type[BodyListing], path: Any) -> Any:
    if isinstance(path, list):
        return [_strip(prefix, kind, each) for each in path]
    return kind._strip_protocol(os.fspath(path).removeprefix(prefix))
