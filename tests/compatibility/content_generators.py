"""Random content schemas, small ones with every keyword that the search follows."""

import random
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any] | bool

_NAMES = ("a", "b", "ab", "c")
_PATTERNS = ("^a", "b$", "^[ab]$", "a|b", "^a*$", "^(a|b)?$", "^.{2}$", "^$", "[^a]")
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 0.5, "", "a", "b", "ab"),
    *([], [0], ["a", 1], {}, {"a": 0}, {"b": None}, {"a": "a"}),
)
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


class Drawer:
    """Draws schemas.

    Arguments:
        rng: where chance comes from.
        references: whether schemas refer to definitions, which may refer to themselves.
    """

    def __init__(self, rng: random.Random, *, references: bool = False) -> None:
        self._rng = rng
        self._references = references

    def document(self, depth: int = 3) -> Schema:
        """Return a schema that stands alone."""
        schema = self.schema(depth)
        if self._references and isinstance(schema, dict):
            definitions = {name: self.schema(depth - 1) for name in ("x", "y")}
            return {**schema, "$defs": definitions}
        return schema

    def schema(self, depth: int) -> Schema:
        """Return a schema of some levels at most."""
        rng = self._rng
        if depth <= 0 or rng.random() < 0.15:
            return rng.choice((True, False, {}, {"type": rng.choice(_TYPES)}, self._const()))
        found: dict[str, Any] = {}
        if rng.random() < 0.5:
            found["type"] = rng.choice((rng.choice(_TYPES), rng.sample(_TYPES, 2)))
        for _ in range(rng.randint(1, 3)):
            rng.choice(_KEYWORDS)(self, found, depth - 1)
        if self._references and rng.random() < 0.2:
            # Inside of a member, so that no schema is only itself again.
            target = rng.choice(("#", "#/$defs/x", "#/$defs/y"))
            found.setdefault("properties", {})["a"] = {"$ref": target}
        return found

    def _const(self) -> Schema:
        return {"const": self._rng.choice(_VALUES)}

    def some(self, depth: int, most: int = 3) -> list[Schema]:
        """Return a few schemas."""
        return [self.schema(depth) for _ in range(self._rng.randint(1, most))]

    def _number(self, found: dict[str, Any], _: int) -> None:
        keyword = self._rng.choice(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
        found[keyword] = self._rng.choice((-1, 0, 0.5, 1, 2))

    def _multiple(self, found: dict[str, Any], _: int) -> None:
        found["multipleOf"] = self._rng.choice((0.5, 1, 2, 3))

    def _length(self, found: dict[str, Any], _: int) -> None:
        found[self._rng.choice(("minLength", "maxLength"))] = self._rng.choice((0, 1, 2))

    def _pattern(self, found: dict[str, Any], _: int) -> None:
        found["pattern"] = self._rng.choice(_PATTERNS)

    def _enum(self, found: dict[str, Any], _: int) -> None:
        found["enum"] = self._rng.sample(_VALUES, self._rng.randint(1, 5))

    def _properties(self, found: dict[str, Any], depth: int) -> None:
        names = self._rng.sample(_NAMES, self._rng.randint(1, 3))
        found["properties"] = {name: self.schema(depth) for name in names}

    def _required(self, found: dict[str, Any], _: int) -> None:
        found["required"] = self._rng.sample(_NAMES, self._rng.randint(1, 2))

    def _additional(self, found: dict[str, Any], depth: int) -> None:
        found["additionalProperties"] = self._rng.choice((False, self.schema(depth)))

    def _patterned(self, found: dict[str, Any], depth: int) -> None:
        found["patternProperties"] = {self._rng.choice(_PATTERNS): self.schema(depth)}

    def _size(self, found: dict[str, Any], _: int) -> None:
        found[self._rng.choice(("minProperties", "maxProperties"))] = self._rng.randint(0, 3)

    def _names(self, found: dict[str, Any], depth: int) -> None:
        found["propertyNames"] = self.schema(min(depth, 1))

    def _dependent(self, found: dict[str, Any], depth: int) -> None:
        one, other = self._rng.sample(_NAMES, 2)
        if self._rng.random() < 0.5:
            found["dependentRequired"] = {one: [other]}
        else:
            found["dependentSchemas"] = {one: self.schema(depth)}

    def _items(self, found: dict[str, Any], depth: int) -> None:
        found["items"] = self.schema(depth)

    def _prefix(self, found: dict[str, Any], depth: int) -> None:
        found["prefixItems"] = self.some(depth, 2)

    def _count(self, found: dict[str, Any], _: int) -> None:
        found[self._rng.choice(("minItems", "maxItems"))] = self._rng.randint(0, 3)

    def _contains(self, found: dict[str, Any], depth: int) -> None:
        found["contains"] = self.schema(depth)
        for keyword in self._rng.sample(("minContains", "maxContains"), self._rng.randint(0, 2)):
            found[keyword] = self._rng.randint(0, 2)

    def _combined(self, found: dict[str, Any], depth: int) -> None:
        found[self._rng.choice(("allOf", "anyOf", "oneOf"))] = self.some(depth)

    def _not(self, found: dict[str, Any], depth: int) -> None:
        found["not"] = self.schema(depth)

    def _condition(self, found: dict[str, Any], depth: int) -> None:
        for keyword in ("if", "then", "else"):
            found[keyword] = self.schema(depth)


_KEYWORDS: tuple[Callable[[Drawer, dict[str, Any], int], None], ...] = (
    Drawer._number, Drawer._multiple, Drawer._length, Drawer._pattern, Drawer._enum,
    Drawer._properties, Drawer._properties, Drawer._required, Drawer._additional,
    Drawer._patterned, Drawer._size, Drawer._names, Drawer._dependent, Drawer._items,
    Drawer._prefix, Drawer._count, Drawer._contains, Drawer._combined, Drawer._combined,
    Drawer._not, Drawer._condition,
)  # fmt: skip
