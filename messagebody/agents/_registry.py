"""Registry of agents in memory; `Registry.open` gives one that a file keeps."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Self

from messagebody._base.guards import require_iterable
from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.text import count_of, quote
from messagebody.agents._agents import Agent, read_agents
from messagebody.agents._blocks import Settings
from messagebody.agents._matrix import Row
from messagebody.agents._questions import Neighbours, Questions, not_found
from messagebody.agents._stored import STEPS_A_PAIR, StoredRegistry
from messagebody.agents._verdicts import Verdicts
from messagebody.compatibility._solver.languages import members
from messagebody.errors import InvalidArgument, InvalidSchema
from messagebody.findings import Finding
from messagebody.schema import MessageBodySchema

_UNUSED: Final = 4
"""How many schemas may be shared for each agent: it has two, and others may have gone."""


class Registry(Questions):
    """Agents by name, in memory, and what follows from their schemas.

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

    findings: tuple[Finding, ...] = ()
    """What is wrong in the files that it was read from."""

    def __init__(
        self, agents: Iterable[Agent], *, lenient: bool = False, steps: int = STEPS_A_PAIR
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
        self._verdicts = Verdicts(Settings(lenient, steps))

    @staticmethod
    def open(
        path: str | os.PathLike[str], *, lenient: bool = False, steps: int = STEPS_A_PAIR
    ) -> StoredRegistry:
        """Open a registry in a file, which keeps the verdict of each pair; see `StoredRegistry`.

        Examples:
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> with Registry.open("agents.db") as registry:
            ...     registry.put(Agent("echo", text, text))
            ...     list(registry.pairs())
            [('echo', 'echo')]
        """
        return StoredRegistry(path, lenient=lenient, steps=steps)

    @classmethod
    def from_directory(
        cls,
        directory: str | os.PathLike[str],
        *,
        lenient: bool = False,
        steps: int = STEPS_A_PAIR,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Read agents from the JSON files of a directory, A2A cards and ACP manifests among them.

        What can't be read is left out, and `findings` says so; see `read_agents`.

        Raises:
            OSError: a file can't be read.
        """
        agents = read_agents(directory, limits=limits)
        registry = cls(agents, lenient=lenient, steps=steps)
        registry.findings = tuple(agents.findings)
        return registry

    def __getitem__(self, name: str) -> Agent:
        if name not in self._agents:
            raise not_found(name, self._agents)
        return self._agents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)

    def __repr__(self) -> str:
        return f"Registry({count_of(len(self), 'agent')})"

    def with_agent(self, agent: Agent) -> Self:
        """Return a registry with an agent added, or in the place of one of its name.

        What is known of pairs is known to both, so only the pairs of this agent are decided.
        """
        changed = type(self)(
            {**self._agents, agent.name: agent}.values(), lenient=self._lenient, steps=self._steps
        )
        changed.findings = self.findings
        # Else what is shared would keep the schemas of all agents that were ever replaced.
        if len(self._verdicts) <= _UNUSED * len(changed):
            changed._verdicts = self._verdicts
            numbers = dict(zip(self._agents, self._numbers, strict=True))
            numbers[agent.name] = self._verdicts.add(agent.output, agent.input)
            changed._numbers = [*numbers.values()]
        return changed

    def _takers(self, output: MessageBodySchema) -> Neighbours:
        return self._named(self._taking, self._verdicts.row(output))

    def _feeders(self, taken: MessageBodySchema) -> Neighbours:
        return self._named(self._sending, self._verdicts.column(taken))

    def _named(self, classes: Mapping[int, list[int]], row: Row) -> Neighbours:
        def named(numbers: int) -> list[str]:
            places = [at for number in members(numbers) for at in classes.get(number, ())]
            return [self._names[at] for at in sorted(places)]

        return Neighbours(named(row.fitting), named(row.undecided))

    @cached_property
    def _names(self) -> list[str]:
        return list(self)

    @cached_property
    def _numbers(self) -> list[tuple[int, int]]:
        """The numbers of the output and the input of each agent, in order."""
        return [self._verdicts.add(agent.output, agent.input) for agent in self.values()]

    @cached_property
    def _sending(self) -> dict[int, list[int]]:
        return _places(output for output, _ in self._numbers)

    @cached_property
    def _taking(self) -> dict[int, list[int]]:
        return _places(taken for _, taken in self._numbers)


def _places(numbers: Iterable[int]) -> dict[int, list[int]]:
    """Return the places of each number."""
    found: dict[int, list[int]] = defaultdict(list)
    for place, number in enumerate(numbers):
        found[number].append(place)
    return found
