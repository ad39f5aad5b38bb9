"""Order and heights of the points in columns, so that lines cross little and are straight."""

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

_SWEEPS: Final = 12
"""Passes in which columns are put in order; more change little."""
_LARGE: Final = 2_000
"""From this many pieces on, there are fewer passes."""
_LEVELS: Final = 20
"""Passes in which lines are made straight."""
_STRAIGHT: Final = 8
"""How much more the middle of a long line weighs than its ends."""


@attrs.frozen
class LinePiece:
    """A piece of edges, from one column to the next, to the one before, or within one.

    Arguments:
        start: the point where it begins.
        end: the point where it ends.
        edges: all edges that share it.
    """

    start: int
    end: int
    edges: tuple[int, ...]


def untangled(column_of: Sequence[int], pieces: Sequence[LinePiece]) -> list[list[int]]:
    """Return the points of each column in an order in which few lines cross.

    Each column is sorted by the mean height of its neighbours, from left to right and back, and
    the best order is kept. What is not connected stands below each other.

    Examples:
        >>> untangled([0, 0, 1, 1], [LinePiece(0, 3, (0,)), LinePiece(1, 2, (1,))])
        [[0, 1], [3, 2]]
    """
    order, part_of = _walked(len(column_of), pieces)
    columns: list[list[int]] = [[] for _ in range(max(column_of, default=-1) + 1)]
    for point in order:
        columns[column_of[point]].append(point)
    sides = _sides(column_of, pieces)
    place = {point: i for column in columns for i, point in enumerate(column)}
    fewest, best = _crossings(columns, sides[1], place), [*map(list, columns)]
    for sweep in range(_SWEEPS if len(pieces) < _LARGE else _SWEEPS // 3):
        if not fewest:
            break
        near = sides[sweep % 2]
        # Places count from the middle, because columns have different numbers of points.
        height = {
            point: i - len(column) / 2 for column in columns for i, point in enumerate(column)
        }
        for column in reversed(columns) if sweep % 2 else columns:
            wanted = {point: (part_of[point], _mean(point, near, height)) for point in column}
            column.sort(key=wanted.__getitem__)
            height.update((point, i - len(column) / 2) for i, point in enumerate(column))
        place = {point: i for column in columns for i, point in enumerate(column)}
        count = _crossings(columns, sides[1], place)
        if count < fewest:
            fewest, best = count, [*map(list, columns)]
    return best


def _walked(count: int, pieces: Iterable[LinePiece]) -> tuple[list[int], list[int]]:
    """Return the points as a walk along the lines meets them, and the part that each is in."""
    near: list[list[int]] = [[] for _ in range(count)]
    for piece in pieces:
        near[piece.start].append(piece.end)
        near[piece.end].append(piece.start)
    order: list[int] = []
    part_of = [-1] * count
    for root in range(count):
        pending = [root]
        while pending:
            point = pending.pop()
            if part_of[point] < 0:
                part_of[point] = root
                order.append(point)
                pending += reversed(near[point])
    return order, part_of


def _sides(
    column_of: Sequence[int], pieces: Iterable[LinePiece]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the neighbours of each point in the column before, and in the one after it."""
    before: list[list[int]] = [[] for _ in column_of]
    after: list[list[int]] = [[] for _ in column_of]
    for piece in pieces:
        left, right = sorted((piece.start, piece.end), key=column_of.__getitem__)
        if column_of[left] != column_of[right]:
            before[right].append(left)
            after[left].append(right)
    return before, after


def _mean(point: int, near: Sequence[Sequence[int]], height: dict[int, float]) -> float:
    others = near[point] or [point]
    return sum(height[each] for each in others) / len(others)


def _crossings(
    columns: Iterable[Iterable[int]], after: Sequence[Sequence[int]], place: dict[int, int]
) -> int:
    """Return how often lines cross between columns."""
    count = 0
    for column in columns:
        ends: list[int] = []
        for point in column:
            mine = sorted(place[each] for each in after[point])
            count += sum(len(ends) - bisect_right(ends, each) for each in mine)
            for each in mine:
                insort(ends, each)
    return count


# Heights


def levels(
    columns: Sequence[Sequence[int]],
    pieces: Sequence[LinePiece],
    size: Callable[[int], float],
    is_passed: Callable[[int], bool],
    gap: float,
) -> dict[int, float]:
    """Return the height of each point, at which lines are as straight as its column allows.

    Arguments:
        columns: the points of each column from the top.
        pieces: the pieces of lines.
        size: how tall a point is.
        is_passed: whether a point is the middle of a line.
        gap: the room between two points of a column.

    Examples:
        >>> levels([[0, 1], [2]], [LinePiece(0, 2, (0,))], lambda _: 10, lambda _: False, 5)
        {0: 5.0, 1: 20.0, 2: 5.0}
    """
    near: dict[int, list[tuple[int, int]]] = {point: [] for each in columns for point in each}
    for piece in pieces:
        if piece.start != piece.end:
            weight = _STRAIGHT ** (is_passed(piece.start) + is_passed(piece.end))
            near[piece.start].append((piece.end, weight))
            near[piece.end].append((piece.start, weight))
    level: dict[int, float] = {}
    for column in columns:
        level.update(_apart(column, dict.fromkeys(column, (0.0, 1)), size, gap))
    for sweep in range(_LEVELS):
        for column in reversed(columns) if sweep % 2 else columns:
            wanted = {}
            for point in column:
                weight = sum(each for _, each in near[point])
                mean = sum(level[other] * each for other, each in near[point])
                wanted[point] = (mean / weight, weight) if weight else (level[point], 1)
            level.update(_apart(column, wanted, size, gap))
    top = min((level[each] - size(each) / 2 for each in level), default=0)
    return {point: found - top for point, found in level.items()}


def _apart(
    column: Sequence[int],
    wanted: dict[int, tuple[float, int]],
    size: Callable[[int], float],
    gap: float,
) -> dict[int, float]:
    """Return heights in order and apart, as near as possible to the wanted ones (least squares)."""
    offset, offsets = 0.0, dict[int, float]()
    # Neighbours that would overlap move together, to the mean of what they want.
    blocks: list[tuple[float, int, list[int]]] = []
    for i, point in enumerate(column):
        offset += (size(column[i - 1]) + size(point)) / 2 + gap if i else 0
        offsets[point] = offset
        mean, weight, points = wanted[point][0] - offset, wanted[point][1], [point]
        while blocks and blocks[-1][0] >= mean:
            before, more, others = blocks.pop()
            mean = (before * more + mean * weight) / (more + weight)
            weight, points = weight + more, others + points
        blocks.append((mean, weight, points))
    return {point: mean + offsets[point] for mean, _, points in blocks for point in points}
