"""Changes of a schema of contents after which another one takes all that it takes."""

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import attrs

from messagebody.compatibility._contents._places import (
    LISTED,
    definitions_for,
    places_of,
    schemas_at,
)
from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.compatibility._contents._reading import escaped
from messagebody.compatibility._solver.contents import Difference
from messagebody.errors import InvalidSchema
from messagebody.schema import ContentSchema, content_schema_of

MemberKind = Literal[
    "require-member", "add-member", "rename-member", "drop-member", "drop-null", "close-object",
    "narrow-values",
]  # fmt: skip

_TRIED: Final = 32
"""Changed schemas that are looked at."""
_MADE: Final = 2_000_000
"""Characters of the schemas that are made for it."""
_EDITS: Final = 4
_MENDED: Final = 3
"""Differences of a schema that are mended at first: all have to be, and the order is no matter."""
_NULL: Final = {"type": "null"}
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

_Schema = Mapping[str, Any]


@attrs.frozen
class Repair:
    """One change of a schema of contents.

    Arguments:
        kind: `require-member`, `add-member`, `rename-member`, `drop-member`, `drop-null`,
            `close-object` or `narrow-values`.
        pointer: the first place in the content that it changes, a JSON Pointer.
        name: the new name of a member.
        others: further places that it changes, because they share a definition.
        is_elsewhere: whether it may change more places than these.
    """

    kind: MemberKind
    pointer: str
    name: str = ""
    others: tuple[str, ...] = ()
    is_elsewhere: bool = False


@attrs.frozen
class _Alteration:
    """What becomes of a schema inside.

    Arguments:
        kind: the kind of the repair.
        after: the schema after it.
        steps: the members that the repair is about, as steps of a JSON Pointer; none for the place.
        name: the new name of a member.
        needs: a schema of the other side that becomes a part of it.
    """

    kind: MemberKind
    after: dict[str, Any]
    steps: tuple[str, ...] = ("",)
    name: str = ""
    needs: Any = None


def repairs(
    sent: ContentSchema, taken: ContentSchema, questions: ContentQuestions
) -> Iterator[tuple[tuple[Repair, ...], ContentSchema]]:
    """Yield changes of a schema after which another one takes its values, the fewest first.

    Arguments:
        sent: the schema to change.
        taken: the schema that should take all its values.
        questions: finds what is left.

    Raises:
        OutOfBudget: the budget ended first.

    Examples:
        >>> from messagebody._base.budget import Budget
        >>> text = {"type": "string"}
        >>> sent = content_schema_of({"properties": {"a": text}, "required": ["a"]})
        >>> taken = content_schema_of({"properties": {"b": text}, "required": ["b"]})
        >>> next(repairs(sent, taken, ContentQuestions(Budget())))[0]
        (Repair(kind='rename-member', pointer='/a', name='b', others=(), is_elsewhere=False),)
    """
    queue: list[tuple[tuple[Repair, ...], ContentSchema]] = [((), sent)]
    seen = {sent}
    found: list[set[Repair]] = []
    characters = _MADE
    for edits, schema in queue:
        if any(known <= set(edits) for known in found):
            continue
        left, _ = questions.differences([schema], taken)
        if not left:
            found.append(set(edits))
            yield edits, schema
            continue
        for difference in left[:_MENDED] if len(edits) < _EDITS else ():
            for edit, changed in _changes(schema, taken, difference, questions):
                characters -= len(schema.canonical)
                if characters < 0 or len(seen) >= _TRIED:
                    break
                if changed is not None and changed not in seen:
                    seen.add(changed)
                    queue.append(((*edits, edit), changed))


def _changes(
    schema: ContentSchema, taken: ContentSchema, difference: Difference, questions: ContentQuestions
) -> Iterator[tuple[Repair, ContentSchema | None]]:
    """Yield changes that may settle a difference at all of its places that are named.

    The schema after a change is None if it is none.
    """
    pointers = (difference.pointer, *difference.others)
    yield from _changes_at(schema, taken, difference, pointers, _CHANGES, questions)
    # What decides may also be said of the whole that a place lies in.
    holders, names = zip(*(each.rpartition("/")[::2] for each in pointers), strict=True)
    if difference.pointer and difference.name is None:
        inner = attrs.evolve(difference, pointer=holders[0], name=names[0])
        yield from _changes_at(schema, taken, inner, holders, _OF_HOLDERS, questions)


