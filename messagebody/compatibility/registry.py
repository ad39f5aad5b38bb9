"""Registry of agents: which pairs of them fit, and what a change of one does to the others."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from messagebody._files import read_regular
from messagebody._guards import require_iterable
from messagebody._text import count_of, quote
from messagebody.compatibility.inclusion import Compatibility, check, lenient_schema
from messagebody.compatibility.matrix import InclusionMatrix, Row
from messagebody.errors import InvalidArgument, InvalidPattern, InvalidSchema, MissingDependency
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.solver.languages import members
from messagebody.solver.profile import Profile
from messagebody.wire import strict_json

if TYPE_CHECKING:
    import networkx as nx

_SCHEMAS = ("input", "output", "notifications", "interrupts")
_MEMBERS = {"name", "description", *_SCHEMAS}


@attrs.frozen
class Agent:
    """An agent: a name, and the schemas of the bodies that it takes and sends.

    Arguments:
        name: how the registry calls it.
        input: what it takes.
        output: what it sends as its answer.
        notifications: what it sends while it works; None if it states nothing.
        interrupts: what it sends when it waits for an answer; None if it states nothing.
    """

    name: str
    input: MessageBodySchema
    output: MessageBodySchema
    notifications: MessageBodySchema | None = None
    interrupts: MessageBodySchema | None = None

    @classmethod
    def from_dict(cls, data: Any, *, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read an agent from parsed JSON: its schemas, an A2A agent card or an ACP manifest.

        The members are `name`, `input`, `output`, `notifications`, `interrupts` and
        `description`. One of `input` and `output` may be missing: such an agent takes, or sends,
        nothing but empty bodies. The modes of a card, those of its skills included, and the
        content types of a manifest are those of unnamed parts; none is required.

        Arguments:
            data: the object.
            name: the name of an agent that states none.
            limits: what to take before refusing.

        Raises:
            InvalidSchema: it is neither, or a schema in it breaks the rules.

        Examples:
            >>> card = {"name": "painter", "defaultInputModes": ["text/plain"],
            ...         "defaultOutputModes": ["image/png"], "skills": []}
            >>> Agent.from_dict(card).output
            MessageBodySchema(1 part: image/png)
        """
        if not isinstance(data, Mapping):
            raise InvalidSchema(f"an agent is an object, got {quote(data)}")
        stated = data.get("name", name)
        if not isinstance(stated, str) or not stated:
            raise InvalidSchema(f"an agent's name is text, got {quote(stated)}")
        try:
            if "defaultInputModes" in data or "defaultOutputModes" in data:
                return cls(stated, *(_of_modes(data, way) for way in ("Input", "Output")))
            if "input_content_types" in data or "output_content_types" in data:
                types = (_modes(data, f"{way}_content_types") for way in ("input", "output"))
                return cls(stated, *map(_of_types, types))
            if unknown := sorted(data.keys() - _MEMBERS, key=str):
                known = ", ".join(sorted(_MEMBERS))
                shown = ", ".join(map(quote, unknown))
                raise InvalidSchema(f"unknown members {shown}; an agent has {known}{_meant(data)}")
            if not data.keys() & {"input", "output"}:
                # A schema part has a name too: read as an agent, it would fit everybody.
                raise InvalidSchema("an agent has an input, an output or both; here is neither")
            schemas = {way: _stated(data, way, limits) for way in _SCHEMAS}
            nothing = MessageBodySchema()
            return cls(
                stated,
                schemas["input"] or nothing,
                schemas["output"] or nothing,
                schemas["notifications"],
                schemas["interrupts"],
            )
        except (InvalidSchema, InvalidPattern) as error:
            raise InvalidSchema(f"agent {quote(stated)}: {error}") from error


def _meant(data: Mapping[str, Any]) -> str:
    """Return what an object is instead of an agent, if it is a part of something else."""
    if data.keys() & {"content", "contentUrl"}:
        return "; this is a part of a body"
    if "contentType" in data:
        return "; this is a part of a schema, which an agent has as its input or output"
    return ""


def _stated(agent: Mapping[str, Any], member: str, limits: Limits) -> MessageBodySchema | None:
    schema = agent.get(member)
    return None if schema is None else MessageBodySchema.from_dicts(schema, limits=limits)


def _of_modes(card: Mapping[str, Any], way: str) -> MessageBodySchema:
    """Return what an agent card takes or sends: unnamed parts of its modes."""
    # A skill's own modes stand in for the card's where it is used, so the agent may meet either.
    modes = list(_modes(card, f"default{way}Modes"))
    skills = card.get("skills") or []
    for skill in skills if isinstance(skills, list) else []:
        if isinstance(skill, Mapping):
            modes += _modes(skill, f"{way.lower()}Modes")
    return _of_types(modes)


def _of_types(content_types: Iterable[str]) -> MessageBodySchema:
    """Return the schema of unnamed parts of these content types, each once."""
    return MessageBodySchema(SchemaPart(None, each) for each in dict.fromkeys(content_types))


