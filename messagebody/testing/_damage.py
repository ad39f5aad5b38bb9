"""Damage: copies of a JSON value, each with one thing that is wrong."""

import copy
import itertools
from collections.abc import Iterable, Iterator
from typing import Any


def damaged(value: Any) -> Iterator[Any]:
    """Yield copies of a value, each with one member or item gone or of another type."""
    others = itertools.cycle((None, 7, "x", [1], {"a": 1}, True, "\ud800"))
    for path in _places_in(value):
        for is_gone in (True, False):
            made = copy.deepcopy(value)
            held = made
            for step in path[:-1]:
                held = held[step]
            if is_gone:
                del held[path[-1]]
            else:
                held[path[-1]] = next(others)
            yield made


def _places_in(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each member and item of a value, down to the leaves."""
    steps: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in steps:
        yield (step,)
        for path in _places_in(inner):
            yield (step, *path)
