"""A strategy for contents: JSON values that satisfy a content schema."""

import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

from messagebody.schema import ContentSchema
from messagebody.schema._dialects import value_at

_Values = st.SearchStrategy[Any]
_DEEPEST: Final = 4
"""Levels on which members and items that may be missing are drawn."""
_MANY: Final = 4
"""Members and items that are drawn beyond those that are asked for."""
_KINDS: Final = ("null", "boolean", "integer", "number", "string", "array", "object")


def strategy_for(content: ContentSchema, anything: _Values, texts: _Values) -> _Values:
    """Return a strategy for values that satisfy a schema.

    Arguments:
        content: the schema.
        anything: draws a JSON value.
        texts: draws a text.
    """
    return _ContentDrawing(content.value, anything, texts).draw(content.value, _DEEPEST).filter(
        content.validator.is_valid
    )  # fmt: skip


class _ContentDrawing:
    """What is drawn for each schema in a schema; keywords that clash are left to a filter."""

    def __init__(self, root: Any, anything: _Values, texts: _Values) -> None:
        self._root = root
        self._anything = anything
        self._texts = texts
        self._of_kind: dict[str, Callable[[Mapping[str, Any], int], _Values]] = {
            "null": lambda *_: st.none(),
            "boolean": lambda *_: st.booleans(),
            "integer": lambda schema, _: self._integers(schema),
            "number": lambda schema, _: self._integers(schema) | self._floats(schema),
            "string": lambda schema, _: self._strings(schema),
            "array": self._arrays,
            "object": self._objects,
        }

    def draw(self, schema: Any, depth: int) -> _Values:
        """Return what is drawn for a schema."""
        if isinstance(schema, bool):
            return self._anything if schema else st.nothing()
        if not schema:
            return self._anything
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        for choices, rest in _alternatives(schema):
            if depth < -_DEEPEST:  # a circle of alternatives
                return st.nothing()
            return st.one_of(*[self.draw(_merge(rest, each), depth - 1) for each in choices])
        if isinstance(schema.get("$ref"), str):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            target = _target(self._root, schema["$ref"])
            if depth < -_DEEPEST:
                return st.nothing()
            return st.deferred(lambda: self.draw(_merge(rest, target), depth - 1))
        kinds = schema.get("type", _kinds_of(schema))
        listed = [kinds] if isinstance(kinds, str) else kinds
        return st.one_of(*[self._of_kind[kind](schema, depth) for kind in listed])

    def _integers(self, schema: Mapping[str, Any]) -> _Values:
        low, high = _bounds(schema)
        step = Decimal(str(schema.get("multipleOf", 1)))
        # The least common multiple of a fraction and one.
        step *= next(n for n in range(1, 10**6) if (step * n) % 1 == 0) if step % 1 else 1
        first = None if low is None else math.ceil(low / step)
        last = None if high is None else math.floor(high / step)
        if first is not None and last is not None and first > last:
            return st.nothing()
        return st.integers(first, last).map(lambda number: int(number * step))

    def _floats(self, schema: Mapping[str, Any]) -> _Values:
        low, high = _bounds(schema)
        if "multipleOf" in schema:
            step = float(schema["multipleOf"])
            return st.integers(-100, 100).map(lambda number: number * step)
        return st.floats(
            None if low is None else float(low), None if high is None else float(high),
            allow_nan=False, allow_infinity=False,
        )  # fmt: skip

    def _strings(self, schema: Mapping[str, Any]) -> _Values:
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if "pattern" in schema:
            texts = st.from_regex(schema["pattern"]).filter(_is_plain)
            return texts.filter(lambda text: least <= len(text) <= (most or len(text)))
        if least or most is not None:
            characters = st.characters(exclude_categories=["Cs"])
            longest = least + _MANY if most is None else min(most, least + _MANY)
            return st.text(characters, min_size=least, max_size=longest)
        return self._texts

    def _arrays(self, schema: Mapping[str, Any], depth: int) -> _Values:
        first = [self.draw(each, depth - 1) for each in schema.get("prefixItems", ())]
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        needed = []
        if "contains" in schema:
            wanted = schema.get("minContains", 1)
            needed = [self.draw(schema["contains"], depth - 1)] * min(wanted, _MANY)
        more = max(0, least - len(first) - len(needed))
        rest = self.draw(schema.get("items", True), depth - 1)
        if rest.is_empty and more:
            return st.nothing()
        spare = 0 if rest.is_empty or depth <= 0 else _MANY
        room = max(0, min(most - len(first) - len(needed), more + spare))
        tail = st.lists(rest, min_size=min(more, room), max_size=room) if room else st.just([])
        head = st.integers(0 if not more and not needed else len(first), len(first)).flatmap(
            lambda count: st.tuples(*first[:count])
        )
        return st.tuples(head, st.tuples(*needed), tail).map(_concatenate)

    def _objects(self, schema: Mapping[str, Any], depth: int) -> _Values:
        properties = schema.get("properties", {})
        required = [*schema.get("required", ())]
        others = schema.get("additionalProperties", True)
        needed = {name: self.draw(properties.get(name, others), depth - 1) for name in required}
        optional = {
            name: self.draw(each, depth - 1)
            for name, each in (properties.items() if depth > 0 else ())
            if name not in needed and each is not False
        }
        fixed = st.fixed_dictionaries(needed, optional=optional)
        names = self._texts
        if isinstance(schema.get("propertyNames"), dict):
            names = self.draw({"type": "string", **schema["propertyNames"]}, depth - 1)
        least = max(0, schema.get("minProperties", 0) - len(needed))
        extra = [
            st.dictionaries(st.from_regex(pattern).filter(_is_plain), self.draw(each, depth - 1),
                            max_size=2)
            for pattern, each in schema.get("patternProperties", {}).items()
        ]  # fmt: skip
        if others is not False and (depth > 0 or least):
            most = least + (1 if depth > 0 else 0)
            value = self.draw(others, depth - 1)
            extra.append(st.dictionaries(names, value, min_size=least, max_size=most))
        return st.tuples(st.tuples(*extra), fixed).map(_all_members)


