"""Pictures of a registry: with letters, and as SVG."""

import random
import re
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.compatibility import Agent, Registry
from messagebody.rendering.graphs import MOST_DRAWN, dot, draw
from messagebody.rendering.layout import Box, lay_out
from messagebody.rendering.pictures import svg
from messagebody.schema import MessageBodySchema
from tests.rendering.test_formats import texts

Pairs = list[tuple[str, str]]


@st.composite
def graphs(draw_from: st.DrawFn, most: int = MOST_DRAWN) -> tuple[list[str], Pairs]:
    count = draw_from(st.integers(1, most))
    names = [f"agent-{number}" for number in range(count)]
    every = [(one, other) for one in names for other in names]
    return names, draw_from(st.lists(st.sampled_from(every), unique=True, max_size=40))


def ranks_of(names: list[str], pairs: Pairs) -> list[list[str]]:
    graph: Any = nx.DiGraph(pairs)
    graph.add_nodes_from(names)
    loops = nx.condensation(graph)
    return [
        [name for each in generation for name in loops.nodes[each]["members"]]
        for generation in nx.topological_generations(loops)
    ]


class TestLetters:
    @given(graphs())
    def test_all_pairs_can_be_read_off(self, graph: tuple[list[str], Pairs]) -> None:
        """The marks of each column say who sends and who takes."""
        names, pairs = graph
        rows = [line[len(max(names, key=len)) + 3 :: 3] for line in draw(names, pairs)]
        read = []
        for column in range(max(map(len, rows))):
            marks = [row[column : column + 1] for row in rows]
            [sender] = [i for i, mark in enumerate(marks) if mark in {"●", "◉"}]
            takers = [i for i, mark in enumerate(marks) if mark in {"◀", "◉"}]
            read += [(names[sender], names[taker]) for taker in takers]
        assert sorted(read) == sorted(pairs)

    def test_lines(self) -> None:
        pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "c")]
        assert list(draw(["a", "b", "c", "d"], pairs)) == [
            "a ──●─────◀",
            "b ──◀──●──┼".removesuffix("──┼") + "  │",
            "c ─────◀──◉",
            "d",
        ]

    @given(st.lists(texts, min_size=1, max_size=5, unique=True))
    def test_hostile_names(self, names: list[str]) -> None:
        """One line an agent, nothing a terminal would act on."""
        pairs = [(names[0], name) for name in names]
        lines = list(draw(names, pairs))
        assert len("\n".join(lines).splitlines()) == len(names)
        assert all(0x20 <= ord(c) < 0x7F or ord(c) >= 0xA0 for line in lines for c in line)
        assert len("\n".join(dot(names, pairs)).splitlines()) == 3 + 2 * len(names)


class TestSvg:
    @given(graphs(most=20))
    def test_every_agent_and_pair_once(self, graph: tuple[list[str], Pairs]) -> None:
        names, pairs = graph
        root = ET.fromstring("\n".join(svg(ranks_of(names, pairs), pairs)))
        [group] = root.findall("{*}g")
        titles = [each.findtext("{*}title") for each in group]
        assert sorted(map(str, titles)) == sorted(names + [f"{a} → {b}" for a, b in pairs])

    @given(st.lists(texts, min_size=1, max_size=5, unique=True))
    def test_hostile_names(self, names: list[str]) -> None:
        """Well-formed, and nothing in it but shapes and text."""
        pairs = [(names[0], name) for name in names]
        text = "\n".join(svg([names], pairs)).encode().decode()
        elements = {each.tag.rpartition("}")[2] for each in ET.fromstring(text).iter()}
        assert elements <= {"svg", "g", "title", "style", "rect", "text", "path"}

    def test_long_names_are_cut(self) -> None:
        [root] = [ET.fromstring("".join(svg([["x" * 100]], [])))]
        assert root.findtext(".//{*}g/{*}text") == "x" * 27 + "…"


class TestLayout:
    @pytest.mark.parametrize("seed", range(40))
    def test_boxes_stand_apart_and_inside(self, seed: int) -> None:
        """Pipelines in columns, and rings."""
        rng = random.Random(seed)
        names = [f"agent-{number}" for number in range(rng.randint(1, 30))]
        pairs = [(a, b) for a, b in combinations(names, 2) if rng.random() < 0.15]
        if seed % 2:
            pairs += [(b, a) for a, b in pairs if rng.random() < 0.5]
        widths = {name: 60.0 + rng.random() * 120 for name in names}
        layout = lay_out(ranks_of(names, pairs), pairs, widths)
        assert {box.name for box in layout.boxes} == set(names)
        assert not any(overlap(*boxes) for boxes in combinations(layout.boxes, 2))
        for box in layout.boxes:
            assert -0.01 <= box.x - box.width / 2 < box.x + box.width / 2 <= layout.width + 0.01
            assert -0.01 <= box.y - box.height / 2 < box.y + box.height / 2 <= layout.height + 0.01

    def test_arrows_go_from_left_to_right(self) -> None:
        """Around the boxes of the ranks they pass."""
        ranks = [["a"], ["b"], ["c"]]
        layout = lay_out(ranks, [("a", "b"), ("b", "c"), ("a", "c")], dict.fromkeys("abc", 50.0))
        a, b, c = layout.boxes
        assert a.x < b.x < c.x
        [passing] = [arrow for arrow in layout.arrows if (arrow.sender, arrow.taker) == ("a", "c")]
        at_b = [y for x, y in passing.points if abs(x - b.x) < 1]
        assert at_b
        assert all(abs(y - b.y) > b.height / 2 for y in at_b)

    def test_few_crossings(self) -> None:
        """Two chains that were listed crosswise do not cross."""
        layout = lay_out(
            [["a", "b"], ["d", "c"]], [("a", "c"), ("b", "d")], dict.fromkeys("abcd", 50.0)
        )
        at = {box.name: box.y for box in layout.boxes}
        assert (at["a"] < at["b"]) == (at["c"] < at["d"])


def overlap(one: Box, other: Box) -> bool:
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2
        and abs(one.y - other.y) < (one.height + other.height) / 2
    )


def test_ranks() -> None:
    """Senders first; who can send to each other stands together."""

    def takes(kind: str) -> MessageBodySchema:
        return MessageBodySchema([(None, kind, True)])

    registry = Registry(
        [
            Agent("speaker", takes("text/*"), takes("audio/mpeg")),
            Agent("critic", takes("text/*"), takes("text/plain")),
            Agent("writer", takes("text/*"), takes("text/markdown")),
            Agent("captioner", takes("image/png"), takes("text/plain")),
        ]
    )
    assert registry.ranks() == [["captioner"], ["critic", "writer"], ["speaker"]]
    order = [name for rank in registry.ranks() for name in rank]
    assert re.match("captioner ──●", next(draw(order, registry.pairs())))
