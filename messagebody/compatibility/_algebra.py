"""Algebra of schemas: meet, join, and simplification."""

import copy
import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, product
from typing import Any, Final, Literal

import attrs

from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
from messagebody._base.guards import require_schema
from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.compatibility._solver.containment import alternatives
from messagebody.compatibility._solver.decision import NOTHING, Decision
from messagebody.compatibility._solver.intersection import intersection
from messagebody.compatibility._solver.profile import Profile, profile_of, types_of
from messagebody.compatibility._solver.step_costs import PART
from messagebody.errors import InvalidSchema
from messagebody.globs import (
    ContentTypePattern,
    NamePattern,
    content_type_pattern,
    name_pattern,
)
from messagebody.schema import ContentSchema, MessageBodySchema, SchemaPart, content_schema_of
from messagebody.schema._dialects import subschemas

_IMPOSSIBLE = SchemaPart("/.", required=True)
"""A required part that no name matches, so that a schema with it accepts no body."""

_PLACED: Final = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef"})
"""Keywords that tie a schema to its place in a document."""
_Reader = Callable[[str], NamePattern | ContentTypePattern]


def meet(
    one: MessageBodySchema, other: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS
) -> MessageBodySchema | None:
    """Return a schema that accepts exactly the bodies that both accept.

    Arguments:
        one: a schema.
        other: another schema.
        max_steps: the budget. Hundreds of parts that all overlap need more than the default.

    Returns:
        The schema. None if one schema has a requirement that can be met in several ways under the
        other and no single schema part expresses them all, if an intersection of patterns is too
        large, or if the budget ended first.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True), ("/src/**", "*/*")])
        >>> files = MessageBodySchema([(None, "*/*"), ("/**/*.py", "text/*")])
        >>> meet(text, files)
        MessageBodySchema(2 parts: required text/*, '/src/**/*.py' text/*)
    """
    require_schema(one)
    require_schema(other)
    try:
        return _meet(one, other, Budget(max_steps))
    except OutOfBudget:
        return None


def _meet(
    one: MessageBodySchema, other: MessageBodySchema, budget: Budget
) -> MessageBodySchema | None:
    found: dict[SchemaPart, None] = {}
    for a, b in product(one, other):
        both = _intersection(a, b, budget)
        if both is None:
            return None
        # Different pairs often meet in the same part; a dict keeps each once and in order.
        found.update(dict.fromkeys(both))
    required = _required_in_meet(one, other, budget), _required_in_meet(other, one, budget)
    if required[0] is None or required[1] is None:
        return None
    needed = dict.fromkeys(required[0] + required[1])
    # A required part does not have to be allowed again.
    optional = [part for part in found if attrs.evolve(part, required=True) not in needed]
    return MessageBodySchema([*needed, *optional])


def _required_in_meet(
    one: MessageBodySchema, other: MessageBodySchema, budget: Budget
) -> list[SchemaPart] | None:
    """Return the requirements of one schema, limited to the parts that the other accepts.

    None if a schema can't express them.
    """
    needed = []
    for part in one:
        if part.required:
            ways = [_intersection(part, each, budget) for each in other]
            pieces = _merged(dict.fromkeys(piece for way in ways for piece in way or ()))
            pieces = _widest(pieces, budget)
            # A schema can't require one of several parts: it requires each part on its own.
            if None in ways or len(pieces) > 1:
                return None
            # Without pieces, the requirement can't be met under the other schema, so no body is
            # valid for both.
            needed += [attrs.evolve(piece, required=True) for piece in pieces or (_IMPOSSIBLE,)]
    return needed


def _widest(pieces: list[SchemaPart], budget: Budget) -> list[SchemaPart]:
    """Return the one part that contains all others, if there is one; else all."""
    for each in pieces if len(pieces) > 1 else ():
        wide = Profile([each])
        budget.spend(PART * len(pieces))
        if all(Decision(Profile([p]), wide, budget).answer(0).is_refuted for p in pieces):
            return [each]
    return pieces


