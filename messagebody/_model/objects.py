"""Content made of the objects that programs have: pictures, figures, tables, arrays, models.

An object is known by the names of its classes and asked through its own methods, so nothing here
imports the library that it comes from. Programs add rows to the table by `register_content`.
"""

import base64
import binascii
import io
import math
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from messagebody._base import sniffing
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import ALIASES, JSON, essence, is_text
from messagebody._base.text import quote
from messagebody._wire import strict_json
from messagebody.errors import InvalidArgument, InvalidPart

Made = str | bytes | tuple[str | bytes, str]
Maker = Callable[[Any, str | None], Made]
_Row = TypeVar("_Row")

CSV: Final = "text/csv"
PARQUET: Final = "application/vnd.apache.parquet"
_LINES: Final = ("application/jsonl", "application/x-ndjson")


_registered: dict[type | str, Maker] = {}


def register_content(kind: type | str, make: Maker) -> None:
    """Let `add` and `Part` take objects of another class.

    Arguments:
        kind: the class, also for its subclasses; or "package.Class", to leave the package
            unimported until somebody uses it.
        make: takes an object and the content type that its part should have, which is None if
            neither an argument nor the name of the part says one. Returns text or bytes, or a tuple
            of them and their content type.

    Raises:
        InvalidArgument: `kind` is no class and no name of one, or `make` can't be called.

    Examples:
        >>> from fractions import Fraction
        >>> from messagebody import MessageBody
        >>> register_content(Fraction, lambda value, wanted: str(value))
        >>> MessageBody().add(Fraction(1, 3)).text
        '1/3'
    """
    if not isinstance(kind, type) and not (isinstance(kind, str) and "." in kind):
        raise InvalidArgument("a class, or its name as 'package.Class'", kind)
    if not callable(make):
        raise InvalidArgument("a function that makes content of an object", make)
    _registered[kind] = make


def made_of(value: Any, name: Any, content_type: Any) -> tuple[str | bytes, str | None]:
    """Return the content that an object becomes, and its content type if that is known.

    Arguments:
        value: the object: neither text, nor bytes, nor a path.
        name: the name of the part, whose extension says what the content should be.
        content_type: the content type of the part; it counts more than the name.

    Raises:
        InvalidPart: the object can't become content, or not of that type; says what to write.
    """
    if isinstance(value, dict | list):
        return json_text(value), content_type or json_type(name)
    make = _maker_of(value)
    if make is None and _has(value, "read"):
        return _read(value), content_type
    if make is None:
        raise InvalidPart(f"content is text, bytes or a Path, got {quote(value)}; {_hint(value)}")
    wanted = _wanted(name, content_type)
    try:
        made = make(value, wanted)
    except InvalidPart:
        raise
    except Exception as error:
        # The method of another library may raise anything.
        as_type = f" as {wanted}" if wanted else ""
        raise InvalidPart(f"{_described(value)} can't be written{as_type}: {error}") from error
    content, kind = made if isinstance(made, tuple) else (made, None)
    if not isinstance(content, str | bytes):
        raise InvalidPart(f"{_described(value)} became {quote(content)} instead of text or bytes")
    return content, content_type or _precise(name, kind)


def json_text(value: Any) -> str:
    """Return a JSON value as text.

    Raises:
        InvalidPart: it is no JSON value; the text has the place.
    """
    try:
        strict_json.check_value(value, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        place = "".join(f"/{step}" for step in error.path)
        raise InvalidPart(f"JSON value{quote(place) if place else ''}: {error}") from error
    return strict_json.dumps(value)


def json_type(name: Any) -> str:
    """Return the content type of JSON in a part of this name."""
    found = sniffing.from_name(name) if isinstance(name, str) else None
    return found if found and essence(found).endswith("+json") else JSON


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
    except (OSError, ValueError) as error:  # ValueError: it is closed
        raise InvalidPart(f"the file can't be read: {error}") from error
    if not data and not is_rewound:
        raise InvalidPart("the file gives no bytes and can't go back to its start; pass bytes")
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidPart(
            f"a file gives bytes, got {quote(data, limit=40)}; open it in binary mode, 'rb'"
        )
    return bytes(data)


def _wanted(name: Any, content_type: Any) -> str | None:
    kind = content_type if isinstance(content_type, str) else None
    if kind is None and isinstance(name, str):
        kind = sniffing.from_name(name)
    return None if kind is None else ALIASES.get(essence(kind), essence(kind))


def _precise(name: Any, kind: str | None) -> str | None:
    """Return the type that the name says if it says the same more precisely, as `+json` does."""
    named = sniffing.from_name(name) if isinstance(name, str) else None
    return named if named and kind and sniffing.agree(kind, named) else kind


def _described(value: object) -> str:
    return f"the {_package(type(value))} {type(value).__name__}"


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def _maker_of(value: object) -> Maker | None:
    if isinstance(value, type):  # a class has the methods of its objects, but not their values
        return None
    if found := _row(_registered, value):
        return found
    if _row(_HINTS, value):  # it shows itself, but that is not what is meant
        return None
    if found := _row(_KNOWN, value):
        return found
    if _has(value, "model_dump_json"):
        return _model
    if any(_has(value, mark) for mark in _FIELDS):
        return _fields
    return _shown if any(_has(value, method) for method in (_BUNDLE, *_SHOWN)) else None


def _row(table: Mapping[Any, _Row], value: object) -> _Row | None:
    """Return what a table has for the class of an object, or for the nearest class above it."""
    for cls in type(value).__mro__:
        found = table.get(cls) or table.get(f"{_package(cls)}.{cls.__name__}")
        if found is not None:
            return found
    return None


def _has(value: object, method: str) -> bool:
    # Asked of the class: an object that answers every name, such as a mock, has no methods here.
    return getattr(type(value), method, None) is not None


# Pictures and figures

_IMAGES: Final = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/webp": "WEBP",
    "image/gif": "GIF",
    "image/tiff": "TIFF",
    "image/bmp": "BMP",
}


