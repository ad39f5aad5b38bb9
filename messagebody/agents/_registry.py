"""Registry of agents in SQLite, in memory or in a file: the verdict of each pair is found once."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from datetime import UTC, datetime
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn, Self

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    GuidedABC,
    Limits,
    count_of,
    exact_json,
    missing_attribute,
    quote,
    require_executor,
    require_iterable,
    require_path,
)
from messagebody.agents import _classes
from messagebody.agents._agents import Agent, read_agents, read_cards
from messagebody.agents._blocks import PairSettings
from messagebody.agents._classes import Classes, Side
from messagebody.agents._matrix import VerdictRow
from messagebody.agents._questions import Neighbours, Questions, not_found
from messagebody.agents._registry_file import MEMORY, RegistryFile
from messagebody.compatibility._solver.languages import members
from messagebody.errors import InvalidArgument, InvalidSchema
from messagebody.findings import Finding
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

STEPS_A_PAIR: Final = 50_000
"""The work that a pair may take."""

# Kept in the file: another version would read verdicts that mean something else.
_FORMAT: Final = "1"
_LAST_PLACE: Final = 1 << 62
"""Places fit into an integer of SQLite."""
_TABLES: Final = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE agents (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, added REAL NOT NULL, data TEXT NOT NULL,
    output INTEGER NOT NULL, input INTEGER NOT NULL
);
{_classes.TABLES}"""


@attrs.frozen
class _Kept:
    """The record of an agent in memory.

    Arguments:
        place: its place in the order of the registry.
        output: the class of its output.
        input: the class of its input.
    """

    place: int
    output: int
    input: int


