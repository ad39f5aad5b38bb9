"""Graphs of LangGraph: which messages come together, and which come alone.

A node runs in the step after any node that leads to it. So messages come together if their nodes
always run in the same step, or if one edge waits for all of them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from messagebody._core import quote
from messagebody.errors import InvalidArgument, InvalidWorkflow

_START: Final = "__start__"
_ENDS: Final = {_START, "__end__"}
_Pair = tuple[str, str]


def read_graph(graph: Any) -> tuple[list[str], list[tuple[str, str, bool]]]:
    """Return the nodes of a compiled graph, and its edges, each with whether messages come alone.

    Raises:
        InvalidArgument: it is no graph that can be drawn.
        InvalidWorkflow: a branch does not say where it goes, or several groups of messages that
            come together reach one node.
    """
    drawn: Any = graph.get_graph() if hasattr(graph, "get_graph") else None
    if not hasattr(drawn, "nodes") or not hasattr(drawn, "edges"):
        raise InvalidArgument("a compiled graph, as builder.compile() returns it", graph)
    builder = getattr(graph, "builder", None)
    for source, branches in getattr(builder, "branches", {}).items():
        if any(branch.ends is None for branch in branches.values()):
            raise InvalidWorkflow(
                f"a branch behind {quote(source)} does not say where it may go; give "
                "add_conditional_edges a path_map"
            )
    found = NodeGraph(drawn, builder)
    return [node for node in drawn.nodes if node not in _ENDS], list(found.edges())


def _branches(builder: Any) -> Iterator[_Pair]:
    """Yield from where to where branches and nodes may send."""
    for source, branches in getattr(builder, "branches", {}).items():
        for branch in branches.values():
            yield from ((source, target) for target in branch.ends.values())
    for source, spec in getattr(builder, "nodes", {}).items():
        yield from ((source, target) for target in getattr(spec, "ends", None) or ())


class NodeGraph:
    """The edges of a graph.

    Arguments:
        drawn: the graph as it is drawn.
        builder: what it was compiled from, if that is known.
    """

    def __init__(self, drawn: Any, builder: Any) -> None:
        self._nodes = list(drawn.nodes)
        self._drawn = list(dict.fromkeys((each.source, each.target) for each in drawn.edges))
        waiting = getattr(builder, "waiting_edges", ())
        self._joins = [(frozenset(each), to) for each, to in sorted(waiting) if len(each) > 1]
        # Where two edges are drawn at one place, one hides the other.
        self._decided = {(each.source, each.target) for each in drawn.edges if each.conditional}
        self._decided |= set(_branches(builder))
        plain = set(self._drawn) - self._decided | set(getattr(builder, "edges", ()))
        plain |= {(each[0], to) for each, to in waiting if len(each) == 1}
        joined = {(source, to) for sources, to in self._joins for source in sources}
        self._plain: set[_Pair] = plain - (joined - set(getattr(builder, "edges", ())))
        specs = getattr(builder, "nodes", {})
        self._late = {node for node in specs if getattr(specs[node], "defer", False)}

    def edges(self) -> Iterator[tuple[str, str, bool]]:
        steps, certain = self._steps(), self._certain()
        together = {node: self._together(node, steps, certain) for node in self._nodes}
        for source, target in self._drawn:
            if _ENDS & {source, target}:
                continue
            group, is_join = together[target]
            is_plain = (source, target) in self._plain
            if source in group:
                yield source, target, False
            # What one edge waits for may come by another edge, too. A branch adds nothing to an
            # edge that is always taken.
            comes_alone = is_join or source not in group
            if comes_alone if is_plain else (source, target) in self._decided:
                yield source, target, True

    def _together(
        self, node: str, steps: Mapping[str, int], certain: set[str]
    ) -> tuple[frozenset[str], bool]:
        """Return the nodes whose messages come together, and whether one edge waits for them."""
        groups: dict[frozenset[str], bool] = {}
        classes: dict[object, set[str]] = {}
        for source, target in self._drawn:
            if target == node and (source, target) in self._plain and source not in _ENDS:
                is_awaited = node in self._late and source in certain
                classes.setdefault("end" if is_awaited else steps[source], set()).add(source)
        groups.update(dict.fromkeys(map(frozenset, classes.values()), False))
        groups.update((sources, True) for sources, target in self._joins if target == node)
        several = [group for group in groups if len(group) > 1]
        if len(several) > 1:
            raise InvalidWorkflow(
                f"several groups of messages that come together lead to {quote(node)}; a workflow "
                "has one: join them by one edge"
            )
        group = next(iter([*several, *groups]), frozenset[str]())
        return group, groups.get(group, False)

    def _steps(self) -> dict[str, int]:
        """Return a number for each node, the same for nodes that always run in the same step."""
        before: dict[str, set[str]] = {node: set() for node in self._nodes}
        for source, target in self._plain:
            if source in before and target in before:
                before[target].add(source)
        decided = {target for _, target in self._decided - self._plain}
        own = decided | {target for _, target in self._joins} | self._late | {_START}
        found = {node: at if node in own else -1 for at, node in enumerate(self._nodes)}
        while True:
            # Nodes are told apart by the nodes that lead to them, until that changes nothing.
            signs = {node: (found[node], frozenset(found[each] for each in before[node]))
                     for node in self._nodes}  # fmt: skip
            numbers = {sign: at for at, sign in enumerate(dict.fromkeys(signs.values()))}
            if len(numbers) == len(set(found.values())):
                return found
            found = {node: numbers[signs[node]] for node in self._nodes}

    def _certain(self) -> set[str]:
        """Return the nodes that run whatever branches decide."""
        found = {_START}
        while True:
            more = {target for source, target in self._plain if source in found}
            more |= {target for sources, target in self._joins if sources <= found}
            if more <= found:
                return found
            found |= more
