"""A workflow: agents, and edges with steps between them."""

import graphlib
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    DEFAULT_STEPS,
    Budget,
    Guided,
    Limits,
    MessageBody,
    count_of,
    did_you_mean,
    in_document,
    missing_attribute,
    quote,
    read_document,
    require_iterable,
    require_limits,
    require_resolver,
    strict_json,
)
from messagebody.agents import Agent, AgentGraph, GraphEdge
from messagebody.errors import InvalidArgument, InvalidWorkflow, MessageBodyError
from messagebody.globs import name_pattern
from messagebody.storage import Resolver
from messagebody.workflows._adaptation import Adaptation, FoundSteps, steps_for
from messagebody.workflows._answers import Edge, Flow, WorkflowAnswer, step_text
from messagebody.workflows._flows import flow
from messagebody.workflows._graphs import read_graph
from messagebody.workflows._inspection import Incoming, answer_for, groups
from messagebody.workflows._steps import WorkflowStep, merged, read_step

_MEMBERS: Final = {"agents", "edges", "never"}


@attrs.frozen(init=False)
class Workflow(metaclass=Guided):
    """Agents, and edges with steps between them.

    Several edges into one agent are merged: the agent gets the parts of all that arrives.

    Arguments:
        agents: the agents.
        edges: for each edge the name of the agent that sends, the name of the one that takes, and
            the steps in between, if there are any; True at the end if its messages come alone, and
            not together with those of other edges.
        never: what must not flow: pairs of a pattern of names and an agent; see `flows`.

    Raises:
        InvalidArgument: an agent, an edge or a pair has another form.
        InvalidWorkflow: two agents have one name, or an edge names an agent that is not there.

    Examples:
        >>> from messagebody import Agent, MessageBodySchema
        >>> from messagebody.workflows import mount
        >>> report = MessageBodySchema([("/report.md", "text/markdown", True)])
        >>> research = MessageBodySchema([("/research/**", "text/*")])
        >>> agents = [Agent("scout", report, report), Agent("writer", research, report)]
        >>> print(Workflow(agents, [("scout", "writer")]).check())
        'writer': never
          'scout' may send /report.md of text/markdown; 'writer' does not take it
            'scout' sends  /report.md text/markdown
        >>> bool(Workflow(agents, [("scout", "writer", [mount("/research")])]).check())
        True
    """

    agents: Mapping[str, Agent] = attrs.field(hash=False)
    edges: tuple[Edge, ...]
    never: tuple[tuple[str | None, str], ...] = ()

    def __init__(
        self,
        agents: Iterable[Agent],
        edges: Iterable[Any],
        *,
        never: Iterable[Sequence[str | None]] = (),
    ) -> None:
        named: dict[str, Agent] = {}
        for agent in require_iterable(agents, "agents"):
            if not isinstance(agent, Agent):
                raise InvalidArgument("an Agent", agent)
            if agent.name in named:
                raise InvalidWorkflow(f"two agents are called {quote(agent.name)}")
            named[agent.name] = agent
        listed = tuple(
            _edge(number, each, named)
            for number, each in enumerate(require_iterable(edges, "edges"))
        )
        rules = tuple(_rule(each, named) for each in require_iterable(never, "rules"))
        self.__attrs_init__(named, listed, rules)

    if not TYPE_CHECKING:  # a type checker would assume that it has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __str__(self) -> str:
        lines = [f"{', '.join(map(quote, self.agents))}: {count_of(len(self.edges), 'edge')}"]
        lines += [
            f"  {edge}{': ' if edge.steps else ''}{', '.join(map(step_text, edge.steps))}"
            for edge in self.edges
        ]
        return "\n".join(lines)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read a workflow from parsed JSON or TOML.

        Arguments:
            data: an object with `agents`, a list of agents as `Agent.from_dict` reads them;
                `edges`, a list of lists of source, target, steps, and true if its messages come
                alone; and if there are rules,
                `never`, a list of lists of a pattern and an agent.

        Raises:
            InvalidWorkflow: it has another form, or breaks the rules.
            InvalidArgument: a step has another form.
            InvalidSchema: an agent breaks the rules.
            InvalidName, InvalidPattern: a name or a pattern in a step breaks the rules.
        """
        match data:
            case {"agents": list(agents), "edges": list(edges)} if data.keys() <= _MEMBERS:
                return cls(map(Agent.from_dict, agents), edges, never=data.get("never", []))
        raise InvalidWorkflow(
            f"{_misshapen(data)}a workflow is an object with the lists 'agents' and 'edges', "
            "and maybe 'never'"
        )

    @classmethod
    def from_langgraph(
        cls,
        graph: Any,
        agents: Mapping[str, Agent],
        *,
        steps: Mapping[tuple[str, str], Iterable[WorkflowStep]] | None = None,
        never: Iterable[Sequence[str | None]] = (),
    ) -> Self:
        """Read the nodes and edges of a compiled graph of LangGraph.

        Messages come together if one edge waits for all of their nodes, or if these always run in
        the same step. All others come alone: what the graph decides at run time, and nodes that run
        in other steps. A `Command` is read where the node states its destinations.

        Arguments:
            graph: the compiled graph.
            agents: an agent for each of its nodes, by the name of the node.
            steps: what happens on an edge, by the names of its two nodes.
            never: what must not flow; see `Workflow`.

        Raises:
            InvalidArgument: it is no graph that can be drawn.
            InvalidWorkflow: a node has no agent, steps are for an edge that is not there, a branch
                does not say where it may go, or several groups of messages that come together lead
                to one node.
        """
        nodes, ways = read_graph(graph)
        if not isinstance(agents, Mapping):
            raise InvalidArgument("agents, by the names of nodes", agents)
        for node in nodes:
            _require_agent(node, agents, "no agent is given for the node")
            if not isinstance(agents[node], Agent):
                raise InvalidArgument("an Agent", agents[node])
        if not isinstance(steps, Mapping | None):
            raise InvalidArgument("steps, by pairs of names of nodes", steps)
        given = steps or {}
        edges = [
            Edge(source, target, given.get((source, target), ()), alone=alone)
            for source, target, alone in ways
        ]
        rest = [pair for pair in given if pair not in {way[:2] for way in ways}]
        if rest:
            pairs = ", ".join(" → ".join(map(quote, pair)) for pair in rest)
            raise InvalidWorkflow(f"steps are given for edges that are not there: {pairs}")
        named = [attrs.evolve(agents[node], name=node) for node in nodes]
        return cls(named, edges, never=never)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: Limits = DEFAULT_LIMITS,
        storage_options: Mapping[str, Any] | None = None,
        resolver: Resolver | None = None,
    ) -> Self:
        """Read a workflow from a file of JSON or TOML; see `from_dict`.

        Arguments:
            path: the file, or its URL in a store; TOML if it ends in `.toml`. The URL of a web
                server is read through the resolver.
            limits: the limits of a document.
            storage_options: the options of `open_store`, for the URL of a store.
            resolver: must allow the URL of a web server.

        Raises:
            InvalidWorkflow: the file is neither, or breaks the rules.
            InvalidArgument, InvalidSchema, InvalidName, InvalidPattern: see `from_dict`.
            OSError: the file can't be read.
            StoreError: the store or the server can't be read.
            UnsafeReference: the resolver does not allow the URL.
        """
        most = require_limits(limits).json_bytes
        data = read_document(path, most, storage_options, require_resolver(resolver))
        with in_document(path, data, InvalidWorkflow):
            return cls.decode(data, is_toml=f"{path}".endswith(".toml"), limits=limits)

    @classmethod
    def decode(
        cls, data: bytes | str, *, is_toml: bool = False, limits: Limits = DEFAULT_LIMITS
    ) -> Self:
        """Read a workflow from JSON or TOML; see `from_dict`.

        Arguments:
            data: the document.
            is_toml: whether it is TOML.
            limits: the limits of a document.

        Raises:
            InvalidWorkflow: it is neither, or breaks the rules.
            InvalidArgument, InvalidSchema, InvalidName, InvalidPattern: see `from_dict`.
        """
        if not isinstance(data, bytes | str):
            raise InvalidArgument("JSON or TOML, as bytes or text", data)
        if len(data) > limits.json_bytes:
            raise InvalidWorkflow(f"more than {limits.json_bytes:,} bytes (limit json_bytes)")
        return cls.from_dict(_toml(data, limits) if is_toml else _json(data, limits))

    def to_dict(self) -> dict[str, Any]:
        """Return the workflow as `from_dict` reads it.

        Raises:
            InvalidArgument: a step is a function, which no file can hold.
        """
        return {
            "agents": [agent.to_dict() for agent in self.agents.values()],
            "edges": [
                [edge.source, edge.target, [step.to_dict() for step in edge.steps]]
                + [True] * edge.alone
                for edge in self.edges
            ],
            **({"never": [list(rule) for rule in self.never]} if self.never else {}),
        }

    def check(self, *, max_steps: int = DEFAULT_STEPS) -> WorkflowAnswer:
        """Decide for each agent whether what reaches it is always valid for it.

        An agent may send any body that is valid for its output, whatever came in. *Always* and
        *never* are proved of all of them; *sometimes* is shown by messages. The answer is
        *undecided*, with a reason, if the budget of an agent ends first, or if neither was found:
        where a step is a message format, what arrives is no schema, or numbers that `mount` gives
        depend on the order of parts or on a rare type. Names may have any length for a proof; a
        step fails if one becomes longer than readers take.

        Arguments:
            max_steps: the budget of each agent; see `messagebody.check`.
        """
        found = {}
        for name, agent in self.agents.items():
            incoming = self.incoming(name)
            if incoming:
                found[name] = answer_for(agent, incoming, Budget(max_steps))
        leaks = [flow(self.agents, self.edges, *rule, Budget(max_steps)) for rule in self.never]
        return WorkflowAnswer(found, tuple(leak for leak in leaks if leak))

    def incoming(self, name: str) -> list[Incoming]:
        """Return the edges into an agent, with the schemas of what is sent along them."""
        return [
            Incoming(number, edge, self.agents[edge.source].output)
            for number, edge in enumerate(self.edges)
            if edge.target == name
        ]

    def suggest(self, agent: str, *, max_steps: int = DEFAULT_STEPS) -> Adaptation | None:
        """Return steps after which all that reaches an agent is valid for it.

        They are made of the names and types that schemas state, and proved before they are
        returned. Those that lose least of what the agent could take come first, then the fewest;
        `lost` of the suggestion says what no longer arrives. None if there are none, or if edges
        have steps of your own.

        Arguments:
            agent: the name of the agent.
            max_steps: the budget of all attempts together; see `messagebody.check`.

        Raises:
            InvalidWorkflow: there is no such agent.
        """
        _require_agent(agent, self.agents, "there is no agent")
        budget, found = Budget(max_steps), dict[int, FoundSteps]()
        for group in groups(self.incoming(agent)):
            added = steps_for(self.agents[agent].input, group, budget)
            if added is None:
                return None
            found |= added
        return Adaptation(agent, found)

    def apply(self, suggestion: Adaptation) -> Self:
        """Return the workflow with the steps of a suggestion.

        Examples:
            >>> from messagebody import Agent, MessageBodySchema
            >>> report = MessageBodySchema([("/report.md", "text/markdown", True)])
            >>> brief = MessageBodySchema([("/brief.md", "text/*", True)])
            >>> agents = [Agent("scout", report, report), Agent("writer", brief, brief)]
            >>> workflow = Workflow(agents, [("scout", "writer")])
            >>> better = workflow.apply(workflow.suggest("writer"))
            >>> better.edges[0].steps[0].to_dict(), bool(better.check())
            ({'rename': ['/report.md', '/brief.md']}, True)
        """
        if not isinstance(suggestion, Adaptation):
            hint = "" if suggestion is not None else "None of suggest: no steps were found"
            raise InvalidArgument("an Adaptation, as suggest returns it", suggestion, hint)
        edges = [
            attrs.evolve(edge, steps=edge.steps + suggestion.steps.get(number, ()))
            for number, edge in enumerate(self.edges)
        ]
        return type(self)(self.agents.values(), edges, never=self.never)

    def run(
        self,
        agents: Mapping[str, Callable[[MessageBody], MessageBody]],
        start: Mapping[str, MessageBody],
    ) -> dict[str, MessageBody]:
        """Run the steps between agents for real, and validate at each of them; for tests.

        Agents run when all that leads to them has run. What arrives is validated by their input,
        what they send by their output.

        Arguments:
            agents: what each agent does, by its name: called with what arrives.
            start: what the agents take that nothing leads to.

        Returns:
            What each agent sent.

        Raises:
            InvalidBody: a message is not valid; a note says where.
            DuplicateName: parts of two messages have one name; a note says where.
            InvalidWorkflow: an agent has nothing to do or to take, agents lead to themselves, or
                messages come alone, so that one of them would have to be chosen; or a message is
                for an agent that edges lead to, or that is not there.
            InvalidArgument: what an agent does is not a function.
        """
        for given in (agents, start):
            if not isinstance(given, Mapping):
                raise InvalidArgument("a mapping from the names of agents", given)
        if any(edge.alone for edge in self.edges):
            raise InvalidWorkflow("edges whose messages come alone can't run together")
        order = _in_order(self.agents, self.edges)
        self._require_all(agents, start)
        sent: dict[str, MessageBody] = {}
        for name in order:
            agent, incoming = self.agents[name], self.incoming(name)
            try:
                arrived = [each.edge.deliver(sent[each.edge.source]) for each in incoming]
                # What one agent does with its message is nothing to another one.
                body = merged(arrived if incoming else [start[name]])
                agent.input.validate(body)
                sent[name] = agents[name](body)
                agent.output.validate(sent[name])
            except MessageBodyError as error:
                error.add_note(f"at the agent {quote(name)}")
                raise
        return sent

    def _require_all(self, agents: Mapping[str, Any], start: Mapping[str, Any]) -> None:
        """Raise an error unless it is said what every agent does, and takes."""
        for name in start:
            _require_agent(name, self.agents, "there is no agent")
            if self.incoming(name):
                raise InvalidWorkflow(f"{quote(name)} takes what edges bring, and no other message")
        for name in self.agents:
            if name not in agents or not (name in start or self.incoming(name)):
                missing = "does" if name not in agents else "takes"
                raise InvalidWorkflow(f"it is not said what the agent {quote(name)} {missing}")
            if not callable(agents[name]):
                expected = f"a function for the agent {quote(name)}"
                raise InvalidArgument(expected, agents[name])

    def flows(self, names: str | None, to: str, *, max_steps: int = DEFAULT_STEPS) -> Flow:
        """Decide whether a part that some agent gives a certain name can reach an agent.

        It can if steps lead it there, and each agent in between takes it and may send a part of
        that name and type: then it may pass it on unchanged, and so may a step of your own. What an
        agent copies into another part is not seen.

        Arguments:
            names: a pattern of names; None for parts without a name.
            to: the name of the agent.
            max_steps: the budget; see `messagebody.check`.

        Raises:
            InvalidWorkflow: there is no such agent.
            InvalidPattern: the pattern breaks the rules.

        Examples:
            >>> from messagebody import Agent, MessageBodySchema
            >>> from messagebody.workflows import drop
            >>> anything = MessageBodySchema([("/**",), (None,)])
            >>> agents = [Agent(name, anything, anything) for name in ("scout", "writer")]
            >>> print(Workflow(agents, [("scout", "writer")]).flows("/private/*", "writer"))
            parts '/private/*' can reach 'writer': 'scout' (/private/a text/plain) \
