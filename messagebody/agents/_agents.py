"""Agents: a name and the schemas of what each takes and sends, as files state them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    Guided,
    Limits,
    exact_json,
    missing_attribute,
    quote,
    read_regular,
    redact_url,
    require_iterable,
    require_resolver,
    require_schema,
    schema_of_parts,
)
from messagebody.agents._cards import is_card, read_card
from messagebody.agents._exchanges import Exchange, exchanges_of, require_exchanges
from messagebody.agents._extension import (
    StatedSchemas,
    card_extension,
    extension_entry,
    tool_schemas,
)
from messagebody.agents._tools import BLOCKS, is_tool, read_tool, tools_in
from messagebody.errors import InvalidArgument, InvalidPattern, InvalidSchema, MessageBodyError
from messagebody.findings import Finding, pointer
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

_SCHEMAS: Final = ("input", "output", "notifications", "interrupts")
_SHORT: Final = {"notifications": "notification", "interrupts": "interrupt"}
"""The kinds of exchange for which there is a short form, by its name."""
_MEMBERS: Final = {"name", "description", "exchanges", *_SCHEMAS}


def _with_short(given: Any, agent: "Agent") -> dict[str, Exchange]:
    """Return the exchanges of an agent together with those that are stated in short."""
    found = require_exchanges(given)
    for member, kind in _SHORT.items():
        schema = getattr(agent, member)
        if schema is not None:
            found[kind] = attrs.evolve(found.get(kind, Exchange()), sends=schema)
    return found


def _schema(value: Any) -> MessageBodySchema:
    """Return a schema, or the one that `MessageBodySchema(…)` makes of parts."""
    return require_schema(schema_of_parts(value))  # type: ignore[no-any-return]


def _optional_schema(value: Any) -> MessageBodySchema | None:
    return None if value is None else _schema(value)


def _found(value: Any) -> tuple[Any, ...]:
    return tuple(require_iterable(value, "findings in a list", hint=""))


def _name(_: Any, __: Any, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise InvalidArgument("the name of an agent, a text that is not empty", value)


def _findings(_: Any, __: Any, value: Any) -> None:
    if not all(isinstance(each, Finding) for each in value):
        raise InvalidArgument("findings", value)


@attrs.frozen
class Agent(metaclass=Guided):
    """An agent: a name, and the schemas of the bodies that it takes and sends.

    Arguments:
        name: how the registry calls it.
        input: the schema of its input, or what `MessageBodySchema(…)` takes; so are the others.
        output: the schema of its answer.
        notifications: the schema of messages during its work; None if not stated. Short for the
            `sends` of the exchange `notification`.
        interrupts: the schema of messages that ask for an answer; None if not stated. Short for the
            `sends` of the exchange `interrupt`.
        exchanges: all other communication, by kind; those that are stated in short among them.
        findings: modes on its card that are no content types, by their place on the card.

    Raises:
        InvalidArgument: the name is no text, or a schema is something else.
        InvalidSchema: parts that are given for a schema break the rules.
    """

    name: str = attrs.field(validator=_name)
    input: MessageBodySchema = attrs.field(converter=_schema)
    output: MessageBodySchema = attrs.field(converter=_schema)
    notifications: MessageBodySchema | None = attrs.field(default=None, converter=_optional_schema)
    interrupts: MessageBodySchema | None = attrs.field(default=None, converter=_optional_schema)
    exchanges: Mapping[str, Exchange] = attrs.field(factory=dict, kw_only=True, hash=False)
    findings: tuple[Finding, ...] = attrs.field(
        default=(), kw_only=True, eq=False, converter=_found, validator=_findings
    )

    def __attrs_post_init__(self) -> None:
        # A frozen class sets what it derives from its other members like this.
        object.__setattr__(self, "exchanges", _with_short(self.exchanges, self))

    if not TYPE_CHECKING:  # a type checker would assume that it has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def to_dict(self) -> dict[str, Any]:
        """Return the agent as `from_dict` reads it."""
        schemas = {way: getattr(self, way) for way in _SCHEMAS}
        stated = {way: schema.to_dicts() for way, schema in schemas.items() if schema is not None}
        # An exchange that the short form says whole is written in it alone.
        short = {kind: Exchange(sends=getattr(self, member)) for member, kind in _SHORT.items()}
        rest = {k: each.to_dict() for k, each in self.exchanges.items() if each != short.get(k)}
        return {"name": self.name, **stated, **({"exchanges": rest} if rest else {})}

    @classmethod
    def from_dict(cls, data: Any, *, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read an agent from parsed JSON: its schemas, an agent card, an ACP manifest or a tool.

        The members are `name`, `input`, `output`, `notifications`, `interrupts`, `exchanges` (an
        object by kind, of objects with `sends`, `takes` and `answers`) and `description`. One of
        `input` and `output` may be missing: such an agent takes, or sends, nothing but empty
        bodies. A card is read as `from_card` does, a tool as `from_tool`.

        Arguments:
            data: the object.
            name: the name of an agent that states none.
            limits: what to take before refusing.

        Raises:
            InvalidSchema: it is neither, or a schema in it breaks the rules.
            InvalidCard: a place of a card can't be read.
        """
        stated = _name_of(data, name)
        if is_card(data):
            return cls.from_card(data, name=name)
        if is_tool(data):
            return cls.from_tool(data)
        try:
            if unknown := sorted(data.keys() - _MEMBERS, key=str):
                known = ", ".join(sorted(_MEMBERS))
                shown = ", ".join(map(quote, unknown))
                raise InvalidSchema(
                    f"unknown members {shown}; an agent has {known}{_kind_hint(data)}"
                )
            if not data.keys() & {"input", "output"}:
                # A schema part has a name too: read as an agent, it would fit everybody.
                raise InvalidSchema("an agent has an input, an output or both; here is neither")
            schemas = {way: _stated_schema(data, way, limits) for way in _SCHEMAS}
            nothing = MessageBodySchema()
            return cls(
                stated,
                schemas["input"] or nothing,
                schemas["output"] or nothing,
                schemas["notifications"],
                schemas["interrupts"],
                exchanges=exchanges_of(data.get("exchanges") or {}, limits=limits),
            )
        except (InvalidSchema, InvalidPattern) as error:
            raise InvalidSchema(f"agent {quote(stated)}: {error}") from error

    @classmethod
    def from_card(cls, card: Any, *, skill: str | None = None, name: str = "") -> Self:
        """Read an agent from an A2A agent card or an ACP manifest, as parsed JSON.

        Each of its modes is read as an unnamed part and as a named one; none is required. Some
        words that are no content types have a meaning, such as `text`. Of any other nothing is
        known: then an agent may send anything, and takes nothing more. `findings` names them all.

        A card with the extension that `extension` writes states schemas: then these are exact, and
        modes stand only for what it leaves out.

        Arguments:
            card: the object.
            skill: the id of the one skill that is used. Else the schemas are those of the card and
                of all skills together.
            name: the name of an agent that states none.

        Raises:
            InvalidCard: a place of it can't be read, or there is no such skill.

        Examples:
            >>> card = {"name": "painter", "defaultInputModes": ["text"],
            ...         "defaultOutputModes": ["image/png"], "skills": []}
            >>> painter = Agent.from_card(card)
            >>> painter.output
            MessageBodySchema(2 parts: image/png, '/**' image/png)
            >>> print(painter.findings[0])  # doctest: +ELLIPSIS
            /defaultInputModes/0: the mode 'text' is no content type; it is read as text/plain (...)
        """
        agent_name = _name_of(card, name)
        modes = read_card(card, agent=agent_name, skill=skill)
        exact = card_extension(card, agent=agent_name, skill=skill)
        return cls(
            agent_name,
            modes.input if exact.input is None else exact.input,
            modes.output if exact.output is None else exact.output,
            exchanges=exact.exchanges,
            findings=modes.findings,
        )

    def extension(
        self, *, skills: "Mapping[str, Agent] | None" = None, required: bool = False
    ) -> dict[str, Any]:
        """Return the entry of the extensions of an A2A card that states the schemas.

        `from_card` reads it.

        Arguments:
            skills: for skills with schemas of their own, an agent by the id of the skill.
            required: whether clients have to declare the extension.

        Raises:
            InvalidArgument: `skills` are no agents, or `required` is neither True nor False.

        Examples:
            >>> text = MessageBodySchema([(None, "text/*", True)])
            >>> entry = Agent("echo", text, text).extension()
            >>> entry["uri"], entry["params"]["input"]
            ('https://messagebody.readthedocs.io/a2a/schemas/1', \
[{'contentType': 'text/*', 'required': True}])
            >>> card = {"name": "echo", "defaultInputModes": ["text/plain"], "skills": [],
            ...         "defaultOutputModes": ["text/plain"],
            ...         "capabilities": {"extensions": [entry]}}
            >>> Agent.from_card(card).input == text
            True
        """
        for each in (skills or {}).values():
            if not isinstance(each, Agent):
                raise InvalidArgument("an Agent for each skill", each)
        own = {each: agent._statement() for each, agent in (skills or {}).items()}
        return extension_entry(self._statement(), own, required=required)

    def _statement(self) -> StatedSchemas:
        return StatedSchemas(self.input, self.output, self.exchanges)

    @classmethod
    def from_mcp_tool(cls, tool: Any) -> Self:
        """Read a tool of an MCP server: as `from_tool`, and by what MCP says of its results.

        Where its `_meta` or `annotations` name schemas of this package, these are exact. A tool
        that states no schema of its result sends blocks: texts, pictures, sounds and resources.

        Arguments:
            tool: a tool of `tools/list`, as parsed JSON or an object of the SDK.

        Raises:
            InvalidSchema: it is none, or a schema in it is not legal.
            MissingDependency: the extra `json` is not installed.

        Examples:
            >>> tool = {"name": "draw", "inputSchema": {"type": "object"}}
            >>> Agent.from_mcp_tool(tool).output
            MessageBodySchema(2 parts: {text,image,audio}/*, '/**' */*)
        """
        made, found = cls.from_tool(tool), read_tool(tool)
        exact = tool_schemas(found.members, name=found.name)
        blocks = MessageBodySchema(BLOCKS) if found.sent is None else made.output
        return cls(
            made.name,
            made.input if exact.input is None else exact.input,
            blocks if exact.output is None else exact.output,
            exchanges=exact.exchanges,
        )

    @classmethod
    def from_tool(cls, tool: Any) -> Self:
        """Read a tool: an agent that takes arguments and sends a result.

        It takes an unnamed part of JSON with the schema of the arguments. It sends one with the
        schema of the result if the tool states it, and perhaps texts, media and resources beside
        it; else anything. Results that report an error are not meant.

        Arguments:
            tool: a tool of an MCP server, a function of OpenAI, Anthropic or Gemini, as parsed JSON
                or an object of their SDKs, or a tool of LangChain or pydantic-ai.

        Raises:
            InvalidSchema: it is none of these, or a schema in it is not legal.
            MissingDependency: the extra `json` is not installed.

        Examples:
            >>> tool = Agent.from_tool({
            ...     "name": "search",
            ...     "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
            ... })
            >>> print(tool.input.describe())
            A message body with these parts and no others:
            - at least one unnamed part of type application/json; inside is an object with
              - query (optional): string
        """
        found = read_tool(tool)
        try:
            return cls(found.name, found.input, found.output)
        except InvalidSchema as error:
            raise InvalidSchema(f"tool {quote(found.name)}: {error}") from error


