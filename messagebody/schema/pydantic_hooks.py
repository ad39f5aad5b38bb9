"""A schema as a pydantic type; pydantic itself is only needed by those who have it."""

from typing import Any

from messagebody.errors import InvalidSchema

__all__ = ["core_schema_of", "json_schema"]


def core_schema_of(cls: Any) -> Any:
    """Return how pydantic reads and writes a schema: as the JSON it is, or the value itself."""
    from pydantic_core import PydanticCustomError, core_schema

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


def json_schema() -> dict[str, Any]:
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
