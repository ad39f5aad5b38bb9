"""Agents: a name and the schemas of what each takes and sends, as files state them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import attrs

from messagebody._files import read_regular
from messagebody._text import quote
from messagebody.errors import InvalidPattern, InvalidSchema
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.wire import strict_json

_SCHEMAS: Final = ("input", "output", "notifications", "interrupts")
_MEMBERS: Final = {"name", "description", *_SCHEMAS}


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

    def to_dict(self) -> dict[str, Any]:
        """Return the agent as `from_dict` reads it."""
        schemas = {way: getattr(self, way) for way in _SCHEMAS}
        stated = {way: schema.to_dicts() for way, schema in schemas.items() if schema is not None}
        return {"name": self.name, **stated}

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
            problem = error.strerror if isinstance(error, OSError) else error
            raise InvalidSchema(f"{path.name}: {problem}") from error


# A registry decides many pairs: one hard pair must not hold up all others.
