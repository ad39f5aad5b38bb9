"""Questions about many agents: the pairs that fit, routes, and the effects of a change."""

import abc
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import attrs

from messagebody._core import did_you_mean
from messagebody.agents._agents import Agent
from messagebody.agents._agreement import AgentCompatibility
from messagebody.agents._exchanges import Exchange, way_of
from messagebody.compatibility import Compatibility, Verdict, check
from messagebody.errors import AgentNotFound, MissingDependency
from messagebody.schema import MessageBodySchema

if TYPE_CHECKING:
    import networkx as nx


Kinds = tuple[tuple[str, str, str], ...]
"""Kinds of exchange between two agents: who speaks first, who takes it, and the kind."""


@attrs.frozen
class Impact:
    """The effects of a change of one agent; true only if it is certain that no pair is lost.

    Arguments:
        lost: pairs (sender, taker) that fitted and would no longer fit.
        gained: pairs that would fit and did not.
        undecided: pairs for which the budget ended, before the change or after it.
        lost_exchanges: exchanges (speaker, taker, kind) that surely worked and no longer would.
        gained_exchanges: exchanges that surely would work and did not.
        undecided_exchanges: exchanges for which the budget ended.
    """

    lost: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...] = ()
    lost_exchanges: Kinds = ()
    gained_exchanges: Kinds = ()
    undecided_exchanges: Kinds = ()

    def __bool__(self) -> bool:
        unsure = self.undecided or self.undecided_exchanges
        return not (self.lost or self.lost_exchanges or unsure)


class Neighbours(list[str]):
    """Names of agents that surely fit.

    Attributes:
        undecided: names of agents for which the budget ended first.
    """

    def __init__(self, fitting: Iterable[str] = (), undecided: Iterable[str] = ()) -> None:
        super().__init__(fitting)
        self.undecided = list(undecided)

    @classmethod
    def among(cls, answers: Iterable[tuple[str, Compatibility]]) -> Self:
        """Sort agents by their answers."""
        known = list(answers)
        return cls(
            [name for name, answer in known if answer],
            [name for name, answer in known if answer.compatible is None],
        )


