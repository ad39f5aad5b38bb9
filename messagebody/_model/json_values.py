"""JSON as content: of plain values, of objects with fields, and of what is inside them."""

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from messagebody._base import sniffing
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import JSON, KNOWN, LINES, OCTET_STREAM, essence
from messagebody._base.text import quote
from messagebody._model.forms import Made, described, has, package_of, row
from messagebody._wire import strict_json
from messagebody._wire.walk import TooDeep, containers, rebuild
from messagebody.errors import InvalidPart

# What the classes have that dataclasses, attrs and msgspec make.
_FIELDS: Final = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__")
_SIMPLE: Final = (dt.date, dt.time, dt.timedelta, Decimal, UUID, Enum)
"""What has one usual form in JSON, the one that pydantic and msgspec write."""


def json_text(value: Any) -> str:
    """Return a JSON value as text; models and dates inside it are written as in a dataclass.

    Raises:
        InvalidPart: it is no JSON value; the text has the place.
    """
    return strict_json.dumps(_checked(value))


def json_content(value: Any, name: Any, content_type: Any) -> tuple[str, str]:
    """Return a JSON value as text, and its content type; see `MessageBody.add`.

    Arguments:
        value: the value.
        name: the name of the part; one of JSON Lines makes a line of each item of a list.
        content_type: the content type; it counts more than the name.

    Raises:
        InvalidPart: it is no JSON value; the text has the place.
    """
    found = sniffing.from_name(name) if isinstance(name, str) else None
    named = found if found in LINES or (found and essence(found).endswith("+json")) else JSON
    kind = content_type if isinstance(content_type, str) else named
    if essence(kind) in LINES and isinstance(value, list):
        return _lines(_checked(value)), kind
    return json_text(value), kind


def plain(value: Any, wanted: str | None) -> Made:
    """Write a dict or a list as JSON, or as a line for each item."""
    return _written(_checked(value), wanted)


def mapping(value: Any, wanted: str | None) -> Made:
    """Write a mapping that is no dict as one."""
    return plain({**value}, wanted)


def is_model(value: object) -> bool:
    """Return whether an object is one of pydantic's models or dataclasses, or behaves like one."""
    return has(value, "model_dump_json") or has(value, "__pydantic_serializer__")


def has_fields(value: object) -> bool:
    """Return whether an object is a dataclass, an attrs object or a msgspec struct."""
    return any(has(value, mark) for mark in _FIELDS)


def model(value: Any, wanted: str | None) -> Made:
    """Write a pydantic model as JSON, by the names that its JSON schema has.

    Raises:
        ValueError: it holds a number that JSON has not, and pydantic would write null.
    """
    text = _model_text(value)
    if _MAY_LACK.search(text):
        _check_numbers(value, text)
    return _written(None, wanted, text)


def fields(value: Any, wanted: str | None) -> Made:
    """Write a dataclass, an attrs object or a msgspec struct as JSON."""
    return _written(None, wanted, fields_text(value))


def fields_text(value: Any) -> str:
    """Return the JSON of an object with fields, or of a value that holds such."""
    return json_text(strict_json.builtins_of(value, _inner))


def rows_text(value: Any) -> str:
    """Return the JSON of rows of a table; see `fields_text`. Bytes in them are refused."""
    return json_text(strict_json.builtins_of(value, _inner, kept=(bytes, bytearray, memoryview)))


# The type that the part should have


def _written(value: Any, wanted: str | None, text: str | None = None) -> Made:
    """Return JSON as text of the type that is wanted, if that is one of JSON."""
    if wanted in LINES:
        return (_lines(value) if text is None else f"{text}\n"), str(wanted)
    if wanted not in _JSON_OR_NONE and _is_another(str(wanted)):
        can_be = ", ".join((JSON, *LINES))
        raise ValueError(f"it can be {can_be} or a type that ends in +json")
    return strict_json.dumps(value) if text is None else text, JSON


_JSON_OR_NONE: Final = (None, JSON, OCTET_STREAM)


