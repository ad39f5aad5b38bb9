"""Dialects of JSON Schema: where subschemas are, what is legal, and draft-07 in today's words."""

from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from messagebody._base.text import quote
from messagebody._wire.walk import containers
from messagebody.errors import InvalidSchema
from messagebody.findings import pointer

_TODAY: Final = "https://json-schema.org/draft/2020-12/schema"
_DRAFT_07: Final = "http://json-schema.org/draft-07/schema"

ONE: Final = frozenset({
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
"""Keywords whose value is a schema."""
SOME: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
NAMED: Final = frozenset({
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
})  # fmt: skip
"""Keywords whose value has a schema for each name; `dependencies` may also have lists of names."""

_ANY: Final = 2**31
_REFERENCES: Final = ("$ref", "$dynamicRef")

Place = tuple[str | int, ...]


def subschemas(schema: Any) -> Iterator[tuple[Place, Any]]:
    """Yield each schema in a schema with its place, its own first."""
    pending: list[tuple[Place, Any]] = [((), schema)]
    while pending:
        place, each = pending.pop()
        yield place, each
        if isinstance(each, dict):
            pending += [((*place, *steps), below) for steps, below in children(each)]


def children(schema: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    """Yield the schemas directly below one, with the steps to each."""
    for key, value in schema.items():
        if key in ONE:
            yield (key,), value
        elif key in SOME and isinstance(value, list):
            yield from (((key, at), each) for at, each in enumerate(value))
        elif key in NAMED and isinstance(value, dict):
            yield from (((key, name), each) for name, each in value.items())


def placed(schema: Any) -> Iterator[tuple[Place, Any, str]]:
    """Yield each schema in a schema with its place and its base: that of the nearest `$id` around.

    Raises:
        InvalidSchema: an `$id` is not a URI.
    """
    pending: list[tuple[Place, Any, str]] = [((), schema, "")]
    while pending:
        place, each, base = pending.pop()
        if isinstance(each, dict):
            if isinstance(each.get("$id"), str):
                base, _ = resolved(base, each["$id"], place)
            pending += [((*place, *steps), below, base) for steps, below in children(each)]
        yield place, each, base


def resolved(base: str, reference: str, place: Place = ()) -> tuple[str, str]:
    """Return the document that a reference leads to, and the fragment in it.

    Raises:
        InvalidSchema: it is not a URI.
    """
    if reference.startswith("#"):  # `urljoin` drops the base if it is a URN
        return base, reference[1:]
    try:
        return urldefrag(urljoin(base, reference))
    except ValueError as error:
        problem = f"contentSchema {pointer(*place)}: {quote(reference)} is not a URI"
        raise InvalidSchema(problem) from error


def require_inside(schema: Any) -> None:
    """Require that each reference stays in the document.

    Raises:
        InvalidSchema: one leaves it.
    """
    schemas = [each for each in placed(schema) if isinstance(each[1], dict)]
    inside = {"", *(base for _, _, base in schemas)}
    for place, each, base in schemas:
        for key in _REFERENCES:
            reference = each.get(key)
            if isinstance(reference, str) and resolved(base, reference, place)[0] not in inside:
                raise InvalidSchema(
                    f"contentSchema {pointer(*place, key)}: {quote(reference)} leaves the "
                    "document; nothing is fetched, so put the schema under $defs"
                )


def rewritten(schema: Any) -> Any:
    """Return a schema in the words of 2020-12 and without `$schema`; draft-07 is translated.

    Raises:
        InvalidSchema: it is of another dialect.
    """
    if not isinstance(schema, dict):
        return schema
    dialect = _dialect_of(schema)
    for place, each in subschemas(schema):
        if isinstance(each, dict) and "$schema" in each and _dialect_of(each, place) != dialect:
            raise InvalidSchema(f"contentSchema {pointer(*place)} changes the dialect")
    rewrite = _from_draft_07 if dialect == _DRAFT_07 else _without_dialect
    return _copied(schema, rewrite)


def _dialect_of(schema: dict[str, Any], place: Place = ()) -> str:
    stated = schema.get("$schema", _TODAY)
    dialect = stated.removesuffix("#") if isinstance(stated, str) else stated
    if dialect not in (_TODAY, _DRAFT_07):
        where = pointer(*place, "$schema")
        raise InvalidSchema(
            f"contentSchema {where}: {quote(stated)} is not a known dialect; known are "
            f"{_TODAY} and {_DRAFT_07}#"
        )
    return str(dialect)


_Rewrite = Callable[[dict[str, Any]], dict[str, Any]]


def _copied(schema: Any, rewrite: _Rewrite) -> Any:
    """Return a schema in which each one is rewritten; the levels are limited, so it may recurse."""
    if not isinstance(schema, dict):
        return schema
    made = rewrite(schema)
    for (*above, last), below in list(children(made)):
        holder: Any = made
        for step in above:
            holder = holder[step]
        holder[last] = _copied(below, rewrite)
    return made


def _without_dialect(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$schema"}


def _from_draft_07(schema: dict[str, Any]) -> dict[str, Any]:
    """Return one schema of draft-07, without those below it, in the words of 2020-12."""
    made: dict[str, Any] = {}
    # Beside `$ref` nothing counted, but a place for definitions may be there.
    if "$ref" in schema:
        schema = {key: schema[key] for key in schema if key in {"$ref", "definitions"}}
    for key, value in schema.items():
        if key == "$schema":
            continue
        if key == "definitions":
            made["$defs"] = value
        elif key == "$id" and isinstance(value, str) and value.startswith("#"):
            made["$anchor"] = value[1:]
        elif key == "$ref" and isinstance(value, str):
            made["$ref"] = _moved(value)
        elif key == "items" and isinstance(value, list):
            made["prefixItems"] = value
            made |= {"items": schema["additionalItems"]} if "additionalItems" in schema else {}
        elif key == "additionalItems":
            continue
        elif key == "dependencies" and isinstance(value, dict):
            made |= _dependencies(value)
        else:
            made[key] = value
    return made


def _dependencies(given: dict[str, Any]) -> dict[str, Any]:
    schemas = {name: each for name, each in given.items() if not isinstance(each, list)}
    names = {name: each for name, each in given.items() if isinstance(each, list)}
    return ({"dependentSchemas": schemas} if schemas else {}) | (
        {"dependentRequired": names} if names else {}
    )


def _moved(reference: str) -> str:
    """Return a reference of draft-07 to where its target is now."""
    base, _, fragment = reference.partition("#")
    if not fragment.startswith("/"):
        return reference
    steps = fragment.split("/")[1:]
    moved: list[str] = []
    is_word = True  # whether the next step is a keyword, and not a name below one
    for at, step in enumerate(steps):
        word = unquote(step)
        if not is_word:
            moved.append(step)
            is_word = True
            continue
        following = steps[at + 1] if at + 1 < len(steps) else ""
        if word == "items" and following.isdecimal():
            moved.append("prefixItems")
        else:
            moved.append({
                "definitions": "$defs", "additionalItems": "items",
                "dependencies": "dependentSchemas",
            }.get(word, step))  # fmt: skip
        is_list = word in SOME or (word == "items" and following.isdecimal())
        is_word = not (is_list or word in NAMED)
    return f"{base}#/{'/'.join(moved)}"


def at(root: Any, fragment: str) -> Any:
    """Return what a JSON Pointer in a reference leads to.

    Raises:
        LookupError, ValueError: it leads nowhere.
    """
    value = root
    for step in unquote(fragment).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def count_patterns(schema: Any) -> int:
    """Return how many patterns of texts and of names a schema has."""
    objects = [each for each in containers(schema, depth=_ANY) if isinstance(each, dict)]
    named = [each["patternProperties"] for each in objects if "patternProperties" in each]
    return sum("pattern" in each for each in objects) + sum(
        len(each) for each in named if isinstance(each, dict)
    )
