"""Reads content schemas into nodes: what each keyword says."""

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from messagebody.compatibility._contents._nodes import (
    ANY,
    ARRAY,
    BOOLEAN,
    FALSE,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    Among,
    Bound,
    Distinct,
    Has,
    Holding,
    ItemAt,
    ItemCount,
    Items,
    Kinds,
    Length,
    Matches,
    Members,
    Multiple,
    Nodes,
    One,
    Outside,
    Scalar,
    SchemaAt,
    Size,
    Unknown,
    canonical,
    exact,
    run,
    scalar,
)
from messagebody.compatibility._contents._patterns import automaton
from messagebody.schema._dialects import subschemas

_Steps = Generator[Any, int, int]

_NAMED: Final = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": INTEGER,
    "number": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}

_LARGEST_COUNT: Final = 10**12
_UNFOLLOWED: Final = ("unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef")


def read(nodes: Nodes, document: Any, text: str | None = None) -> tuple[int, int]:
    """Return the node of a schema, and how many schemas it is made of.

    Arguments:
        nodes: where its nodes go.
        document: the schema.
        text: the schema as text, the same for equal schemas; made if it is not given.

    Examples:
        >>> nodes = Nodes()
        >>> read(nodes, {"type": "string", "title": "A"}) == read(nodes, {"type": ["string"]})
        True
    """
    text = canonical(document) if text is None else text
    found = nodes.documents.get(text)
    if found is None:
        reader = _SchemaReader(nodes, document, text)
        found = reader.read(), reader.schemas
        nodes.documents[text] = found
    return found


