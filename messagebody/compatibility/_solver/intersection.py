"""Intersection of two patterns, written as a union of patterns.

The intersection of two globs without braces is always such a union. If both begin with a star, one
star matches the longer text: the intersection of `*u` and `*v` is `*` followed by the intersection
of `u` and `*v`, or of `*u` and `v`. Applied from left to right, this rule terminates. It is the
same for characters and `*` in a segment, and for segments and `**` in a path.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from messagebody._base.budget import Budget
from messagebody.compatibility._solver.containment import (
    Pattern,
    alternatives,
    are_disjoint,
    contains,
)
from messagebody.compatibility._solver.step_costs import PATTERN_WRITTEN
from messagebody.globs import NamePattern, content_type_pattern, name_pattern
from messagebody.globs._patterns import branches

_MOST: Final = 64
"""The most patterns in an intersection."""
_CACHED: Final = 4096
"""Pairs of patterns whose intersections are remembered."""
Glob = tuple[str, ...]
"""The characters of a segment, or the segments of a path."""


class TooRich(Exception):
    """Stop an intersection that needs too many patterns."""


def intersection(one: Pattern, other: Pattern, budget: Budget) -> list[str] | None:
    """Return patterns whose union is the intersection of two patterns of one kind.

    Arguments:
        one: a pattern.
        other: another pattern of the same kind.
        budget: the budget.

    Returns:
        The patterns; an empty list if the two are disjoint; None if there would be too many.

    Raises:
        OutOfBudget: the budget ended first.

    Examples:
        >>> intersection(name_pattern("/src/**"), name_pattern("/**/*.py"), Budget())
        ['/src/**/*.py']
        >>> intersection(content_type_pattern("te*/*"), content_type_pattern("*xt/plain"), Budget())
        ['te*xt/plain']
    """
    # If one contains the other, the text of the contained pattern is what users expect.
    if contains(one, other, budget):
        return [other.text]
    if contains(other, one, budget):
        return [one.text]
    if are_disjoint(one, other, budget):
        return []
    mine, theirs = _expanded(one), _expanded(other)
    if not 0 < len(mine) * len(theirs) <= _MOST:
        return None
    budget.spend(sum(PATTERN_WRITTEN + len(a) * len(b) for a, b in product(mine, theirs)))
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
    """Return the brace expansions of a pattern; an empty sequence if there are too many."""
    return alternatives(pattern) or branches(pattern.syntax)


def _path(text: str) -> Glob:
    """Return the segments of a path, with a last `**` as `**` and `*`."""
    segments = [
        segment if segment == "**" else _single_stars(segment) for segment in text[1:].split("/")
    ]
    # A last `**` matches at least one segment: zero or more, then one.
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
    """Return the segments whose union is the intersection of two segments."""
    found = _both(tuple(one), tuple(other), "*", lambda a, b: (a,) if a == b else ())
    return tuple([text for text in map("".join, found) if text])


def _both(
    one: Glob, other: Glob, star: str, meet: Callable[[str, str], Sequence[str]]
) -> list[Glob]:
    """Return the globs whose union is the intersection of two globs.

    The suffixes are intersected from the end, so that each pair of suffixes is handled once.

    Arguments:
        one: a glob of characters or of segments.
        other: another glob of the same elements.
        star: the element that matches any run of elements.
        meet: a function that returns the intersection of two elements.
    """
    known: dict[tuple[int, int], list[Glob]] = {}
    for i in range(len(one), -1, -1):
        for j in range(len(other), -1, -1):
            a, b = one[i : i + 1], other[j : j + 1]
            if not a and not b:
                found: list[Glob] = [()]
            elif a == b == (star,):
                # One of the two stars matches the longer text.
                found = [(star, *rest) for rest in known[i + 1, j] + known[i, j + 1]]
            elif star in (*a, *b):
                found = _past_star(known, (i, j), a, b, star)
            elif a and b:
                rests = known[i + 1, j + 1]
                found = [(each, *rest) for each in meet(a[0], b[0]) for rest in rests]
            else:
                found = []
            # Both orders of two stars often give the same pattern; duplicates would multiply.
            known[i, j] = list(dict.fromkeys(found))
            if len(known[i, j]) > _MOST:
                raise TooRich
    return known[0, 0]


def _past_star(
    known: dict[tuple[int, int], list[Glob]], here: tuple[int, int], a: Glob, b: Glob, star: str
) -> list[Glob]:
    """Continue where only one glob has a star: the star ends, or matches the other's element."""
    i, j = here
    ended, taken, there = (
        ((i + 1, j), (i, j + 1), b) if a == (star,) else ((i, j + 1), (i + 1, j), a)
    )
    found = list(known[ended])
    if there:
        found += [(*there, *rest) for rest in known[taken]]
    return found


def _without_contained(texts: Sequence[str], like: Pattern) -> list[str]:
    """Leave out empty patterns, and patterns that another pattern in the list contains."""
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