def _lines(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    return "".join(f"{strict_json.dumps(item)}\n" for item in items)


def _is_another(kind: str) -> bool:
    """Return whether a type is known as one of something else than JSON."""
    is_known = kind in KNOWN or kind.startswith(("text/", "image/", "audio/", "video/", "font/"))
    return is_known and "json" not in kind.partition("/")[2]


# What is inside of a value


def _checked(value: Any) -> Any:
    """Return a JSON value, in which objects of one usual form are replaced by it.

    Raises:
        InvalidPart: it is no JSON value; the text has the place.
    """
    if _flaw(value) is None:
        return value
    value = _replaced(value)
    if (flaw := _flaw(value)) is not None:
        where = f" at {_place(flaw)}" if flaw.path else ""
        advice = _advice(_at(value, flaw.path))
        raise InvalidPart(f"JSON value{where}: {flaw}{advice}") from flaw
    return value


def _flaw(value: Any) -> strict_json.InvalidJson | None:
    try:
        strict_json.check_value(value, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as flaw:
        return flaw
    return None


def _place(flaw: strict_json.InvalidJson) -> str:
    return quote("".join(f"/{step}" for step in flaw.path))


def _replaced(value: Any) -> Any:
    try:
        for _ in containers(value, depth=DEFAULT_LIMITS.depth):
            pass  # one that holds itself has no end
        return rebuild(value, shell=_shell, leaf=_inside)
    except TooDeep:
        return value
    except ValueError as error:
        raise InvalidPart(f"JSON value: {error}") from error


def _shell(item: Any) -> tuple[Any, Any]:
    if isinstance(item, dict):
        return dict.fromkeys(item), item.items()
    return [None] * len(item), enumerate(item)


def _inside(value: Any) -> Any:
    """Return the JSON value of an object inside others; the object itself if it has none."""
    try:
        if isinstance(value, _SIMPLE) or (has_fields(value) and not is_model(value)):
            return strict_json.builtins_of(value, _inner)
        return _inner(value)
    except (NotImplementedError, RecursionError):
        return value


def _inner(value: Any) -> Any:
    """Return the JSON value of an object inside others.

    Raises:
        NotImplementedError: it has none.
    """
    if is_model(value):
        return _model_value(value)
    if isinstance(value, Mapping):
        return _replaced({**value})
    if has(value, "tolist") and package_of(type(value)) != "pandas":  # a series has an index, too
        return listed(value)
    if has(value, "isoformat") and type(value).__name__ != "NaTType":
        return value.isoformat()
    raise NotImplementedError(f"{described(value)} is no JSON value{_advice(value)}")


def listed(value: Any) -> Any:
    """Return the values of an array or a number of numpy.

    Raises:
        ValueError: they have no form in JSON, and would become other numbers.
    """
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "names", None):
        raise ValueError("its fields have names; pandas.DataFrame(array) makes a table of it")
    if getattr(dtype, "kind", None) == "m":
        raise ValueError("durations are no JSON; array.astype(…) makes numbers or texts of them")
    if getattr(dtype, "kind", None) != "M":
        return value.tolist()
    # As objects, dates of nanoseconds are integers.
    if (value != value).any():  # noqa: PLR0124 - so is NaT
        raise ValueError("NaT is no JSON value; None stands for what is missing")
    return value.astype(str).tolist()


_ADVICE: Final[dict[type | str, str]] = {
    float: "None stands for what is missing",
    bytes: "base64.b64encode(…).decode() makes text of it",
    set: "sorted(…) makes a list of it",
    frozenset: "sorted(…) makes a list of it",
    "pandas.DataFrame": "frame.to_dict('records') makes a list of it",
    "pandas.Series": "series.to_list() makes a list of it",
    "polars.DataFrame": "frame.to_dicts() makes a list of it",
    "polars.Series": "series.to_list() makes a list of it",
    "messagebody.MessageBody": "body.to_dicts() is its JSON",
    "messagebody.Part": "body.append(part) adds it",
    "pandas.NaTType": "None stands for what is missing",
    "pandas.NAType": "None stands for what is missing",
}


def _at(value: Any, path: strict_json.Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _advice(value: Any) -> str:
    """Return what to write for a value inside others that is none of JSON."""
    if isinstance(value, str | int | dict | list | tuple) or value is None:
        return ""
    if found := row(_ADVICE, value):
        return f"; {found}"
    shows = any(has(value, mark) for mark in ("__array__", "_repr_html_", "_repr_png_", "savefig"))
    if shows or package_of(type(value)) == "matplotlib":
        return "; body.add(…) adds it as a part of its own, body.extend([…]) several"
    if has(value, "__iter__"):
        return "; list(…) makes a list of it"
    return "; str(…), or json.dumps(…, default=str) for the whole, makes text of it"


# Models of pydantic

# What pydantic writes for NaN and infinities; `ser_json_inf_nan` of a model says which.
_MAY_LACK: Final = re.compile("null|NaN|Infinity")


def _is_by_alias(value: Any) -> bool:
    config = getattr(value, "model_config", None) or getattr(value, "__pydantic_config__", None)
    found = config.get("serialize_by_alias") if isinstance(config, Mapping) else None
    return found is not False


def _model_text(value: Any) -> str:
    """Return a model as its own method writes it, and a dataclass as pydantic does."""
    if has(value, "model_dump_json"):
        text: str = value.model_dump_json(by_alias=_is_by_alias(value))
        return text
    data: bytes = type(value).__pydantic_serializer__.to_json(value, by_alias=_is_by_alias(value))
    return data.decode()


def _model_value(value: Any) -> Any:
    options = {"mode": "json", "by_alias": _is_by_alias(value)}
    if has(value, "model_dump"):
        return value.model_dump(**options)
    return type(value).__pydantic_serializer__.to_python(value, **options)


def _check_numbers(value: Any, text: str) -> None:
    """Raise if a number is null in the text, or the text is no JSON."""
    read = strict_json.loads(text, depth=DEFAULT_LIMITS.depth)
    flaw = _flaw(_model_value(value))
    if flaw is not None and _at(read, flaw.path) is None:
        advice = "the model's ser_json_inf_nan='strings' writes text, None is null"
        raise ValueError(f"{_place(flaw)}: {flaw}; {advice}")