def _image(value: Any, wanted: str | None) -> Made:
    """Write a PIL image: by default in the format that it was read from, or as PNG."""
    read_as = {form: kind for kind, form in _IMAGES.items()}.get(value.format, "image/png")
    kind = _one_of(wanted or read_as, _IMAGES)
    options: dict[str, Any] = {
        # Without them a photo may lie on its side, and its colours may be others.
        key: value.info[key]
        for key in ("exif", "icc_profile")
        if value.info.get(key) and kind in {"image/jpeg", "image/png", "image/webp"}
    }
    if getattr(value, "n_frames", 1) > 1:
        options["save_all"] = True
        _one_of(kind, [each for each in _IMAGES if each not in {"image/jpeg", "image/bmp"}])
    if kind == "image/jpeg" and value.format == "JPEG":
        options["quality"] = "keep"
    return _saved(partial(value.save, format=_IMAGES[kind], **options)), kind


_FIGURES: Final = {
    "image/png": "png",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
    "image/jpeg": "jpeg",
    "image/webp": "webp",
}


def _figure(value: Any, wanted: str | None) -> Made:
    """Write a matplotlib figure, or the figure of axes: by default as PNG."""
    kind = _one_of(wanted or "image/png", _FIGURES)
    figure = value if hasattr(value, "savefig") else value.figure
    return _text_or_bytes(_saved(partial(figure.savefig, format=_FIGURES[kind])), kind), kind


_PLOTLY: Final = "application/vnd.plotly.v1+json"


def _plotly(value: Any, wanted: str | None) -> Made:
    """Write a plotly figure: by default as its JSON, which every plotly reads."""
    kind = _one_of(wanted or _PLOTLY, [_PLOTLY, JSON, "text/html", *_FIGURES])
    if kind in _FIGURES:
        return _text_or_bytes(value.to_image(format=_FIGURES[kind]), kind), kind
    return (value.to_html() if kind == "text/html" else value.to_json()), kind


def _altair(value: Any, wanted: str | None) -> Made:
    """Write an Altair chart: by default as the JSON of Vega-Lite, which every Altair reads."""
    version = re.search(r"/v([0-9]+)\.", str(value.to_dict().get("$schema")))
    vega = f"application/vnd.vegalite.v{version[1] if version else 5}+json"
    kind = _one_of(wanted or vega, [vega, JSON, *_ALTAIR])
    if kind in {vega, JSON}:
        return value.to_json(), kind
    stream: Any = io.StringIO() if is_text(kind) else io.BytesIO()
    value.save(stream, format=_ALTAIR[kind])
    return stream.getvalue(), kind


_ALTAIR: Final = {"text/html": "html", "image/png": "png", "image/svg+xml": "svg"}


# Tables and arrays


def _pandas(value: Any, wanted: str | None) -> Made:
    """Write a pandas frame or series: by default as CSV. An index that says something is kept."""
    kind = _one_of(wanted or CSV, [CSV, "text/tab-separated-values", JSON, *_LINES, PARQUET])
    frame = value.to_frame() if not hasattr(value, "columns") else value
    if kind == PARQUET:
        return frame.to_parquet(), kind
    counted = type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
    if kind in {CSV, "text/tab-separated-values"}:
        return frame.to_csv(index=not counted, sep="," if kind == CSV else "\t"), kind
    frame = frame if counted else frame.reset_index()
    if len({*map(str, frame.columns)}) < len(frame.columns):
        raise ValueError("columns of the same name can't be members of an object")
    return _rows(frame.to_dict(orient="records"), kind), kind


def _polars(value: Any, wanted: str | None) -> Made:
    """Write a polars frame or series: by default as CSV."""
    kinds = [CSV, "text/tab-separated-values", JSON, *_LINES, PARQUET, _ARROW]
    kind = _one_of(wanted or CSV, kinds)
    frame = value if hasattr(value, "write_csv") else value.to_frame()
    if kind in {PARQUET, _ARROW}:
        return _saved(frame.write_parquet if kind == PARQUET else frame.write_ipc), kind
    if kind in {JSON, *_LINES}:
        return _rows(frame.to_dicts(), kind), kind
    return frame.write_csv(separator="," if kind == CSV else "\t"), kind


_ARROW: Final = "application/vnd.apache.arrow.file"
_NPY: Final = "application/x-npy"