class Questions(Mapping[str, Agent]):
    """Agents by name, and the questions that can be asked about them.

    A subclass answers which agents accept the bodies of a schema, and which feed it. All other
    answers follow from these.
    """

    _lenient: bool
    _steps: int

    @abc.abstractmethod
    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) that surely fit, an agent with itself included."""

    @abc.abstractmethod
    def _takers_of(self, name: str) -> Neighbours:
        """Return the agents that accept every body an agent sends, in order."""

    @abc.abstractmethod
    def _takers(self, output: MessageBodySchema) -> Neighbours:
        """Return the agents that accept every body of a schema, in order."""

    @abc.abstractmethod
    def _feeders(self, taken: MessageBodySchema) -> Neighbours:
        """Return the agents whose every body a schema accepts, in order."""

    def check(self, sender: str, taker: str) -> AgentCompatibility:
        """Return the full answer for a pair of agents, with bodies and reasons.

        It has an answer for each kind of exchange, too.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return check(self[sender], self[taker], lenient=self._lenient, steps=self._steps)

    def answerers(self, of: str, kind: str = "interrupt") -> Neighbours:
        """Return the other agents that can answer what an agent asks.

        They surely take whatever it sends of that kind, and what they answer is surely what it
        expects.

        Arguments:
            of: the name of the agent that asks.
            kind: the kind of exchange.

        Raises:
            AgentNotFound: there is no such agent.

        Examples:
            >>> from messagebody.agents import Exchange, Registry
            >>> nothing = MessageBodySchema()
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> asks = {"interrupt": Exchange(sends=text, answers=text)}
            >>> helps = {"interrupt": Exchange(takes=text, answers=text)}
            >>> registry = Registry([
            ...     Agent("editor", nothing, nothing, exchanges=asks),
            ...     Agent("desk", nothing, nothing, exchanges=helps),
            ... ])
            >>> registry.answerers("editor")
            ['desk']
        """
        asked = self[of].exchanges.get(kind, Exchange())
        found = Neighbours()
        for name, agent in self.items():
            taken = agent.exchanges.get(kind)
            if name == of or taken is None:
                continue
            way = way_of((of, asked), (name, taken), lenient=self._lenient, steps=self._steps)
            if way:
                found.append(name)
            elif way is not None and way.verdict is Verdict.UNDECIDED:
                found.undecided.append(name)
        return found

    def broken(self, route: Iterable[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield the exchanges (speaker, taker, kind) that do not surely work.

        Arguments:
            route: the agents of a route, in order, of which each talks to the next one; else all
                pairs whose outputs fit.

        Raises:
            AgentNotFound: there is no such agent.
        """
        pairs = self.pairs() if route is None else pairwise(route)
        for sender, taker in dict.fromkeys(pairs):
            if sender != taker:
                for answer in self.check(sender, taker).exchanges.values():
                    broken = (way for way in answer.ways if not way)
                    yield from ((way.speaker, way.taker, answer.kind) for way in broken)

    def takers(self, of: str | MessageBodySchema) -> Neighbours:
        """Return the agents that accept every body an agent sends, or every body of a schema.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._takers_of(of) if isinstance(of, str) else self._takers(of)

    def feeders(self, of: str | MessageBodySchema) -> Neighbours:
        """Return the agents whose every body an agent, or a schema, accepts.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._feeders(self[of].input if isinstance(of, str) else of)

    def unfed(self) -> list[str]:
        """Return the agents for which no other agent is certain to send valid input.

        Examples:
            >>> from messagebody.agents import Registry
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> image = MessageBodySchema([(None, "image/png", True)])
            >>> Registry([Agent("painter", text, image), Agent("critic", image, image)]).unfed()
            ['painter']
        """
        # Feeding itself does not count: somebody has to send the first body.
        fed = {taker for sender, taker in self.pairs() if sender != taker}
        return [name for name in self if name not in fed]

    def route(self, sender: str, taker: str) -> list[str] | None:
        """Return the shortest chain of agents through which a message of one reaches another.

        Returns:
            The names from sender to taker, both included; None if no route leads there.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._shortest([sender], {self[taker].name})

    def chain(self, have: MessageBodySchema, want: MessageBodySchema) -> list[str] | None:
        """Return the shortest chain of agents from one schema to another.

        Arguments:
            have: what there is; `MessageBodySchema.infer(body)` for a body.
            want: the schema that is wanted.

        Returns:
            The names of agents in order; an empty list if no agent is needed; None if no chain
            leads there.
        """
        if self._check(have, want):
            return []
        return self._shortest(self.takers(have), set(self.feeders(want)))

    def _shortest(self, start: Iterable[str], goals: set[str]) -> list[str] | None:
        """Return the shortest path from one of some agents to another, breadth first."""
        # By hand: a library needs the graph of all pairs, and a search sees only a few.
        before: dict[str, str | None] = {}
        for name in start:
            # Looked up only so that an unknown name raises here, before the search.
            self[name]
            before[name] = None
        waiting = list(before)
        for name in waiting:  # which grows meanwhile
            if name in goals:
                return _path(before, name)
            for taker in self.takers(name):
                if taker not in before:
                    before[taker] = name
                    waiting.append(taker)
        return None

    def impact(self, agent: Agent) -> Impact:
        """Return which pairs would be lost and gained if an agent became this one.

        Arguments:
            agent: the agent as it is to be; the one of its name is replaced, if there is one.
        """
        before = self._around(self[agent.name]) if agent.name in self else _Around()
        after = self._around(agent)
        undecided = before.undecided | after.undecided
        was, will = self._kinds_around(self.get(agent.name)), self._kinds_around(agent)
        unsure = was.undecided | will.undecided
        return Impact(
            # Where the budget ended, a pair is neither lost nor gained.
            tuple(sorted(before.fitting - after.fitting - undecided)),
            tuple(sorted(after.fitting - before.fitting - undecided)),
            tuple(sorted(undecided)),
            tuple(sorted(was.fitting - will.fitting - unsure)),
            tuple(sorted(will.fitting - was.fitting - unsure)),
            tuple(sorted(unsure)),
        )

    def _kinds_around(self, agent: Agent | None) -> "_KindsAround":
        """Return the exchanges of an agent with all others."""
        found = _KindsAround()
        if agent is None or not agent.exchanges:
            return found
        for name, other in self.items():
            if name == agent.name:
                continue
            for kind in agent.exchanges.keys() & other.exchanges.keys():
                ends = (agent.name, agent.exchanges[kind]), (name, other.exchanges[kind])
                for speaker, taker in (ends, ends[::-1]):
                    way = way_of(speaker, taker, lenient=self._lenient, steps=self._steps)
                    if way:
                        found.fitting.add((way.speaker, way.taker, kind))
                    elif way is not None and way.verdict is Verdict.UNDECIDED:
                        found.undecided.add((way.speaker, way.taker, kind))
        return found

    def _around(self, agent: Agent) -> "_Around":
        """Return the pairs that an agent is in, or would be in the place of one of its name."""
        takers, feeders = self._takers(agent.output), self._feeders(agent.input)
        name = agent.name
        found = _Around(
            {(name, taker) for taker in takers} | {(feeder, name) for feeder in feeders},
            {(name, taker) for taker in takers.undecided}
            | {(feeder, name) for feeder in feeders.undecided},
        )
        # With itself it is another pair than with the one that it replaces.
        alone = self._check(agent.output, agent.input)
        for pairs, belongs in (
            (found.fitting, bool(alone)), (found.undecided, alone.compatible is None),
        ):  # fmt: skip
            pairs.discard((name, name))
            if belongs:
                pairs.add((name, name))
        return found

    def graph(self) -> "nx.DiGraph[Any]":
        """Return a networkx graph: agents, and an edge for every pair that fits.

        Raises:
            MissingDependency: networkx is not installed.
        """
        graph: nx.DiGraph[Any] = _networkx("the graph of a registry").DiGraph()
        graph.add_nodes_from(self)
        graph.add_edges_from(self.pairs())
        return graph

    def ranks(self) -> list[list[str]]:
        """Return the agents in ranks: each sender comes before the agents that accept its output.

        Agents that can send to each other, directly or by way of others, share a rank.

        Raises:
            MissingDependency: networkx is not installed.

        Examples:
            >>> from messagebody.agents import Registry
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> image = MessageBodySchema([(None, "image/png", True)])
            >>> sound = MessageBodySchema([(None, "audio/mpeg", True)])
            >>> Registry([Agent("speaker", text, sound), Agent("captioner", image, text)]).ranks()
            [['captioner'], ['speaker']]
        """
        nx = _networkx("the ranks of a registry")
        # networkx gives sets, whose order changes from run to run.
        order = {name: place for place, name in enumerate(self)}
        loops = nx.condensation(self.graph())
        members_of = loops.nodes(data="members")
        return [
            sorted(
                (name for each in generation for name in members_of[each]), key=order.__getitem__
            )
            for generation in nx.topological_generations(loops)
        ]

    def _check(self, producer: MessageBodySchema, consumer: MessageBodySchema) -> Compatibility:
        return check(producer, consumer, lenient=self._lenient, steps=self._steps)


@attrs.frozen
class _Around:
    """The pairs of one agent: the pairs that fit, and the undecided ones."""

    fitting: set[tuple[str, str]] = attrs.field(factory=set)
    undecided: set[tuple[str, str]] = attrs.field(factory=set)


@attrs.frozen
class _KindsAround:
    """The exchanges of one agent: those that surely work, and the undecided ones."""

    fitting: set[tuple[str, str, str]] = attrs.field(factory=set)
    undecided: set[tuple[str, str, str]] = attrs.field(factory=set)


def not_found(name: str, names: Iterable[str]) -> AgentNotFound:
    """Return the error for a name that no agent has, with the nearest that one has."""
    return AgentNotFound(name, did_you_mean(name, names) if isinstance(name, str) else "")


def _path(before: Mapping[str, str | None], last: str) -> list[str]:
    found: list[str] = []
    step: str | None = last
    while step is not None:
        found.append(step)
        step = before[step]
    return found[::-1]


def _networkx(feature: str) -> Any:
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingDependency(feature, "registry") from error
    return nx