class Registry(Questions, metaclass=GuidedABC):
    """Agents by name, and which of them fit each other; in memory, or kept in a file of SQLite.

    Each pair is decided once, when an agent is added or changed. Several processes may use one
    file, and each sees what the others wrote. Threads may share a registry.

    Arguments:
        agents: agents to add, of different names.
        path: the file, which is created if it does not exist.
        lenient: takers ignore parts they do not know.
        steps: the work a pair may take.

    Raises:
        InvalidSchema: two of the agents have one name.
        StoreError: the file can't be opened, or holds something else.
        InvalidArgument: the file was made with other settings.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> image = MessageBodySchema([(None, "image/png", True)])
        >>> registry = Registry([Agent("painter", text, image), Agent("poet", image, text)])
        >>> list(registry.pairs())
        [('painter', 'poet'), ('poet', 'painter')]

        >>> with Registry(path="agents.db") as registry:
        ...     registry.put(Agent("echo", text, text))
        >>> with Registry(path="agents.db") as registry:
        ...     registry.takers("echo")
        ['echo']
    """

    findings: tuple[Finding, ...] = ()
    """Problems of the files that it was read from."""

    def __init__(
        self,
        agents: Iterable[Agent] = (),
        *,
        path: str | os.PathLike[str] = MEMORY,
        lenient: bool = False,
        steps: int = STEPS_A_PAIR,
    ) -> None:
        wanted = _agents_in(agents)
        _require_different(wanted)
        self._lenient, self._steps = lenient, steps
        self._settings = PairSettings(lenient, steps)
        self._lock = RLock()
        self._version = -1
        self._agents: dict[str, _Kept] = {}
        # Agents that were put or asked for: reading one takes ten times as long as a question.
        self._read: dict[str, Agent] = {}
        stated = {"format": _FORMAT, "lenient": str(lenient), "steps": str(steps)}
        self._file = RegistryFile(os.fspath(require_path(path)), _TABLES, stated)
        self._classes = Classes(self._file, self._settings)
        try:
            with self._file.reading():
                self._load()
                self._check_settings(stated)
            if wanted:
                self.put_all(wanted)
        except BaseException:
            self._file.close()
            raise

    @classmethod
    def from_directory(
        cls,
        directory: str | os.PathLike[str],
        *,
        lenient: bool = False,
        steps: int = STEPS_A_PAIR,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Read agents from JSON files, A2A cards, ACP manifests and tools of MCP among them.

        What can't be read is left out, and `findings` says so; see `read_agents`. If all files are
        lists of tools, they are lenient: who calls a tool takes its arguments, and nothing that
        stands beside.

        Arguments:
            directory: a directory, or one file.
            lenient: agents ignore parts they do not know.
            steps: the work a pair may take.
            limits: what to take before refusing.

        Raises:
            OSError: there is no such directory or file, or the one file can't be read.
        """
        agents = read_agents(directory, limits=limits)
        registry = cls(agents, lenient=lenient or agents.are_tools, steps=steps)
        registry.findings = tuple(agents.findings)
        return registry

    @classmethod
    def from_cards(
        cls,
        where: Iterable[str] | os.PathLike[str],
        *,
        resolver: Resolver | None = None,
        lenient: bool = False,
        steps: int = STEPS_A_PAIR,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Read the agents at URLs, or in the files of a directory; see `from_directory`.

        Arguments:
            where: the URLs of cards in a list, or a directory.
            resolver: reads the URLs, if it allows it.
            lenient: agents ignore parts they do not know.
            steps: the work a pair may take.
            limits: what to take before refusing.

        Raises:
            InvalidArgument: there are URLs and no resolver.
            OSError: there is no such directory or file, or the one file can't be read.
        """
        if isinstance(where, str | os.PathLike):
            return cls.from_directory(where, lenient=lenient, steps=steps, limits=limits)
        agents = read_cards(where, resolver=resolver, limits=limits)
        registry = cls(agents, lenient=lenient or agents.are_tools, steps=steps)
        registry.findings = tuple(agents.findings)
        return registry

    def close(self) -> None:
        """Close the file; a registry in memory is gone then."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    # Agents

    def __getitem__(self, name: str) -> Agent:
        with self._current():
            self._kept_of(name)
            if name not in self._read:
                self._read[name] = self._read_agent(name)
            return self._read[name]

    def __iter__(self) -> Iterator[str]:
        with self._current():
            return iter(self._in_order())

    def __len__(self) -> int:
        with self._current():
            return len(self._agents)

    def __contains__(self, name: object) -> bool:
        with self._current():
            return name in self._agents

    if not TYPE_CHECKING:  # a type checker would assume that a registry has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __repr__(self) -> str:
        return f"Registry({count_of(len(self), 'agent')})"

    def put(self, agent: Agent) -> None:
        """Add an agent, or put it in the place of the one of its name.

        Raises:
            StoreError: the file can't be written.
        """
        self.put_all([agent])

    def put_all(self, agents: Iterable[Agent], *, executor: Executor | None = None) -> None:
        """Add or replace several agents, all of them or none.

        Arguments:
            agents: the agents.
            executor: decides the new pairs in blocks, for example a `ProcessPoolExecutor` or the
                `get_executor()` of a Dask client; they are decided here if it is None.

        Raises:
            InvalidArgument: one of them is not an agent.
            MessageBodyError: the executor failed, for example because a worker died.
            StoreError: the file can't be written.
        """
        wanted = _agents_in(agents)
        require_executor(executor)
        with self._changing():
            # Inputs first: then outputs, of which one is compared with all inputs at once.
            inputs = self._classes.numbers("input", [agent.input for agent in wanted], executor)
            outputs = self._classes.numbers("output", [agent.output for agent in wanted], executor)
            for agent, output, taken in zip(wanted, outputs, inputs, strict=True):
                self._set(agent, output, taken)
            self._forget_unused()

    def remove(self, name: str) -> None:
        """Remove an agent.

        Raises:
            AgentNotFound: there is no such agent.
        """
        with self._changing():
            kept = self._kept_of(name)
            self._classes.leave(name, kept.output, kept.input)
            del self._agents[name]
            self._read.pop(name, None)
            self._file.execute("DELETE FROM agents WHERE name = ?", [name])
            self._forget_unused()

    def added(self, name: str) -> datetime:
        """Return when an agent was added, or replaced last.

        Raises:
            AgentNotFound: there is no such agent.
        """
        with self._current():
            query = "SELECT added FROM agents WHERE name = ?"
            for (seconds,) in self._file.rows(query, [name], kinds=(float,)):
                try:
                    return datetime.fromtimestamp(seconds, UTC)
                except (OSError, OverflowError, ValueError) as error:
                    self._file.refuse(f"not a time: {error}", error)
            raise not_found(name, self._agents)

    def _read_agent(self, name: str) -> Agent:
        query = "SELECT data FROM agents WHERE name = ?"
        for (text,) in self._file.rows(query, [name], kinds=(str,)):
            try:
                agent = Agent.from_dict(self._file.parsed(text))
            except InvalidSchema as error:
                self._file.refuse(str(error), error)
            if agent.name != name:
                self._file.refuse(f"the agent {quote(name)} has another name in its data")
            return agent
        raise not_found(name, self._agents)

    def _in_order(self) -> list[str]:
        return sorted(self._agents, key=lambda name: self._agents[name].place)

    def _kept_of(self, name: str) -> _Kept:
        if name not in self._agents:
            raise not_found(name, self._agents)
        return self._agents[name]

    def _set(self, agent: Agent, output: int, taken: int) -> None:
        before = self._agents.get(agent.name)
        place = self._next_place if before is None else before.place
        self._next_place += before is None
        if before is not None:
            self._classes.leave(agent.name, before.output, before.input)
        self._agents[agent.name] = _Kept(place, output, taken)
        self._read[agent.name] = agent
        self._classes.join(agent.name, output, taken)
        data = exact_json.dumps(agent.to_dict())
        self._file.execute(
            "INSERT OR REPLACE INTO agents VALUES (?, ?, ?, ?, ?, ?)",
            [agent.name, place, time.time(), data, output, taken],
        )

    def _forget_unused(self) -> None:
        """Remove the classes that no agent has any more: their numbers are reused."""
        for _ in self._classes.forget_unused():
            pass

    # Answers

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) that surely fit, an agent with itself included."""
        return self._pairs(lambda row: row.fitting)

    def undecided(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs (sender, taker) for which the budget of `steps` a pair ended.

        All pairs that neither this nor `pairs` yields do not fit.
        """
        return self._pairs(lambda row: row.undecided)

    def _pairs(self, kind: Callable[[VerdictRow], int]) -> Iterator[tuple[str, str]]:
        """Yield pairs as they are now: the registry may change while they are read."""
        with self._current():
            rows = self._classes.rows()
            places = {name: kept.place for name, kept in self._agents.items()}
            taking = {number: [*names] for number, names in self._classes.inputs.names.items()}
            senders = [(name, rows[self._agents[name].output]) for name in self._in_order()]
        for sender, row in senders:
            found = (name for number in members(kind(row)) for name in taking[number])
            for taker in sorted(found, key=places.__getitem__):
                yield sender, taker

    def _takers_of(self, name: str) -> Neighbours:
        with self._current():
            classes = self._classes
            return self._named(classes.inputs, classes.row("output", self._kept_of(name).output))

    def _takers(self, output: MessageBodySchema) -> Neighbours:
        with self._current():
            return self._named(self._classes.inputs, self._classes.answer("output", output))

    def _feeders(self, taken: MessageBodySchema) -> Neighbours:
        with self._current():
            return self._named(self._classes.outputs, self._classes.answer("input", taken))

    def _named(self, side: Side, row: VerdictRow) -> Neighbours:
        """Return the agents of the classes in a row."""

        def named(classes: int) -> list[str]:
            found = [name for number in members(classes) for name in side.names.get(number, ())]
            return sorted(found, key=lambda name: self._agents[name].place)

        return Neighbours(named(row.fitting), named(row.undecided))

    # The file

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        """Keep other threads out, and read everything again if another process has written."""
        with self._lock:
            # Changed only by other connections, so that what this one writes is not read again.
            if self._file.version() != self._version:
                self._load()
            yield

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Write all changes of a block, or none of them."""
        with self._lock:
            try:
                with self._file.changing(), self._current():
                    yield
            except BaseException:
                self._load()  # memory may hold half of the change
                raise

    def _load(self) -> None:
        # At one moment: else an agent may name a class that was not there yet.
        with self._file.reading():
            version = self._file.version()
            self._file.check()
            self._classes.load()
            self._load_agents()
        self._version = version

    def _load_agents(self) -> None:
        self._agents, self._read = {}, {}
        query = "SELECT name, place, output, input FROM agents ORDER BY place"
        for name, *kept in self._file.rows(query, kinds=(str, int, int, int)):
            place, output, taken = kept
            known = self._classes.has(output, taken)
            if not known or not 0 <= place < _LAST_PLACE or name in self._agents:
                self._file.refuse(f"the agent {quote(name)} has no class or no place")
            self._agents[name] = _Kept(place, output, taken)
            self._classes.join(name, output, taken)
        self._next_place = max((kept.place for kept in self._agents.values()), default=-1) + 1

    def _check_settings(self, wanted: dict[str, str]) -> None:
        query = "SELECT name, value FROM settings"
        stated = dict(self._file.rows(query, kinds=(str, str)))
        for name, value in wanted.items():
            if stated.get(name) != value:
                was = quote(stated.get(name), limit=60).strip("'")
                got = f"{name}={value} for a file that was made with {name}={was}"
                raise InvalidArgument("the settings that the file was made with", got=got)


_READS: Final = (
    "Registry.from_directory(…) reads their files, Registry(path=…) the file of a registry"
)


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
