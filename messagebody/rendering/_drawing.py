"""Drawing of a directed graph as SVG, in layers: boxes with names, lines with words on them.

It knows nothing of agents. The style shows the lines of a node that is pointed at or chosen, and
no script is needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from messagebody.rendering._elements import Html, element
from messagebody.rendering._layers import MOST_PIECES, Layers, layered, ranks
from messagebody.rendering._tables import cut, display_width
from messagebody.rendering._untangling import LinePiece, levels

VERDICTS: Final = ("always", "sometimes", "never", "undecided")
"""How often what is sent along an edge is taken; each looks different, also without colours."""
_DENSE: Final = 150
"""From this many lines on, they are pale until a node is chosen."""
_LONGEST_LABEL: Final = 30
_MOST_LABELS: Final = 12
"""Names in one box."""
_LONGEST_WORDS: Final = 40
_MOST_WORDS: Final = 4
"""Lines of the label of an edge."""
_MOST_TITLES: Final = 12
# Pixels: the drawing is not scaled, so that its names stay readable.
_LETTER: Final = 7.4
_SMALL_LETTER: Final = 6.6
_LINE: Final = 20
_SMALL_LINE: Final = 16
_PADDING: Final = 10
_GAP: Final = 14
_PASSING: Final = 6
_NARROW: Final = 64
_WIDE: Final = 200
_MARGIN: Final = 24
_HEAD: Final = 7
_PORTS: Final = 9
_LEAST_PORTS: Final = 5
_MOST_PORTS: Final = 12


@attrs.frozen
class DrawnNode:
    """A node of a graph.

    Arguments:
        label: its name in the drawing; a long one is cut.
        title: what is shown while somebody points at the name; the label if empty.
        anchor: the id of the element on the page that tells of it, a word of letters, digits and
            dashes; the name then leads there, and the lines of the node that was chosen stand out.
    """

    label: str
    title: str = ""
    anchor: str = ""


@attrs.frozen
class DrawnEdge:
    """An edge of a graph.

    Arguments:
        source: the number of the node where it begins.
        target: the number of the node where it ends.
        verdict: one of `VERDICTS`.
        label: words that stand on the line, one or more lines of them.
        title: what is shown while somebody points at the line.
    """

    source: int
    target: int
    verdict: str = "always"
    label: str = ""
    title: str = ""


@attrs.frozen
class Drawing:
    """A drawing, and what a page needs to show it.

    Arguments:
        html: the element.
        style: rules for the style of the page; those of the file graph.css come before them.
        legend: what the lines mean, with the number of edges of each verdict.
    """

    html: Html
    style: str
    legend: Html


def drawn(
    nodes: Sequence[DrawnNode],
    edges: Sequence[DrawnEdge],
    *,
    shared: bool = False,
    most: int = MOST_PIECES,
    label: str = "Graph",
) -> Drawing | None:
    """Return the drawing of a graph; None if there is no edge, or there are too many lines.

    Arguments:
        nodes: the nodes; where they reach each other, the first one stands left.
        edges: the edges, at most one of a verdict and a label from one node to another.
        shared: nodes with the same edges share a box, and instead of the first nodes those stand
            left of which more edges lead away, by the edges that are always taken.
        most: the most pieces of lines.
        label: what the drawing is of, for those who cannot see it.

    Examples:
        >>> nodes = [DrawnNode("scout"), DrawnNode("writer")]
        >>> found = drawn(nodes, [DrawnEdge(0, 1, label="mount /notes")])
        >>> "scout" in found.html, "mount /notes" in found.html
        (True, True)
    """
    if not edges:
        return None
    boxes = _boxes(nodes, edges, shared=shared)
    if shared:
        boxes = _downhill(boxes, edges)
    box_of = {node: box for box, members in enumerate(boxes) for node in members}
    lines = _lines(edges, box_of)
    labels = [line for line in lines if line.label]
    routes = _Routes.along(lines, len(boxes))
    count = len(boxes) + len(labels)
    found = layered(count, routes.edges, ways=routes.ways, most=most)
    if found is None:
        return None
    scene = _Scene(nodes, boxes, lines, labels, routes.of, routes.as_they_lead(found))
    return Drawing(scene.html(label), "".join(scene.rules()), _legend(edges))


@attrs.frozen
class _Line:
    """All edges between two boxes with one verdict and one label."""

    source: int
    target: int
    verdict: str
    label: str
    titles: tuple[str, ...]


def _boxes(
    nodes: Sequence[DrawnNode], edges: Iterable[DrawnEdge], *, shared: bool
) -> list[list[int]]:
    """Return the nodes of each box; those without an edge are in none."""
    links: dict[int, set[tuple[bool, int, str, str]]] = {}
    for edge in edges:
        for one, other, is_source in (
            (edge.source, edge.target, True),
            (edge.target, edge.source, False),
        ):
            links.setdefault(one, set()).add((is_source, other, edge.verdict, edge.label))
    found: dict[object, list[int]] = {}
    for node in range(len(nodes)):
        if node in links:
            found.setdefault(frozenset(links[node]) if shared else node, []).append(node)
    return list(found.values())


def _downhill(boxes: Sequence[list[int]], edges: Iterable[DrawnEdge]) -> list[list[int]]:
    """Return boxes in an order in which few edges lead back that are always taken."""
    box_of = {node: box for box, members in enumerate(boxes) for node in members}
    firm = {(box_of[e.source], box_of[e.target]) for e in edges if e.verdict == VERDICTS[0]}
    rank = ranks(len(boxes), sorted(firm))
    return [boxes[box] for box in sorted(range(len(boxes)), key=rank.__getitem__)]


def _lines(edges: Iterable[DrawnEdge], box_of: dict[int, int]) -> list[_Line]:
    found: dict[tuple[int, int, str, str], list[str]] = {}
    for edge in edges:
        key = box_of[edge.source], box_of[edge.target], edge.verdict, edge.label
        found.setdefault(key, []).append(edge.title)
    return [_Line(*key, tuple(filter(None, titles))) for key, titles in found.items()]


@attrs.frozen
class _Routes:
    """Edges that lead through labels as through boxes.

    Arguments:
        edges: their points; an edge that leads back is turned around, so that its label stands
            between its boxes.
        ways: a number for each; lines of one node with one number share their way.
        of: the line of each.
        turned: the lines that are turned around.
    """

    edges: Sequence[tuple[int, int]]
    ways: Sequence[int]
    of: Sequence[int]
    turned: frozenset[int]

    @classmethod
    def along(cls, lines: Sequence[_Line], count: int) -> "_Routes":
        edges: list[tuple[int, int]] = []
        ways: list[int] = []
        of: list[int] = []
        nodes = count
        for place, line in enumerate(lines):
            if line.label:
                edges += [(line.source, nodes), (nodes, line.target)]
                ways += [len(VERDICTS) + place] * 2
                of += [place] * 2
                nodes += 1
            else:
                edges.append((line.source, line.target))
                ways.append(VERDICTS.index(line.verdict))
                of.append(place)
        rank = ranks(nodes, edges, in_order=True)
        turned = frozenset(
            place
            for place, line in enumerate(lines)
            if line.label and rank[line.source] > rank[line.target]
        )
        straight = [
            (end, start) if place in turned else (start, end)
            for (start, end), place in zip(edges, of, strict=True)
        ]
        return cls(straight, ways, of, turned)

    def as_they_lead(self, layers: Layers) -> Layers:
        """Return layers in which those that were turned around lead as they should."""
        pieces = [
            LinePiece(each.end, each.start, each.edges)
            if self.of[each.edges[0]] in self.turned
            else each
            for each in layers.pieces
        ]
        return attrs.evolve(layers, pieces=pieces)


def _legend(edges: Iterable[DrawnEdge]) -> Html:
    counts = dict.fromkeys(VERDICTS, 0)
    for edge in edges:
        counts[edge.verdict] += 1
    shown = []
    for verdict, count in counts.items():
        if count:
            path = element("path", d="M1 6H33", class_="way")
            head = element("path", d="M33 3L40 6L33 9z", class_="head")
            sample = element("svg", path, head, width="42", height="12", class_=verdict,
                             aria_hidden="true")  # fmt: skip
            shown.append(element("span", sample, f" {verdict} ({count:,})"))
    return element("p", *shown, class_="legend")


@attrs.frozen
class _Extent:
    """Where a point is: its left and right edge, its middle and its height."""

    left: float
    right: float
    middle: float
    height: float


class _Scene:
    """All that is drawn, and where."""

    def __init__(
        self,
        nodes: Sequence[DrawnNode],
        boxes: Sequence[Sequence[int]],
        lines: Sequence[_Line],
        labels: Sequence[_Line],
        of: Sequence[int],
        layers: Layers,
    ) -> None:
        self._nodes, self._boxes, self._lines, self._labels = nodes, boxes, lines, labels
        self._of, self._layers = of, layers
        self._gaps = _gaps(layers)
        self._busy = _busy(layers)
        tall = [self._height(point) for point in range(len(layers.column_of))]
        level = levels(layers.columns, layers.pieces, tall.__getitem__, self._is_passing, _GAP)
        self._spots: dict[int, _Extent] = {}
        self._edges: list[tuple[float, float]] = []
        left: float = _MARGIN
        for number, column in enumerate(layers.columns):
            wide = max(map(self._width, column))
            for point in column:
                # Boxes are as wide as their column, and labels stand in its middle.
                width = self._width(point) if self._is_label(point) else wide
                start = left + (wide - width) / 2
                middle = level[point] + _MARGIN
                self._spots[point] = _Extent(start, start + width, middle, tall[point])
            self._edges.append((left, left + wide))
            left += wide + self._gaps[number]
        # A line back to its own column is drawn in the room behind it.
        self._width_of_all = left + _MARGIN - (0 if self._turns() else self._gaps[-1])
        self._height_of_all = _MARGIN + max(
            spot.middle + spot.height / 2 for spot in self._spots.values()
        )
        self._ports = self._found_ports()

    def _turns(self) -> bool:
        """Return whether a line leaves the last column on its right."""
        last = len(self._layers.columns) - 1
        column_of = self._layers.column_of
        return any(column_of[p.start] == column_of[p.end] == last for p in self._layers.pieces)

    # Points

    def _is_label(self, point: int) -> bool:
        return len(self._boxes) <= point < len(self._boxes) + len(self._labels)

    def _is_passing(self, point: int) -> bool:
        return point >= len(self._boxes) + len(self._labels)

    def _words(self, point: int) -> list[str]:
        """Return what is written in a box, or on a line."""
        if self._is_label(point):
            words = self._labels[point - len(self._boxes)].label.splitlines()
            return _shortened(words, _MOST_WORDS, _LONGEST_WORDS)
        return _shortened([self._nodes[each].label for each in self._boxes[point]], _MOST_LABELS)

    def _width(self, point: int) -> float:
        if self._is_passing(point):
            return 0
        letter = _SMALL_LETTER if self._is_label(point) else _LETTER
        return letter * max(*map(display_width, self._words(point)), 4) + 2 * _PADDING

    def _height(self, point: int) -> float:
        if self._is_passing(point):
            return _PASSING
        count = len(self._words(point))
        if self._is_label(point):
            return _SMALL_LINE * count + 6
        return max(_LINE * count, _LEAST_PORTS * min(self._busy[point], _MOST_PORTS)) + _PADDING

    # Ports: where lines leave and reach a box, so that they do not meet on the way

    def _found_ports(self) -> dict[tuple[int, bool], float]:
        """Return the height at which each piece begins (False) and ends (True)."""
        sides: dict[tuple[int, int], list[tuple[float, int, bool]]] = {}
        spots, column_of = self._spots, self._layers.column_of
        for number, piece in enumerate(self._layers.pieces):
            ahead = column_of[piece.end] - column_of[piece.start]
            for point, other, is_end in (
                (piece.start, piece.end, False),
                (piece.end, piece.start, True),
            ):
                side = 1 if not ahead else -ahead if is_end else ahead
                # A line back to its own box leaves it above where it returns.
                wanted = spots[other].middle + (is_end if point == other else 0)
                sides.setdefault((point, side), []).append((wanted, number, is_end))
        ports: dict[tuple[int, bool], float] = {}
        for (point, _), found in sides.items():
            room = 0 if self._is_passing(point) else spots[point].height
            step = min(_PORTS, max(room - _PADDING, 0) / max(len(found) - 1, 1))
            top = spots[point].middle - step * (len(found) - 1) / 2
            for place, (_, number, is_end) in enumerate(sorted(found)):
                ports[number, is_end] = top + step * place
        return ports

    # What is drawn

    def html(self, label: str) -> Html:
        width, height = f"{self._width_of_all:.0f}", f"{self._height_of_all:.0f}"
        lines = [self._line(*each) for each in enumerate(self._layers.pieces)]
        points = range(len(self._boxes) + len(self._labels))
        boxes = [self._label(p) if self._is_label(p) else self._box(p) for p in points]
        svg = element("svg", *lines, *boxes, width=width, height=height,
                      viewBox=f"0 0 {width} {height}", role="group", aria_label=label,
                      class_="dense" if len(lines) > _DENSE else None)  # fmt: skip
        return element("div", svg, class_="drawing", tabindex="0", role="region",
                       aria_label="Drawing")  # fmt: skip

    def _line(self, number: int, piece: LinePiece) -> Html:
        start, end = self._spots[piece.start], self._spots[piece.end]
        y, v = self._ports[number, False], self._ports[number, True]
        columns = self._layers.column_of[piece.start], self._layers.column_of[piece.end]
        arrives = piece.end < len(self._boxes)
        if columns[0] == columns[1]:
            x, u, side = start.right, end.right, -1
            out = x + min(20 + abs(v - y) / 6, self._gaps[columns[0]] - 16)
            way = f"M{x:.0f} {y:.1f}C{out:.0f} {y:.1f} {out:.0f} {v:.1f} {u + _HEAD:.0f} {v:.1f}"
        else:
            side = 1 if columns[1] > columns[0] else -1
            x, u = (start.right, end.left) if side > 0 else (start.left, end.right)
            way = self._between(columns, x, y, u - side * _HEAD * arrives, v)
            if self._is_passing(piece.end):  # it goes on through the column
                way += f"H{self._edge(columns[1], side):.0f}"
        parts = [element("path", d=way, class_="way")]
        if arrives:
            head = f"M{u - side * _HEAD:.0f} {v - 3.5:.1f}L{u:.0f} {v:.1f}"
            head += f"L{u - side * _HEAD:.0f} {v + 3.5:.1f}z"
            parts.append(element("path", d=head, class_="head"))
        return element("g", *self._title(piece), *parts, class_=self._class(piece))

    def _between(self, columns: tuple[int, int], x: float, y: float, u: float, v: float) -> str:
        """Return a curve between two columns, which passes none of their boxes."""
        side = 1 if columns[1] > columns[0] else -1
        out, into = self._edge(columns[0], side), self._edge(columns[1], -side)
        if abs(into - u) <= _HEAD:
            into = u
        half = (into - out) / 2
        curve = f"C{out + half:.0f} {y:.1f} {into - half:.0f} {v:.1f} {into:.0f} {v:.1f}"
        return f"M{x:.0f} {y:.1f}H{out:.0f}{curve}H{u:.0f}"

    def _edge(self, column: int, side: int) -> float:
        return self._edges[column][side > 0]

    def _class(self, piece: LinePiece) -> str:
        lines = [self._lines[self._of[edge]] for edge in piece.edges]
        takers = dict.fromkeys(f"to-{line.target}" for line in lines)
        return " ".join(["line", lines[0].verdict, f"of-{lines[0].source}", *takers])

    def _title(self, piece: LinePiece) -> Iterator[Html]:
        titles = [each for edge in piece.edges for each in self._lines[self._of[edge]].titles]
        if titles:
            yield element("title", "\n".join(_shortened(titles, _MOST_TITLES, 10 * _LONGEST_LABEL)))

    def _label(self, point: int) -> Html:
        line = self._labels[point - len(self._boxes)]
        spot, top = self._frame(point)
        texts = [
            element("text", words, x=f"{(spot.left + spot.right) / 2:.0f}",
                    y=f"{top + 3 + _SMALL_LINE * (place + 0.5):.1f}", text_anchor="middle",
                    dominant_baseline="central")
            for place, words in enumerate(self._words(point))
        ]  # fmt: skip
        title = element("title", "\n".join(line.titles) or line.label)
        looks = f"label line {line.verdict} of-{line.source} to-{line.target}"
        return element("g", title, self._rect(point, rx="9"), *texts, class_=looks)

    def _box(self, box: int) -> Html:
        spot, words_in = self._spots[box], self._words(box)
        top = spot.middle - _LINE * len(words_in) / 2
        lines = []
        for place, words in enumerate(words_in):
            text = element("text", words, x=f"{spot.left + _PADDING:.0f}",
                           y=f"{top + _LINE * (place + 0.5):.1f}",
                           dominant_baseline="central")  # fmt: skip
            is_rest = place == _MOST_LABELS - 1 and len(self._boxes[box]) > _MOST_LABELS
            node = None if is_rest else self._nodes[self._boxes[box][place]]
            if node is None:
                lines.append(text)
                continue
            title = element("title", node.title or node.label)
            lines.append(element("a", title, text, href=f"#{node.anchor}") if node.anchor
                         else element("g", title, text))  # fmt: skip
        near = {line.source for line in self._lines if line.target == box}
        near |= {line.target for line in self._lines if line.source == box}
        looks = " ".join(["box", f"box-{box}", *(f"by-{each}" for each in sorted(near))])
        return element("g", self._rect(box, rx="6"), *lines, class_=looks)

    def _frame(self, point: int) -> tuple[_Extent, float]:
        spot = self._spots[point]
        return spot, spot.middle - spot.height / 2

    def _rect(self, point: int, rx: str) -> Html:
        spot, top = self._frame(point)
        width, height = f"{spot.right - spot.left:.1f}", f"{spot.height:.1f}"
        return element("rect", x=f"{spot.left:.1f}", y=f"{top:.1f}", width=width, height=height,
                       rx=rx)  # fmt: skip

    def rules(self) -> Iterator[str]:
        """Yield the rules that show the lines of the box that is chosen or pointed at."""
        for box, members in enumerate(self._boxes):
            anchors = [f"#{self._nodes[each].anchor}:target" for each in members
                       if self._nodes[each].anchor]  # fmt: skip
            chosen = f":root:not(:has(:target)):has(.box-{box}:is(:hover,:focus-within))"
            if anchors:
                chosen = f":is({chosen},:root:has({','.join(anchors)}))"
            yield f"{chosen} .line:not(.of-{box},.to-{box}){{opacity:.07}}\n"
            yield f"{chosen} .line:is(.of-{box},.to-{box}){{opacity:1;--width:2}}\n"
            yield f"{chosen} .box:not(.box-{box},.by-{box}){{opacity:.35}}\n"
            yield f"{chosen} .box-{box} rect{{stroke:var(--accent);stroke-width:2}}\n"


def _shortened(words: Sequence[str], most: int, longest: int = _LONGEST_LABEL) -> list[str]:
    """Return at most so many lines, the last of which counts those left out."""
    shown = words if len(words) <= most else words[: most - 1]
    more = [f"and {len(words) - len(shown):,} more"] if len(words) > len(shown) else []
    return [cut(each, longest) for each in shown] + more


def _gaps(layers: Layers) -> list[float]:
    """Return the room on the right of each column; many lines need more."""
    counts = [0] * len(layers.columns)
    for piece in layers.pieces:
        counts[min(layers.column_of[piece.start], layers.column_of[piece.end])] += 1
    return [min(_NARROW + 2.0 * count, _WIDE) for count in counts]


def _busy(layers: Layers) -> list[int]:
    """Return how many lines each point has on the side that has more of them."""
    counts = [[0, 0] for _ in layers.column_of]
    for piece in layers.pieces:
        ahead = layers.column_of[piece.end] - layers.column_of[piece.start]
        counts[piece.start][ahead >= 0] += 1
        counts[piece.end][ahead <= 0] += 1
    return [max(each) for each in counts]
