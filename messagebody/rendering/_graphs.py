"""Graphs of a registry of agents: for Graphviz, for Mermaid, and drawn with letters."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from messagebody._core import escape
from messagebody.rendering._tables import PLAIN, Palette, cut, display_width

MOST_DRAWN: Final = 12
"""The most agents that a person can follow in a terminal."""

_WIDEST: Final = 32
"""Characters of a name in a picture."""
_SENDS, _TAKES, _BOTH = "●", "◀", "◉"


def dot(agents: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Yield the lines of a graph for Graphviz, with an arrow for every pair.

    Arguments:
        agents: the agents.
        pairs: senders, each with an agent that accepts all it sends.

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
    # Backslashes are escaped first; otherwise those of the quotes would be doubled.
    inside = escape(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def mermaid(agents: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Yield the lines of a graph for Mermaid, which GitHub and many wikis draw.

    Arguments:
        agents: the agents.
        pairs: senders, each with an agent that accepts all it sends.

    Examples:
        >>> print("\n".join(mermaid(["a", "b"], [("a", "b")])))
        flowchart LR
          n0["a"]
          n1["b"]
          n0 --> n1
    """
    # Names may be any text, even words of the language, so the nodes are numbered.
    numbers: dict[str, int] = {}
    yield "flowchart LR"
    for number, agent in enumerate(agents):
        numbers[agent] = number
        yield f'  n{number}["{_mermaid_text(agent)}"]'
    for sender, taker in pairs:
        yield f"  n{numbers[sender]} --> n{numbers[taker]}"


def _mermaid_text(text: str) -> str:
    """Return a text in which numbers replace the characters that Mermaid or HTML would act on."""
    return "".join(f"#{ord(c)};" if c in '"#&<>`\\;' else c for c in escape(text))


def draw(
    agents: Sequence[str], pairs: Iterable[tuple[str, str]], *, palette: Palette = PLAIN
) -> Iterator[str]:
    r"""Yield a line for each agent, with a column for each one that sends to another.

    In its column the sender has "●", and the agents that accept all it sends have "◀"; a sender
    that accepts its own output has "◉".

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
    """Return the character in a sender's column: a mark, the line between marks, or a space."""
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
