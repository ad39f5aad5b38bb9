"""A registry of agents as a picture: SVG for pages light and dark, without scripts or links."""

from collections.abc import Iterable, Iterator, Sequence
from math import atan2, degrees
from typing import Final

from messagebody.rendering.layout import Arrow, Box, Layout, lay_out
from messagebody.rendering.markup import content
from messagebody.rendering.styling import cut, display_width
from messagebody.text import count_of, escape

__all__ = ["svg"]

_LONGEST: Final = 28
_LETTER: Final = 7.8
_PADDING: Final = 26.0
_MARGIN: Final = 40.0
_HEAD: Final = "M1 0L-7 -4V4z"
# Of equal lightness, so that no sender stands out; readable on white and on black.
_COLOURS: Final = (
    "#3b82c4",
    "#c2703d",
    "#3f9a6b",
    "#a8609f",
    "#8a8a2f",
    "#c15b6c",
    "#5f72c9",
    "#2f96a0",
)

_STYLE: Final = """
text { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328;
       text-anchor: middle }
.box { fill: #f6f8fa; stroke: #8c959f }
.arrow { fill: none; stroke-width: 1.6; stroke-opacity: .85 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .box { fill: #161b22; stroke: #6e7681 }
}
"""


def svg(ranks: Sequence[Sequence[str]], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a picture: agents in columns, and an arrow for every pair that fits.

    Arguments:
        ranks: the agents, senders before takers, as `Registry.ranks` returns them.
        pairs: senders and takers.

    Examples:
        >>> picture = "".join(svg([["scout"], ["writer"]], [("scout", "writer")]))
        >>> "<title>scout → writer</title>" in picture
        True
    """
    labels = {name: cut(escape(name), _LONGEST) for names in ranks for name in names}
    widths = {name: display_width(label) * _LETTER + _PADDING for name, label in labels.items()}
    layout = lay_out(ranks, pairs, widths)
    colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(labels)}
    yield from _opening(layout)
    for arrow in layout.arrows:
        yield from _arrow(arrow, colours[arrow.sender])
    for box in layout.boxes:
        yield from _box(box, labels[box.name])
    yield "</g></svg>"


def _opening(layout: Layout) -> Iterator[str]:
    width, height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    said = (
        f"{count_of(len(layout.boxes), 'agent')}, {count_of(len(layout.arrows), 'pair')} that fit"
    )
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    )
    yield f"<title>{said}</title><style>{_STYLE}</style>"
    yield f'<g transform="translate({_MARGIN:.0f} {_MARGIN:.0f})">'


def _box(box: Box, label: str) -> Iterator[str]:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    yield (
        f'<g><title>{content(box.name)}</title><rect class="box" x="{left:.1f}" y="{top:.1f}" '
        f'width="{box.width:.1f}" height="{box.height:.1f}" rx="8"/>'
    )
    yield f'<text x="{box.x:.1f}" y="{box.y + 4.5:.1f}">{content(label)}</text></g>'


def _arrow(arrow: Arrow, colour: str) -> Iterator[str]:
    *_, (from_x, from_y), (x, y) = arrow.points
    turn = degrees(atan2(y - from_y, x - from_x))
    start, *curve = (f"{x:.1f} {y:.1f}" for x, y in arrow.points)
    yield f"<g><title>{content(arrow.sender)} → {content(arrow.taker)}</title>"
    yield f'<path class="arrow" stroke="{colour}" d="M{start}C{" ".join(curve)}"/>'
    place = f"translate({x:.1f} {y:.1f}) rotate({turn:.0f})"
    yield f'<path fill="{colour}" transform="{place}" d="{_HEAD}"/></g>'
