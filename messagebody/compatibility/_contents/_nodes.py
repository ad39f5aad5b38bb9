"""Content schemas as shared nodes: equal schemas have one number, and its negative is "not".

A schema becomes conjunctions of literals. A literal speaks of one type of values: it holds for all
others, and its negative holds for none of them. Titles, descriptions and all else that asserts
nothing are left out.
"""

import itertools
import json
from collections.abc import Generator, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final

import attrs

Types = int
"""A set of types of values, a bit for each."""
NULL: Final = 1
BOOLEAN: Final = 2
INTEGER: Final = 4
FRACTION: Final = 8  # a number that is no integer
STRING: Final = 16
ARRAY: Final = 32
OBJECT: Final = 64
NUMBER: Final = INTEGER | FRACTION
ANY: Final = 127

Scalar = tuple[Types, Any]
"""The type and the value of null, a boolean, a number (a `Fraction`) or a string."""

_Ids = tuple[int, ...]


@attrs.frozen
class All:
    """Every one of some nodes holds."""

    ids: _Ids
    about: ClassVar[Types] = ANY


@attrs.frozen
class One:
    """Exactly one of some nodes holds."""

    ids: _Ids
    about: ClassVar[Types] = ANY


@attrs.frozen
class SchemaAt:
    """The schema at a place of a document, which holds itself."""

    document: str
    pointer: str
    about: ClassVar[Types] = ANY


@attrs.frozen
class Kinds:
    """The value has one of some types."""

    types: Types
    about: ClassVar[Types] = ANY


@attrs.frozen
class Among:
    """The value is one of some scalars."""

    values: tuple[Scalar, ...]
    about: ClassVar[Types] = ANY

    @property
    def types(self) -> Types:
        """The types of the scalars."""
        found = 0
        for kind, _ in self.values:
            found |= kind
        return found


@attrs.frozen
class Unknown:
    """A keyword that is not followed: it may hold or not."""

    keyword: str
    place: str
    document: str
    about: ClassVar[Types] = ANY


@attrs.frozen
class Bound:
    """A number is not beyond a limit."""

    limit: Fraction
    is_upper: bool
    is_strict: bool
    about: ClassVar[Types] = NUMBER


@attrs.frozen
class Multiple:
    """A number is a multiple of another."""

    divisor: Fraction
    about: ClassVar[Types] = NUMBER


@attrs.frozen
class Length:
    """A text has at least, or at most, some number of characters."""

    limit: int
    is_upper: bool
    about: ClassVar[Types] = STRING


@attrs.frozen
class Matches:
    """A pattern finds a match in a text."""

    pattern: str
    about: ClassVar[Types] = STRING


@attrs.frozen
class Size:
    """An object has at least, or at most, some number of members."""

    limit: int
    is_upper: bool
    about: ClassVar[Types] = OBJECT


@attrs.frozen
class Has:
    """An object has a member."""

    name: str
    about: ClassVar[Types] = OBJECT


@attrs.frozen
class Members:
    """All members of an object whose names meet one node have values that meet another."""

    names: int
    value: int
    about: ClassVar[Types] = OBJECT


@attrs.frozen
class ItemCount:
    """An array has at least, or at most, some number of items."""

    limit: int
    is_upper: bool
    about: ClassVar[Types] = ARRAY


@attrs.frozen
class ItemAt:
    """The item at a place of an array, if there is one, meets a node."""

    place: int
    value: int
    about: ClassVar[Types] = ARRAY


@attrs.frozen
class Items:
    """The items of an array from a place on meet a node."""

    start: int
    value: int
    about: ClassVar[Types] = ARRAY


@attrs.frozen
class Holding:
    """At least, or at most, some number of items of an array meet a node."""

    limit: int
    is_upper: bool
    value: int
    about: ClassVar[Types] = ARRAY


@attrs.frozen
class Distinct:
    """No two items of an array are equal."""

    about: ClassVar[Types] = ARRAY


Node = (
    All | One | SchemaAt | Kinds | Among | Unknown | Bound | Multiple | Length | Matches | Size
    | Has | Members | ItemCount | ItemAt | Items | Holding | Distinct
)  # fmt: skip

TRUE: Final = 1
FALSE: Final = -1

_MOST_NODES: Final = 200_000
_MOST_EXPONENT: Final = 4_096


class Outside(Exception):
    """A keyword whose value is not followed."""


