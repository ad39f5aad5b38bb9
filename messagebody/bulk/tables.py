"""Tables of bodies: one row per part, in Arrow and Parquet, without loss.

A table can be read with only DuckDB, Polars, pandas or Spark. Its rows have the order of the bodies
and of their parts. A body without parts is one row without an index. Text is in the column `text`
and bytes are in `data`; a reference has neither. Size and digest are computed from the content, or
taken from the reference.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from messagebody._core import (
    DEFAULT_LIMITS,
    MessageBody,
    Part,
    PartRecord,
    Reference,
    RichRecord,
    check_about,
    check_extra,
    count_of,
    part_of,
    parts_of,
    quote,
    reader,
    require_body,
    require_iterable,
    sha256_of,
    strict_json,
)
from messagebody._model.content import hold, keep_promise, record_of
from messagebody.errors import InvalidArgument, InvalidPart, MessageBodyError, MissingDependency

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS: Final = (
    "body_id", "index", "name", "content_type", "encoding", "text", "data", "url", "size",
    "digest", "metadata", "extra",
)  # fmt: skip
"""The columns of a table."""

_GROUP_BYTES: Final = 8 * 1024 * 1024
"""The approximate bytes of a row group; the writer holds several copies of it in memory."""
_READ_BYTES: Final = 16 * 1024 * 1024
"""The approximate bytes of rows that a reader holds at a time."""
# The overhead of a row beside its texts and bytes. Without it, empty parts would not count.
_ROW_BYTES: Final = 256
# The columns of text and bytes, in a row.
_variable: Final = itemgetter(
    *(at for at, name in enumerate(COLUMNS) if name not in {"index", "size"})
)
# Columns with few distinct values, which get a dictionary.
_REPEATED: Final = ["body_id", "name", "content_type", "encoding"]
# Columns with statistics (minimum and maximum). Those of contents are of no use, and the writer
# would hold copies of them.
_COMPARED: Final = [name for name in COLUMNS if name not in {"text", "data", "metadata", "extra"}]
Bodies = Mapping[str, MessageBody] | Iterable[MessageBody | tuple[str, MessageBody]]
"""Bodies by id, pairs of an id and a body, or bodies whose ids are their positions."""


class Row(NamedTuple):
    """A body in a table, or the error of its rows.

    Arguments:
        body_id: the id of the body.
        number: the number of its first row, counted from 1.
        body: the body; None if the rows are invalid.
        error: the error, if the rows are invalid.
    """

    body_id: str
    number: int
    body: MessageBody | None
    error: MessageBodyError | None = None


def to_table(bodies: Bodies) -> "pa.Table":
    r"""Return an Arrow table with one row per part.

    Arguments:
        bodies: bodies by id, pairs of an id and a body, or only bodies, numbered from 0.

    Raises:
        MissingDependency: pyarrow is not installed (extra `tables`).
        LocalFileNotSent: a part is still a local file.
        InvalidArgument: an id is not text, or not encodable in UTF-8.

    Examples:
        >>> table = to_table({"a7": MessageBody([Part("Hello!"), Part(b"\x00", name="/raw.bin")])})
        >>> table.column("text").to_pylist(), table.column("data").to_pylist()
        (['Hello!', None], [None, b'\x00'])
    """
    arrow = _arrow()
    whole = [_schema(arrow).empty_table()]
    groups = _Groups(arrow, whole.append)
    for body_id, body in _pairs(bodies):
        groups.add(body_id, parts_of(body).records())
    groups.flush()
    return arrow.concat_tables(whole)


def from_table(table: "pa.Table") -> Iterator[tuple[str, MessageBody]]:
    r"""Yield the ids and bodies of a table, in order.

    The rows of a body must be adjacent, and `index` counts them from 0. Missing columns are read as
    empty, except `body_id` and `index`, which are required.

    Raises:
        MissingDependency: pyarrow is not installed (extra `tables`).
        InvalidPart: the rows are not a body, or a size or digest does not match the content.

    Examples:
        >>> body = MessageBody([Part("Hello!"), Part(b"\x00", name="/raw.bin")])
        >>> dict(from_table(to_table([body]))) == {"0": body}
        True
    """
    arrow = _arrow()
    if not isinstance(table, arrow.Table):
        raise InvalidArgument(
            "a pyarrow.Table", table, "read_table(…) of pyarrow.parquet makes one"
        )
    for row in _bodies(table.to_batches(max_chunksize=1000), 1, 0):
        if row.error is not None:
            raise row.error
        assert row.body is not None  # noqa: S101 - a row has a body or an error
        yield row.body_id, row.body


class TableWriter:
    """A writer of a Parquet file, which holds one row group in memory.

    Arguments:
        file: the file, opened for writing.

    Raises:
        MissingDependency: pyarrow is not installed (extra `tables`).
    """

    def __init__(self, file: BinaryIO) -> None:
        arrow = _arrow()
        from pyarrow import parquet

        self._pool = arrow.default_memory_pool()
        self._writer = parquet.ParquetWriter(
            file,
            _schema(arrow),
            compression="zstd",
            use_dictionary=_REPEATED,
            write_statistics=_COMPARED,
        )
        self._groups = _Groups(arrow, self._write)

    def add(self, body_id: str, body: MessageBody) -> None:
        """Write a body after the others.

        Raises:
            LocalFileNotSent: a part is still a local file.
            InvalidArgument: the id is not text, or not encodable in UTF-8.
        """
        self._groups.add(body_id, parts_of(body).records())

    def close(self) -> None:
        """Write the remaining rows and the footer of the file."""
        self._groups.flush()
        self._writer.close()

    def _write(self, table: "pa.Table") -> None:
        self._writer.write_table(table)
        # Arrow keeps buffers for reuse, as large as the largest part so far.
        self._pool.release_unused()


class TableReader:
    """A reader of a Parquet file of parts, which reads a few rows at a time.

    Arguments:
        file: the seekable file, opened for reading.

    Raises:
        MissingDependency: pyarrow is not installed (extra `tables`).
        InvalidArgument: the file is not Parquet, or lacks the columns of parts.
    """

    def __init__(self, file: BinaryIO) -> None:
        arrow = _arrow()
        from pyarrow import parquet

        try:
            self._file = parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        except arrow.ArrowException as error:
            raise InvalidArgument("a Parquet file", got="another file") from error
        missing = {"body_id", "index"} - set(self._file.schema_arrow.names)
        if missing:
            got = f"one without {' and '.join(sorted(missing))}"
            raise InvalidArgument("a Parquet file with one row per part", got=got)

    def groups(self) -> list[tuple[int, int]]:
        """Return the number of rows and of bytes of each row group."""
        found = self._file.metadata
        each = (found.row_group(at) for at in range(found.num_row_groups))
        return [(group.num_rows, group.total_byte_size) for group in each]

    def bodies(self, start: int, end: int) -> Iterator[Row]:
        """Yield the bodies whose first row is in the row groups from `start` up to `end`.

        The last body is read to its end, even if it ends in a later group.
        """
        groups = self.groups()
        first = sum(rows for rows, _ in groups[:start])
        last = first + sum(rows for rows, _ in groups[start:end])
        yield from _bodies(self._batches(groups, start), first + 1, start, last)

    def _batches(self, groups: list[tuple[int, int]], start: int) -> "Iterator[pa.RecordBatch]":
        columns = [name for name in COLUMNS if name in self._file.schema_arrow.names]
        for at in range(start, len(groups)):
            # The batch size is a number of rows, but memory is bounded in bytes, so use the mean.
            rows, size = groups[at]
            a_row = size // max(rows, 1) + 1
            yield from self._file.iter_batches(
                batch_size=max(1, min(10_000, _READ_BYTES // a_row)), row_groups=[at],
                columns=columns, use_threads=False,
            )  # fmt: skip


class _Groups:
    """A buffer of rows, which become tables of about the size of a row group.

    Arguments:
        arrow: the library.
        full: called with each table when it is full; a large row is a table of its own.
    """

    def __init__(self, arrow: Any, full: "Callable[[pa.Table], object]") -> None:
        self._arrow, self._schema, self._full = arrow, _schema(arrow), full
        self._rows: list[tuple[Any, ...]] = []
        self._size = 0

    def add(self, body_id: str, records: Sequence[PartRecord]) -> None:
        """Add the rows of a body.

        Raises:
            LocalFileNotSent: a part is still a local file.
            InvalidArgument: the id is not text, or not encodable in UTF-8.
        """
        _check_id(body_id)
        if not records:
            self._add((body_id, *[None] * (len(COLUMNS) - 1)))
        for index, record in enumerate(records):
            self._add(_row(body_id, index, record))

    def _add(self, row: tuple[Any, ...]) -> None:
        size = _ROW_BYTES + sum(map(len, filter(None, _variable(row))))
        if self._size + size > _GROUP_BYTES:
            self.flush()
        self._rows.append(row)
        self._size += size
        if self._size >= _GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand over the rows that wait, if there are any."""
        if self._rows:
            rows, self._rows, self._size = self._rows, [], 0
            self._full(_table(self._arrow, self._schema, zip(*rows, strict=True)))


