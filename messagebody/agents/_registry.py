"""Registry of agents: which of them fit each other, and what follows from that.

Agents with the same schema parts share an answer: each distinct pair of schemas is checked once,
when somebody first asks about it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self
from weakref import WeakKeyDictionary, WeakValueDictionary

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    GuidedABC,
    Limits,
    count_of,
    did_you_mean,
    exact_json,
    missing_attribute,
    quote,
    read_regular,
    replace_file,
    require_iterable,
    require_path,
)
from messagebody.agents._agents import Agent, AgentFiles, read_agents, read_cards
from messagebody.agents._agreement import AgentCompatibility
from messagebody.agents._exchanges import Exchange, check_direction
from messagebody.agents._graphs import AgentGraph, GraphEdge
from messagebody.agents._impact import Impact, PairsFound, compare_pairs
from messagebody.agents._samples import Contents, Samples
from messagebody.compatibility import Verdict, check
from messagebody.errors import (
    AgentNotFound,
    InvalidArgument,
    InvalidSchema,
    StoreError,
)
from messagebody.findings import Finding
from messagebody.names import safe_name
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.storage import Resolver

STEPS_A_PAIR: Final = 50_000
"""The work that a pair may take."""
_FEW: Final = 2
"""Pairs for each agent that a graph shows although they fit only sometimes."""

Answer = tuple[Verdict, tuple[tuple[str | None, str], ...] | None]
"""A verdict, and the names and types of the parts of a message that breaks the pair."""
_REFUSED: Final[Answer] = Verdict.UNDECIDED, ()
"""Not everything that is sent is taken; whether something is, nobody has asked."""


class Neighbours(list[str]):
    """Names of agents that surely fit.

    Attributes:
        undecided: names of agents for which the budget ended first.
    """

    def __init__(self, fitting: Iterable[str] = (), undecided: Iterable[str] = ()) -> None:
        super().__init__(fitting)
        self.undecided = list(undecided)

    @classmethod
    def among(cls, answers: Iterable[tuple[str, bool | None]]) -> Self:
        """Sort agents by whether they fit; None is undecided."""
        known = list(answers)
        return cls(
            [name for name, fits in known if fits], [name for name, fits in known if fits is None]
        )


@attrs.frozen(eq=False, slots=False)
class _Schema:
    """A schema of agents, with its answers beside those of takers.

    Arguments:
        schema: the schema that is sent, or taken.
        answers: how often what is sent is taken, by the schema that takes it. An answer is
            forgotten with the last agent of either schema.
        contents: contents that broke pairs of the registry.
    """

    schema: MessageBodySchema
    contents: Contents
    answers: "WeakKeyDictionary[_Schema, Answer]" = attrs.field(factory=WeakKeyDictionary)

    @cached_property
    def samples(self) -> Samples | None:
        """Messages that may be sent; None if no part says what is inside, and checks are quick."""
        if all(part.content_schema is None for part in self.schema):
            return None
        return Samples(self.schema, self.contents)

    @cached_property
    def lenient(self) -> MessageBodySchema:
        """The schema of a taker that ignores parts it does not know."""
        return MessageBodySchema([*self.schema, SchemaPart("/**"), SchemaPart()])


@attrs.frozen
class _Known:
    """An agent with its schemas, which it shares with agents of the same parts."""

    agent: Agent
    output: _Schema
    input: _Schema


class Registry(Mapping[str, Agent], metaclass=GuidedABC):
    """Agents by name, and which of them fit each other.

    It never changes, so threads may share it. What is answered of a schema that no agent has is
    forgotten with it.

    Arguments:
        agents: the agents, of different names.
        lenient: takers ignore parts they do not know.
        max_steps: the work a pair may take.

    Raises:
        InvalidSchema: two of the agents have one name.

    Examples:
        >>> from messagebody.schema import MessageBodySchema, SchemaPart
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> image = MessageBodySchema([(None, "image/png", True)])
        >>> registry = Registry([Agent("painter", text, image), Agent("poet", image, text)])
        >>> list(registry.pairs())
        [('painter', 'poet'), ('poet', 'painter')]

        >>> registry.to_directory("agents")
        >>> Registry.from_directory("agents").takers("poet")
        ['painter']
    """

    findings: tuple[Finding, ...] = ()
    """Problems of the files that it was read from."""
    places: Mapping[str, str] = MappingProxyType({})
    """The file of each agent that was read from one, by the name of the agent."""

    def __init__(
        self, agents: Iterable[Agent] = (), *, lenient: bool = False, max_steps: int = STEPS_A_PAIR
    ) -> None:
        if isinstance(agents, str | os.PathLike):
            raise InvalidArgument("agents in a list", agents, _READS)
        self._lenient, self._steps = lenient, max_steps
        self._schemas: WeakValueDictionary[frozenset[Any], _Schema] = WeakValueDictionary()
        self._contents: Contents = WeakKeyDictionary()
        wanted = _agents_in(agents)
        _require_different(wanted)
        self._entries = {
            agent.name: _Known(agent, self._schema_of(agent.output), self._schema_of(agent.input))
            for agent in wanted
        }

    @classmethod
    def from_directory(
        cls,
        directory: str | os.PathLike[str],
        *,
        lenient: bool = False,
        max_steps: int = STEPS_A_PAIR,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Read agents from JSON files, A2A cards, ACP manifests and tools of MCP among them.

        A file holds one agent, a list of them, or the tools of an MCP server as `tools/list`
        returns them; an agent without a name has the name of its file. One that can't be read, or
        has the name of another, is left out, and `findings` says which and why. If all files are
        lists of tools, they are lenient: who calls a tool takes its arguments, and nothing that
        stands beside.

        Arguments:
            directory: a directory, or one file.
            lenient: agents ignore parts they do not know.
            max_steps: the work a pair may take.
            limits: what to take before refusing.

        Raises:
            OSError: there is no such directory or file, or the one file can't be read.
        """
        return cls._of_files(read_agents(directory, limits), lenient=lenient, max_steps=max_steps)

    @classmethod
    def from_cards(
        cls,
        cards: Iterable[str] | os.PathLike[str],
        *,
        resolver: Resolver | None = None,
        lenient: bool = False,
        max_steps: int = STEPS_A_PAIR,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Read the agents at URLs, or in the files of a directory; see `from_directory`.

        Arguments:
            cards: the URLs of cards in a list, or a directory.
            resolver: reads the URLs, if it allows it.
            lenient: agents ignore parts they do not know.
            max_steps: the work a pair may take.
            limits: what to take before refusing.

        Raises:
            InvalidArgument: there are URLs and no resolver.
            OSError: there is no such directory or file, or the one file can't be read.
        """
        if isinstance(cards, str | os.PathLike):
            return cls.from_directory(cards, lenient=lenient, max_steps=max_steps, limits=limits)
        agents = read_cards(cards, resolver, limits)
        return cls._of_files(agents, lenient=lenient, max_steps=max_steps)

    @classmethod
    def _of_files(cls, agents: AgentFiles, *, lenient: bool, max_steps: int) -> Self:
        registry = cls(agents, lenient=lenient or agents.are_tools, max_steps=max_steps)
        registry.findings = tuple(agents.findings)
        registry.places = agents.places
        return registry

    def to_directory(self, directory: str | os.PathLike[str]) -> None:
        """Write a JSON file for each agent, which `from_directory` reads.

        A file that holds nothing but an agent of the same name is replaced. Other files stay as
        they are, also those of agents that the registry does not have.

        Arguments:
            directory: the directory, which is made if it is not there.

        Raises:
            StoreError: a file of something else has the name that an agent's file would have;
                nothing was written.
            OSError: a file can't be written.
        """
        place = Path(require_path(directory))
        place.mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        files = []
        for agent in self.values():
            name = safe_name(f"{agent.name.replace('/', '_')}.json", taken=taken)
            taken.add(name)
            files.append((place / name[1:], agent))
        for path, agent in files:
            if path.exists() and not _holds(path, agent.name):
                raise StoreError(f"{quote(path.name)} is there and holds something else")
        for path, agent in files:
            text = exact_json.indented(exact_json.dumps(agent.to_dict()), 2)
            replace_file(path, text.encode() + b"\n")

    # Agents

    def __getitem__(self, name: str) -> Agent:
        return self._entry(name).agent

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    if not TYPE_CHECKING:  # a type checker would assume that a registry has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __repr__(self) -> str:
        return f"Registry({count_of(len(self), 'agent')})"

    def _entry(self, name: str) -> _Known:
        if name not in self._entries:
            hint = did_you_mean(name, self._entries) if isinstance(name, str) else ""
            raise AgentNotFound(name, hint)
        return self._entries[name]

    def _schema_of(self, schema: MessageBodySchema) -> _Schema:
        """Return the one record of all schemas that have the same parts, in whatever order."""
        # Descriptions don't decide which bodies fit.
        parts = frozenset(
            (part.name, part.content_type, part.required, part.content_schema) for part in schema
        )
        return self._schemas.setdefault(parts, _Schema(schema, self._contents))

    # Pairs

    def _fits(self, sent: _Schema, taken: _Schema) -> bool | None:
        """Return whether everything sent is taken; None if the budget ended first."""
        if taken not in sent.answers and self._is_refused(sent, taken):
            sent.answers[taken] = _REFUSED
        verdict, parts = sent.answers.get(taken) or self._answer(sent, taken)
        # The budget may end when a message that breaks the pair is known.
        if parts is not None:
            return False
        return True if verdict is Verdict.ALWAYS else None

    def _is_refused(self, sent: _Schema, taken: _Schema) -> bool:
        """Return whether a sample shows that not everything sent is taken."""
        taker = taken.lenient if self._lenient else taken.schema
        return sent.samples is not None and sent.samples.is_refused_by(taker)

    def _answer(self, sent: _Schema, taken: _Schema) -> Answer:
        known = sent.answers.get(taken, _REFUSED)
        if known is _REFUSED:
            found = check(sent.schema, taken.schema, lenient=self._lenient, max_steps=self._steps)
            parts = found.counterexample_types
            named = None if parts is None else tuple((p.name, p.content_type) for p in parts)
            known = sent.answers[taken] = found.verdict, named
            if sent.samples is not None and found.counterexample is not None:
                sent.samples.learn(found.counterexample)
        return known

    def check(self, sender: str, taker: str) -> AgentCompatibility:
        """Return the full answer for a pair of agents, with bodies and reasons.

        It has an answer for each kind of exchange, too.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return check(self[sender], self[taker], lenient=self._lenient, max_steps=self._steps)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) that surely fit, an agent with itself included."""
        for sender, neighbours in self._takers_by_sender():
            yield from ((sender, taker) for taker in neighbours)

    def undecided(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) for which the budget of `max_steps` a pair ended.

        All pairs that neither this nor `pairs` yields do not fit.
        """
        for sender, neighbours in self._takers_by_sender():
            yield from ((sender, taker) for taker in neighbours.undecided)

    def _takers_by_sender(self) -> Iterator[tuple[str, Neighbours]]:
        """Yield each agent with its takers."""
        rows: dict[_Schema, Neighbours] = {}
        for name, entry in self._entries.items():
            if entry.output not in rows:
                rows[entry.output] = self._takers(entry.output)
            yield name, rows[entry.output]

    def _takers(self, output: _Schema) -> Neighbours:
        return Neighbours.among(
            (name, self._fits(output, entry.input)) for name, entry in self._entries.items()
        )

    def takers(self, of: str | MessageBodySchema) -> Neighbours:
        """Return the agents that accept every body an agent sends, or every body of a schema.

        Raises:
            AgentNotFound: there is no such agent.
        """
        return self._takers(self._entry(of).output if isinstance(of, str) else self._schema_of(of))

    def senders(self, of: str | MessageBodySchema) -> Neighbours:
        """Return the agents whose every body an agent, or a schema, accepts.

        Raises:
            AgentNotFound: there is no such agent.
        """
        taken = self._entry(of).input if isinstance(of, str) else self._schema_of(of)
        return Neighbours.among(
            (name, self._fits(entry.output, taken)) for name, entry in self._entries.items()
        )

    def unfed(self) -> list[str]:
        """Return the agents for which no other agent is certain to send valid input.

        Examples:
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> image = MessageBodySchema([(None, "image/png", True)])
            >>> Registry([Agent("painter", text, image), Agent("critic", image, image)]).unfed()
            ['painter']
        """
        # Feeding itself does not count: somebody has to send the first body.
        fed = {taker for sender, taker in self.pairs() if sender != taker}
        return [name for name in self if name not in fed]

    def impact(self, change: "Agent | Iterable[Agent] | Registry") -> Impact:
        """Return which pairs would be lost and gained if agents changed, several at once.

        Pairs without a changed agent stay as they are. A pair of an agent with itself is one, as in
        `pairs`.

        Arguments:
            change: an agent as it is to be, or several, each in the place of the one of its name;
                or a registry of all agents as they are to be.

        Examples:
            >>> text = MessageBodySchema([(None, "text/plain", True)])
            >>> html = MessageBodySchema([(None, "text/html", True)])
            >>> fleet = Registry([Agent("scout", html, text), Agent("writer", text, html)])
            >>> fleet.impact(Agent("scout", html, html)).lost
            (('scout', 'writer'),)
            >>> bool(fleet.impact([Agent("scout", html, html), Agent("writer", html, html)]))
            True
        """
        after = change if isinstance(change, Registry) else self._with_agents(change)
        changed = {name for name in {**self, **after} if self.get(name) != after.get(name)}
        pairs, exchanges = (
            compare_pairs(*each, after._is_left)
            for each in zip(self._pairs_of(changed), after._pairs_of(changed), strict=True)
        )
        return Impact(
            *pairs,
            *exchanges,
            tuple(name for name in self if name in changed and name in after),
            tuple(name for name in after if name not in self),
            tuple(name for name in self if name not in after),
            after=after.check,
        )

    def _is_left(self, pair: tuple[str, ...]) -> bool:
        """Return whether both agents of a pair are there, and the first speaks of its kind."""
        is_there = self.keys() >= {*pair[:2]}
        kinds = self[pair[0]].exchanges if is_there else {}
        return is_there and all(kinds.get(kind, Exchange()).sends is not None for kind in pair[2:])

    def _with_agents(self, change: Agent | Iterable[Agent]) -> "Registry":
        agents = _agents_in([change] if isinstance(change, Agent) else change)
        _require_different(agents)
        wanted = {**self, **{agent.name: agent for agent in agents}}
        return Registry(wanted.values(), lenient=self._lenient, max_steps=self._steps)

    def _pairs_of(self, names: set[str]) -> tuple[PairsFound, PairsFound]:
        """Return the pairs of some agents with all others, and the exchanges."""
        pairs, exchanges, entries = PairsFound(), PairsFound(), self._entries
        here = [name for name in entries if name in names]
        for sender, entry in entries.items():
            for taker in entries if sender in names else here:
                other = entries[taker]
                pairs.add((sender, taker), self._fits(entry.output, other.input))
                if sender != taker:
                    self._add_exchanges(exchanges, entry.agent, other.agent)
        return pairs, exchanges

    def _add_exchanges(self, found: PairsFound, speaker: Agent, taker: Agent) -> None:
        for kind in speaker.exchanges.keys() & taker.exchanges.keys():
            ends = (speaker.name, speaker.exchanges[kind]), (taker.name, taker.exchanges[kind])
            direction = check_direction(*ends, lenient=self._lenient, max_steps=self._steps)
            if direction is not None:
                is_open = direction.verdict is Verdict.UNDECIDED
                found.add((speaker.name, taker.name, kind), None if is_open else bool(direction))

    # Chains

    def route(self, sender: str, taker: str) -> list[str] | None:
        """Return the shortest chain of agents through which a message of one reaches another.

        Returns:
            The names from sender to taker, both included; None if no route leads there.

        Raises:
            AgentNotFound: there is no such agent.
        """
        for name in (sender, taker):
            self._entry(name)
        return self._shortest([sender], {taker})

    def chain(self, have: MessageBodySchema, want: MessageBodySchema) -> list[str] | None:
        """Return the shortest chain of agents from one schema to another.

        Arguments:
            have: what there is; `MessageBodySchema.infer(body)` for a body.
            want: the schema that is wanted.

        Returns:
            The names of agents in order; an empty list if no agent is needed; None if no chain
            leads there.
        """
        if check(have, want, lenient=self._lenient, max_steps=self._steps):
            return []
        return self._shortest(self.takers(have), set(self.senders(want)))

    def _shortest(self, start: Iterable[str], goals: set[str]) -> list[str] | None:
        """Return the shortest path from one of some agents to another, breadth first."""
        # By hand: a library needs the graph of all pairs, and a search sees only a few.
        before: dict[str, str | None] = dict.fromkeys(start)
        waiting = list(before)
        for name in waiting:  # which grows meanwhile
            if name in goals:
                return _path(before, name)
            for following in self._takers(self._entries[name].output):
                if following not in before:
                    before[following] = name
                    waiting.append(following)
        return None

    # Graphs

    def graph(self, verdicts: Iterable[Verdict] | None = None) -> AgentGraph:
        """Return the agents with an edge for each pair that always fits, or is undecided.

        Pairs that sometimes fit are in it, too, if they are at most two for each agent, with the
        parts of a message that breaks them.

        Arguments:
            verdicts: the verdicts of the pairs to return instead.
        """
        asked = None if verdicts is None else set(verdicts)
        entries = self._entries
        edges = [
            GraphEdge(sender, taker, verdict, label=_counterexample_label(parts))
            for sender, sent in entries.items()
            for taker, taken in entries.items()
            for verdict, parts in [self._answer(sent.output, taken.input)]
            # Few agents are meant to feed themselves.
            if verdict is Verdict.ALWAYS or sender != taker
            if verdict in (set(Verdict) - {Verdict.NEVER} if asked is None else asked)
        ]
        unsure = sum(edge.verdict is Verdict.SOMETIMES for edge in edges)
        if asked is None and unsure > _FEW * len(entries):
            edges = [edge for edge in edges if edge.verdict is not Verdict.SOMETIMES]
        return AgentGraph(entries, edges)

    def to_mermaid(self) -> str:
        """Return the graph in the language of Mermaid, which GitHub draws; see `graph`."""
        return self.graph().to_mermaid()

    # Exchanges

    def broken_exchanges(
        self, route: Iterable[str] | None = None
    ) -> Iterator[tuple[str, str, str]]:
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
                    yield from (
                        (each.speaker, each.taker, answer.kind)
                        for each in answer.directions
                        if not each
                    )


