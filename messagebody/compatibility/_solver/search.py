"""Search the words of several patterns at once, shortest first, with antichains.

The automata of all patterns read one word in parallel. The patterns that should match are *good*,
the others *bad*. A word is dropped if an earlier word reaches all of its good states and no bad
states that it does not reach, because no continuation can make it better. The words that are kept
form an antichain. (De Wulf, Doyen, Henzinger and Raskin, "Antichains", 2006.)
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from messagebody._base.budget import Budget
from messagebody.compatibility._solver.languages import (
    Key,
    Language,
    bits,
    key_of,
    members,
    readability,
    word_of,
)
from messagebody.compatibility._solver.step_costs import (
    BYTES_HELD,
    COMPARED_STATES,
    FOLLOWED_STATES,
    HANDLED_STATES,
    SETS_HELD,
    SMALL_SETS_COMPARED,
    TRANSITIONS,
)

_HEAVY: Final = 64
"""For patterns with more states, the first transitions from a set are charged by their cost."""


def search(
    labelled: Iterable[tuple[int, Language]],
    budget: Budget,
    *,
    good: int,
    bad: int,
    need: Sequence[int],
) -> Iterator[tuple[int, str]]:
    """Yield (signature, word) for every optimal signature, with a shortest word.

    A signature is the union of the labels of the patterns that a word matches. It is optimal unless
    another one has at least its good labels and at most its bad ones. Some signatures that are not
    optimal may be yielded, too.

    Arguments:
        labelled: pairs of a label and a language; a label is a set of bits.
        budget: the budget of the search.
        good: labels that a word should match.
        bad: labels that a word should not match.
        need: at least one set of labels; a word must match one label of each set.

    Raises:
        OutOfBudget: the search ended early, so that signatures may be missing.
    """
    joined = Joined(labelled, budget)
    needed = [joined.states_of(group) for group in need]
    kept = _Antichain(joined, good, bad, budget)
    # With a single good language, its states can be followed one at a time; see `_split`.
    single = joined.single(good) if list(need) == [good] else 0
    if not _meets(joined.start, needed):
        return
    # Each node refers to its predecessor, so that words are spelled only when they are yielded.
    nodes, beginnings = [joined.start], [(-1, "")]
    level_end = 0
    try:
        for index, states in enumerate(nodes):
            if index == level_end:
                level_end = len(nodes)
                kept.begin_level()
            # Another word of the same length is better.
            if key_of(states) in kept.beaten:
                continue
            signature = joined.signature(states)
            if all(signature & group for group in need):
                yield signature, word_of(beginnings, index)
            for character, after in joined.moves(states):
                # A word that can no longer match the needed labels is dropped.
                if _meets(after, needed):
                    admitted = [each for each in _split(after, single) if kept.admit(each)]
                    nodes += admitted
                    beginnings += [(index, character)] * len(admitted)
    finally:
        kept.release()


def _meets(states: int, needed: Sequence[int]) -> bool:
    """Return whether some language of each set can still match."""
    return all(states & group for group in needed)


def _split(states: int, single: int) -> Iterable[int]:
    """Split the states into sets with only one state of the single good language each.

    The single states of the good language are independent alternatives. Following them separately
    leaves fewer combinations: without the split, `/*a{a,b}{a,b}…` makes exponentially many sets.
    """
    here = states & single
    if not here & (here - 1):
        return (states,)
    others = states ^ here
    return [others | bit for bit in bits(here)]


class Joined:
    """Several languages in parallel: the states of all of them in one int, at different offsets.

    Comparing or looking up a set of states is one operation for any number of languages.

    Arguments:
        labelled: pairs of a label and a language.
        budget: the budget for following them.
    """

    def __init__(self, labelled: Iterable[tuple[int, Language]], budget: Budget) -> None:
        self._budget = budget
        self._languages: list[tuple[int, Language, int]] = []  # label, language, offset
        self._offsets: list[int] = []
        self.start = self._accepting = size = 0
        for label, language in labelled:
            self._languages.append((label, language, size))
            self._offsets.append(size)
            self.start |= language.start << size
            self._accepting |= language.accepting << size
            size += language.size
        self.count = len(self._languages)
        self.handling = 1 + size // HANDLED_STATES
        """The steps for handling a set."""
        self.comparing = 1 + size // COMPARED_STATES
        """The cost of comparing two sets, in comparisons of small sets."""
        # The cost of a search must not depend on cached rows, so each search pays for the first
        # time that it follows a set.
        self._followed: set[tuple[int, Key]] = set()

    def states_of(self, labels: int) -> int:
        """Return all states of the languages that have one of the labels."""
        found = 0
        for label, language, offset in self._languages:
            if label & labels:
                found |= ((1 << language.size) - 1) << offset
        return found

    def single(self, labels: int) -> int:
        """Return the states of the only language with one of the labels; 0 if there are several."""
        found = [each for each in self._languages if each[0] & labels]
        return self.states_of(found[0][0] & labels) if len(found) == 1 else 0

    def signature(self, states: int) -> int:
        """Return the labels of the languages that accept in these states."""
        signature = 0
        for label, _, _, _ in self._among(states & self._accepting):
            signature |= label
        return signature

    def moves(self, states: int) -> Iterator[tuple[str, int]]:
        """Yield (character, states) for each distinguished character, and once for all others.

        The most readable characters come first, because of several that lead to the same states,
        the first is kept.
        """
        # The states after any undistinguished character, and the differences for the others.
        ordinary, changes, cost = 0, dict[str, int](), 0
        for _, language, offset, here in self._among(states):
            # A small set costs one step, a large one in proportion to its size.
            cost += max(1, here.bit_count() - FOLLOWED_STATES) + self._first_cost(
                language, offset, here
            )
            self._budget.spend(cost)
            reached, others = language.row(here)
            ordinary |= others << offset
            for character, to in reached.items():
                change = (to ^ others) << offset
                changes[character] = changes.get(character, 0) ^ change
            cost = self.handling - 1 + len(reached) // TRANSITIONS
        other = self._languages[0][1].new_character(changes)
        for character in sorted([*changes, other] if other else changes, key=readability):
            self._budget.spend(self.handling)
            yield character, ordinary ^ changes.get(character, 0)

    def _among(self, states: int) -> Iterator[tuple[int, Language, int, int]]:
        """Yield label, language and offset, and its own states, for each language with some."""
        # From one language that has states to the next, because often most of them have none.
        shifted = 0
        while states:
            lowest = shifted + (states & -states).bit_length() - 1
            label, language, offset = self._languages[bisect_right(self._offsets, lowest) - 1]
            states >>= offset - shifted
            yield label, language, offset, states & ((1 << language.size) - 1)
            states >>= language.size
            shifted = offset + language.size

    def _first_cost(self, language: Language, offset: int, here: int) -> int:
        """Return the steps for following a set of a long pattern; 0 if it was followed before."""
        if language.size <= _HEAVY or (key := (offset, key_of(here))) in self._followed:
            return 0
        self._followed.add(key)
        return language.row_cost(here)


class _Antichain:
    """The sets of states that are worth continuing, so far.

    A set is stored under each of its good states, because a set that is at least as good contains
    all of them. A set of the current level may still be replaced by a better one. So it is also
    stored, as waiting, under one of its good states, which every better set contains.
    """

    __slots__ = (
        "_bad", "_budget", "_comparing", "_good", "_held", "_kept", "_met", "_waiting", "beaten",
    )  # fmt: skip

    def __init__(self, joined: Joined, good: int, bad: int, budget: Budget) -> None:
        self._budget = budget
        self._held = 0
        self._good, self._bad = joined.states_of(good), joined.states_of(bad)
        self._comparing = joined.comparing
        self._met: set[Key] = set()
        self._kept: dict[int, list[tuple[int, int]]] = {}
        self._waiting: dict[int, list[tuple[int, int, Key]]] = {}
        self.beaten: set[Key] = set()
        """The sets for which a better word of the same length was found."""

    def begin_level(self) -> None:
        """Continue with words that are one character longer."""
        # Shorter words have been followed already, so they can't be dropped any more.
        self._waiting.clear()

    def release(self) -> None:
        """Release the counted memory."""
        self._budget.hold(-self._held)
        self._held = 0

    def admit(self, states: int) -> bool:
        """Return whether no earlier set is at least as good, and store the states in that case."""
        key = key_of(states)
        if key in self._met:
            return False
        self._met.add(key)
        budget = self._budget
        size = SETS_HELD * (states.bit_length() >> 3) + BYTES_HELD
        self._held += size
        budget.hold(size)
        better, worse = states & self._good, states & self._bad
        places = members(better) or [-1]
        # Every set that is at least as good has each of these bits, so the shortest list is enough.
        lists = [self._kept.setdefault(place, []) for place in places]
        rivals = min(lists, key=len)
        budget.spend(1 + (len(places) + len(rivals)) * self._comparing // SMALL_SETS_COMPARED)
        # Complements within the patterns are positive numbers, which are faster in Python.
        not_better, not_worse = self._good ^ better, self._bad ^ worse
        for good, bad in rivals:
            if not bad & not_worse and better & good == better:
                return False
        waiting = [each for place in places for each in self._waiting.get(place, ())]
        budget.spend((len(places) + len(waiting)) * self._comparing // SMALL_SETS_COMPARED)
        for good, bad, rival in waiting:
            if not good & not_better and worse & bad == worse:
                self.beaten.add(rival)
        self._waiting.setdefault(places[0], []).append((better, worse, key))
        for each in lists:
            each.append((better, worse))
        return True
