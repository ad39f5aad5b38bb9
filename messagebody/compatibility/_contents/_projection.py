"""What schemas of a value say of its members and items.

It is what the values at a place meet at least: what several schemas say together of a member, such
as limits to how many there are, is left out.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from messagebody.compatibility._contents._nodes import (
    ARRAY,
    FALSE,
    OBJECT,
    STRING,
    All,
    Among,
    ItemAt,
    Items,
    Kinds,
    Members,
    Nodes,
    One,
    SchemaAt,
)
from messagebody.compatibility._contents._objects import applies, name_of
from messagebody.compatibility._contents._search import Search

Step = Members | ItemAt | Items
"""A step to a member or an item, as a node whose value is what is said there."""
Known = tuple[int, ...]
"""Nodes that a value meets, each one and no conjunction of several."""

_NESTED: Final = 8
"""Unions in unions that are followed."""


@attrs.define
class _NodesByTopic:
    """What nodes say, by what it is about."""

    named: dict[str, list[int]] = attrs.field(factory=dict)
    guarded: list[tuple[int, int]] = attrs.field(factory=list)
    items: list[ItemAt | Items] = attrs.field(factory=list)
    unions: list[tuple[int, ...]] = attrs.field(factory=list)


class Projection:
    """Tells what is known of the members and items of values.

    Arguments:
        search: answers which names a pattern is about, and which alternatives are left.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._nodes: Nodes = search.nodes
        self._parts: dict[Known, _NodesByTopic] = {}
        self._names: dict[Known, list[str]] = {}
        self._known: dict[tuple[Known, Step, int], Known] = {}

    def child(self, known: Known, step: Step, nested: int = 0) -> Known:
        """Return what is known at a step from values of which something is known."""
        key = known, attrs.evolve(step, value=FALSE), nested
        found = self._known.get(key)
        if found is None:
            parts = self._by_topic(known)
            nodes_there = dict.fromkeys(self._conjuncts(parts, step))
            if nested < _NESTED:
                for union in parts.unions:
                    nodes_there.update(
                        dict.fromkeys(self._union_at(known, union, step, nested + 1))
                    )
            found = self._known[key] = flattened(self._nodes, nodes_there)
            self._search.budget.spend(1 + len(found))
        return found

    def split_step(self, known: Known, step: Step) -> Iterator[Step]:
        """Yield steps that together say what one says: apart where something is known."""
        if isinstance(step, Items):
            places = sorted({each for each in self._places(known) if each >= step.start})
            yield from (ItemAt(each, step.value) for each in places)
            yield Items(max([step.start, *[each + 1 for each in places]]), step.value)
        elif isinstance(step, Members) and name_of(self._nodes, step.names) is None:
            self._search.budget.spend(len(self.names(known)))
            names = [each for each in self.names(known) if applies(self._nodes, step.names, each)]
            yield from (Members(self._nodes.name(each), step.value) for each in names)
            others = [step.names, self._nodes.no_name(names)] if names else [step.names]
            yield Members(self._nodes.all_of(others), step.value)
        else:
            yield step

    def _by_topic(self, known: Known) -> _NodesByTopic:
        found = self._parts.get(known)
        if found is None:
            found = self._parts[known] = _NodesByTopic()
            self._search.budget.spend(1 + len(known))
            for number in known:
                node = self._nodes[number]
                if number > 0 and isinstance(node, Members):
                    name = name_of(self._nodes, node.names)
                    if name is None:
                        found.guarded.append((node.names, node.value))
                    else:
                        found.named.setdefault(name, []).append(node.value)
                elif number > 0 and isinstance(node, ItemAt | Items):
                    found.items.append(node)
                elif alternatives := alternatives_of(self._nodes, number):
                    found.unions.append(alternatives)
        return found

    def _conjuncts(self, parts: _NodesByTopic, step: Step) -> Iterator[int]:
        """Yield what nodes say of a step that are no unions."""
        if not isinstance(step, Members):
            first = step.place if isinstance(step, ItemAt) else step.start
            for node in parts.items:
                if (isinstance(node, Items) and node.start <= first) or node == attrs.evolve(
                    step, value=node.value
                ):
                    yield node.value
            return
        name = name_of(self._nodes, step.names)
        self._search.budget.spend(len(parts.guarded))
        if name is not None:
            yield from parts.named.get(name, ())
        for guard, value in parts.guarded:
            is_about = None if name is None else applies(self._nodes, guard, name)
            if is_about if is_about is not None else self._is_within(step.names, guard):
                yield value

    def _is_within(self, names: int, guard: int) -> bool:
        texts = self._nodes.add(Kinds(STRING))
        return self._search.find((texts, names, -guard)) is None

    def _union_at(
        self, known: Known, union: tuple[int, ...], step: Step, nested: int
    ) -> Iterable[int]:
        """Return what a union says of a step: what one of its alternatives does."""
        kind = OBJECT if isinstance(step, Members) else ARRAY
        found = []
        for each in union:
            inner = flattened(self._nodes, (each,))
            if not types_of(self._nodes, inner) & kind:
                continue
            if self._search.find((*known, each)) is None:
                continue
            nodes_there = self.child(inner, step, nested)
            if not nodes_there:
                return ()  # an alternative says nothing
            found.append(self._nodes.all_of(nodes_there))
        return (self._nodes.any_of(found) if found else FALSE,)

    def names(self, known: Known) -> list[str]:
        """Return the names of members of which something is known."""
        found = self._names.get(known)
        if found is None:
            # Noted before it is known, as unions may hold themselves.
            found = self._names[known] = []
            parts = self._by_topic(known)
            names = dict.fromkeys(parts.named)
            for each in itertools.chain.from_iterable(parts.unions):
                names.update(dict.fromkeys(self.names(flattened(self._nodes, (each,)))))
            self._search.budget.spend(1 + len(names))
            found += names
        return found

    def _places(self, known: Known) -> list[int]:
        return [each.place for each in self._by_topic(known).items if isinstance(each, ItemAt)]


