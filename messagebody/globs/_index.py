"""An index of many patterns, which finds the patterns that match a word in nearly constant time.

Patterns without stars and braces, and patterns of a common shape, are found by look-ups. All others
run in parallel as one deterministic automaton, whose states are built when a word reaches them. The
state after the last "/" of a word is remembered, because names share directories and content types
share types. If many patterns may still match and words keep reaching new states, each pattern is
tried by itself, because building a state takes longer than that.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import attrs

from messagebody.globs._patterns import ContentTypePattern, NamePattern, Shape

if TYPE_CHECKING:
    from messagebody.globs._automaton import Automaton

_MOST_DIRECTORIES: Final = 65_536
"""Directories whose patterns are remembered, because strangers choose the names."""

Words = dict[str, int]


@attrs.define(eq=False)
class _Segments:
    """Forms of a last segment, with the set of patterns for each.

    Arguments:
        always: the patterns that match any segment.
        exact: patterns by the whole segment.
        ends: patterns by the length of a suffix and the suffix.
        affixes: patterns by the lengths of a prefix and a suffix, and both joined with a "/".
    """

    always: int = 0
    exact: Words = attrs.field(factory=dict)
    ends: dict[int, Words] = attrs.field(factory=dict)
    affixes: dict[tuple[int, int], Words] = attrs.field(factory=dict)

    def add(self, shape: Shape, patterns: int) -> None:
        if shape.lasts is None:
            self.exact[shape.first] = self.exact.get(shape.first, 0) | patterns
            return
        for last in shape.lasts:
            self._add_ends(shape.first, last, patterns)

    def _add_ends(self, first: str, last: str, patterns: int) -> None:
        if not first and not last:
            self.always |= patterns
            return
        if first:
            words = self.affixes.setdefault((len(first), len(last)), {})
            # No segment holds a "/", so two pairs never have the same key.
            word = f"{first}/{last}"
        else:
            words, word = self.ends.setdefault(len(last), {}), last
        words[word] = words.get(word, 0) | patterns


class _Applying:
    """Everything that applies to the last segments in one directory, arranged for speed."""

    __slots__ = ("affixes", "always", "ends", "exact")

    def __init__(self, found: Iterable[_Segments]) -> None:
        self.always = 0
        self.exact: list[Words] = []
        self.ends: list[tuple[int, Words]] = []
        self.affixes: list[tuple[int, int, Words]] = []
        for segments in found:
            self.always |= segments.always
            self.exact += [segments.exact] if segments.exact else []
            # A negative length, so that `segment[length:]` is the suffix.
            self.ends += [(-length, words) for length, words in segments.ends.items()]
            self.affixes += [(*lengths, words) for lengths, words in segments.affixes.items()]


class ShapeIndex:
    """Finds all shapes that a legal name has; a set of patterns is an int, a bit for each."""

    __slots__ = ("_applying", "_by_directory", "is_empty")

    def __init__(self) -> None:
        self._by_directory: dict[tuple[str, bool], _Segments] = {}
        self._applying: dict[str, _Applying] = {}
        self.is_empty = True

    def add(self, shape: Shape, patterns: int) -> None:
        """Add a shape that belongs to a set of patterns."""
        key = shape.directory, shape.deep
        self._by_directory.setdefault(key, _Segments()).add(shape, patterns)
        self._applying.clear()
        self.is_empty = False

    def find(self, directory: str, segment: str) -> int:
        """Return the patterns whose shapes a name has.

        Arguments:
            directory: the name up to and including its last "/".
            segment: the rest.
        """
        applying = self._applying.get(directory) or self._find_applying(directory)
        found = applying.always
        for words in applying.exact:
            if segment in words:
                found |= words[segment]
        for length, words in applying.ends:
            end = segment[length:]
            if end in words:
                found |= words[end]
        for first, last, words in applying.affixes:
            # Beginning and end may not overlap.
            if first + last <= len(segment):
                ends = f"{segment[:first]}/{segment[len(segment) - last :]}"
                found |= words.get(ends, 0)
        return found

    def _find_applying(self, directory: str) -> _Applying:
        """Return the shapes that apply in a directory: its own, and deep ones of its parents."""
        ends = [index + 1 for index, character in enumerate(directory) if character == "/"]
        # Flat shapes apply in their own directory, deep shapes also in all directories below.
        keys = [(directory, False), *((directory[:end], True) for end in ends)]
        if len(self._applying) >= _MOST_DIRECTORIES:
            self._applying.clear()
        found = (self._by_directory[key] for key in keys if key in self._by_directory)
        applying = self._applying[directory] = _Applying(found)
        return applying


# Bounds on the memory that hostile words can make an index use.
_MOST_NODES: Final = 4096
_MOST_HEADS: Final = 65_536
# Up to this many patterns, a state is always built.
_FEW_LIVE: Final = 64
# Building a state takes longer than trying its patterns with this many words.
_WORDS_OF_A_STATE: Final = 2
# What may be spent on states before any pattern was tried: some tenths of a second.
_FIRST_TRIED: Final = 200_000


@attrs.define(eq=False)
class _JointState:
    """A state of the joint automaton: the patterns that match, and those that may still match.

    Arguments:
        live: an automaton and its set of states, for each pattern that may still match.
        found: the patterns that match the word read so far.
        moves: the next node for each character that was read here before.
    """

    live: tuple[tuple[int, int], ...]
    found: int
    moves: dict[str, "_JointState"] = attrs.field(factory=dict)


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

    __slots__ = (
        "_always", "_automata", "_heads", "_literals", "_nodes", "_patterns", "_root", "_shapes",
        "_tried",
    )  # fmt: skip

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
        self._patterns: list[NamePattern | ContentTypePattern] = []
        for pattern, found in sets.items():
            self._add(pattern, found)
        self._tried = _FIRST_TRIED
        self._forget()

    def add(self, pattern: NamePattern | ContentTypePattern, found: int) -> None:
        """Add a pattern that belongs to a set of patterns."""
        known = len(self._automata)
        self._add(pattern, found)
        if len(self._automata) > known:
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
            self._patterns.append(pattern)

    def find(self, word: str) -> int:
        """Return the set of patterns that match a legal name, or a lower-case `type/subtype`."""
        found = self._always
        if word in self._literals:
            found |= self._literals[word]
        # Remember the node after a directory or a type, because the words of a body share them.
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
            node = self._follow(self._root, head)
            if node is None:
                return self._try(self._root, head + rest)
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            self._heads[head] = node
        last = self._follow(node, rest)
        return self._try(node, head + rest) if last is None else last.found

    def _follow(self, node: _JointState, text: str) -> _JointState | None:
        """Return the state after more characters; None if building a state is not worth it."""
        for character in text:
            after = node.moves.get(character)
            if after is None:
                if not self._is_worth_it(node):
                    return None
                after = self._grow(node, character)
            node = after
        return node

    def _is_worth_it(self, node: _JointState) -> bool:
        """Return whether the patterns tried so far would have paid for a state, and take that."""
        price = _WORDS_OF_A_STATE * len(node.live)
        if len(node.live) > _FEW_LIVE:
            if self._tried < price:
                return False
            self._tried -= price
        return True

    def _try(self, node: _JointState, word: str) -> int:
        """Return the patterns that match a word, of those that may still match in a state."""
        self._tried += len(node.live)
        found = 0
        for number, _ in node.live:
            if self._patterns[number].matches_word(word):
                found |= self._automata[number][1]
        return found

    def _grow(self, node: _JointState, character: str) -> _JointState:
        live = tuple(
            (number, after)
            for number, states in node.live
            # Not `step`, because the nodes already remember the results.
            if (after := self._automata[number][0].move(states, character))
        )
        if len(self._nodes) >= _MOST_NODES:
            self._forget()
        after_node = self._nodes.get(live)
        if after_node is None:
            after_node = self._nodes[live] = _JointState(live, self._found(live))
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
        """Drop all remembered nodes, to bound the memory for hostile words and patterns."""
        self._nodes: dict[tuple[tuple[int, int], ...], _JointState] = {}
        self._heads: dict[str, _JointState] = {}
        live = tuple(
            (number, automaton.start)
            for number, (automaton, _) in enumerate(self._automata)
            if automaton.start
        )
        self._root = _JointState(live, 0)