def _name_of(data: Any, name: str) -> str:
    if isinstance(data, Mapping) and isinstance(data.get("function"), Mapping):
        data = data["function"]
    if not isinstance(data, Mapping):
        raise InvalidSchema(f"an agent is an object, got {quote(data)}")
    stated = data.get("name", name)
    if not isinstance(stated, str) or not stated:
        raise InvalidSchema(f"an agent's name is text, got {quote(stated)}")
    return stated


def _kind_hint(data: Mapping[str, Any]) -> str:
    """Return the kind of an object that is not an agent but a part of something else."""
    if data.keys() & {"content", "contentUrl"}:
        return "; this is a part of a body"
    if "contentType" in data:
        return "; this is a part of a schema, which an agent has as its input or output"
    return ""


def _stated_schema(
    agent: Mapping[str, Any], member: str, limits: Limits
) -> MessageBodySchema | None:
    schema = agent.get(member)
    return None if schema is None else MessageBodySchema.from_dicts(schema, limits=limits)


class AgentFiles(list[Agent]):
    """The agents of some files.

    Attributes:
        findings: the problems of the files. For each error, an agent was left out.
        places: the file of each agent, by its name.
        are_tools: whether all are tools of lists, which take arguments and nothing beside.
    """

    def __init__(self) -> None:
        super().__init__()
        self.findings: list[Finding] = []
        self.places: dict[str, str] = {}
        self._are_lists: list[bool] = []

    @property
    def are_tools(self) -> bool:
        return bool(self._are_lists) and all(self._are_lists)

    def read(self, data: Any, place: str, name: str, limits: Limits) -> None:
        """Add the agents of another file, or findings about them.

        Arguments:
            data: its parsed JSON.
            place: where it is.
            name: the name of an agent that states none.
            limits: what to take before refusing.
        """
        tools = tools_in(data)
        self._are_lists.append(tools is not None)
        for where, each in _agents_listed(data) if tools is None else tools:
            try:
                agent = Agent.from_dict(each, name=name, limits=limits)
                if agent.name in self.places:
                    raise InvalidSchema(f"another agent is called {quote(agent.name)}")
            except InvalidSchema as error:
                at = where + getattr(error, "where", "")
                self.findings.append(_omission(place, at, str(error)))
                continue
            self.places[agent.name] = place
            self.append(agent)
            self.findings += [_with_place(finding, place, where) for finding in agent.findings]