def _merged(parts: Iterable[SchemaPart]) -> list[SchemaPart]:
    """Merge parts with equal names, then parts with equal content types; contents are equal."""
    types: dict[tuple[str | None, ContentSchema | None], list[str]] = defaultdict(list)
    for part in parts:
        types[part.name, part.content_schema].append(part.content_type)
    names: dict[tuple[str, ContentSchema | None], list[str | None]] = defaultdict(list)
    for (name, content), kinds in types.items():
        names[_union(kinds, content_type_pattern), content].append(name)
    merged = []
    for (kind, content), alike in names.items():
        named = [name for name in alike if name is not None]
        united: list[str | None] = [None] if None in alike else []
        united += [_union(named, name_pattern)] if named else []
        merged += [SchemaPart(name, kind, content_schema=content) for name in united]
    return merged


def _intersection(a: SchemaPart, b: SchemaPart, budget: Budget) -> list[SchemaPart] | None:
    """Return the intersection of two schema parts, at most one part; None if it is too large."""
    budget.spend(PART)
    kinds = intersection(types_of(a), types_of(b), budget)
    # A named part and an unnamed one have nothing in common.
    if kinds == [] or (a.name_pattern is None) != (b.name_pattern is None):
        return []
    names: list[str] | None = None
    if a.name_pattern is not None and b.name_pattern is not None:
        names = intersection(a.name_pattern, b.name_pattern, budget)
        if not names:
            return None if names is None else []
    contents = _shared_contents(a.content_schema, b.content_schema, budget)
    if contents == []:
        return []
    if kinds is None or contents is None:
        return None
    kind = _union(kinds, content_type_pattern)
    name = None if names is None else _union(names, name_pattern)
    return [SchemaPart(name, kind, content_schema=contents[0])]


def _shared_contents(
    one: ContentSchema | None, other: ContentSchema | None, budget: Budget
) -> list[ContentSchema | None] | None:
    """Return what two parts say of what is inside; nothing if no value meets both.

    None if no schema can say it.
    """
    if one is None or other is None:
        return [one if other is None else other]
    if ContentQuestions(budget).ask([one, other]) is None:
        return []
    both = _combined("allOf", one, other)
    return None if both is None else [both]


def _union(patterns: Iterable[str], read: _Reader) -> str:
    """Write the union of patterns as one pattern.

    Arguments:
        patterns: the texts of the patterns.
        read: `name_pattern` or `content_type_pattern`.

    Examples:
        >>> _union(["text/*", "image/png"], content_type_pattern)
        '{text/*,image/png}'
        >>> _union(["/a/b", "/a/{b,c/*}"], name_pattern)
        '/a/{b,c/*}'
    """
    # Nested unions are flattened if their alternatives can be listed.
    listed = (alternatives(read(text)) or (text,) for text in dict.fromkeys(patterns))
    different = list(dict.fromkeys(chain.from_iterable(listed)))
    if len(different) == 1:
        return different[0]
    # A shared directory is written once. A text with a brace must not be cut inside the brace.
    common = posixpath.commonprefix(different)
    shared = common[: common.rfind("/") + 1] if "{" not in common else ""
    return shared + "{" + ",".join(each[len(shared) :] for each in different) + "}"


