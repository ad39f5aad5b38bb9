"""Layers of a directed graph: columns from left to right, with few crossings.

Nodes that reach each other have no order among them, so they share a column. Many of them are
spread over several columns, and then some edges lead back.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import attrs

_TALLEST = 12
"""Nodes that reach each other in one column."""
_SWEEPS = 6
"""Passes in which columns are put in order; more change little."""

Point = tuple[int, int]
"""A node and a column: where the edges from that node pass that column."""


@attrs.frozen
class LinePiece:
    """A piece of edges from one node, from one column to the next, or within or back to a column.

    Arguments:
        start: where it begins.
        end: where it ends; a node in its own column, or a point that edges pass.
        sender: the node at the beginning of the edges.
        takers: the nodes at the ends of all edges that share this piece.
    """

    start: Point
    end: Point
    sender: int
    takers: tuple[int, ...]


@attrs.frozen
class Layers:
    """Where the nodes of a graph are drawn.

    Arguments:
        columns: the points of each column from the top: nodes in their own column, and passing
            edges.
        edges: the pieces of all edges.
        column_of: the column of each node.
    """

    columns: Sequence[Sequence[Point]]
    edges: Sequence[LinePiece]
    column_of: Sequence[int]


def layered(takers: Sequence[Sequence[int]]) -> Layers:
    """Return the layers of a graph.

    Arguments:
        takers: for each node, the nodes that its edges lead to.

    Examples:
        >>> layered([[1, 2], [2], []]).column_of
        [0, 1, 2]
    """
    column_of = _columns(takers)
    edges = [edge for node in range(len(takers)) for edge in _pieces(node, takers, column_of)]
    columns: list[list[Point]] = [[] for _ in range(max(column_of, default=-1) + 1)]
    for node, column in enumerate(column_of):
        columns[column].append((node, column))
    for edge in edges:
        node, column = edge.end
        if column_of[node] != column:
            columns[column].append(edge.end)
    _untangle(columns, edges)
    return Layers(columns, edges, column_of)


def _columns(takers: Sequence[Sequence[int]]) -> list[int]:
    """Return the column of each node: right of all that lead to it, if there is no way back."""
    column_of = [0] * len(takers)
    # Components come before those that lead to them.
    for component in reversed(list(_components(takers))):
        first = max(column_of[node] for node in component)
        inside = set(component)
        ordered = _downhill(component, takers) if len(component) > _TALLEST else component
        last = first
        for place, node in enumerate(ordered):
            last = column_of[node] = first + place // _TALLEST
        for node in component:
            for taker in takers[node]:
                if taker not in inside:
                    column_of[taker] = max(column_of[taker], last + 1)
    return column_of


def _components(takers: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the sets of nodes that reach each other, after all that they lead to (Tarjan)."""
    number = [0] * len(takers)
    lowest = [0] * len(takers)
    is_open = [False] * len(takers)
    open_nodes: list[int] = []
    count = 0
    for root in range(len(takers)):
        if number[root]:
            continue
        # A stack and not a recursion, because a chain may be long.
        pending = [(root, iter(takers[root]))]
        while pending:
            node, rest = pending[-1]
            if not number[node]:
                count += 1
                number[node] = lowest[node] = count
                open_nodes.append(node)
                is_open[node] = True
            for taker in rest:
                if not number[taker]:
                    pending.append((taker, iter(takers[taker])))
                    break
                if is_open[taker]:
                    lowest[node] = min(lowest[node], lowest[taker])
            else:
                pending.pop()
                if pending:
                    above = pending[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    start = open_nodes.index(node)
                    component = sorted(open_nodes[start:])
                    del open_nodes[start:]
                    for each in component:
                        is_open[each] = False
                    yield component


def _downhill(component: Sequence[int], takers: Sequence[Sequence[int]]) -> list[int]:
    """Return nodes so that few edges lead back: those that send more than they take come first."""
    inside = set(component)
    balance = dict.fromkeys(component, 0)
    for node in component:
        for taker in takers[node]:
            if taker in inside:
                balance[node] += 1
                balance[taker] -= 1
    return sorted(component, key=lambda node: (-balance[node], node))


def _pieces(
    node: int, takers: Sequence[Sequence[int]], column_of: Sequence[int]
) -> Iterator[LinePiece]:
    """Yield the pieces of the edges from a node; those to farther columns share their way."""
    home = column_of[node]
    start = (node, home)
    ahead: dict[int, list[int]] = {}
    for taker in takers[node]:
        if column_of[taker] > home:
            ahead.setdefault(column_of[taker], []).append(taker)
        else:
            yield LinePiece(start, (taker, column_of[taker]), node, (taker,))
    for column in range(home + 1, max(ahead, default=home) + 1):
        for taker in ahead.pop(column, []):
            yield LinePiece(start, (taker, column), node, (taker,))
        if ahead:
            beyond = tuple(taker for later in ahead.values() for taker in later)
            yield LinePiece(start, (node, column), node, beyond)
            start = (node, column)


def _untangle(columns: list[list[Point]], edges: Iterable[LinePiece]) -> None:
    """Sort each column by the mean height of its neighbours, from left to right and back."""
    before: dict[Point, list[Point]] = {}
    after: dict[Point, list[Point]] = {}
    for edge in edges:
        if edge.end[1] == edge.start[1] + 1:
            before.setdefault(edge.end, []).append(edge.start)
            after.setdefault(edge.start, []).append(edge.end)
    # Heights as shares, because columns have different numbers of points.
    heights: dict[Point, float] = {}
    for column in columns:
        heights.update(_heights(column))
    for sweep in range(_SWEEPS):
        neighbours = after if sweep % 2 else before
        for column in reversed(columns) if sweep % 2 else columns:
            column.sort(key=partial(_wanted, heights, neighbours))
            heights.update(_heights(column))


def _heights(column: Sequence[Point]) -> Iterator[tuple[Point, float]]:
    for place, point in enumerate(column):
        yield point, (place + 0.5) / len(column)


def _wanted(
    heights: dict[Point, float], neighbours: dict[Point, list[Point]], point: Point
) -> float:
    near = neighbours.get(point, [point])
    return sum(heights[each] for each in near) / len(near)
