"""Dialects of JSON Schema: which words each knows, and where they hold schemas."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

import attrs

from messagebody._base.text import quote
from messagebody._wire.walk import containers
from messagebody.errors import InvalidSchema
from messagebody.findings import pointer

ONE: Final = frozenset({
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
"""Keywords whose value is a schema."""
SOME: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
NAMED: Final = frozenset({
    "$defs", "definitions", "dependentSchemas", "patternProperties", "properties",
})  # fmt: skip
"""Keywords whose value has a schema for each name."""

_ANY: Final = 2**31
_REFERENCES: Final = ("$ref", "$dynamicRef")

Place = tuple[str | int, ...]


@attrs.frozen
class JsonDialect:
    """A version of JSON Schema, as far as it differs from 2020-12.

    Arguments:
        uri: its name, as `$schema` spells it.
        holders: the words that hold schemas, and how: `one`, a `list`, one for each of some
            `names`, or `items`: one or a list.
        unknown: the words of other versions that mean nothing here.
        id: the word for the URI of a schema.
        anchors: the words for other names of a schema.
        refers_alone: whether nothing counts beside `$ref`.
        recurs: whether there is `$recursiveRef`.
    """

    uri: str
    holders: Mapping[str, str]
    unknown: frozenset[str]
    id: str = "$id"
    anchors: tuple[str, ...] = ()
    refers_alone: bool = True
    recurs: bool = False

    def is_reference(self, schema: dict[str, Any]) -> bool:
        """Return whether a schema is nothing but a reference."""
        return self.refers_alone and isinstance(schema.get("$ref"), str)

    def children(self, schema: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
        """Yield the schemas directly below one, with the steps to each."""
        if self.is_reference(schema):
            return
        for word, value in schema.items():
            holds = self.holders.get(word)
            if word == "additionalItems" and not isinstance(schema.get("items"), list):
                continue  # it is about the items after those that have a schema each
            if holds in {"list", "items"} and isinstance(value, list):
                yield from (((word, at), each) for at, each in enumerate(value))
            elif holds == "names" and isinstance(value, dict):
                yield from (
                    ((word, name), each)
                    for name, each in value.items()
                    if word != "dependencies" or not isinstance(each, list)
                )
            elif holds in {"one", "items"}:
                yield (word,), value


_NEW_2019: Final = frozenset({
    "$anchor", "$defs", "$recursiveAnchor", "$recursiveRef", "$vocabulary", "contentSchema",
    "dependentRequired", "dependentSchemas", "deprecated", "maxContains", "minContains",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_NEW_2020: Final = frozenset({"$dynamicAnchor", "$dynamicRef", "prefixItems"})
_NEW_07: Final = frozenset({
    "$comment", "contentEncoding", "contentMediaType", "else", "if", "readOnly", "then",
    "writeOnly",
})  # fmt: skip
_NEW_06: Final = frozenset({"$id", "const", "contains", "examples", "propertyNames"})

_HELD: Final = (
    dict.fromkeys(ONE, "one")
    | dict.fromkeys(SOME, "list")
    | dict.fromkeys(NAMED, "names")
    | {"dependencies": "names"}
)
_HELD_BEFORE: Final = _HELD | {"additionalItems": "one", "items": "items"}


WORDS: Final = (
    _HELD_BEFORE.keys() | _NEW_2019 | _NEW_2020 | _NEW_07 | _NEW_06 | {
        "$ref", "$schema", "default", "description", "enum", "enumNames", "example",
        "exclusiveMaximum", "exclusiveMinimum", "format", "id", "maxItems", "maxLength",
        "maxProperties", "maximum",
        "minItems", "minLength", "minProperties", "minimum", "multipleOf", "nullable", "pattern",
        "required", "title", "tsType", "type", "uniqueItems",
    }
)  # fmt: skip
"""The words that some version of JSON Schema knows, and some that generators add."""


def _without(words: frozenset[str]) -> dict[str, str]:
    return {word: holds for word, holds in _HELD_BEFORE.items() if word not in words}


def _plain_uri(uri: str) -> str:
    """Return a URI without its scheme and an empty fragment, which are often mistaken."""
    return uri.removesuffix("#").removeprefix("https").removeprefix("http")


_OLD: Final = _NEW_2019 | _NEW_2020
DRAFT_2020: Final = JsonDialect(
    "https://json-schema.org/draft/2020-12/schema", _HELD, frozenset(),
    anchors=("$anchor", "$dynamicAnchor"), refers_alone=False,
)  # fmt: skip
_DIALECTS: Final = {
    _plain_uri(each.uri): each
    for each in (
        DRAFT_2020,
        JsonDialect(
            "https://json-schema.org/draft/2019-09/schema", _without(_NEW_2020), _NEW_2020,
            anchors=("$anchor",), refers_alone=False, recurs=True,
        ),
        JsonDialect("http://json-schema.org/draft-07/schema#", _without(_OLD), _OLD),
        JsonDialect(
            "http://json-schema.org/draft-06/schema#", _without(_OLD | _NEW_07), _OLD | _NEW_07
        ),
        JsonDialect(
            "http://json-schema.org/draft-04/schema#", _without(_OLD | _NEW_07 | _NEW_06),
            _OLD | _NEW_07 | _NEW_06, id="id",
        ),
    )
}  # fmt: skip


def subschemas(schema: Any) -> Iterator[tuple[Place, Any]]:
    """Yield each schema in a legal schema with its place, its own first."""
    return ((place, each) for place, each, _ in located_schemas(schema))


def located_schemas(schema: Any) -> Iterator[tuple[Place, Any, str]]:
    """Yield each schema in a translated one with its place and its base, the nearest `$id` around.

    Raises:
        InvalidSchema: an `$id` is not a URI.
    """
    pending: list[tuple[Place, Any, str]] = [((), schema, "")]
    while pending:
        place, each, base = pending.pop()
        if isinstance(each, dict):
            if isinstance(each.get("$id"), str):
                base, _ = resolved(base, each["$id"], place)
            pending += [
                ((*place, *steps), below, base) for steps, below in DRAFT_2020.children(each)
            ]
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
    schemas = [each for each in located_schemas(schema) if isinstance(each[1], dict)]
    inside = {"", *(base for _, _, base in schemas)}
    for place, each, base in schemas:
        for key in _REFERENCES:
            reference = each.get(key)
            if isinstance(reference, str) and resolved(base, reference, place)[0] not in inside:
                raise InvalidSchema(
                    f"contentSchema {pointer(*place, key)}: {quote(reference)} leaves the "
                    "document; nothing is fetched, so put the schema under $defs"
                )


def dialect_of(schema: dict[str, Any], place: Place = ()) -> JsonDialect:
    """Return the dialect that a schema names; today's if it names none.

    Raises:
        InvalidSchema: it is not known.
    """
    stated = schema.get("$schema", DRAFT_2020.uri)
    dialect = _DIALECTS.get(_plain_uri(stated)) if isinstance(stated, str) else None
    if dialect is None:
        known = ", ".join(each.uri for each in _DIALECTS.values())
        raise InvalidSchema(
            f"contentSchema {pointer(*place, '$schema')}: {quote(stated)} is not a known dialect; "
            f"known are {known}"
        )
    return dialect


def value_at(root: Any, fragment: str) -> Any:
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