def _modes(holder: Mapping[str, Any], member: str) -> Iterator[str]:
    modes = holder.get(member) or []
    if not isinstance(modes, list):
        raise InvalidSchema(f"{member} is a list of content types, got {quote(modes)}")
    for mode in modes:
        if not isinstance(mode, str):
            raise InvalidSchema(f"{member} holds content types, got {quote(mode)}")
        # Patterns have no parameters, and cards state modes such as `text/plain; charset=utf-8`.
        yield mode.partition(";")[0].strip()


def read_agents(
    directory: str | os.PathLike[str], *, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Agent]:
    """Yield the agents of all `.json` files of a directory, in the order of the file names.

    A file holds one agent or a list of them; one without a name has the name of its file.

    Raises:
        InvalidSchema: a file holds no agent, is too large or not a regular file; names the file.
        OSError: a file can't be read.
    """
    for path in sorted(Path(directory).glob("*.json")):
        try:
            data = strict_json.loads(read_regular(path, limits.json_bytes), depth=limits.depth)
            for each in data if isinstance(data, list) else [data]:
                yield Agent.from_dict(each, name=path.stem, limits=limits)
        except ValueError as error:
            raise InvalidSchema(f"{path.name}: {error}") from error


# A registry decides many pairs: one hard pair must not hold up all others.
_STEPS_A_PAIR: Final = 50_000


