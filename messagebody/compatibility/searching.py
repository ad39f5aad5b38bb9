"""Search the words of several patterns at once, shortest first, without looking twice.

The automata of the patterns run side by side over one word. Those that should accept are *good*,
the others *bad*. A word that has reached no more good states and no fewer bad ones than an
earlier word can never do better, whatever follows, so it is dropped: what is kept is an
antichain. (De Wulf, Doyen, Henzinger and Raskin, "Antichains", 2006.)
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from messagebody.compatibility.budgets import Budget
from messagebody.compatibility.languages import Language, pleasant_order

__all__ = ["search"]

_States = tuple[int, ...]
_PER_STEP: Final = 16
"""Comparisons that cost as much as a step."""


def search(
    labelled: Iterable[tuple[int, Language]],
    budget: Budget,
    *,
    good: int,
    bad: int,
    need: Sequence[int] = (),
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
        need: sets of labels; a word must match one of each.

    Raises:
        OutOfBudget: the search ended early; nothing follows from what it did not yield.
    """
    rows = list(labelled)
    sides = _Sides(rows, good, bad)
    groups = [[i for i, (label, _) in enumerate(rows) if label & group] for group in need]
    languages = [language for _, language in rows]
    start = tuple(language.start for language in languages)
    nodes: list[tuple[_States, int, str]] = [(start, -1, "")]
    for index, (states, _, _) in enumerate(nodes):
        signature = 0
        for (label, language), here in zip(rows, states, strict=True):
            if here & language.accepting:
                signature |= label
        if signature and all(signature & group for group in need):
            yield signature, _spell(nodes, index)
        for character, after in _moves(languages, states, groups):
            budget.spend(1)
            if sides.admit(after, budget):
                nodes.append((after, index, character))


def _moves(
    languages: Sequence[Language], states: _States, groups: Sequence[Sequence[int]]
) -> Iterator[tuple[str, _States]]:
    """Yield each character that makes a difference, and one for all others, with what it leads to.

    Of the groups of languages, one of each must still be alive.
    """
    rows = [language.row(here) for language, here in zip(languages, states, strict=True)]
    characters: set[str] = set().union(*[reached for reached, _ in rows])
    for group in groups:
        if not any(rows[i][1] for i in group):
            characters &= set().union(*[rows[i][0] for i in group])
    for character in sorted(characters, key=pleasant_order):
        after = tuple([reached.get(character, others) for reached, others in rows])
        if all(any(after[i] for i in group) for group in groups):
            yield character, after
    after = tuple([others for _, others in rows])
    if any(after) and all(any(after[i] for i in group) for group in groups):
        told_apart = set().union(*[reached for reached, _ in rows])
        other = languages[0].another(told_apart)
        if other:
            yield other, after


@attrs.define(init=False)
class _Sides:
    """The states met so far, as far as they are worth going on from."""

    _offsets: list[int]
    _good: int
    _bad: int
    _met: set[_States]
    _kept: list[tuple[int, int]]

    def __init__(self, rows: Sequence[tuple[int, Language]], good: int, bad: int) -> None:
        self._offsets, self._good, self._bad = [], 0, 0
        self._met, self._kept = set(), []
        offset = 0
        for label, language in rows:
            span = ((1 << language.size) - 1) << offset
            self._good |= span if label & good else 0
            self._bad |= span if label & bad else 0
            self._offsets.append(offset)
            offset += language.size

    def admit(self, states: _States, budget: Budget) -> bool:
        """Tell whether nothing met so far is at least as good, and remember the states if so."""
        if states in self._met:
            return False
        self._met.add(states)
        joined = 0
        for here, offset in zip(states, self._offsets, strict=True):
            joined |= here << offset
        better, worse = joined & self._good, joined & self._bad
        budget.spend(len(self._kept) // _PER_STEP)
        for good, bad in self._kept:
            if not better & ~good and not bad & ~worse:
                return False
        self._kept = [
            (good, bad) for good, bad in self._kept if good & ~better or worse & ~bad
        ]
        self._kept.append((better, worse))
        return True


def _spell(nodes: Sequence[tuple[_States, int, str]], index: int) -> str:
    characters: list[str] = []
    while index >= 0:
        _, index, character = nodes[index]
        characters.append(character)
    return "".join(reversed(characters))
