"""What differs between two contents: the fewest edits that can be found in linear time."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from messagebody.patches._edits import Splice

_BLOCK: Final = 65_536
_MOST_LINES: Final = 1_000_000
"""Lines that are compared; a text of more is compared from both ends only."""
_WORDS: Final = 65_536
"""Bytes of a line or a paragraph in which words are compared."""
_SHORT: Final = 32
"""Bytes that cost less to send again than an edit of its own."""
_ROUNDS: Final = 8
"""How often lines between those that are equal are compared again."""
_WORD: Final = re.compile(rb"\w+|\W")
_CONTINUES: Final = range(0x80, 0xC0)


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
    whole = _trimmed(old, new, _Stretch(0, len(old), 0, len(new)))
    lines = _finer(old, new, whole, _lines) if _is_listed(old, new, whole) else [whole]
    words = [finer for each in lines for finer in _by_words(old, new, each)]
    ranges = _merged(each for each in words if each.old < each.old_end or each.new < each.new_end)
    return tuple(
        Splice(each.old, each.old_end - each.old, new[each.new : each.new_end])
        for each in _whole_characters(old, new, ranges)
    )


def _is_listed(old: bytes, new: bytes, whole: _Stretch) -> bool:
    lines = old.count(b"\n", whole.old, whole.old_end)
    return lines + new.count(b"\n", whole.new, whole.new_end) <= _MOST_LINES


def _by_words(old: bytes, new: bytes, each: _Stretch) -> list[_Stretch]:
    sizes = (each.old_end - each.old, each.new_end - each.new)
    if max(sizes) > _WORDS or min(sizes) < _SHORT:
        return [each]
    return _finer(old, new, each, _WORD.findall)


def _lines(data: bytes) -> list[bytes]:
    return (
        data.splitlines(keepends=True)
        if b"\r" not in data
        else re.findall(rb"[^\n]*\n|[^\n]+", data)
    )


# Ends that are equal


def _trimmed(old: bytes, new: bytes, each: _Stretch) -> _Stretch:
    """Return a range without what is equal at its ends."""
    before = _common(old, new, each)
    each = each._replace(old=each.old + before, new=each.new + before)
    after = _common_end(old, new, each)
    return each._replace(old_end=each.old_end - after, new_end=each.new_end - after)


def _common(old: bytes, new: bytes, each: _Stretch) -> int:
    most = min(each.old_end - each.old, each.new_end - each.new)
    return _longest(
        most,
        lambda start, end: (
            old[each.old + start : each.old + end] == new[each.new + start : each.new + end]
        ),
    )


def _common_end(old: bytes, new: bytes, each: _Stretch) -> int:
    most = min(each.old_end - each.old, each.new_end - each.new)
    return _longest(
        most,
        lambda start, end: (
            old[each.old_end - end : each.old_end - start]
            == new[each.new_end - end : each.new_end - start]
        ),
    )


def _longest(most: int, is_equal: Callable[[int, int], bool]) -> int:
    """Return how many bytes are equal, by blocks and then by halves."""
    found, step = 0, _BLOCK
    while step:
        while found + step <= most and is_equal(found, found + step):
            found += step
        step //= 2
    return found


# Lines or words that are equal


def _finer(
    old: bytes, new: bytes, whole: _Stretch, split: Callable[[bytes], Sequence[bytes]]
) -> list[_Stretch]:
    """Return the ranges in a range between pieces that both contents have in the same order."""
    mine, theirs = split(old[whole.old : whole.old_end]), split(new[whole.new : whole.new_end])
    places, others = _places(whole.old, mine), _places(whole.new, theirs)
    ranges = []
    start = stop = 0
    for at, end in [*_equal(mine, theirs), (len(mine), len(theirs))]:
        if (at, end) != (start, stop):
            found = _Stretch(places[start], places[at], others[stop], others[end])
            ranges.append(_trimmed(old, new, found))
        start, stop = at + 1, end + 1
    return ranges


def _places(start: int, pieces: Sequence[bytes]) -> list[int]:
    places = [start]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    return places


def _equal(mine: Sequence[bytes], theirs: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return pairs of equal pieces, ascending in both.

    Pieces that each side has once are the anchors; between them it is asked again.
    """
    found: list[tuple[int, int]] = []
    work = [(0, len(mine), 0, len(theirs), 0)]
    while work:
        start, end, other, stop, rounds = work.pop()
        while start < end and other < stop and mine[start] == theirs[other]:
            found.append((start, other))
            start, other = start + 1, other + 1
        while start < end and other < stop and mine[end - 1] == theirs[stop - 1]:
            end, stop = end - 1, stop - 1
            found.append((end, stop))
        if start == end or other == stop or rounds == _ROUNDS:
            continue
        anchors = _anchors(mine, theirs, range(start, end), range(other, stop))
        if not anchors:
            continue
        found += anchors
        for at, place in [*anchors, (end, stop)]:
            work.append((start, at, other, place, rounds + 1))
            start, other = at + 1, place + 1
    return sorted(found)


def _anchors(
    mine: Sequence[bytes], theirs: Sequence[bytes], some: range, others: range
) -> list[tuple[int, int]]:
    """Return the longest ascending list of pairs of pieces that each side has once."""
    once, there = _once(mine, some), _once(theirs, others)
    pairs = [(at, there[piece]) for piece, at in once.items() if piece in there]
    return [*_ascending(pairs)]


def _once(pieces: Sequence[bytes], where: range) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    twice: set[bytes] = set()
    for at in where:
        if pieces[at] in found:
            twice.add(pieces[at])
        found[pieces[at]] = at
    return {piece: at for piece, at in found.items() if piece not in twice}


def _ascending(pairs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the longest list of pairs, which ascend already, that ascends in its second, too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            last.append(number)
        else:
            ends[length], last[length] = place, number
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    yield from reversed(chain)


# Ranges that cost little


def _merged(ranges: Iterator[_Stretch]) -> list[_Stretch]:
    """Return ranges, in which those close to each other are one."""
    found: list[_Stretch] = []
    for each in ranges:
        if found and each.old - found[-1].old_end < _SHORT:
            found[-1] = found[-1]._replace(old_end=each.old_end, new_end=each.new_end)
        else:
            found.append(each)
    return found


def _whole_characters(old: bytes, new: bytes, ranges: list[_Stretch]) -> Iterator[_Stretch]:
    """Yield ranges that cut no character of UTF-8, so that what they put in can be text."""
    floor = 0
    for each in ranges:
        start = 0
        while start < min(3, each.old - floor) and (
            _cuts(old, each.old - start) or _cuts(new, each.new - start)
        ):
            start += 1
        end = 0
        while end < min(3, len(old) - each.old_end) and (
            _cuts(old, each.old_end + end) or _cuts(new, each.new_end + end)
        ):
            end += 1
        floor = each.old_end + end
        yield _Stretch(each.old - start, floor, each.new - start, each.new_end + end)


def _cuts(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] in _CONTINUES