def _changes_at(
    schema: ContentSchema,
    taken: ContentSchema,
    difference: Difference,
    pointers: Sequence[str],
    changes: Sequence["_Changing"],
    questions: ContentQuestions,
) -> Iterator[tuple[Repair, ContentSchema | None]]:
    """Yield changes of the schemas that speak of some places."""
    document = schema.exact
    first, *others = (schemas_at(document, each) for each in pointers)
    theirs = schemas_at(taken.exact, difference.pointer)
    for wanted, place, change in itertools.product(theirs, first, changes):
        for made in change(place, wanted, difference):
            changed: dict[int, tuple[_Schema, _Alteration]] = {id(place): (place, made)}
            for group in others:
                changed.update(_same_change(group, change, made, wanted, difference))
            changes_made = list(changed.values())
            repair = _repair_of(document, pointers[0], changes_made)
            is_usable = _is_usable(made, document, questions)
            yield repair, _applied(document, taken.exact, changes_made) if is_usable else None


_Changing = Callable[[_Schema, _Schema, Difference], Iterator[_Alteration]]


def _same_change(
    group: list[dict[str, Any]],
    change: _Changing,
    made: _Alteration,
    wanted: _Schema,
    difference: Difference,
) -> Iterator[tuple[int, tuple[_Schema, _Alteration]]]:
    """Yield the same change of a schema that speaks of another place, if it is one of its own."""
    for place in group:
        for each in change(place, wanted, difference):
            if each == made:
                yield id(place), (place, each)
                return


def _is_usable(made: _Alteration, document: Any, questions: ContentQuestions) -> bool:
    """Return whether some value is left, so that nothing is mended by sending nothing."""
    if made.kind != "narrow-values" or "$ref" in made.after:
        return True
    whole = {**made.after, "$defs": document.get("$defs", {})}
    try:
        return questions.ask([content_schema_of(whole)]) is not None
    except InvalidSchema:  # it refers to another place
        return True


def _applied(
    document: Any, source: Any, changes: list[tuple[_Schema, _Alteration]]
) -> ContentSchema | None:
    """Return a schema with changes of schemas inside; None if it is none."""
    memo: dict[int, Any] = {}
    made = copy.deepcopy(document, memo)
    for place, change in changes:
        inner = made if place is document else memo[id(place)]
        inner.clear()
        inner.update(copy.deepcopy(change.after))
        needed = definitions_for(change.needs, source, document) if change.needs is not None else {}
        if needed is None:
            return None
        if needed:
            made.setdefault("$defs", {}).update(needed)
    try:
        return content_schema_of(made)
    except InvalidSchema:
        return None


def _repair_of(document: Any, pointer: str, changes: list[tuple[_Schema, _Alteration]]) -> Repair:
    """Return changes as a repair that names the places of all schemas that it changes."""
    found = [places_of(document, place) for place, _ in changes]
    ordered = dict.fromkeys([pointer, *itertools.chain.from_iterable(each for each, _ in found)])
    _, made = changes[0]
    first, *others = [f"{each}{step}" for each in ordered for step in made.steps]
    is_more = len(others) >= LISTED or any(more for _, more in found)
    return Repair(made.kind, first, made.name, tuple(others[: LISTED - 1]), is_more)


def _rename(place: _Schema, wanted: _Schema, difference: Difference) -> Iterator[_Alteration]:
    mine, theirs = place.get("properties", {}), wanted.get("properties", {})
    name = difference.name
    if name is None or name in mine or name not in theirs:
        return
    for old, value in mine.items():
        if old not in theirs and value == theirs[name]:
            after = dict(place)
            after["properties"] = {name if each == old else each: mine[each] for each in mine}
            required = place.get("required", ())
            if old in required:
                after["required"] = [name if each == old else each for each in required]
            yield _Alteration("rename-member", after, (f"/{escaped(old)}",), name)
            return