→ 'writer' (/private/a text/plain)
            >>> safe = Workflow(agents, [("scout", "writer", [drop("/private/**")])])
            >>> print(safe.flows("/private/*", "writer"))
            no parts '/private/*' can reach 'writer'
        """
        _require_agent(to, self.agents, "there is no agent")
        return flow(self.agents, self.edges, names, to, Budget(max_steps))

    def graph(self, answers: WorkflowAnswer | None = None) -> AgentGraph:
        """Return the agents and edges, each with its verdict and its steps, to be drawn.

        Arguments:
            answers: the answer to `check`; made if it is not given.
        """
        found = self.check() if answers is None else answers
        edges = [
            GraphEdge(
                edge.source,
                edge.target,
                found[edge.target].verdict_of(number),
                label="\n".join(map(step_text, edge.steps)),
                reason="\n".join(each.problem for each in found[edge.target].breaches_of(number)),
            )
            for number, edge in enumerate(self.edges)
        ]
        return AgentGraph(self.agents, edges)

    def to_mermaid(self, answers: WorkflowAnswer | None = None) -> str:
        """Return the graph in the language of Mermaid, which GitHub draws; see `graph`.

        Examples:
            >>> from messagebody import Agent, MessageBodySchema
            >>> report = MessageBodySchema([("/report.md", "text/markdown", True)])
            >>> agents = [Agent(name, report, report) for name in ("scout", "writer")]
            >>> print(Workflow(agents, [("scout", "writer")]).to_mermaid())
            flowchart LR
              n0["scout"] --> n1["writer"]
              linkStyle 0 stroke:#2da44e
        """
        return self.graph(answers).to_mermaid()


def _in_order(agents: Iterable[str], edges: Iterable[Edge]) -> list[str]:
    sorter = graphlib.TopologicalSorter({name: set[str]() for name in agents})
    for edge in edges:
        sorter.add(edge.target, edge.source)
    try:
        return list(sorter.static_order())
    except graphlib.CycleError as error:
        circle = " → ".join(map(quote, error.args[1]))
        raise InvalidWorkflow(f"agents lead to themselves: {circle}") from error


def _json(data: bytes | str, limits: Limits) -> Any:
    try:
        return strict_json.loads(data, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        hint = "; a file of TOML ends in '.toml'"
        raise InvalidWorkflow(f"{error}{hint}") from error


def _toml(data: bytes | str, limits: Limits) -> Any:
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    # A key stands in one line, and the parser takes the square of the number of its dots.
    if any(line.count(".") > limits.depth for line in text.split("\n")):
        raise InvalidWorkflow(f"a line has more than {limits.depth:,} dots (limit depth)")
    try:
        return tomllib.loads(data if isinstance(data, str) else data.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidWorkflow(f"it is not TOML: {error}") from error


def _edge(number: int, value: Any, agents: Mapping[str, Agent]) -> Edge:
    with _about_edge(number, value):
        edge = value if isinstance(value, Edge) else _made_edge(value)
        for step in edge.steps:
            if not isinstance(step, WorkflowStep):
                raise InvalidArgument("a step, such as mount('/research')", step)
        for name in (edge.source, edge.target):
            _require_agent(name, agents, "an edge names an agent that is not there:")
        return edge


def _made_edge(value: Any) -> Edge:
    """Return an edge from a list of what it takes, where steps may be as in a file."""
    match value:
        case [str(source), str(target)]:
            return Edge(source, target)
        case [str(source), str(target), [*steps]] | [str(source), str(target), [*steps], bool()]:
            read = [read_step(each) if isinstance(each, dict) else each for each in steps]
            return Edge(source, target, read, *value[3:])
    raise InvalidArgument("an edge: source, target, and a list of steps", value)


@contextmanager
def _about_edge(number: int, value: Any) -> Iterator[None]:
    """Note in an error which edge it is about."""
    try:
        yield
    except MessageBodyError as error:
        match value:
            case [str(source), str(target), *_]:
                error.add_note(f"in edge {number}: {quote(source)} → {quote(target)}")
            case _:
                error.add_note(f"in edge {number}")
        raise


def require_workflow(value: object) -> None:
    """Raise `InvalidArgument` unless something is a workflow."""
    if not isinstance(value, Workflow):
        raise InvalidArgument("a Workflow", value)


def _rule(value: Any, agents: Mapping[str, Agent]) -> tuple[str | None, str]:
    match value:
        case [None | str() as names, str(agent)]:
            if names is not None:
                name_pattern(names).require_matches()
            _require_agent(agent, agents, "a rule names an agent that is not there:")
            return names, agent
    raise InvalidArgument("a rule: a pattern of names, and an agent", value)


def _require_agent(name: str, agents: Mapping[str, Agent], problem: str) -> None:
    if not isinstance(name, str):
        raise InvalidArgument("the name of an agent", name)
    if name not in agents:
        raise InvalidWorkflow(f"{problem} {quote(name)}{did_you_mean(name, agents)}")


def _misshapen(data: Any) -> str:
    """Return in words what of an object is not as in a workflow, to be followed by what is."""
    if not isinstance(data, Mapping):
        return ""
    for member in data:
        if member not in _MEMBERS:
            return f"unknown member {quote(member)}{did_you_mean(f'{member}'[:50], _MEMBERS)}; "
    wrong = [each for each in ("agents", "edges") if not isinstance(data.get(each), list)]
    are = "are not lists" if wrong[1:] else "is not a list"
    return f"{' and '.join(map(quote, wrong))} {are}; "
