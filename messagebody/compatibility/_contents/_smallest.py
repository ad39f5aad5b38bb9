"""The smallest of some values: what is left of one without the members and items that it needs not.

A search ends with the first value that it finds, which may have members that nothing asks for.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

_TRIES: Final = 64
"""Values that are tried: each is validated against both sides."""
_TRIED: Final = 200_000
"""Values inside them, together."""
_LEVELS: Final = 3
"""Levels at which something is left out; a person looks at those first."""


def smallest(value: Any, is_right: Callable[[Any], bool]) -> Any:
    """Return a value without members and items that can be left out one by one.

    Arguments:
        value: the value, which is right.
        is_right: tells whether a smaller value is right, too.

    Examples:
        >>> smallest({"a": [1, 2], "b": None}, lambda value: "a" in value)
        {'a': []}
    """
    tries = _TRIES if not is_larger(value, _TRIED // _TRIES) else 0
    smaller = _smaller(value, _LEVELS)
    while tries and (each := next(smaller, None)) is not None:
        tries -= 1
        if is_right(each[0]):
            value = each[0]
            smaller = _smaller(value, _LEVELS)
    return value


def is_larger(value: Any, most: int) -> bool:
    """Return whether a value holds more than so many values; those held twice count twice.

    It takes as long as there are different ones: searches make values that hold others many times.

    Examples:
        >>> twice = [[1, 2]] * 2
        >>> is_larger(twice, 6), is_larger(twice, 7)
        (True, False)
    """
    sizes: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack and len(sizes) <= most:
        each, is_ready = stack.pop()
        if not isinstance(each, dict | list) or (id(each) in sizes and not is_ready):
            continue
        inner = each.values() if isinstance(each, dict) else each
        if is_ready:
            sizes[id(each)] = 1 + sum(sizes.get(id(child), 1) for child in inner)
            continue
        stack.append((each, True))
        stack += [(child, False) for child in inner]
    return len(sizes) > most or sizes.get(id(value), 1) > most


def _smaller(value: Any, levels: int) -> Iterator[tuple[Any]]:
    """Yield a value without one of its members or items, or of theirs; the last of them first."""
    if not levels or not isinstance(value, dict | list):
        return
    keys = [*value] if isinstance(value, dict) else [*range(len(value))]
    for key in reversed(keys):
        yield (_without(value, key),)
    for key in keys:
        for (inner,) in _smaller(value[key], levels - 1):
            yield (_with(value, key, inner),)


def _without(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if name != key}
    return value[:key] + value[key + 1 :]


def _with(value: Any, key: Any, inner: Any) -> Any:
    if isinstance(value, dict):
        return {**value, key: inner}
    return [*value[:key], inner, *value[key + 1 :]]
