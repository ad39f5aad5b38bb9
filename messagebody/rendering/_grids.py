"""Grids: the first rows of CSV, TSV, JSON, JSON Lines and Parquet, for a person to look at."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

import attrs

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.text import count_of
from messagebody._wire import strict_json
from messagebody.errors import MissingDependency
from messagebody.rendering._elements import Html, element, joined

ROWS: Final = 200
"""Rows of a table on a page."""
COLUMNS: Final = 50
"""Columns of a table on a page."""
_CELL: Final = 200
"""Characters of a cell on a page."""
# A column is aligned to the right if nearly all its values are numbers.
_LOOKED_AT: Final = 50
_PARQUET: Final = 64 * 1024 * 1024


@attrs.frozen
class Grid:
    """The first rows of a table.

    Arguments:
        head: names of the columns.
        rows: lists of values, one for each column.
        total: the number of all rows; None if it is not known.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: int | None = None


class NoGrid(Exception):
    """Content that turned out not to be a table; the text says why."""


def of_csv(text: str, delimiter: str) -> Grid:
    """Return the rows of a text whose cells are separated.

    Raises:
        NoGrid: it is not such a text.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        # The head, and one row more than is shown, which tells whether there are more.
        rows = [row for row in islice(reader, ROWS + 2) if row]
    except csv.Error as error:
        raise NoGrid(str(error)) from error
    if not rows:
        raise NoGrid("it has no rows")
    is_whole = len(rows) <= ROWS + 1
    # One column more than is shown tells that there are more; the others are not read.
    width = min(max(map(len, rows)), COLUMNS + 1)
    full = [row[:width] + [""] * (width - len(row)) for row in rows]
    return Grid(full[0], full[1 : ROWS + 1], len(rows) - 1 if is_whole else None)


def of_objects(values: Any) -> Grid:
    """Return a row for each of several JSON objects.

    Raises:
        NoGrid: they are not all objects.

    Examples:
        >>> of_objects([{"a": 1}, {"b": None}]).rows
        [[1, ''], ['', None]]
    """
    if not isinstance(values, list) or not values:
        raise NoGrid("it is not a list of objects")
    shown = values[:ROWS]
    if not all(isinstance(value, dict) for value in shown):
        raise NoGrid("it is not a list of objects")
    head = list(islice(dict.fromkeys(key for value in shown for key in value), COLUMNS + 1))
    if not head:
        raise NoGrid("its objects are empty")
    return Grid(head, [[value.get(key, "") for key in head] for value in shown], len(values))


def of_json_lines(text: str) -> Grid:
    """Return a row for each line of JSON.

    Raises:
        NoGrid: a line is not a JSON object.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        values = [strict_json.loads(line, depth=DEFAULT_LIMITS.depth) for line in lines[:ROWS]]
    except strict_json.InvalidJson as error:
        raise NoGrid(error.problem) from error
    return attrs.evolve(of_objects(values), total=len(lines))


def of_parquet(data: bytes) -> Grid:
    """Return the first rows of a Parquet file.

    Raises:
        MissingDependency: the extra `tables` is not installed.
        NoGrid: it is not such a file, or its rows take too much memory.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependency("a Parquet part as a table", "tables") from error
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        names = file.schema_arrow.names[: COLUMNS + 1]
        groups = file.metadata.num_row_groups
        # The size after unpacking, because a small file can have rows of gigabytes.
        if groups and file.metadata.row_group(0).total_byte_size > _PARQUET:
            raise NoGrid("its rows take too much memory")
        batches = file.iter_batches(ROWS, row_groups=[0], columns=names) if groups else ()
        columns = next(iter(batches), pa.RecordBatch.from_pylist([], file.schema_arrow)).to_pydict()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NoGrid(str(error)) from error
    rows = [list(row) for row in zip(*(columns[name] for name in names), strict=True)]
    return Grid(names, rows, file.metadata.num_rows)


def table(grid: Grid) -> Html:
    """Return a grid as an element, with a line that states how much it leaves out."""
    width = min(len(grid.head), COLUMNS)
    sides = [_side(row[column] for row in grid.rows) for column in range(width)]
    head = element("tr", *(
        element("th", name[:_CELL], scope="col", class_=side)
        for name, side in zip(grid.head, sides, strict=False)
    ))  # fmt: skip
    rows = [
        element("tr", *(element("td", _text(value), class_=side)
                        for value, side in zip(row, sides, strict=False)))
        for row in grid.rows
    ]  # fmt: skip
    inside = element("table", element("thead", head), element("tbody", *rows))
    framed = element("div", inside, class_="grid", tabindex="0", role="region", aria_label="Table")
    return joined(framed, element("p", _left_out(grid), class_="note"))


def _side(values: Iterable[Any]) -> str | None:
    seen = [str(value) for value in islice(values, _LOOKED_AT) if value not in ("", None)]
    return "number" if seen and all(map(_is_number, seen)) else None


_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9,]*+(?:\.[0-9]++)?(?:e[+-]?[0-9]++)?%?", re.IGNORECASE)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _text(value: Any) -> str:
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool | int | float | dict | list):
        text = _json(value)
    else:
        text = str(value)
    return text if len(text) <= _CELL else f"{text[:_CELL]}…"


def _json(value: Any) -> str:
    try:
        return strict_json.dumps(value)
    except (TypeError, ValueError):  # Parquet holds times, and numbers that JSON does not have
        return str(value)


def _left_out(grid: Grid) -> str:
    shown = len(grid.rows)
    known = "more than " + count_of(shown, "row") if grid.total is None else count_of(
        grid.total, "row"
    )  # fmt: skip
    if grid.total != shown:
        known += f", the first {shown:,} shown"
    if len(grid.head) > COLUMNS:
        known += f"; the first {COLUMNS} columns shown"
    return known
