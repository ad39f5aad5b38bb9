"""Places of contents in a schema: which schemas inside speak of one, and of which one speaks."""

import copy
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from messagebody.compatibility._contents._reading import escaped, resolved

_MOST: Final = 32
"""Schemas that are looked at for one place."""
_VISITED: Final = 500
"""Places that are visited to find those of a schema."""
LISTED: Final = 4
"""Places of a schema that are listed."""
_UNIONS: Final = ("anyOf", "oneOf", "allOf")
_LOCAL: Final = "#/$defs/"


def schemas_at(document: Any, pointer: str) -> list[dict[str, Any]]:
    """Return the schemas that speak of a place, alternatives and what references lead to as well.

    Arguments:
        document: the schema of the contents.
        pointer: the place in the contents, a JSON Pointer.

    Examples:
        >>> text = {"type": "string"}
        >>> schemas_at({"properties": {"a": {"anyOf": [text, {"type": "null"}]}}}, "/a")[1:]
        [{'type': 'string'}, {'type': 'null'}]
    """
    found = _with_alternatives(document, [document])
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = _with_alternatives(
            document, [inner for each in found for inner in _child_schemas(each, name)]
        )
    return found


def places_of(document: Any, schema: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Return the first places of which a schema inside speaks, and whether there may be more.

    Arguments:
        document: the whole schema.
        schema: the schema inside, by identity.
    """
    found: list[str] = []
    waiting = deque([("", document)])
    for _ in range(_VISITED):
        if not waiting or len(found) > LISTED:
            break
        place, at = waiting.popleft()
        for each in _with_alternatives(document, [at]):
            if each is schema and place not in found:
                found.append(place)
            waiting.extend((f"{place}/{step}", inner) for step, inner in _steps(each))
    return found[:LISTED], bool(waiting) or len(found) > LISTED


def definitions_for(schema: Any, source: Any, target: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the definitions that a schema needs in another document; None if they can't be there.

    Arguments:
        schema: the schema, which becomes a part of the other document.
        source: the document that it is from.
        target: the other document.
    """
    needed: dict[str, Any] = {}
    mine = target.get("$defs", {})
    waiting = [schema]
    while waiting:
        for reference in _references(waiting.pop()):
            name = reference.removeprefix(_LOCAL)
            if name == reference or "/" in name or "~" in name or "%" in name:
                return None
            definition = source.get("$defs", {}).get(name)
            if name in needed:
                continue
            if definition is None or mine.get(name, definition) != definition:
                return None
            needed[name] = definition
            waiting.append(definition)
    return copy.deepcopy(needed)


def _references(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if isinstance(each.get("$ref"), str):
                yield each["$ref"]
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _with_alternatives(document: Any, schemas: list[Any]) -> list[dict[str, Any]]:
    """Return schemas with their alternatives, and with what their references lead to."""
    found: dict[int, dict[str, Any]] = {}
    waiting = deque(schemas)
    while waiting and len(found) < _MOST:
        each = waiting.popleft()
        if not isinstance(each, dict) or id(each) in found:
            continue
        found[id(each)] = each
        reference = each.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            try:
                waiting.append(resolved(document, reference[1:]))
            except LookupError:
                continue
        waiting.extend(inner for keyword in _UNIONS for inner in each.get(keyword, ()))
    return list(found.values())


def _child_schemas(schema: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Yield what a schema says of a member or item."""
    if name in schema.get("properties", {}):
        yield schema["properties"][name]
    elif "additionalProperties" in schema:
        yield schema["additionalProperties"]
    if name.isdecimal():
        first = schema.get("prefixItems", ())
        if int(name) < len(first):
            yield first[int(name)]
        elif "items" in schema:
            yield schema["items"]


def _steps(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the steps to members and items of which a schema speaks; `*` for any name."""
    for name, inner in schema.get("properties", {}).items():
        yield escaped(name), inner
    if "additionalProperties" in schema:
        yield "*", schema["additionalProperties"]
    first = schema.get("prefixItems", ())
    yield from ((str(place), inner) for place, inner in enumerate(first))
    if "items" in schema:
        yield str(len(first)), schema["items"]
