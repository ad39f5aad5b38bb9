"""JSON read strictly: no duplicate members, NaN, lone surrogates or bottomless nesting.

The standard parser takes all of these silently. Flaws are found while parsing and placed
afterwards, so that a good document pays next to nothing.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import attrs

from messagebody.text import plain_text, quote

__all__ = ["InvalidJson", "check_value", "dumps", "loads", "plain", "same"]

Path = tuple[int | str, ...]

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*+"?', re.DOTALL)


class InvalidJson(ValueError):
    """Say what is wrong with a JSON document; `path` leads to the place, `offset` is in bytes."""

    def __init__(self, problem: str, path: Path = (), offset: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path
        self.offset = offset


class _Repeated(dict[str, Any]):
    """An object two of whose members had one name."""

    key: str


@attrs.frozen
class _LongNumber:
    """An integer of more digits than the interpreter converts."""

    digits: int


class _Reader:
    """Hooks for the standard parser that note flaws instead of losing them."""

    def __init__(self) -> None:
        self.flawed = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._int,
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        self.flawed = True
        repeated = _Repeated(members)
        seen: set[str] = set()
        repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return repeated

    def _constant(self, text: str) -> float:
        self.flawed = True
        return float(text)

    def _float(self, text: str) -> float:
        value = float(text)
        self.flawed = self.flawed or math.isinf(value)
        return value

    def _int(self, text: str) -> "int | _LongNumber":
        try:
            return int(text)
        except ValueError:  # longer than the interpreter converts
            self.flawed = True
            return _LongNumber(len(text.lstrip("-")))


def loads(data: bytes | bytearray | memoryview | str, *, depth: int) -> Any:
    """Parse a JSON document strictly.

    Arguments:
        data: UTF-8 bytes, or text.
        depth: levels of nesting to take.

    Raises:
        InvalidJson: the document breaks RFC 8259, or a rule of this module.
    """
    text = data if isinstance(data, str) else _decode(bytes(data))
    _check_depth(text, depth)
    reader = _Reader()
    try:
        value = reader.decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(error) from error
    except RecursionError as error:
        raise InvalidJson("nested deeper than the parser can follow; lower limit depth") from error
    if reader.flawed or _SURROGATE_ESCAPE.search(text) or _SURROGATE.search(text):
        check_value(value, depth=depth)
    return value


def dumps(value: Any) -> str:
    """Return compact JSON for a value that `check_value` passed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def plain(value: Any) -> Any:
    """Return a copy of a value that `check_value` passed, in the types a parser returns.

    Subclasses of `str`, `int` and `float` and tuples become what they are in JSON.
    """
    if isinstance(value, dict):
        return {plain_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, float):
        return float(value)
    return value if value is None or isinstance(value, bool) else int(value)


def same(mine: Any, other: Any) -> bool:
    """Compare values of JSON: 1, 1.0 and True, equal to Python, are three of them."""
    if mine is other:
        return True
    return bool(mine == other) and _sorted_text(mine) == _sorted_text(other)


def _sorted_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start:,} is no UTF-8 (0x{data[error.start]:02x})"
        raise InvalidJson(problem, offset=error.start) from error


def _syntax_error(error: json.JSONDecodeError) -> InvalidJson:
    offset = len(error.doc[: error.pos].encode("utf-8", "surrogatepass"))
    got = quote(error.doc[error.pos : error.pos + 1]) if error.pos < len(error.doc) else "the end"
    if error.doc.startswith("\ufeff"):
        return InvalidJson("the document begins with a byte order mark", offset=0)
    wanted = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return InvalidJson(f"not JSON: {wanted} at byte {offset:,}, got {got}", offset=offset)


def _check_depth(text: str, depth: int) -> None:
    """Refuse bottomless nesting before a recursive parser sees it."""
    if text.count("[") + text.count("{") <= depth:
        return
    level = 0
    for match in _BRACKET_OR_STRING.finditer(text):
        token = match[0]
        if token in "[{":
            level += 1
            if level > depth:
                raise InvalidJson(f"nested more than {depth} levels deep (limit depth)")
        elif token in "]}":
            level -= 1


def check_value(value: Any, *, depth: int) -> None:
    """Check that a Python value is JSON, without recursing.

    Raises:
        InvalidJson: it holds NaN or an infinity, a lone surrogate, a repeated member, a key that
            is no string, a foreign type, or it nests deeper than `depth`.
    """
    pending: list[Iterator[tuple[Path, Any]]] = [iter([((), value)])]
    while pending:
        for path, item in pending[-1]:
            _check_scalar(item, path)
            if isinstance(item, dict | list | tuple):
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
        raise InvalidJson(f"member {quote(item.key)} stands twice in one object", path)
    for key in item:
        if not isinstance(key, str):
            raise InvalidJson(f"an object's member names are strings, got {quote(key)}", path)
        if _SURROGATE.search(key):
            raise InvalidJson(f"member name {quote(key)} holds a lone surrogate", path)
    return (((*path, key), child) for key, child in item.items())


def _check_scalar(item: Any, path: Path) -> None:
    if isinstance(item, str):
        found = _SURROGATE.search(item)
        if found:
            raise InvalidJson(
                f"character {found.start():,} is the lone surrogate U+{ord(found[0]):04X}", path
            )
    elif isinstance(item, _LongNumber):
        raise InvalidJson(f"a number of {item.digits:,} digits is too long", path)
    elif isinstance(item, float):
        if not math.isfinite(item):
            raise InvalidJson(f"{item!r} is no JSON number (or overflows one)", path)
    elif not (item is None or isinstance(item, bool | int | dict | list | tuple)):
        raise InvalidJson(f"a {type(item).__name__} is no JSON value", path)
