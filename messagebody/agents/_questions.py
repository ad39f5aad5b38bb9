"""Questions about many agents: the pairs that fit, routes, and the effects of a change."""

import abc
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import attrs

from messagebody._core import did_you_mean
from messagebody.agents._agents import Agent
from messagebody.compatibility import Compatibility, check
from messagebody.errors import AgentNotFound, MissingDependency
from messagebody.schema import MessageBodySchema

if TYPE_CHECKING:
    import networkx as nx


@attrs.frozen
class Impact:
    """The effects of a change of one agent; true only if it is certain that no pair is lost.

    Arguments:
        lost: pairs (sender, taker) that fitted and would no longer fit.
        gained: pairs that would fit and did not.
        undecided: pairs for which the budget ended, before the change or after it.
    """

    lost: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return not self.lost and not self.undecided


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

    def check(self, sender: str, taker: str) -> Compatibility:
        """Return the full answer for a pair of agents, with bodies and reasons.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._check(self[sender].output, self[taker].input)

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
        return Impact(
            # Where the budget ended, a pair is neither lost nor gained.
            tuple(sorted(before.fitting - after.fitting - undecided)),
            tuple(sorted(after.fitting - before.fitting - undecided)),
            tuple(sorted(undecided)),
        )

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
