"""Drawings of graphs: boxes and labels keep apart, and each line leads from its box to its box."""

import itertools
import re
import xml.etree.ElementTree as ET
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.rendering._drawing import VERDICTS, Drawing, drawn
from messagebody.rendering._drawing import DrawnEdge as Edge
from messagebody.rendering._drawing import DrawnNode as Node
from tests.effort import calls

KEYS = ("x", "y", "width", "height")
WORDS = ["", "mount /notes", "select /a/**\ndrop /a/b", "x" * 200]


class Frame(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    count = draw(st.integers(1, 12))
    node = st.integers(0, count - 1)
    edge = st.builds(Edge, node, node, st.sampled_from(VERDICTS), st.sampled_from(WORDS))
    edges = draw(st.lists(edge, min_size=1, max_size=25, unique_by=str))
    names = draw(st.lists(st.text("abc-", min_size=1, max_size=40), min_size=count, max_size=count))
    return [Node(name) for name in names], edges


def of(nodes: list[Node], edges: list[Edge], *, shared: bool = False) -> Drawing:
    found = drawn(nodes, edges, shared=shared)
    assert found is not None
    return found


def frames(drawing: Drawing) -> list[tuple[str, Frame]]:
    """Return the boxes and labels, with their classes."""
    found = []
    for group in ET.fromstring(drawing.html).iter("g"):
        rect = group.find("rect")
        if rect is not None:
            x, y, width, height = (
                float(rect.get(key, "")) for key in ("x", "y", "width", "height")
            )
            found.append((group.get("class", ""), Frame(x, y, x + width, y + height)))
    return found


def ways(drawing: Drawing) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return the lines: their classes, and the points that they lead through."""
    found = []
    for group in ET.fromstring(drawing.html).iter("g"):
        for path in group.findall("path[@class='way']"):
            points, y = [], 0.0
            for letter, numbers in re.findall(r"([MHC])([^MHCz]+)", path.get("d", "")):
                values = [*map(float, re.findall(r"-?[0-9.]+", numbers))]
                if letter == "H":
                    points.append((values[0], y))
                elif letter == "M":
                    points.append((values[0], values[1]))
                else:
                    points += curve(points[-1], values)
                y = points[-1][1]
            found.append((group.get("class", ""), points))
    return found


def curve(start: tuple[float, float], values: list[float]) -> list[tuple[float, float]]:
    (a, b), (c, d, e, f, g, h) = start, values
    points = []
    for step in range(1, 21):
        t = step / 20
        s = 1 - t
        x = s**3 * a + 3 * s * s * t * c + 3 * s * t * t * e + t**3 * g
        y = s**3 * b + 3 * s * s * t * d + 3 * s * t * t * f + t**3 * h
        points.append((x, y))
    return points


@given(graphs(), st.booleans())
def test_nothing_is_cut_off(graph: tuple[list[Node], list[Edge]], shared: bool) -> None:
    drawing = of(*graph, shared=shared)
    assert_inside(drawing)


def test_long_ways_back_are_not_cut_off() -> None:
    """As between many agents in the last column, which all fit each other."""
    nodes = [Node(f"agent {number}") for number in range(12)]
    edges = [Edge(a, b) for a in range(1, 12) for b in range(1, 12)]
    assert_inside(of(nodes, [*edges, *(Edge(0, b) for b in range(1, 12))]))


def assert_inside(drawing: Drawing) -> None:
    svg = next(ET.fromstring(drawing.html).iter("svg"))
    width, height = float(svg.get("width", "")), float(svg.get("height", ""))
    for _, points in ways(drawing):
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    for _, frame in frames(drawing):
        assert 0 <= frame.left < frame.right <= width


@given(graphs(), st.booleans())
def test_boxes_and_labels_keep_apart_and_nothing_passes_them(
    graph: tuple[list[Node], list[Edge]], shared: bool
) -> None:
    drawing = of(*graph, shared=shared)
    found = [frame for _, frame in frames(drawing)]
    for one, other in itertools.combinations(found, 2):
        assert (
            one.right < other.left or other.right < one.left
            or one.bottom < other.top or other.bottom < one.top
        )  # fmt: skip
    svg = ET.fromstring(drawing.html).find("svg")
    assert svg is not None
    whole = float(svg.get("width", "")), float(svg.get("height", ""))
    assert all(f.left > 0 and f.right < whole[0] and f.top > 0 and f.bottom < whole[1]
               for f in found)  # fmt: skip
    for _, points in ways(drawing):
        for x, y in points:
            assert 0 < x < whole[0]
            assert 0 < y < whole[1]
            for frame in found:
                assert not (
                    frame.left + 1 < x < frame.right - 1 and frame.top < y < frame.bottom
                ), (x, y, frame)


@given(graphs())
def test_each_line_begins_and_ends_at_its_boxes(
    graph: tuple[list[Node], list[Edge]],
) -> None:
    nodes, edges = graph
    drawing = of(nodes, edges)
    placed = frames(drawing)
    boxes = [frame for looks, frame in placed if looks.startswith("box ")]
    labels = {looks.removeprefix("label "): frame for looks, frame in placed if "label" in looks}
    # Nodes with an edge have boxes, in their order.
    numbers = sorted({number for edge in edges for number in (edge.source, edge.target)})
    assert len(boxes) == len(numbers)
    lines = ways(drawing)
    for edge in edges:
        source, target = (numbers.index(each) for each in (edge.source, edge.target))
        mine = [
            points for looks, points in lines
            if {edge.verdict, f"of-{source}", f"to-{target}"} <= set(looks.split())
        ]  # fmt: skip
        assert any(touches(points[0], boxes[source]) for points in mine)
        assert any(touches(points[-1], boxes[target]) for points in mine)
        if edge.label:
            label = labels[f"line {edge.verdict} of-{source} to-{target}"]
            ends = [(points[0], points[-1]) for points in mine]
            assert any(on_side(end, label) for _, end in ends)
            assert any(on_side(start, label) for start, _ in ends)


def on_side(point: tuple[float, float], frame: Frame) -> bool:
    """Return whether a point is on the left or the right side of a label."""
    is_on = min(abs(point[0] - frame.left), abs(point[0] - frame.right)) <= 1
    return is_on and frame.top <= point[1] <= frame.bottom


def touches(point: tuple[float, float], frame: Frame) -> bool:
    """Return whether a point is beside a box; the head of an arrow has room between."""
    is_near = min(abs(point[0] - frame.left), abs(point[0] - frame.right)) <= 8
    return is_near and frame.top - 0.2 <= point[1] <= frame.bottom + 0.2


@given(graphs(), st.booleans())
def test_the_same_graph_is_drawn_the_same(
    graph: tuple[list[Node], list[Edge]], shared: bool
) -> None:
    assert of(*graph, shared=shared) == of(*graph, shared=shared)


def test_a_label_stands_between_its_boxes_also_on_the_way_back() -> None:
    edges = [
        Edge(0, 1),
        Edge(1, 2),
        Edge(2, 1, "sometimes", "name /notes"),
        Edge(2, 0, label="x"),
    ]
    placed = dict(frames(of([Node("intake"), Node("writer"), Node("critic")], edges)))
    boxes = [frame for looks, frame in placed.items() if looks.startswith("box ")]
    back = placed["label line sometimes of-2 to-1"]
    assert boxes[1].right < back.left < back.right < boxes[2].left


def test_the_first_node_stands_left() -> None:
    edges = [Edge(number, (number + 1) % 6) for number in range(6)]
    boxes = [frame.left for _, frame in frames(of([Node("x")] * 6, edges))]
    assert boxes == sorted(boxes)


@given(st.text(), st.text(), st.text())
def test_words_may_be_any_text(name: str, label: str, title: str) -> None:
    nodes = [Node(name, title, "agent-0"), Node(title)]
    drawing = of(nodes, [Edge(0, 1, "never", label, title), Edge(1, 0, title=label)])
    for html in (drawing.html, drawing.legend):
        tags = {each.tag for each in ET.fromstring(html).iter()}
        assert tags <= {"div", "svg", "g", "path", "rect", "text", "title", "a", "p", "span"}
    links = [each.get("href") for each in ET.fromstring(drawing.html).iter("a")]
    assert links == ["#agent-0"]
    # Names are no part of the style.
    assert re.fullmatch(r"[-\w\s.:#(),{};]+", drawing.style)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_has_a_look_and_a_word(verdict: str) -> None:
    drawing = of([Node("a"), Node("b")], [Edge(0, 1, verdict)])
    assert f'<g class="line {verdict} of-0 to-1">' in drawing.html
    assert f" {verdict} (1)" in drawing.legend


def test_the_lines_of_a_box_are_found_by_its_node_and_by_pointing() -> None:
    style = of([Node("a", anchor="one"), Node("b")], [Edge(0, 1)]).style
    assert ":root:has(#one:target)" in style
    assert ".box-1:is(:hover,:focus-within)" in style


def test_nothing_and_too_much_are_not_drawn() -> None:
    assert drawn([Node("a")], []) is None
    assert drawn([Node("a"), Node("b")], [Edge(0, 1)] * 2, most=0) is None
    nodes = [Node(f"agent-{number}") for number in range(1_000)]
    assert drawn(nodes, [Edge(a, a + 1) for a in range(999)]) is not None
    many = [Edge(a, b) for a in range(0, 1_000, 2) for b in range(1, 1_000, 7)]
    calls(lambda: drawn(nodes, many), most=6_000_000)
    everybody = [Edge(a, b) for a in range(60) for b in range(60)]
    assert drawn(nodes[:60], everybody) is not None
    calls(lambda: drawn(nodes[:60], everybody), most=5_000_000)
