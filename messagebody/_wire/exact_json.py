"""JSON whose numbers keep all their digits: they are decimals of any size, as the standard has it.

Only schemas of contents and the contents that they are asked about need it. Everything else reads
numbers as the interpreter does.
"""

import decimal
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

import msgspec

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._wire.strict_json import (
    InvalidJson,
    _bounded_text,
    _Flawed,
    _may_hold_surrogates,
    _no_constant,
    _only_once,
    _read_slowly,
    check_value,
)
from messagebody._wire.walk import TooDeep, containers, leaf_problem, rebuild, text_problem

_WIDE: Final = decimal.Context(
    prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[]
)
"""A context that rounds nothing."""
_SMALL: Final = 18
"""Digits of an integer that is kept as one; longer numbers are decimals."""

_plain = msgspec.json.Encoder(decimal_format="number").encode
_sorted = msgspec.json.Encoder(decimal_format="number", order="sorted").encode


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= _SMALL else Decimal(text)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except decimal.InvalidOperation:
        raise _Flawed from None


_EXACT = json.JSONDecoder(
    object_pairs_hook=_only_once,
    parse_constant=_no_constant,
    parse_float=_decimal,
    parse_int=_integer,
)


def loads(
    data: bytes | bytearray | memoryview | str, *, depth: int, values: int = DEFAULT_LIMITS.values
) -> Any:
    """Parse a JSON document strictly; numbers are integers and decimals.

    Arguments:
        data: UTF-8 bytes, or text.
        depth: levels of nesting to take.
        values: values to take, nested ones included.

    Raises:
        InvalidJson: the document breaks RFC 8259, or repeats a member.
    """
    text = _bounded_text(data, depth, values)
    try:
        value = _EXACT.decode(text)
    except (_Flawed, ValueError, RecursionError):
        _raise_flaw(text, depth)
        raise InvalidJson("a number has an exponent that is too long") from None
    if _may_hold_surrogates(text):
        _raise_flaw(text, depth)
    return value


_LONG: Final = b"0" * 17
"""As many characters of a number as let a float say another one."""
_NUMBERS: Final = bytes.maketrans(b"123456789.E", b"0000000000e")

_fast = msgspec.json.Decoder().decode
_fast_decimals = msgspec.json.Decoder(float_hook=_decimal).decode


def contents(data: bytes | bytearray | memoryview | str, *, depth: int) -> Any:
    """Parse the content of a part as `loads` does, faster; a short fraction is a float.

    Raises:
        InvalidJson: the content breaks RFC 8259, or repeats a member.
    """
    text = _bounded_text(data, depth)
    try:
        encoded = text.encode()
        value = (_fast_decimals if _may_be_inexact(encoded) else _fast)(encoded)
    except (msgspec.MsgspecError, ValueError, RecursionError, _Flawed):
        return loads(text, depth=depth)
    return value if _has_members_once(encoded, value) else loads(text, depth=depth)


def _may_be_inexact(text: bytes) -> bool:
    """Return whether a number may be one that no float says exactly: a long one, or a power."""
    shapes = text.translate(_NUMBERS)
    # A search from the right begins with the digits, which are rarer than the letter e.
    return shapes.rfind(b"0e") >= 0 or shapes.rfind(_LONG) >= 0


def _has_members_once(text: bytes, value: Any) -> bool:
    """Return whether the fast parser surely saw each member: it keeps the last of two.

    Each member has a colon, and strings may have more, which are written again as they are: so an
    equal number shows that none was dropped. To write the value again is faster than a look at each
    member.
    """
    if b"\\" not in text or not any(each in text for each in _COLONS_ESCAPED):
        try:
            written = _encode(value)
            return written == text or written.count(b":") == text.count(b":")
        except OverflowError:  # an integer that is too long to be written
            pass
    return text.count(b":") == _count_members(value)


_encode = msgspec.json.Encoder().encode
_COLONS_ESCAPED: Final = (b"\\u003a", b"\\u003A")
"""Colons that are written again in another way."""


