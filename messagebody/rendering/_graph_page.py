"""Graph of a registry as a page without a script: agents on a circle, and their connections.

A chosen agent is the target of a link, and the style shows its connections.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from messagebody._base.text import count_of
from messagebody.rendering._elements import Html, element
from messagebody.rendering._pages import document, style_of
from messagebody.rendering._tables import cut, display_width

MOST_ON_A_CIRCLE: Final = 60
"""The most agents that are drawn; others are only listed."""

# Each has a panel with two lists of neighbours, so this limits the size of the page.
_MOST_LISTED: Final = 2_000
_MOST_NEIGHBOURS: Final = 200
_LONGEST_LABEL: Final = 22
# In the units of the drawing, which grows with the screen.
_RADIUS: Final = 200
_GAP: Final = 12
_LETTER: Final = 7.5


@attrs.frozen
class _Adjacency:
    """Agents by number, with the numbers of the agents that each one sends to and receives from."""

    names: Sequence[str]
    takers: Sequence[Sequence[int]]
    senders: Sequence[Sequence[int]]

    @classmethod
    def of(cls, agents: Iterable[str], pairs: Iterable[tuple[str, str]]) -> "_Adjacency":
        names = list(agents)
        numbers = {name: number for number, name in enumerate(names)}
        takers: list[list[int]] = [[] for _ in names]
        senders: list[list[int]] = [[] for _ in names]
        for sender, taker in pairs:
            takers[numbers[sender]].append(numbers[taker])
            senders[numbers[taker]].append(numbers[sender])
        return cls(names, takers, senders)


def graph_page(
    agents: Iterable[str], pairs: Iterable[tuple[str, str]], *, title: str = "Agents"
) -> str:
    """Return the graph of a registry as an HTML page, without a script and under a policy.

    Arguments:
        agents: the agents.
        pairs: senders, each with an agent that accepts all it sends.
        title: the title of the page.

    Examples:
        >>> text = graph_page(["scout", "writer"], [("scout", "writer")])
        >>> text.count("<path"), "1 pair" in text
        (1, True)
    """
    graph = _Adjacency.of(agents, pairs)
    count = sum(map(len, graph.takers))
    facts = f"{count_of(len(graph.names), 'agent')}, {count_of(count, 'pair')} that fit"
    is_drawn = 0 < len(graph.names) <= MOST_ON_A_CIRCLE
    panels = [_panel(graph, number) for number in range(min(len(graph.names), _MOST_LISTED))]
    hint = element("p", "Choose an agent to see what fits before and after it.", class_="note")
    return document(
        title,
        element("header", element("h1", title), element("p", facts, class_="facts")),
        element(
            "div",
            _list(graph),
            element("main", _drawing(graph) if is_drawn else Html(),
                    element("div", hint, *panels, class_="panels"), class_="graph"),
            class_="columns",
        ),
        style=style_of("graph.css") + ("".join(_choices(len(graph.names))) if is_drawn else ""),
    )  # fmt: skip


def _choices(count: int) -> Iterator[str]:
    """Yield the rules that show the connections of the chosen agent."""
    for number in range(count):
        chosen = f":root:has(#agent-{number}:target)"
        yield f"{chosen} path:not(.of-{number}, .to-{number}){{opacity:.06}}\n"
        yield f"{chosen} .of-{number}{{stroke:var(--accent);opacity:1}}\n"
        yield f"{chosen} .to-{number}{{stroke:var(--audio);opacity:1}}\n"
        yield f"{chosen} .node-{number}{{font-weight:700;fill:var(--ink)}}\n"


def _list(graph: _Adjacency) -> Html:
    names = graph.names[:_MOST_LISTED]
    items = [element("li", _link(number, name)) for number, name in enumerate(names)]
    if len(graph.names) > len(names):
        items.append(element("li", f"{len(graph.names) - len(names):,} more"))
    return element("nav", element("ol", *items), aria_label="Agents")


def _link(number: int, name: str) -> Html:
    return element("a", element("bdi", name), href=f"#agent-{number}", title=name)


def _panel(graph: _Adjacency, number: int) -> Html:
    return element(
        "section",
        element("h2", element("bdi", graph.names[number])),
        *_neighbours(graph, "sends to", graph.takers[number]),
        *_neighbours(graph, "takes from", graph.senders[number]),
        id=f"agent-{number}",
        class_="panel",
    )


def _neighbours(graph: _Adjacency, role: str, numbers: Sequence[int]) -> Iterator[Html]:
    yield element("h3", f"{role} {count_of(len(numbers), 'agent')}", class_=role[:5])
    shown = numbers[:_MOST_NEIGHBOURS]
    links = [element("li", _link(number, graph.names[number])) for number in shown]
    if len(numbers) > len(shown):
        links.append(element("li", f"{len(numbers) - len(shown):,} more"))
    yield element("ul", *links)


# The drawing


def _drawing(graph: _Adjacency) -> Html:
    count = len(graph.names)
    edges = (
        _edge(sender, taker, count)
        for sender, takers in enumerate(graph.takers)
        for taker in takers
    )
    nodes = (_node(number, name, count) for number, name in enumerate(graph.names))
    # Short names leave more of the screen to the circle.
    labels = [cut(name, _LONGEST_LABEL) for name in graph.names]
    half = _RADIUS + 2 * _GAP + _LETTER * max(map(display_width, labels))
    box = f"{-half:.0f} {-half:.0f} {2 * half:.0f} {2 * half:.0f}"
    return element("svg", *edges, *nodes, viewBox=box, role="group", aria_label="Graph of agents")


def _point(number: int, count: int, radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * number / count - math.pi / 2
    return radius * math.cos(angle), radius * math.sin(angle)


def _edge(sender: int, taker: int, count: int) -> Html:
    """Return a bow from one agent to another, or a loop from an agent to itself."""
    x, y = _point(sender, count, _RADIUS)
    if sender == taker:
        a, b = x * 0.75 - y * 0.15, y * 0.75 + x * 0.15
        c, d = x * 0.75 + y * 0.15, y * 0.75 - x * 0.15
        way = f"M{x:.1f} {y:.1f}C{a:.1f} {b:.1f} {c:.1f} {d:.1f} {x:.1f} {y:.1f}"
    else:
        u, v = _point(taker, count, _RADIUS)
        # Two bows between the same agents don't overlap, because each bends to its right.
        bend = 0.12
        a, b = (x + u) * 0.25 + (y - v) * bend, (y + v) * 0.25 + (u - x) * bend
        way = f"M{x:.1f} {y:.1f}Q{a:.1f} {b:.1f} {u:.1f} {v:.1f}"
    return element("path", d=way, class_=f"of-{sender} to-{taker}")


def _node(number: int, name: str, count: int) -> Html:
    x, y = _point(number, count, _RADIUS)
    u, v = _point(number, count, _RADIUS + _GAP)
    # Names point outwards; on the left half they are turned, so that none is upside down.
    angle = 360 * number / count - 90
    is_left = 90 < angle % 360 < 270
    turn = f"rotate({angle + 180 * is_left:.1f} {u:.1f} {v:.1f})"
    words = element("text", cut(name, _LONGEST_LABEL), x=f"{u:.1f}", y=f"{v:.1f}", transform=turn,
                    text_anchor="end" if is_left else "start", dominant_baseline="central",
                    class_=f"node-{number}")  # fmt: skip
    dot = element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="5")
    return element("a", element("title", name), dot, words, href=f"#agent-{number}")
