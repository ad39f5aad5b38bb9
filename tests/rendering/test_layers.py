"""Layers of a graph: every edge can be followed, and few lines cross."""

import itertools
from functools import partial
from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from messagebody.rendering._layers import Layers, layered, ranks
from messagebody.rendering._untangling import levels
from tests.effort import calls


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 30))
    node = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(node, node), unique=True, max_size=80))


def laid(count: int, edges: list[tuple[int, int]], **options: Any) -> Layers:
    found = layered(count, edges, **options)
    assert found is not None
    return found


@given(graphs(), st.booleans())
def test_each_edge_can_be_followed_from_column_to_column(
    graph: tuple[int, list[tuple[int, int]]], apart: bool
) -> None:
    count, edges = graph
    ways = [*range(len(edges))] if apart else [0] * len(edges)
    found = laid(count, edges, ways=ways)
    points = [point for column in found.columns for point in column]
    assert sorted(points) == list(range(len(found.column_of)))
    assert all(found.columns)
    assert all(
        found.column_of[point] == number
        for number, column in enumerate(found.columns)
        for point in column
    )
    for number, (sender, taker) in enumerate(edges):
        mine = [piece for piece in found.pieces if number in piece.edges]
        assert [piece.start for piece in mine] == [sender, *(piece.end for piece in mine[:-1])]
        assert mine[-1].end == taker
        assert all(piece.end >= count for piece in mine[:-1])
        steps = {found.column_of[piece.end] - found.column_of[piece.start] for piece in mine}
        assert steps in ({1}, {-1}, {0})
    if apart:
        assert all(len(piece.edges) == 1 for piece in found.pieces)
    # Only nodes that reach each other may stand the other way around.
    graph_of: Any = nx.DiGraph(edges)
    graph_of.add_nodes_from(range(count))
    for component in nx.strongly_connected_components(graph_of):
        for sender, taker in edges:
            if sender in component and taker not in component:
                assert found.column_of[sender] < found.column_of[taker]
    assert laid(count, edges, ways=ways) == found


@given(graphs(), st.booleans())
def test_ranks_are_an_order_without_ways_back_where_there_is_one(
    graph: tuple[int, list[tuple[int, int]]], in_order: bool
) -> None:
    count, edges = graph
    rank = ranks(count, edges, in_order=in_order)
    assert sorted(rank) == list(range(count))
    back = [(a, b) for a, b in edges if rank[a] >= rank[b]]
    rest: Any = nx.DiGraph([edge for edge in edges if edge not in back])
    assert nx.is_directed_acyclic_graph(rest)
    whole: Any = nx.DiGraph(edges)
    # All of them are in circles, and at most half of those of a circle lead back.
    assert bool(back) != nx.is_directed_acyclic_graph(whole)


def test_the_first_of_a_circle_comes_first() -> None:
    edges = [(3, 0), (0, 1), (1, 2), (2, 3), (2, 1), (2, 0)]
    assert ranks(4, edges, in_order=True) == [0, 1, 2, 3]


def test_lines_that_need_not_cross_do_not() -> None:
    found = laid(5, [(0, 2), (1, 3), (2, 3), (2, 4), (3, 4)])
    place = {point: place for column in found.columns for place, point in enumerate(column)}
    for one, other in itertools.combinations(found.pieces, 2):
        if found.column_of[one.start] == found.column_of[other.start]:
            apart = place[one.start] - place[other.start], place[one.end] - place[other.end]
            assert apart[0] * apart[1] >= 0


@given(st.permutations(range(15)))
def test_a_tree_has_no_crossings_in_any_order(order: list[int]) -> None:
    found = laid(15, [(order[(node - 1) // 2], order[node]) for node in range(1, 15)])
    place = {point: place for column in found.columns for place, point in enumerate(column)}
    for one, other in itertools.combinations(found.pieces, 2):
        if found.column_of[one.start] == found.column_of[other.start]:
            apart = place[one.start] - place[other.start], place[one.end] - place[other.end]
            assert apart[0] * apart[1] >= 0


@given(graphs())
def test_points_of_a_column_keep_apart(graph: tuple[int, list[tuple[int, int]]]) -> None:
    found = laid(*graph)
    height = levels(found.columns, found.pieces, lambda point: 10 + point % 7, lambda _: False, 5)
    for column in found.columns:
        for one, other in itertools.pairwise(column):
            least = (20 + one % 7 + other % 7) / 2 + 5
            assert height[other] - height[one] >= least - 1e-6


def test_a_line_is_straight_where_nothing_is_in_its_way() -> None:
    found = laid(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    height = levels(found.columns, found.pieces, lambda _: 10, lambda point: point > 3, 5)
    ways = [height[point] for point in range(4, len(found.column_of))]
    assert max(ways) - min(ways) < 0.5


def test_a_long_chain_and_a_large_circle_are_laid_out() -> None:
    chain = laid(2_000, [(number, number + 1) for number in range(1_999)])
    assert list(chain.column_of) == [*range(2_000)]
    circle = [(number, (number + 1) % 60) for number in range(60)]
    assert laid(60, circle).column_of[:60] == [*range(60)]
    # Where all reach each other, there is no order, and columns are filled.
    everybody = [(a, b) for a in range(60) for b in range(60)]
    assert len(laid(60, everybody).columns) == 5


def test_no_column_is_empty() -> None:
    """Also where a sender of the last of many that reach each other moves to the right."""
    everybody = [(a, b) for a in range(30) for b in range(30)]
    found = laid(31, [*everybody, (30, 29)])
    assert found.column_of[30] == found.column_of[29] - 1
    assert all(found.columns)


def test_it_takes_little_time_or_is_given_up() -> None:
    thousand = [(a, a + step) for a in range(1_000) for step in (1, 7, 300) if a + step < 1_000]
    assert layered(1_000, thousand) is None
    near = [(a, a + step) for a in range(1_000) for step in (1, 2) if a + step < 1_000]
    assert layered(1_000, near) is not None
    assert layered(60, [(a, b) for a in range(60) for b in range(60)]) is not None
    many = [(a, a * step % 100) for a in range(100) for step in (3, 7, 11)]
    assert layered(100, many) is not None
    for count, edges in ((1_000, thousand), (1_000, near), (100, many)):
        calls(partial(layered, count, edges), most=6_000_000)