@attrs.frozen
class Impact:
    """What a change of one agent does to the others; true only if surely no pair is lost.

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


@attrs.frozen
class _Around:
    """Pairs of agents that one agent is in: those that fit and those that are undecided."""

    fitting: set[tuple[str, str]] = attrs.field(factory=set)
    undecided: set[tuple[str, str]] = attrs.field(factory=set)


class Registry(Mapping[str, Agent]):
    """Agents by name, and what follows from their schemas.

    The registry doesn't change; `with_agent` makes a changed one.

    Arguments:
        agents: the agents, of different names.
        lenient: takers ignore parts they do not know.
        steps: the work a pair may take.

    Raises:
        InvalidSchema: two agents have one name.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> image = MessageBodySchema([(None, "image/png", True)])
        >>> registry = Registry([Agent("painter", text, image), Agent("poet", image, text)])
        >>> list(registry.pairs())
        [('painter', 'poet'), ('poet', 'painter')]
    """

    def __init__(
        self, agents: Iterable[Agent], *, lenient: bool = False, steps: int = _STEPS_A_PAIR
    ) -> None:
        self._agents: dict[str, Agent] = {}
        self._lenient = lenient
        self._steps = steps
        for agent in require_iterable(agents, "agents in a list", hint=""):
            if not isinstance(agent, Agent):
                raise InvalidArgument("an Agent", agent, "Agent.from_dict(…) reads parsed JSON")
            if agent.name in self._agents:
                raise InvalidSchema(f"two agents are called {quote(agent.name)}")
            self._agents[agent.name] = agent

    @classmethod
    def from_directory(
        cls,
        directory: str | os.PathLike[str],
        *,
        lenient: bool = False,
        steps: int = _STEPS_A_PAIR,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Read agents from the JSON files of a directory, A2A cards and ACP manifests among them.

        Raises:
            InvalidSchema: a file holds no agent, or two have one name.
            OSError: a file can't be read.
        """
        return cls(read_agents(directory, limits=limits), lenient=lenient, steps=steps)

    def __getitem__(self, name: str) -> Agent:
        return self._agents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)

    def __repr__(self) -> str:
        return f"Registry({count_of(len(self), 'agent')})"

    def with_agent(self, agent: Agent) -> Self:
        """Return a registry with an agent added, or in the place of one of its name."""
        agents = {**self._agents, agent.name: agent}
        return type(self)(agents.values(), lenient=self._lenient, steps=self._steps)

    def check(self, sender: str, taker: str) -> Compatibility:
        """Return the full answer for a pair of agents, with bodies and reasons.

        Raises:
            KeyError: there is no such agent.
        """
        return self._check(self[sender].output, self[taker].input)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) that surely fit, an agent with itself included."""
        return self._named_pairs(lambda row: row.fitting)

    def undecided(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) for which the budget of `steps` a pair ended.

        All pairs that neither this nor `pairs` yields do not fit.
        """
        return self._named_pairs(lambda row: row.undecided)

    def takers(self, of: str | MessageBodySchema) -> "Neighbours":
        """Return the agents that accept every body an agent sends, or every body of a schema.

        Raises:
            KeyError: there is no such agent.
        """
        if isinstance(of, str):
            row = self._matrix.row(self._position(of))
            return self._neighbours(row.fitting, row.undecided)
        return Neighbours.among(
            (agent.name, self._check(of, agent.input)) for agent in self.values()
        )

    def feeders(self, of: str | MessageBodySchema) -> "Neighbours":
        """Return the agents whose every body an agent, or a schema, accepts.

        Raises:
            KeyError: there is no such agent.
        """
        if isinstance(of, str):
            taker = self._position(of)
            # A column is made of rows, which are kept and serve the next question too.
            rows = [self._matrix.row(i) for i in range(len(self))]
            return self._neighbours(
                sum((row.fitting >> taker & 1) << i for i, row in enumerate(rows)),
                sum((row.undecided >> taker & 1) << i for i, row in enumerate(rows)),
            )
        return Neighbours.among(
            (agent.name, self._check(agent.output, of)) for agent in self.values()
        )

    def chain(self, have: MessageBodySchema, want: MessageBodySchema) -> list[str] | None:
        """Return the fewest agents that, one after another, make what is wanted of what is there.

        Arguments:
            have: what there is; `MessageBodySchema.infer(body)` for a body.
            want: what is wanted.

        Returns:
            Names of agents in order; none if what is there is what is wanted; None if no chain
            leads there.

        Raises:
            MissingDependency: networkx is not installed.
        """
        if self._check(have, want):
            return []
        nx = _networkx("shortest chains of agents")
        graph = self.graph()
        # No agent can have these as its name.
        source, target = object(), object()
        graph.add_edges_from((source, name) for name in self.takers(have))
        graph.add_edges_from((name, target) for name in self.feeders(want))
        if source not in graph or target not in graph:
            return None
        try:
            return list(nx.shortest_path(graph, source, target))[1:-1]
        except nx.NetworkXNoPath:
            return None

    def impact(self, agent: Agent) -> Impact:
        """Return which pairs would be lost and gained if an agent became this one.

        Arguments:
            agent: the agent as it is to be; the one of its name is replaced, if there is one.
        """
        before = self._around(agent.name) if agent.name in self else _Around()
        after = self.with_agent(agent)._around(agent.name)
        undecided = before.undecided | after.undecided
        return Impact(
            tuple(sorted(before.fitting - after.fitting - undecided)),
            tuple(sorted(after.fitting - before.fitting - undecided)),
            tuple(sorted(undecided)),
        )

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
        """Return the agents in ranks: whoever sends stands before those who take it.

        Agents that can send to each other, directly or by way of others, share a rank.

        Raises:
            MissingDependency: networkx is not installed.

        Examples:
            >>> from messagebody.schema import MessageBodySchema
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> image = MessageBodySchema([(None, "image/png", True)])
            >>> sound = MessageBodySchema([(None, "audio/mpeg", True)])
            >>> Registry([Agent("speaker", text, sound), Agent("captioner", image, text)]).ranks()
            [['captioner'], ['speaker']]
        """
        nx = _networkx("the ranks of a registry")
        order = {name: place for place, name in enumerate(self)}
        loops = nx.condensation(self.graph())
        members_of = loops.nodes(data="members")
        return [
            sorted(
                (name for each in generation for name in members_of[each]), key=order.__getitem__
            )
            for generation in nx.topological_generations(loops)
        ]

    def _around(self, name: str) -> "_Around":
        """Return the pairs that have an agent in them."""
        position, agent = self._position(name), self[name]
        others = [Profile.of(self._taking(each.input).parts) for each in self.values()]
        # One row and one column: the pairs of all the others can't have changed.
        row = InclusionMatrix([Profile.of(agent.output.parts)], others, self._steps).row(0)
        names = list(self)
        found = _Around(
            {(name, names[taker]) for taker in members(row.fitting)},
            {(name, names[taker]) for taker in members(row.undecided)},
        )
        senders = [Profile.of(each.output.parts) for each in self.values()]
        column = InclusionMatrix(senders, [others[position]], self._steps)
        for number, sender in enumerate(names):
            row = column.row(number)
            if row.fitting:
                found.fitting.add((sender, name))
            if row.undecided:
                found.undecided.add((sender, name))
        return found

    def _named_pairs(self, select: Callable[[Row], int]) -> Iterator[tuple[str, str]]:
        names = list(self)
        for position, sender in enumerate(names):
            for taker in members(select(self._matrix.row(position))):
                yield sender, names[taker]

    def _neighbours(self, fitting: int, undecided: int) -> "Neighbours":
        names = list(self)
        return Neighbours(
            [names[number] for number in members(fitting)],
            [names[number] for number in members(undecided)],
        )

    def _position(self, name: str) -> int:
        return list(self).index(self[name].name)

    def _check(self, producer: MessageBodySchema, consumer: MessageBodySchema) -> Compatibility:
        return check(producer, consumer, lenient=self._lenient, steps=self._steps)

    def _taking(self, schema: MessageBodySchema) -> MessageBodySchema:
        return lenient_schema(schema) if self._lenient else schema

    @cached_property
    def _matrix(self) -> InclusionMatrix:
        return InclusionMatrix(
            [Profile.of(agent.output.parts) for agent in self.values()],
            [Profile.of(self._taking(agent.input).parts) for agent in self.values()],
            self._steps,
        )


def _networkx(feature: str) -> Any:
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingDependency(feature, "registry") from error
    return nx