def read_agents(directory: str | os.PathLike[str], limits: Limits) -> AgentFiles:
    """Read the agents of all `.json` files of a directory, in the order of the file names.

    A file holds one agent, a list of them, or the tools of an MCP server as `tools/list` returns
    them; an agent without a name has the name of its file. One that can't be read, or has the name
    of another, is left out.

    Raises:
        OSError: there is no such directory or file, or the one file can't be read.
    """
    found = AgentFiles()
    place = Path(directory)
    for path in sorted(place.glob("*.json")) if place.is_dir() else [place]:
        try:
            data = exact_json.loads(read_regular(path, limits.json_bytes), depth=limits.depth)
        except (ValueError, OSError) as error:
            if path == place and not isinstance(error, ValueError):
                raise  # it was asked for by name
            problem = error.strerror if isinstance(error, OSError) else error
            found.findings.append(_omission(path.name, "", str(problem)))
            continue
        found.read(data, path.name, path.stem, limits)
    return found


def read_cards(urls: Iterable[str], resolver: Resolver | None, limits: Limits) -> AgentFiles:
    """Read the agents at some URLs, of cards and of all else that `read_agents` reads.

    Raises:
        InvalidArgument: `resolver` is none, or the URLs are one text.
    """
    allowed: Any = require_resolver(resolver, optional=False)
    found = AgentFiles()
    for url in require_iterable(urls, "URLs in a list"):
        # What signs a URL stands behind the question mark.
        if not isinstance(url, str):
            raise InvalidArgument("URLs as texts", url)
        shown = redact_url(url).partition("?")[0]
        try:
            with closing(allowed.fetch(url, subject="a card")) as content:
                if content.size > limits.json_bytes:
                    raise InvalidSchema(f"it has more than {limits.json_bytes} bytes")
                data = exact_json.loads(content.read(), depth=limits.depth)
        except (MessageBodyError, ValueError) as error:
            found.findings.append(_omission(shown, "", str(error)))
            continue
        found.read(data, shown, shown, limits)
    return found


def _agents_listed(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield the agents of a file, each with its place."""
    if not isinstance(data, list):
        yield "", data
        return
    yield from ((pointer(at), each) for at, each in enumerate(data))


def _omission(place: str, where: str, problem: str) -> Finding:
    return Finding("agent", where, problem, place=place + where)


def _with_place(finding: Finding, place: str, where: str) -> Finding:
    at = where + finding.where
    return attrs.evolve(finding, where=at, place=place + at)
