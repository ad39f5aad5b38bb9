"""Language of one pattern: the words it matches, shortest first, and whether it is finite."""

import heapq
import string
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from messagebody._base.budget import Budget
from messagebody.compatibility._solver.step_costs import GROUPS_COMPARED
from messagebody.globs._automaton import Automaton, States

# For readable examples, letters and digits come first and signs last.
_PLEASANT: Final = string.ascii_lowercase + string.digits + string.ascii_uppercase + "_-.+!#$&^/"
_ORDER: Final = {character: place for place, character in enumerate(_PLEASANT)}
# The most equivalent characters to use: more would not make examples better.
_ALIKE: Final = 12
_ROWS_KEPT: Final = 4096
_ROW_STATES: Final = 1 << 26  # of all sets in the rows of one language: at most 8 MiB
# Up to this many states are looked up one by one, because they may be many layers apart.
_FEW: Final = 64
_LONG: Final = 1024
_MANY: Final = 16
"""A set with more members than this, and more bits than `_LONG`, is searched as text."""

PartSet = int
"""A set of schema parts, a bit for each."""
TypeSet = int
"""A set of well-known content types, a bit for each."""

Key = int | bytes
"""A set of states as `key_of` returns it."""
_HASHED: Final = 1 << 61
"""Smaller ints are their own hash."""

Row = tuple[dict[str, States], States]


def readability(character: str) -> int:
    """Return a sort key that puts the most readable characters first."""
    return _ORDER[character]


class Language:
    """The legal words that a pattern matches.

    Results are cached, because the same patterns occur in many schemas.

    Arguments:
        automaton: the automaton of the pattern.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.start = automaton.start
        self.accepting = automaton.accepting
        self.is_empty = automaton.is_empty
        self.size = automaton.size
        self._rows: dict[Key, Row] = {}
        # A row of a long pattern takes kilobytes: one set for each distinguished character.
        self._most_rows = min(
            _ROWS_KEPT, _ROW_STATES // (self.size * (len(automaton.literals) + 2))
        )
        # Sorted, so that the order of equally long words does not depend on hashes.
        self._literals = sorted(automaton.literals, key=readability)

    def row(self, states: States) -> Row:
        """Return the next states for each distinguished character, and those for all others."""
        key = key_of(states)
        found = self._rows.get(key)
        if found is None:
            row = self.automaton.row(states)
            others = row[""]
            # Most characters lead to the same states as the others; only exceptions are kept.
            found = {c: row[c] for c in self._literals if row[c] != others}, others
            if len(self._rows) >= self._most_rows:
                self._rows.clear()
            self._rows[key] = found
        return found

    def row_cost(self, states: States) -> int:
        """Return the steps that `row` takes without its cache."""
        return self.automaton.row_cost(states) // GROUPS_COMPARED

    def new_character(self, taken: Container[str]) -> str:
        """Return the most readable character that is not taken, or "" if all are taken."""
        alphabet = self.automaton.alphabet
        return next((c for c in _PLEASANT if c not in taken and c in alphabet), "")

    @cached_property
    def is_infinite(self) -> bool:
        """Whether there are infinitely many words."""
        return self.automaton.is_infinite

    @cached_property
    def first(self) -> str | None:
        """A shortest word; None if the language is empty."""
        return next(self.words(), None)

    def words(self, budget: Budget | None = None) -> Iterator[str]:
        """Yield different words, shortest first; all of them if the language is finite.

        The search follows the distance to acceptance, so the cost of the first word is its length,
        even if there are many prefixes of that length.

        Arguments:
            budget: the budget; None for a word or two.

        Raises:
            OutOfBudget: the budget ended first.
        """
        if self.is_empty:
            return
        # Each prefix refers to the one before it, because spelled out, long ones would fill memory.
        beginnings: list[tuple[int, str]] = [(-1, "")]
        # Ordered by prefix length plus distance, then longest first, to go straight to the nearest
        # word.
        queue = [(self._distance(self.start, 0), 0, 0, self.start)]
        while queue:
            estimate, length, number, states = heapq.heappop(queue)
            if budget is not None:
                budget.spend(1 + self.row_cost(states))
            if states & self.accepting:
                yield word_of(beginnings, number)
            # One character reduces the distance by at most one.
            nearest = max(estimate + length - 1, 0)
            distances: dict[States, int] = {}
            onwards = list(self._onwards(states))
            if budget is not None:
                budget.spend(len(onwards))
            for character, after in onwards:
                if after not in distances:
                    distances[after] = self._distance(after, nearest)
                estimate = 1 - length + distances[after]
                heapq.heappush(queue, (estimate, length - 1, len(beginnings), after))
                beginnings.append((number, character))

    def _onwards(self, states: States) -> Iterator[tuple[str, States]]:
        reached, others = self.row(states)
        yield from ((c, after) for c, after in reached.items() if after)
        if others:
            plain = [c for c in _PLEASANT if c not in reached and c in self.automaton.alphabet]
            # More words of the same kind would fill the queue without being useful.
            yield from ((c, others) for c in plain[:_ALIKE])

    def _distance(self, states: States, least: int) -> int:
        """Return the number of characters to the nearest word, which is at least `least`."""
        if states.bit_count() <= _FEW:
            return min([self._distances[state] for state in members(states)])
        layers = self._layers
        return next(
            distance
            for distance in range(least, len(layers))
            if states >> layers[distance][0] & layers[distance][1]
        )

    @cached_property
    def _distances(self) -> list[int]:
        return self.automaton.distances()

    @cached_property
    def _layers(self) -> list[tuple[int, States]]:
        """For each distance to acceptance, its lowest state, and the states shifted down by it."""
        layers: dict[int, list[int]] = {}
        for state, distance in enumerate(self._distances):
            if distance <= self.size:
                layers.setdefault(distance, []).append(state)
        found = []
        for distance in range(len(layers)):
            states = layers[distance]
            # Shifted, because states with one distance are close together in any pattern.
            found.append((states[0], sum(1 << state - states[0] for state in states)))
        return found


def word_of(beginnings: Sequence[tuple[int, str]], number: int) -> str:
    """Return a word from linked prefixes.

    Arguments:
        beginnings: for each prefix, the number of the prefix before it (negative for the empty
            word) and its last character.
        number: the number of the word.
    """
    characters: list[str] = []
    while number >= 0:
        number, character = beginnings[number]
        characters.append(character)
    return "".join(reversed(characters))


def key_of(states: States) -> Key:
    """Return a set of states as a key for a dict or a set.

    Python hashes an int modulo 2**61 - 1. Large sets with few states would have few different
    hashes, so that look-ups would take linear time.
    """
    if states < _HASHED:
        return states
    return states.to_bytes((states.bit_length() + 7) // 8, "little")


def bits(mask: int) -> list[int]:
    """Return the bits of a set as ints with a single bit, lowest first."""
    found = []
    while mask:
        found.append(mask & -mask)
        mask &= mask - 1
    return found


def members(states: int) -> list[int]:
    """Return the positions of the bits that are set, lowest first."""
    found = []
    if states.bit_length() > _LONG and states.bit_count() > _MANY:
        # An operation on a long int takes time for all of its bits; searching text is faster.
        digits = f"{states:b}"[::-1]
        at = digits.find("1")
        while at >= 0:
            found.append(at)
            at = digits.find("1", at + 1)
        return found
    while states:
        lowest = states & -states
        found.append(lowest.bit_length() - 1)
        states ^= lowest
    return found


def set_of(numbers: Iterable[int]) -> int:
    """Return a set of numbers, one bit for each."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found
