"""The page of a registry: which of its agents fit, and what breaks the other pairs."""

from collections.abc import Iterator, Sequence
from typing import Final

from messagebody._core import count_of, escape
from messagebody.agents import AgentGraph, GraphEdge, Registry
from messagebody.compatibility import Verdict
from messagebody.rendering._graph_page import PairList, Panel, graph_page

# The page has to be readable, and small: it grows with the agents, not with their pairs.
_MOST_AGENTS: Final = 2_000
_MOST_PAIRS: Final = 20
_MOST_BROKEN: Final = 10
_LONGEST_REASON: Final = 120
_MOST_COMPARED: Final = 100
"""The most agents whose pairs that do not fit are told, with what breaks them."""


def registry_page(registry: Registry, *, title: str = "Agents") -> str:
    """Return the graph of a registry as an HTML page, without a script and under a policy.

    It shows which pairs fit, and what breaks those that do not. A page of many agents lists some
    pairs of each agent and counts the others, so that it grows with the number of agents.

    Arguments:
        registry: the agents.
        title: the title of the page.

    Examples:
        >>> from messagebody import Agent, MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> page = registry_page(Registry([Agent("scout", text, text), Agent("poet", text, text)]))
        >>> "sends to 2 agents" in page, "4 pairs that fit" in page
        (True, True)
    """
    compared = len(registry) <= _MOST_COMPARED
    known = registry.graph(Verdict if compared else (Verdict.ALWAYS, Verdict.UNDECIDED))
    graph = registry.graph()
    fitting = sum(edge.verdict is Verdict.ALWAYS for edge in known.edges)
    facts = f"{count_of(len(registry), 'agent')}, {count_of(fitting, 'pair')} that "
    facts += "fits" if fitting == 1 else "fit"
    unsure = sum(edge.verdict is Verdict.SOMETIMES for edge in known.edges)
    notes = []
    if not compared:
        notes = ["Pairs that sometimes or never fit are not shown."]
    elif unsure and not any(edge.verdict is Verdict.SOMETIMES for edge in graph.edges):
        notes = [f"{count_of(unsure, 'pair')} that sometimes fit are listed, and not drawn."]
    panels = [*_registry_panels(registry, known)]
    return graph_page(graph, panels, title=title, facts=facts, notes=notes)


def _registry_panels(registry: Registry, known: AgentGraph) -> Iterator[Panel]:
    """Yield what is said of each agent of a registry, up to the most that a page has."""
    of: dict[str, list[GraphEdge]] = {name: [] for name in known.agents}
    for edge in known.edges:
        for name in {edge.source, edge.target}:
            of[name].append(edge)
    for name in known.agents[:_MOST_AGENTS]:
        takers = [e.target for e in of[name] if e.source == name and e.verdict is Verdict.ALWAYS]
        senders = [e.source for e in of[name] if e.target == name and e.verdict is Verdict.ALWAYS]
        lists = [
            PairList(
                f"{role} {count_of(len(found), 'agent')}",
                [(each, "", "") for each in found[:_MOST_PAIRS]],
                len(found[_MOST_PAIRS:]),
            )
            for role, found in (("sends to", takers), ("takes from", senders))
        ]
        lists += _broken(registry, name, of[name])
        yield Panel(_exchanges(registry, name), lists=lists)


def _broken(registry: Registry, name: str, edges: Sequence[GraphEdge]) -> Iterator[PairList]:
    """Yield the pairs of an agent that do not always fit, with what breaks them."""
    for verdict in (Verdict.SOMETIMES, Verdict.NEVER, Verdict.UNDECIDED):
        found = [edge for edge in edges if edge.verdict is verdict]
        told = [
            (edge.target, "→ ", _reason(registry, edge))
            if edge.source == name
            else (edge.source, "← ", _reason(registry, edge))
            for edge in found[:_MOST_BROKEN]
        ]
        if found:
            heading = f"{verdict}: {count_of(len(found), 'pair')}"
            yield PairList(heading, told, len(found) - len(told), str(verdict))


def _reason(registry: Registry, edge: GraphEdge) -> str:
    """Return what breaks a pair: a message, or the reason if every message does."""
    if edge.verdict is not Verdict.NEVER:
        return edge.label
    reasons = registry.check(edge.source, edge.target).reasons
    return escape(reasons[0].summary, limit=_LONGEST_REASON) if reasons else ""


def _exchanges(registry: Registry, name: str) -> list[str]:
    """Return what an agent says beside input and output, in words."""
    return [
        f"{way} {kind}"
        for kind, each in registry[name].exchanges.items()
        for way, schema in (("sends", each.sends), ("takes", each.takes))
        if schema is not None
    ][:_MOST_PAIRS]
