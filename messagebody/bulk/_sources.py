"""Sources of bulk jobs: files of messages in stores, divided into shards for the workers.

A source is a URL, a path or a glob. A large plain file is divided into shards by byte ranges, and
a message belongs to the range in which its line begins. A Parquet file is divided at row groups.
"""

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import attrs

from messagebody._core import (
    CHUNK,
    FileStore,
    is_web_url,
    quote,
    redact_url,
    strict_json,
    wide_pattern,
)
from messagebody.bulk.tables import TableReader
from messagebody.errors import InvalidArgument, ObjectNotFound, StoreError
from messagebody.storage import Stat, Store, open_store

JOB: Final = "job.json"
"""The file that identifies the job of the results next to it."""
RESULTS: Final = "shards"
"""The directory of results, one file per shard."""
RECORDS: Final = "records"
"""The directory of records."""
REPORT: Final = "report.json"
"""The report, written at the end of a run."""
_JOB_BYTES: Final = 1024
"""The largest file that can be the mark of a job; a larger one isn't read."""

SHARD_BYTES: Final = 64 * 1024 * 1024
"""Bytes per shard, of a plain file or of files with one message each."""

_MESSAGES: Final = 1000
"""Files per shard, if each has one message."""
# Each read of a store is a request, so larger reads need fewer.
_READ_BUFFER: Final = 4 * CHUNK
_MAGIC: Final = re.compile(r"[*?\[{]|[!@+]\(")


class SourceKind(StrEnum):
    """The format of a file of messages."""

    LINES = "lines"
    """JSON Lines, one message per line."""

    GZIP = "gzip"
    """JSON Lines, compressed with gzip."""

    ZSTD = "zstd"
    """JSON Lines, compressed with Zstandard."""

    PARQUET = "parquet"
    """Parquet with one row per part, as written by `messagebody.bulk.tables`."""

    MESSAGE = "message"
    """One message in JSON."""


_KINDS: Final = {
    ".jsonl": SourceKind.LINES, ".ndjson": SourceKind.LINES,
    ".jsonl.gz": SourceKind.GZIP, ".ndjson.gz": SourceKind.GZIP,
    ".jsonl.zst": SourceKind.ZSTD, ".ndjson.zst": SourceKind.ZSTD,
    ".parquet": SourceKind.PARQUET, ".json": SourceKind.MESSAGE,
}  # fmt: skip


@attrs.frozen
class Input:
    """A file of messages.

    Arguments:
        store: the store of the file.
        stat: its key, size and time of change in the store.
        kind: its format.
        name: the name of its results, a legal key.
    """

    store: Store
    stat: Stat
    kind: SourceKind
    name: str

    @property
    def url(self) -> str:
        """The file's URL."""
        return self.store.url_of(self.stat.key)

    def open(self) -> io.BufferedReader:
        """Open the file for reading; it can seek."""
        return io.BufferedReader(_StoredFile(self.store, self.stat), _READ_BUFFER)

    def is_unchanged(self) -> bool:
        """Return whether the store still has the version of the file that was found."""
        now = self.store.stat(self.stat.key)
        # Otherwise results could mix two versions of the file.
        return (
            now is not None
            and now.version == self.stat.version
            and now.size == self.stat.size
            and _is_same_time(now.modified, self.stat.modified)
        )

    @property
    def identity(self) -> list[Any]:
        """Values that identify this version of the file."""
        return [self.url, self.stat.size, self.stat.modified, self.stat.version]


def _is_same_time(one: float | None, other: float | None) -> bool:
    """Return whether two times of change, which may be rounded, can be the same."""
    if one is None or other is None or one == other:
        return one == other
    # S3 returns whole seconds for an object, and often fractions in a listing.
    return abs(one - other) < 1 and (one.is_integer() or other.is_integer())


@attrs.frozen
class Shard:
    """A range of messages that a worker processes as one task.

    Arguments:
        name: the name of its results.
        inputs: the file; several if each holds one message.
        start: the first byte or row group in the file.
        end: the byte or row group after the last one.
        first_line: the number of the first line in the file.
    """

    name: str
    inputs: tuple[Input, ...]
    start: int
    end: int
    first_line: int = 1

    @property
    def kind(self) -> SourceKind:
        """The format of its files."""
        return self.inputs[0].kind

    @property
    def size(self) -> int:
        """The approximate number of bytes to read."""
        if self.kind is SourceKind.LINES:
            return self.end - self.start
        return sum(each.stat.size for each in self.inputs)

    @property
    def identity(self) -> list[Any]:
        """Everything that its results depend on, except the job, as a JSON value."""
        return [str(self.kind), self.start, self.end, *(each.identity for each in self.inputs)]


