"""Schemas of bodies as JSON Schemas for the structured output of model providers.

Each part of the schema becomes one property. An array with a choice of parts would look more
natural, but providers refuse choices between objects that begin with the same members. All members
are required and no others are allowed. No constraint is used that a provider may not support.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    TEXT_PLAIN,
    WELL_KNOWN,
    MessageBody,
    Part,
    escape,
    essence,
    is_text,
    nearest,
    quote,
    require_schema,
    strict_json,
)
from messagebody.errors import DecodeError, InvalidName, InvalidPart, InvalidSchema
from messagebody.schema import MessageBodySchema, SchemaPart

_KEY: Final = re.compile("[^A-Za-z0-9]+")
_GLOB: Final = re.compile(r"[*?{}\\\[\]]")
_LONGEST_KEY: Final = 40
"""Characters of a property's name; OpenAI allows 64, and a number may follow."""
_TYPES: Final = 20
"""The most content types of one property: a model needs a choice, not a registry."""


@attrs.frozen
class _Property:
    """One property, for one part of a schema."""

    key: str
    part: SchemaPart
    types: tuple[str, ...]

    @property
    def is_single(self) -> bool:
        """Whether at most one part can match, because the pattern is a plain name."""
        return self.part.name is not None and not _GLOB.search(self.part.name)

    def schema(self) -> dict[str, Any]:
        item = _object(self._members())
        if not self.is_single:
            return {"type": "array", "items": item, "description": self._about()}
        if self.part.required:
            return {**item, "description": self._about()}
        return {"anyOf": [item, {"type": "null"}], "description": self._about()}

    def _members(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        if self.part.name is not None and not self.is_single:
            about = f"The part's name, which matches {self.part.name}"
            members["name"] = {"type": "string", "description": about}
        if len(self.types) > 1:
            members["content_type"] = {"type": "string", "enum": [*self.types]}
        members["content"] = {"type": "string", "description": f"Text, {' or '.join(self.types)}"}
        return members

    def _about(self) -> str:
        need = "At least one part" if self.part.required and not self.is_single else "Part"
        return f"{need} {self.part.label}. {self.part.description or ''}".strip()

    def parts(self, value: Any) -> Iterable[Part]:
        """Return the parts that a value of the property describes."""
        if self.is_single:
            if value is None and not self.part.required:
                return []
            return [self._part(value, self.part.name)]
        if not isinstance(value, list):
            raise self._wrong("an array", value)
        return [self._part(item, None) for item in value]

    def _part(self, value: Any, name: str | None) -> Part:
        if not isinstance(value, Mapping):
            raise self._wrong("an object", value)
        wanted = self._members().keys()
        # Not every provider enforces the JSON Schema, so its rules are checked here.
        if value.keys() != wanted:
            raise DecodeError(_differs(f"{self.key} is an object", wanted, value))
        kind, content = value.get("content_type", self.types[0]), value["content"]
        if kind not in self.types or not isinstance(content, str):
            raise self._wrong(f"text, {' or '.join(self.types)}", [kind, content])
        try:
            return Part(content, name=value.get("name", name), content_type=kind)
        except (InvalidName, InvalidPart) as error:
            raise DecodeError(f"{self.key}: {error.statement}") from error

    def _wrong(self, expected: str, value: object) -> DecodeError:
        return DecodeError(f"{self.key} is {expected}, got {quote(value, limit=80)}")


@attrs.frozen
class OutputSchema:
    """A JSON Schema for a model's structured output, and a decoder for the model's answer.

    Arguments:
        json_schema: the JSON Schema to pass to the provider or the framework.
    """

    json_schema: dict[str, Any]
    _schema: MessageBodySchema = attrs.field(repr=False)
    _slots: tuple[_Property, ...] = attrs.field(repr=False)

    def decode(self, value: str | bytes | Mapping[str, Any]) -> MessageBody:
        """Return the body that a model wrote; it keeps the schema.

        Arguments:
            value: the model's answer: an object of the JSON Schema, or its JSON.

        Raises:
            DecodeError: it has another shape; the text names the place.
            InvalidBody: the parts break the schema; `violations` holds everything.
            DuplicateName: two parts have one name.
        """
        if isinstance(value, str | bytes):
            try:
                value = strict_json.loads(value, depth=DEFAULT_LIMITS.depth)
            except strict_json.InvalidJson as error:
                raise DecodeError(f"the output: {error}") from error
        keys = [slot.key for slot in self._slots]
        if not isinstance(value, Mapping) or value.keys() != set(keys):
            raise DecodeError(_differs("the output is an object", keys, value))
        body = MessageBody(part for slot in self._slots for part in slot.parts(value[slot.key]))
        # The JSON Schema can't require that an array has a part, or that names match a pattern.
        self._schema.validate(body)
        return body


def _differs(problem: str, keys: Collection[str], value: object) -> str:
    """Return how a value differs from an object with these members."""
    problem = f"{problem} of {', '.join(keys)}, got"
    if not isinstance(value, Mapping):
        return f"{problem} {quote(value, limit=80)}"
    strange = next((str(key) for key in value if key not in keys), "")
    near = nearest(strange[:80], keys, 0.4)
    meant = f"; did you mean {near!r}?" if near else ""
    members = escape(", ".join(map(str, value)), limit=80) or "no members"
    return f"{problem} one of {members}{meant}"


def output_schema(schema: MessageBodySchema) -> OutputSchema:
    """Return a JSON Schema with which a model writes a body for a schema, as structured output.

    A part with a plain name becomes an object, or null if it is optional; a pattern or an unnamed
    part becomes an array. A model only writes text, so parts of other types are left out.

    Arguments:
        schema: the schema.

    Raises:
        InvalidSchema: a required part does not accept text, or no part does.

    Examples:
        >>> parts = [("/report.md", "text/markdown", True), ("/notes/*", "text/*")]
        >>> schema = MessageBodySchema(parts)
        >>> output = output_schema(schema)
        >>> [*output.json_schema["properties"]]
        ['report_md', 'notes']
        >>> output.decode({"report_md": {"content": "# Cats"}, "notes": []})["/report.md"].text
        '# Cats'
    """
    require_schema(schema)
    slots: list[_Property] = []
    for index, part in enumerate(schema.parts):
        types = textual_types(part)
        if types:
            slots.append(_Property(_key(part, {slot.key for slot in slots}), part, types))
        elif part.required:
            raise InvalidSchema(
                f"required {part.label} does not accept text, and models only write text", index
            )
    if not slots:
        raise InvalidSchema("no part accepts text, and models only write text")
    properties = {slot.key: slot.schema() for slot in slots}
    return OutputSchema(_object(properties), schema, tuple(slots))


def textual_types(part: SchemaPart) -> tuple[str, ...]:
    """Return the types of text that a part of a schema accepts, the likeliest first."""
    literal = part.content_type
    if not _GLOB.search(literal):
        return (literal,) if is_text(literal) else ()
    # All providers support lists of values in a JSON Schema, but not patterns.
    known = [TEXT_PLAIN, *(kind for kind in WELL_KNOWN if kind != TEXT_PLAIN and is_text(kind))]
    return tuple(kind for kind in known if part.content_type_pattern.matches(kind))[:_TYPES]


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _key(part: SchemaPart, taken: set[str]) -> str:
    """Return the name of a property: the name of the part in letters and digits."""
    source = part.name or _called(part.content_type)
    key = _KEY.sub("_", source).strip("_")[:_LONGEST_KEY].lower() or "parts"
    key = key if key[0].isalpha() else f"part_{key}"
    numbers = (f"{key}_{number}" for number in range(2, len(taken) + 3))
    return key if key not in taken else next(each for each in numbers if each not in taken)


def _called(content_type: str) -> str:
    """Return a name for the unnamed parts of a type."""
    return "parts" if _GLOB.search(content_type) else essence(content_type)