def _require(place: _Schema, wanted: _Schema, difference: Difference) -> Iterator[_Alteration]:
    name, mine = difference.name, place.get("properties", {})
    if name is None:
        return
    after, steps = dict(place), (f"/{escaped(name)}",)
    after["required"] = [*place.get("required", ()), name]
    if name in mine:
        yield _Alteration("require-member", after, steps)
    elif name in wanted.get("properties", {}) and (mine or place.get("type") == "object"):
        theirs = wanted["properties"][name]
        after["properties"] = {**mine, name: theirs}
        yield _Alteration("add-member", after, steps, needs=theirs)


def _drop_null(place: _Schema, _: _Schema, difference: Difference) -> Iterator[_Alteration]:
    if difference.name is not None:
        return
    types = place.get("type")
    if isinstance(types, list) and "null" in types and len(types) > 1:
        left = [each for each in types if each != "null"]
        yield _Alteration("drop-null", {**place, "type": left[0] if len(left) == 1 else left})
    for keyword in ("anyOf", "oneOf"):
        left = [each for each in place.get(keyword, ()) if each != _NULL]
        if left and len(left) < len(place[keyword]):
            yield _Alteration("drop-null", {**place, keyword: left})


def _close(place: _Schema, wanted: _Schema, difference: Difference) -> Iterator[_Alteration]:
    """Yield an object without members that are not taken."""
    if difference.name is not None or wanted.get("additionalProperties") is not False:
        return
    mine, theirs = place.get("properties", {}), wanted.get("properties", {})
    extra = [] if "patternProperties" in wanted else [each for each in mine if each not in theirs]
    if extra:
        after = {**place, "properties": {each: mine[each] for each in mine if each in theirs}}
        if "required" in place:
            after["required"] = [each for each in place["required"] if each in theirs]
        steps = tuple([f"/{escaped(each)}" for each in extra])
        yield _Alteration("drop-member", after, steps)
    elif place.get("additionalProperties", True) is not False and "type" in place:
        yield _Alteration("close-object", {**place, "additionalProperties": False})


def _narrow(place: _Schema, wanted: _Schema, difference: Difference) -> Iterator[_Alteration]:
    """Yield a schema of the values that are taken, of those that are sent."""
    if difference.name is None:
        for after in _narrowed(place, wanted):
            yield _Alteration("narrow-values", after)


def _drop_alternative(place: _Schema, *_: object) -> Iterator[_Alteration]:
    """Yield a union without one of its alternatives."""
    for keyword in ("anyOf", "oneOf"):
        union = place.get(keyword, ())
        for index in range(len(union)) if len(union) > 1 else ():
            if union[index] != _NULL:
                left = [each for at, each in enumerate(union) if at != index]
                yield _Alteration("narrow-values", {**place, keyword: left})


def _declare(place: _Schema, wanted: _Schema, difference: Difference) -> Iterator[_Alteration]:
    """Yield an object that says of a member what is taken, where it says nothing."""
    name, mine = difference.name, place.get("properties", {})
    known = wanted.get("properties", {})
    if name is not None and name in known and name not in mine and "type" in place:
        theirs = known[name]
        after = {**place, "properties": {**mine, name: theirs}}
        yield _Alteration("narrow-values", after, (f"/{escaped(name)}",), needs=theirs)


def _narrowed(place: _Schema, wanted: _Schema) -> Iterator[dict[str, Any]]:
    """Yield a schema with the rules of another one, too; nothing if it has or can't have them.

    Arguments:
        place: a schema.
        wanted: the schema whose rules are to hold, too.

    Examples:
        >>> list(_narrowed({"type": "number", "minimum": 1}, {"type": "integer", "minimum": 3}))
        [{'type': 'integer', 'minimum': 3}]
        >>> list(_narrowed({"enum": [1, 2]}, {"enum": [2, 3]}))
        [{'enum': [2]}]
        >>> list(_narrowed({"type": "string"}, {"type": "integer"}))
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


_CHANGES: Final[Sequence[_Changing]] = (
    _rename, _require, _drop_null, _close, _narrow, _drop_alternative,
)  # fmt: skip
_OF_HOLDERS: Final[Sequence[_Changing]] = (_declare, _drop_alternative)