def join(
    one: MessageBodySchema, other: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS
) -> MessageBodySchema:
    """Return a schema that accepts the bodies of both schemas, and as few others as possible.

    Its parts are those of both schemas. It requires the requirements of one schema that the other
    always meets. Of the remaining requirements, it requires the union of one from each schema, if
    that union accepts nothing new.

    Arguments:
        one: a schema.
        other: another schema.
        max_steps: the budget. If it ends first, the result requires less than it could.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> a = MessageBodySchema([(None, "text/plain", True)])
        >>> b = MessageBodySchema([(None, "text/html", True), ("/data", "text/csv")])
        >>> join(a, b)
        MessageBodySchema(2 parts: required text/{html,plain}, '/data' text/csv)
    """
    require_schema(one)
    require_schema(other)
    budget = Budget(max_steps)
    for schema, rest in ((one, other), (other, one)):
        if _is_unsatisfiable(schema, budget):
            return simplify(rest, max_steps=budget.left)
    accepted = [attrs.evolve(each, required=False, description=None) for each in (*one, *other)]
    # Descriptions are dropped, because each describes only one of the two schemas.
    always = _always_met(one, other, budget), _always_met(other, one, budget)
    needed = [attrs.evolve(part, description=None) for part in always[0] + always[1]]
    # A union with a requirement that both always meet adds nothing, because it contains that one.
    left = ([part for part in one if part.required and part not in always[1]],
            [part for part in other if part.required and part not in always[0]])  # fmt: skip
    with suppress(OutOfBudget):  # without them, the result is only wider
        needed += _joined_requirements(*left, accepted, budget)
    return simplify(MessageBodySchema([*accepted, *needed]), max_steps=max(budget.left, 0))


def _always_met(
    producer: MessageBodySchema, consumer: MessageBodySchema, budget: Budget
) -> list[SchemaPart]:
    """Return the requirements of a consumer that every body of a producer meets."""
    decision = Decision(profile_of(producer), profile_of(consumer), budget)
    answers = {i: decision.answer(len(producer) + i) for i in decision.consumer.required_parts}
    return [consumer[i] for i, answer in answers.items() if answer.is_refuted]


def _joined_requirements(
    mine: Sequence[SchemaPart],
    theirs: Sequence[SchemaPart],
    accepted: Sequence[SchemaPart],
    budget: Budget,
) -> list[SchemaPart]:
    """Return the unions of one requirement from each side that accept nothing new."""
    needed, taken = [], Profile(accepted)
    for a, b in product(mine, theirs):
        if (a.name is None) == (b.name is None):
            names = [part.name for part in (a, b) if part.name is not None]
            name = _union(sorted(names), name_pattern) if names else None
            both = SchemaPart(
                name,
                _union(sorted([a.content_type, b.content_type]), content_type_pattern),
                content_schema=_either_content(a.content_schema, b.content_schema),
            )
            budget.spend(PART * len(accepted))
            if Decision(Profile([both]), taken, budget).answer(0).is_refuted:
                needed.append(attrs.evolve(both, required=True))
    return needed


def _either_content(one: ContentSchema | None, other: ContentSchema | None) -> ContentSchema | None:
    return None if one is None or other is None else _combined("anyOf", one, other)


def simplify(schema: MessageBodySchema, *, max_steps: int = DEFAULT_STEPS) -> MessageBodySchema:
    """Return a shorter schema that accepts exactly the same bodies, in a canonical order.

    It leaves out parts that can never occur, optional parts that others cover, and requirements
    that follow from others, each only after a proof that this changes nothing. It also leaves out
    descriptions.

    Arguments:
        schema: the schema.
        max_steps: the budget. If it ends first, the remaining parts stay as they are.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> simplify(MessageBodySchema([("/a", "Text/*"), ("/b", "text/plain"), ("/*", "text/*")]))
        MessageBodySchema(1 part: '/*' text/*)
    """
    require_schema(schema)
    budget = Budget(max_steps)
    if _is_unsatisfiable(schema, budget):
        return MessageBodySchema([_IMPOSSIBLE])
    decision = Decision(profile_of(schema), NOTHING, budget)
    alive = [part for i, part in enumerate(schema) if not decision.occurrence(i).is_refuted]
    # Sorted, so that the result does not depend on the original order of the parts.
    kept = sorted({_canonical(part) for part in alive}, key=_order)
    # From the end, where the most specific parts are: others are most likely to contain those.
    for part in reversed(kept):
        try:
            kept = _without(kept, part, budget)
        except OutOfBudget:
            break
    return MessageBodySchema(sorted(kept, key=_order))


