"""The graph of a registry as a page: who sends to whom, and nothing that acts."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.errors import InvalidArgument
from messagebody.rendering._graph_page import MOST_DRAWN, graph_page

NAMES = ["scout", "writer", "critic"]
PAIRS = [("scout", "writer"), ("scout", "critic"), ("critic", "critic")]


def panel(document: str, number: int) -> str:
    return document.partition(f'id="agent-{number}"')[2].partition("</section>")[0]


def test_every_pair_is_a_line_and_stands_in_two_lists() -> None:
    document = graph_page(NAMES, PAIRS)
    lines = re.findall(r'<g class="line always of-(\d) to-(\d)">', document)
    boxes = [NAMES[int(box)] for box in re.findall(r'href="#agent-(\d)"><title>', document)]
    assert sorted((boxes[int(a)], boxes[int(b)]) for a, b in lines) == sorted(PAIRS)
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
    assert re.search(r":root:has\(#agent-2:target\)\) \.line:not\(\.of-\d,\.to-\d\)", style)


def test_agents_with_the_same_connections_share_a_box() -> None:
    names = ["scout", *(f"writer-{number}" for number in range(20)), "critic", "alone"]
    writers = names[1:21]
    pairs = [("scout", each) for each in writers] + [(each, "critic") for each in writers]
    document = graph_page(names, pairs)
    assert document.count("<rect") == 3
    assert document.count('class="line always') == 2
    assert "and 9 more" in document
    assert "1 agent without a line:" in document
    # A choice of any of them shows the lines of all.
    assert "#agent-1:target,#agent-2:target" in document


def test_a_box_says_how_many_names_it_leaves_out() -> None:
    for count, more in ((12, []), (13, ["and 2 more"])):
        names = ["scout", *(f"writer-{number}" for number in range(count))]
        document = graph_page(names, [("scout", each) for each in names[1:]])
        assert re.findall(r"(and \d+ more)</text>", document) == more


@given(st.lists(st.text(max_size=30), unique=True, max_size=5))
def test_names_may_be_any_text(names: list[str]) -> None:
    document = graph_page(names, [(a, b) for a in names for b in names], title="<script>")
    body = document.partition("</style>")[2]
    tags = set(re.findall(r"<(\w+)", body))
    assert tags <= {
        "body", "header", "h1", "h2", "h3", "p", "div", "ul", "li", "a", "bdi", "main",
        "section", "svg", "path", "g", "rect", "text", "title", "span",
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
    assert "They are too many for a drawing, and are listed." in document
    some = names[:MOST_DRAWN]
    assert "<svg" in graph_page(some, [("0", "1")])
    assert "<svg" not in graph_page(some, [])
    assert "<svg" not in graph_page([], [])


def test_exchanges_stand_in_the_panel_of_their_agent() -> None:
    said = {"a": ["sends interrupt", "takes <b>"]}
    page = graph_page(["a", "b"], [("a", "b")], exchanges=said)
    assert page.count("2 exchanges") == 1
    assert "sends interrupt" in page
    assert "takes &lt;b&gt;" in page


REFUSED = {
    ("writer", "scout"): ("sometimes", "an unnamed text/plain, which is <b>not</b> taken"),
    ("writer", "critic"): ("never", "'/figure' image/png is required"),
}


def test_what_breaks_a_pair_stands_on_its_line_and_beside_it() -> None:
    page = graph_page(NAMES, PAIRS, refused=REFUSED)
    for verdict in ("always (3)", "sometimes (1)", "never (1)"):
        assert verdict in page
    assert page.count('class="label line sometimes') == page.count('class="label line never') == 1
    # On the line it is folded, and under it the tip tells all of it.
    assert ">is &lt;b&gt;not&lt;/b&gt; taken</text>" in page
    assert "writer → scout: sometimes. an unnamed text/plain, which" in page
    assert "<b>" not in page.partition("</style>")[2]
    for number in (0, 1):  # both agents of the pair tell of it
        assert "sometimes: 1 pair" in panel(page, number)
    assert "never" not in panel(page, 0)


def test_many_pairs_that_do_not_fit_are_listed_and_not_drawn() -> None:
    names = [f"agent-{number}" for number in range(20)]
    never = {(a, b): ("never", "broken") for a in names for b in names if a != b}
    del never["agent-0", "agent-1"]
    page = graph_page(names, [("agent-0", "agent-1")], refused=never)
    assert "379 pairs that never fit are not drawn" in page
    assert page.count('class="line') == 1
    assert page.count("<small>broken</small>") == 2 * 379
    # A few are drawn, and fewer have words on their lines.
    for count, labels in ((8, 8), (9, 0), (40, 0)):
        some = {pair: ("never", f"broken by {pair[1]}") for pair in list(never)[:count]}
        page = graph_page(names, [], refused=some)
        assert page.count('class="label') == labels
        assert f"never ({count})" in page


def test_a_verdict_is_one_of_those_that_there_are() -> None:
    with pytest.raises(InvalidArgument, match="sometimes, never or undecided"):
        graph_page("ab", [], refused={("a", "b"): ("often", "")})
