"""Glance at two schemas: what the texts of patterns say before anything is worked out.

Most parts that are accepted are equal to a part of the other side, or in a directory or a type of
it. Most pairs that never fit have a required part that begins otherwise than all of the other side.
What a glance shows is certain; what it does not show may still be true.
"""

from collections.abc import Iterable
from typing import Final

from messagebody.compatibility._solver.containment import is_held
from messagebody.compatibility._solver.profile import Profile, SchemaPartLike

_FEW: Final = 1024
"""Pairs of parts that are worth a glance; in larger schemas a part is looked up, not compared."""


def is_small(one: Profile, other: Profile) -> bool:
    """Return whether each part of a schema can be compared with each of another."""
    return len(one.parts) * len(other.parts) <= _FEW


def fits(producer: Profile, consumer: Profile) -> bool:
    """Return whether the other side accepts each part, and meets each required part."""
    # Loops in place of `all`: its generator would take as long as the glances.
    for part in producer.parts:
        if not is_any_held((part,), consumer.parts):
            return False
    sent = [part for part in producer.parts if part.required]
    for wanted in consumer.parts:
        if wanted.required and not is_any_held(sent, (wanted,)):
            return False
    return True


def is_any_held(held: Iterable[SchemaPartLike], by: Iterable[SchemaPartLike]) -> bool:
    """Return whether one of some schema parts accepts all that one of others accepts."""
    for inner in held:
        name, kind = inner.name_pattern, inner.content_type_pattern
        for outer in by:
            theirs, type_ = outer.name_pattern, outer.content_type_pattern
            # Equal patterns are mostly the same object.
            if theirs is not name and (name is None or theirs is None or not is_held(theirs, name)):
                continue
            if type_ is kind or is_held(type_, kind):
                return True
    return False


def is_any_apart(one: Profile, other: Profile) -> bool:
    """Return whether a required part of a schema accepts nothing that another schema accepts."""
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
