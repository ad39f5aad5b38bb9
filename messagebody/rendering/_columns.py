"""A graph in columns: boxes, senders left of takers, and lines between them.

A line passes columns between its boxes at points of its own, and the words on it stand at one.
Where boxes lead back to each other, a line leads from right to left.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Final, NamedTuple

from messagebody.rendering._tables import display_width

LINE: Final = 20
"""The height of a line of text. All sizes are pixels, so that names stay readable."""
PADDING: Final = 10
_LETTER, _SPACE, _MARGIN, _HEAD = 7.4, 14, 24, 7


class Line(NamedTuple):
    """A line from one box to another, by their numbers, with its verdict and the words on it."""

    source: int
    target: int
    verdict: str
    words: tuple[str, ...] = ()


class Extent(NamedTuple):
    """Where a box stands, or the words of a line."""

    left: float
    middle: float
    width: float
    height: float


def _columns(count: int, lines: Sequence[Line]) -> list[int]:
    """Return the column of each box: right of all that lead to it, but for lines that lead back."""
    leaving: list[list[Line]] = [[] for _ in range(count)]
    for line in lines:
        leaving[line.source].append(line)
    seen, order, back = set[int](), list[int](), set[Line]()
    for root in range(count):  # where boxes lead to each other, the first ones stand left
        way = {} if root in seen else {root: iter(leaving[root])}
        while way:
            box = next(reversed(way))
            seen.add(box)
            next_line = next(way[box], None)
            if next_line is None:
                order.append(way.popitem()[0])
            elif next_line.target in way:
                back.add(next_line)
            elif next_line.target not in seen:
                way[next_line.target] = iter(leaving[next_line.target])
    column_of = [0] * count
    place = {box: at for at, box in enumerate(reversed(order))}
    rightward = [
        (line.target, line.source, line) if line in back else (line.source, line.target, line)
        for line in lines
        if line.source != line.target
    ]
    for left, right, line in sorted(rightward, key=lambda each: place[each[0]]):
        # Words stand in a column of their own.
        column_of[right] = max(column_of[right], column_of[left] + 1 + bool(line.words))
    return column_of


class ColumnLayout:
    """Where everything is: points of boxes come first, then those of lines.

    Arguments:
        boxes: the words in each box.
        lines: the lines.

    Attributes:
        words: what stands at each point.
        spots: where it stands.
        labels: the points with the words of lines, and the lines.
        width: the width of the whole.
        height: the height of the whole.
    """

    def __init__(self, boxes: Sequence[Sequence[str]], lines: Sequence[Line]) -> None:
        self.words, self._lines = [*boxes], lines
        self.labels: dict[int, Line] = {}
        self._column_of = _columns(len(boxes), lines)
        self._ways = [self._way(line) for line in lines]
        self._columns: list[list[int]] = [[] for _ in range(max(self._column_of) + 1)]
        for point, column in enumerate(self._column_of):
            self._columns[column].append(point)
        self._untangle()
        self._place()
        self._find_ports()

    def _way(self, line: Line) -> list[int]:
        """Return the points of a line from left to right, with new ones where it passes."""
        left, right = sorted((line.source, line.target), key=self._column_of.__getitem__)
        between = range(self._column_of[left] + 1, self._column_of[right])
        first = len(self.words)
        for column in between:
            has_words = line.words and column == between[len(between) // 2]
            if has_words:
                self.labels[len(self.words)] = line
            self.words.append(line.words if has_words else ())
            self._column_of.append(column)
        return [left, *range(first, len(self.words)), right]

    def _untangle(self) -> None:
        """Sort each column by where the neighbours of its points are, there and back."""
        near: list[dict[int, list[int]]] = [{}, {}]
        for left, right in (pair for way in self._ways for pair in pairwise(way)):
            near[0].setdefault(right, []).append(left)
            near[1].setdefault(left, []).append(right)
        place = {point: at for column in self._columns for at, point in enumerate(column)}
        for turn in range(8):
            for column in self._columns[:: -1 if turn % 2 else 1]:
                middle = {
                    point: fmean(place[other] for other in near[turn % 2].get(point, [point]))
                    for point in column
                }
                column.sort(key=middle.__getitem__)
                place.update((point, at) for at, point in enumerate(column))

    def _place(self) -> None:
        """Find the left edge, middle, width and height of each point."""
        tall = [LINE * len(words) + PADDING if words else 4 for words in self.words]
        totals = [sum(tall[p] + _SPACE for p in column) - _SPACE for column in self._columns]
        self.height = max(totals) + 2 * _MARGIN
        gap = min(56 + len(self._lines), 160)
        self.spots: dict[int, Extent] = {}
        self._edges: list[tuple[float, float]] = []
        left: float = _MARGIN
        for column, total in zip(self._columns, totals, strict=True):
            wide = [max(map(display_width, self.words[p]), default=0) for p in column]
            top, room = (self.height - total) / 2, max(wide) * _LETTER + 2 * PADDING
            for point, letters in zip(column, wide, strict=True):
                width = letters * _LETTER + 2 * PADDING
                middle = top + tall[point] / 2
                self.spots[point] = Extent(left + (room - width) / 2, middle, width, tall[point])
                top += tall[point] + _SPACE
            self._edges.append((left, left + room))
            left += room + gap
        self.width = left - gap + 2 * _MARGIN

    def _find_ports(self) -> None:
        """Find the height at which each line leaves its left box, and reaches its right one."""
        sides: dict[tuple[int, int], list[tuple[float, int]]] = {}
        for number, way in enumerate(self._ways):
            sides.setdefault((way[0], 0), []).append((self.spots[way[1]].middle, number))
            sides.setdefault((way[-1], 1), []).append((self.spots[way[-2]].middle, number))
        self._ports: dict[tuple[int, int], float] = {}
        for (point, side), found in sides.items():
            _, middle, _, height = self.spots[point]
            step = min(8, (height - PADDING) / len(found))
            for at, (_, number) in enumerate(sorted(found)):
                self._ports[number, side] = middle + step * (at - (len(found) - 1) / 2)

    def paths(self) -> Iterator[tuple[str, str]]:
        """Yield the path of each line, and that of its head."""
        for number, (line, way) in enumerate(zip(self._lines, self._ways, strict=True)):
            first, last = self.spots[way[0]], self.spots[way[-1]]
            y, end = self._ports[number, 0], self._ports[number, 1]
            x = first.left + first.width
            if line.source == line.target:
                yield f"M{x:.0f} {y - 5:.0f}c24 -12 24 22 0 10", _head(x, y + 5, -1)
                continue
            path = f"M{x:.0f} {y:.0f}"
            for point, after in pairwise(way):
                x, u = (
                    self._edges[self._column_of[point]][1],
                    self._edges[self._column_of[after]][0],
                )
                v = end if after == way[-1] else self.spots[after].middle
                half = (x + u) / 2
                path += f"H{x:.0f}C{half:.0f} {y:.0f} {half:.0f} {v:.0f} {u:.0f} {v:.0f}"
                y = v
            path += f"H{last.left:.0f}"
            start = first.left + first.width, self._ports[number, 0]
            yield path, _head(last.left, end, 1) if line.target == way[-1] else _head(*start, -1)


def _head(x: float, y: float, side: int) -> str:
    back = -side * _HEAD
    return f"M{x + back:.0f} {y - 4:.0f}L{x:.0f} {y:.0f}l{back} 4z"