def _is_unsatisfiable(schema: MessageBodySchema, budget: Budget) -> bool:
    try:
        return Decision(profile_of(schema), NOTHING, budget).valid_body() is None
    except OutOfBudget:
        return False


def _canonical(part: SchemaPart) -> SchemaPart:
    kind, name = part.content_type_pattern, part.name_pattern
    return SchemaPart(
        "/**" if name is not None and name.is_universal else part.name,
        "*/*" if kind.is_universal else part.content_type.lower(),
        part.required,
        content_schema=part.content_schema,
    )


def _order(part: SchemaPart) -> tuple[bool, bool, str, int, str, str]:
    return (
        not part.required,
        part.name is not None,
        part.name or "",
        -part.content_type.count("*"),
        part.content_type,
        "" if part.content_schema is None else part.content_schema.canonical,
    )


def _without(kept: list[SchemaPart], part: SchemaPart, budget: Budget) -> list[SchemaPart]:
    """Remove a part, or at least make it optional, if that changes nothing.

    Each step needs only one question, because all other parts stay the same. Making the part
    optional could make more bodies valid, unless the others always meet the requirement. Removing
    the part could make fewer bodies valid, unless the others accept all of it that can occur.
    """
    others = [each for each in kept if each != part]
    if part.required:
        # Making it optional is tried first, because that is the smaller change.
        weaker = attrs.evolve(part, required=False)
        others = [each for each in others if each != weaker]
        if not _is_met([*others, weaker], [*others, part], budget):
            return kept
        part = weaker
    covered = _is_accepted([*others, part], others, budget)
    return others if covered else [*others, part]


def _is_met(producer: Sequence[SchemaPart], consumer: Sequence[SchemaPart], budget: Budget) -> bool:
    """Return whether every body of a producer meets the last part of a consumer."""
    budget.spend(PART * len(producer))
    decision = Decision(Profile(producer), Profile(consumer), budget)
    return decision.answer(len(producer) + len(consumer) - 1).is_refuted


def _is_accepted(
    producer: Sequence[SchemaPart], consumer: Sequence[SchemaPart], budget: Budget
) -> bool:
    """Return whether a consumer accepts everything that the last part of a producer accepts."""
    budget.spend(PART * len(producer))
    decision = Decision(Profile(producer), Profile(consumer), budget)
    return decision.answer(len(producer) - 1).is_refuted


# Schemas of contents


def _combined(
    keyword: Literal["allOf", "anyOf"], one: ContentSchema, other: ContentSchema
) -> ContentSchema | None:
    """Return the schema of the values that two schemas, or one of them, take.

    Arguments:
        keyword: `allOf` for both, `anyOf` for one of them.
        one: a schema.
        other: another schema.

    Returns:
        The schema; None if it would be too large, or if a schema can't be moved.

    Examples:
        >>> schemas = map(content_schema_of, ({"type": "number"}, {"multipleOf": 2}))
        >>> _combined("allOf", *schemas).text
        '{"allOf":[{"multipleOf":2},{"type":"number"}]}'
    """
    if one == other:
        return one
    # In one order, so that both ways make the same schema.
    ordered = sorted((one, other), key=lambda each: each.canonical)
    moved = [_relocated(each.exact, f"/{keyword}/{place}") for place, each in enumerate(ordered)]
    if None in moved:
        return None
    try:
        return content_schema_of({keyword: moved})
    except InvalidSchema:
        return None


def _relocated(schema: Any, place: str) -> Any:
    """Return a copy of a schema whose references lead to a place in another document."""
    moved = copy.deepcopy(schema)
    for _, each in subschemas(moved):
        if isinstance(each, dict):
            if not _PLACED.isdisjoint(each):
                return None
            reference = each.get("$ref")
            if isinstance(reference, str):
                if not (reference == "#" or reference.startswith("#/")):
                    return None
                each["$ref"] = f"#{place}{reference[1:]}"
    return moved
