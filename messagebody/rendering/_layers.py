"""Layers of a directed graph: columns from left to right, with few crossings (Sugiyama's way).

Edges lead to the right. Where nodes reach each other, few edges are turned around, so that they
lead back. Nodes of which most reach each other have no order among them: they share columns.
"""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Final

import attrs

from messagebody.rendering._untangling import LinePiece, untangled

MOST_PIECES: Final = 5_000
"""The most pieces of lines; more of them show nothing."""
_TALLEST: Final = 12
"""Nodes that have no order in one column."""
_DENSE: Final = 2
"""Nodes that reach each other have no order if they have more than so many edges each."""

Edges = Sequence[tuple[int, int]]


@attrs.frozen
class Layers:
    """Where the nodes of a graph are drawn.

    Arguments:
        columns: the points of each column from the top: nodes by their numbers, and higher numbers
            where edges pass.
        column_of: the column of each point.
        pieces: the pieces of all edges.
    """

    columns: Sequence[Sequence[int]]
    column_of: Sequence[int]
    pieces: Sequence[LinePiece]


def layered(
    count: int,
    edges: Edges,
    *,
    ways: Sequence[int] | None = None,
    most: int = MOST_PIECES,
) -> Layers | None:
    """Return the layers of a graph, or None if its edges have too many pieces.

    Arguments:
        count: the number of nodes; where they reach each other, the first ones come first.
        edges: the nodes at the beginning and the end of each edge.
        ways: a number for each edge; those of one node with one number share their way.
        most: the most pieces.

    Examples:
        >>> layered(3, [(0, 1), (1, 2), (0, 2)]).column_of
        [0, 1, 2, 1]
    """
    column_of = _columns(count, edges)
    pieces: list[LinePiece] = []
    for piece in _pieces(edges, ways or [0] * len(edges), column_of):
        pieces.append(piece)
        if len(pieces) > most:
            return None
    return Layers(untangled(column_of, pieces), column_of, pieces)


def ranks(count: int, edges: Edges, *, in_order: bool = False) -> list[int]:
    """Return the place of each node in an order in which few edges lead back.

    Arguments:
        count: the number of nodes.
        edges: the nodes at the beginning and the end of each edge.
        in_order: where nodes reach each other, the first ones come first; otherwise those of which
            more edges lead away.

    Examples:
        >>> ranks(3, [(2, 1), (1, 0), (1, 2)])
        [2, 0, 1]
    """
    takers: list[list[int]] = [[] for _ in range(count)]
    for sender, taker in edges:
        takers[sender].append(taker)
    order = chain.from_iterable(_ordered(takers, in_order=in_order))
    place_of = {node: place for place, node in enumerate(order)}
    return [place_of[node] for node in range(count)]


# Columns


def _ordered(takers: Sequence[Sequence[int]], *, in_order: bool) -> list[list[int]]:
    """Return the components before those they lead to, each in an order of few ways back."""
    components = reversed(list(_components(takers)))
    return [_downhill(each, takers, in_order=in_order) for each in components]


def _columns(count: int, edges: Edges) -> list[int]:
    """Return the column of each node: right of all that lead to it, if there is no way back."""
    takers: list[list[int]] = [[] for _ in range(count)]
    near: list[list[int]] = [[] for _ in range(count)]
    for sender, taker in edges:
        if sender != taker:
            takers[sender].append(taker)
            near[sender].append(taker)
            near[taker].append(sender)
    column_of = [0] * count
    # Those without a rank yet come last.
    rank, order, is_loose = [count] * count, list[int](), [True] * count
    for ordered in _ordered(takers, in_order=True):
        for node in ordered:
            rank[node] = len(order)
            order.append(node)
        if _is_dense(ordered, takers):
            first = max(column_of[node] for node in ordered)
            for place, node in enumerate(ordered):
                column_of[node], is_loose[node] = first + place // _TALLEST, False
            _push(ordered, takers, rank, column_of, column_of[ordered[-1]])
        else:
            for node in ordered:
                _push([node], near, rank, column_of, column_of[node])
    for node in reversed(order):
        after = [other for other in near[node] if rank[other] > rank[node]]
        # Lines become shorter where more of them lead on than arrive.
        if is_loose[node] and 2 * len(after) > len(near[node]):
            column_of[node] = min(column_of[other] for other in after) - 1
    used = {column: place for place, column in enumerate(sorted(set(column_of)))}
    return [used[column] for column in column_of]


