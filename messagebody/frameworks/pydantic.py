"""Parts, bodies and schemas as pydantic types.

With them, frameworks that read, write and document values by type (FastAPI, pydantic-ai, typed
tools, Temporal's converter) accept a `MessageBody` or a `Part` like one of their own models.
Pydantic parses JSON before it calls us, so two members of the same name in an object are not
noticed here. Read bytes that you do not trust with `MessageBody.from_json`.

Errors name the place of each invalid part and never repeat content, because they are sent to
clients, written to logs and given to models.
"""

from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import Any, Final

import attrs
from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    SchemaSerializer,
    ValidationError,
    core_schema,
)

from messagebody._core import MEMBERS, MessageBody, Part, count_of
from messagebody.errors import MessageBodyError, MissingDependency
from messagebody.frameworks.values import from_values, to_values
from messagebody.schema import MessageBodySchema, SchemaPart, Violation
from messagebody.schema.json_schemas import schema_part_members

_SHOWN: Final = 100
"""The most violations in one error, so that a client with many mistakes gets a short answer."""

# The members that an author writes, in this order; programs write those that follow from content.
_INLINE: Final = ("name", "contentType", "content")
_REFERENCE: Final = ("name", "contentType", "contentUrl")
_MODE: Final = "serialization"


# Core schemas: how values are read and written


def value_core_schema(
    cls: type[Part | MessageBody | MessageBodySchema | SchemaPart], source: Any, handler: Any
) -> core_schema.CoreSchema:
    """Return the core schema of a type: pydantic reads its JSON, or a value of it."""
    return core_schema.no_info_plain_validator_function(
        partial(_read, cls),
        ref=f"messagebody.{cls.__name__}",  # the name of its definition in JSON Schema
        serialization=core_schema.plain_serializer_function_ser_schema(to_values),
    )


@cache
def serializer_of(cls: type[Part] | type[MessageBody]) -> SchemaSerializer:
    """Return the serializer that pydantic uses for values without a declared type."""
    return SchemaSerializer(cls.__get_pydantic_core_schema__(cls, None))


def _read(cls: type[Any], value: Any) -> Any:
    is_list = isinstance(value, list | tuple) and not isinstance(value, cls)
    try:
        if (
            is_list
            and issubclass(cls, MessageBody)
            and any(isinstance(each, Part) for each in value)
        ):
            return cls(value)
        return from_values(cls, value)
    except MissingDependency:
        raise  # not a flaw of the value
    except MessageBodyError as error:
        if issubclass(cls, Part | SchemaPart):
            kind = "part" if issubclass(cls, Part) else "schema_part"
            lines = [_error(kind, getattr(error, "problem", str(error)))]
        else:
            lines = [_placed(each) for each in (error, *getattr(error, "others", ()))]
        raise ValidationError.from_exception_data(cls.__name__, lines) from error


def _placed(error: MessageBodyError) -> InitErrorDetails:
    """Return pydantic's error for a part, with the name of the part as its input."""
    index = getattr(error, "index", None)
    if index is None:
        return _error("message_body", str(error))
    line = _error("part", f"{error.place}: {error.problem}")  # type: ignore[attr-defined]
    line["loc"], line["input"] = (index,), getattr(error, "name", None)
    return line


def _error(kind: str, problem: str) -> InitErrorDetails:
    error = PydanticCustomError(kind, "{problem}", {"problem": problem})
    return InitErrorDetails(type=error, loc=(), input=None)


# JSON Schema


