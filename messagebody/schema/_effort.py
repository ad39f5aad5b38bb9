"""The effort of a validation, known before it: a small schema can ask for endlessly many steps.

A validator follows each way through a schema. A schema that refers twice to another one, which
refers twice to a third, has thousands of ways at a single value. One that refers twice to itself
for its children has twice as many for each level of the value. So the ways are counted, level by
level.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody.schema._dialects import at, placed, resolved

_ENOUGH: Final = 10**12
"""Ways that are not counted further."""
_WORK: Final = 1_000_000
"""Additions that the counting may take, about a second."""
_HERE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose schemas are about the same value."""

Ways = dict[int, int]
"""How often each schema is asked about a value."""


def evaluations(schema: Any, deepest: int = DEFAULT_LIMITS.depth) -> list[int]:
    """Return how many schemas are asked about a value of each level at most.

    Deeper levels are as the last one.

    Examples:
        >>> evaluations({"items": {"type": "string"}})
        [1, 1, 0]
        >>> evaluations({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}})[:4]
        [1, 5, 10, 20]
    """
    if not isinstance(schema, dict):
        return [1]
    try:
        return _counted(_Graph(schema), deepest)
    except _Endless:
        return [_ENOUGH]


def _counted(graph: "_Graph", deepest: int) -> list[int]:
    ways = graph.closures[0]
    counts = [sum(ways.values())]
    while ways and len(counts) <= deepest and counts[-1] < _ENOUGH:
        below = graph.below(ways)
        if below == ways:
            break
        ways = below
        counts.append(min(sum(ways.values()), _ENOUGH))
    return counts


class _Endless(Exception):
    """Report a schema whose ways take too long to count."""


class _Child(NamedTuple):
    """A schema that one asks about a child of its value.

    Arguments:
        kind: whether the child is a "member" or an "item".
        step: its name or position; None for all.
        number: the schema.
        times: how often; less than none takes back what is asked for all.
    """

    kind: str
    step: str | int | None
    number: int
    times: int = 1


class _Graph:
    """The schemas in a schema, by number, and which asks which."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._bases = {id(each): base for _, each, base in placed(schema)}
        self._targets = {
            (base, key, each[key]): each
            for _, each, base in placed(schema)
            if isinstance(each, dict)
            for key in ("$id", "$anchor", "$dynamicAnchor")
            if isinstance(each.get(key), str)
        }
        self._nodes: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self._here: list[list[int]] = []
        self._below: list[list[_Child]] = []
        self._known([schema])
        while len(self._here) < len(self._nodes):
            node = self._nodes[len(self._here)]
            self._here.append(self._known(self._same(node)))
            self._below.append([*self._members(node), *self._items(node)])
        self._work = _WORK
        self.closures: list[Ways] = [{} for _ in self._nodes]
        """For each schema how often it asks itself and others about the same value."""
        self._close()

    def _known(self, schemas: Iterable[Any]) -> list[int]:
        """Return the numbers of schemas; true and false have none, because they cost nothing."""
        found = []
        for each in schemas:
            if isinstance(each, dict):
                if id(each) not in self._numbers:
                    self._numbers[id(each)] = len(self._nodes)
                    self._nodes.append(each)
                found.append(self._numbers[id(each)])
        return found

    def _same(self, node: dict[str, Any]) -> Iterator[Any]:
        """Yield the schemas that one asks about the same value."""
        for key in _HERE:
            value = node.get(key)
            yield from value if isinstance(value, list) else [value]
        yield from _values(node.get("dependentSchemas"))
        for key in ("$ref", "$dynamicRef"):
            if isinstance(node.get(key), str):
                yield from self._referred(node, node[key])

    def _referred(self, node: dict[str, Any], reference: str) -> Iterator[Any]:
        url, fragment = resolved(self._bases.get(id(node), ""), reference)
        root = next((each for (base, key, _), each in self._targets.items()
                     if key == "$id" and base == url), self._schema)  # fmt: skip
        if fragment and not fragment.startswith("/"):
            # A dynamic one may lead to any schema with the anchor.
            yield from (
                each for (_, key, name), each in self._targets.items()
                if key != "$id" and name == fragment
            )  # fmt: skip
        else:
            try:
                yield at(root, fragment)
            except (LookupError, ValueError, TypeError) as error:
                raise _Endless from error  # the library found it in another way

    def _members(self, node: dict[str, Any]) -> Iterator[_Child]:
        others = self._known([node.get("additionalProperties")])
        everywhere = [node.get("unevaluatedProperties"), node.get("propertyNames")]
        everywhere += _values(node.get("patternProperties"))
        for number in others + self._known(everywhere):
            yield _Child("member", None, number)
        properties = node.get("properties")
        for name, each in properties.items() if isinstance(properties, dict) else ():
            yield from (_Child("member", name, number) for number in self._known([each]))
            # A member with a name is none of the others.
            yield from (_Child("member", name, number, -1) for number in others)

    def _items(self, node: dict[str, Any]) -> Iterator[_Child]:
        others = self._known([node.get("items")])
        for number in others + self._known([node.get("contains"), node.get("unevaluatedItems")]):
            yield _Child("item", None, number)
        first = node.get("prefixItems")
        for step, each in enumerate(first if isinstance(first, list) else ()):
            yield from (_Child("item", step, number) for number in self._known([each]))
            yield from (_Child("item", step, number, -1) for number in others)

    def _sorted(self) -> list[int]:
        """Return the schemas so that each comes before those that it asks about the same value."""
        done: list[int] = []
        seen: set[int] = set()
        for start in range(len(self._nodes)):
            pending = [(start, iter(self._here[start]))] if start not in seen else []
            seen.add(start)
            while pending:
                number, left = pending[-1]
                following = next((each for each in left if each not in seen), None)
                if following is None:
                    done.append(number)
                    pending.pop()
                else:
                    seen.add(following)
                    pending.append((following, iter(self._here[following])))
        return done[::-1]

    def _close(self) -> None:
        for number in reversed(self._sorted()):
            found = Counter({number: 1})
            # A circle without a step downwards ends, so its way back counts nothing: the closure
            # there is still empty.
            for each in self._here[number]:
                self._add(found, each, 1)
            self.closures[number] = found

    def _add(self, found: Counter[int], number: int, times: int) -> None:
        """Add what a schema asks about a value."""
        closure = self.closures[number]
        self._work -= 1 + len(closure)
        if self._work < 0:
            raise _Endless
        for each, count in closure.items():
            found[each] = min(found[each] + count * times, _ENOUGH)

    def below(self, ways: Ways) -> Ways:
        """Return how often each schema is asked about one child of a value at most."""
        asked: dict[str, dict[str | int | None, Counter[int]]] = defaultdict(
            lambda: defaultdict(Counter)
        )
        for number, count in ways.items():
            for kind, step, child, times in self._below[number]:
                self._add(asked[kind][step], child, count * times)
        found: Ways = {}
        for steps in asked.values():
            everywhere = steps.pop(None, Counter())
            for named in [{}, *steps.values()]:
                self._work -= len(everywhere) + len(named)
                if self._work < 0:
                    raise _Endless
                for each in everywhere.keys() | named.keys():
                    most = everywhere.get(each, 0) + named.get(each, 0)
                    if most > found.get(each, 0):
                        found[each] = most
        return found


def _values(value: Any) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else []
