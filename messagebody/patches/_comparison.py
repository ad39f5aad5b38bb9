"""What differs between two contents, by lines; the time is linear in their size."""

import io
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from messagebody.patches._edits import Splice

_BLOCK: Final = 65_536
_MOST_LINES: Final = 1_000_000
"""Lines that are compared; a text of more is compared from both ends only."""
_SHORT: Final = 32
"""Bytes that cost less to send again than an edit of their own."""
_ROUNDS: Final = 8
"""How often lines between those that are equal are compared again."""
_CONTINUES: Final = range(0x80, 0xC0)
"""Bytes in the middle of a character of UTF-8."""


class _Stretch(NamedTuple):
    """Bytes of the old content, and those of the new one in their place."""

    old: int
    old_end: int
    new: int
    new_end: int


def edits_between(old: bytes, new: bytes) -> tuple[Splice, ...]:
    """Return edits that make one content of another.

    Examples:
        >>> edits_between(b"It is cold.", b"It is warm.")
        (Splice(at=6, cut=4, data=b'warm'),)
    """
    ranges = [*_trimmed(old, new, _Stretch(0, len(old), 0, len(new)))]
    lines = sum(old.count(b"\n", *each[:2]) + new.count(b"\n", *each[2:]) for each in ranges)
    for _ in range(_ROUNDS if lines <= _MOST_LINES else 0):
        before = ranges
        ranges = [finer for each in before for finer in _between_equal_lines(old, new, each)]
        if ranges == before:
            break
    return tuple(
        Splice(each.old, each.old_end - each.old, new[each.new : each.new_end])
        for each in _merged(ranges)
    )


# Ends that are equal


def _trimmed(old: bytes, new: bytes, each: _Stretch) -> Iterator[_Stretch]:
    """Yield a range without what is equal at its ends, if anything else is in it.

    No character of UTF-8 is cut, so that what an edit puts in can be text.
    """
    start, stop, begin, end = each
    most = min(stop - start, end - begin)
    same = _longest(
        most, lambda low, high: old[start + low : start + high] == new[begin + low : begin + high]
    )
    same = _whole(same, lambda size: _cuts(old, start + size) or _cuts(new, begin + size))
    start, begin = start + same, begin + same
    same = _longest(
        most - same, lambda low, high: old[stop - high : stop - low] == new[end - high : end - low]
    )
    same = _whole(same, lambda size: _cuts(old, stop - size) or _cuts(new, end - size))
    if start < stop - same or begin < end - same:
        yield _Stretch(start, stop - same, begin, end - same)


def _longest(most: int, is_equal: Callable[[int, int], bool]) -> int:
    """Return how many bytes are equal, by blocks and then by halves."""
    found, step = 0, min(_BLOCK, 1 << most.bit_length())
    while step:
        while found + step <= most and is_equal(found, found + step):
            found += step
        step //= 2
    return found


def _whole(size: int, cuts: Callable[[int], bool]) -> int:
    """Return a size that cuts no character; bytes that are no text have none nearby."""
    sizes = range(size, max(size - 4, -1), -1)
    return next((each for each in sizes if not cuts(each)), size)


def _cuts(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] in _CONTINUES


# Lines that are equal


def _between_equal_lines(old: bytes, new: bytes, each: _Stretch) -> Iterator[_Stretch]:
    """Yield what lies between the lines that each side of a range has once, in the same order."""
    mine = io.BytesIO(old[each.old : each.old_end]).readlines()
    theirs = io.BytesIO(new[each.new : each.new_end]).readlines()
    there = _once(theirs)
    equal = _ascending([(at, there[line]) for line, at in _once(mine).items() if line in there])
    if not equal:
        yield each
        return
    ends = [*accumulate(map(len, mine), initial=each.old)]
    others = [*accumulate(map(len, theirs), initial=each.new)]
    start = begin = 0
    for at, place in [*equal, (len(mine), len(theirs))]:
        if (at, place) != (start, begin):
            yield from _trimmed(
                old, new, _Stretch(ends[start], ends[at], others[begin], others[place])
            )
        start, begin = at + 1, place + 1


def _once(lines: Sequence[bytes]) -> dict[bytes, int]:
    """Return the lines that are there once, with their numbers."""
    counts = Counter(lines)
    return {line: number for number, line in enumerate(lines) if counts[line] == 1}


def _ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest list of pairs, which ascend already, that ascends in its second, too."""
    ends: list[int] = []
    """The smallest end of a list of each length."""
    last: list[int] = []
    """The pair that it ends with."""
    before: list[int] = []
    """For each pair the one before it in its list."""
    for number, (_, place) in enumerate(pairs):
        if not ends or place > ends[-1]:
            before.append(last[-1] if last else -1)
            ends.append(place)
            last.append(number)
        else:
            length = bisect_left(ends, place)
            before.append(last[length - 1] if length else -1)
            ends[length], last[length] = place, number
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _merged(ranges: Sequence[_Stretch]) -> list[_Stretch]:
    """Return ranges, in which those close to each other are one."""
    found: list[_Stretch] = []
    for each in ranges:
        if found and each.old - found[-1].old_end < _SHORT:
            found[-1] = found[-1]._replace(old_end=each.old_end, new_end=each.new_end)
        else:
            found.append(each)
    return found
