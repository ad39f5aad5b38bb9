"""Grids: rows of CSV, TSV, JSON, JSON Lines and Parquet, for a person to look at."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, count_of, strict_json
from messagebody.errors import MissingDependency
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import CELL, COLUMNS, ROWS, more_with
from messagebody.rendering._pieces import framed

# A column is aligned to the right if nearly all its values are numbers.
_LOOKED_AT: Final = 50
_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9,]*+(?:\.[0-9]++)?(?:e[+-]?[0-9]++)?%?", re.IGNORECASE)
_PARQUET: Final = 64 * 1024 * 1024


@attrs.frozen
class Grid:
    """Rows of a table, the first ones if there are more.

    Arguments:
        head: names of the columns.
        rows: lists of values, one for each column.
        total: the number of all rows; None if it is not known.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: int | None = None

    @property
    def cells(self) -> int:
        """How many cells the table has on the page."""
        return len(self.rows) * min(len(self.head), COLUMNS)


class NoGrid(Exception):
    """Content that turned out not to be a table; the text says why."""


def of_csv(text: str, delimiter: str, most: int = ROWS) -> Grid:
    """Return the rows of a text whose cells are separated.

    Arguments:
        text: the text.
        delimiter: what is between two cells.
        most: the most rows.

    Raises:
        NoGrid: it is not such a text.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        # The first row is the head, and one row more than is shown tells whether there are more.
        rows = list(islice(filter(None, reader), most + 2))
    except csv.Error as error:
        raise NoGrid(str(error)) from error
    if not rows:
        raise NoGrid("it has no rows")
    # One column more than is shown tells that there are more; the others are not read.
    width = min(max(map(len, rows)), COLUMNS + 1)
    head, *shown = (row[:width] + [""] * (width - len(row)) for row in rows[: most + 1])
    return Grid(head, shown, len(shown) if len(rows) <= most + 1 else None)


def of_objects(values: Any, most: int = ROWS) -> Grid:
    """Return a row for each of several JSON objects, at most so many.

    Raises:
        NoGrid: they are not all objects.

    Examples:
        >>> of_objects([{"a": 1}, {"b": None}]).rows
        [[1, ''], ['', None]]
    """
    shown = values[:most] if isinstance(values, list) else []
    if not shown or not all(isinstance(value, dict) for value in shown):
        raise NoGrid("it is not a list of objects")
    head = list(islice(dict.fromkeys(key for value in shown for key in value), COLUMNS + 1))
    if not head:
        raise NoGrid("its objects are empty")
    rows = [[value.get(key, "") for key in head] for value in shown]
    return Grid(head, rows, len(values))


def of_json_lines(text: str, most: int = ROWS) -> Grid:
    """Return a row for each line of JSON, at most so many.

    Raises:
        NoGrid: a line is not a JSON object.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        values = [strict_json.loads(line, depth=DEFAULT_LIMITS.depth) for line in lines[:most]]
    except strict_json.InvalidJson as error:
        raise NoGrid(error.problem) from error
    return attrs.evolve(of_objects(values, most), total=len(lines))


def of_parquet(data: bytes, most: int = ROWS) -> Grid:
    """Return rows of a Parquet file, at most so many.

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
        columns = file.schema_arrow.names[: COLUMNS + 1]
        values = _first_rows(file, columns, most).to_pydict()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NoGrid(str(error)) from error
    rows = [list(row) for row in zip(*(values[name] for name in columns), strict=True)]
    return Grid(columns, rows, file.metadata.num_rows)


def _first_rows(file: Any, columns: list[str], most: int) -> Any:
    groups: list[int] = []
    count = 0
    for group in range(file.metadata.num_row_groups):
        if count >= most or (groups and _size(file, [*groups, group]) > _PARQUET):
            break
        groups.append(group)
        count += file.metadata.row_group(group).num_rows
    if _size(file, groups) > _PARQUET:
        raise NoGrid("its rows take too much memory")
    return file.read_row_groups(groups, columns=columns).slice(0, most)


def _size(file: Any, groups: Iterable[int]) -> int:
    """Return the size after unpacking, because a small file can have rows of gigabytes."""
    return sum(file.metadata.row_group(group).total_byte_size for group in groups)


def table(grid: Grid) -> Html:
    """Return a grid as an element, with a line that states how much it leaves out."""
    width = min(len(grid.head), COLUMNS)
    sides = [_side(row[column] for row in grid.rows) for column in range(width)]
    heads = [
        element("th", name[:CELL], scope="col", class_=side)
        for name, side in zip(grid.head, sides, strict=False)
    ]
    rows = (
        [element("td", _cell_text(_spelt(value)), class_=side)
         for value, side in zip(row, sides, strict=False)]
        for row in grid.rows
    )  # fmt: skip
    return joined(framed(heads, rows), element("p", _left_out(grid), class_="note"))


def _side(values: Iterable[Any]) -> str | None:
    seen = [str(value) for value in islice(values, _LOOKED_AT) if value not in ("", None)]
    return "number" if seen and all(map(_NUMBER.fullmatch, seen)) else None


def _spelt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float | dict | list):
        return _json(value)
    return str(value)


def _cell_text(text: str) -> str:
    return text if len(text) <= CELL else f"{text[:CELL]}…"


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
        known += f", the first {shown:,} shown ({more_with('rows')})"
    if len(grid.head) > COLUMNS:
        known += f"; the first {COLUMNS} columns shown"
    return known