def _table(arrow: Any, schema: "pa.Schema", columns: Iterable[Sequence[Any]]) -> "pa.Table":
    arrays = [
        arrow.array(values, field.type) for field, values in zip(schema, columns, strict=True)
    ]
    return arrow.table(arrays, schema=schema)


def _row(body_id: str, index: int, record: PartRecord) -> tuple[Any, ...]:
    """Return the row of a part, in the order of the columns; its text is UTF-8 already."""
    content, size, digest = record.content, record.size, record.digest
    encoding = text = data = None
    if isinstance(content, str):
        encoding, text = "plain", content.encode()
        size, digest = len(text), sha256_of(text)
    elif content is not None:
        encoding, data = "base64", content
        size, digest = len(data), sha256_of(data)
    elif record.url is None:
        # A table can't hold a local file either, so raise the error of the JSON writer.
        reader.encode([record])
    metadata = None if record.metadata is None else strict_json.dumps(record.metadata)
    extra = record.extra if isinstance(record, RichRecord) else None
    return (
        body_id, index, record.name, record.content_type, encoding, text, data, record.url, size,
        digest, metadata, strict_json.dumps(extra) if extra else None,
    )  # fmt: skip


def _check_id(body_id: Any) -> None:
    wanted = "text as an id of a body"
    if not isinstance(body_id, str):
        raise InvalidArgument(wanted, body_id)
    try:
        body_id.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(wanted, got=f"{quote(body_id)}, which UTF-8 can't encode") from error


