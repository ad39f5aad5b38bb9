"""Pages with a graph of agents, without a script: a drawing, all agents, and the chosen one.

Senders stand left of those that accept what they send. Agents with the same connections share a
box. A chosen agent is the target of a link, and the style shows its connections.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from messagebody._core import count_of
from messagebody.agents import AgentGraph, GraphEdge
from messagebody.compatibility import Verdict
from messagebody.rendering._columns import LINE, PADDING, ColumnLayout, Extent, Line
from messagebody.rendering._elements import Html, element, visible
from messagebody.rendering._pages import document, style_of
from messagebody.rendering._tables import cut

_MOST_LINES: Final = 300
"""More lines than this are not drawn: nobody could follow them."""
_MOST_POINTS: Final = 2_000
"""Boxes, and columns that lines pass."""
_DENSE: Final = 100
"""From this many lines on, they are pale until an agent is chosen."""
_MOST_NAMES: Final = 12
"""Names in one box."""
_LONGEST_NAME: Final = 30
_MOST_REASONS: Final = 8
"""Edges of one line that a tip tells of."""
_LONGEST_REASON: Final = 300


@attrs.frozen
class PairList:
    """Pairs of an agent that have something in common.

    Arguments:
        heading: what that is.
        pairs: the name of the other agent, a sign before it, and what is said of the pair.
        more: the number of further pairs.
        verdict: if it is given, the list is folded and has the look of this verdict.
    """

    heading: str
    pairs: Sequence[tuple[str, str, str]]
    more: int = 0
    verdict: str = ""


@attrs.frozen
class Panel:
    """What a page says of an agent.

    Arguments:
        facts: short facts, each in a line of its own.
        texts: what is told at length, each with a heading; lines and spaces are kept.
        lists: its pairs with other agents.
        is_open: whether it is shown while no agent is chosen.
    """

    facts: Sequence[str] = ()
    texts: Sequence[tuple[str, str]] = ()
    lists: Sequence[PairList] = ()
    is_open: bool = False


def graph_page(
    graph: AgentGraph,
    panels: Sequence[Panel],
    *,
    title: str,
    facts: str,
    notes: Sequence[str] = (),
    look: str = "graph",
) -> str:
    """Return a graph as an HTML page, without a script and under a policy.

    Arguments:
        graph: the graph.
        panels: what to say of each agent, when it is chosen; none of the last ones.
        title: the title of the page.
        facts: the line below it.
        notes: what is to be said of the drawing.
        look: classes of the page's main part.

    Examples:
        >>> graph = AgentGraph(["scout", "writer"], [GraphEdge("scout", "writer")])
        >>> text = graph_page(graph, [Panel(), Panel(["always"])], title="Flow", facts="2 agents")
        >>> text.count("<h2>"), "always" in text
        (2, True)
    """
    numbers = {name: number for number, name in enumerate(graph.agents)}
    drawing, style = _drawing(graph, numbers)
    if graph.edges and not drawing:
        notes = [*notes, "They are too many for a drawing, and are listed."]
    hint = element("p", "Choose an agent to see what fits before and after it.", class_="note")
    shown = graph.agents[: len(panels)]
    told = [_panel(name, numbers, panel) for name, panel in zip(shown, panels, strict=True)]
    everything = element("a", "show all", href="#", class_="all")
    return document(
        title,
        element("header", element("h1", title), element("p", facts, class_="facts")),
        _index(shown, numbers, len(graph.agents) - len(shown)),
        *(element("p", note, class_="note") for note in notes),
        element("main", *drawing, element("div", hint, everything, *told, class_="panels"),
                class_=look),
        style=style_of("graph.css") + style,
    )  # fmt: skip


# The list of all agents


def _index(names: Sequence[str], numbers: dict[str, int], more: int) -> Html:
    """Return the links to all agents by name."""
    shown = [_links(sorted(names, key=str.casefold), numbers)]
    if more:
        shown.append(element("p", f"{more:,} more", class_="note"))
    return element("section", *shown, class_="index", aria_label="Agents")


def _links(names: Iterable[str], numbers: dict[str, int]) -> Html:
    return element("ul", *(element("li", _link(each, numbers)) for each in names))


def _link(name: str, numbers: dict[str, int]) -> Html:
    short = cut(name, 2 * _LONGEST_NAME)
    title = name if short != name else None
    return element("a", element("bdi", short), href=f"#agent-{numbers[name]}", title=title)


# The agent that is chosen


def _panel(name: str, numbers: dict[str, int], panel: Panel) -> Html:
    return element(
        "section",
        element("h2", element("bdi", name)),
        *(element("p", fact, class_="note") for fact in panel.facts),
        *(element("div", element("h3", heading), element("pre", text))
          for heading, text in panel.texts),
        *(_pairs(each, numbers) for each in panel.lists),
        id=f"agent-{numbers[name]}",
        class_="panel open" if panel.is_open else "panel",
    )  # fmt: skip


def _pairs(listed: PairList, numbers: dict[str, int]) -> Html:
    items = [
        element("li", sign, _link(name, numbers),
                *([element("small", words)] if words else []))
        for name, sign, words in listed.pairs
    ]  # fmt: skip
    if listed.more:
        items.append(element("li", f"{listed.more:,} more"))
    if not listed.verdict:
        return element("div", element("h3", listed.heading), element("ul", *items))
    summary = element("summary", listed.heading)
    return element("details", summary, element("ul", *items), class_=listed.verdict)


# The drawing


def _drawing(graph: AgentGraph, numbers: dict[str, int]) -> tuple[list[Html], str]:
    """Return the drawing of a graph, and rules of style for it; nothing if it is too large."""
    boxes = _boxes(graph)
    lines = _lines(graph, boxes)
    if not 0 < len(lines) <= _MOST_LINES:
        return [], ""
    layout = ColumnLayout([_shortened(box) for box in boxes], [*lines])
    if len(layout.words) > _MOST_POINTS:
        return [], ""
    drawn = [
        *(_way(line, edges, paths)
          for (line, edges), paths in zip(lines.items(), layout.paths(), strict=True)),
        *(_label(layout.spots[point], line) for point, line in layout.labels.items()),
        *(_box(layout.spots[number], number, box, numbers) for number, box in enumerate(boxes)),
    ]  # fmt: skip
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    svg = element("svg", *drawn, width=width, height=height, viewBox=f"0 0 {width} {height}",
                  role="group", aria_label="Graph",
                  class_="dense" if len(lines) > _DENSE else None)  # fmt: skip
    region = element("div", svg, class_="drawing", tabindex="0", role="region",
                     aria_label="Drawing")  # fmt: skip
    drawn_agents = {name for box in boxes for name in box}
    alone = [name for name in graph.agents if name not in drawn_agents]
    words = f"{count_of(len(alone), 'agent')} without a line:"
    rest = [element("p", words, class_="note"), _links(alone, numbers)] if alone else []
    rules = "".join(_rules(boxes, [*lines], numbers))
    return [element("div", _legend(graph.edges), region, *rest, class_="drawn")], rules


def _boxes(graph: AgentGraph) -> list[list[str]]:
    """Return the agents that have edges, those with the same ones together."""
    links: dict[str, set[object]] = {}
    for edge in graph.edges:
        links.setdefault(edge.source, set()).add((0, edge.target, edge.verdict, edge.label))
        links.setdefault(edge.target, set()).add((1, edge.source, edge.verdict, edge.label))
    found: dict[frozenset[object], list[str]] = {}
    for agent in filter(links.__contains__, graph.agents):
        found.setdefault(frozenset(links[agent]), []).append(agent)
    return list(found.values())


def _lines(graph: AgentGraph, boxes: Sequence[Sequence[str]]) -> dict[Line, list[GraphEdge]]:
    """Return the lines between boxes, each with the edges that it stands for."""
    box_of = {agent: number for number, box in enumerate(boxes) for agent in box}
    found: dict[Line, list[GraphEdge]] = {}
    for edge in graph.edges:
        words = tuple(cut(each, _LONGEST_NAME) for each in edge.label_lines)
        line = Line(box_of[edge.source], box_of[edge.target], str(edge.verdict), words)
        found.setdefault(line, []).append(edge)
    return found


def _shortened(box: Sequence[str]) -> list[str]:
    """Return the names in a box, the last of which counts those left out."""
    shown = box if len(box) <= _MOST_NAMES else box[: _MOST_NAMES - 1]
    more = [f"and {len(box) - len(shown):,} more"] if len(box) > len(shown) else []
    return [cut(visible(each), _LONGEST_NAME) for each in shown] + more


def _way(line: Line, edges: Sequence[GraphEdge], paths: tuple[str, str]) -> Html:
    told = [
        f"{edge.source} → {edge.target}: {edge.verdict}. {edge.reason or edge.label}".rstrip(". ")
        for edge in edges[:_MOST_REASONS]
    ]
    title = "\n".join(each[:_LONGEST_REASON] for each in told)
    way, head = (element("path", d=path, class_=look)
                 for path, look in zip(paths, ("way", "head"), strict=True))  # fmt: skip
    return element("g", element("title", title), way, head, class_=_look(line))


def _look(line: Line) -> str:
    return f"line {line.verdict} of-{line.source} to-{line.target}"


def _label(spot: Extent, line: Line) -> Html:
    texts = _texts(line.words, spot, spot.left + spot.width / 2, anchor="middle")
    return element("g", _rect(spot), *texts, class_=f"label {_look(line)}")


def _box(spot: Extent, number: int, names: Sequence[str], numbers: dict[str, int]) -> Html:
    texts = [*_texts(_shortened(names), spot, spot.left + PADDING)]
    # The last text may only count the names that are left out.
    told = names if len(names) <= _MOST_NAMES else names[: _MOST_NAMES - 1]
    linked = [
        element("a", element("title", name), text, href=f"#agent-{numbers[name]}")
        for name, text in zip(told, texts, strict=False)
    ]
    return element("g", _rect(spot), *linked, *texts[len(linked) :], class_=f"box box-{number}")


def _texts(words: Sequence[str], spot: Extent, x: float, anchor: str = "start") -> Iterator[Html]:
    top = spot.middle - LINE * len(words) / 2
    for place, each in enumerate(words):
        yield element("text", each, x=f"{x:.0f}", y=f"{top + LINE * (place + 0.5):.0f}",
                      text_anchor=anchor, dominant_baseline="central")  # fmt: skip


def _rect(spot: Extent) -> Html:
    return element("rect", x=f"{spot.left:.0f}", y=f"{spot.middle - spot.height / 2:.0f}",
                   width=f"{spot.width:.0f}", height=f"{spot.height:.0f}", rx="6")  # fmt: skip


def _legend(edges: Iterable[GraphEdge]) -> Html:
    counts = Counter(str(edge.verdict) for edge in edges)
    path = element("path", d="M1 6H33", class_="way")
    head = element("path", d="M33 3L40 6L33 9z", class_="head")
    shown = [
        element("span",
                element("svg", path, head, width="42", height="12", class_=verdict,
                        aria_hidden="true"),
                f" {verdict} ({counts[verdict]:,})")
        for verdict in Verdict
        if counts[verdict]
    ]  # fmt: skip
    return element("p", *shown, class_="legend")


def _rules(
    boxes: Sequence[Sequence[str]], lines: Iterable[Line], numbers: dict[str, int]
) -> Iterator[str]:
    """Yield the rules that show the lines of the box that is chosen or pointed at."""
    near: list[set[int]] = [{number} for number in range(len(boxes))]
    for line in lines:
        near[line.source].add(line.target)
        near[line.target].add(line.source)
    for box, members in enumerate(boxes):
        anchors = ",".join(f"#agent-{numbers[name]}:target" for name in members)
        chosen = (f":is(:root:not(:has(:target)):has(.box-{box}:is(:hover,:focus-within)),"
                  f":root:has({anchors}))")  # fmt: skip
        others = ",".join(f".box-{each}" for each in sorted(near[box]))
        yield f"{chosen} .line:not(.of-{box},.to-{box}){{opacity:.07}}\n"
        yield f"{chosen} .line:is(.of-{box},.to-{box}){{opacity:1;--width:2}}\n"
        yield f"{chosen} .box:not({others}){{opacity:.35}}\n"
        yield f"{chosen} .box-{box} rect{{stroke:var(--accent);stroke-width:2}}\n"
