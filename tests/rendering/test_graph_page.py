"""The graph of a registry as a page: who sends to whom, and nothing that acts."""

import base64
import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from messagebody.rendering._graph_page import MOST_ON_A_CIRCLE, graph_page

NAMES = ["scout", "writer", "critic"]
PAIRS = [("scout", "writer"), ("scout", "critic"), ("critic", "critic")]


def panel(document: str, number: int) -> str:
    return document.partition(f'id="agent-{number}"')[2].partition("</section>")[0]


def test_every_pair_is_a_bow_and_stands_in_two_lists() -> None:
    document = graph_page(NAMES, PAIRS)
    bows = re.findall(r'<path d="M[^"]+" class="of-(\d) to-(\d)">', document)
    assert [(NAMES[int(a)], NAMES[int(b)]) for a, b in bows] == PAIRS
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


@given(st.lists(st.text(max_size=30), unique=True, max_size=5))
def test_names_may_be_any_text(names: list[str]) -> None:
    document = graph_page(names, [(a, b) for a in names for b in names], title="<script>")
    body = document.partition("</style>")[2]
    tags = set(re.findall(r"<(\w+)", body))
    assert tags <= {
        "body", "header", "h1", "h2", "h3", "p", "div", "nav", "ol", "ul", "li", "a", "bdi", "main",
        "section", "svg", "path", "circle", "text", "title",
    }  # fmt: skip
    assert body.count("<path") == len(names) ** 2


def test_many_agents_are_only_listed() -> None:
    names = [str(number) for number in range(2_500)]
    document = graph_page(names, [(name, "0") for name in names])
    assert "<svg" not in document
    assert "500 more</li>" in document
    assert "2300 more" in panel(document, 0).replace(",", "")
    assert "<svg" in graph_page(names[:MOST_ON_A_CIRCLE], [])
    assert "<svg" not in graph_page([], [])