class _SchemaReader:
    """Reads one document.

    Arguments:
        nodes: where its nodes go.
        document: the document.
        text: the document as text, which stands for it.
    """

    def __init__(self, nodes: Nodes, document: Any, text: str) -> None:
        self.schemas = 0
        self._nodes = nodes
        self._document = document
        self._text = text
        self._open: set[str] = set()
        self._read: dict[str, int] = {}
        self._linked: dict[str, SchemaAt] = {}
        own = isinstance(document, dict) and "$id" in document
        self._has_documents = text.count('"$id"') > own

    def read(self) -> int:
        """Return the node of the document."""
        found = run(self._at("", self._document))
        # Places that only links lead to, while they were being read.
        for pointer, link in self._linked.items():
            self._nodes.targets[link] = self._read[pointer]
        return found

    def _at(self, pointer: str, schema: Any) -> _Steps:
        """Return the node of a place that a reference names."""
        if pointer in self._read:
            return self._read[pointer]
        if pointer in self._open:
            link = SchemaAt(self._text, pointer)
            self._linked[pointer] = link
            return self._nodes.add(link)
        self._open.add(pointer)
        found = yield self._schema(schema, pointer)
        self._open.discard(pointer)
        self._read[pointer] = found
        return found

    def _unknown(self, keyword: str, pointer: str) -> int:
        return self._nodes.add(Unknown(keyword, f"{pointer}/{escaped(keyword)}", self._text))

    def _schema(self, schema: Any, pointer: str) -> _Steps:
        self.schemas += 1
        if isinstance(schema, bool):
            return TRUE if schema else FALSE
        found: list[int] = []
        # In one order, so that schemas that are written in another order are the same.
        for keyword in sorted(schema, key=_order):
            read = _KEYWORDS.get(keyword)
            if read is not None:
                try:
                    number = read(self, schema, pointer)
                    found.append(number if isinstance(number, int) else (yield number))
                except Outside:
                    found.append(self._unknown(keyword, pointer))
            elif keyword in _UNFOLLOWED:
                found.append(self._unknown(keyword, pointer))
        return found[0] if len(found) == 1 else self._nodes.all_of(found)

    def _each(self, keyword: str, schema: Mapping[str, Any], pointer: str) -> Any:
        return [
            self._schema(each, f"{pointer}/{keyword}/{place}")
            for place, each in enumerate(schema[keyword])
        ]

    # Any type

    def _type(self, schema: Mapping[str, Any], _: str) -> int:
        named, types = schema["type"], 0
        for name in [named] if isinstance(named, str) else named:
            types |= _NAMED[name]
        return self._nodes.add(Kinds(types)) if types != ANY else TRUE

    def _const(self, schema: Mapping[str, Any], _: str) -> _Steps:
        return (yield self._nodes.constant_steps(schema["const"], {}))

    def _enum(self, schema: Mapping[str, Any], _: str) -> _Steps:
        scalars: dict[Scalar, None] = {}
        others: list[int] = []
        for value in schema["enum"]:
            if isinstance(value, dict | list | tuple):
                others.append((yield self._nodes.constant_steps(value, {})))
            else:
                scalars[scalar(value)] = None
        # In one order, so that enumerations of the same values are the same.
        ordered = tuple(sorted(scalars, key=lambda each: (each[0], repr(each[1]))))
        if ordered:
            others.append(self._nodes.add(Among(ordered)))
        return self._nodes.any_of(others)

    def _all(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        found = []
        for steps in self._each("allOf", schema, pointer):
            found.append((yield steps))  # noqa: PERF401 - a generator that is sent answers
        return self._nodes.all_of(found)

    def _any(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        found = []
        for steps in self._each("anyOf", schema, pointer):
            found.append((yield steps))  # noqa: PERF401 - the same
        return self._nodes.any_of(found)

    def _one(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        found = []
        for steps in self._each("oneOf", schema, pointer):
            found.append((yield steps))  # noqa: PERF401 - the same
        return found[0] if len(found) == 1 else self._nodes.add(One(tuple(found)))

    def _not(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        return -(yield self._schema(schema["not"], f"{pointer}/not"))

    def _if(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        condition = yield self._schema(schema["if"], f"{pointer}/if")
        then = yield self._schema(schema.get("then", True), f"{pointer}/then")
        other = yield self._schema(schema.get("else", True), f"{pointer}/else")
        nodes = self._nodes
        return nodes.all_of([nodes.any_of([-condition, then]), nodes.any_of([condition, other])])

    def _ref(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        reference = schema["$ref"]
        at = unquote(reference[1:]) if reference.startswith("#") else None
        # An `$id` inside starts a document of its own, in which references mean other places.
        if at is None or self._has_documents:
            return self._unknown("$ref", pointer)
        if at and not at.startswith("/"):
            at = self._anchors.get(at, at)
        try:
            target = resolved(self._document, at)
        except LookupError:
            return self._unknown("$ref", pointer)
        return (yield self._at(at, target))

    @cached_property
    def _anchors(self) -> dict[str, str]:
        """The places that have names of their own."""
        return {
            schema["$anchor"]: "".join(f"/{escaped(str(step))}" for step in place)
            for place, schema in subschemas(self._document)
            if isinstance(schema, dict) and "$anchor" in schema
        }

    # Numbers

    def _bound(self, keyword: str, schema: Mapping[str, Any]) -> int:
        is_upper, is_strict = keyword.lower().endswith("maximum"), keyword.startswith("ex")
        return self._nodes.add(Bound(exact(schema[keyword]), is_upper, is_strict))

    def _multiple(self, schema: Mapping[str, Any], _: str) -> int:
        return self._nodes.add(Multiple(exact(schema["multipleOf"])))

    # Strings

    def _pattern(self, schema: Mapping[str, Any], pointer: str) -> int:
        return self._matching(schema["pattern"], "pattern", pointer)

    def _matching(self, pattern: str, keyword: str, pointer: str) -> int:
        if automaton(pattern) is None:
            return self._unknown(keyword, pointer)
        return self._nodes.add(Matches(pattern))

    # Objects

    def _properties(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        found = []
        for name, each in sorted(schema["properties"].items()):
            value = yield self._schema(each, f"{pointer}/properties/{escaped(name)}")
            if value != TRUE:
                found.append(self._nodes.add(Members(self._nodes.name(name), value)))
        return self._nodes.all_of(found)

    def _pattern_properties(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        found = []
        for pattern, each in sorted(schema["patternProperties"].items()):
            value = yield self._schema(each, f"{pointer}/patternProperties/{escaped(pattern)}")
            names = self._matching(pattern, "patternProperties", pointer)
            found.append(self._nodes.add(Members(names, value)))
        return self._nodes.all_of(found)

    def _additional(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        value = yield self._schema(
            schema["additionalProperties"], f"{pointer}/additionalProperties"
        )
        if value == TRUE:
            return TRUE
        patterns = [
            self._matching(pattern, "patternProperties", pointer)
            for pattern in sorted(schema.get("patternProperties", ()))
        ]
        others = self._nodes.no_name(sorted(schema.get("properties", ())), patterns)
        return self._nodes.add(Members(others, value))

    def _names(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        names = yield self._schema(schema["propertyNames"], f"{pointer}/propertyNames")
        return self._nodes.add(Members(-names, FALSE)) if names != TRUE else TRUE

    def _required(self, schema: Mapping[str, Any], _: str) -> int:
        names = sorted(schema["required"])
        return self._nodes.all_of([self._nodes.add(Has(name)) for name in names])

    def _dependent(self, schema: Mapping[str, Any], _: str) -> int:
        nodes, found = self._nodes, []
        for name, wanted in sorted(schema["dependentRequired"].items()):
            both = nodes.all_of([nodes.add(Has(each)) for each in wanted])
            found.append(nodes.any_of([nodes.add(Members(nodes.name(name), FALSE)), both]))
        return nodes.all_of(found)

    def _dependent_schemas(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        nodes, found = self._nodes, []
        for name, each in sorted(schema["dependentSchemas"].items()):
            value = yield self._schema(each, f"{pointer}/dependentSchemas/{escaped(name)}")
            found.append(nodes.any_of([nodes.add(Members(nodes.name(name), FALSE)), value]))
        return nodes.all_of(found)

    # Arrays

    def _prefix(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        found = []
        for place, steps in enumerate(self._each("prefixItems", schema, pointer)):
            value = yield steps
            if value != TRUE:
                found.append(self._nodes.add(ItemAt(place, value)))
        return self._nodes.all_of(found)

    def _items(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        value = yield self._schema(schema["items"], f"{pointer}/items")
        start = len(schema.get("prefixItems", ()))
        return self._nodes.add(Items(start, value)) if value != TRUE else TRUE

    def _contains(self, schema: Mapping[str, Any], pointer: str) -> _Steps:
        value = yield self._schema(schema["contains"], f"{pointer}/contains")
        least, most = number_of(schema.get("minContains", 1)), schema.get("maxContains")
        found = [self._nodes.add(Holding(least, False, value))] if least else []
        if most is not None:
            found.append(self._nodes.add(Holding(number_of(most), True, value)))
        return self._nodes.all_of(found)

    def _unique(self, schema: Mapping[str, Any], _: str) -> int:
        return self._nodes.add(Distinct()) if schema["uniqueItems"] else TRUE

    def _limit(self, keyword: str, node: type[Length] | type[Size] | type[ItemCount],
               schema: Mapping[str, Any]) -> int:  # fmt: skip
        limit, is_upper = number_of(schema[keyword]), keyword.startswith("max")
        return self._nodes.add(node(limit, is_upper)) if limit or is_upper else TRUE


def number_of(value: Any) -> int:
    """Return a count, which JSON may write as 2.0.

    Raises:
        Outside: it is too large.
    """
    number = exact(value)
    if number > _LARGEST_COUNT or number.denominator != 1:
        raise Outside
    return int(number)


def _bounded(keyword: str) -> Any:
    def read(self: _SchemaReader, schema: Mapping[str, Any], _: str) -> int:
        return self._bound(keyword, schema)

    return read


def _limited(keyword: str, node: Any) -> Any:
    def read(self: _SchemaReader, schema: Mapping[str, Any], _: str) -> int:
        return self._limit(keyword, node, schema)

    return read


_KEYWORDS: Final[Mapping[str, Any]] = {
    "type": _SchemaReader._type,
    "const": _SchemaReader._const,
    "enum": _SchemaReader._enum,
    "allOf": _SchemaReader._all,
    "anyOf": _SchemaReader._any,
    "oneOf": _SchemaReader._one,
    "not": _SchemaReader._not,
    "if": _SchemaReader._if,
    "$ref": _SchemaReader._ref,
    **{
        keyword: _bounded(keyword)
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    },
    "multipleOf": _SchemaReader._multiple,
    "minLength": _limited("minLength", Length),
    "maxLength": _limited("maxLength", Length),
    "pattern": _SchemaReader._pattern,
    "minProperties": _limited("minProperties", Size),
    "maxProperties": _limited("maxProperties", Size),
    "properties": _SchemaReader._properties,
    "patternProperties": _SchemaReader._pattern_properties,
    "additionalProperties": _SchemaReader._additional,
    "propertyNames": _SchemaReader._names,
    "required": _SchemaReader._required,
    "dependentRequired": _SchemaReader._dependent,
    "dependentSchemas": _SchemaReader._dependent_schemas,
    "minItems": _limited("minItems", ItemCount),
    "maxItems": _limited("maxItems", ItemCount),
    "prefixItems": _SchemaReader._prefix,
    "items": _SchemaReader._items,
    "contains": _SchemaReader._contains,
    "uniqueItems": _SchemaReader._unique,
}


_ORDER: Final = {keyword: place for place, keyword in enumerate(_KEYWORDS)}


def _order(keyword: str) -> int:
    return _ORDER.get(keyword, len(_ORDER))


def escaped(name: str) -> str:
    """Return a name as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def resolved(document: Any, pointer: str) -> Any:
    """Return the schema at a place of a document.

    Raises:
        LookupError: there is none.
    """
    if pointer and not pointer.startswith("/"):
        raise LookupError(pointer)
    at = document
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        at = at[int(name)] if isinstance(at, Sequence) and name.isdecimal() else at[name]
    return at
