"""What listing the flaws of a content costs at most, known before they are made.

The library makes all flaws at once, and each has copies of the value that it is about and of what
its keyword asks for. So thousands of names in `required` and an object of thousands of members
would fill the memory. Here a content is gone through as a validator does, and each value counts
as often as there may be flaws that are about it or about what it is in.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from messagebody._wire import exact_json
from messagebody.schema._dialects import located_schemas
from messagebody.schema._effort import Graph, Ways

_FLAW: Final = 1_200
"""Bytes of a flaw, without what it copies."""
_VALUE: Final = 150
_NAME: Final = 60
_CHARACTER: Final = 4
"""Bytes of a copy: the library's, Python's, and two texts that show it."""
_VISIT: Final = 256
"""Bytes that are copied while a value is looked at here."""
_STEP: Final = 16
"""Bytes that are copied while a schema is asked once."""
_ADDITION: Final = 128
"""Bytes that are copied while a way is counted."""
_SILENT: Final = frozenset({
    "$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "$id", "id", "$schema",
    "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "title",
    "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format",
    "contentEncoding", "contentMediaType", "contentSchema", "properties", "patternProperties",
    "allOf", "if", "then", "else", "dependentSchemas", "prefixItems", "minContains", "maxContains",
    "required",
})  # fmt: skip
"""Keywords without flaws of their own."""
_BELOW: Final = frozenset({
    "additionalItems", "additionalProperties", "items", "propertyNames",
})  # fmt: skip
"""Keywords whose flaws are those of their schemas, unless they are false."""
_CHOICES: Final = ("anyOf", "oneOf")
"""Keywords whose one flaw has the flaws of all alternatives."""
_WHOLE: Final = _BELOW | {
    *_CHOICES, "contains", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip
"""Keywords whose flaws don't say what they ask for."""


class FlawCosts:
    """What it costs to list the flaws of contents by one schema.

    Arguments:
        schema: the schema.

    Raises:
        Endless: its ways take too long to count.
    """

    def __init__(self, schema: dict[str, Any] | bool) -> None:
        self._graph = Graph(schema)
        self._flaw_counts = [_flaws(node) for node in self._graph.nodes]
        self._bytes_copied = [_bytes_copied(node) for node in self._graph.nodes]
        self._required = [_required(node) for node in self._graph.nodes]
        self._chosen = self._graph.reached(
            branch
            for node in self._graph.nodes
            if isinstance(node, dict)
            for key in _CHOICES
            for branch in node.get(key, ())
        )
        # References add to the path of a flaw, on each level of the content.
        places = (
            sum(len(str(step)) + 1 for step in place) for place, _, _ in located_schemas(schema)
        )
        self._path = _NAME + 2 * _CHARACTER * max(places) * self._graph.longest

    def cost(self, value: Any, most: int, *, first: bool = False) -> int:
        """Return how many bytes the flaws of a value take at most, or any number over `most`.

        Arguments:
            value: a value of `exact_json`.
            most: the bytes up to which they are counted.
            first: whether only the first flaw is made. It has those of alternatives in it.

        Raises:
            Endless: counting takes too long.
        """
        self._graph.work = most // _ADDITION
        start = _ValueCosts(self, self._graph.closures[0], first=first)
        total, pending = 0, [(value, start, int(first), 0)]
        while pending and total <= most:
            each, state, held, path = pending.pop()
            path += self._path
            cost, made = state.cost(each, path)
            held += made
            total += _VISIT + cost + held * _size(each)
            if isinstance(each, dict | list):
                if total + len(each) * max(_VISIT, held * _VALUE) > most:
                    return most + 1  # their number says enough
                pending += (
                    (child, below, held, path + _CHARACTER * name)
                    for child, below, name in state.children_costs(each)
                )
        return total

    def flaws_and_bytes(self, ways: Ways, *, first: bool) -> tuple[int, int]:
        """Return how many flaws of a value schemas make at most, and the bytes that these copy."""
        counted = self._counted(ways, first=first)
        return (
            sum(self._flaw_counts[number] * times for number, times in counted),
            sum(self._bytes_copied[number] * times for number, times in counted),
        )

    def required_names(self, ways: Ways, *, first: bool) -> list[tuple[list[str], int]]:
        """Return names that schemas require, each of which is a flaw if it is not there."""
        counted = self._counted(ways, first=first)
        return [
            (self._required[number], times) for number, times in counted if self._required[number]
        ]

    def _counted(self, ways: Ways, *, first: bool) -> list[tuple[int, int]]:
        return [each for each in ways.items() if not first or each[0] in self._chosen]

    def asked_of_children(self, ways: Ways) -> Mapping[str, Mapping[str | int | None, Ways]]:
        """Return how often each schema is asked about children: by their kind, then their step."""
        return self._graph.asked_of_children(ways)


