"""A registry of agents as a graph: in Graphviz's language, and drawn with letters."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from messagebody._text import escape
from messagebody.rendering.tables import PLAIN, Palette, cut, display_width

MOST_DRAWN: Final = 12
"""More agents than this are more lines than a person follows in a terminal."""

_WIDEST: Final = 32
_SENDS, _TAKES, _BOTH = "●", "◀", "◉"


def dot(agents: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Yield the lines of a graph: agents, and an arrow from a sender to whoever takes it all.

    Examples:
        >>> print("\n".join(dot(["a", "b"], [("a", "b")])))
        digraph agents {
          rankdir=LR; node [shape=box, style=rounded];
          "a";
          "b";
          "a" -> "b";
        }
    """
    yield "digraph agents {"
    yield "  rankdir=LR; node [shape=box, style=rounded];"
    for agent in agents:
        yield f"  {_quoted(agent)};"
    for sender, taker in pairs:
        yield f"  {_quoted(sender)} -> {_quoted(taker)};"
    yield "}"


def _quoted(text: str) -> str:
    inside = escape(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def draw(
    agents: Sequence[str], pairs: Iterable[tuple[str, str]], *, palette: Palette = PLAIN
) -> Iterator[str]:
    r"""Yield a line an agent, with a column for everybody who sends to somebody.

    In its column an agent has "●", and those who take what it sends have "◀"; one that takes
    what it sends itself has "◉".

    Arguments:
        agents: the agents, from top to bottom.
        pairs: senders and takers.
        palette: paints the marks.

    Examples:
        >>> pairs = [("scout", "writer"), ("scout", "critic"), ("writer", "critic")]
        >>> print("\n".join(draw(["scout", "writer", "critic"], pairs)))
        scout  ──●
        writer ──◀──●
        critic ──◀──◀
    """
    takers: dict[str, list[int]] = {name: [] for name in agents}
    row_of = {name: row for row, name in enumerate(agents)}
    for sender, taker in pairs:
        takers[sender].append(row_of[taker])
    columns = [(row_of[name], rows) for name, rows in takers.items() if rows]
    labels = [cut(escape(name), _WIDEST) for name in agents]
    width = max(map(display_width, labels), default=0)
    for row, label in enumerate(labels):
        line = "".join(_cells([_mark(row, *column) for column in columns], palette))
        yield (label + " " * (width - display_width(label)) + " " + line).rstrip()


def _mark(row: int, sender: int, takers: Sequence[int]) -> str:
    """Return what stands in a sender's column: a mark, the line between marks, or nothing."""
    if row == sender:
        return _BOTH if row in takers else _SENDS
    if row in takers:
        return _TAKES
    ends = (sender, *takers)
    return "│" if min(ends) < row < max(ends) else " "


def _cells(marks: Sequence[str], palette: Palette) -> Iterator[str]:
    """Yield the cells of a row; a line runs from its agent to the last of its marks."""
    last = max((i for i, mark in enumerate(marks) if mark in "●◀◉"), default=-1)
    for column, mark in enumerate(marks):
        if column > last:
            yield f"  {mark}"
        else:
            crossed = {"│": "┼", " ": "─"}.get(mark, mark)
            yield "──" + palette(
                crossed, "yes" if crossed in "●◉" else "command" if crossed == "◀" else ""
            )
