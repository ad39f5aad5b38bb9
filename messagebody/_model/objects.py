"""Content made of the objects that programs have: what they become, and the call for others.

An object is known by the names of its classes and asked through its own methods, so nothing here
imports the library that it comes from.
"""

import base64
import binascii
import datetime as dt
import enum
import io
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from messagebody._base import sniffing
from messagebody._base.media_types import ALIASES, JSON, OCTET_STREAM, essence, is_text
from messagebody._base.text import quote
from messagebody._model import json_values, pictures, tables
from messagebody._model.forms import Made, Maker, described, has, one_of, package_of, row
from messagebody.errors import InvalidPart


def made_of(value: Any, name: Any, content_type: Any) -> tuple[str | bytes, str | None]:
    """Return the content that an object becomes, and its content type if that is known.

    Arguments:
        value: the object: neither text, nor bytes, nor a path.
        name: the name of the part, whose extension says what the content should be.
        content_type: the content type of the part; it counts more than the name.

    Raises:
        InvalidPart: the object can't become content, or not of that type; says what to write.
    """
    make = _maker_of(value)
    if make is None and has(value, "read") and not row(_HINTS, value):
        return _read(value), content_type
    if make is None:
        # The text of data may be long, and dear to make: a query runs for it.
        got = described(value) if _holds_data(value) else quote(value)
        raise InvalidPart(f"content is text, bytes or a Path, got {got}; {_hint(value)}")
    wanted = _wanted(name, content_type)
    try:
        made = make(value, wanted)
    except InvalidPart:
        raise
    except Exception as error:
        # The method of another library may raise anything.
        as_type, reason = f" as {wanted}" if wanted else "", str(error).strip()
        raise InvalidPart(f"{described(value)} can't be written{as_type}: {reason}") from error
    content, kind = made if isinstance(made, tuple) else (made, None)
    if not isinstance(content, str | bytes):
        raise InvalidPart(f"{described(value)} became {quote(content)} instead of text or bytes")
    return content, content_type or _precise(name, kind)


def is_one(value: object) -> bool:
    """Return whether an object is one part, although it may be a collection of something.

    Examples:
        >>> import io
        >>> is_one(io.BytesIO(b"a")), is_one((b"a", b"b"))
        (True, False)
    """
    return has(value, "read") or _holds_data(value) or _maker_of(value) is not None


def _read(file: Any) -> bytes:
    """Return the whole content of a file object.

    The file is read from its start, because its position may be after content that was just
    written. A file that can't seek and has no bytes left has probably been read already.
    """
    try:
        is_rewound = file.seekable() if callable(getattr(file, "seekable", None)) else False
        if is_rewound:
            file.seek(0)
        data = file.read()
    except io.UnsupportedOperation as error:
        raise InvalidPart("the file is open for writing only; open it in mode 'rb'") from error
    except (OSError, ValueError, TypeError) as error:
        # ValueError: it is closed. TypeError: it is no file, but reads files, as an archive does.
        raise InvalidPart(f"{described(file)} can't be read: {error}") from error
    if not data and not is_rewound:
        raise InvalidPart("the file gives no bytes and can't go back to its start; pass bytes")
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidPart(
            f"a file gives bytes, got {quote(data, limit=40)}; open it in binary mode, 'rb'"
        )
    return bytes(data)


def _wanted(name: Any, content_type: Any) -> str | None:
    found = content_type if isinstance(content_type, str) else None
    if found is None and isinstance(name, str):
        found = sniffing.from_name(name)
    kind = None if found is None else essence(found)
    return None if kind is None else ALIASES.get(kind, kind)


def _precise(name: Any, kind: str | None) -> str | None:
    """Return the type that the name says if it says the same more precisely, as `+json` does."""
    named = sniffing.from_name(name) if isinstance(name, str) else None
    if named is None or named == OCTET_STREAM or kind is None:
        return kind
    return named if sniffing.agree(kind, named) else kind


def _maker_of(value: object) -> Maker | None:
    if isinstance(value, type):  # a class has the methods of its objects, but not their values
        return None
    if isinstance(value, dict | list):
        return json_values.plain
    if row(_HINTS, value):  # it shows itself, but that is not what is meant
        return None
    if found := row(_KNOWN, value):
        return found
    if json_values.is_model(value):
        return json_values.model
    if json_values.has_fields(value):
        return json_values.fields
    if _holds_data(value):
        return None
    if any(has(value, method) for method in (_BUNDLE, *_SHOWN)):
        return _notebook_content
    return json_values.mapping if isinstance(value, Mapping) else None


# Objects that notebooks show

_BUNDLE: Final = "_repr_mimebundle_"
_SHOWN: Final = {
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_svg_": "image/svg+xml",
    "_repr_pdf_": "application/pdf",
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_json_": JSON,
}
# It names a widget in the memory of the kernel that made it.
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
_DATA: Final = (
    "__array__", "__array_interface__", "__arrow_c_array__", "__arrow_c_stream__", "__dataframe__",
    "__geo_interface__",
)  # fmt: skip
"""The protocols by which libraries hand data on. What notebooks show of data is a preview."""


