"""Where the boxes and arrows of a graph in ranks go.

Layered drawing after Sugiyama, Tagawa and Toda (1981): ranks become columns, an arrow that passes
a rank gets a place of its own in it, and places are put near the middle of their neighbours, to
and fro, so that few arrows cross. All long arrows of one sender share their places.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import cos, sin, tau
from statistics import mean
from typing import Final

import attrs

__all__ = ["Arrow", "Box", "Layout", "lay_out"]

Point = tuple[float, float]
# A box, by its name; or the place of a sender's arrows in a rank they pass.
_Place = str | tuple[str, int]

_SWEEPS: Final = 6
_BOX_HEIGHT: Final = 34.0
_ROW: Final = 54.0
_PASSAGE: Final = 22.0
_GAP: Final = 96.0
_BULGE: Final = 42.0
# How much wider than high a ring is, and how far apart its boxes stand.
_ELLIPSE: Final = 1.6
_APART: Final = 14.0
_INWARD: Final = 0.45
_ASIDE: Final = 0.08
_LARGEST_LOOP: Final = 3


@attrs.frozen
class Box:
    """Where an agent is drawn; `x` and `y` are of its middle."""

    name: str
    x: float
    y: float
    width: float
    height: float = _BOX_HEIGHT


@attrs.frozen
class Arrow:
    """A Bézier curve from a sender to a taker.

    Arguments:
        sender: where it starts.
        taker: where it ends.
        points: its start, then for each piece of it two control points and the end.
    """

    sender: str
    taker: str
    points: tuple[Point, ...]


@attrs.frozen
class Layout:
    """A drawing: boxes, arrows and how large it is."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: float
    height: float


def lay_out(
    ranks: Sequence[Sequence[str]], pairs: Iterable[tuple[str, str]], widths: dict[str, float]
) -> Layout:
    """Place agents and arrows: in columns from left to right, or in a ring.

    Where many send to each other, no order of columns means anything.

    Arguments:
        ranks: the agents; whoever sends is in the rank of those who take it, or in one before.
        pairs: senders and takers.
        widths: the width of each agent's box.
    """
    edges = list(pairs)
    rank_of = {name: rank for rank, names in enumerate(ranks) for name in names}
    mutual = {edge for edge in edges if edge[0] != edge[1] and rank_of[edge[0]] == rank_of[edge[1]]}
    in_loops = Counter(rank_of[name] for name in {name for edge in mutual for name in edge})
    if max(in_loops.values(), default=0) > _LARGEST_LOOP:
        return _ring([name for names in ranks for name in names], edges, widths)
    return _layered(ranks, edges, rank_of, widths)


def _layered(
    ranks: Sequence[Sequence[str]],
    edges: Sequence[tuple[str, str]],
    rank_of: dict[str, int],
    widths: dict[str, float],
) -> Layout:
    routes = {edge: _route(*edge, rank_of) for edge in edges}
    columns = _ordered(ranks, routes.values())
    places = _placed(columns, widths)
    boxes = {name: Box(name, *places[name], widths[name]) for names in ranks for name in names}
    arrows = []
    for (sender, taker), route in routes.items():
        one, other = boxes[sender], boxes[taker]
        if rank_of[sender] == rank_of[taker]:
            points = _arc(one, other)
        else:
            points = _along(one, [places[each] for each in route[1:-1]], other)
        arrows.append(Arrow(sender, taker, tuple(points)))
    wide = max((box.x + box.width / 2 for box in boxes.values()), default=0.0)
    high = max((y for _, y in places.values()), default=0.0) + _BOX_HEIGHT / 2
    return Layout(tuple(boxes.values()), tuple(arrows), wide, high)


def _along(sender: Box, passed: Sequence[Point], taker: Box) -> list[Point]:
    """Return a curve from the right of a box, level at every point it passes."""
    end = taker.x - taker.width / 2, taker.y
    points = [(sender.x + sender.width / 2, sender.y), *passed, end]
    curve = points[:1]
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (to_x - x) / 2
        curve += [(x + half, y), (to_x - half, to_y), (to_x, to_y)]
    return curve


def _arc(sender: Box, taker: Box) -> list[Point]:
    """Return a curve within a column: down along its right side, up along its left; or a loop."""
    right = sender.x + sender.width / 2
    if sender is taker:
        top = sender.y - sender.height / 2
        over = [(right - 14, top), (right - 14, top - 20), (right + 26, top - 10)]
        return [*over, (right, sender.y - 8)]
    side = 1 if taker.y > sender.y else -1
    x, y = sender.x + side * sender.width / 2, sender.y + side * 6
    to_x, to_y = taker.x + side * taker.width / 2, taker.y - side * 6
    out = sender.x + side * (max(sender.width, taker.width) / 2 + _BULGE)
    return [(x, y), (out, y), (out, to_y), (to_x, to_y)]


