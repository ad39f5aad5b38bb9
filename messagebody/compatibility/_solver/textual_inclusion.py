"""Textual inclusion: compare the texts of patterns, before any automaton is built.

Most accepted parts are equal to a part of the other side, or inside one of its directories or
types. Most pairs that never fit have a required part whose prefix differs from all prefixes of the
other side. A positive answer is certain; a negative one decides nothing.
"""

from collections.abc import Callable, Iterable
from typing import Final

from messagebody.compatibility._solver.containment import clearly_contains
from messagebody.compatibility._solver.profile import Profile, SchemaPartLike
from messagebody.schema import ContentSchema

Covers = Callable[[ContentSchema, ContentSchema | None], bool]

_FEW: Final = 1024
"""The most pairs of parts to compare; in larger schemas, parts are looked up instead."""


def is_small(one: Profile, other: Profile) -> bool:
    """Return whether two schemas are small enough to compare each part with each other part."""
    return len(one.parts) * len(other.parts) <= _FEW


def fits(producer: Profile, consumer: Profile, covers: Covers | None = None) -> bool:
    """Return whether the consumer accepts each producer part and has all its requirements met.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that should accept them.
        covers: whether it is certain that one schema takes all contents that another takes; None
            for equal ones.
    """
    # Loops instead of `all`, whose generator would take as long as the comparisons.
    for part in producer.parts:
        if not contained((part,), consumer.parts, covers):
            return False
    sent = [part for part in producer.parts if part.required]
    for wanted in consumer.parts:
        if wanted.required and not contained(sent, (wanted,), covers):
            return False
    return True


def contained(
    inners: Iterable[SchemaPartLike],
    outers: Iterable[SchemaPartLike],
    covers: Covers | None = None,
) -> tuple[SchemaPartLike, SchemaPartLike] | None:
    """Return an inner schema part and an outer one that accepts everything the inner one does."""
    for inner in inners:
        name, kind = inner.name_pattern, inner.content_type_pattern
        for outer in outers:
            theirs, type_ = outer.name_pattern, outer.content_type_pattern
            # Equal patterns are usually the same object.
            if theirs is not name and (
                name is None or theirs is None or not clearly_contains(theirs, name)
            ):
                continue
            if type_ is kind or clearly_contains(type_, kind):
                content = outer.content_schema
                if content is None or _takes(content, inner.content_schema, covers):
                    return inner, outer
    return None


def _takes(outer: ContentSchema, inner: ContentSchema | None, covers: Covers | None) -> bool:
    return outer == inner or (covers is not None and covers(outer, inner))


def is_any_apart(one: Profile, other: Profile) -> bool:
    """Return whether a schema has a required part that is disjoint from all parts of another."""
    return any(part.required and _is_apart(part, other.parts) for part in one.parts)


def _is_apart(part: SchemaPartLike, others: Iterable[SchemaPartLike]) -> bool:
    name, kind = part.name_pattern, part.content_type_pattern.prefix
    first = None if name is None else name.prefix
    for other in others:
        theirs = other.name_pattern
        if (name is None) is not (theirs is None):
            continue
        if not _begin_alike(kind, other.content_type_pattern.prefix):
            continue
        if first is None or theirs is None or _begin_alike(first, theirs.prefix):
            return False
    return True


def _begin_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
