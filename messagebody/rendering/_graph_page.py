"""Graph of a registry as a page without a script: agents in layers, and their connections.

Senders stand left of those that accept all they send. Agents with the same connections share a box.
A chosen agent is the target of a link, and the style shows its connections.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import attrs

from messagebody._core import count_of
from messagebody.rendering._elements import Html, element
from messagebody.rendering._layers import Layers, LinePiece, Point, layered
from messagebody.rendering._pages import document, style_of
from messagebody.rendering._tables import cut, display_width

MOST_DRAWN: Final = 200
"""The most agents that are drawn; others are only listed."""
_MOST_LINES: Final = 5_000
"""The most lines that are drawn; more of them show nothing."""

_DENSE: Final = 200
"""From this many lines on, they are pale until an agent is chosen."""

# Each has a panel with two lists of neighbours, so this limits the size of the page.
_MOST_LISTED: Final = 2_000
_MOST_NEIGHBOURS: Final = 200
_OPEN_NAMES: Final = 100
"""Up to this many names are listed one below the other; more are folded by their initials."""
_LONGEST_LABEL: Final = 26
_MOST_LABELS: Final = 12
"""Names in one box."""
# Pixels: the drawing is not scaled, so that its names stay readable.
_LETTER: Final = 7.4
_LINE: Final = 20
_PADDING: Final = 10
_GAP: Final = 14
_PASSING: Final = 8
_WAY: Final = 90
_MARGIN: Final = 24


@attrs.frozen
class _Adjacency:
    """Agents by number, with the numbers of the agents that each one sends to and receives from."""

    names: Sequence[str]
    takers: Sequence[Sequence[int]]
    senders: Sequence[Sequence[int]]

    def is_alone(self, number: int) -> bool:
        """Return whether an agent fits with nobody."""
        return not self.takers[number] and not self.senders[number]

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
    agents: Iterable[str],
    pairs: Iterable[tuple[str, str]],
    *,
    title: str = "Agents",
    exchanges: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the graph of a registry as an HTML page, without a script and under a policy.

    Arguments:
        agents: the agents.
        pairs: senders, each with an agent that accepts all it sends.
        title: the title of the page.
        exchanges: what else agents say to each other, such as "sends interrupt", by agent.

    Examples:
        >>> text = graph_page(["scout", "writer"], [("scout", "writer")])
        >>> text.count("<path"), "1 pair" in text
        (1, True)
    """
    graph = _Adjacency.of(agents, pairs)
    count = sum(map(len, graph.takers))
    facts = f"{count_of(len(graph.names), 'agent')}, {count_of(count, 'pair')} that fit"
    drawing = _Drawing.of(graph) if count and len(graph.names) <= MOST_DRAWN else None
    if drawing is not None and len(drawing.layered.edges) > _MOST_LINES:
        drawing = None
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
        element("main", Html() if drawing is None else drawing.html(),
                element("div", hint, *panels, class_="panels"), class_="graph"),
        style=style_of("graph.css") + ("" if drawing is None else "".join(drawing.choices())),
    )  # fmt: skip


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
        *_neighbours(graph, "sends to", graph.takers[number]),
        *_neighbours(graph, "takes from", graph.senders[number]),
        *_exchanges(exchanges),
        id=f"agent-{number}",
        class_="panel",
    )


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


# The drawing