def part_json_schema(cls: type[Part], core: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
    """Return the JSON Schema of a part.

    As input, it has the members that an author writes: one of two objects, which fits the
    structured output of model providers. Other members are allowed. As output, it has every member.
    """
    if handler.mode == _MODE:
        return {
            "title": cls.__name__,
            "type": "object",
            "properties": {member.key: dict(member.schema) for member in MEMBERS},
            "required": ["contentType"],
        }
    inline, reference = _authored("InlinePart", _INLINE), _authored("ReferencePart", _REFERENCE)
    return {
        "title": cls.__name__,
        "anyOf": [_definition(schema, handler) for schema in (inline, reference)],
    }


def _authored(title: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a part with these members.

    A name that is null means no name, because strict structured output writes every member.
    """
    schemas = {member.key: dict(member.schema) for member in MEMBERS}
    name = schemas["name"]
    schemas["name"] = {
        "anyOf": [{"type": "string", "pattern": name["pattern"]}, {"type": "null"}],
        "description": name["description"],
    }
    return {
        "title": title,
        "type": "object",
        "properties": {key: schemas[key] for key in keys},
        "required": [key for key in keys if key != "name"],
    }


def _definition(schema: dict[str, Any], handler: Any) -> dict[str, Any]:
    """Return a reference to a schema that is put among the definitions."""
    metadata = {"pydantic_js_functions": [lambda *_: schema]}
    described = core_schema.any_schema(ref=f"messagebody.{schema['title']}", metadata=metadata)
    return _defined(described, handler)


def _defined(core: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
    """Return the reference to a definition; pydantic makes the definitions of a schema."""
    return handler(core_schema.list_schema(core))["items"]  # type: ignore[no-any-return]


def body_json_schema(
    cls: type[MessageBody], core: core_schema.CoreSchema, handler: Any
) -> dict[str, Any]:
    """Return the JSON Schema of a body: an array of parts, as writers write it."""
    return _array(cls, Part, part_json_schema, handler)


def schema_json_schema(
    cls: type[MessageBodySchema], core: core_schema.CoreSchema, handler: Any
) -> dict[str, Any]:
    """Return the JSON Schema of a schema's JSON."""
    return _array(cls, SchemaPart, schema_part_json_schema, handler)


def _array(cls: type, item: type, describe: Callable[..., Any], handler: Any) -> dict[str, Any]:
    part: Any = value_core_schema(item, item, None)
    part["metadata"] = {"pydantic_js_functions": [partial(describe, item)]}
    return {"title": cls.__name__, "type": "array", "items": _defined(part, handler)}


def schema_part_json_schema(
    cls: type[SchemaPart], core: core_schema.CoreSchema, handler: Any
) -> dict[str, Any]:
    """Return the JSON Schema of a part of a schema."""
    return {
        "title": cls.__name__,
        "type": "object",
        "properties": schema_part_members(),
        "additionalProperties": False,
    }


def json_schema_of(model: Any, *, sends: bool) -> dict[str, Any]:
    """Return the JSON Schema of a model or a `TypeAdapter`: of what it takes, or of what it sends.

    What is sent has a member for each default, which pydantic requires only if it is told so.
    """
    from pydantic.json_schema import GenerateJsonSchema

    class Sent(GenerateJsonSchema):
        def field_is_required(self, field: Any, total: bool) -> bool:
            required = super().field_is_required(field, total)
            has_default = field["schema"]["type"] == "default"
            return required or (has_default and not field.get("serialization_exclude_if"))

    describe = getattr(model, "model_json_schema", None) or getattr(model, "json_schema", None)
    if describe is None:  # a dataclass of pydantic
        from pydantic import TypeAdapter

        describe = TypeAdapter(model).json_schema
    made: dict[str, Any] = (
        describe(mode=_MODE, schema_generator=Sent) if sends else describe(mode="validation")
    )
    return made


# A schema as a validator


def gate_core_schema(
    schema: MessageBodySchema, source: Any, handler: Callable[[Any], core_schema.CoreSchema]
) -> core_schema.CoreSchema:
    """Return the core schema of `Annotated[MessageBody, schema]`, which checks body and schema."""

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
    if violation.code == "content-invalid" and not violation.more:
        violation = attrs.evolve(violation, got="")
    line = _error(violation.code.replace("-", "_"), str(violation))
    if violation.part_index is not None:
        line["loc"], line["input"] = (violation.part_index,), violation.part_name
    return line
