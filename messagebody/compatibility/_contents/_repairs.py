"""Changes of a schema of contents after which another one takes all that it takes."""

import copy
from collections.abc import Iterator
from typing import Any, Final, Literal

import attrs

from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.compatibility._contents._reading import escaped, resolved
from messagebody.compatibility._solver.contents import Difference
from messagebody.errors import InvalidSchema
from messagebody.schema import ContentSchema, content_schema_of

MemberKind = Literal[
    "require-member", "rename-member", "drop-null", "close-object", "narrow-values"
]

_TRIED: Final = 24
"""Changed schemas that are looked at."""
_EDITS: Final = 4
_NULL: Final = {"type": "null"}


@attrs.frozen
class Repair:
    """One change of a schema of contents.

    Arguments:
        kind: `require-member`, `rename-member`, `drop-null`, `close-object` or `narrow-values`.
        pointer: the place in the content, a JSON Pointer.
        name: the new name of a member.
    """

    kind: MemberKind
    pointer: str
    name: str = ""


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
        >>> from messagebody.compatibility._solver.budget import Budget
        >>> text = {"type": "string"}
        >>> sent = content_schema_of({"properties": {"a": text}, "required": ["a"]})
        >>> taken = content_schema_of({"properties": {"b": text}, "required": ["b"]})
        >>> next(repairs(sent, taken, ContentQuestions(Budget())))[0]
        (Repair(kind='rename-member', pointer='/a', name='b'),)
    """
    queue: list[tuple[tuple[Repair, ...], ContentSchema]] = [((), sent)]
    seen = {sent}
    for edits, schema in queue:
        left = questions.differences([schema], taken)
        if not left:
            yield edits, schema
            continue
        for difference in left if len(edits) < _EDITS else ():
            for edit, changed in _changes(schema, taken, difference):
                if changed not in seen and len(seen) < _TRIED:
                    seen.add(changed)
                    queue.append(((*edits, edit), changed))


def _changes(
    schema: ContentSchema, taken: ContentSchema, difference: Difference
) -> Iterator[tuple[Repair, ContentSchema]]:
    """Yield changes that may settle a difference."""
    wanted = _at(taken.exact, taken.exact, difference.pointer)
    for change in (_rename, _require, _drop_null, _close, _narrow):
        document = copy.deepcopy(schema.exact)
        place = _at(document, document, difference.pointer)
        if isinstance(place, dict) and isinstance(wanted, dict):
            edit = change(place, wanted, difference)
            if edit is not None:
                try:
                    yield edit, content_schema_of(document)
                except InvalidSchema:
                    continue


def _rename(place: Any, wanted: Any, difference: Difference) -> Repair | None:
    mine, theirs = place.get("properties", {}), wanted.get("properties", {})
    name = difference.name
    if name is None or name in mine or name not in theirs:
        return None
    for old, value in mine.items():
        if old not in theirs and value == theirs[name]:
            place["properties"] = {name if each == old else each: mine[each] for each in mine}
            required = place.get("required", ())
            if old in required:
                place["required"] = [name if each == old else each for each in required]
            return Repair("rename-member", f"{difference.pointer}/{escaped(old)}", name)
    return None


def _require(place: Any, _: Any, difference: Difference) -> Repair | None:
    name = difference.name
    if name is None or name not in place.get("properties", {}):
        return None
    place["required"] = [*place.get("required", ()), name]
    return Repair("require-member", f"{difference.pointer}/{escaped(name)}")


def _drop_null(place: Any, _: Any, difference: Difference) -> Repair | None:
    types, others = place.get("type"), place.get("anyOf", ())
    if isinstance(types, list) and "null" in types and len(types) > 1:
        left = [each for each in types if each != "null"]
        place["type"] = left[0] if len(left) == 1 else left
    elif _NULL in others and len(others) > 1:
        place["anyOf"] = [each for each in others if each != _NULL]
    else:
        return None
    return Repair("drop-null", difference.pointer)


def _close(place: Any, wanted: Any, difference: Difference) -> Repair | None:
    if difference.name is not None or wanted.get("additionalProperties") is not False:
        return None
    if place.get("additionalProperties", True) is False:
        return None
    place["additionalProperties"] = False
    return Repair("close-object", difference.pointer)


def _narrow(place: Any, wanted: Any, difference: Difference) -> Repair | None:
    mine, theirs = place.get("enum"), wanted.get("enum")
    if mine is None or theirs is None:
        return None
    left = [each for each in mine if each in theirs]
    if not left or len(left) == len(mine):
        return None
    place["enum"] = left
    return Repair("narrow-values", difference.pointer)


def _at(document: Any, schema: Any, pointer: str) -> Any:
    """Return the schema of a place in contents; None if more than one says what is there."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    schema = _resolved(document, schema)
    for step in steps:
        if not isinstance(schema, dict):
            return None
        if step in schema.get("properties", {}):
            schema = schema["properties"][step]
        elif step.isdecimal() and "prefixItems" not in schema and "items" in schema:
            schema = schema["items"]
        else:
            return None
        schema = _resolved(document, schema)
    return schema


def _resolved(document: Any, schema: Any) -> Any:
    """Return the schema that a reference leads to, if a schema is nothing else."""
    for _ in range(_TRIED):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        try:
            schema = resolved(document, reference[1:])
        except LookupError:
            return None
    return None