_READS: Final = "Registry.from_directory(…) reads their files"


def _agents_in(agents: Iterable[Agent]) -> list[Agent]:
    wanted = list(require_iterable(agents, "agents in a list", hint=_READS))
    for each in wanted:
        if not isinstance(each, Agent):
            raise InvalidArgument("an Agent", each, "Agent.from_dict(…) reads parsed JSON")
    return wanted


def _require_different(agents: Iterable[Agent]) -> None:
    seen: set[str] = set()
    for agent in agents:
        if agent.name in seen:
            raise InvalidSchema(f"two agents are called {quote(agent.name)}")
        seen.add(agent.name)


def _holds(path: Path, name: str) -> bool:
    """Return whether a file holds nothing but an agent of this name."""
    try:
        data = exact_json.loads(
            read_regular(path, DEFAULT_LIMITS.json_bytes), depth=DEFAULT_LIMITS.depth
        )
        return Agent.from_dict(data, name=path.stem).name == name
    except (InvalidSchema, ValueError):
        return False


def _path(before: Mapping[str, str | None], last: str) -> list[str]:
    found: list[str] = []
    step: str | None = last
    while step is not None:
        found.append(step)
        step = before[step]
    return found[::-1]


def _counterexample_label(parts: Iterable[tuple[str | None, str]] | None) -> str:
    """Return the parts of a message that breaks a pair in words; "" if there is none."""
    if parts is None:
        return ""
    words = [" ".join([*([quote(name)] if name else []), kind]) for name, kind in parts]
    return f"breaks with {', '.join(words) or 'an empty message'}"