def flattened(nodes: Nodes, numbers: Iterable[int]) -> Known:
    """Return the nodes that some conjunctions are made of, in order."""
    found: dict[int, None] = {}
    seen: set[int] = set()
    queue = [*numbers][::-1]
    while queue:
        number = queue.pop()
        if number in seen:
            continue
        seen.add(number)
        node = nodes[number]
        if isinstance(node, All) and (number > 0 or len(node.ids) == 1):
            sign = 1 if number > 0 else -1
            queue.extend(sign * each for each in reversed(node.ids))
        elif isinstance(node, SchemaAt):
            queue.append(nodes.targets[node] if number > 0 else -nodes.targets[node])
        else:
            found[number] = None
    return tuple(found)


def alternatives_of(nodes: Nodes, number: int) -> tuple[int, ...]:
    """Return the nodes of which one has to hold; none if a node is no union."""
    node = nodes[number]
    if number > 0 and isinstance(node, One):
        return node.ids
    if number < 0 and isinstance(node, All) and len(node.ids) > 1:
        return tuple([-each for each in node.ids])
    return ()


def types_of(nodes: Nodes, known: Iterable[int]) -> int:
    """Return the types that values may have that meet some nodes."""
    types = -1
    for each in known:
        types &= nodes.types_of(each)
    return types


def tags_of(nodes: Nodes, known: Iterable[int]) -> dict[str, tuple[int, Among]]:
    """Return the members that have one of some values, each with the node that says so."""
    found: dict[str, tuple[int, Among]] = {}
    for number in known:
        node = nodes[number]
        name = name_of(nodes, node.names) if isinstance(node, Members) and number > 0 else None
        if name is not None and isinstance(node, Members):
            for each in flattened(nodes, (node.value,)):
                inner = nodes[each]
                if each > 0 and isinstance(inner, Among):
                    found[name] = each, inner
    return found