class _ValueCosts:
    """What is asked about a value, and what follows for its children.

    Arguments:
        listing: the schema.
        ways: how often each schema is asked.
        first: whether only the first flaw is made.
    """

    def __init__(self, listing: FlawCosts, ways: Ways, *, first: bool) -> None:
        self._listing, self._ways, self._first = listing, ways, first
        self._flaw_counts, self._bytes_copied = listing.flaws_and_bytes(ways, first=first)
        self._needed = listing.required_names(ways, first=first)
        self._steps = sum(ways.values()) + sum(len(names) for names, _ in self._needed)
        self._known: dict[tuple[str, str | int | None], _ValueCosts] = {}

    def cost(self, value: Any, path: int) -> tuple[int, int]:
        """Return the bytes of all flaws of a value without copies of it, and their number."""
        made, copied = self._flaw_counts, self._bytes_copied
        if isinstance(value, dict):
            for needed, times in self._needed:
                made += times * sum(name not in value for name in needed)
            # A flaw of a name is about the whole object.
            each, more = self._listing.flaws_and_bytes(self._names, first=self._first)
            made, copied = made + each * len(value), copied + more * len(value)
        return made * (_FLAW + path) + copied + self._steps * _STEP, made

    def children_costs(self, value: Any) -> "Iterator[tuple[Any, _ValueCosts, int]]":
        """Yield each child of a value, what is asked about it, and the length of its name."""
        if isinstance(value, dict):
            for name, child in value.items():
                yield child, self._child_costs("member", name), len(name)
        else:
            for at, child in enumerate(value):
                yield child, self._child_costs("item", at), 0

    @cached_property
    def _ways_of_children(self) -> Mapping[str, Mapping[str | int | None, Ways]]:
        return self._listing.asked_of_children(self._ways)

    @cached_property
    def _names(self) -> Ways:
        return self._ways_of_children["name"][None] if "name" in self._ways_of_children else {}

    def _child_costs(self, kind: str, step: str | int) -> "_ValueCosts":
        asked = self._ways_of_children.get(kind, {})
        key = kind, step if step in asked else None
        if key not in self._known:
            ways = Counter(asked.get(None, {}))
            ways.update(asked.get(step, {}))
            # Of a member with a name, what is asked of all others was taken back.
            self._known[key] = _ValueCosts(self._listing, +ways, first=self._first)
        return self._known[key]


def _flaws(node: dict[str, Any] | bool) -> int:
    """Return how many flaws of a value one schema makes by itself at most."""
    if isinstance(node, bool):
        return not node
    needed = _values(node, "dependentRequired")
    names = sum(len(each) for each in needed if isinstance(each, list))
    return names + sum(
        key not in _SILENT and (key not in _BELOW or value is False) for key, value in node.items()
    )


def _required(node: dict[str, Any] | bool) -> list[str]:
    names = node.get("required") if isinstance(node, dict) else None
    return names if isinstance(names, list) else []


def _values(node: dict[str, Any], key: str) -> Iterable[Any]:
    value = node.get(key)
    return value.values() if isinstance(value, dict) else ()


def _bytes_copied(node: dict[str, Any] | bool) -> int:
    """Return the bytes of what a schema asks for, which its flaws copy."""
    if isinstance(node, bool):
        return 0
    copied = (value for key, value in node.items() if key not in _SILENT | _WHOLE)
    return 4 * _CHARACTER * sum(len(exact_json.dumps(each)) for each in copied)


def _size(value: Any) -> int:
    """Return the bytes of a copy of a value, with names of members, but without what they hold."""
    if isinstance(value, str):
        return _VALUE + _CHARACTER * len(value)
    if isinstance(value, dict):
        return _VALUE + _CHARACTER * sum(map(len, value))
    return _VALUE + (3 * value.__sizeof__() if isinstance(value, int | Decimal) else 0)
