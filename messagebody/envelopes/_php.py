"""PHP's view of JSON values, which the reference implementation of agents-api relies on.

A PHP array is list and map at once: `{}` is `[]`, and a map with the keys 0 to n in order is a
list. Strings are bytes, integers have 64 bits, and every scalar has a truth value and a text.
Nothing here recurses, so no depth of nesting can exhaust the stack.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from messagebody._core import (
    NESTED,
    TooDeep,
    containers,
    escape,
    leaf_problem,
    rebuild,
    text_problem,
)
from messagebody.errors import EnvelopeError

JSON_DEPTH = 512
"""The levels of nesting that PHP encodes, including the outermost array."""

_TRIMMED = " \t\n\r\0\x0b"
_INTEGER_KEY = re.compile(r"0|-?[1-9][0-9]{0,18}")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_INT_MAX = 2**63 - 1
_DELETE_ESCAPE = re.compile(r"(\\\\)|\\u007f")


class PhpObject(dict[str, Any]):
    """A PHP object: it stays `{}` when it is empty, and is not an array."""


# Kinds of values


def is_array(value: Any) -> bool:
    """Return whether a value is an array in PHP: a list or a map, but not an object.

    Examples:
        >>> is_array([]), is_array({}), is_array("x")
        (True, True, False)
    """
    return isinstance(value, dict | list | tuple) and not isinstance(value, PhpObject)


def is_empty(value: Any) -> bool:
    """Return whether a value is false in PHP.

    Examples:
        >>> [is_empty(value) for value in ("", "0", 0, [], {}, None, "0.0", "false")]
        [True, True, True, True, True, True, False, False]
    """
    # Objects are true in PHP, even empty ones.
    return not isinstance(value, PhpObject) and (not value or value in ("0", b"0"))


def type_name(value: Any) -> str:
    """Return the name of a value's type in PHP's type errors."""
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {None.__class__: "null", str: "string", bytes: "string", int: "int", float: "float"}
    return "stdClass" if isinstance(value, PhpObject) else names.get(type(value), "array")


# Text


def text_of(value: Any) -> str:
    """Return the text of a scalar, and "" for anything else.

    Examples:
        >>> text_of(5), text_of(True), text_of(1.0), text_of(False), text_of(["x"])
        ('5', '1', '1', '', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "1" if value else ""
    if isinstance(value, int):
        # A larger integer is a float in PHP.
        return str(value) if abs(value) <= _INT_MAX else float_text(_as_float(value), 14, "E")
    if isinstance(value, float):
        return float_text(value, 14, "E")
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else ""


def optional_text(value: Any) -> str | None:
    """Return the trimmed text of a scalar; None if it is blank, or the value is not a scalar."""
    return trim(text_of(value)) or None


def trim(text: str) -> str:
    """Strip the characters that PHP strips: space, tab, line feed, return, NUL and vertical tab.

    Examples:
        >>> trim(chr(0) + " a" + chr(160) + chr(10)) == "a" + chr(160)
        True
    """
    return text.strip(_TRIMMED)


def lower(text: str) -> str:
    """Return text in PHP's lower case: only the letters A to Z change.

    Examples:
        >>> lower("ÀB") == "Àb"
        True
    """
    # Not `str.lower`: PHP 8 only changes A to Z.
    return text if text.islower() else text.translate(_LOWER)


def float_text(number: float, precision: int, exponent: str) -> str:
    """Return a number as PHP prints it.

    Arguments:
        number: the number.
        precision: significant digits; 17 prints the shortest text that reads back the same.
        exponent: the letter before the exponent.

    Examples:
        >>> float_text(1e25, 17, "e"), float_text(0.1 + 0.2, 14, "E"), float_text(-0.0, 17, "e")
        ('1.0e+25', '0.3', '-0')
    """
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else ("-INF" if number < 0 else "INF")
    # 17 is PHP's `serialize_precision=-1`: the shortest text that reads back the same.
    text = repr(number) if precision == 17 else f"{number:.{precision}g}"
    if precision == 17 and 1e16 <= abs(number) < 1e17:  # Python writes an exponent a digit earlier
        text = f"{Decimal(text):f}"
    mantissa, _, power = text.partition("e")
    if not power:
        return mantissa.removesuffix(".0")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{exponent}{int(power):+d}"


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# Arrays


def as_map(array: Any) -> dict[str, Any]:
    """Return an array as a map; the keys of a list are its positions.

    Examples:
        >>> as_map(["a", "b"])
        {'0': 'a', '1': 'b'}
    """
    if isinstance(array, dict):
        return array
    return {str(index): item for index, item in enumerate(array)}


def key_text(key: Any) -> str:
    """Return a key in the form for errors."""
    return escape(text_of(key), limit=200)


def with_text_keys(array: Any) -> dict[str, Any]:
    """Return the members whose keys PHP keeps as text; "12" becomes an integer.

    Examples:
        >>> with_text_keys({"0": "a", "01": "b", "reply": "c"})
        {'01': 'b', 'reply': 'c'}
    """
    if not isinstance(array, dict):
        return {}
    return {key: item for key, item in array.items() if not _is_integer_key(key)}


def _is_integer_key(key: Any) -> bool:
    if not isinstance(key, str):
        return True
    if _INTEGER_KEY.fullmatch(key) is None:
        return False
    return -_INT_MAX - 1 <= int(key) <= _INT_MAX


def to_array(value: Any) -> Any:
    """Return a copy of a JSON value as PHP decodes and encodes it.

    Empty maps and maps with the keys 0 to n become lists, and integers past 64 bits floats.

    Examples:
        >>> to_array({"a": {}, "b": {"0": "x", "1": "y"}, "c": 2**63})
        {'a': [], 'b': ['x', 'y'], 'c': 9.223372036854776e+18}
    """
    return rebuild(value, shell=_shell, leaf=_leaf)


def _leaf(item: Any) -> Any:
    if type(item) is int and abs(item) > _INT_MAX and item != -_INT_MAX - 1:
        return _as_float(item)
    return item


def _shell(item: Any) -> tuple[Any, Iterable[tuple[Any, Any]]]:
    """Return an array of the right kind for the children, and the children."""
    if isinstance(item, PhpObject):
        return PhpObject.fromkeys(item), item.items()
    if isinstance(item, dict):
        keyed = {text_of(key): child for key, child in item.items()}
        # Keys 0 to n in order: PHP has a list here.
        if not all(key == str(index) for index, key in enumerate(keyed)):
            return dict.fromkeys(keyed), keyed.items()
        item = list(keyed.values())
    return [None] * len(item), enumerate(item)


# JSON


def find_unencodable(value: Any, *, binary: bool = False) -> str | None:
    """Return the reason why a value can't be written as JSON, or None if it can.

    Arguments:
        value: the value.
        binary: whether to accept text that is not valid Unicode; the reference repairs it.
    """
    try:
        problems = (_flaw_in(each, binary=binary) for each in containers(value, depth=JSON_DEPTH))
        return next((problem for problem in problems if problem is not None), None)
    except TooDeep as error:
        return f"it is {error}"


_UNPROBLEMATIC: Final = frozenset({dict, list, bool, type(None)})


def _flaw_in(container: Any, *, binary: bool) -> str | None:
    """Check the direct children of one array or map."""
    items = container
    if isinstance(container, dict):
        for key in container:
            if type(key) is not str:
                return f"a member name is text, got a {type(key).__name__}"
            if not (binary or key.isascii()) and text_problem(key):
                return "a member name holds a lone surrogate"
        items = container.values()
    for item in items:
        # Nearly every value is one of these, and the full check takes ten times longer.
        if type(item) in _UNPROBLEMATIC or (type(item) is str and item.isascii()):
            continue
        if isinstance(item, NESTED) or (binary and isinstance(item, str | bytes)):
            continue
        problem = leaf_problem(item)
        if problem is not None:
            return problem
    return None


def encode(value: Any) -> str:
    r"""Return the JSON that PHP writes: ASCII, slashes escaped, 1.0 as 1.

    Raises:
        EnvelopeError: the value cannot be encoded.

    Examples:
        >>> print(encode({"url": "https://e.com", "n": 1.0, "none": {}}))
        {"url":"https:\/\/e.com","n":1,"none":[]}
    """
    value = to_array(value)
    problem = find_unencodable(value if isinstance(value, dict | list) else [value])
    if problem is not None:
        raise EnvelopeError(f"PHP can't write this as JSON: {problem}")
    return "".join(_tokens(value))


def _tokens(value: Any) -> Iterator[str]:
    """Yield the pieces of the JSON text; open arrays and maps wait on a stack."""
    if not isinstance(value, dict | list):
        yield _scalar(value)
        return
    open_arrays = [_array_pieces(value)]
    yield open_arrays[-1][0]
    while open_arrays:
        _, closer, items = open_arrays[-1]
        for prefix, item in items:
            yield prefix
            if isinstance(item, dict | list):
                open_arrays.append(_array_pieces(item))
                yield open_arrays[-1][0]
                break
            yield _scalar(item)
        else:
            yield closer
            open_arrays.pop()


def _array_pieces(array: Any) -> tuple[str, str, Iterator[tuple[str, Any]]]:
    if isinstance(array, list):
        return "[", "]", (("," if index else "", item) for index, item in enumerate(array))
    members = enumerate(array.items())
    return "{", "}", (
        (("," if index else "") + _scalar(key) + ":", item) for index, (key, item) in members
    )  # fmt: skip


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        return float_text(value, 17, "e")
    text = json.dumps(value)
    if isinstance(value, str):
        text = text.replace("/", "\\/")
        if "\x7f" in value:
            # Python escapes DEL and PHP does not.
            text = _DELETE_ESCAPE.sub(lambda match: match[1] or "\x7f", text)
    return text
