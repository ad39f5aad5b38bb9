"""Search the words of several patterns at once, shortest first, without looking twice.

The automata of the patterns run side by side over one word. Those that should accept are *good*,
the others *bad*. A word that has reached no more good states and no fewer bad ones than an
earlier word can never do better, whatever follows, so it is dropped: what is kept is an
antichain. (De Wulf, Doyen, Henzinger and Raskin, "Antichains", 2006.)
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from messagebody.compatibility._solver.budget import Budget
from messagebody.compatibility._solver.languages import (
    Key,
    Language,
    bits,
    key_of,
    members,
    pleasant_order,
    spelled,
)

_PER_STEP: Final = 12
"""Comparisons of small sets that cost as much as a step."""

_LARGE: Final = 2048
"""States of all patterns together whose sets take a comparison longer to compare."""

_WORDS: Final = 8192
"""States of all patterns together whose sets cost a step more to handle."""

_HEAVY: Final = 64
"""States of a pattern from which on following them is charged by what is compared."""

_MOVED: Final = 8
"""Moves of one pattern by one character that cost as much as a step."""

_FEW: Final = 16
"""States that one pattern moves on from in a step; each one more costs a step."""

_SETS: Final = 5
"""Sets of states that one word met takes: to go on from, to compare, and to find it again."""

_ENTRIES: Final = 512
"""Bytes that it takes besides, in lists and tables."""


def search(
    labelled: Iterable[tuple[int, Language]],
    budget: Budget,
    *,
    good: int,
    bad: int,
    need: Sequence[int],
) -> Iterator[tuple[int, str]]:
    """Yield (signature, word) for every signature worth knowing, with a shortest word.

    A signature is the union of the labels of the patterns that a word matches. It is worth
    knowing unless another one has at least its good labels and at most its bad ones; some that
    are not worth knowing may be yielded too.

    Arguments:
        labelled: pairs of a label and a language; a label is a set of bits.
        budget: what the search may cost.
        good: labels it is good to match.
        bad: labels it is bad to match.
        need: sets of labels; a word must match one of each, and there is at least one set.

    Raises:
        OutOfBudget: the search ended early; nothing follows from what it did not yield.
    """
    joined = _Joined(labelled, budget)
    needed = [joined.of(group) for group in need]
    kept = _Antichain(joined, good, bad, budget)
    # With one good language the question is about its states one at a time; see `_split`.
    alone = joined.alone(good) if list(need) == [good] else 0
    if not _meets(joined.start, needed):
        return
    # Each node knows its predecessor: words are spelled only when they are yielded.
    nodes, beginnings = [joined.start], [(-1, "")]
    level_end = 0
    try:
        for index, states in enumerate(nodes):
            if index == level_end:
                level_end = len(nodes)
                kept.begin_level()
            # Beaten while it waited, by another word of the same length.
            if key_of(states) in kept.beaten:
                continue
            signature = joined.signature(states)
            if all(signature & group for group in need):
                yield signature, spelled(beginnings, index)
            for character, after in joined.moves(states):
                # A word that can't reach what is needed any more is dropped with all that would
                # follow it.
                if _meets(after, needed):
                    admitted = [each for each in _split(after, alone) if kept.admit(each)]
                    nodes += admitted
                    beginnings += [(index, character)] * len(admitted)
    finally:
        kept.let_go()


def _meets(states: int, needed: Sequence[int]) -> bool:
    """Return whether some language of each set still has a future."""
    return all(states & group for group in needed)


def _split(states: int, alone: int) -> Iterable[int]:
    """Return the states with one state at a time of the language that alone is good.

    Which of its states a word has reached is then no part of the question, so fewer sets of the
    others have to be told apart: without it, `/*a{a,b}{a,b}…` makes exponentially many.
    """
    here = states & alone
    if not here & (here - 1):
        return (states,)
    others = states ^ here
    return [others | bit for bit in bits(here)]


class _Joined:
    """Languages side by side: the states of all of them in one int, each at an offset of its own.

    Sets of states are then compared, and looked up, in one operation, however many languages.

    Arguments:
        labelled: pairs of a label and a language.
        budget: what following them may cost.
    """

    def __init__(self, labelled: Iterable[tuple[int, Language]], budget: Budget) -> None:
        self._budget = budget
        self._languages: list[tuple[int, Language, int]] = []  # label, language, offset
        self.start = size = 0
        for label, language in labelled:
            self._languages.append((label, language, size))
            self.start |= language.start << size
            size += language.size
        self.words = 1 + size // _WORDS
        """What handling a set costs, in steps."""
        self.comparing = 1 + size // _LARGE
        """What comparing two sets costs, in comparisons of small ones."""
        # What a search costs must not depend on what others have looked up before, so that each
        # pays for the first time that it follows a set.
        self._followed: set[tuple[int, Key]] = set()

    def of(self, labels: int) -> int:
        """Return all states of the languages with one of some labels."""
        found = 0
        for label, language, offset in self._languages:
            if label & labels:
                found |= ((1 << language.size) - 1) << offset
        return found

    def alone(self, labels: int) -> int:
        """Return the states of the one language with one of some labels; 0 if there are more."""
        found = [each for each in self._languages if each[0] & labels]
        return self.of(found[0][0] & labels) if len(found) == 1 else 0

    def signature(self, states: int) -> int:
        """Return the labels of the languages that accept."""
        signature = 0
        for label, language, offset in self._languages:
            if states >> offset & language.accepting:
                signature |= label
        return signature

    def moves(self, states: int) -> Iterator[tuple[str, int]]:
        """Yield what each character that makes a difference leads to, and one for all others.

        The most pleasant come first: of those that lead to the same, the first is kept.
        """
        # Where the characters lead that no language tells apart, and what the others change.
        ordinary, changes, cost = 0, dict[str, int](), 0
        for _, language, offset in self._languages:
            here = states >> offset & ((1 << language.size) - 1)
            if not here:
                continue
            # A set of a few states costs a step; of many, in proportion.
            cost += max(1, here.bit_count() - _FEW) + self._first_cost(language, offset, here)
            self._budget.spend(cost)
            reached, others = language.row(here)
            ordinary |= others << offset
            for character, to in reached.items():
                change = (to ^ others) << offset
                changes[character] = changes.get(character, 0) ^ change
            cost = len(reached) // _MOVED
        other = self._languages[0][1].another(changes)
        for character in sorted([*changes, other] if other else changes, key=pleasant_order):
            self._budget.spend(self.words)
            yield character, ordinary ^ changes.get(character, 0)

    def _first_cost(self, language: Language, offset: int, here: int) -> int:
        """Return the steps that following a set of a long pattern costs; 0 if it was followed."""
        if language.size <= _HEAVY or (key := (offset, key_of(here))) in self._followed:
            return 0
        self._followed.add(key)
        return language.row_cost(here)


class _Antichain:
    """The sets of states met so far, as far as they are worth going on from.

    A set is stored under each of its good states, because a set that is at least as good contains
    all of them. A set of the current level, which a better one may still replace, is also stored
    under one of its good states, because the better one contains that state too.
    """

    __slots__ = (
        "_bad", "_budget", "_comparing", "_good", "_held", "_kept", "_met", "_waiting", "beaten",
    )  # fmt: skip

    def __init__(self, joined: _Joined, good: int, bad: int, budget: Budget) -> None:
        self._budget = budget
        self._held = 0
        self._good, self._bad = joined.of(good), joined.of(bad)
        self._comparing = joined.comparing
        self._met: set[Key] = set()
        self._kept: dict[int, list[tuple[int, int]]] = {}
        self._waiting: dict[int, list[tuple[int, int, Key]]] = {}
        self.beaten: set[Key] = set()
        """Those for which something better came that is not longer."""

    def begin_level(self) -> None:
        """Go on to words that are longer by one character."""
        # Shorter words have been followed already: only those still waiting can be dropped.
        self._waiting.clear()

    def let_go(self) -> None:
        """Give back the memory that is held."""
        self._budget.hold(-self._held)
        self._held = 0

    def admit(self, states: int) -> bool:
        """Return whether nothing met so far is at least as good, and remember the states if so."""
        key = key_of(states)
        if key in self._met:
            return False
        self._met.add(key)
        budget = self._budget
        size = _SETS * (states.bit_length() >> 3) + _ENTRIES
        self._held += size
        budget.hold(size)
        better, worse = states & self._good, states & self._bad
        places = members(better) or [-1]
        # Whatever is at least as good holds each of these bits, so the shortest list of rivals is
        # enough.
        shelves = [self._kept.setdefault(place, []) for place in places]
        rivals = min(shelves, key=len)
        budget.spend(1 + (len(places) + len(rivals)) * self._comparing // _PER_STEP)
        # Complements within the patterns are positive numbers, with which Python is faster.
        not_better, not_worse = self._good ^ better, self._bad ^ worse
        for good, bad in rivals:
            if not bad & not_worse and better & good == better:
                return False
        waiting = [each for place in places for each in self._waiting.get(place, ())]
        budget.spend((len(places) + len(waiting)) * self._comparing // _PER_STEP)
        for good, bad, rival in waiting:
            if not good & not_better and worse & bad == worse:
                self.beaten.add(rival)
        self._waiting.setdefault(places[0], []).append((better, worse, key))
        for shelf in shelves:
            shelf.append((better, worse))
        return True
