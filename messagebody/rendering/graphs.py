"""A registry of agents as a picture, in Graphviz's language."""

from collections.abc import Iterable, Iterator

from messagebody.text import escape

__all__ = ["dot"]


def dot(agents: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Yield the lines of a graph: agents, and an arrow from a sender to whoever takes it all.

    Example:
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
