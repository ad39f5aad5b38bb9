"""Contents of JSON parts, in the subset of JSON Schema that model providers take in strict mode.

In the subset, an object requires all of its members and allows no others, and an array has items of
one kind. There are choices, and lists of texts. What else a schema says is named, so that its
author knows what only the validation of the answer sees.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import attrs

from messagebody.schema import ContentSchema

_NODES: Final = 1000
"""The most places of one content schema; what is referred to is written at each place."""
_DEPTH: Final = 10
"""The most levels; OpenAI takes ten of objects."""
_BOUNDS: Final = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties",
    "maxProperties",
)  # fmt: skip
"""What is left to the description, in the words of JSON Schema."""
_UNSAID: Final = (
    *_BOUNDS, "contains", "propertyNames", "dependentRequired", "dependentSchemas", "not", "if",
    "unevaluatedProperties", "unevaluatedItems", "patternProperties",
)  # fmt: skip
_NULL: Final[dict[str, Any]] = {"type": "null"}


class _Unsayable(Exception):
    """End a translation, because no schema of the subset comes near."""


@attrs.frozen
class StrictContent:
    """What a model writes for one place of a content.

    Arguments:
        schema: the JSON Schema, in the subset.
        members: the members of an object.
        absent: the members that the content may leave out; a model writes null for that.
        items: the items of an array.
        choices: the alternatives, of which a value takes one.
    """

    schema: dict[str, Any]
    members: Mapping[str, "StrictContent"] = attrs.Factory(dict)
    absent: frozenset[str] = frozenset()
    items: "StrictContent | None" = None
    choices: tuple["StrictContent", ...] = ()

    @property
    def takes_null(self) -> bool:
        return self.schema == _NULL or any(each.takes_null for each in self.choices)

    def content(self, value: Any) -> Any:
        """Return the content that a value means: nulls for absent members are taken out."""
        chosen = next((each for each in self.choices if each._begins_like(value)), self)
        if chosen is not self:
            return chosen.content(value)
        if isinstance(value, Mapping):
            return {
                name: self.members[name].content(item) if name in self.members else item
                for name, item in value.items()
                if item is not None or name not in self.absent
            }
        if isinstance(value, list) and self.items is not None:
            return [self.items.content(item) for item in value]
        return value

    def _begins_like(self, value: Any) -> bool:
        if self.choices:
            return any(each._begins_like(value) for each in self.choices)
        if isinstance(value, Mapping):
            return value.keys() == self.members.keys()
        return isinstance(value, list) and self.items is not None


def strict_content(schema: ContentSchema | None) -> tuple[StrictContent | None, tuple[str, ...]]:
    """Return what a model writes for a content schema, and what of it the subset can't say.

    Arguments:
        schema: the content schema, if there is one.

    Returns:
        None if a model has to write text, because the subset comes near no part of the schema; and
        for each keyword that is left out its place, such as "/properties/score: minimum".
    """
    if schema is None:
        return None, ()
    translation = _Translation(root := schema.value)
    try:
        found = translation.translate(root, "")
    except _Unsayable as error:
        return None, (str(error),)
    return found, tuple(dict.fromkeys(translation.unsaid))


class _Translation:
    """One walk through a content schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._nodes = 0
        self._within: list[str] = []
        self.unsaid: list[str] = []

    def translate(self, schema: Any, place: str, depth: int = 0) -> StrictContent:
        self._nodes += 1
        if self._nodes > _NODES or depth > _DEPTH:
            raise _Unsayable(f"{place}: more than {_NODES:,} places or {_DEPTH} levels")
        if not isinstance(schema, dict):
            raise _Unsayable(f"{place}: {'true' if schema else 'false'}")
        found = self._translate_kind(schema, place, depth)
        about = [schema["description"]] if isinstance(schema.get("description"), str) else []
        about += [f"{word}: {schema[word]}" for word in _BOUNDS if word in schema]
        self._note(place, [word for word in _UNSAID if word in schema])
        if not about:
            return found
        return attrs.evolve(found, schema={**found.schema, "description": "; ".join(about)})

    def _note(self, place: str, words: list[str]) -> None:
        self.unsaid += [f"{place}: {word}" for word in words]

    def _translate_kind(self, schema: dict[str, Any], place: str, depth: int) -> StrictContent:
        if "$ref" in schema:
            self._note(place, [word for word in ("type", "properties", "anyOf") if word in schema])
            return self._referred(schema["$ref"], place, depth)
        if "const" in schema or "enum" in schema:
            return self._enum(schema.get("enum", [schema.get("const")]), place)
        kinds = schema.get("type") or _implied(schema)
        choices = next((word for word in ("anyOf", "oneOf") if word in schema), None)
        if kinds:
            self._note(place, [word for word in ("allOf", "anyOf", "oneOf") if word in schema])
            return self._typed(schema, [kinds] if isinstance(kinds, str) else kinds, place, depth)
        if choices is not None:
            self._note(place, [word for word in ("allOf", "oneOf") if word in schema])
            return _choice(
                [
                    self.translate(each, f"{place}/{choices}/{index}", depth)
                    for index, each in enumerate(schema[choices])
                ],
                place,
            )
        if len(schema.get("allOf", ())) == 1:
            return self.translate(schema["allOf"][0], f"{place}/allOf/0", depth)
        raise _Unsayable(f"{place}: any value")

    def _referred(self, reference: str, place: str, depth: int) -> StrictContent:
        if reference in self._within:
            raise _Unsayable(f"{place}: {reference} contains itself")
        target = self._root
        if not reference.startswith("#/"):
            raise _Unsayable(f"{place}: $ref {reference}")
        for step in reference.split("/")[1:]:
            target = target.get(step.replace("~1", "/").replace("~0", "~"), {})
        self._within.append(reference)
        found = self.translate(target, place, depth)
        self._within.pop()
        return found

    def _enum(self, values: list[Any], place: str) -> StrictContent:
        texts = [each for each in values if isinstance(each, str)]
        made = [StrictContent({"type": "string", "enum": texts})] if texts else []
        kinds = dict.fromkeys(_KINDS.get(type(each), "") for each in values)
        for kind in kinds:
            if not kind:
                raise _Unsayable(f"{place}: enum of objects, arrays or long numbers")
            if kind != "string":
                made.append(StrictContent({"type": kind}))
                self._note(place, ["enum"] if kind != "null" else [])
        return _choice(made, place)

    def _typed(
        self, schema: dict[str, Any], kinds: list[str], place: str, depth: int
    ) -> StrictContent:
        make = {"object": self._object, "array": self._array}
        return _choice(
            [
                make[kind](schema, place, depth) if kind in make else StrictContent({"type": kind})
                for kind in kinds
            ],
            place,
        )

    def _object(self, schema: dict[str, Any], place: str, depth: int) -> StrictContent:
        given = {
            name: each for name, each in schema.get("properties", {}).items() if each is not False
        }
        needed = schema.get("required", ())
        if not given or not given.keys() >= set(needed):
            raise _Unsayable(f"{place}: an object whose members are not all named")
        if isinstance(schema.get("additionalProperties"), dict):
            self._note(place, ["additionalProperties"])
        members = {
            name: self.translate(each, f"{place}/properties/{name}", depth + 1)
            for name, each in given.items()
        }
        absent = frozenset(
            name for name, each in members.items() if name not in needed and not each.takes_null
        )
        properties = {
            name: {"anyOf": [each.schema, _NULL]} if name in absent else each.schema
            for name, each in members.items()
        }
        return StrictContent(strict_object(properties), members, absent)

    def _array(self, schema: dict[str, Any], place: str, depth: int) -> StrictContent:
        if "prefixItems" in schema:
            raise _Unsayable(f"{place}: prefixItems")
        items = self.translate(schema.get("items", True), f"{place}/items", depth + 1)
        return StrictContent({"type": "array", "items": items.schema}, items=items)


_KINDS: Final[dict[type, str]] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null",
    Decimal: "",
}  # fmt: skip


def _implied(schema: dict[str, Any]) -> str | None:
    """Return the type that the words of a schema without one are about."""
    return "object" if "properties" in schema else "array" if "items" in schema else None


def _choice(choices: list[StrictContent], place: str) -> StrictContent:
    if len(choices) == 1:
        return choices[0]
    flat = [each for choice in choices for each in (choice.choices or (choice,))]
    first = [next(iter(each.members)) for each in flat if each.members]
    if not flat or len(set(first)) < len(first):
        # OpenAI refuses them.
        raise _Unsayable(f"{place}: objects to choose from that begin with the same member")
    return StrictContent({"anyOf": [each.schema for each in flat]}, choices=tuple(flat))


def strict_object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object that has all of these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
