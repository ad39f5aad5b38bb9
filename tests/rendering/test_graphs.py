"""Graphs of a registry: with letters, for Graphviz and for Mermaid."""

import re
from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from messagebody._base.text import escape
from messagebody.rendering._graphs import MOST_DRAWN, dot, draw, mermaid
from tests.cli.test_reports import texts

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


class TestMermaid:
    @given(st.lists(texts, unique=True, min_size=1))
    def test_any_name_is_a_label_and_nothing_else(self, names: list[str]) -> None:
        """No character of a name can end its label, and each can be read back."""
        lines = [*mermaid(names, [(names[0], names[-1])])]
        assert lines[0] == "flowchart LR"
        assert lines[-1] == f"  n0 --> n{len(names) - 1}"
        for number, (name, line) in enumerate(zip(names, lines[1:-1], strict=True)):
            found = re.fullmatch(rf'  n{number}\["((?:[^"#&<>`\\;\n]|#[0-9]+;)*)"\]', line)
            assert found is not None
            assert re.sub("#([0-9]+);", lambda c: chr(int(c[1])), found[1]) == escape(name)
