"""Language of one pattern: the words it matches, shortest first, and whether they are finite."""

import heapq
import string
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from messagebody.compatibility._solver.budget import Budget
from messagebody.globs._automaton import Automaton, States

# Examples are shown to people: letters and digits first, signs last.
_PLEASANT: Final = string.ascii_lowercase + string.digits + string.ascii_uppercase + "_-.+!#$&^/"
_ORDER: Final = {character: place for place, character in enumerate(_PLEASANT)}
# Where characters are alike, as many of them as somebody could want to see used.
_ALIKE: Final = 12
COMPARED: Final = 4
"""Comparisons of a set of states with a group that cost as much as a step."""
_ROWS_KEPT: Final = 4096
_ROW_STATES: Final = 1 << 26  # of all sets in the rows of one language: at most 8 MiB
# States that are looked at one by one: far ones would lie many layers apart.
_FEW: Final = 64
_LONG: Final = 1024
_MANY: Final = 16
"""A set of more bits than that, and more members, is looked through as text."""

PartSet = int
"""A set of schema parts, a bit for each."""
TypeSet = int
"""A set of well-known content types, a bit for each."""

Key = int | bytes
"""A set of states as `key_of` returns it."""
_HASHED: Final = 1 << 61
"""Ints below it are their own hash."""

Row = tuple[dict[str, States], States]


def pleasant_order(character: str) -> int:
    """Return a sort key: the characters a person would like to read come first."""
    return _ORDER[character]


class Language:
    """The legal words a pattern matches.

    What is found out is kept: patterns repeat from schema to schema.

    Arguments:
        automaton: that of the pattern.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.start = automaton.start
        self.accepting = automaton.accepting
        self.is_empty = automaton.is_empty
        self.size = automaton.size
        self._rows: dict[Key, Row] = {}
        # A row of a long pattern takes kilobytes: a set for each character that makes a difference.
        self._most_rows = min(
            _ROWS_KEPT, _ROW_STATES // (self.size * (len(automaton.literals) + 2))
        )
        # In order: which of two equally long words comes first must not be a matter of hashes.
        self._literals = sorted(automaton.literals, key=pleasant_order)

    def row(self, states: States) -> Row:
        """Return where each character leads that makes a difference, and where all others do."""
        key = key_of(states)
        found = self._rows.get(key)
        if found is None:
            row = self.automaton.row(states)
            others = row[""]
            # Most characters lead where the others do; only the exceptions are kept.
            found = {c: row[c] for c in self._literals if row[c] != others}, others
            if len(self._rows) >= self._most_rows:
                self._rows.clear()
            self._rows[key] = found
        return found

    def row_cost(self, states: States) -> int:
        """Return the steps that `row` takes where it is not looked up."""
        return self.automaton.row_cost(states) // COMPARED

    def another(self, taken: Container[str]) -> str:
        """Return the most pleasant character that is not taken, or "" if all are."""
        alphabet = self.automaton.alphabet
        return next((c for c in _PLEASANT if c not in taken and c in alphabet), "")

    @cached_property
    def is_infinite(self) -> bool:
        """Whether there is no end of words."""
        return self.automaton.is_infinite

    @cached_property
    def first(self) -> str | None:
        """A shortest word, None if there is none."""
        return next(self.words(), None)

    def words(self, budget: Budget | None = None) -> Iterator[str]:
        """Yield different words, shortest first; all of them if they are finitely many.

        The search follows the distance to acceptance, so the first word costs no more than its
        length, however many beginnings of that length there are.

        Arguments:
            budget: what it may cost; None for a word or two of a pattern.

        Raises:
            OutOfBudget: the budget ended first.
        """
        if self.is_empty:
            return
        # Each beginning knows the one before it: spelled out, long ones would fill the memory.
        beginnings: list[tuple[int, str]] = [(-1, "")]
        # Ordered by length so far plus distance, then longest first: straight to the nearest word.
        queue = [(self._distance(self.start, 0), 0, 0, self.start)]
        while queue:
            estimate, length, number, states = heapq.heappop(queue)
            if budget is not None:
                budget.spend(1 + self.row_cost(states))
            if states & self.accepting:
                yield spelled(beginnings, number)
            # One character brings the nearest word nearer by one at most.
            nearest = max(estimate + length - 1, 0)
            distances: dict[States, int] = {}
            for character, after in self._onwards(states):
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
            # More words of the same kind would help nobody and fill the queue.
            yield from ((c, others) for c in plain[:_ALIKE])

    def _distance(self, states: States, least: int) -> int:
        """Return how many characters the nearest word still needs; it is known to be some."""
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
        """By distance to the nearest word, the states, as a set moved down to its lowest one."""
        layers: dict[int, list[int]] = {}
        for state, distance in enumerate(self._distances):
            if distance <= self.size:
                layers.setdefault(distance, []).append(state)
        found = []
        for distance in range(len(layers)):
            states = layers[distance]
            # Moved down: states of one distance lie close together in a pattern of any length.
            found.append((states[0], sum(1 << state - states[0] for state in states)))
        return found


def spelled(beginnings: Sequence[tuple[int, str]], number: int) -> str:
    """Return a word, given its beginnings: the number of the one before, and the character.

    Arguments:
        beginnings: by number; that of the empty word has a number below 0 before it.
        number: that of the word.
    """
    characters: list[str] = []
    while number >= 0:
        number, character = beginnings[number]
        characters.append(character)
    return "".join(reversed(characters))


def key_of(states: States) -> Key:
    """Return a set of states as a key of a dict or a set.

    The hash of an int is its rest by a power of two less one, so that the hashes of sets of a few
    far states are few, and looking one up would be linear in their number.
    """
    if states < _HASHED:
        return states
    return states.to_bytes((states.bit_length() + 7) // 8, "little")


def bits(mask: int) -> list[int]:
    """Return the single bits of a set, lowest first."""
    found = []
    while mask:
        found.append(mask & -mask)
        mask &= mask - 1
    return found


def members(states: int) -> list[int]:
    """Return the numbers of the bits that are set, lowest first."""
    found = []
    if states.bit_length() > _LONG and states.bit_count() > _MANY:
        # Each operation on a long number costs as much as all of its bits: text is searched faster.
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
    """Return the set of some numbers, a bit for each."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found