def _ring(
    names: Sequence[str], edges: Sequence[tuple[str, str]], widths: dict[str, float]
) -> Layout:
    """Place the agents around an ellipse, clockwise from its top, arrows through its inside."""
    high = _ROW
    while _any_overlap(boxes := _around(names, widths, high)):
        high *= 1.1
    left = min(box.x - box.width / 2 for box in boxes)
    placed = {
        box.name: attrs.evolve(box, x=box.x - left, y=box.y + high + _BOX_HEIGHT / 2)
        for box in boxes
    }
    middle = -left, high + _BOX_HEIGHT / 2
    arrows = [
        Arrow(one, other, tuple(_through(placed[one], placed[other], middle)))
        for one, other in edges
    ]
    right = max(box.x + box.width / 2 for box in placed.values())
    return Layout(tuple(placed.values()), tuple(arrows), right, 2 * high + _BOX_HEIGHT)


def _around(names: Sequence[str], widths: dict[str, float], high: float) -> list[Box]:
    turn = tau / len(names)
    return [
        Box(name, _ELLIPSE * high * sin(place * turn), -high * cos(place * turn), widths[name])
        for place, name in enumerate(names)
    ]


def _any_overlap(boxes: Sequence[Box]) -> bool:
    """Tell whether boxes near each other in the ring come too close."""
    return any(
        abs(one.x - other.x) < (one.width + other.width) / 2 + _APART
        and abs(one.y - other.y) < one.height + _APART
        for place, one in enumerate(boxes)
        for other in boxes[max(place - 3, 0) : place]
    )


def _through(sender: Box, taker: Box, middle: Point) -> list[Point]:
    """Return a curve between two boxes, drawn towards the middle; there and back differ."""
    if sender is taker:
        return _arc(sender, taker)
    between = (sender.x + taker.x) / 2, (sender.y + taker.y) / 2
    aside = (taker.y - sender.y) * _ASIDE, (sender.x - taker.x) * _ASIDE
    bend = tuple(
        at + (to - at) * _INWARD + by for at, to, by in zip(between, middle, aside, strict=True)
    )
    start, end = _edge(sender, bend), _edge(taker, bend)
    return [start, *(_towards(each, bend, 2 / 3) for each in (start, end)), end]


def _towards(start: Point, end: Sequence[float], share: float) -> Point:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _edge(box: Box, outside: Sequence[float]) -> Point:
    """Return where a line from the middle of a box to a point leaves the box."""
    across, down = abs(outside[0] - box.x), abs(outside[1] - box.y)
    share = min(
        box.width / 2 / across if across else 1.0, box.height / 2 / down if down else 1.0, 1.0
    )
    return _towards((box.x, box.y), outside, share)


def _route(sender: str, taker: str, rank_of: dict[str, int]) -> list[_Place]:
    """Return the places an arrow passes: one in every rank between its ends."""
    passed = range(rank_of[sender] + 1, rank_of[taker])
    return [sender, *((sender, rank) for rank in passed), taker]


def _ordered(
    ranks: Sequence[Sequence[str]], routes: Iterable[Sequence[_Place]]
) -> list[list[_Place]]:
    columns: list[list[_Place]] = [list(names) for names in ranks]
    near: dict[_Place, set[_Place]] = {place: set() for column in columns for place in column}
    for route in routes:
        for place in route[1:-1]:
            if place not in near:
                near[place] = set()
                columns[int(place[1])].append(place)
        for one, other in pairwise(route):
            near[one].add(other)
            near[other].add(one)
    for sweep in range(_SWEEPS):
        ways = [*pairwise(columns)]
        for fixed, moved in ways if sweep % 2 == 0 else [way[::-1] for way in reversed(ways)]:
            _settle(moved, fixed, near)
    return columns


def _settle(moved: list[_Place], fixed: Sequence[_Place], near: dict[_Place, set[_Place]]) -> None:
    """Sort a column by the mean height of its neighbours in the one beside it."""
    height = {place: (i + 0.5) / len(fixed) for i, place in enumerate(fixed)}
    now = {place: (i + 0.5) / len(moved) for i, place in enumerate(moved)}

    def wanted(place: _Place) -> float:
        neighbours = [height[each] for each in near[place] if each in height]
        return mean(neighbours) if neighbours else now[place]

    moved.sort(key=wanted)


def _placed(columns: Sequence[Sequence[_Place]], widths: dict[str, float]) -> dict[_Place, Point]:
    heights = [sum(map(_height, column)) for column in columns]
    tallest = max(heights, default=0.0)
    places: dict[_Place, Point] = {}
    left = 0.0
    for column, height in zip(columns, heights, strict=True):
        width = max((widths[each] for each in column if isinstance(each, str)), default=0.0)
        top = (tallest - height) / 2
        for place in column:
            places[place] = left + width / 2, top + _height(place) / 2
            top += _height(place)
        left += width + _GAP
    return places


def _height(place: _Place) -> float:
    return _ROW if isinstance(place, str) else _PASSAGE
