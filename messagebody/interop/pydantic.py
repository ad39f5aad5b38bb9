"""Parts, bodies and schemas as pydantic types.

Frameworks that read, write and document values by their types (FastAPI, pydantic-ai, typed tools,
Temporal's converter) then take a `MessageBody` or a `Part` like one of their own models. Pydantic
parses JSON before it asks us, so two members of one name in an object are not noticed here; read
bytes that you do not trust with `MessageBody.from_json`.
"""

from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any, Final

from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    SchemaSerializer,
    ValidationError,
    core_schema,
)

from messagebody._text import count_of
from messagebody.body import MessageBody
from messagebody.digests import DIGEST_PATTERN
from messagebody.errors import DecodeError, InvalidSchema, MessageBodyError
from messagebody.part import Part
from messagebody.schema import MessageBodySchema, Violation

# A segment is neither "." nor "..": spelled without look-ahead, which not every reader has.
_SEGMENT = r"(?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*"

_SHOWN: Final = 100
"""Violations that one validation reports: a client that sends many mistakes gets a short answer."""


def part_core_schema(cls: type[Part]) -> core_schema.CoreSchema:
    """Return how pydantic reads and writes a part: as an object, or the part itself."""

    def read(value: Any) -> Part:
        return value if isinstance(value, cls) else _read_part(cls, value)

    return _plain_schema(read, lambda part: MessageBody([part]).to_dicts()[0])


def body_core_schema(cls: type[MessageBody]) -> core_schema.CoreSchema:
    """Return how pydantic reads and writes a body: as parsed JSON, parts, or the body itself."""

    def read(value: Any) -> MessageBody:
        return value if isinstance(value, cls) else _read_body(cls, value)

    return _plain_schema(read, lambda body: body.to_dicts())


def part_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a part."""
    text = {"type": "string"}
    return {
        "title": "Part",
        "type": "object",
        "properties": {
            "name": {
                **text,
                "pattern": f"^(?:/{_SEGMENT})+$",
                "description": "A path, unique in the body; absent for content to show.",
            },
            "contentType": {**text, "description": "type/subtype[; parameters]"},
            "content": {**text, "description": "Inline content."},
            "contentEncoding": {**text, "enum": ["plain", "base64"], "default": "plain"},
            "contentUrl": {
                **text,
                "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:[^ ]+$",
                "description": "Where the content is, instead of content.",
            },
            "size": {
                "type": "integer",
                "minimum": 0,
                "maximum": 2**53 - 1,
                "description": "Bytes of the decoded content.",
            },
            "digest": {
                **text,
                "pattern": f"^{DIGEST_PATTERN}$",
                "description": "Of the decoded content.",
            },
            "metadata": {"type": "object", "additionalProperties": True},
        },
        "oneOf": [{"required": ["content"]}, {"required": ["contentUrl"]}],
    }


def body_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a body: the array of parts that writers emit."""
    return {
        "title": "MessageBody",
        "type": "array",
        "items": part_json_schema(),
        "examples": [[{"contentType": "text/plain", "content": "Hello, world!"}]],
    }


@cache
def serializer_of(cls: type[Part] | type[MessageBody]) -> SchemaSerializer:
    """Return the serializer pydantic uses for values whose type nobody declared."""
    return SchemaSerializer(cls.__get_pydantic_core_schema__(cls, None))


def _plain_schema(
    read: Callable[[Any], Any], write: Callable[[Any], Any]
) -> core_schema.CoreSchema:
    return core_schema.no_info_plain_validator_function(
        read, serialization=core_schema.plain_serializer_function_ser_schema(write)
    )


def _read_part(cls: type[Part], value: Any) -> Part:
    try:
        return cls._of(MessageBody.from_dicts([value])[0]._record)
    except DecodeError as error:
        # Alone it is part 0 of nothing.
        raise _refusal("part", DecodeError(error.problem, name=error.name)) from error


def _read_body(cls: type[MessageBody], value: Any) -> MessageBody:
    try:
        if isinstance(value, list | tuple) and any(isinstance(item, Part) for item in value):
            return cls(value)
        return cls.from_dicts(value)
    except MessageBodyError as error:
        raise _refusal("message_body", error) from error


def _refusal(kind: str, error: MessageBodyError) -> PydanticCustomError:
    return PydanticCustomError(kind, "{problem}", {"problem": str(error)})


def schema_core_schema(
    cls: type[MessageBodySchema], source: Any, handler: Any
) -> core_schema.CoreSchema:
    """Return how pydantic reads and writes a schema: as the JSON it is, or the value itself."""

    def read(value: Any) -> Any:
        if isinstance(value, cls):
            return value
        try:
            return cls.from_dicts(value)
        except InvalidSchema as error:
            raise PydanticCustomError("schema", "{problem}", {"problem": str(error)}) from error

    return core_schema.no_info_plain_validator_function(
        read,
        serialization=core_schema.plain_serializer_function_ser_schema(
            lambda value: value.to_dicts()
        ),
    )


def schema_json_schema(
    cls: type[MessageBodySchema], core: core_schema.CoreSchema, handler: Any
) -> dict[str, Any]:
    """Return the JSON Schema of a schema's JSON."""
    nullable = [{"type": "string"}, {"type": "null"}]
    return {
        "title": "MessageBodySchema",
        "type": "array",
        "items": {
            "title": "SchemaPart",
            "type": "object",
            "properties": {
                "name": {"anyOf": nullable, "description": "A glob over part names."},
                "contentType": {
                    "anyOf": nullable,
                    "default": "*/*",
                    "description": "A glob over content types.",
                },
                "required": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": False},
                "description": {"anyOf": nullable},
            },
            "additionalProperties": False,
        },
    }


def gate_core_schema(
    schema: MessageBodySchema, source: Any, handler: Callable[[Any], core_schema.CoreSchema]
) -> core_schema.CoreSchema:
    """Return how pydantic validates `Annotated[MessageBody, schema]`: the body, then the schema."""

    def check(body: MessageBody) -> MessageBody:
        violations = schema.iter_violations(body)
        lines = [_line(violation) for violation in islice(violations, _SHOWN)]
        if rest := sum(1 for _ in violations):
            lines.append(_error("violations", f"and {count_of(rest, 'more violation')}"))
        if lines:
            raise ValidationError.from_exception_data("MessageBody", lines)
        return body

    return core_schema.no_info_after_validator_function(check, handler(source))


def gate_json_schema(
    schema: MessageBodySchema, core: core_schema.CoreSchema, handler: Any
) -> dict[str, Any]:
    """Return the JSON Schema of `Annotated[MessageBody, schema]`: that of the body."""
    return handler(core)  # type: ignore[no-any-return]


def _line(violation: Violation) -> InitErrorDetails:
    """Return a violation as an error of pydantic at its part, without the content."""
    line = _error(violation.code.replace("-", "_"), str(violation))
    if violation.part_index is not None:
        line.update(loc=(violation.part_index,), input=violation.part_name)
    return line


def _error(kind: str, problem: str) -> InitErrorDetails:
    error = PydanticCustomError(kind, "{problem}", {"problem": problem})
    return InitErrorDetails(type=error, loc=(), input=None)
