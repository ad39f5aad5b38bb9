"""Schemas of single values made narrower, so that they ask for no more than another one takes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_Schema = Mapping[str, Any]

_HIGHER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LOWER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_LIMITS: Final[Mapping[str, Callable[..., Any]]] = {
    **dict.fromkeys(_HIGHER, max),
    **dict.fromkeys(_LOWER, min),
}
_OTHERS: Final = ("pattern", "multipleOf", "const", "uniqueItems")
_MEMBERS: Final = frozenset({
    "$ref", "anyOf", "oneOf", "allOf", "not", "if", "properties", "patternProperties", "items",
    "prefixItems", "additionalProperties", "propertyNames", "contains", "dependentRequired",
    "dependentSchemas", "required",
})  # fmt: skip
"""Keywords of schemas that are no plain rules for single values."""


def narrowed(place: _Schema, wanted: _Schema) -> Iterator[dict[str, Any]]:
    """Yield a schema with the rules of another one, too; nothing if it has or can't have them.

    Arguments:
        place: a schema.
        wanted: the schema whose rules are to hold, too.

    Examples:
        >>> list(narrowed({"type": "number", "minimum": 1}, {"type": "integer", "minimum": 3}))
        [{'type': 'integer', 'minimum': 3}]
        >>> list(narrowed({"enum": [1, 2]}, {"enum": [2, 3]}))
        [{'enum': [2]}]
        >>> list(narrowed({"type": "string"}, {"type": "integer"}))
        []
    """
    if not _MEMBERS.isdisjoint(place) or not _MEMBERS.isdisjoint(wanted):
        return
    after = dict(place)
    types = _types(place, wanted)
    if types == []:
        return
    if types:
        after["type"] = types[0] if len(types) == 1 else types
    if "enum" in wanted:
        values = [each for each in place.get("enum", wanted["enum"]) if each in wanted["enum"]]
        if not values:
            return
        after["enum"] = values
    for keyword, stricter in _LIMITS.items():
        if keyword in wanted:
            after[keyword] = stricter(place.get(keyword, wanted[keyword]), wanted[keyword])
    for keyword in _OTHERS:
        if keyword in wanted and place.get(keyword, wanted[keyword]) != wanted[keyword]:
            after["allOf"] = [*after.get("allOf", ()), {keyword: wanted[keyword]}]
        elif keyword in wanted:
            after[keyword] = wanted[keyword]
    if after != place:
        yield after


def _types(place: _Schema, wanted: _Schema) -> list[str] | None:
    """Return the types that both schemas take; None if neither says any."""
    mine, theirs = (_listed(each.get("type")) for each in (place, wanted))
    if mine is None or theirs is None:
        return mine or theirs
    both = [each for each in mine if each in theirs]
    if "integer" not in both and {"integer", "number"} <= {*mine, *theirs}:
        both.append("integer")
    return both


def _listed(types: Any) -> list[str] | None:
    return [types] if isinstance(types, str) else types
