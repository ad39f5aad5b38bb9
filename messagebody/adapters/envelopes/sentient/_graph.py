"""A chain as a graph: which message answers which, and which resource comes from which."""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from messagebody._base.text import escape
from messagebody.adapters.envelopes._sidecar import member, read_object, text_of
from messagebody.adapters.envelopes.sentient._rules import LISTS, references

_ORIGIN = {"storage_refs": "source_ref_id", "derived_refs": "parent_ref_id"}


@attrs.frozen
class Node:
    """A message or a resource.

    Arguments:
        id: unique in the graph.
        kind: "message" or "resource".
        label: for a person.
        data: the message or the resource itself.
    """

    id: str
    kind: str
    label: str
    data: dict[str, Any] = attrs.field(repr=False)


@attrs.frozen
class Edge:
    """A connection from `source` to `target`.

    Arguments:
        source: the id of a node.
        target: the id of a node.
        kind: "answered by", "acquired as", "derived as" or "registers".
    """

    source: str
    target: str
    kind: str


@attrs.frozen
class Graph:
    """Hold nodes and edges, as plain data for any library.

    Examples:
        >>> graph = chain_graph([{"message_id": "m1", "agent": {"name": "objective_agent"}}])
        >>> print(graph.to_dot())
        digraph chain {
          "message 0" [shape=box, label="0 objective_agent"];
        }
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz."""
        shapes = {"message": "box", "resource": "ellipse"}
        lines = [
            f"  {_quoted(node.id)} [shape={shapes[node.kind]}, label={_quoted(node.label)}];"
            for node in self.nodes
        ]
        lines += [
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.kind)}];"
            for edge in self.edges
        ]
        return "\n".join(["digraph chain {", *lines, "}"])


def chain_graph(messages: Iterable[Any]) -> Graph:
    """Return the graph of a chain: messages in order, resources as last stated.

    Arguments:
        messages: parsed JSON, or JSON text.

    Raises:
        EnvelopeError: a message is not a strict JSON object.
    """
    chain = [read_object(message, "a message") for message in messages]
    resources = {
        name: (kind, reference)
        for message in chain
        for kind in LISTS
        for reference in references(message, kind)
        if (name := text_of(reference, "ref_id"))
    }
    nodes = [
        Node(_id(i), "message", f"{i} {text_of(message, 'agent', 'name')}".strip(), message)
        for i, message in enumerate(chain)
    ]
    nodes += [Node(name, "resource", name, ref) for name, (_, ref) in resources.items()]
    edges = [*_answers(chain), *_origins(resources), *_registrations(chain)]
    return Graph(tuple(nodes), tuple(edges))


def _id(index: int) -> str:
    return f"message {index}"


def _answers(chain: list[dict[str, Any]]) -> Iterator[Edge]:
    places: dict[str, int] = {}
    for index, message in enumerate(chain):
        parent = member(message, "metadata", "parent_message_id")
        if isinstance(parent, str) and parent in places:
            yield Edge(_id(places[parent]), _id(index), "answered by")
        places.setdefault(text_of(message, "message_id"), index)


def _origins(resources: dict[str, tuple[str, dict[str, Any]]]) -> Iterator[Edge]:
    for name, (kind, reference) in resources.items():
        origin = text_of(reference, _ORIGIN.get(kind, ""))
        if origin in resources:
            yield Edge(origin, name, "acquired as" if kind == "storage_refs" else "derived as")


def _registrations(chain: list[dict[str, Any]]) -> Iterator[Edge]:
    known: set[str] = set()
    for index, message in enumerate(chain):
        for kind in LISTS:
            for reference in references(message, kind):
                name = text_of(reference, "ref_id")
                if name and name not in known:
                    known.add(name)
                    yield Edge(_id(index), name, "registers")


def _quoted(text: str) -> str:
    # Names come from messages, and DOT has its own syntax for strings.
    plain = escape(text, limit=200).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