@attrs.frozen
class _Drawing:
    """A drawing of boxes and lines.

    Arguments:
        graph: the agents.
        boxes: the agents of each box: those with the same connections.
        layered: where the boxes are.
        spot_of: the left edge, the middle and the right edge of each point, in pixels.
        size: width and height.
    """

    graph: _Adjacency
    boxes: Sequence[Sequence[int]]
    layered: Layers
    spot_of: dict[Point, tuple[float, float, float]]
    size: tuple[float, float]

    @classmethod
    def of(cls, graph: _Adjacency) -> "_Drawing":
        boxes, takers = _boxes(graph)
        found = layered(takers)
        spots, size = _spots(found, [_box_size(graph, box) for box in boxes])
        return cls(graph, boxes, found, spots, size)

    def choices(self) -> Iterator[str]:
        """Yield the rules that show the connections of the chosen agent."""
        for box, numbers in enumerate(self.boxes):
            chosen = f":root:has({', '.join(f'#agent-{each}:target' for each in numbers)})"
            yield f"{chosen} path:not(.of-{box}, .to-{box}){{opacity:.06}}\n"
            yield f"{chosen} .to-{box}{{stroke:var(--audio);opacity:1}}\n"
            yield f"{chosen} .of-{box}{{stroke:var(--accent);opacity:1}}\n"
            yield f"{chosen} .box-{box}{{stroke:var(--accent);stroke-width:2}}\n"

    def html(self) -> Html:
        width, height = (f"{each:.0f}" for each in self.size)
        lines = [self._line(edge) for edge in self.layered.edges]
        boxes = [self._box(box) for box in range(len(self.boxes))]
        svg = element("svg", *lines, *boxes, width=width, height=height,
                      viewBox=f"0 0 {width} {height}", role="group", aria_label="Graph of agents",
                      class_="dense" if len(lines) > _DENSE else None)  # fmt: skip
        drawing = element("div", svg, class_="drawing", tabindex="0", role="region",
                          aria_label="Drawing")  # fmt: skip
        alone = [number for number in range(len(self.graph.names)) if self.graph.is_alone(number)]
        if not alone:
            return drawing
        words = f"{count_of(len(alone), 'agent')} without a pair:"
        note = element("p", words, class_="note")
        return element("div", drawing, note, _names(self.graph, alone), class_="drawn")

    def _line(self, edge: LinePiece) -> Html:
        left, start_y, right = self.spot_of[edge.start]
        end_left, end_y, end_right = self.spot_of[edge.end]
        if edge.end[1] > edge.start[1]:
            way = _curve(right, start_y, end_left, end_y)
            arrives = self.layered.column_of[edge.end[0]] == edge.end[1]
            # The way goes on where nothing is.
            way += _arrow(end_left, end_y) if arrives else f"H{end_right:.0f}"
        elif edge.end[1] == edge.start[1]:
            out = right + 20 + min(abs(end_y - start_y) / 6, _WAY / 2)
            way = f"M{right:.0f} {start_y - 4:.0f}C{out:.0f} {start_y - 4:.0f} "
            way += f"{out:.0f} {end_y + 4:.0f} {end_right:.0f} {end_y + 4:.0f}"
            way += _arrow(end_right, end_y + 4, side=-1)
        else:
            way = _curve(left, start_y, end_right, end_y) + _arrow(end_right, end_y, side=-1)
        looks = [f"of-{edge.sender}", *(f"to-{taker}" for taker in edge.takers)]
        return element("path", d=way, class_=" ".join(looks))

    def _box(self, box: int) -> Html:
        left, middle, right = self.spot_of[box, self.layered.column_of[box]]
        height = _box_size(self.graph, self.boxes[box])[1]
        top = middle - height / 2
        frame = element("rect", x=f"{left:.0f}", y=f"{top:.0f}", width=f"{right - left:.0f}",
                        height=f"{height:.0f}", rx="6", class_=f"box-{box}")  # fmt: skip
        lines = []
        for place, number in enumerate(self.boxes[box][:_MOST_LABELS]):
            y = f"{top + _PADDING / 2 + _LINE * (place + 0.5):.0f}"
            name = self.graph.names[number]
            words = element("text", cut(name, _LONGEST_LABEL), x=f"{left + _PADDING:.0f}", y=y,
                            dominant_baseline="central")  # fmt: skip
            lines.append(element("a", element("title", name), words, href=f"#agent-{number}"))
        if len(self.boxes[box]) > _MOST_LABELS:
            y = f"{top + _PADDING / 2 + _LINE * (_MOST_LABELS + 0.5):.0f}"
            more = f"and {len(self.boxes[box]) - _MOST_LABELS:,} more"
            lines.append(element("text", more, x=f"{left + _PADDING:.0f}", y=y,
                                 dominant_baseline="central"))  # fmt: skip
        return element("g", frame, *lines)


def _boxes(graph: _Adjacency) -> tuple[list[list[int]], list[list[int]]]:
    """Return the agents that have a connection by their connections, and what boxes send to."""
    found: dict[tuple[frozenset[int], frozenset[int]], list[int]] = {}
    for number in range(len(graph.names)):
        if not graph.is_alone(number):
            key = frozenset(graph.takers[number]), frozenset(graph.senders[number])
            found.setdefault(key, []).append(number)
    boxes = list(found.values())
    box_of = {number: box for box, numbers in enumerate(boxes) for number in numbers}
    # All agents of a box send to the same ones.
    takers = [sorted({box_of[each] for each in graph.takers[numbers[0]]}) for numbers in boxes]
    return boxes, takers


def _box_size(graph: _Adjacency, numbers: Sequence[int]) -> tuple[float, float]:
    shown = [cut(graph.names[number], _LONGEST_LABEL) for number in numbers[:_MOST_LABELS]]
    lines = len(shown) + (len(numbers) > _MOST_LABELS)
    width = max(*map(display_width, shown), 4)
    return _LETTER * width + 2 * _PADDING, _LINE * lines + _PADDING


def _spots(
    found: Layers, sizes: Sequence[tuple[float, float]]
) -> tuple[dict[Point, tuple[float, float, float]], tuple[float, float]]:
    """Return the place of each point, and the size of the drawing."""
    heights = [
        [sizes[node][1] if found.column_of[node] == place else _PASSING for node, place in column]
        for column in found.columns
    ]
    tallest = max(sum(each) + _GAP * (len(each) - 1) for each in heights)
    spots: dict[Point, tuple[float, float, float]] = {}
    left: float = _MARGIN
    for column, tall in zip(found.columns, heights, strict=True):
        width = max(
            (sizes[node][0] for node, place in column if found.column_of[node] == place), default=0
        )
        y = _MARGIN + (tallest - sum(tall) - _GAP * (len(tall) - 1)) / 2
        for (node, place), height in zip(column, tall, strict=True):
            is_box = found.column_of[node] == place
            right = left + (sizes[node][0] if is_box else width)
            spots[node, place] = left, y + height / 2, right
            y += height + _GAP
        left += width + _WAY
    return spots, (left - _WAY / 2 + _MARGIN, tallest + 2 * _MARGIN)


def _curve(x: float, y: float, u: float, v: float) -> str:
    half = (u - x) / 2
    return f"M{x:.0f} {y:.0f}C{x + half:.0f} {y:.0f} {u - half:.0f} {v:.0f} {u:.0f} {v:.0f}"


def _arrow(x: float, y: float, side: int = 1) -> str:
    return f"M{x - 6 * side:.0f} {y - 3:.0f}L{x:.0f} {y:.0f}L{x - 6 * side:.0f} {y + 3:.0f}"
