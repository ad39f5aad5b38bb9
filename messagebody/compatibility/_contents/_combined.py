"""Schemas of contents made of two: what both take, and what either takes."""

import copy
from typing import Any, Literal

from messagebody.errors import InvalidSchema
from messagebody.schema import ContentSchema, content_schema_of
from messagebody.schema._dialects import subschemas

_PLACED = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef"})
"""Keywords that tie a schema to its place in a document."""


def combined(
    keyword: Literal["allOf", "anyOf"], one: ContentSchema, other: ContentSchema
) -> ContentSchema | None:
    """Return the schema of the values that two schemas, or one of them, take.

    Arguments:
        keyword: `allOf` for both, `anyOf` for one of them.
        one: a schema.
        other: another schema.

    Returns:
        The schema; None if it would be too large, or if a schema can't be moved.

    Examples:
        >>> schemas = map(content_schema_of, ({"type": "number"}, {"multipleOf": 2}))
        >>> combined("allOf", *schemas).text
        '{"allOf":[{"multipleOf":2},{"type":"number"}]}'
    """
    if one == other:
        return one
    # In one order, so that both ways make the same schema.
    ordered = sorted((one, other), key=lambda each: each.canonical)
    moved = [_moved(each.exact, f"/{keyword}/{place}") for place, each in enumerate(ordered)]
    if None in moved:
        return None
    try:
        return content_schema_of({keyword: moved})
    except InvalidSchema:
        return None


def _moved(schema: Any, place: str) -> Any:
    """Return a copy of a schema whose references lead to a place in another document."""
    moved = copy.deepcopy(schema)
    for _, each in subschemas(moved):
        if isinstance(each, dict):
            if not _PLACED.isdisjoint(each):
                return None
            reference = each.get("$ref")
            if isinstance(reference, str):
                if not (reference == "#" or reference.startswith("#/")):
                    return None
                each["$ref"] = f"#{place}{reference[1:]}"
    return moved