def _holds_data(value: object) -> bool:
    """Return whether an object holds data, of which a notebook shows no more than the first rows.

    Without data to hand on, what a notebook shows is what the object is: a map, a formula, a chart.
    """
    return not isinstance(value, type) and any(has(value, protocol) for protocol in _DATA)


def _notebook_content(value: Any, wanted: str | None) -> Made:
    """Write what an object shows in a notebook: by default a picture of it, if there is one."""
    shown = _bundle(value)
    data = [kind for kind in shown if kind.endswith("+json")]
    best = [kind for kind in (*_SHOWN.values(), *data) if kind in shown]
    kind = wanted or next(iter(best), None)
    if kind == JSON and kind not in shown:
        kind = next(iter(data), kind)
    if not best:
        raise ValueError("it shows nothing; body.add(str(…)) adds its text")
    kind = one_of(kind, best)
    return _displayed(shown[kind], kind), kind


def _bundle(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if has(value, _BUNDLE):
        bundle = value._repr_mimebundle_()
        bundle = bundle[0] if isinstance(bundle, tuple) else bundle
        found |= bundle if isinstance(bundle, Mapping) else {}
    for method, kind in _SHOWN.items():
        if kind not in found and has(value, method):
            shown = getattr(value, method)()
            # A tuple is the content and facts about it.
            found[kind] = shown[0] if isinstance(shown, tuple) else shown
    return {kind: shown for kind, shown in found.items() if shown is not None and kind != _WIDGET}


def _displayed(shown: Any, kind: str) -> str | bytes:
    if kind == JSON or kind.endswith("+json"):
        return json_values.fields_text(shown)
    if isinstance(shown, str) and not is_text(kind):
        try:
            return base64.b64decode(shown, validate=True)
        except binascii.Error as error:
            raise ValueError(f"its {kind} is neither bytes nor base64") from error
    return shown  # type: ignore[no-any-return]


_KNOWN: Final[dict[type | str, Maker]] = {
    "PIL.Image": pictures.image,
    "matplotlib.Figure": pictures.figure,
    "matplotlib.Artist": pictures.figure,
    "seaborn.Grid": pictures.figure,
    "plotly.BaseFigure": pictures.plotly,
    "altair.TopLevelMixin": pictures.altair,
    "pandas.DataFrame": tables.pandas,
    "pandas.Series": tables.pandas,
    "polars.DataFrame": tables.polars,
    "polars.Series": tables.polars,
    "numpy.ndarray": tables.array,
}

# What to write for an object that can't become content

_JSON_OR_TEXT: Final = "body.add(json=…) writes it as JSON, body.add(str(…)) as text"
_JSON: Final = "body.add(json=…) takes JSON values"
_HINTS: Final[dict[type | str, str]] = {
    bool: _JSON,
    int: _JSON,
    float: _JSON,
    tuple: _JSON,
    "numpy.generic": _JSON,
    Decimal: _JSON_OR_TEXT,
    UUID: _JSON_OR_TEXT,
    dt.date: _JSON_OR_TEXT,
    dt.time: _JSON_OR_TEXT,
    dt.timedelta: _JSON_OR_TEXT,
    enum.Enum: _JSON_OR_TEXT,
    set: "body.add(json=sorted(…)) takes JSON values, and a set has no order",
    frozenset: "body.add(json=sorted(…)) takes JSON values, and a set has no order",
    io.StringIO: "stream.getvalue() is its text",
    "polars.LazyFrame": "frame.collect() makes the table",
    "polars.Expr": "frame.select(…) makes a table of it",
    "polars.GroupBy": "grouped.agg(…) makes a table of it",
    "pandas.BaseGroupBy": "grouped.sum() and the like make a table of it",
    "geopandas.GeoDataFrame": "frame.to_json() is its GeoJSON, frame.to_wkt() a plain table",
    "geopandas.GeoSeries": "series.to_json() is its GeoJSON",
}
_CONVERSIONS: Final = {
    "df": "makes a frame of it",
    "to_pandas": "makes a frame of it",
    "to_dataframe": "makes a frame of it",
    "toPandas": "makes a frame of it",
    "compute": "makes the table or array",
    "to_series": "makes a series of it",
    "to_numpy": "makes an array of it",
}
"""Methods of what holds data, and what they make."""


def _hint(value: object) -> str:
    """Return what to write for an object that can't become content."""
    if isinstance(value, type):
        return f"{value.__name__} is a class; make an object of it"
    if has(value, "_asdict"):
        return "value._asdict() makes a dict of it"
    if found := row(_HINTS, value):
        return found
    if _holds_data(value):
        return _conversion(value)
    if has(value, "__iter__") and package_of(type(value)).lstrip("_") in sys.stdlib_module_names:
        return "body.add(list(…)) writes a list as JSON; MessageBody([…]) takes several parts"
    return "str(…) is its text; a method of its class such as _repr_markdown_ says more"


def _conversion(value: object) -> str:
    """Return the call that makes something of data which can become content."""
    if has(value, "__geo_interface__"):
        return "body.add(dict(value.__geo_interface__), name='….geojson') adds its GeoJSON"
    found = (f"value.{name}() {makes}" for name, makes in _CONVERSIONS.items() if has(value, name))
    return next(found, "numpy.asarray(…) makes an array of it")
