"""Strict JSON: no duplicate members, NaN, lone surrogates or endless nesting.

The standard parser accepts all of these silently. Flaws are found while parsing, and their places
afterwards, so that a good document costs almost nothing more.
"""

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, TypeVar

import attrs
import msgspec

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.text import plain_text, quote
from messagebody._wire.walk import (
    NESTED,
    SURROGATE,
    TOO_LONG,
    leaf_problem,
    rebuild,
)

Path = tuple[int | str, ...]

_T = TypeVar("_T")

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Exact types, because a subclass of `str` or `int` may behave differently.
_LEAVES = frozenset({str, int, float, bool, type(None)})
# Possessive, so that the engine keeps no state for each character of a long string.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_BRACKET_OR_STRING = re.compile(rf"[\[\]{{}}]|{_STRING}", re.DOTALL)
# Everything up to the next comma or opening bracket outside of strings, once and many times.
_VALUE = rf'(?:[^"\[{{,]++|{_STRING})*+[\[{{,]'
_encode = msgspec.json.Encoder().encode
_STRIDE = 1_000
"""Values that one match of a regular expression passes over."""
_BLOCK = 1 << 16


class InvalidJson(ValueError):
    """Report a flaw in a JSON document; `path` leads to the place."""

    def __init__(self, problem: str, path: Path = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path


class _Repeated(dict[str, Any]):
    """An object in which two members had the same name."""

    key: str


@attrs.frozen
class _LongNumber:
    """An integer with more digits than the interpreter converts."""

    digits: int


class _Flawed(Exception):
    """A document that the fast reader does not handle."""


class _ParserHooks:
    """Hooks for the standard parser, which record flaws instead of losing them."""

    def __init__(self, number: Callable[[str], Any] | None) -> None:
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=float,
            parse_float=number or float,
            # Called for each number, so only the slow reader uses it.
            parse_int=number or self._int,
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        repeated = _Repeated(members)
        seen: set[str] = set()
        repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return repeated

    def _int(self, text: str) -> "int | _LongNumber":
        try:
            return int(text)
        except ValueError:  # longer than the interpreter converts
            return _LongNumber(len(text.lstrip("-")))


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Flawed
    return members


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _Flawed
    return number


def _no_constant(_: str) -> float:
    raise _Flawed


_FAST = json.JSONDecoder(
    object_pairs_hook=_only_once, parse_constant=_no_constant, parse_float=_finite
)


def loads(
    data: bytes | bytearray | memoryview | str, *, depth: int, values: int = DEFAULT_LIMITS.values
) -> Any:
    """Parse a JSON document strictly.

    Arguments:
        data: UTF-8 bytes, or text.
        depth: levels of nesting to take.
        values: values to take, nested ones included.

    Raises:
        InvalidJson: the document breaks RFC 8259, or a rule of this module.
    """
    text = _bounded_text(data, depth, values)
    try:
        value = _FAST.decode(text)
    except (_Flawed, ValueError, RecursionError):
        value = _read_slowly(text)
    else:
        # Valid UTF-8 can only contain a lone surrogate as an escape.
        if not _may_hold_surrogates(text):
            return value
    check_value(value, depth=depth)
    return value


def _bounded_text(
    data: bytes | bytearray | memoryview | str, depth: int, values: int = DEFAULT_LIMITS.values
) -> str:
    """Return a document as text, unless it holds too many values or levels for a parser."""
    text = data if isinstance(data, str) else _decode(bytes(data))
    if has_more_values(text, values):
        raise InvalidJson(f"more than {values:,} values (limit values)")
    # The parser recurses in C, where a document that is nested too deep can end the process.
    _check_depth(text, depth)
    return text


def typed(data: bytes, kind: type[_T]) -> _T:
    """Return a JSON document that this package wrote as a value of an attrs class.

    Raises:
        InvalidJson: it is damaged, or another program wrote it.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise InvalidJson(f"not what was written: {error}") from error


SomeTexts = Annotated[list[str], msgspec.Meta(min_length=1)]
"""One text or more, as a type for `check_typed`."""


def check_typed(value: Any, kind: Any) -> None:
    """Check that a JSON value is one of a type, such as a `TypedDict`.

    Raises:
        InvalidJson: it is not.
    """
    try:
        msgspec.convert(value, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidJson(f"not what was written: {error}") from error


def _may_hold_surrogates(text: str) -> bool:
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        return True
    return not text.isascii() and SURROGATE.search(text) is not None


def _read_slowly(text: str, number: Callable[[str], Any] | None = None) -> Any:
    """Parse a document that has a flaw, to find its place; `number` reads all numbers."""
    try:
        return _ParserHooks(number).decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(error) from error
    except RecursionError as error:
        raise InvalidJson("nested deeper than the parser can follow; lower limit depth") from error


def dumps(value: Any) -> str:
    """Return compact JSON for a value that `check_value` passed."""
    try:
        return _encode(value).decode()
    except TypeError:  # it does not accept subclasses of plain types
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def plain(value: Any) -> Any:
    """Return a copy of a value that `check_value` accepted, in the types that a parser returns.

    Tuples and subclasses of `str`, `int` and `float` become plain JSON values.
    """
    return rebuild(value, shell=_plain_shell, leaf=_plain_leaf)


def checked_copy(value: Any, *, depth: int) -> Any:
    """Return a copy of a value in the types that a parser returns; see `check_value`.

    Raises:
        InvalidJson: it is not JSON.
    """
    if _is_flawless(value, depth):
        return msgspec.to_builtins(value)  # copies plain types without a Python call
    _find_flaw(value, depth)
    return plain(value)


def _plain_shell(item: Any) -> tuple[Any, Iterable[tuple[Any, Any]]]:
    if isinstance(item, dict):
        members = {plain_text(key): child for key, child in item.items()}
        return dict.fromkeys(members), members.items()
    return [None] * len(item), enumerate(item)


def _plain_leaf(value: Any) -> Any:
    if type(value) in _LEAVES:
        return value
    if isinstance(value, str):
        return plain_text(value)
    return float(value) if isinstance(value, float) else int(value)


def same(mine: Any, other: Any) -> bool:
    """Compare JSON values: 1, 1.0 and True are equal in Python, but different in JSON."""
    if mine is other:
        return True
    # Values that differ in Python also differ in JSON, which decides most comparisons cheaply.
    if mine != other:
        return False
    first, second = dumps(mine), dumps(other)
    # Members may come in another order: JSON objects are unordered.
    return first == second or _sorted_text(mine) == _sorted_text(other)


def _sorted_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start:,} is not UTF-8 (0x{data[error.start]:02x})"
        raise InvalidJson(problem) from error


def _syntax_error(error: json.JSONDecodeError) -> InvalidJson:
    # The parser counts characters, but most tools show the place of an error in bytes.
    offset = len(error.doc[: error.pos].encode("utf-8", "surrogatepass"))
    got = quote(error.doc[error.pos : error.pos + 1]) if error.pos < len(error.doc) else "the end"
    # For the parser it is just an unexpected character; the error should name it for the sender.
    if error.doc.startswith("\ufeff"):
        return InvalidJson("the document begins with a byte order mark")
    wanted = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return InvalidJson(f"not JSON: {wanted} at byte {offset:,}, got {got}")


@functools.cache
def _steps(kind: type) -> list[tuple[int, re.Pattern[Any]]]:
    """Return patterns that skip many values, and one value, with their numbers.

    Made on first use: most programs never see so many values, and would start more slowly.
    """
    patterns = ((_STRIDE, f"(?:{_VALUE}){{{_STRIDE}}}+"), (1, _VALUE))
    return [
        (count, re.compile(pattern if kind is str else pattern.encode(), re.DOTALL))
        for count, pattern in patterns
    ]


def has_more_values(document: str | bytes, most: int) -> bool:
    """Return whether a document holds more values than `most`, without making any.

    Each beginning of an array or object counts as a value, and each comma between two values.
    """
    if len(document) <= most or _count_signs(document) <= most:
        return False
    # They may be in strings, so they are checked in order, until there are too many.
    found, position = 0, 0
    for count, pattern in _steps(str if isinstance(document, str) else bytes):
        while found <= most and (match := pattern.match(document, position)):
            found, position = found + count, match.end()
    return found > most


def _count_signs(document: str | bytes) -> int:
    """Return the number of commas and opening brackets, including those in strings."""
    if isinstance(document, str):
        return sum(map(document.count, ",[{"))
    # One pass for all signs, block by block, because a copy of the document would take memory.
    blocks = (document[start : start + _BLOCK] for start in range(0, len(document), _BLOCK))
    return sum(len(block) - len(block.translate(None, b",[{")) for block in blocks)


def _check_depth(text: str, depth: int) -> None:
    """Refuse endless nesting before a recursive parser sees it."""
    # Most documents have fewer brackets than allowed levels, even with those in strings.
    objects = text.count("{")
    if (objects <= depth and objects + text.count("[") <= depth) or _is_shallow(text, depth):
        return
    # Brackets inside strings do not count, so strings are skipped.
    level = 0
    for match in _BRACKET_OR_STRING.finditer(text):
        token = match[0]
        if token in "[{":
            level += 1
            if level > depth:
                raise InvalidJson(f"nested more than {depth} levels deep (limit depth)")
        elif token in "]}":
            level -= 1


_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NO_SIGNS = bytes(set(range(256)) - set(b'"[]{}'))


def _is_shallow(text: str, depth: int) -> bool:
    """Return whether brackets that are surely matched nest no deeper; each pass takes a level.

    It runs over the document as a whole, which takes a twentieth of the time of a look at each
    bracket. What is not matched, the parser refuses with its place.
    """
    data = text.encode(errors="surrogatepass")
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Strings are what stands between one quote and the next. Most have no brackets.
    signs = data.translate(_ONE_KIND, _NO_SIGNS).replace(b'""', b"")
    left = b"".join(signs.split(b'"')[::2])
    for _ in range(depth):
        shorter = left.replace(b"[]", b"")
        if len(shorter) == len(left):
            break
        left = shorter
    return not left


def builtins_of(value: Any, other: Callable[[Any], Any], *, kept: Iterable[type] = ()) -> Any:
    """Return the JSON value of an object with fields: a dataclass, an attrs object or a struct.

    Dates are text as in RFC 3339, bytes are base64; whether all of it is legal is not checked.

    Arguments:
        value: the object.
        other: returns the value of an object inside it that has no such fields.
        kept: classes whose objects are left as they are.
    """
    return msgspec.to_builtins(value, enc_hook=other, builtin_types=kept)


def check_value(value: Any, *, depth: int) -> None:
    """Check that a Python value is JSON, without recursing.

    Raises:
        InvalidJson: it holds NaN or an infinity, a lone surrogate, a repeated member, a key that
            is not a string, an integer of more than 4,300 digits or a foreign type, or it nests
            deeper than `depth`.
    """
    if not _is_flawless(value, depth):
        _find_flaw(value, depth)


def _is_flawless(value: Any, depth: int) -> bool:
    """Return whether a value is JSON in exactly the types that a parser returns.

    It keeps no paths, so that a good value costs little. All parsed JSON comes through here, so it
    has its own walk, deepest first like `containers`: sorting the children while they are checked
    takes half the time.
    """
    is_container = depth > 0 and (type(value) is dict or type(value) is list)
    # Most values are objects, which need no list around them.
    pending: list[list[Any]] = [[], [value]] if is_container else [[[value]]]
    while pending:
        if not pending[-1]:
            pending.pop()
            continue
        below = _nested_in(pending[-1].pop())
        if below is None or (below and len(pending) > depth):
            return False
        if below:
            pending.append(below)
    return True


def _nested_in(container: Any) -> list[Any] | None:
    """Return the objects and arrays directly below one; None if a child is not JSON."""
    items, below = container, []
    if type(container) is dict:
        # One search over all names instead of one for each.
        try:
            names = "".join(container)
        except TypeError:  # one of them is not a string
            return None
        if not names.isascii() and SURROGATE.search(names):
            return None
        items = container.values()
    for item in items:
        # Types are compared by identity, in the order of frequency, because this runs for every
        # value.
        kind = type(item)
        if kind is str:
            if not item.isascii() and SURROGATE.search(item):
                return None
        elif kind is dict or kind is list:
            below.append(item)
        elif kind is int:
            if not -TOO_LONG < item < TOO_LONG:
                return None
        elif item is not None and kind is not bool and not (kind is float and math.isfinite(item)):
            return None
    return below


def _find_flaw(value: Any, depth: int) -> None:
    pending: list[Iterator[tuple[Path, Any]]] = [iter([((), value)])]
    while pending:
        for path, item in pending[-1]:
            _check_scalar(item, path)
            if isinstance(item, NESTED):
                if len(pending) > depth:
                    raise InvalidJson(f"nested more than {depth} levels deep (limit depth)", path)
                pending.append(_children(item, path))
                break
        else:
            pending.pop()


def _children(
    item: dict[str, Any] | list[Any] | tuple[Any, ...], path: Path
) -> Iterator[tuple[Path, Any]]:
    if not isinstance(item, dict):
        return (((*path, index), child) for index, child in enumerate(item))
    if isinstance(item, _Repeated):
        raise InvalidJson(f"member {quote(item.key)} is repeated in one object", path)
    for key in item:
        if not isinstance(key, str):
            raise InvalidJson(f"an object's member names are strings, got {quote(key)}", path)
        if SURROGATE.search(key):
            raise InvalidJson(f"member name {quote(key)} holds a lone surrogate", path)
    return (((*path, key), child) for key, child in item.items())


def _check_scalar(item: Any, path: Path) -> None:
    if isinstance(item, _LongNumber):
        raise InvalidJson(f"a number of {item.digits:,} digits is too long", path)
    problem = None if isinstance(item, NESTED) else leaf_problem(item)
    if problem is not None:
        raise InvalidJson(problem, path)
