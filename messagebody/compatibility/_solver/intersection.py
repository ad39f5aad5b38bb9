"""Intersection of two patterns, written as a union of patterns.

Two globs without braces always have one. Two stars that meet let one of them take what lies
before the other: `*u` and `*v` match what `*` and then either `u` beside `*v` or `*u` beside `v`
match. Read left to right, that ends, and gives patterns of the same language. The rule is the
same for characters with `*` in a segment and for segments with `**` in a path.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from messagebody.compatibility._solver.budget import Budget
from messagebody.compatibility._solver.containment import (
    Pattern,
    alternatives,
    are_disjoint,
    contains,
)
from messagebody.globs import NamePattern, content_type_pattern, name_pattern
from messagebody.globs._patterns import branches

_MOST: Final = 64
"""Patterns of one intersection; a richer one is not written."""
_CACHED: Final = 4096
_WRITTEN: Final = 64
"""Steps that a pattern costs to write and to read, besides those for its characters."""

Glob = tuple[str, ...]
"""The characters of a segment, or the segments of a path."""


class TooRich(Exception):
    """End an intersection that would take too many patterns to write."""


def intersection(one: Pattern, other: Pattern, budget: Budget) -> list[str] | None:
    """Return patterns whose union is what two patterns of one kind both match.

    Arguments:
        one: a pattern.
        other: another one.
        budget: what it may cost.

    Returns:
        The patterns; none if the two have nothing in common; None if it takes too many.

    Raises:
        OutOfBudget: the budget ended first.

    Examples:
        >>> intersection(name_pattern("/src/**"), name_pattern("/**/*.py"), Budget())
        ['/src/**/*.py']
        >>> intersection(content_type_pattern("te*/*"), content_type_pattern("*xt/plain"), Budget())
        ['te*xt/plain']
    """
    # One inside the other: the answer people expect, in the words they wrote.
    if contains(one, other, budget):
        return [other.text]
    if contains(other, one, budget):
        return [one.text]
    if are_disjoint(one, other, budget):
        return []
    mine, theirs = _expanded(one), _expanded(other)
    if not 0 < len(mine) * len(theirs) <= _MOST:
        return None
    budget.spend(sum(_WRITTEN + len(a) * len(b) for a, b in product(mine, theirs)))
    split = _path if isinstance(one, NamePattern) else _type
    found: dict[str, None] = {}
    try:
        for a, b in product(mine, theirs):
            found.update(dict.fromkeys(map(_joined, _both(split(a), split(b), "**", _segments))))
    except TooRich:
        return None
    first = "/" if isinstance(one, NamePattern) else ""
    return _without_contained([first + text for text in found], one)


def _expanded(pattern: Pattern) -> Sequence[str]:
    """Return the patterns without braces whose union a pattern is; none if they are too many."""
    return alternatives(pattern) or branches(pattern.syntax)


def _path(text: str) -> Glob:
    """Return the segments of a path; a last `**`, one segment or more, as `**` and `*`."""
    segments = [
        segment if segment == "**" else _single_stars(segment) for segment in text[1:].split("/")
    ]
    # A last `**` takes one segment at least: zero or more, then one.
    return (*segments, "*") if segments[-1] == "**" else tuple(segments)


def _type(text: str) -> Glob:
    return ("*", "*") if text == "**" else tuple(map(_single_stars, text.split("/")))


def _single_stars(segment: str) -> str:
    return re.sub(r"\*+", "*", segment)


def _joined(segments: Glob) -> str:
    if segments[-2:] == ("**", "*"):
        segments = segments[:-1]
    return "/".join(segments)


@lru_cache(_CACHED)
def _segments(one: str, other: str) -> tuple[str, ...]:
    """Return the segments that match what two segments both match."""
    found = _both(tuple(one), tuple(other), "*", lambda a, b: (a,) if a == b else ())
    return tuple([text for text in map("".join, found) if text])


def _both(
    one: Glob, other: Glob, star: str, meet: Callable[[str, str], Sequence[str]]
) -> list[Glob]:
    """Return the globs that match what two globs both match.

    The tails are worked out from the end, so that each pair of tails is met once.

    Arguments:
        one: a glob, of characters or of segments.
        other: another of the same.
        star: what matches any run of them.
        meet: what two single ones have in common.
    """
    known: dict[tuple[int, int], list[Glob]] = {}
    for i in range(len(one), -1, -1):
        for j in range(len(other), -1, -1):
            a, b = one[i : i + 1], other[j : j + 1]
            if not a and not b:
                found: list[Glob] = [()]
            elif a == b == (star,):
                # One of the stars takes what lies before the other.
                found = [(star, *rest) for rest in known[i + 1, j] + known[i, j + 1]]
            elif star in (*a, *b):
                found = _past_star(known, (i, j), a, b, star)
            elif a and b:
                rests = known[i + 1, j + 1]
                found = [(each, *rest) for each in meet(a[0], b[0]) for rest in rests]
            else:
                found = []
            # Orders of two stars often give the same pattern; equal ones would multiply from here
            # on.
            known[i, j] = list(dict.fromkeys(found))
            if len(known[i, j]) > _MOST:
                raise TooRich
    return known[0, 0]


def _past_star(
    known: dict[tuple[int, int], list[Glob]], here: tuple[int, int], a: Glob, b: Glob, star: str
) -> list[Glob]:
    """Go on where one glob has a star and the other has none: it ends, or takes what is there."""
    i, j = here
    ended, taken, there = (
        ((i + 1, j), (i, j + 1), b) if a == (star,) else ((i, j + 1), (i + 1, j), a)
    )
    found = list(known[ended])
    if there:
        found += [(*there, *rest) for rest in known[taken]]
    return found


def _without_contained(texts: Sequence[str], like: Pattern) -> list[str]:
    """Leave out patterns that lie in another one of the list, and those that match nothing."""
    read = name_pattern if isinstance(like, NamePattern) else content_type_pattern
    patterns: list[Pattern] = [read(text) for text in texts]
    patterns = [pattern for pattern in patterns if not pattern.is_empty]
    kept = [
        pattern
        for place, pattern in enumerate(patterns)
        if not any(
            # Of two equal patterns the first is kept.
            contains(other, pattern) and (number < place or not contains(pattern, other))
            for number, other in enumerate(patterns)
            if number != place
        )
    ]
    return [pattern.text for pattern in kept]
