"""JSON Schemas of bodies and of schemas, for editors and for validators of other languages.

They express the rules of the readers, except those that JSON Schema can't express: names are
unique, and a size must match the content. The draft is the one that most editors support.
"""

from typing import Any, Final

from messagebody._wire.members import MEMBERS

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
_NAMES: Final = (
    "A name is a path such as /charts/sales.png: letters, digits, '.', '_', '-' and '/'."
)
_PATTERNS: Final = "A pattern begins with '/', such as /sources/* or /charts/**."


def body_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a body.

    Examples:
        >>> sorted(body_json_schema()["definitions"]["part"]["properties"])[:3]
        ['content', 'contentEncoding', 'contentType']
    """
    members = {member.key: _or_null(dict(member.schema)) for member in MEMBERS}
    # VS Code shows this text instead of the pattern; other editors ignore it.
    members["name"]["patternErrorMessage"] = _NAMES
    one_of = [_given("content"), _given("contentUrl")]
    part = {"type": "object", "properties": members, "oneOf": one_of}
    return _document("A message body: parts in order.", part)


def schema_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a schema.

    Examples:
        >>> list(schema_json_schema()["definitions"]["part"]["properties"])
        ['name', 'contentType', 'required', 'description', 'contentSchema']
    """
    members = schema_part_members()
    # Braces may precede the slash, as in {,}/a; the reader checks their content.
    members["name"] |= {"pattern": "^[/{]", "patternErrorMessage": _PATTERNS}
    part = {"type": "object", "properties": members, "additionalProperties": False}
    return _document("A schema of message bodies: the parts that they may and must have.", part)


def schema_part_members() -> dict[str, Any]:
    """Return the JSON Schema of each member of a part of a schema."""
    nullable = [{"type": "string"}, {"type": "null"}]
    return {
        "name": {"anyOf": nullable, "description": "A glob over part names."},
        "contentType": {
            "anyOf": nullable,
            "default": "*/*",
            "description": "A glob over content types.",
        },
        "required": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": False},
        "description": {"anyOf": nullable},
        "contentSchema": {
            "type": ["object", "boolean", "null"],
            "description": "What is inside a part of a JSON type, in JSON Schema.",
        },
    }


def _document(description: str, part: dict[str, Any]) -> dict[str, Any]:
    parts = {"type": "array", "items": {"$ref": "#/definitions/part"}}
    wrapped = {
        "type": "object",
        "properties": {"parts": parts},
        "required": ["parts"],
        "additionalProperties": False,
    }
    return {
        "$schema": _DRAFT,
        "description": description,
        "anyOf": [parts, wrapped],
        "definitions": {"part": part},
    }


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a member that may be null, which means absent."""
    allowed = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **allowed}


def _given(key: str) -> dict[str, Any]:
    return {"required": [key], "properties": {key: {"type": "string"}}}
