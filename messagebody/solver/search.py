"""Search the words of several patterns at once, shortest first, without looking twice.

The automata of the patterns run side by side over one word. Those that should accept are *good*,
the others *bad*. A word that has reached no more good states and no fewer bad ones than an
earlier word can never do better, whatever follows, so it is dropped: what is kept is an
antichain. (De Wulf, Doyen, Henzinger and Raskin, "Antichains", 2006.)
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from messagebody.solver.budget import Budget
from messagebody.solver.languages import Language, bits, pleasant_order

_States = tuple[tuple[int, int], ...]
"""The languages that still have a future, by position, each with its set of states."""

_PER_STEP: Final = 16
"""Comparisons that cost as much as a step."""

_WORDS: Final = 8192
"""States of all patterns together whose sets cost a step more to compare."""

_HEAVY: Final = 64
"""States of a pattern from which on following them is charged by what is compared."""

_LOOKED_UP: Final = 8
"""Sets of states looked up for a character in a step."""

_FEW: Final = 16
"""States that one pattern moves on from in a step; each one more costs a step."""


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
    pairs = list(labelled)
    sides = _Sides(pairs, good, bad)
    rows = _Rows(pairs)
    # With one good language the question is about its states one at a time; see `_split`.
    alone = _only_good(pairs, good, need)
    start = tuple((i, each.start) for i, (_, each) in enumerate(pairs) if each.start)
    if not _meets(_labels(pairs, start), need):
        return
    # Each node knows its predecessor: words are spelled only when they are yielded.
    nodes: list[tuple[_States, int, str]] = [(start, -1, "")]
    level_end = 0
    for index, (states, _, _) in enumerate(nodes):
        if index == level_end:
            level_end = len(nodes)
            sides.begin_level()
        # Beaten while it waited, by another word of the same length.
        if states in sides.beaten:
            continue
        signature = _signature(pairs, states)
        if _meets(signature, need):
            yield signature, _spell(nodes, index)
        for character, reached in _moves(pairs, states, rows, budget):
            # A word that can't reach what is needed any more is dropped with all that would follow
            # it.
            if _meets(_labels(pairs, reached), need):
                nodes.extend(
                    (after, index, character)
                    for after in _split(reached, alone)
                    if sides.admit(after, budget)
                )


def _signature(pairs: Sequence[tuple[int, Language]], states: _States) -> int:
    """Return the labels of the languages that accept."""
    signature = 0
    for i, here in states:
        label, language = pairs[i]
        if here & language.accepting:
            signature |= label
    return signature


def _labels(pairs: Sequence[tuple[int, Language]], states: _States) -> int:
    """Return the labels of the languages that still have a future."""
    labels = 0
    for i, _ in states:
        labels |= pairs[i][0]
    return labels


def _only_good(pairs: Sequence[tuple[int, Language]], good: int, need: Sequence[int]) -> int:
    """Return the position of the language that alone is good, and needed; -1 if there is none."""
    found = [i for i, (label, _) in enumerate(pairs) if label & good]
    return found[0] if len(found) == 1 and need == (good,) else -1


def _split(states: _States, alone: int) -> Iterator[_States]:
    """Yield the states with one state at a time of the language that alone is good.

    Which of its states a word has reached is then no part of the question, so fewer sets of the
    others have to be told apart: without it, `/*a{a,b}{a,b}…` makes exponentially many.
    """
    here = dict(states).get(alone, 0)
    if not here & (here - 1):
        yield states
        return
    for bit in bits(here):
        yield tuple([(i, bit if i == alone else each) for i, each in states])


def _meets(labels: int, need: Sequence[int]) -> bool:
    return all(labels & group for group in need)


def _moves(
    pairs: Sequence[tuple[int, Language]], states: _States, costs: "_Rows", budget: Budget
) -> Iterator[tuple[str, _States]]:
    """Yield what each character that makes a difference leads to, and one for all others.

    The most pleasant come first: of those that lead to the same, the first is kept.
    """
    # A set of a few states costs a step; of many, in proportion.
    cost = sum([max(1, here.bit_count() - _FEW) for _, here in states])
    budget.spend(cost + costs.of(states))
    rows = [(i, *pairs[i][1].row(here)) for i, here in states]
    told_apart = {character for _, reached, _ in rows for character in reached}
    # One character stands for all that no language tells apart.
    other = pairs[0][1].another(told_apart)
    for character in sorted(told_apart | set(other), key=pleasant_order):
        # The sets are looked up by now, which is a fraction of following them.
        budget.spend(1 + len(states) // _LOOKED_UP)
        yield (
            character,
            tuple(
                [(i, to) for i, reached, others in rows if (to := reached.get(character, others))]
            ),
        )


class _Rows:
    """What it costs to follow sets of states of long patterns, each set once in a search.

    Sets are followed once and then looked up, but what a search costs must not depend on what
    other searches have looked up before.
    """

    __slots__ = ("_followed", "_heavy")

    def __init__(self, pairs: Sequence[tuple[int, Language]]) -> None:
        self._heavy = {i: each for i, (_, each) in enumerate(pairs) if each.size > _HEAVY}
        self._followed: set[tuple[int, int]] = set()

    def of(self, states: _States) -> int:
        """Return the steps that sets not followed before cost."""
        if not self._heavy:
            return 0
        fresh = [each for each in states if each[0] in self._heavy and each not in self._followed]
        self._followed.update(fresh)
        return sum([self._heavy[i].row_cost(here) for i, here in fresh])


class _Sides:
    """The sets of states met so far, as far as they are worth going on from.

    They are kept by each good state in them, since whatever is at least as good as a set has any
    one of its good states.
    """

    __slots__ = ("_bad", "_good", "_kept", "_level", "_met", "_offsets", "_words", "beaten")

    def __init__(self, pairs: Sequence[tuple[int, Language]], good: int, bad: int) -> None:
        self._offsets: list[int] = []
        self._good = self._bad = offset = 0
        self._met: set[_States] = set()
        self._kept: dict[int, list[tuple[int, int, _States, int]]] = {}
        self._level = 0
        self.beaten: set[_States] = set()
        """Those for which something better came that is not longer."""
        for label, language in pairs:
            # All states side by side in one int: comparing two words is then two operations.
            span = ((1 << language.size) - 1) << offset
            self._good |= span if label & good else 0
            self._bad |= span if label & bad else 0
            self._offsets.append(offset)
            offset += language.size
        self._words = 1 + offset // _WORDS

    def begin_level(self) -> None:
        """Go on to words that are longer by one character."""
        self._level += 1

    def admit(self, states: _States, budget: Budget) -> bool:
        """Tell whether nothing met so far is at least as good, and remember the states if so."""
        if states in self._met:
            return False
        self._met.add(states)
        joined = 0
        for i, here in states:
            joined |= here << self._offsets[i]
        better, worse = joined & self._good, joined & self._bad
        # Whatever is at least as good holds each of these bits, so the shortest list of rivals is
        # enough.
        shelves = [self._kept.setdefault(bit, []) for bit in bits(better) or [0]]
        rivals = min(shelves, key=len)
        budget.spend((1 + len(rivals) // _PER_STEP) * self._words)
        for good, bad, _, _ in rivals:
            if not better & ~good and not bad & ~worse:
                return False
        for shelf in shelves:
            budget.spend(len(shelf) // _PER_STEP * self._words)
            for good, bad, rival, level in shelf:
                # A shorter word that was beaten has been followed already: only those still waiting
                # matter.
                if level == self._level and not good & ~better and not worse & ~bad:
                    self.beaten.add(rival)
            shelf.append((better, worse, states, self._level))
        return True


def _spell(nodes: Sequence[tuple[_States, int, str]], index: int) -> str:
    characters: list[str] = []
    while index >= 0:
        _, index, character = nodes[index]
        characters.append(character)
    return "".join(reversed(characters))
