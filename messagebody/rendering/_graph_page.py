"""Graph of a registry as a page without a script: agents in layers, and their connections.

Senders stand left of those that accept what they send. Agents with the same connections share a
box. A chosen agent is the target of a link, and the style shows its connections.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Final

import attrs

from messagebody._core import count_of
from messagebody.errors import InvalidArgument
from messagebody.rendering._drawing import VERDICTS, Drawing, DrawnEdge, DrawnNode, drawn
from messagebody.rendering._elements import Html, element
from messagebody.rendering._pages import document, style_of

MOST_DRAWN: Final = 200
"""The most agents that are drawn; others are only listed."""
_FEW: Final = 2
"""Pairs of a verdict for each agent that are drawn; more of them would be a ball of wool."""
_MOST_SAID: Final = 8
"""Up to so many pairs that do not always fit, what breaks them is written on their lines."""
_LONGEST_LINE: Final = 30

# Each has a panel with two lists of neighbours, so this limits the size of the page.
_MOST_LISTED: Final = 2_000
_MOST_NEIGHBOURS: Final = 200
_OPEN_NAMES: Final = 100
"""Up to this many names are listed one below the other; more are folded by their initials."""


@attrs.frozen
class _Adjacency:
    """Agents by number, and how what each one sends fits the others.

    Arguments:
        names: the agents.
        takers: the agents that accept all that each one sends.
        senders: the agents that send each one only what it accepts.
        refused: the other pairs, with their verdict and what breaks them.
        refused_of: those of each agent.
    """

    names: Sequence[str]
    takers: Sequence[Sequence[int]]
    senders: Sequence[Sequence[int]]
    refused: Mapping[tuple[int, int], tuple[str, str]]
    _refused_of: Mapping[int, Sequence[tuple[int, int]]]

    @classmethod
    def of(
        cls,
        agents: Iterable[str],
        pairs: Iterable[tuple[str, str]],
        refused: Mapping[tuple[str, str], tuple[str, str]],
    ) -> "_Adjacency":
        names = list(agents)
        numbers = {name: number for number, name in enumerate(names)}
        takers: list[list[int]] = [[] for _ in names]
        senders: list[list[int]] = [[] for _ in names]
        for sender, taker in pairs:
            takers[numbers[sender]].append(numbers[taker])
            senders[numbers[taker]].append(numbers[sender])
        others = {(numbers[a], numbers[b]): each for (a, b), each in refused.items()}
        for verdict, _ in others.values():
            if verdict not in VERDICTS[1:]:
                raise InvalidArgument("the verdict sometimes, never or undecided", verdict)
        refused_of: dict[int, list[tuple[int, int]]] = {}
        for pair in others:
            for number in set(pair):
                refused_of.setdefault(number, []).append(pair)
        return cls(names, takers, senders, others, refused_of)

    def refused_of(self, number: int) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
        """Yield the pairs of an agent that do not always fit."""
        for pair in self._refused_of.get(number, ()):
            yield pair, self.refused[pair]

    def pair(self, sender: int, taker: int) -> str:
        """Return a pair in words."""
        return f"{self.names[sender]} → {self.names[taker]}"


def graph_page(
    agents: Iterable[str],
    pairs: Iterable[tuple[str, str]],
    *,
    title: str = "Agents",
    exchanges: Mapping[str, Sequence[str]] | None = None,
    refused: Mapping[tuple[str, str], tuple[str, str]] | None = None,
) -> str:
    """Return the graph of a registry as an HTML page, without a script and under a policy.

    Arguments:
        agents: the agents.
        pairs: senders, each with an agent that accepts all it sends.
        title: the title of the page.
        exchanges: what else agents say to each other, such as "sends interrupt", by agent.
        refused: other pairs, each with its verdict, "sometimes", "never" or "undecided", and a
            message that breaks it, in words. If there are many of a verdict, they are not drawn,
            only listed with their agents. None if nobody compared them, and the page says so.

    Raises:
        InvalidArgument: there is no such verdict.

    Examples:
        >>> breaks = {("writer", "scout"): ("sometimes", "a message without a question")}
        >>> text = graph_page(["scout", "writer"], [("scout", "writer")], refused=breaks)
        >>> "1 pair that fits" in text, "a message without a question" in text
        (True, True)
    """
    graph = _Adjacency.of(agents, pairs, refused or {})
    count = sum(map(len, graph.takers))
    fitting = f"{count_of(count, 'pair')} that {'fits' if count == 1 else 'fit'}"
    facts = f"{count_of(len(graph.names), 'agent')}, {fitting}"
    edges, notes = _edges(graph) if len(graph.names) <= MOST_DRAWN else ([], [])
    nodes = [DrawnNode(name, anchor=f"agent-{number}") for number, name in enumerate(graph.names)]
    drawing = drawn(nodes, edges, shared=True, label="Graph of agents")
    if drawing is None and (edges or len(graph.names) > MOST_DRAWN):
        notes = ["They are too many for a drawing, and are listed."]
    if refused is None and graph.names:
        notes = [*notes, "Only pairs that always fit are shown."]
    said = exchanges or {}
    panels = [
        _panel(graph, number, said.get(graph.names[number], ()))
        for number in range(min(len(graph.names), _MOST_LISTED))
    ]
    hint = element("p", "Choose an agent to see what fits before and after it.", class_="note")
    return document(
        title,
        element("header", element("h1", title), element("p", facts, class_="facts")),
        _list(graph),
        *(element("p", note, class_="note") for note in notes),
        element("main", *_drawing(graph, edges, drawing),
                element("div", hint, *panels, class_="panels"), class_="graph"),
        style=style_of("graph.css") + ("" if drawing is None else drawing.style),
    )  # fmt: skip


@attrs.frozen
class Panel:
    """What a page says of a node of its graph.

    Arguments:
        facts: short facts, each in a line of its own.
        texts: what is told at length, each with a heading; lines and spaces are kept.
        is_open: whether it is shown while no node is chosen.
    """

    facts: Sequence[str] = ()
    texts: Sequence[tuple[str, str]] = ()
    is_open: bool = False


def drawing_page(
    title: str, facts: str, nodes: Sequence[str], edges: Sequence[DrawnEdge],
    panels: Sequence[Panel],
) -> str:  # fmt: skip
    """Return a graph as an HTML page, without a script and under a policy.

    Arguments:
        title: the title of the page.
        facts: the line below it.
        nodes: the names of the nodes.
        edges: the edges between them, by the numbers of nodes.
        panels: what to say of each node, when it is chosen.

    Examples:
        >>> text = drawing_page("Flow", "2 agents", ["scout", "writer"], [DrawnEdge(0, 1)],
        ...                     [Panel(), Panel(["always"])])
        >>> text.count("<h2>"), "always" in text
        (2, True)
    """
    graph = _Adjacency.of(nodes, ((nodes[each.source], nodes[each.target]) for each in edges), {})
    labels = [DrawnNode(name, anchor=f"agent-{number}") for number, name in enumerate(nodes)]
    drawing = drawn(labels, edges, label=title)
    told = [
        element(
            "section",
            element("h2", element("bdi", nodes[number])),
            *(element("p", fact, class_="note") for fact in panel.facts),
            *(
                element("div", element("h3", heading), element("pre", text))
                for heading, text in panel.texts
            ),
            id=f"agent-{number}",
            class_="panel open" if panel.is_open else "panel",
        )
        for number, panel in enumerate(panels)
    ]
    hint = element("p", "Choose an agent to see what reaches it.", class_="note")
    everything = element("a", "show all", href="#", class_="all")
    return document(
        title,
        element("header", element("h1", title), element("p", facts, class_="facts")),
        _list(graph),
        element("main", *_drawing(graph, edges, drawing),
                element("div", hint, everything, *told, class_="panels"), class_="graph wide"),
        style=style_of("graph.css") + ("" if drawing is None else drawing.style),
    )  # fmt: skip


def _edges(graph: _Adjacency) -> tuple[list[DrawnEdge], list[str]]:
    """Return the edges to draw, and what is to be said of the others."""
    edges = [
        DrawnEdge(sender, taker, title=f"{graph.pair(sender, taker)}: always")
        for sender, takers in enumerate(graph.takers)
        for taker in takers
    ]
    notes = []
    shown: dict[tuple[int, int], tuple[str, str]] = {}
    for verdict in VERDICTS[1:]:
        found = {
            (sender, taker): each
            for (sender, taker), each in graph.refused.items()
            # Few agents are meant to answer themselves.
            if each[0] == verdict and sender != taker
        }
        if len(found) <= _FEW * len(graph.names):
            shown |= found
        else:
            fit = "are undecided" if verdict == "undecided" else f"{verdict} fit"
            notes.append(f"{len(found):,} pairs that {fit} are not drawn, but listed with the "
                         "agent that you choose.")  # fmt: skip
    for (sender, taker), (verdict, words) in shown.items():
        title = f"{graph.pair(sender, taker)}: {verdict}. {words}".removesuffix(". ")
        label = "\n".join(wrap(words, _LONGEST_LINE)) if len(shown) <= _MOST_SAID else ""
        edges.append(DrawnEdge(sender, taker, verdict, label, title))
    return edges, notes


def _drawing(
    graph: _Adjacency, edges: Iterable[DrawnEdge], drawing: Drawing | None
) -> Iterator[Html]:
    if drawing is None:
        return
    joined = {number for edge in edges for number in (edge.source, edge.target)}
    alone = [number for number in range(len(graph.names)) if number not in joined]
    words = f"{count_of(len(alone), 'agent')} without a line:"
    rest = [element("p", words, class_="note"), _names(graph, alone)] if alone else []
    yield element("div", drawing.legend, drawing.html, *rest, class_="drawn")


def _list(graph: _Adjacency) -> Html:
    """Return the links to all agents by name; many are folded by their initials."""
    numbers = range(min(len(graph.names), _MOST_LISTED))
    by_name = sorted(numbers, key=lambda number: _rank(graph.names[number]))
    if len(by_name) <= _OPEN_NAMES:
        shown = [_names(graph, by_name)]
    else:
        groups = groupby(by_name, lambda number: graph.names[number][:1].upper())
        shown = [_initial(graph, letter, list(group)) for letter, group in groups]
    if len(graph.names) > len(by_name):
        more = f"{len(graph.names) - len(by_name):,} more"
        shown.append(element("p", more, class_="note"))
    return element("section", *shown, class_="index", aria_label="Agents")


def _rank(name: str) -> list[tuple[int, str]]:
    """Return what a name is sorted by: its initial, its words, and its numbers by their size."""
    pieces = enumerate(re.split("([0-9]+)", name.casefold()))
    return [(0, name[:1].upper()), *((len(each) if i % 2 else 0, each) for i, each in pieces)]


def _initial(graph: _Adjacency, letter: str, numbers: Sequence[int]) -> Html:
    summary = element("summary", element("bdi", letter), " ",
                      element("small", f"{len(numbers):,}"))  # fmt: skip
    return element("details", summary, _names(graph, numbers))


def _names(graph: _Adjacency, numbers: Iterable[int]) -> Html:
    return element("ul", *(element("li", _link(each, graph.names[each])) for each in numbers))


def _link(number: int, name: str) -> Html:
    return element("a", element("bdi", name), href=f"#agent-{number}", title=name)


def _panel(graph: _Adjacency, number: int, exchanges: Sequence[str]) -> Html:
    return element(
        "section",
        element("h2", element("bdi", graph.names[number])),
        element("a", "show all", href="#", class_="all"),
        *_neighbours(graph, "sends to", graph.takers[number]),
        *_neighbours(graph, "takes from", graph.senders[number]),
        *_refused(graph, number),
        *_exchanges(exchanges),
        id=f"agent-{number}",
        class_="panel",
    )


def _refused(graph: _Adjacency, number: int) -> Iterator[Html]:
    """Yield a folded list of the pairs of an agent for each verdict, with what breaks them."""
    for verdict in VERDICTS[1:]:
        found = [
            element("li", _link(taker if sender == number else sender, graph.pair(sender, taker)),
                    " ", element("small", words))
            for (sender, taker), (said, words) in graph.refused_of(number) if said == verdict
        ]  # fmt: skip
        if found:
            summary = element("summary", f"{verdict}: {count_of(len(found), 'pair')}")
            more = [element("li", f"{len(found) - _MOST_NEIGHBOURS:,} more")] * (
                len(found) > _MOST_NEIGHBOURS
            )
            listed = element("ul", *found[:_MOST_NEIGHBOURS], *more)
            yield element("details", summary, listed, class_=verdict)


def _exchanges(exchanges: Sequence[str]) -> Iterator[Html]:
    if exchanges:
        yield element("h3", count_of(len(exchanges), "exchange"), class_="exchanges")
        shown = exchanges[:_MOST_NEIGHBOURS]
        yield element("ul", *(element("li", element("bdi", each)) for each in shown))


def _neighbours(graph: _Adjacency, role: str, numbers: Sequence[int]) -> Iterator[Html]:
    yield element("h3", f"{role} {count_of(len(numbers), 'agent')}", class_=role[:5])
    shown = numbers[:_MOST_NEIGHBOURS]
    links = [element("li", _link(number, graph.names[number])) for number in shown]
    if len(numbers) > len(shown):
        links.append(element("li", f"{len(numbers) - len(shown):,} more"))
    yield element("ul", *links)
