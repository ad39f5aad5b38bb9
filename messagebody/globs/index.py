"""Many patterns at once: which of them match a word, at a cost that hardly grows with their number.

Patterns written without stars and braces, and those of a common shape, are looked up. All others
run side by side as one deterministic automaton that is built where words lead it, and the part of
a word before its last "/" is remembered, for names share directories and content types share
types.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import attrs

from messagebody.globs.patterns import ContentTypePattern, NamePattern
from messagebody.globs.shapes import ShapeIndex

if TYPE_CHECKING:
    from messagebody.globs.automaton import Automaton

# Bounds of what hostile words can make an index remember.
_MOST_NODES: Final = 4096
_MOST_HEADS: Final = 65_536


@attrs.define(eq=False)
class _Node:
    """A state of the joint automaton: the patterns that may still match, and those that do.

    Arguments:
        live: automaton and its set of states, for the patterns not yet ruled out.
        found: the patterns that match the word read so far.
        moves: the node after each character read here before.
    """

    live: tuple[tuple[int, int], ...]
    found: int
    moves: dict[str, "_Node"] = attrs.field(factory=dict)


class PatternIndex:
    """Finds all patterns that match a word.

    Arguments:
        patterns: patterns of one kind; a set of them is an int, bit `i` for the one at `i`.
            None matches nothing.

    Examples:
        >>> from messagebody.globs import name_pattern
        >>> index = PatternIndex([name_pattern("/a/*"), name_pattern("/**"), name_pattern("/b")])
        >>> bin(index.find("/a/1")), bin(index.find("/b"))
        ('0b11', '0b110')
    """

    __slots__ = ("_always", "_automata", "_heads", "_literals", "_nodes", "_root", "_shapes")

    def __init__(self, patterns: Sequence[NamePattern | ContentTypePattern | None]) -> None:
        self._literals: dict[str, int] = {}
        self._always = 0
        sets: dict[NamePattern | ContentTypePattern, int] = {}
        for position, pattern in enumerate(patterns):
            if pattern is not None:
                # Equal patterns of several schema parts are run once.
                sets[pattern] = sets.get(pattern, 0) | 1 << position
        self._shapes = ShapeIndex()
        self._automata: list[tuple[Automaton, int]] = []
        for pattern, found in sets.items():
            self._add(pattern, found)
        self._forget()

    def _add(self, pattern: NamePattern | ContentTypePattern, found: int) -> None:
        if pattern.is_universal:
            self._always |= found
        elif pattern.literal is not None:
            self._literals[pattern.literal] = self._literals.get(pattern.literal, 0) | found
        elif isinstance(pattern, NamePattern) and pattern.shapes:
            for shape in pattern.shapes:
                self._shapes.add(shape, found)
        else:
            self._automata.append((pattern.automaton, found))

    def find(self, word: str) -> int:
        """Return the set of patterns that match a legal name, or a lower-case `type/subtype`."""
        found = self._always
        if word in self._literals:
            found |= self._literals[word]
        # What a directory or a type leads to is remembered, since the words of a body share them.
        end = word.rfind("/") + 1
        head, rest = word[:end], word[end:]
        if not self._shapes.is_empty:
            found |= self._shapes.find(head, rest)
        if self._automata:
            found |= self._run(head, rest)
        return found

    def _run(self, head: str, rest: str) -> int:
        node = self._heads.get(head)
        if node is None:
            node = self._remember_head(head)
        for character in rest:
            after = node.moves.get(character)
            node = self._grow(node, character) if after is None else after
        return node.found

    def _remember_head(self, head: str) -> _Node:
        node = self._root
        for character in head:
            after = node.moves.get(character)
            node = self._grow(node, character) if after is None else after
        if len(self._heads) >= _MOST_HEADS:
            self._heads.clear()
        self._heads[head] = node
        return node

    def _grow(self, node: _Node, character: str) -> _Node:
        live = tuple(
            (number, after)
            for number, states in node.live
            # `move`, not `step`: the nodes remember, and automata would hold everything a second
            # time.
            if (after := self._automata[number][0].move(states, character))
        )
        if len(self._nodes) >= _MOST_NODES:
            self._forget()
        after_node = self._nodes.get(live)
        if after_node is None:
            after_node = self._nodes[live] = _Node(live, self._found(live))
        node.moves[character] = after_node
        return after_node

    def _found(self, live: tuple[tuple[int, int], ...]) -> int:
        found = 0
        for number, states in live:
            automaton, patterns = self._automata[number]
            if states & automaton.accepting:
                found |= patterns
        return found

    def _forget(self) -> None:
        """Begin anew: what hostile words and patterns can make us remember has a bound."""
        self._nodes: dict[tuple[tuple[int, int], ...], _Node] = {}
        self._heads: dict[str, _Node] = {}
        live = tuple(
            (number, automaton.start)
            for number, (automaton, _) in enumerate(self._automata)
            if automaton.start
        )
        self._root = _Node(live, 0)
