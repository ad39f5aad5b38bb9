"""The effort of a validation, known before it: a small schema can ask for endlessly many steps.

A validator follows each way through a schema. A schema that refers twice to another one, which
refers twice to a third, has thousands of ways at a single value. One that refers twice to itself
for its children has twice as many for each level of the value. So the ways are counted, level by
level.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._wire import exact_json
from messagebody.schema._dialects import located_schemas, resolved, value_at

_ENOUGH: Final = 10**12
"""Ways that are not counted further."""
_WORK: Final = 1_000_000
"""Additions that the counting may take, about a second."""
_COMPARED: Final = 20
"""Digits of a number by which values are divided at the price of one step."""
_HERE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose schemas are about the same value."""

Ways = dict[int, int]
"""How often each schema is asked about a value."""


def evaluations(schema: Any, deepest: int = DEFAULT_LIMITS.depth) -> list[int]:
    """Return how many schemas are asked about a value of each level at most.

    Deeper levels are as the last one. A schema that compares a value with many others, such as an
    `enum` of objects, counts as many.

    Examples:
        >>> evaluations({"items": {"type": "string"}})
        [1, 1, 0]
        >>> evaluations({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}})[:4]
        [1, 5, 10, 20]
    """
    if not isinstance(schema, dict):
        return [1]
    try:
        return _counted(Graph(schema), deepest)
    except Endless:
        return [_ENOUGH]


def _counted(graph: "Graph", deepest: int) -> list[int]:
    steps = [_steps(node) for node in graph.nodes]
    ways = graph.closures[0]
    counts: list[int] = []
    while len(counts) <= deepest:
        counts.append(min(sum(steps[each] * times for each, times in ways.items()), _ENOUGH))
        below = graph.asked_of_a_child(ways)
        if below == ways or not ways or counts[-1] == _ENOUGH:
            break
        ways = below
    return counts


def _steps(node: Any) -> int:
    """Return what a schema costs that is asked about a value, without the schemas that it asks."""
    if not isinstance(node, dict):
        return 1
    needed, options, divisor = map(node.get, ("dependentRequired", "enum", "multipleOf"))
    steps = 1 + (len(needed) if isinstance(needed, dict) else 0)
    # Texts and numbers are looked up; others are compared one by one.
    if isinstance(options, list) and not any(
        all(isinstance(each, kind) and not isinstance(each, bool) for each in options)
        for kind in (str, (int, float, Decimal))
    ):
        steps += len(exact_json.dumps(options))
    digits = len(exact_json.dumps(divisor)) if divisor is not None else 0
    return steps + (2 * digits if digits > _COMPARED else 0)


class Endless(Exception):
    """Report a schema whose ways take too long to count."""


class _Child(NamedTuple):
    """A schema that one asks about a child of its value.

    Arguments:
        kind: whether the child is a "member", the "name" of one, or an "item".
        step: its name or position; None for all.
        number: the schema.
        times: how often; less than none takes back what is asked for all.
    """

    kind: str
    step: str | int | None
    number: int
    times: int = 1


