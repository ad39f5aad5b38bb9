"""Pages with a graph of agents: who sends to whom, what breaks, and nothing that acts."""

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody.agents import Agent, AgentGraph, Exchange, GraphEdge, Registry
from messagebody.compatibility import Verdict
from messagebody.rendering import Panel, graph_page, registry_page
from tests.compatibility.test_inclusion import schema

NAMES = ["scout", "writer", "critic"]
PAIRS = [("scout", "writer"), ("scout", "critic"), ("critic", "critic")]
TEXT, PICTURE = (None, "text/plain", True), ("/a.png", "image/png")


def page_of(graph: AgentGraph, title: str = "Agents") -> str:
    return graph_page(graph, [Panel()] * len(graph.agents), title=title, facts="")


def page(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> str:
    return page_of(AgentGraph(names, [GraphEdge(*pair) for pair in pairs]))


def panel(document: str, number: int) -> str:
    return document.partition(f'id="agent-{number}"')[2].partition("</section>")[0]


def svg(document: str) -> ET.Element:
    start = document.index("<svg ", document.index('class="drawing"'))
    return ET.fromstring(document[start:].partition("</svg>")[0] + "</svg>")


def frames(document: str) -> list[tuple[float, float, float, float]]:
    """Return the left, top, right and bottom edge of each box, and of the words of each line."""
    found = []
    for rect in svg(document).iter("rect"):
        x, y, width, height = (float(rect.get(each, "")) for each in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


class TestDrawing:
    def test_every_pair_is_a_line(self) -> None:
        document = page(NAMES, PAIRS)
        lines = re.findall(r'<g class="line always of-(\d) to-(\d)">', document)
        found = svg(document)
        boxes = [each.findtext(".//title") for each in found if "box" in each.get("class", "")]
        assert sorted((boxes[int(a)], boxes[int(b)]) for a, b in lines) == sorted(PAIRS)

    def test_a_line_leads_from_its_sender_to_its_taker(self) -> None:
        """Also where it leads back: the point of its head touches the box of the taker."""
        names = "abcd"
        edges = [GraphEdge(*pair) for pair in ("ab", "bc", "ca", "ad", "cd", "db")]
        document = page_of(AgentGraph(names, edges))
        boxes = frames(document)
        for group in svg(document):
            if group.get("class", "").startswith("line"):
                source, target = map(int, re.findall(r"-(\d+)", group.get("class", "")))
                way, head = (each.get("d", "") for each in group.iter("path"))
                ends = re.findall(r"[MH ,]?(-?[\d.]+)", way)
                point = [float(each) for each in re.findall(r"L(-?\d+) (-?\d+)", head)[0]]
                left, top, right, bottom = boxes[target]
                assert min(abs(point[0] - left), abs(point[0] - right)) <= 1
                assert top <= point[1] <= bottom
                sides = [side for box in (source, target) for side in boxes[box][::2]]
                for end in (float(ends[0]), float(ends[-1])):  # all numbers are rounded
                    assert min(abs(end - side) for side in sides) <= 1

    def test_lines_that_leave_a_box_do_not_cross(self) -> None:
        verdicts = [Verdict.ALWAYS, Verdict.NEVER, Verdict.SOMETIMES]
        edges = [GraphEdge("a", to, each) for to, each in zip("bcd", verdicts, strict=True)]
        found = svg(page_of(AgentGraph("abcd", edges))).iter("path")
        ways = [path.get("d", "") for path in found if path.get("class") == "way"]
        ends = [[*map(int, re.findall(r" (-?\d+)", way))] for way in ways]
        starts = [each[0] for each in sorted(ends, key=lambda each: each[-1])]
        assert len(starts) == len({*starts}) == 3
        assert starts == sorted(starts)

    def test_senders_stand_left_of_takers(self) -> None:
        names = [f"agent-{number}" for number in range(8)]
        document = page(names, [*pairwise(names), (names[0], names[7]), (names[5], names[2])])
        lefts = [box[0] for box in frames(document)]
        assert lefts == sorted(lefts)

    @given(
        st.lists(
            st.tuples(
                st.integers(0, 7), st.integers(0, 7), st.sampled_from(list(Verdict)),
                st.sampled_from(["", "mount /in", "drop /raw/**\nmount /a/very/long/directory"]),
            ),
            min_size=1, max_size=20, unique_by=lambda each: each[:2],
        )
    )  # fmt: skip
    @settings(max_examples=60)
    def test_nothing_covers_anything(self, edges: list[tuple[int, int, Verdict, str]]) -> None:
        names = [f"agent {number}" for number in range(8)]
        made = [GraphEdge(names[a], names[b], verdict, label) for a, b, verdict, label in edges]
        document = page_of(AgentGraph(names, made))
        found = frames(document)
        drawing = svg(document)
        width, height = float(drawing.get("width", "")), float(drawing.get("height", ""))
        for left, top, right, bottom in found:
            assert 0 <= left < right <= width
            assert 0 <= top < bottom <= height
        for one, other in combinations(found, 2):
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
        boxes_of = {name for box in drawing.iter("a") for name in [box.findtext("title")]}
        assert boxes_of == {name for edge in made for name in (edge.source, edge.target)}

    def test_words_stand_on_a_line_also_where_it_leads_back(self) -> None:
        edges = [GraphEdge("a", "b"), GraphEdge("b", "a", Verdict.NEVER, "mount /in")]
        document = page_of(AgentGraph("ab", edges))
        assert document.count('<g class="label line never') == 1
        assert ">mount /in</text>" in document
        assert "b → a: never. mount /in" in document

    def test_agents_with_the_same_connections_share_a_box(self) -> None:
        names = ["scout", *(f"writer-{number}" for number in range(20)), "critic", "alone"]
        writers = names[1:21]
        pairs = [("scout", each) for each in writers] + [(each, "critic") for each in writers]
        document = page(names, pairs)
        assert document.count("<rect") == 3
        assert document.count('class="line always') == 2
        assert "and 9 more" in document
        assert "1 agent without a line:" in document
        # A choice of any of them shows the lines of all.
        assert "#agent-1:target,#agent-2:target" in document

    @pytest.mark.parametrize(("count", "more"), [(12, []), (13, ["and 2 more"])])
    def test_a_box_says_how_many_names_it_leaves_out(self, count: int, more: list[str]) -> None:
        names = ["scout", *(f"writer-{number}" for number in range(count))]
        document = page(names, [("scout", each) for each in names[1:]])
        assert re.findall(r"(and \d+ more)</text>", document) == more

    def test_too_many_lines_are_only_listed(self) -> None:
        names = [f"agent-{number}" for number in range(30)]
        # Each has other neighbours, so that none share a box.
        document = page(names, list(combinations(names, 2)))
        assert "<rect" not in document
        assert "They are too many for a drawing, and are listed." in document
        long = [f"agent-{number}" for number in range(130)]
        document = page(long, [*pairwise(long), *zip(long, long[60:], strict=False)])
        assert "<rect" not in document
        assert "<rect" in page(names, list(combinations(names, 2))[:200])
        assert "too many" not in page(names, [])


class TestPage:
    def test_the_rules_of_a_choice_are_in_the_policy(self) -> None:
        document = page(NAMES, PAIRS)
        (style,) = re.findall("<style>(.*?)</style>", document, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src &#x27;sha256-{digest}&#x27;" in document
        assert re.search(r":root:has\(#agent-2:target\)\) \.line:not\(\.of-\d,\.to-\d\)", style)

    @given(st.lists(st.text(max_size=30), unique=True, max_size=5))
    def test_names_may_be_any_text(self, names: list[str]) -> None:
        edges = [GraphEdge(a, b, Verdict.NEVER, a, b) for a in names for b in names]
        document = page_of(AgentGraph(names, edges), "<script>")
        body = document.partition("</style>")[2]
        tags = set(re.findall(r"<(\w+)", body))
        assert tags <= {
            "body", "header", "h1", "h2", "h3", "p", "div", "ul", "li", "a", "bdi", "main",
            "section", "svg", "path", "g", "rect", "text", "title", "span",
        }  # fmt: skip
        assert len(re.findall('<a href="#agent-[0-9]+"><title>', body)) == len(names)


class TestRegistryPage:
    def test_every_pair_stands_in_two_lists(self) -> None:
        text, image = schema(TEXT), schema((None, "image/png", True))
        agents = [
            Agent("scout", image, text),
            Agent("writer", text, image),
            Agent("critic", text, text),
        ]
        document = registry_page(Registry(agents))
        assert "3 agents, 5 pairs that fit" in document
        assert re.findall("<h3>(.*?)</h3>", panel(document, 2)) == [
            "sends to 2 agents", "takes from 2 agents",
        ]  # fmt: skip
        assert re.findall('href="#agent-(.)"', panel(document, 2))[:4] == ["1", "2", "0", "2"]

    def test_what_breaks_a_pair_stands_with_both_of_its_agents(self) -> None:
        reader = Agent("reader", schema(TEXT), schema((None, "video/mp4", True)))
        painter = Agent("painter", schema(PICTURE), schema(TEXT, PICTURE))
        document = registry_page(Registry([reader, painter]))
        for number, sign in ((0, "←"), (1, "→")):
            assert "sometimes: 1 pair" in panel(document, number)
            assert f"<li>{sign} <a" in panel(document, number)
            assert "breaks with &#x27;/a.png&#x27; image/png, text/plain" in panel(document, number)
            assert "never: 1 pair" in panel(document, number)
            assert "<small>an unnamed video/mp4 part" in panel(document, number)
        assert document.count('class="label line sometimes') == 1
        assert "never fit" not in document

    def test_a_page_grows_with_the_agents_and_not_with_their_pairs(self) -> None:
        """Of many pairs, some are listed and the others counted."""

        def size(count: int) -> int:
            kinds = ["text/plain", "image/png", "audio/mpeg", "video/mp4"]
            agents = [
                Agent(f"agent-{number}", schema((None, kinds[number % 4])),
                      schema((None, kinds[number % 3], True), (f"/{number}/*", "text/*")))
                for number in range(count)
            ]  # fmt: skip
            return len(registry_page(Registry(agents)))

        assert size(80) < 2.2 * size(40)
        text = schema((None, "text/*", True))
        document = registry_page(Registry(Agent(f"a{i}", text, text) for i in range(30)))
        assert panel(document, 0).count("10 more") == 2

    def test_pairs_that_sometimes_fit_are_counted_if_they_are_not_drawn(self) -> None:
        agents = [Agent(f"s{i}", schema(TEXT), schema(TEXT, PICTURE)) for i in range(6)]
        document = registry_page(Registry(agents))
        assert "30 pairs that sometimes fit are listed, and not drawn." in document

    def test_a_large_registry_shows_the_pairs_that_fit(self) -> None:
        agents = [Agent(f"s{i}", schema(TEXT), schema(PICTURE)) for i in range(101)]
        document = registry_page(Registry(agents))
        assert "Pairs that sometimes or never fit are not shown." in document
        assert "<small>" not in document.partition("<main")[2]

    def test_a_page_has_an_end(self) -> None:
        nothing = schema()
        document = registry_page(
            Registry(Agent(f"a{i}", schema(TEXT), nothing) for i in range(2_001))
        )
        assert "1 more</p>" in document
        assert document.count('class="panel"') == 2_000

    def test_exchanges_stand_in_the_panel_of_their_agent(self) -> None:
        asks = {"interrupt": Exchange(sends=schema(TEXT)), "<b>": Exchange(takes=schema(TEXT))}
        document = registry_page(Registry([Agent("a", schema(), schema(), exchanges=asks)]))
        assert "sends interrupt" in panel(document, 0)
        assert "takes &lt;b&gt;" in panel(document, 0)