def _bodies(
    batches: "Iterable[pa.RecordBatch]", number: int, group: int, last: int | None = None
) -> Iterator[Row]:
    """Yield the bodies of batches of rows.

    Arguments:
        batches: the rows.
        number: the number of the first row.
        group: the row group of the first row; a body that began in an earlier one is skipped.
        last: the number of the last row in which a body may begin; None for any.
    """
    rows: list[dict[str, Any]] = []
    first, size, is_skipped = number, 0, group > 0
    for at, row in enumerate(_rows(batches), number):
        if not row["index"]:
            yield from _body(rows, first)
            if last is not None and at > last:
                return
            rows, first, size, is_skipped = [row], at, 0, False
        elif not is_skipped:
            size += sum(len(each) for each in row.values() if isinstance(each, str | bytes))
            problem = _misfit(rows, row, size)
            if problem is None:
                rows.append(row)
                continue
            yield Row(str((rows or [row])[0]["body_id"]), first, None, problem)
            rows, is_skipped = [], True
    yield from _body(rows, first)


def _rows(batches: "Iterable[pa.RecordBatch]") -> Iterator[dict[str, Any]]:
    for batch in batches:
        rows = batch.to_pylist()
        del batch  # free its bytes, which `rows` copied, before the next batch is read
        yield from rows


def _misfit(rows: Sequence[dict[str, Any]], row: dict[str, Any], size: int) -> InvalidPart | None:
    """Return an error if a row is not the next one of a body, or makes it too large."""
    wanted = len(rows)
    if row["index"] != wanted or not rows or row["body_id"] != rows[0]["body_id"]:
        return InvalidPart(
            f"after {count_of(wanted, 'row')} of a body comes index {quote(row['index'])} of "
            f"body {quote(row['body_id'])}; the rows of a body must be adjacent, with an index "
            "that counts from 0"
        )
    if size > DEFAULT_LIMITS.json_bytes or wanted >= DEFAULT_LIMITS.parts:
        return InvalidPart("the body is larger than the default limits allow")
    return None


def _body(rows: Sequence[dict[str, Any]], first: int) -> Iterator[Row]:
    """Yield the body of rows, if there are any."""
    if not rows:
        return
    body_id = rows[0]["body_id"]
    try:
        if not isinstance(body_id, str):
            raise InvalidPart(f"body_id is text, got {quote(body_id)}")
        is_empty = len(rows) == 1 and rows[0]["index"] is None
        yield Row(body_id, first, MessageBody([] if is_empty else map(_part, rows)))
    except MessageBodyError as error:
        yield Row(str(body_id), first, None, error)


def _part(row: dict[str, Any]) -> Part:
    about = check_about(
        {
            "name": row.get("name"),
            "content_type": row.get("content_type"),
            "metadata": _json(row, "metadata"),
        }
    )
    if about["content_type"] is None:
        raise InvalidPart("the row has no content type")
    text, data = row.get("text"), row.get("data")
    if text is not None and data is not None:
        raise InvalidPart("a row can't have both text and data")
    size, digest = row.get("size"), row.get("digest")
    held = hold(data if text is None else text, row.get("url"), size, digest)
    record = record_of(held, about, check_extra(_json(row, "extra") or {}))
    if not isinstance(held, Reference):
        keep_promise(held, size, digest)
    return part_of(record)


def _json(row: dict[str, Any], column: str) -> dict[str, Any] | None:
    text = row.get(column)
    if text is None:
        return None
    if not isinstance(text, str):
        raise InvalidPart(f"{column} is JSON text, got {quote(text)}")
    try:
        value = strict_json.loads(text, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise InvalidPart(f"{column} is JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidPart(f"{column} is a JSON object, got {quote(value)}")
    return value


def _pairs(bodies: Bodies) -> Iterator[tuple[str, MessageBody]]:
    if isinstance(bodies, Mapping):
        yield from ((body_id, require_body(body)) for body_id, body in bodies.items())
        return
    if isinstance(bodies, MessageBody):
        raise InvalidArgument("bodies", bodies, "put a single body into a list")
    for position, each in enumerate(require_iterable(bodies, "bodies", hint="")):
        body_id, body = each if isinstance(each, tuple) else (str(position), each)
        yield body_id, require_body(body)


def _schema(arrow: Any) -> "pa.Schema":
    kinds = {
        "index": arrow.int32(), "text": arrow.large_string(), "data": arrow.large_binary(),
        "size": arrow.int64(),
    }  # fmt: skip
    return arrow.schema([(name, kinds.get(name, arrow.string())) for name in COLUMNS])


def _arrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependency("a table of parts", "tables") from error
    return pa