def _array(value: Any, wanted: str | None) -> Made:
    """Write a numpy array: by default as `.npy`, which keeps its type and shape."""
    kind = _one_of(wanted or _NPY, [_NPY, JSON])
    if kind == JSON:
        return _json(value.tolist()), kind
    numpy = sys.modules["numpy"]  # an array has loaded it
    return _saved(partial(numpy.save, arr=value, allow_pickle=False)), kind


# Objects with fields

# What the classes have that dataclasses, attrs and msgspec make.
_FIELDS: Final = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__")


def _model(value: Any, _: str | None) -> Made:
    """Write a pydantic model as JSON."""
    return value.model_dump_json(), JSON


def _fields(value: Any, _: str | None) -> Made:
    """Write a dataclass, an attrs object or a msgspec struct as JSON."""
    return _json(value), JSON


def _json(value: Any) -> str:
    return json_text(strict_json.builtins_of(value, _plain))


def _plain(value: Any) -> Any:
    """Return the JSON value of an object inside others."""
    for method in ("model_dump", "tolist", "isoformat"):
        if _has(value, method):
            return getattr(value, method)()
    raise NotImplementedError(f"{_described(value)} is no JSON value")


def _rows(rows: list[dict[str, Any]], kind: str) -> str:
    # JSON has no NaN; in a table it stands for a value that is missing.
    rows = [{str(key): _present(each) for key, each in row.items()} for row in rows]
    return _json(rows) if kind == JSON else "".join(f"{_json(row)}\n" for row in rows)


def _present(value: Any) -> Any:
    is_missing = isinstance(value, float) and math.isnan(value)
    return None if is_missing or type(value).__name__ in {"NaTType", "NAType"} else value


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


def _shown(value: Any, wanted: str | None) -> Made:
    """Write what an object shows in a notebook: by default a picture of it, if there is one."""
    shown = _bundle(value)
    data = [kind for kind in shown if kind.endswith("+json")]
    best = [kind for kind in (*_SHOWN.values(), *data) if kind in shown]
    kind = wanted or next(iter(best), None)
    if kind == JSON and kind not in shown:
        kind = next(iter(data), kind)
    kind = _one_of(kind, best)
    return _displayed(shown[kind], kind), kind


def _bundle(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if _has(value, _BUNDLE):
        bundle = value._repr_mimebundle_()
        bundle = bundle[0] if isinstance(bundle, tuple) else bundle
        found |= bundle if isinstance(bundle, Mapping) else {}
    for method, kind in _SHOWN.items():
        if kind not in found and _has(value, method):
            shown = getattr(value, method)()
            # A tuple is the content and facts about it.
            found[kind] = shown[0] if isinstance(shown, tuple) else shown
    return {kind: shown for kind, shown in found.items() if shown is not None}


def _displayed(shown: Any, kind: str) -> str | bytes:
    if kind == JSON or kind.endswith("+json"):
        return _json(shown)
    if isinstance(shown, str) and not is_text(kind):
        try:
            return base64.b64decode(shown, validate=True)
        except binascii.Error as error:
            raise ValueError(f"its {kind} is neither bytes nor base64") from error
    return shown  # type: ignore[no-any-return]


# Shared


def _one_of(kind: str | None, kinds: Any) -> str:
    if kind not in kinds or kind is None:
        can_be = f"it can be {', '.join(kinds)}" if kinds else "it shows nothing"
        raise ValueError(can_be)
    return kind


def _saved(save: Callable[[Any], Any]) -> bytes:
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


def _text_or_bytes(data: bytes, kind: str) -> str | bytes:
    return data.decode() if is_text(kind) else data


_KNOWN: Final[dict[type | str, Maker]] = {
    "PIL.Image": _image,
    "matplotlib.Figure": _figure,
    "matplotlib.Artist": _figure,
    "plotly.BaseFigure": _plotly,
    "altair.TopLevelMixin": _altair,
    "pandas.DataFrame": _pandas,
    "pandas.Series": _pandas,
    "polars.DataFrame": _polars,
    "polars.Series": _polars,
    "numpy.ndarray": _array,
}

_HINTS: Final = {
    "polars.LazyFrame": "frame.collect() makes the table",
    "torch.Tensor": "tensor.numpy(force=True) makes an array of it",
    "pyarrow.Table": "table.to_pandas() makes a frame of it",
    "requests.Response": "response.content holds the bytes",
    "httpx.Response": "response.content holds the bytes",
    "PIL.ImageDraw": "the image that it draws on is the content",
}


def _hint(value: object) -> str:
    """Return what to write for an object that can't become content."""
    if isinstance(value, type):
        return f"{value.__name__} is a class; make an object of it"
    if found := _row(_HINTS, value):
        return found
    if isinstance(value, bool | int | float | tuple):
        return "body.add(json=…) takes JSON values"
    if isinstance(value, set | frozenset):
        return "body.add(json=sorted(…)) takes JSON values, and a set has no order"
    if _has(value, "__iter__"):
        return "body.add takes one object; MessageBody([…]) takes several"
    return "register_content(…) says how objects of this class become content"
