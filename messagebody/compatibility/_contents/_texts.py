"""Texts that match some patterns and not others, shortest first."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final

from messagebody._base.budget import Budget
from messagebody.compatibility._contents._patterns import EVERY, PatternAutomaton
from messagebody.compatibility._solver.languages import word_of

_PLEASANT: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_- .,/:@+"
_LONGEST: Final = 100_000
"""The longest text that is made."""
_CACHED: Final = 256
_COMPARED: Final = 8
"""Characters of texts to leave out that are looked at in a step."""
_STATES: Final = 4
"""States of a pattern that are followed in a step."""
_WORD_HELD: Final = 512
"""Bytes that a text in the search takes."""

Automata = tuple[PatternAutomaton, ...]


class TooLarge(Exception):
    """Stop at a value that is too large to be made."""


def texts(
    wanted: Automata,
    unwanted: Automata,
    budget: Budget,
    *,
    least: int = 0,
    most: int | None = None,
    without: Collection[str] = (),
) -> Iterator[str]:
    """Yield a shortest text first, then one for each other way to continue.

    At least one is yielded if there is any.

    Arguments:
        wanted: patterns that the text matches.
        unwanted: patterns that it does not match.
        budget: the budget.
        least: its fewest characters.
        most: its most characters.
        without: texts to leave out.

    Raises:
        OutOfBudget: the budget ended first.
        TooLarge: the shortest text may be too long.
    """
    if not wanted and not unwanted:
        yield from _plain(least, most, without, budget)
        return
    automata = wanted + unwanted
    number = len(wanted)
    excluded = frozenset(without)
    budget.spend(sum(map(len, excluded)) // _COMPARED)
    beginnings_left_out = {word[:end] for word in excluded for end in range(len(word) + 1)}
    codes = _representatives(automata, "".join(sorted({c for word in excluded for c in word})))
    # A step of an automaton goes over all of its states.
    move = len(codes) * sum(1 + len(each.sets) // _STATES for each in automata)
    start = (tuple(each.start for each in automata), 0, "" if excluded else None)
    seen, nodes, beginnings = {start}, [(start, 0)], [(-1, "")]
    try:
        for place, ((states, _, prefix), length) in enumerate(nodes):
            budget.spend(1 + len(automata))
            if length >= least and prefix not in excluded:
                ends = [
                    each.is_accepting(state) if length else each.accepts_empty
                    for each, state in zip(automata, states, strict=True)
                ]
                if all(ends[:number]) and not any(ends[number:]):
                    yield word_of(beginnings, place)
            if most is not None and length >= most:
                continue
            if length >= _LONGEST:
                raise TooLarge
            budget.spend(move)
            for code in codes:
                after = tuple(
                    [each.step(state, code) for each, state in zip(automata, states, strict=True)]
                )
                if not all(after[:number]):
                    continue
                longer = None if prefix is None else prefix + chr(code)
                longer = longer if longer in beginnings_left_out else None
                node = after, min(length + 1, least), longer
                if node not in seen:
                    budget.hold(_WORD_HELD)
                    seen.add(node)
                    nodes.append((node, length + 1))
                    beginnings.append((place, chr(code)))
    finally:
        budget.hold(-_WORD_HELD * (len(nodes) - 1))


def _plain(least: int, most: int | None, without: Collection[str], budget: Budget) -> Iterator[str]:
    """Yield texts of the right lengths, with no other condition."""
    if least > _LONGEST and (most is None or least <= most):
        raise TooLarge
    alphabet = _PLEASANT
    for length in itertools.count(least):
        if most is not None and length > most:
            return
        # One text more than those left out is enough, and no length has more that matter.
        beginnings = itertools.product(alphabet, repeat=min(length, 6))
        for letters in itertools.islice(beginnings, len(without) + 1):
            budget.spend(1)
            text = "".join(letters) + "a" * (length - len(letters))
            if text not in without:
                yield text
        if length == 1 and len(without) >= len(alphabet):
            yield from _single(without, budget)


def _single(without: Collection[str], budget: Budget) -> Iterator[str]:
    for first, last in EVERY:
        for code in range(max(first, 0x21), last + 1):
            budget.spend(1)
            if chr(code) not in without:
                yield chr(code)
                return


@lru_cache(_CACHED)
def _representatives(automata: Automata, apart: str) -> Sequence[int]:
    """Return a character of each class that the automata tell apart, the most readable first.

    Arguments:
        automata: the automata.
        apart: characters that have a class each.
    """
    sets = list(dict.fromkeys(ranges for each in automata for ranges in each.sets))
    singles = {ord(character) for character in apart}
    bounds = {0, 0xE000, *(code + more for code in singles for more in (0, 1))}
    for first, last in itertools.chain.from_iterable(sets):
        bounds |= {first, last + 1}
    starts = sorted(bound for bound in bounds if not 0xD800 <= bound < 0xE000 and bound < 0x110000)
    readable = [ord(character) for character in _PLEASANT]
    found: dict[tuple[bool, ...] | int, int] = {}
    # Readable characters come first, so that they stand for their classes.
    for code in dict.fromkeys([*readable, *starts]):
        key = (
            code
            if code in singles
            else tuple(any(a <= code <= b for a, b in ranges) for ranges in sets)
        )
        found.setdefault(key, code)
    return tuple(found.values())
