"""Tables and arrays as content: those of pandas, polars and numpy."""

import csv
import math
import sys
from functools import partial
from typing import Any, Final

from messagebody._base.media_types import JSON, LINES
from messagebody._model.forms import Made, described, one_of, package_of, saved
from messagebody._model.json_values import fields_text, listed, rows_text

CSV: Final = "text/csv"
_TSV: Final = "text/tab-separated-values"
_PARQUET: Final = "application/vnd.apache.parquet"
_ARROW: Final = "application/vnd.apache.arrow.file"
_EXCEL: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NPY: Final = "application/x-npy"


def pandas(value: Any, wanted: str | None) -> Made:
    """Write a pandas frame or series: by default as CSV. An index that says something is kept."""
    if wanted == _EXCEL:
        raise ValueError("frame.to_excel(stream) writes it to an io.BytesIO() for body.add(…)")
    kind = one_of(wanted or CSV, [CSV, _TSV, JSON, *LINES, _PARQUET, _ARROW])
    frame = value.to_frame() if not hasattr(value, "columns") else value
    if kind in {_PARQUET, _ARROW}:
        return saved(frame.to_parquet if kind == _PARQUET else frame.to_feather), kind
    counts = _counts(frame.index)
    if kind in {CSV, _TSV}:
        _check_cells(frame)
        write = partial(frame.to_csv, index=not counts, sep="," if kind == CSV else "\t")
        text = write()
        # A return in a text is the end of a row, unless the text stands in quotes.
        return (write(quoting=csv.QUOTE_NONNUMERIC) if "\r" in text else text), kind
    frame = frame if counts else frame.reset_index()
    if len({*map(str, frame.columns)}) < len(frame.columns):
        raise ValueError("columns of the same name can't be members of an object")
    return _rows(frame.to_dict(orient="records"), kind), kind


def _check_cells(frame: Any) -> None:
    """Refuse a pandas frame with objects of which CSV would hold no more than what they show.

    Raises:
        ValueError: a cell is such an object.
    """
    is_scalar = sys.modules["pandas"].api.types.is_scalar  # a frame has loaded it
    for number, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        for cell in frame.iloc[:, number] if kind == object else ():  # noqa: E721 - a dtype equals it
            if isinstance(cell, bytes) or not is_scalar(cell):
                advice = "a name that ends in .json or .parquet keeps what these formats have"
                raise ValueError(f"column {name!r} holds {described(cell)}, no text; {advice}")


def _counts(index: Any) -> bool:
    """Return whether an index only counts the rows from 0, and says nothing else."""
    is_range = type(index).__name__ == "RangeIndex" and index.name is None
    return is_range and index.start == 0 and index.step == 1


def polars(value: Any, wanted: str | None) -> Made:
    """Write a polars frame or series: by default as CSV."""
    if wanted == _EXCEL:
        raise ValueError("frame.write_excel(stream) writes it to an io.BytesIO() for body.add(…)")
    kind = one_of(wanted or CSV, [CSV, _TSV, JSON, *LINES, _PARQUET, _ARROW])
    frame = value if hasattr(value, "write_csv") else value.to_frame()
    if kind in {_PARQUET, _ARROW}:
        return saved(frame.write_parquet if kind == _PARQUET else frame.write_ipc), kind
    if kind in {JSON, *LINES}:
        return _rows(frame.to_dicts(), kind), kind
    try:
        return frame.write_csv(separator="," if kind == CSV else "\t"), kind
    except Exception as error:  # polars has errors of its own
        problem = str(error).partition("\n")[0]
        raise ValueError(f"{problem}; a name that ends in .parquet keeps it") from error


def _rows(rows: list[dict[str, Any]], kind: str) -> str:
    # JSON has no NaN; in a table it stands for a value that is missing.
    rows = [{str(key): _present(each) for key, each in row.items()} for row in rows]
    if kind == JSON:
        return rows_text(rows)
    return "".join(f"{rows_text(row)}\n" for row in rows)


def _present(value: Any) -> Any:
    is_missing = isinstance(value, float) and math.isnan(value)
    return None if is_missing or type(value).__name__ in {"NaTType", "NAType"} else value


def array(value: Any, wanted: str | None) -> Made:
    """Write a numpy array: by default as `.npy`, which keeps its type and shape."""
    if wanted is not None and wanted.startswith("image/"):
        raise ValueError("PIL.Image.fromarray(…) makes a picture of it")
    kind = one_of(wanted or _NPY, [_NPY, JSON, *LINES])
    if package_of(type(value)) != "numpy":  # such as units
        raise ValueError(
            f"numpy.asarray(…) makes an array of it, without what {described(value)} adds"
        )
    if kind == JSON:
        return fields_text(listed(value)), kind
    if kind in LINES:
        if not value.ndim:
            raise ValueError("it is a single number, which has no rows; array[None] has one")
        return "".join(f"{fields_text(row)}\n" for row in listed(value)), kind
    if value.dtype.hasobject:  # pickled objects run code when they are read
        advice = "array.astype(…) gives it a type, array.flat[0].figure is the figure of axes"
        raise ValueError(f"an array of objects can't be saved without pickle; {advice}")
    numpy = sys.modules["numpy"]  # an array has loaded it
    if numpy.ma.is_masked(value):
        advice = "array.filled(…) fills the gaps, names that end in .json keep them as null"
        raise ValueError(f"the mask would be lost; {advice}")
    return saved(partial(numpy.save, arr=value, allow_pickle=False)), kind
