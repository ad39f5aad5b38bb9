"""Schemas of bodies as JSON Schemas for the structured output of model providers.

Each part of the schema becomes one property. An array with a choice of parts would look more
natural, but providers refuse choices between objects that begin with the same members. All members
are required and no others are allowed. No constraint is used that a provider may not support. A
part with a content schema is written as a JSON value, as far as the same subset can say it.
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
    in_words,
    is_json,
    is_text,
    nearest,
    quote,
    require_schema,
    strict_json,
)
from messagebody.errors import DecodeError, InvalidName, InvalidPart, InvalidSchema
from messagebody.prompts._strict import StrictContent, strict_content, strict_object
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
    inside: StrictContent | None = None
    """What a model writes for the content; None if it writes text."""

    @property
    def is_single(self) -> bool:
        """Whether at most one part can match, because the pattern is a plain name."""
        return self.part.name is not None and not _GLOB.search(self.part.name)

    def schema(self) -> dict[str, Any]:
        item = strict_object(self._members())
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
        about = f"Text, {' or '.join(self.types)}"
        if self.part.content_schema is not None:
            about = "\n".join([about, *in_words(self.part.content_schema, "")])
        members["content"] = (
            {"type": "string", "description": about} if self.inside is None else self.inside.schema
        )
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
        is_wrong = self.inside is None and not isinstance(content, str)
        if kind not in self.types or is_wrong:
            raise self._wrong(f"text, {' or '.join(self.types)}", [kind, content])
        about = {"name": value.get("name", name), "content_type": kind}
        try:
            if self.inside is not None:
                return MessageBody().add(json=self.inside.content(content), **about)
            return Part(content, **about)
        except (InvalidName, InvalidPart) as error:
            raise DecodeError(f"{self.key}: {error.statement}") from error

    def _wrong(self, expected: str, value: object) -> DecodeError:
        return DecodeError(f"{self.key} is {expected}, got {quote(value, limit=80)}")


@attrs.frozen
class OutputSchema:
    """A JSON Schema for a model's structured output, and a decoder for the model's answer.

    Arguments:
        json_schema: the JSON Schema to pass to the provider or the framework.
        unsaid: what of the content schemas it can't say, each with its place, such as
            "report_json/properties/score: minimum". `decode` checks that, too.
    """

    json_schema: dict[str, Any]
    unsaid: tuple[str, ...]
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

    The content of a part with a content schema is a JSON value, in the subset that providers take
    in strict mode: a member that may be left out may be null instead, and bounds are words in a
    description. If the subset comes near no part of a content schema, the model writes JSON as
    text. Everything that is not said is in `unsaid`, and `decode` validates all of it.

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
    unsaid: list[str] = []
    for index, part in enumerate(schema.parts):
        types = textual_types(part)
        if types:
            key = _key(part, {slot.key for slot in slots})
            inside, left = strict_content(part.content_schema)
            slots.append(_Property(key, part, types, inside))
            unsaid += [key + each for each in left]
        elif part.required:
            raise InvalidSchema(
                f"required {part.label} does not accept text, and models only write text", index
            )
    if not slots:
        raise InvalidSchema("no part accepts text, and models only write text")
    properties = {slot.key: slot.schema() for slot in slots}
    return OutputSchema(strict_object(properties), tuple(unsaid), schema, tuple(slots))


def textual_types(part: SchemaPart) -> tuple[str, ...]:
    """Return the types of text that a part of a schema accepts, the likeliest first."""
    literal = part.content_type
    if not _GLOB.search(literal):
        return (literal,) if is_text(literal) else ()
    # All providers support lists of values in a JSON Schema, but not patterns.
    known: Iterable[str] = [
        TEXT_PLAIN,
        *(kind for kind in WELL_KNOWN if kind != TEXT_PLAIN and is_text(kind)),
    ]
    if part.content_schema is not None:
        known = filter(is_json, known)
    return tuple(kind for kind in known if part.content_type_pattern.matches(kind))[:_TYPES]


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
