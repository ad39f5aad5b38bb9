"""Schemas on cards and tools: the extension of A2A's agent cards, and `_meta` of MCP tools.

Both have the same members: `input` and `output`, `exchanges` by kind, and for A2A `skills` by id.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from messagebody._core import quote
from messagebody.agents._exchanges import Exchange, exchanges_of
from messagebody.errors import InvalidArgument, InvalidCard, InvalidPattern, InvalidSchema
from messagebody.findings import pointer
from messagebody.schema import MessageBodySchema

A2A_EXTENSION: Final = "https://messagebody.readthedocs.io/a2a/schemas/1"
"""The URI of the extension of agent cards, with its version."""
MCP_SCHEMAS: Final = "https://messagebody.readthedocs.io/mcp/schemas/1"
"""The key in `_meta` or `annotations` of an MCP tool."""
_MEMBERS: Final = ("input", "output", "exchanges", "skills")


@attrs.frozen
class StatedSchemas:
    """The schemas that an extension states; None for what it leaves out.

    Arguments:
        input: the schema of the input.
        output: the schema of the output.
        exchanges: the other communication, by kind.
    """

    input: MessageBodySchema | None = None
    output: MessageBodySchema | None = None
    exchanges: Mapping[str, Exchange] = attrs.field(factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the members as they are written."""
        ways = {"input": self.input, "output": self.output}
        members: dict[str, Any] = {
            way: schema.to_dicts() for way, schema in ways.items() if schema is not None
        }
        if self.exchanges:
            members["exchanges"] = {kind: each.to_dict() for kind, each in self.exchanges.items()}
        return members


def card_extension(
    card: Mapping[str, Any], *, agent: str, skill: str | None = None
) -> StatedSchemas:
    """Read the extension of an agent card; nothing is stated if the card has none.

    Arguments:
        card: the card.
        agent: the name of the agent, for errors.
        skill: the id of the one skill that is used; its own schemas stand in for those of all.

    Raises:
        InvalidCard: the extension can't be read; says where.
    """
    for where, entry in _entries(card):
        if entry.get("uri") == A2A_EXTENSION:
            return _ExtensionReader(agent).read_params(
                entry.get("params"), f"{where}/params", skill
            )
    return StatedSchemas()


def tool_schemas(tool: Mapping[str, Any], *, name: str) -> StatedSchemas:
    """Read the schemas that an MCP tool names in `_meta` or `annotations`.

    Raises:
        InvalidCard: they can't be read; says where.
    """
    for holder in ("_meta", "annotations"):
        found = tool.get(holder)
        if isinstance(found, Mapping) and MCP_SCHEMAS in found:
            where = f"/{holder}{pointer(MCP_SCHEMAS)}"
            return _ExtensionReader(name).read_params(found[MCP_SCHEMAS], where, None)
    return StatedSchemas()


def requires_extension(card: Mapping[str, Any]) -> bool:
    """Return whether a card demands that clients declare the extension."""
    entries = (entry for _, entry in _entries(card))
    return any(
        entry.get("uri") == A2A_EXTENSION and entry.get("required") is True for entry in entries
    )


def extension_entry(
    stated: StatedSchemas, skills: Mapping[str, StatedSchemas], *, required: bool = False
) -> dict[str, Any]:
    """Return the entry of a card's extensions for these schemas.

    Raises:
        InvalidArgument: `required` is neither True nor False.
    """
    if not isinstance(required, bool):
        raise InvalidArgument("required, True or False", required)
    params = stated.to_dict()
    if skills:
        params["skills"] = {each: skill.to_dict() for each, skill in skills.items()}
    return {
        "uri": A2A_EXTENSION,
        "description": "The exact schemas of the bodies that this agent takes and sends.",
        "required": required,
        "params": params,
    }


def _entries(card: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield the entries of a card's extensions that are objects, each with its place."""
    capabilities = card.get("capabilities")
    entries = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
    for at, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, Mapping):
            yield f"/capabilities/extensions/{at}", entry


class _ExtensionReader:
    """The reading of one extension.

    Arguments:
        agent: the name of the agent, for errors.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent

    def read_params(self, params: Any, where: str, skill: str | None) -> StatedSchemas:
        """Return the schemas in the parameters of the extension."""
        members = self._object(params, where, _MEMBERS)
        whole = self._read_schemas(members, where)
        skills = self._object(members.get("skills") or {}, f"{where}/skills", None)
        # All are read, so that an error in one does not depend on the question.
        own = {
            each: self._read_skill(value, where + pointer("skills", each))
            for each, value in skills.items()
        }
        used = own.get(skill) if skill is not None else None
        if used is None:
            return whole
        return StatedSchemas(
            whole.input if used.input is None else used.input,
            whole.output if used.output is None else used.output,
            {**whole.exchanges, **used.exchanges},
        )

    def _read_skill(self, value: Any, where: str) -> StatedSchemas:
        return self._read_schemas(self._object(value, where, _MEMBERS[:3]), where)

    def _read_schemas(self, members: Mapping[str, Any], where: str) -> StatedSchemas:
        taken = self._schema(members.get("input"), f"{where}/input")
        sent = self._schema(members.get("output"), f"{where}/output")
        try:
            exchanges = exchanges_of(members.get("exchanges") or {})
        except (InvalidSchema, InvalidPattern) as error:
            raise InvalidCard(str(error), f"{where}/exchanges", self._agent) from error
        return StatedSchemas(taken, sent, exchanges)

    def _schema(self, value: Any, where: str) -> MessageBodySchema | None:
        if value is None:
            return None
        try:
            return MessageBodySchema.from_dicts(value)
        except (InvalidSchema, InvalidPattern) as error:
            raise InvalidCard(str(error), where, self._agent) from error

    def _object(self, value: Any, where: str, known: tuple[str, ...] | None) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise InvalidCard(f"expected an object, got {quote(value)}", where, self._agent)
        if known is not None and (unknown := sorted(value.keys() - {*known}, key=str)):
            problem = f"unknown members {', '.join(map(quote, unknown))}; known are "
            raise InvalidCard(problem + ", ".join(known), where, self._agent)
        return value
