"""Numbers within bounds that are multiples of some numbers and not of others."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import NamedTuple

from messagebody._base.budget import Budget


class Range(NamedTuple):
    """Numbers between two limits; None is no limit."""

    low: Fraction | None = None
    high: Fraction | None = None
    is_above: bool = False
    """Whether the low limit is left out."""
    is_below: bool = False

    def holds(self, number: Fraction) -> bool:
        """Return whether a number is within the limits."""
        return self.reaches(number) and not (
            self.high is not None
            and (number > self.high or (number == self.high and self.is_below))
        )

    def reaches(self, number: Fraction) -> bool:
        """Return whether a number is not below the low limit."""
        return self.low is None or number > self.low or (number == self.low and not self.is_above)

    def raised(self, limit: Fraction, *, is_above: bool) -> "Range":
        """Return the numbers that are also not below another limit."""
        if self.low is None or (limit, is_above) > (self.low, self.is_above):
            return self._replace(low=limit, is_above=is_above)
        return self

    def lowered(self, limit: Fraction, *, is_below: bool) -> "Range":
        """Return the numbers that are also not above another limit."""
        if self.high is None or (-limit, is_below) > (-self.high, self.is_below):
            return self._replace(high=limit, is_below=is_below)
        return self


def common_multiple(numbers: Sequence[Fraction]) -> Fraction:
    """Return the least number that all of some numbers divide."""
    return Fraction(
        lcm(*[each.numerator for each in numbers]), gcd(*[each.denominator for each in numbers])
    )


def number_in(
    range_: Range,
    *,
    whole: bool,
    multiples: Sequence[Fraction],
    others: Sequence[Fraction],
    without: Collection[Fraction],
    budget: Budget,
) -> Fraction | None:
    """Return a number near zero, or None if there is none.

    Arguments:
        range_: its limits.
        whole: whether it is an integer, or is none.
        multiples: it is a multiple of each of these.
        others: it is a multiple of none of these.
        without: numbers to leave out.
        budget: the budget.

    Raises:
        OutOfBudget: the budget ended first.
    """
    low, high = range_.low, range_.high
    if (
        low is not None
        and high is not None
        and (low > high or (low == high and (range_.is_above or range_.is_below)))
    ):
        return None
    steps = [*multiples, Fraction(1)] if whole else multiples
    if steps:
        step = common_multiple(steps)
        candidates = _multiples(step, range_)
        if any((step / each).denominator == 1 for each in others):
            return None
        if not whole and step.denominator == 1:
            return None
    else:
        candidates = _decimals(range_)
    for number in candidates:
        budget.spend(1 + len(others))
        if (
            (number.denominator == 1) is whole
            and number not in without
            and not any((number / each).denominator == 1 for each in others)
        ):
            return number
    return None


def _multiples(step: Fraction, range_: Range) -> Iterator[Fraction]:
    """Yield the multiples of a number within limits, those near zero first."""
    low, high = range_.low, range_.high
    lowest = None if low is None else ceil(low / step)
    highest = None if high is None else floor(high / step)
    if lowest is not None and range_.is_above and lowest * step == low:
        lowest += 1
    if highest is not None and range_.is_below and highest * step == high:
        highest -= 1
    if lowest is not None and lowest > 0:
        numbers = itertools.count(lowest) if highest is None else iter(range(lowest, highest + 1))
    elif highest is not None and highest < 0:
        numbers = (
            itertools.count(highest, -1) if lowest is None else iter(range(highest, lowest - 1, -1))
        )
    else:
        numbers = _outwards(lowest, highest)
    return (number * step for number in numbers)


def _outwards(lowest: int | None, highest: int | None) -> Iterator[int]:
    yield 0
    for size in itertools.count(1):
        if highest is None or size <= highest:
            yield size
        elif lowest is not None and -size < lowest:
            return
        if lowest is None or -size >= lowest:
            yield -size


def _decimals(range_: Range) -> Iterator[Fraction]:
    """Yield decimals within limits, those of few digits first; without end if there are many."""
    low, high = range_.low, range_.high
    if low is not None and low == high:
        yield low
        return
    for digits in itertools.count():
        step = Fraction(1, 10**digits)
        # Some of each number of digits are enough: those that are excluded are few.
        yield from itertools.islice(_multiples(step, range_), 64)
