"""Agents as a registry knows them: a name, what they take and what they send; from JSON files."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import attrs

from messagebody import strict_json
from messagebody.errors import InvalidPattern, InvalidSchema
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.text import quote

__all__ = ["Agent", "read_agents"]

_MEMBERS = {"name", "input", "output", "description"}


@attrs.frozen
class Agent:
    """Somebody who takes bodies and sends bodies.

    Arguments:
        name: how the registry calls it.
        input: what it takes.
        output: what it sends.
    """

    name: str
    input: MessageBodySchema
    output: MessageBodySchema

    @classmethod
    def from_dict(cls, data: Any, *, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read an agent from parsed JSON: `{"name", "input", "output"}`, or an A2A agent card.

        One of `input` and `output` may be missing: such an agent takes, or sends, nothing but
        empty bodies. The input and output modes of a card, those of its skills included, are
        content types of unnamed parts; none is required.

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
            if unknown := sorted(data.keys() - _MEMBERS, key=str):
                known = ", ".join(sorted(_MEMBERS))
                raise InvalidSchema(f"unknown members {quote(unknown)}; an agent has {known}")
            if not data.keys() & {"input", "output"}:
                # A schema part has a name too: read as an agent, it would fit everybody.
                raise InvalidSchema("an agent has an input, an output or both; here is neither")
            sides = (data.get(way, ()) for way in ("input", "output"))
            schemas = [MessageBodySchema.from_dicts(side or [], limits=limits) for side in sides]
            return cls(stated, *schemas)
        except (InvalidSchema, InvalidPattern) as error:
            raise InvalidSchema(f"agent {quote(stated)}: {error}") from error


def _of_modes(card: Mapping[str, Any], way: str) -> MessageBodySchema:
    """Return what an agent card takes or sends: unnamed parts of its modes."""
    modes = list(_modes(card, f"default{way}Modes"))
    skills = card.get("skills") or []
    for skill in skills if isinstance(skills, list) else []:
        if isinstance(skill, Mapping):
            modes += _modes(skill, f"{way.lower()}Modes")
    return MessageBodySchema(SchemaPart(None, mode) for mode in dict.fromkeys(modes))


def _modes(holder: Mapping[str, Any], member: str) -> Iterator[str]:
    modes = holder.get(member) or []
    if not isinstance(modes, list):
        raise InvalidSchema(f"{member} is a list of content types, got {quote(modes)}")
    for mode in modes:
        if not isinstance(mode, str):
            raise InvalidSchema(f"{member} holds content types, got {quote(mode)}")
        yield mode.partition(";")[0].strip()


def read_agents(
    directory: str | os.PathLike[str], *, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Agent]:
    """Yield the agents of all `.json` files of a directory, in the order of the file names.

    A file holds one agent or a list of them; one that states no name is called as its file.

    Raises:
        InvalidSchema: a file holds no agent; names the file.
        OSError: a file can't be read.
    """
    for path in sorted(Path(directory).glob("*.json")):
        try:
            data = strict_json.loads(path.read_bytes(), depth=limits.depth)
            for each in data if isinstance(data, list) else [data]:
                yield Agent.from_dict(each, name=path.stem, limits=limits)
        except ValueError as error:
            raise InvalidSchema(f"{path.name}: {error}") from error