def _push(
    nodes: Sequence[int], near: Sequence[Sequence[int]], rank: list[int], column_of: list[int],
    column: int,
) -> None:  # fmt: skip
    """Move what comes after some nodes to the right of a column."""
    last = rank[nodes[-1]]
    for node in nodes:
        for other in near[node]:
            if rank[other] > last:
                column_of[other] = max(column_of[other], column + 1)


def _is_dense(component: Sequence[int], takers: Sequence[Sequence[int]]) -> bool:
    inside = set(component)
    return sum(each in inside for node in component for each in takers[node]) > _DENSE * len(inside)


def _downhill(
    component: Sequence[int], takers: Sequence[Sequence[int]], *, in_order: bool
) -> list[int]:
    """Return nodes so that few edges lead back (the rule of Eades, Lin and Smyth)."""
    inside = set(component)
    after = {
        node: [each for each in takers[node] if each in inside and each != node]
        for node in component
    }
    before: dict[int, list[int]] = {node: [] for node in component}
    for node in component:
        for taker in after[node]:
            before[taker].append(node)
    out = {node: len(after[node]) for node in component}
    into = {node: len(before[node]) for node in component}

    def key(node: int) -> tuple[bool, int, int]:
        excess = 0 if in_order else into[node] - out[node]
        return bool(out[node] and into[node]), excess, node

    waiting = [key(node) for node in component]
    heapify(waiting)
    first: list[int] = []
    last: list[int] = []
    while waiting:
        found = heappop(waiting)
        node = found[2]
        if node not in inside or found != key(node):  # it has changed since
            continue
        inside.remove(node)
        (first if out[node] or not into[node] else last).append(node)
        for others, counts in ((after[node], into), (before[node], out)):
            for other in others:
                counts[other] -= 1
                if other in inside:
                    heappush(waiting, key(other))
    return first + last[::-1]


def _components(takers: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the sets of nodes that reach each other, after all that they lead to (Tarjan)."""
    number, lowest = [0] * len(takers), [0] * len(takers)
    is_open = [False] * len(takers)
    open_nodes: list[int] = []
    count = 0
    for root in range(len(takers)):
        # A stack and not a recursion, because a chain may be long.
        pending = [] if number[root] else [(root, iter(takers[root]))]
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
                    component: list[int] = []
                    while node not in component[-1:]:
                        component.append(open_nodes.pop())
                        is_open[component[-1]] = False
                    yield sorted(component)


# Pieces


def _pieces(edges: Edges, ways: Sequence[int], column_of: list[int]) -> Iterator[LinePiece]:
    """Yield the pieces of all edges, and give each point that they pass its column."""
    shared: dict[tuple[int, int, bool], dict[int, list[int]]] = {}
    for edge, (sender, taker) in enumerate(edges):
        home, goal = column_of[sender], column_of[taker]
        if home == goal:
            yield LinePiece(sender, taker, (edge,))
        else:
            far = shared.setdefault((sender, ways[edge], goal > home), {})
            far.setdefault(goal, []).append(edge)
    for (sender, _, is_ahead), far in shared.items():
        start, column = sender, column_of[sender]
        while far:
            column += 1 if is_ahead else -1
            for edge in far.pop(column, ()):
                yield LinePiece(start, edges[edge][1], (edge,))
            if far:
                column_of.append(column)
                point = len(column_of) - 1
                yield LinePiece(start, point, tuple(chain.from_iterable(far.values())))
                start = point
