"""Graphs as text: what Mermaid draws, and nothing that a name could add to it."""

import re
from collections.abc import Iterator
from itertools import pairwise

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody._base.text import escape
from messagebody.agents import Agent, AgentGraph, GraphEdge, Registry
from messagebody.compatibility import Verdict
from tests.cli.test_reports import texts
from tests.compatibility.test_inclusion import schema

# Each would change more than its own label, if it were taken as it is.
HOSTILE = [
    'end"]; click n0 "javascript:alert(1)"', "%%{init: {'theme': 'forest'}}%%", "`**bold**`",
    "<img src=x onerror=alert(1)>", "&lt;b&gt;", "#60;b", "$$x^2$$", "fa:fa-car", "1. one", "- one",
    "a|b", "end", "@{ shape: circle }", "\\N\\G\\l", '\\"];', "a\nb\r\u2028c",
    "javascript:alert(1)", "https://example.com/", "\u202etxt", "style n0 fill:#f00",
    "a" * 10_000, "```", "\ud800", "",
]  # fmt: skip
NODE = r'n\d+(?:\["(?P<label>[^"]*)"\])?'
SAFE = r"(?:[\w ,./-]|#\d+;|<br/>)*"


def both_ways(names: list[str]) -> AgentGraph:
    """Return a graph in which each text is the name of an agent, and stands on an edge."""
    edges = [GraphEdge(names[0], each, Verdict.SOMETIMES, each) for each in names]
    return AgentGraph(names, edges)


def mermaid_labels(text: str) -> Iterator[str]:
    """Yield all labels of a text, and fail if there is anything but nodes, edges and styles."""
    first, *lines = text.split("\n")
    assert first == "flowchart LR"
    for line in lines:
        if line.startswith("  linkStyle "):
            assert re.fullmatch(r"  linkStyle [\d,]+ stroke:#[0-9a-f]{6}", line)
            continue
        labels = re.findall(r'"([^"]*)"', line)
        assert all(re.fullmatch(SAFE, label) for label in labels), line
        # A list of Markdown begins with a number or a sign.
        words = [word for label in labels for word in label.split("<br/>")]
        assert all(word[0] == "#" or word[0].isalpha() for word in words), line
        bare = re.sub(r'"[^"]*"', '""', line)
        arrow = r' (?:-->|-\.->|--x)(?:\|""\|)? n\d+(?:\[""\])?'
        assert re.fullmatch(rf'  (?:n\d+(?:\[""\])?(?:{arrow})?|more\[""\])', bare), line
        yield from labels


def read(label: str) -> str:
    return re.sub("#([0-9]+);", lambda found: chr(int(found[1])), label)


class TestMermaid:
    @given(st.lists(texts | st.sampled_from(HOSTILE), unique=True, min_size=1, max_size=6))
    def test_a_name_is_a_label_and_nothing_else(self, names: list[str]) -> None:
        found = {read(label) for label in mermaid_labels(both_ways(names).to_mermaid())}
        assert {escape(name, limit=60) or " " for name in names} <= found

    @pytest.mark.parametrize("name", HOSTILE)
    def test_names_that_would_do_something(self, name: str) -> None:
        text = AgentGraph([name, "b"], [GraphEdge("b", name, label=name)]).to_mermaid()
        assert '""' not in text
        assert read(next(iter(mermaid_labels(text)))) == "b"
        assert not re.search(
            r"%%|\{|`|\$|:(?!#)|javascript:|<(?!br/>)", text.replace("stroke:", "")
        )

    def test_each_verdict_looks_different_and_says_so(self) -> None:
        edges = [GraphEdge("a", "b", each, "by hand") for each in Verdict]
        text = AgentGraph("ab", edges).to_mermaid()
        assert [line.split()[1].partition("|")[0] for line in text.split("\n")[1:5]] == [
            "-.->", "--x", "-.->", "-->",
        ]  # fmt: skip
        for verdict in ("sometimes", "never", "undecided"):
            assert f'"{verdict}<br/>by hand"' in text
        assert text.count("linkStyle") == 4

    def test_an_agent_that_feeds_itself_is_named_once(self) -> None:
        text = AgentGraph("a", [GraphEdge("a", "a")]).to_mermaid()
        assert text.split("\n")[1] == '  n0["a"] --> n0'

    def test_a_long_label_is_cut(self) -> None:
        edge = GraphEdge("a", "b", Verdict.NEVER, "\n".join(["x" * 100] * 9))
        assert [len(line) for line in edge.label_lines] == [5, 61, 61, len("and 7 more")]

    def test_a_large_graph_is_as_large_as_github_draws_it(self) -> None:
        """What always fits is left out first, and what is left out is counted."""
        names = [f"agent-{number}" for number in range(60)]
        edges = [GraphEdge(a, b) for a in names for b in names if a != b]
        edges[-1] = GraphEdge(names[-1], names[0], Verdict.NEVER, "it breaks")
        text = AgentGraph([*names, "spare"], edges).to_mermaid()
        assert text.count(" --> ") == 499
        assert "it breaks" in text
        assert '"spare"' in text
        assert f'more["{60 * 59 - 500:,} edges more"]' in text
        wide = [f"{number:#<60}" for number in range(1_000)]
        text = AgentGraph(wide, [GraphEdge(*pair) for pair in pairwise(wide)]).to_mermaid()
        assert len(text) < 50_000
        assert re.search(r'more\["\d+ agents and \d+ edges more"\]', text)


TEXT, PICTURE = (None, "text/plain", True), ("/a.png", "image/png")


class TestRegistry:
    def test_pairs_that_sometimes_fit_say_what_breaks_them(self) -> None:
        reader = Agent("reader", schema(TEXT), schema())
        painter = Agent("painter", schema((None, "video/mp4", True)), schema(TEXT, PICTURE))
        graph = Registry([reader, painter]).graph()
        [edge] = [edge for edge in graph.edges if edge.source == "painter"]
        assert edge == GraphEdge(
            "painter", "reader", Verdict.SOMETIMES,
            "breaks with '/a.png' image/png, text/plain",
        )  # fmt: skip

    def test_a_message_that_breaks_may_be_empty(self) -> None:
        reader = Agent("reader", schema(TEXT), schema())
        writer = Agent("writer", schema(PICTURE), schema((None, "text/plain")))
        [edge] = [edge for edge in Registry([reader, writer]).graph().edges if edge.label]
        assert edge.label == "breaks with an empty message"

    def test_many_pairs_that_sometimes_fit_are_left_out(self) -> None:
        """They would be nearly all lines, and tell little."""
        senders = [Agent(f"s{i}", schema(TEXT), schema(TEXT, PICTURE)) for i in range(3)]
        readers = [
            Agent(f"r{i}", schema(TEXT), schema((None, "video/mp4", True))) for i in range(4)
        ]
        assert len(Registry([*senders[:2], *readers]).graph().edges) == 10
        assert Registry([*senders, *readers[:1]]).graph().edges == ()

    def test_undecided_pairs_are_in_it(self) -> None:
        hard = [f"/*{c}{'{a,b}' * n}{c}*" for n in (11, 23) for c in "ab"]
        knot = Agent("knot", schema(*((name,) for name in hard)), schema(("/" + "{a,b}" * 25,)))
        registry = Registry([knot, attrs.evolve(knot, name="tie")])
        assert [edge.verdict for edge in registry.graph().edges] == [Verdict.UNDECIDED] * 2
        assert "-.->" in registry.to_mermaid()
