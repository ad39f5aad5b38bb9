"""Questions about contents by brute force: every value of a small world is tried, and validated.

The world is a schema too, so that the search can be asked about the same values.
"""

import itertools
from functools import cache
from typing import Any

import jsonschema

Schema = dict[str, Any] | bool

_SCALARS = [None, True, False, 0, 1, 2, -1, 0.5, "", "a", "b", "ab", "aa"]
_FEW = [None, 0, 1, "a", ""]
_NAMES = ("a", "b")


def _arrays(items: list[Any], most: int) -> list[Any]:
    sizes = [itertools.product(items, repeat=size) for size in range(most + 1)]
    return [list(each) for each in itertools.chain.from_iterable(sizes)]


def _objects(values: list[Any], names: tuple[str, ...]) -> list[Any]:
    found = []
    for chosen in itertools.product([..., *values], repeat=len(names)):
        members = zip(names, chosen, strict=True)
        found.append({name: value for name, value in members if value is not ...})
    return found


@cache
def world() -> list[Any]:
    """Return the values of the world: some are two levels deep."""
    flat = [*_arrays(_FEW, 2), *_objects(_FEW, _NAMES)]
    inner = [[], [0], ["a", 1], {}, {"a": 0}, {"a": "a"}, {"b": None}]
    deep = [*_arrays(inner, 1), *_objects(inner, ("a",)), *_objects(inner, ("b",))]
    return [*_SCALARS, *flat, *deep]


@cache
def world_schema() -> Schema:
    """Return the schema of the values of the world, and of no others."""
    inner = [[], [0], ["a", 1], {}, {"a": 0}, {"a": "a"}, {"b": None}]
    few = {"enum": _FEW}
    deep = {"enum": inner}
    return {
        "anyOf": [
            {"enum": _SCALARS},
            {"type": "array", "items": few, "maxItems": 2},
            {"type": "array", "items": deep, "maxItems": 1},
            _object(few, *_NAMES),
            _object(deep, "a"),
            _object(deep, "b"),
        ]
    }


def _object(value: Schema, *names: str) -> Schema:
    members = dict.fromkeys(names, value)
    return {"type": "object", "properties": members, "additionalProperties": False}


def accepts(schema: Schema, value: Any) -> bool:
    """Return whether a value meets a schema, by a library that the package does not use."""
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))
