"""Grids: rows of CSV, TSV, JSON, JSON Lines and Parquet, for a person to look at."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from heapq import nlargest, nsmallest
from itertools import chain, islice
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, count_of, strict_json
from messagebody.errors import MissingDependency
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import CELL, COLUMNS, ROWS, ROWS_SEEN, more_with
from messagebody.rendering._pieces import framed

# A column is aligned to the right if nearly all its values are numbers.
_LOOKED_AT: Final = 50
_PARQUET: Final = 64 * 1024 * 1024


@attrs.frozen
class Order:
    """A column that rows are ordered by; equal rows stay as they were, and empty cells come last.

    Arguments:
        column: the name of the column.
        is_descending: whether the largest comes first.
    """

    column: str
    is_descending: bool = False

    @classmethod
    def among(cls, sort: str | None, names: Iterable[str]) -> "Order | None":
        """Return the order by a column, or by `-column` from the largest; None without the column.

        Examples:
            >>> Order.among("-rides", ["day", "rides"])
            Order(column='rides', is_descending=True)
        """
        if sort is None:
            return None
        found = set(names)
        if sort in found:
            return cls(sort)
        is_reversed = sort.startswith("-") and sort[1:] in found
        return cls(sort[1:], is_descending=True) if is_reversed else None

    def first(self, rows: Iterable[Any], count: int, cell_of: Callable[[Any], Any]) -> list[Any]:
        """Return the first rows in this order; others are not kept.

        Arguments:
            rows: the rows.
            count: how many.
            cell_of: returns a row's value in the column.
        """
        if self.is_descending:
            return nlargest(count, rows, lambda row: _rank(cell_of(row), is_empty_last=False))
        return nsmallest(count, rows, lambda row: _rank(cell_of(row), is_empty_last=True))


def _rank(value: Any, *, is_empty_last: bool) -> tuple[Any, ...]:
    """Return what a value is compared by: numbers come before words."""
    if isinstance(value, float) and math.isnan(value):
        value = None
    if value in ("", None):
        return (is_empty_last,)
    text = _spelt(value)
    if _is_number(text):
        return not is_empty_last, 0, _number(text.replace(",", "").rstrip("%")), ""
    return not is_empty_last, 1, 0, text


def _number(text: str) -> Decimal | float:
    """Return a number exactly: ids of 64 bits are larger than what a float tells apart."""
    try:
        return Decimal(text)
    except ArithmeticError:  # an exponent that no computer has
        return float(text)


@attrs.frozen
class Grid:
    """Rows of a table, the first ones if there are more.

    Arguments:
        head: names of the columns.
        rows: lists of values, one for each column.
        total: the number of all rows; None if it is not known.
        order: the order of the rows; None if it is that of the content.
        note: what else there is to say of it.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: int | None = None
    order: Order | None = None
    note: str = ""

    @property
    def cells(self) -> int:
        """How many cells the table has on the page."""
        return len(self.rows) * min(len(self.head), COLUMNS)

    def csv(self) -> str:
        r"""Return the rows as CSV.

        Examples:
            >>> Grid(["a", "b"], [[1, "x"], [None, "y z"]]).csv()
            'a,b\r\n1,x\r\nnull,y z\r\n'
        """
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(self.head[:COLUMNS])
        writer.writerows([_spelt(value) for value in row[:COLUMNS]] for row in self.rows)
        return file.getvalue()


class NoGrid(Exception):
    """Content that turned out not to be a table; the text says why."""


class _Counted:
    """Iterates once over values and counts them."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._values = values
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        for value in self._values:
            self.count += 1
            yield value


def of_csv(text: str, delimiter: str, most: int = ROWS, sort: str | None = None) -> Grid:
    """Return the rows of a text whose cells are separated.

    Arguments:
        text: the text.
        delimiter: what is between two cells.
        most: the most rows.
        sort: a column, with "-" before it from the largest; None for the order of the text.

    Raises:
        NoGrid: it is not such a text.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = (row for row in reader if row)
        head = next(rows, None)
        if head is None:
            raise NoGrid("it has no rows")
        order = Order.among(sort, head)
        counted = _Counted(rows)
        if order is None:
            # One row more than is shown tells whether there are more.
            shown = list(islice(counted, most + 1))
        else:
            place = head.index(order.column)
            shown = order.first(counted, most, lambda row: row[place] if place < len(row) else "")
    except csv.Error as error:
        raise NoGrid(str(error)) from error
    is_whole = order is not None or len(shown) <= most
    # One column more than is shown tells that there are more; the others are not read.
    width = min(max(map(len, chain([head], shown))), COLUMNS + 1)
    full = [row[:width] + [""] * (width - len(row)) for row in (head, *shown[:most])]
    return Grid(full[0], full[1:], counted.count if is_whole else None, order)


