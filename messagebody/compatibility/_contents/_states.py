"""A state of a search: what one value of one type has to meet, with the choices that are left."""

from collections.abc import Iterable
from itertools import combinations
from typing import Self

from messagebody.compatibility._contents._nodes import (
    All,
    Node,
    Nodes,
    One,
    SchemaAt,
    Types,
    Unknown,
)

Choice = tuple[int, ...]
"""Nodes of which at least one has to hold."""


class ValueState:
    """What a value of one type has to meet.

    Attributes:
        literals: nodes about the type, each with whether it holds.
        choices: nodes of which one has to hold.
    """

    __slots__ = ("choices", "kind", "literals", "nodes", "seen")

    def __init__(self, nodes: Nodes, kind: Types) -> None:
        self.nodes = nodes
        self.kind = kind
        self.seen: set[int] = set()
        self.literals: list[tuple[Node, bool]] = []
        self.choices: list[Choice] = []

    def copy(self) -> Self:
        """Return a state that can be changed without this one."""
        other = type(self)(self.nodes, self.kind)
        other.seen = set(self.seen)
        other.literals = list(self.literals)
        other.choices = list(self.choices)
        return other

    def add(self, ids: Iterable[int]) -> bool:
        """Let nodes hold, and return whether that may be."""
        queue = list(ids)[::-1]
        seen = self.seen
        while queue:
            number = queue.pop()
            if number in seen:
                continue
            if -number in seen:
                return False
            seen.add(number)
            node, holds = self.nodes[number], number > 0
            if isinstance(node, All):
                if holds:
                    queue.extend(reversed(node.ids))
                else:
                    self.choices.append(tuple([-each for each in node.ids]))
            elif isinstance(node, One):
                self.choices.append(self._of_one(node, holds))
            elif isinstance(node, SchemaAt):
                target = self.nodes.targets[node]
                queue.append(target if holds else -target)
            elif not self._add_literal(node, number):
                return False
        return True

    def _add_literal(self, node: Node, number: int) -> bool:
        """Note a literal that says something of the type, and return whether it may hold."""
        if not self.nodes.types_of(number) & self.kind:
            return False
        # What holds for all values of the type says nothing of them.
        if self.nodes.types_of(-number) & self.kind and not isinstance(node, Unknown):
            self.literals.append((node, number > 0))
        return True

    def _of_one(self, node: One, holds: bool) -> Choice:
        """Return the ways in which exactly one of some nodes holds, or not exactly one."""
        ids, all_of = node.ids, self.nodes.all_of
        if holds:
            return tuple(
                all_of([each, *[-other for j, other in enumerate(ids) if j != i]])
                for i, each in enumerate(ids)
            )
        return all_of([-each for each in ids]), *[all_of(pair) for pair in combinations(ids, 2)]

    def propagate(self) -> bool:
        """Decide all choices that have one way left; return whether none has no way."""
        is_changed = True
        while is_changed:
            is_changed = False
            left: list[Choice] = []
            choices, self.choices = self.choices, left
            for choice in choices:
                options = self._options(choice)
                if options is None:
                    continue
                if not options:
                    return False
                if len(options) == 1:
                    if not self.add(options):
                        return False
                    is_changed = True
                else:
                    left.append(options)
        return True

    def _options(self, choice: Choice) -> Choice | None:
        """Return the ways that are left; None if one of them holds anyway."""
        left = []
        for option in choice:
            known = self.known(option)
            if known:
                return None
            if known is None:
                left.append(option)
        return tuple(left)

    def known(self, number: int) -> bool | None:
        """Return whether a node holds for all that this may be, or for nothing; None if unclear."""
        if number in self.seen:
            return True
        if -number in self.seen or not self.nodes.types_of(number) & self.kind:
            return False
        if not self.nodes.types_of(-number) & self.kind:
            return True
        node = self.nodes[number]
        if number > 0 and isinstance(node, All):
            each = [self.known(inner) for inner in node.ids]
            if False in each:
                return False
            return True if all(each) else None
        return None