class Nodes:
    """All nodes of some schemas; equal ones are the same.

    Examples:
        >>> nodes = Nodes()
        >>> nodes.constant({"a": 1.0}) == nodes.constant({"a": 1})
        True
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(2)
        self._ids: dict[Node, int] = {All(()): TRUE}
        self._nodes: dict[int, Node] = {TRUE: All(())}
        self._types: dict[int, Types] = {TRUE: ANY, FALSE: 0}
        self.documents: dict[str, tuple[int, int]] = {}
        """The node of each document that was read, and how many schemas it is made of."""
        self.targets: dict[SchemaAt, int] = {}
        """The node at each place that holds itself."""

    def __getitem__(self, number: int) -> Node:
        return self._nodes[abs(number)]

    @property
    def is_full(self) -> bool:
        """Whether there are so many nodes that new schemas should get others."""
        return len(self._nodes) > _MOST_NODES

    def add(self, node: Node) -> int:
        """Return the number of a node."""
        found = self._ids.get(node)
        if found is None:
            number = next(self._numbers)
            # Written first, so that a number that another thread finds has a node.
            self._nodes[number] = node
            self._types[number], self._types[-number] = self._both_types(node)
            found = self._ids.setdefault(node, number)
        return found

    def types_of(self, number: int) -> Types:
        """Return the types that a value may have that meets a node; others never meet it."""
        return self._types[number]

    def _both_types(self, node: Node) -> tuple[Types, Types]:
        """Return the types of the values that may meet a node, and those that may not meet it."""
        if isinstance(node, All):
            every, some = ANY, 0
            for each in node.ids:
                every &= self._types[each]
                some |= self._types[-each]
            return every, some
        if isinstance(node, One):
            return sum({bit for each in node.ids for bit in _bits(self._types[each])}), ANY
        if isinstance(node, Kinds):
            return node.types, ANY & ~node.types
        if isinstance(node, Among):
            return node.types, ANY
        return ANY, node.about

    def all_of(self, ids: Iterable[int]) -> int:
        """Return the node that holds if all of some do."""
        flat: dict[int, None] = {}
        for each in ids:
            node = self._nodes[abs(each)]
            inner = node.ids if each > 0 and isinstance(node, All) else (each,)
            flat.update(dict.fromkeys(inner))
        if FALSE in flat or any(-each in flat for each in flat):
            return FALSE
        return next(iter(flat)) if len(flat) == 1 else self.add(All(tuple(flat)))

    def any_of(self, ids: Iterable[int]) -> int:
        """Return the node that holds if any of some does."""
        return -self.all_of([-each for each in ids])

    def unknown_in(self, goal: Iterable[int]) -> Unknown | None:
        """Return a keyword that is not followed and that some nodes lead to, if there is one."""
        seen: set[int] = set()
        queue = [abs(each) for each in goal]
        while queue:
            number = queue.pop()
            if number not in seen:
                seen.add(number)
                node = self._nodes[number]
                if isinstance(node, Unknown):
                    return node
                queue.extend(map(abs, self._subnodes(node)))
        return None

    def _subnodes(self, node: Node) -> Iterable[int]:
        if isinstance(node, All | One):
            return node.ids
        if isinstance(node, Members):
            return node.names, node.value
        if isinstance(node, ItemAt | Items | Holding):
            return (node.value,)
        return (self.targets[node],) if isinstance(node, SchemaAt) else ()

    def constant(self, value: Any) -> int:
        """Return the node that only one value meets."""
        return run(self.constant_steps(value, {}))

    def constant_steps(self, value: Any, made: dict[int, int]) -> Generator[Any, int, int]:
        """Return the node that only one value meets, asking for those of its members.

        Arguments:
            value: the value.
            made: the nodes of containers that were met before, by `id`: a value that holds another
                twice is not taken apart twice.
        """
        if id(value) in made:
            return made[id(value)]
        if isinstance(value, dict):
            found = [self.add(Kinds(OBJECT))]
            for name, each in sorted(value.items()):
                inner = yield self.constant_steps(each, made)
                found.append(self.add(Has(name)))
                found.append(self.add(Members(self.name(name), inner)))
            found.append(self.add(Members(self.no_name(sorted(value)), FALSE)))
        elif isinstance(value, list | tuple):
            size = len(value)
            limits = ItemCount(size, is_upper=False), ItemCount(size, is_upper=True)
            found = [self.add(Kinds(ARRAY)), *map(self.add, limits)]
            for place, each in enumerate(value):
                inner = yield self.constant_steps(each, made)
                found.append(self.add(ItemAt(place, inner)))
        else:
            return self.add(Among((scalar(value),)))
        made[id(value)] = self.all_of(found)
        return made[id(value)]

    def name(self, name: str) -> int:
        """Return the node of one name."""
        return self.add(Among(((STRING, name),)))

    def no_name(self, names: Iterable[str], patterns: Iterable[int] = ()) -> int:
        """Return the node of all names but some."""
        among = self.add(Among(tuple((STRING, name) for name in dict.fromkeys(names))))
        return self.all_of([-among, *[-each for each in patterns]])


def limits_of(node: Length | Size | ItemCount | Holding, holds: bool) -> tuple[int, int | None]:
    """Return the least and the most that a limit, or its negative, allows; None is no limit."""
    if node.is_upper is holds:
        return 0, node.limit if holds else node.limit - 1
    return node.limit if holds else node.limit + 1, None


def lower(one: int | None, other: int | None) -> int | None:
    """Return the lower of two limits; None is no limit."""
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def _bits(types: Types) -> list[Types]:
    return [1 << place for place in range(7) if types >> place & 1]


def canonical(document: Any) -> str:
    """Return a schema as text, the same for equal ones."""
    return json.dumps(document, sort_keys=True, default=_plain, ensure_ascii=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def scalar(value: Any) -> Scalar:
    """Return a scalar with its type; numbers that are equal are the same."""
    if value is None:
        return NULL, None
    if isinstance(value, bool):
        return BOOLEAN, value
    if isinstance(value, str):
        return STRING, value
    number = exact(value)
    return (INTEGER if number.denominator == 1 else FRACTION), number


def exact(value: Any) -> Fraction:
    """Return a number of JSON without loss.

    Raises:
        Outside: it has too many digits.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    decimal = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not decimal.is_finite() or (decimal and abs(decimal.adjusted()) > _MOST_EXPONENT):
        raise Outside
    return Fraction(decimal)


def run(steps: Generator[Any, Any, int]) -> int:
    """Run steps that yield further steps, in a loop, so that depth takes no stack of Python."""
    stack, answer = [steps], None
    while True:
        try:
            wanted = stack[-1].send(answer)
        except StopIteration as stop:
            stack.pop()
            if not stack:
                return int(stop.value)
            answer = stop.value
        else:
            stack.append(wanted)
            answer = None