def of_objects(values: Any, most: int = ROWS, sort: str | None = None) -> Grid:
    """Return a row for each of several JSON objects; see `of_csv` for the arguments.

    Raises:
        NoGrid: they are not all objects.

    Examples:
        >>> of_objects([{"a": 1}, {"b": None}]).rows
        [[1, ''], ['', None]]
        >>> of_objects([{"a": 1}, {"b": None}, {"a": 10}, {"a": 9}], sort="-a").rows
        [[10, ''], [9, ''], [1, ''], ['', None]]
    """
    if not isinstance(values, list) or not values:
        raise NoGrid("it is not a list of objects")
    looked_at = values if sort is not None else values[:most]
    if not all(isinstance(value, dict) for value in looked_at):
        raise NoGrid("it is not a list of objects")
    order = Order.among(sort, chain.from_iterable(looked_at))
    shown = values[:most]
    if order is not None:
        shown = order.first(values, most, lambda value: value.get(order.column))
    head = list(islice(dict.fromkeys(key for value in shown for key in value), COLUMNS + 1))
    if not head:
        raise NoGrid("its objects are empty")
    rows = [[value.get(key, "") for key in head] for value in shown]
    return Grid(head, rows, len(values), order)


def of_json_lines(text: str, most: int = ROWS, sort: str | None = None) -> Grid:
    """Return a row for each line of JSON; see `of_csv` for the arguments.

    Raises:
        NoGrid: a line is not a JSON object.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    read = lines if sort is not None else lines[:most]
    try:
        values = [strict_json.loads(line, depth=DEFAULT_LIMITS.depth) for line in read]
    except strict_json.InvalidJson as error:
        raise NoGrid(error.problem) from error
    return attrs.evolve(of_objects(values, most, sort), total=len(lines))


def of_parquet(data: bytes, most: int = ROWS, sort: str | None = None) -> Grid:
    """Return rows of a Parquet file; see `of_csv` for the arguments.

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
        names = file.schema_arrow.names
        order, note = Order.among(sort, names), ""
        columns = names[: COLUMNS + 1]
        if order is None:
            found = _first_rows(file, columns, most)
        else:
            found, note = _sorted_rows(file, columns, most, order)
        values = found.to_pydict()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NoGrid(str(error)) from error
    rows = [list(row) for row in zip(*(values[name] for name in columns), strict=True)]
    return Grid(columns, rows, file.metadata.num_rows, None if note else order, note)


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


def _sorted_rows(file: Any, columns: list[str], most: int, order: Order) -> tuple[Any, str]:
    """Return the first rows in an order; or as they are, with a note that says why."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _size(file, range(file.metadata.num_row_groups)) > _PARQUET:
        note = f"not sorted by {order.column}: its rows take too much memory"
        return _first_rows(file, columns, most), note
    found = file.read(columns=[*dict.fromkeys([*columns, order.column])])
    direction = "descending" if order.is_descending else "ascending"
    try:
        places = pc.sort_indices(found, sort_keys=[(order.column, direction)])
    except pa.ArrowException as error:  # such as a column of lists
        return found.slice(0, most).select(columns), f"not sorted by {order.column}: {error}"
    return found.take(places[:most]).select(columns), ""


def _size(file: Any, groups: Iterable[int]) -> int:
    """Return the size after unpacking, because a small file can have rows of gigabytes."""
    return sum(file.metadata.row_group(group).total_byte_size for group in groups)


def table(grid: Grid) -> Html:
    """Return a grid as an element, with a line that states how much it leaves out."""
    width = min(len(grid.head), COLUMNS)
    sides = [_side(row[column] for row in grid.rows) for column in range(width)]
    heads = [_head(name, side, grid.order) for name, side in zip(grid.head, sides, strict=False)]
    rows = (
        [element("td", _cell_text(_spelt(value)), class_=side)
         for value, side in zip(row, sides, strict=False)]
        for row in grid.rows
    )  # fmt: skip
    return joined(framed(heads, rows), _below(grid))


def _head(name: str, side: str | None, order: Order | None) -> Html:
    if order is None or order.column != name:
        return element("th", name[:CELL], scope="col", class_=side)
    arrow, words = ("▼", "descending") if order.is_descending else ("▲", "ascending")
    return element("th", f"{name[:CELL]} {arrow}", scope="col", class_=side, aria_sort=words)


def _below(grid: Grid) -> Html:
    """Return how many rows there are; many are seen at once when the reader opens it."""
    if len(grid.rows) <= ROWS_SEEN:
        return element("p", _left_out(grid), class_="note")
    summary = element("summary", _left_out(grid), "; see them at once")
    return element("details", summary, class_="fold whole")


def _side(values: Iterable[Any]) -> str | None:
    seen = [str(value) for value in islice(values, _LOOKED_AT) if value not in ("", None)]
    return "number" if seen and all(map(_is_number, seen)) else None


_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9,]*+(?:\.[0-9]++)?(?:e[+-]?[0-9]++)?%?", re.IGNORECASE)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


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
    return f"{known}; {grid.note}" if grid.note else known