class _StoredFile(io.RawIOBase):
    """An object of a store as a file for reading."""

    def __init__(self, store: Store, stat: Stat) -> None:
        self._store, self._stat = store, stat
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = (0, self._position, self._stat.size)[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        # Only up to the size that was found: later additions belong to another version.
        end = min(self._position + len(buffer), self._stat.size)
        if self._position >= end:
            return 0
        data = self._store.read_range(self._stat.key, self._position, end)
        if not data:
            raise StoreError("the file became shorter", self._store.url, self._stat.key)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def find_shards(
    sources: Iterable[str | os.PathLike[str]],
    *,
    shard_bytes: int = SHARD_BYTES,
    storage_options: dict[str, Any] | None = None,
    results: Store | None = None,
    left_out: Callable[[str], object] = lambda _: None,
) -> list[Shard]:
    """Return the shards of all sources, in order.

    Arguments:
        sources: URLs, paths and globs of files, and directories.
        shard_bytes: the size of a shard of a large plain file.
        storage_options: the options of `open_store`, for URLs.
        results: the store of the results. Its files are not sources, or each run would read the
            results of the previous run. Results of other jobs in a source are excluded, too.
        left_out: called with the URL of each link in a directory, because only links that are named
            themselves are followed.

    Raises:
        ObjectNotFound: a source has no file of messages.
        InvalidArgument: the format of a file can't be told from its name, or the results of two
            files would have the same name.
        StoreError: a store can't be listed.
    """
    options = storage_options or {}
    groups = [_files(_spelled(source), options, results, left_out) for source in sources]
    root = _shared([base for base, _ in groups])
    named: dict[str, Input] = {}
    shards: list[Shard] = []
    # Several sources may be in one directory, as when a shell expands `logs/*.json`.
    messages: dict[tuple[str, ...], list[Input]] = {}
    for base, found in groups:
        for each in found:
            known = named.setdefault(_name(each.store.url_of(each.stat.key), root), each)
            if known.url != each.url:
                raise InvalidArgument("inputs with different names", got="two with one name")
            if known is not each:
                continue  # two sources have this file
            if each.kind is SourceKind.MESSAGE:
                messages.setdefault(tuple(base), []).append(each)
            else:
                shards += _cut(attrs.evolve(each, name=_name(each.url, root)), shard_bytes)
    for above, files in messages.items():
        files.sort(key=lambda each: each.url)
        shards += _grouped(files, _name("/".join([*above, "messages.json"]), root), shard_bytes)
    return shards


_Base = list[str]
"""The URL of the directory of a source's files, as segments."""


def _shared(bases: list[_Base]) -> _Base:
    """Return the longest common prefix."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*bases, strict=False))
    return [column[0] for column in columns]


def _spelled(source: str | os.PathLike[str]) -> str:
    """Return a source as a URL or an absolute path."""
    if not isinstance(source, str | os.PathLike):
        raise InvalidArgument("a URL, path or glob of messages", source)
    text = os.fspath(source)
    if is_web_url(text):
        expected = "files of a directory or bucket, which have a list; those of web servers don't"
        raise InvalidArgument(expected, got=quote(redact_url(text)))
    return text if "://" in text else os.path.join(os.getcwd(), os.path.expanduser(text))  # noqa: PTH109, PTH111, PTH118 - of a glob


def _files(
    source: str, options: dict[str, Any], results: Store | None, left_out: Callable[[str], object]
) -> tuple[_Base, list[Input]]:
    """Return the base directory of a source, and its files in order."""
    is_wanted: Callable[[str], bool]
    may_be_link: Callable[[str], bool]
    magic = _MAGIC.search(source.partition("://")[2] or source)
    # A file that is named like a pattern is that file.
    if magic is None or ("://" not in source and os.path.lexists(source)):
        base, is_wanted, may_be_link = _real(source), _is_listed, _is_shown
        if (file := _named_file(base, options)) is not None:
            return _all_of(*file, source)
    else:
        start = len(source) - len(magic.string) + magic.start()
        base, _, pattern = source[:start].rpartition("/")
        is_wanted = may_be_link = wide_pattern(pattern + source[start:])
    store = open_place(base, options)
    found = [stat for stat in _without_results(store, results) if is_wanted(stat.key)]
    for key in sorted(store.iter_links()) if isinstance(store, FileStore) else ():
        if may_be_link(key):
            left_out(store.url_of(key))
    return _all_of(store, found, source)


def _named_file(source: str, options: dict[str, Any]) -> tuple[Store, list[Stat]] | None:
    """Return the file that a source names, None if it names a directory."""
    above, _, name = source.rstrip("/").rpartition("/")
    # A bucket has no parent that could be listed.
    if not name or above.endswith(":/"):
        return None
    store = open_place(above, options)
    stat = store.stat(name)
    return None if stat is None else (store, [stat])


def _without_results(store: Store, results: Store | None) -> list[Stat]:
    """Return the files that are not results of this job or of an earlier one."""
    found = [*store.iter_objects()]
    recorded = {
        stat.key[: record.start()]
        for stat in found
        for record in re.finditer(f"/{RECORDS}/", stat.key)
    }
    places = [
        store.url_of(stat.key.removesuffix(JOB))
        for stat in found
        if stat.key.removesuffix(f"/{JOB}") in recorded and _is_job(store, stat)
    ]
    if results is not None:
        places.append(f"{results.url.rstrip('/')}/")
    return [stat for stat in found if not store.url_of(stat.key).startswith(tuple(places))]


def _is_job(store: Store, stat: Stat) -> bool:
    """Return whether a file identifies the job of results, not only by its name."""
    if stat.size > _JOB_BYTES:
        return False
    try:
        value = strict_json.loads(b"".join(store.stream(stat.key)), depth=2)
    except strict_json.InvalidJson:
        return False
    # A directory of the user may have a file with this name next to messages.
    return isinstance(value, dict) and value.keys() == {"job", "digest"}


def _real(source: str) -> str:
    """Return where a path or file URL leads: a link that is named is followed."""
    path = source
    if source.startswith("file:///"):
        path = os.fsdecode(unquote_to_bytes(source.removeprefix("file://")))
    return source if "://" in path or "\0" in path else os.path.realpath(path)


def open_place(place: str | os.PathLike[str] | Store, options: Mapping[str, Any]) -> Store:
    """Open a store, given as a `Store`, a URL with options, or the path of a directory."""
    if isinstance(place, str) and "://" not in place:
        return open_store(Path(place or "/").expanduser())
    return open_store(place, **options) if isinstance(place, str) else open_store(place)


def _is_listed(key: str) -> bool:
    """Return whether a file of a directory holds messages; hidden files are skipped."""
    return _kind(key) is not None and _is_shown(key)


def _is_shown(key: str) -> bool:
    return not any(each[:1] in "._" for each in key.split("/"))


def _all_of(store: Store, found: list[Stat], source: str) -> tuple[_Base, list[Input]]:
    if not found:
        raise ObjectNotFound("no file of messages is there", redact_url(source))
    # Stores list files in any order, but a repeated job must have the same shards.
    found.sort(key=lambda stat: stat.key)
    return store.url.split("/"), [_input(store, stat) for stat in found]


def _input(store: Store, stat: Stat) -> Input:
    kind = _kind(stat.key)
    if kind is None:
        known = ", ".join(_KINDS)
        raise InvalidArgument(f"a file whose name ends in {known}", got=quote(stat.key))
    if not stat.key.isascii() and not _is_encodable(stat.key):
        # Neither a result nor a record could name it.
        raise InvalidArgument("a file whose name is UTF-8", got=quote(stat.key))
    return Input(store, stat, kind, stat.key)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(key: str) -> SourceKind | None:
    return next((kind for end, kind in _KINDS.items() if key.lower().endswith(end)), None)


def _name(url: str, root: _Base) -> str:
    """Return the name of a file's results, as a key that is legal in every store."""
    segments = url.split("/")[len(root) :]
    return "/".join(_legal(each) for each in segments if each and not each.endswith(":"))


def _legal(segment: str) -> str:
    # A key in a bucket may have a segment "..", which would lead out of the results directory.
    return segment.replace(".", "%2E") if segment in {".", ".."} else segment


def _cut(file: Input, shard_bytes: int) -> Iterator[Shard]:
    if file.kind is SourceKind.LINES:
        edges = [*range(0, file.stat.size, shard_bytes), file.stat.size]
    elif file.kind is SourceKind.PARQUET:
        edges = _row_groups(file, shard_bytes)
    else:
        # Compressed files can't be read from the middle, so each is one shard.
        edges = [0, file.stat.size]
    for number, (start, end) in enumerate(pairwise(edges)):
        yield Shard(f"{file.name}.{number:05}", (file,), start, end)


def _row_groups(file: Input, shard_bytes: int) -> list[int]:
    """Return the first row group of each shard of a Parquet file, and the number of groups."""
    edges, size = [0], 0
    with file.open() as stream:
        groups = TableReader(stream).groups()
    for number, (_, more) in enumerate(groups):
        if size and size + more > shard_bytes:
            edges.append(number)
            size = 0
        size += more
    return [*edges, len(groups)]


def _grouped(files: list[Input], name: str, shard_bytes: int) -> Iterator[Shard]:
    """Yield the shards of files with one message each."""
    group: list[Input] = []
    size = number = 0
    for file in files:
        if group and (len(group) == _MESSAGES or size + file.stat.size > shard_bytes):
            yield Shard(f"{name}.{number:05}", tuple(group), 0, size)
            group, size, number = [], 0, number + 1
        group.append(file)
        size += file.stat.size
    if group:
        yield Shard(f"{name}.{number:05}", tuple(group), 0, size)


def lines_before(shard: Shard) -> int:
    """Return the number of lines that begin in a shard of a plain file, to number the rest."""
    [file] = shard.inputs
    # A line begins at the start of the file and after each line end except the last byte.
    start, end = max(shard.start - 1, 0), shard.end - 1
    count = 1 if shard.start == 0 and shard.end > 0 else 0
    with file.open() as stream:
        stream.seek(start)
        while start < end:
            data = stream.read(min(CHUNK, end - start))
            count += data.count(b"\n")
            start += len(data)
    return count
