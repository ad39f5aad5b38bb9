"""The graph of a registry as a page: who sends to whom, and nothing that acts."""

import base64
import hashlib
import itertools
import re
from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from messagebody.rendering._graph_page import MOST_DRAWN, graph_page
from messagebody.rendering._layers import layered

NAMES = ["scout", "writer", "critic"]
PAIRS = [("scout", "writer"), ("scout", "critic"), ("critic", "critic")]


def panel(document: str, number: int) -> str:
    return document.partition(f'id="agent-{number}"')[2].partition("</section>")[0]


def test_every_pair_is_a_line_and_stands_in_two_lists() -> None:
    document = graph_page(NAMES, PAIRS)
    lines = re.findall(r'<path d="M[^"]+" class="of-(\d) to-(\d)">', document)
    assert sorted((NAMES[int(a)], NAMES[int(b)]) for a, b in lines) == sorted(PAIRS)
    assert re.findall("<h3.*?>(.*?)</h3>", panel(document, 2)) == [
        "sends to 1 agent",
        "takes from 2 agents",
    ]
    assert re.findall('href="#agent-(.)"', panel(document, 2)) == ["2", "0", "2"]
    assert "3 agents, 3 pairs that fit" in document


def test_the_rules_of_a_choice_are_in_the_policy() -> None:
    document = graph_page(NAMES, PAIRS)
    (style,) = re.findall("<style>(.*?)</style>", document, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src &#x27;sha256-{digest}&#x27;" in document
    assert ":root:has(#agent-2:target) .of-2" in style


def test_agents_with_the_same_connections_share_a_box() -> None:
    names = ["scout", *(f"writer-{number}" for number in range(20)), "critic", "alone"]
    writers = names[1:21]
    pairs = [("scout", each) for each in writers] + [(each, "critic") for each in writers]
    document = graph_page(names, pairs)
    assert document.count("<rect") == 3
    assert document.count("<path") == 2
    assert "and 8 more" in document
    assert "1 agent without a pair:" in document
    # A choice of any of them shows the lines of all.
    assert "#agent-1:target, #agent-2:target" in document


def test_a_box_says_how_many_names_it_leaves_out() -> None:
    for count, more in ((12, []), (13, ["and 1 more"])):
        names = ["scout", *(f"writer-{number}" for number in range(count))]
        document = graph_page(names, [("scout", each) for each in names[1:]])
        assert re.findall(r"and \d+ more", document) == more


def test_a_line_leaves_its_box_on_the_side_of_where_it_goes() -> None:
    """On the right, also to the same column; on the left if it goes back to an earlier one."""
    names = [f"agent-{number}" for number in range(60)]
    pairs = [(names[number], names[(number + 1) % 60]) for number in range(60)]
    document = graph_page([*names, "self"], [*pairs, ("self", "self")])
    found = re.findall(r'<rect x="(\d+)".*? width="(\d+)".*? class="box-(\d+)"', document)
    left = {int(box): int(x) for x, _, box in found}
    right = {int(box): int(x) + int(width) for x, width, box in found}
    lines = re.findall(r'<path d="M(\d+) [^"]+" class="of-(\d+) to-(\d+)">', document)
    assert len(lines) == 61
    # Each line leads to the next agent, and few of them begin a new column.
    back = [(start, sender, taker) for start, sender, taker in lines
            if left[int(taker)] < left[int(sender)]]  # fmt: skip
    assert back
    for start, sender, taker in lines:
        side = left if (start, sender, taker) in back else right
        assert abs(int(start) - side[int(sender)]) <= 1


def test_senders_stand_left_of_takers_and_names_do_not_overlap() -> None:
    names = [f"agent-{number}" for number in range(60)]
    pairs = [(names[i], names[j]) for i in range(60) for j in range(i + 1, 60) if (i * j) % 7 == 1]
    document = graph_page(names, pairs)
    boxes = {
        int(number): tuple(map(int, place))
        for *place, number in re.findall(
            r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" rx="6" class="box-(\d+)"',
            document,
        )
    }
    assert len(boxes) > 20
    for x, y, width, height in boxes.values():
        assert not [
            other for other in boxes.values()
            if other != (x, y, width, height)
            and x < other[0] + other[2] and other[0] < x + width
            and y < other[1] + other[3] and other[1] < y + height
        ]  # fmt: skip
    for sender, takers in re.findall(r'class="of-(\d+) ((?:to-\d+ ?)+)"', document):
        for taker in re.findall(r"\d+", takers):
            left, _, width, _ = boxes[int(sender)]
            assert left + width < boxes[int(taker)][0]


@given(st.lists(st.text(max_size=30), unique=True, max_size=5))
def test_names_may_be_any_text(names: list[str]) -> None:
    document = graph_page(names, [(a, b) for a in names for b in names], title="<script>")
    body = document.partition("</style>")[2]
    tags = set(re.findall(r"<(\w+)", body))
    assert tags <= {
        "body", "header", "h1", "h2", "h3", "p", "div", "ul", "li", "a", "bdi", "main",
        "section", "svg", "path", "g", "rect", "text", "title",
    }  # fmt: skip
    assert body.count("<text") == len(names)


def test_names_are_listed_in_the_order_of_their_numbers() -> None:
    document = graph_page(["b", "a-10", "a-2", "A-1"], [])
    (index,) = re.findall('<section class="index".*?</section>', document)
    assert re.findall("<bdi>(.*?)</bdi>", index) == ["A-1", "a-2", "a-10", "b"]


def test_many_agents_are_only_listed() -> None:
    names = [str(number) for number in range(2_500)]
    document = graph_page(names, [(name, "0") for name in names])
    assert "<svg" not in document
    assert "500 more</p>" in document
    assert "2300 more" in panel(document, 0).replace(",", "")
    # By their initials, 1 to 9, and 0.
    assert document.count("<details>") == 10
    some = names[:MOST_DRAWN]
    assert "<svg" in graph_page(some, [("0", "1")])
    assert "<svg" not in graph_page(some, [])
    assert "<svg" not in graph_page([], [])


@given(
    st.integers(1, 30).flatmap(
        lambda count: st.lists(st.lists(st.integers(0, count - 1), unique=True, max_size=6),
                               min_size=count, max_size=count)
    )
)  # fmt: skip
def test_each_edge_can_be_followed_from_column_to_column(takers: list[list[int]]) -> None:
    found = layered(takers)
    columns = found.column_of
    points = [point for column in found.columns for point in column]
    assert len(points) == len(set(points))
    assert {(node, columns[node]) for node in range(len(takers))} <= set(points)
    reached = {
        (edge.sender, edge.end[0])
        for edge in found.edges
        if edge.end[1] == columns[edge.end[0]] and edge.end[0] in edge.takers
    }
    assert reached == {(node, taker) for node, each in enumerate(takers) for taker in each}
    for edge in found.edges:
        assert edge.start[0] == edge.sender
        assert set(edge.takers) <= set(takers[edge.sender])
        # It begins at its node, or where a piece of the same edges ends.
        starts = {(edge.sender, columns[edge.sender])}
        starts |= {each.end for each in found.edges if each.sender == edge.sender}
        assert edge.start in starts

    graph: Any = nx.DiGraph([(a, b) for a, each in enumerate(takers) for b in each])
    for component in nx.strongly_connected_components(graph):
        for node in component:
            for taker in takers[node]:
                assert taker in component or columns[taker] > columns[node]


def test_lines_that_need_not_cross_do_not() -> None:
    found = layered([[2], [3], [3, 4], [4], []])
    place = {point: place for column in found.columns for place, point in enumerate(column)}
    for one, other in itertools.combinations(found.edges, 2):
        if one.start[1] == other.start[1]:
            apart = place[one.start] - place[other.start], place[one.end] - place[other.end]
            assert apart[0] * apart[1] >= 0


def test_a_long_chain_and_a_large_circle_are_laid_out() -> None:
    chain = layered([[number + 1] for number in range(1_999)] + [[]])
    assert list(chain.column_of) == [*range(2_000)]
    circle = layered([[(number + 1) % 60] for number in range(60)])
    assert len(circle.columns) == 5


def test_exchanges_stand_in_the_panel_of_their_agent() -> None:
    said = {"a": ["sends interrupt", "takes <b>"]}
    page = graph_page(["a", "b"], [("a", "b")], exchanges=said)
    assert page.count("2 exchanges") == 1
    assert "sends interrupt" in page
    assert "takes &lt;b&gt;" in page
