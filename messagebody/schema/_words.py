"""Schemas of contents in words, for people and models."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from messagebody._base.text import escape
from messagebody._wire import exact_json
from messagebody.schema._contents import ContentSchema
from messagebody.schema._dialects import value_at

_DEEPEST: Final = 3
"""Levels of members that are listed."""
_LISTED: Final = 20
"""Members of an object that are listed, and values of an enumeration."""
_LINES: Final = 100
"""Lines about one schema part."""
_NESTED: Final = 2
"""Levels of alternatives in a phrase, of which each has a few."""
_FEW: Final = 6
_CUT: Final = 100
_BOUNDS: Final = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "format", "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip


def in_words(schema: ContentSchema, indent: str) -> list[str]:
    r"""Return what a schema describes: a phrase, and a line for each member of an object.

    Examples:
        >>> from messagebody.schema import content_schema_of
        >>> model = {"type": "object", "properties": {"title": {"type": "string"}}}
        >>> print(*in_words(content_schema_of(model), ""), sep="\n")
        an object with
        - title (optional): string
    """
    root = schema.value
    members = _members(root, root, indent, _DEEPEST)
    lines = [_phrase(root, root), *islice(members, _LINES)]
    return [*lines, f"{indent}- …"] if next(members, None) else lines


def _phrase(schema: Any, root: Any, depth: int = _NESTED) -> str:
    """Return a schema in a few words, without its members."""
    schema = _target(schema, root)
    if isinstance(schema, bool):
        return "anything" if schema else "nothing"
    if "const" in schema:
        return _json(schema["const"])
    if "enum" in schema:
        values = [_json(each) for each in schema["enum"][:_LISTED]]
        more = ["…"] if len(schema["enum"]) > _LISTED else []
        return f"one of {', '.join(values + more)}"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _alternatives(schema[key], root, depth)
    return _kinds(schema, root, depth) + _bounds(schema)


def _alternatives(schemas: list[Any], root: Any, depth: int) -> str:
    if not depth:
        return "one of several"
    phrases = [_phrase(each, root, depth - 1).removesuffix(" with") for each in schemas[:_FEW]]
    more = ["…"] if len(schemas) > _FEW else []
    return " or ".join([*dict.fromkeys(phrases), *more])


def _kinds(schema: dict[str, Any], root: Any, depth: int) -> str:
    kinds = schema.get("type", [])
    listed = [kinds] if isinstance(kinds, str) else kinds
    if "properties" in schema and not listed:
        listed = ["object"]
    named = [_kind(kind, schema, root, depth) for kind in listed]
    return " or ".join(named) or "anything"


def _kind(kind: str, schema: dict[str, Any], root: Any, depth: int) -> str:
    if kind == "array":
        inner = schema.get("items", True)
        if inner is True or not depth:
            return "an array"
        return f"an array of {_phrase(inner, root, depth - 1)}"
    if kind == "object":
        return "an object with" if _has_members(schema) else "an object"
    return kind


def _bounds(schema: dict[str, Any]) -> str:
    found = [f"{key} {_json(schema[key])}" for key in _BOUNDS if key in schema]
    return f" ({', '.join(found)})" if found else ""


def _has_members(schema: dict[str, Any]) -> bool:
    return bool(schema.get("properties")) or schema.get("additionalProperties") is False


def _members(schema: Any, root: Any, indent: str, depth: int) -> Iterator[str]:
    """Yield a line for each member of an object, or of the objects in an array."""
    schema = _target(schema, root)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "array":
        yield from _members(schema.get("items"), root, indent, depth)
        return
    members = schema.get("properties", {})
    for name, each in list(members.items())[:_LISTED]:
        optional = "" if name in schema.get("required", ()) else " (optional)"
        about = _target(each, root)
        text = about.get("description") if isinstance(about, dict) else None
        said = f": {escape(text, limit=_CUT)}" if isinstance(text, str) else ""
        inner = [*_members(each, root, f"{indent}  ", depth - 1)] if depth > 1 else []
        phrase = _phrase(each, root)
        shown = phrase if inner else phrase.removesuffix(" with")
        yield f"{indent}- {escape(name, limit=_CUT)}{optional}: {shown}{said}"
        yield from inner
    if len(members) > _LISTED:
        yield f"{indent}- and {len(members) - _LISTED:,} more members"
    if schema.get("additionalProperties") is False:
        yield f"{indent}- no other members"


def _target(schema: Any, root: Any) -> Any:
    """Return the schema that a local reference leads to; other references say nothing."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            return schema
        if reference != "#" and not reference.startswith("#/"):
            return True
        try:
            schema = value_at(root, reference[1:])
        except (LookupError, ValueError, TypeError):
            return True  # it is about the document of an `$id`
    return True


def _json(value: Any) -> str:
    return escape(exact_json.dumps(value), limit=_CUT)