def _alternatives(schema: Mapping[str, Any]) -> Iterable[tuple[list[Any], dict[str, Any]]]:
    """Yield the alternatives of a schema and what all of them have in common, at most once."""
    for key in ("allOf", "anyOf", "oneOf"):
        if key in schema:
            rest = {name: value for name, value in schema.items() if name != key}
            if key == "allOf":
                for each in schema[key]:
                    rest = _merge(rest, each)
                yield [{}], rest
            else:
                yield schema[key], rest
            return
    if "if" in schema:
        rest = {k: v for k, v in schema.items() if k not in {"if", "then", "else"}}
        yield [_merge(schema["if"], schema.get("then", True)), schema.get("else", True)], rest


def _merge(one: Any, other: Any) -> Any:
    """Return a schema of both; where keywords clash, the second one's is drawn."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if one is True else one if other is True else one and other
    both = {**one, **other}
    for key in one.keys() & other.keys():
        if key in {"properties", "patternProperties"}:
            names = one[key].keys() | other[key].keys()
            both[key] = {
                name: _merge(one[key].get(name, True), other[key].get(name, True))
                for name in sorted(names)
            }
        elif key == "required":
            both[key] = [*dict.fromkeys([*one[key], *other[key]])]
        elif key == "allOf":
            both[key] = [*one[key], *other[key]]
    return both


def _target(root: Any, reference: str) -> Any:
    """Return what a reference leads to; anything if it is no pointer, which a filter corrects."""
    if reference != "#" and not reference.startswith("#/"):
        return True
    try:
        return value_at(root, reference[1:])
    except (LookupError, ValueError, TypeError):
        return True  # it is about the document of an `$id`


def _kinds_of(schema: Mapping[str, Any]) -> Iterable[str]:
    """Return the types of values that a schema without `type` is about."""
    about = {
        "object": {"properties", "required", "additionalProperties", "patternProperties",
                   "propertyNames", "minProperties", "maxProperties"},
        "array": {"items", "prefixItems", "contains", "minItems", "maxItems"},
        "string": {"minLength", "maxLength", "pattern"},
        "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    }  # fmt: skip
    return [kind for kind, words in about.items() if words & schema.keys()] or _KINDS


def _bounds(schema: Mapping[str, Any]) -> tuple[Decimal | None, Decimal | None]:
    low = [Decimal(str(schema[k])) for k in ("minimum", "exclusiveMinimum") if k in schema]
    high = [Decimal(str(schema[k])) for k in ("maximum", "exclusiveMaximum") if k in schema]
    return max(low, default=None), min(high, default=None)


def _is_plain(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _concatenate(pieces: tuple[Iterable[Any], ...]) -> list[Any]:
    return [item for piece in pieces for item in piece]


def _all_members(drawn_members: tuple[tuple[dict[str, Any], ...], dict[str, Any]]) -> Any:
    extra, fixed = drawn_members
    members: dict[str, Any] = {}
    for each in extra:
        members |= each
    return members | fixed