class Graph:
    """The schemas in a schema, by number, and which asks which.

    Arguments:
        schema: a schema.

    Raises:
        Endless: its ways take too long to count.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._bases = {id(each): base for _, each, base in located_schemas(schema)}
        self._targets = {
            (base, key, each[key]): each
            for _, each, base in located_schemas(schema)
            if isinstance(each, dict)
            for key in ("$id", "$anchor", "$dynamicAnchor")
            if isinstance(each.get(key), str)
        }
        self.nodes: list[dict[str, Any] | bool] = []
        self._numbers: dict[int, int] = {}
        self._here: list[list[int]] = []
        self._below: list[list[_Child]] = []
        self._numbers_of([schema])
        while len(self._here) < len(self.nodes):
            found = self.nodes[len(self._here)]
            node = found if isinstance(found, dict) else {}
            self._here.append(self._numbers_of(self._schemas_of_value(node)))
            self._below.append([*self._members(node), *self._items(node)])
        self.work = _WORK
        """Additions that are left; who asks again gives more."""
        self.closures: list[Ways] = [{} for _ in self.nodes]
        """For each schema how often it asks itself and others about the same value."""
        self.longest = 1
        """The most schemas that one after the other asks about the same value."""
        self._compute_closures()

    def reached(self, schemas: Iterable[Any]) -> set[int]:
        """Return the numbers of some schemas, and of all that they ask."""
        pending = self._numbers_of(schemas)
        found = set(pending)
        while pending:
            number = pending.pop()
            asked = {*self._here[number], *(each.number for each in self._below[number])} - found
            found |= asked
            pending += asked
        return found

    def _numbers_of(self, schemas: Iterable[Any]) -> list[int]:
        """Return the numbers of what is a schema."""
        found = []
        for each in schemas:
            if isinstance(each, dict | bool):
                if id(each) not in self._numbers:
                    self._numbers[id(each)] = len(self.nodes)
                    self.nodes.append(each)
                found.append(self._numbers[id(each)])
        return found

    def _schemas_of_value(self, node: dict[str, Any]) -> Iterator[Any]:
        """Yield the schemas that one asks about the same value."""
        for key in _HERE:
            value = node.get(key)
            yield from value if isinstance(value, list) else [value]
        yield from _values(node.get("dependentSchemas"))
        for key in ("$ref", "$dynamicRef"):
            if isinstance(node.get(key), str):
                yield from self._reference_targets(node, node[key])

    def _reference_targets(self, node: dict[str, Any], reference: str) -> Iterator[Any]:
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
                yield value_at(root, fragment)
            except (LookupError, ValueError, TypeError) as error:
                raise Endless from error  # the library found it in another way

    def _members(self, node: dict[str, Any]) -> Iterator[_Child]:
        others = self._numbers_of(_schemas_of_keywords(node, "additionalProperties"))
        everywhere = _schemas_of_keywords(node, "unevaluatedProperties")
        everywhere += _values(node.get("patternProperties"))
        for number in others + self._numbers_of(everywhere):
            yield _Child("member", None, number)
        for number in self._numbers_of(_schemas_of_keywords(node, "propertyNames")):
            yield _Child("name", None, number)
        properties = node.get("properties")
        for name, each in properties.items() if isinstance(properties, dict) else ():
            yield from (_Child("member", name, number) for number in self._numbers_of([each]))
            # A member with a name is none of the others.
            yield from (_Child("member", name, number, -1) for number in others)

    def _items(self, node: dict[str, Any]) -> Iterator[_Child]:
        others = self._numbers_of([node.get("items")])
        for number in others + self._numbers_of(
            _schemas_of_keywords(node, "contains", "unevaluatedItems")
        ):
            yield _Child("item", None, number)
        first = node.get("prefixItems")
        for step, each in enumerate(first if isinstance(first, list) else ()):
            yield from (_Child("item", step, number) for number in self._numbers_of([each]))
            yield from (_Child("item", step, number, -1) for number in others)

    def _in_topological_order(self) -> list[int]:
        """Return the schemas so that each comes before those that it asks about the same value."""
        done: list[int] = []
        seen: set[int] = set()
        for start in range(len(self.nodes)):
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

    def _compute_closures(self) -> None:
        lengths = [0] * len(self.nodes)
        for number in reversed(self._in_topological_order()):
            lengths[number] = 1 + max((lengths[each] for each in self._here[number]), default=0)
            found = Counter({number: 1})
            # A circle without a step downwards ends, so its way back counts nothing: the closure
            # there is still empty.
            for each in self._here[number]:
                self._add_closure(found, each, 1)
            self.closures[number] = found
        self.longest = max(lengths)

    def _add_closure(self, found: Counter[int], number: int, times: int) -> None:
        """Add what a schema asks about a value."""
        closure = self.closures[number]
        self.work -= 1 + len(closure)
        if self.work < 0:
            raise Endless
        for each, count in closure.items():
            found[each] = min(found[each] + count * times, _ENOUGH)

    def asked_of_children(self, ways: Ways) -> dict[str, dict[str | int | None, Counter[int]]]:
        """Return how often each schema is asked about children: by their kind, then their step.

        What is asked about all of them has the step None, and is not in the others.
        """
        asked: dict[str, dict[str | int | None, Counter[int]]] = {}
        for number, count in ways.items():
            for kind, step, child, times in self._below[number]:
                steps = asked.setdefault(kind, defaultdict(Counter))
                self._add_closure(steps[step], child, count * times)
        return asked

    def asked_of_a_child(self, ways: Ways) -> Ways:
        """Return how often each schema is asked about one child of a value at most."""
        found: Ways = {}
        for steps in self.asked_of_children(ways).values():
            everywhere = steps.pop(None, Counter())
            for named in [{}, *steps.values()]:
                self.work -= len(everywhere) + len(named)
                if self.work < 0:
                    raise Endless
                for each in everywhere.keys() | named.keys():
                    most = everywhere.get(each, 0) + named.get(each, 0)
                    if most > found.get(each, 0):
                        found[each] = most
        return found


def _values(value: Any) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else []


def _schemas_of_keywords(node: dict[str, Any], *keys: str) -> list[Any]:
    """Return the schemas of keywords; one that is false is told of the value, not of its child."""
    return [node[key] for key in keys if node.get(key, False) is not False]
