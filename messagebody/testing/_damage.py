"""Damage: copies of a JSON value, each with one thing that is wrong or new; and awkward texts."""

import copy
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import getitem
from typing import Any, Final

AWKWARD: Final = (
    "  two spaces before", "after \t", " ", "\ttab", "\n", "\n\nlines\n", "a\r\nb", "a\rb\r",
    "\ufeffmark", "a\ufeff", "a\x00b", "\x1b[31m\x7f", "e\u0301 \u00e9", "\ufb01\u2460\uff21",
    "a\u00a0b", "a\u2028b\u2029", "\u200b\u200d\u202e", "\U0001f468\u200d\U0001f469",
    "\ue000\U0010ffff", "\u212b\u2126", "\\n\\u0041\\", "&amp;&lt;", "%20%00", "</text>",
    "{{x}} ${x} %s {0}", "```\n```", '"', "'", "null", "[]", "{}", "0", "data:,a",
    "https://e.com", "a" * 300, "\u6f22\u5b57" * 5_000, "x " * 150_000 + ".",
)  # fmt: skip
"""Texts that a careless writer or reader strips, folds, normalises, decodes, interprets or cuts."""


_ID: Final = re.compile(r"^id$|[a-z]I[dD]$|_id$")


_OTHERS: Final = (None, 7, "x", [1], {"a": 1}, True, "\ud800")


def damaged(value: Any) -> Iterator[Any]:
    """Yield copies of a value, each with one member or item gone or of another type."""
    others = itertools.cycle(_OTHERS)
    for path, inner in _paths(value):
        if not path:
            continue
        made, held = _copy(value, path)
        del held[path[-1]]
        yield made
        # Readers go through a list: what is none fails in a way of its own for each type.
        for other in _OTHERS if isinstance(inner, list) else (next(others),):
            made, held = _copy(value, path)
            held[path[-1]] = other
            yield made


def _copy(value: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return a copy of a value, and what holds the last step of a path in it."""
    made = copy.deepcopy(value)
    return made, reduce(getitem, path[:-1], made)


def wider(value: Any, depth: int = 3) -> Iterator[Any]:
    """Yield copies of a value with a new member, in each of its objects down to a depth."""
    for path, inner in _paths(value, depth):
        if isinstance(inner, dict):
            made = copy.deepcopy(value)
            reduce(getitem, path, made)["new_of_tomorrow"] = {"a": [1]}
            yield made


def _paths(value: Any, depth: float = math.inf) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the paths in a value down to a depth, each with what is there; the value is first."""
    yield (), value
    steps: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict | list) and depth:
        steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, held in steps:
        for path, inner in _paths(held, depth - 1):
            yield (step, *path), inner


def nameless(value: Any) -> Any:
    """Return a copy of a value without the members that hold an id."""
    if isinstance(value, dict):
        return {key: nameless(inner) for key, inner in value.items() if not _ID.search(key)}
    return [nameless(each) for each in value] if isinstance(value, list) else value


def other_ids(value: Any) -> Any:
    """Return a copy of a value in which each id is another one."""
    if isinstance(value, dict):
        return {
            key: f"{inner}9" if _ID.search(key) and isinstance(inner, str) else other_ids(inner)
            for key, inner in value.items()
        }
    return [other_ids(each) for each in value] if isinstance(value, list) else value


def first_change(wanted: Any, found: Any, path: str = "") -> str:
    """Return the first place where two JSON values differ, and what is there.

    Examples:
        >>> first_change({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
        '/a/1/b is 3, not 2'
        >>> first_change({"a": 1}, {})
        '/a is nothing, not 1'
    """
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        wanted, found = dict(enumerate(wanted)), dict(enumerate(found))
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in {**wanted, **found}:
            ours, theirs = wanted.get(key, ...), found.get(key, ...)
            if ours != theirs:
                return first_change(ours, theirs, f"{path}/{key}")
    said = ("nothing" if value is ... else f"{value!r:.300}" for value in (found, wanted))
    return f"{path or 'it'} is {', not '.join(said)}"
