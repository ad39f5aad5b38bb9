"""Graphs of agents as text for Mermaid, which GitHub and many wikis draw.

Names of agents are strangers' texts. No character of one may end its label, be read as markup or
as a directive, or lead anywhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from messagebody._core import count_of, escape
from messagebody.compatibility import Verdict

_MOST_EDGES: Final = 500
"""More edges than this are not drawn by Mermaid, unless a page allows them."""
_MOST_CHARACTERS: Final = 40_000
"""Mermaid draws no text of more than 50,000 characters; styles need some."""
_LONGEST: Final = 60
"""Characters of a name, and of a line on an edge."""
_MOST_LINES: Final = 4
_HARMLESS: Final = frozenset(" ,-./_")

_ARROWS: Final = {
    Verdict.ALWAYS: "-->", Verdict.SOMETIMES: "-.->", Verdict.NEVER: "--x",
    Verdict.UNDECIDED: "-.->",
}  # fmt: skip
_COLOURS: Final = {
    Verdict.ALWAYS: "#2da44e", Verdict.SOMETIMES: "#bf8700", Verdict.NEVER: "#cf222e",
    Verdict.UNDECIDED: "#8c959f",
}  # fmt: skip
"""Colours that can be seen on white and on black."""


@attrs.frozen
class GraphEdge:
    """An edge of a graph of agents.

    Arguments:
        source: the name of the agent that sends.
        target: the name of the agent that takes.
        verdict: how often what is sent is taken.
        label: words to stand on the edge, one or more lines.
        reason: what breaks it, at more length.
    """

    source: str
    target: str
    verdict: Verdict = Verdict.ALWAYS
    label: str = ""
    reason: str = ""

    @property
    def label_lines(self) -> list[str]:
        """The lines of the label, after the verdict if that is not *always*."""
        verdict = [] if self.verdict is Verdict.ALWAYS else [str(self.verdict)]
        lines = [*verdict, *self.label.splitlines()]
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES - 1 :] = [f"and {len(lines) - _MOST_LINES + 1:,} more"]
        return [escape(each, limit=_LONGEST) for each in lines]


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


def _as_edges(edges: Iterable[GraphEdge]) -> tuple[GraphEdge, ...]:
    return tuple(edges)


@attrs.frozen
class AgentGraph:
    """Agents, and edges between them, to be drawn.

    Arguments:
        agents: the names of the agents.
        edges: the edges.

    Examples:
        >>> edges = [GraphEdge("scout", "writer"),
        ...          GraphEdge("writer", "critic", Verdict.SOMETIMES, "breaks with a picture")]
        >>> graph = AgentGraph(["scout", "writer", "critic", "spare"], edges)
        >>> print(graph.to_mermaid())
        flowchart LR
          n1["writer"] -.->|"sometimes<br/>breaks with a picture"| n2["critic"]
          n0["scout"] --> n1
          n3["spare"]
          linkStyle 1 stroke:#2da44e
          linkStyle 0 stroke:#bf8700
    """

    agents: tuple[str, ...] = attrs.field(converter=_as_names)
    edges: tuple[GraphEdge, ...] = attrs.field(converter=_as_edges)

    def to_mermaid(self) -> str:
        """Return the graph in the language of Mermaid, as large as GitHub draws it.

        What is left out of a larger one is counted in a box of its own; edges that always fit are
        left out first.
        """
        statements = _Statements(self.agents)
        # What breaks comes first, because it is what must not be left out.
        by_verdict = sorted(self.edges, key=lambda edge: edge.verdict is Verdict.ALWAYS)
        drawn = [edge for edge in by_verdict[:_MOST_EDGES] if statements.add_edge(edge)]
        for agent in self.agents:
            statements.add_agent(agent)
        left_out = [
            count_of(count, noun)
            for noun, count in (
                ("agent", len(self.agents) - len(statements.named)),
                ("edge", len(self.edges) - len(drawn)),
            )
            if count
        ]
        more = [f'  more["{" and ".join(left_out)} more"]'] if left_out else []
        return "\n".join(["flowchart LR", *statements.lines, *more, *_link_styles(drawn)])


class _Statements:
    """Statements of Mermaid, as many as there is room for.

    Attributes:
        lines: the statements.
        named: the agents that have a label; the first statement about one has it.
    """

    def __init__(self, agents: Iterable[str]) -> None:
        # Names may be any text, even words of the language, so the nodes are numbered.
        self._numbers = {agent: number for number, agent in enumerate(agents)}
        self._room = _MOST_CHARACTERS
        self.lines: list[str] = []
        self.named: set[str] = set()

    def add_edge(self, edge: GraphEdge) -> bool:
        """Add an edge, and return whether there was room."""
        words = "<br/>".join(map(_mermaid_text, edge.label_lines))
        arrow = _ARROWS[edge.verdict] + (f'|"{words}"|' if words else "")
        # An edge back to its own agent has the label once.
        source = self._node(edge.source)
        target = self._node(edge.target) if edge.target != edge.source else source.partition("[")[0]
        return self._add(f"  {source} {arrow} {target}", {edge.source, edge.target})

    def add_agent(self, agent: str) -> None:
        """Add an agent, if it is not there yet and there is room."""
        if agent not in self.named:
            self._add(f"  {self._node(agent)}", {agent})

    def _add(self, line: str, agents: set[str]) -> bool:
        self._room -= len(line) + 1
        if self._room < 0:
            return False
        self.lines.append(line)
        self.named |= agents
        return True

    def _node(self, agent: str) -> str:
        node = f"n{self._numbers[agent]}"
        if agent in self.named:
            return node
        return f'{node}["{_mermaid_text(escape(agent, limit=_LONGEST))}"]'


def _link_styles(edges: Sequence[GraphEdge]) -> Iterator[str]:
    for verdict, colour in _COLOURS.items():
        numbers = [str(number) for number, edge in enumerate(edges) if edge.verdict is verdict]
        if numbers:
            yield f"  linkStyle {','.join(numbers)} stroke:{colour}"


def _mermaid_text(text: str) -> str:
    """Return a text in which numbers replace all that Mermaid, Markdown or HTML could act on.

    Directives, icons, formulas and links have to begin with such a character, and a list begins
    with its first one.
    """
    # No label may be empty.
    return "".join(
        character
        if character.isalpha() or (place and (character.isalnum() or character in _HARMLESS))
        else f"#{ord(character)};"
        for place, character in enumerate(text or " ")
    )