def _count_members(value: Any) -> int:
    count, pending = 0, [value]
    for item in pending:  # it grows on the way
        if type(item) is dict:
            count += len(item)
            children: Iterable[Any] = item.values()
        elif type(item) is list:
            children = item
        else:
            continue
        if not _FLAT.issuperset(map(type, children)):
            pending += children
    return count


_FLAT: Final = frozenset({str, int, float, Decimal, bool, type(None)})


def _raise_flaw(text: str, depth: int) -> None:
    """Raise the flaw of a document with its place, but for those of numbers."""
    check_value(_read_slowly(text, number=_zero), depth=depth)


def _zero(_: str) -> int:
    return 0


def normal(value: Any, *, depth: int) -> Any:
    """Return a copy of a JSON value in which equal numbers are the same: 1.0 and 1e0 are 1.

    Arguments:
        value: a JSON value, which may hold decimals.
        depth: levels of nesting to take.

    Raises:
        InvalidJson: it is not JSON, or nested deeper.
    """
    try:
        for container in containers(value, depth=depth):
            if isinstance(container, dict):
                _check_keys(container)
    except TooDeep as error:
        raise InvalidJson(str(error)) from error
    return rebuild(value, shell=_shell, leaf=_leaf)


def _check_keys(members: dict[Any, Any]) -> None:
    for key in members:
        if not isinstance(key, str):
            raise InvalidJson(f"an object's member names are strings, got {key!r:.100}")
        if problem := text_problem(key):
            raise InvalidJson(f"a member name: {problem}")


def _shell(item: Any) -> tuple[Any, Iterable[tuple[Any, Any]]]:
    if isinstance(item, dict):
        return dict.fromkeys(item), item.items()
    return [None] * len(item), enumerate(item)


def _leaf(item: Any) -> Any:
    if not isinstance(item, Decimal):
        if (problem := leaf_problem(item)) is not None:
            raise InvalidJson(problem)
        if isinstance(item, bool) or not isinstance(item, int | float):
            return item
    elif not item.is_finite():
        raise InvalidJson(f"{item} is not a JSON number")
    return _number(Decimal(repr(item)) if isinstance(item, float) else Decimal(item))


def _number(number: Decimal) -> int | Decimal:
    exponent = _WIDE.normalize(number).as_tuple().exponent
    shortest = _WIDE.normalize(number)
    is_small = isinstance(exponent, int) and exponent >= 0 and shortest.adjusted() < _SMALL
    return int(shortest) if is_small else shortest


def dumps(value: Any, *, is_sorted: bool = False) -> str:
    """Return compact JSON for a value of this module.

    Arguments:
        value: the value.
        is_sorted: whether the members of objects are in alphabetical order.
    """
    return (_sorted if is_sorted else _plain)(value).decode()


def beginning(value: Any, limit: int) -> str:
    """Return compact JSON for a value, cut after some characters; what is cut is not made.

    Examples:
        >>> beginning({"a": [1, 2, 3]}, 8)
        '{"a":[1,…'
    """
    text = ""
    for piece in _pieces(value, limit):
        text += piece
        if len(text) > limit:
            return f"{text[:limit]}…"
    return text


def _pieces(value: Any, limit: int) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for place, (name, each) in enumerate(value.items()):
            yield f"{',' if place else ''}{dumps(name[: limit + 1])}:"
            yield from _pieces(each, limit)
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        for place, each in enumerate(value):
            yield "," if place else ""
            yield from _pieces(each, limit)
        yield "]"
    else:
        yield dumps(value[: limit + 1] if isinstance(value, str) else value)


def indented(text: str, indent: int) -> str:
    """Return a JSON text with spaces and lines."""
    return msgspec.json.format(text, indent=indent)


def described(model: Any) -> Any:
    """Return the JSON Schema of a type that msgspec describes, such as a dataclass.

    Raises:
        TypeError: it describes no such type.
    """
    return msgspec.json.schema(model)


def floating(value: Any) -> Any:
    """Return a copy in which decimals are floats, but for those that a float can't say."""
    return rebuild(value, shell=_shell, leaf=_float)


def _float(item: Any) -> Any:
    if not isinstance(item, Decimal):
        return item
    if item == item.to_integral_value() and item.adjusted() < 4_000:
        return int(item)
    number = float(item)
    return number if Decimal(repr(number)) == item else item
