"""Glance at two schemas: what the texts of patterns say before anything is worked out.

Most parts that are accepted are equal to a part of the other side, or in a directory or a type of
it. Most pairs that never fit have a required part that begins otherwise than all of the other side.
What a glance shows is certain; what it does not show may still be true.
"""

from collections.abc import Iterable
from typing import Final

from messagebody.solver.containment import is_held
from messagebody.solver.profile import Profile

_FEW: Final = 1024
"""Pairs of parts that are worth a glance; in larger schemas a part is looked up, not compared."""


def is_small(one: Profile, other: Profile) -> bool:
    """Tell whether each part of a schema can be compared with each of another."""
    return len(one.names) * len(other.names) <= _FEW


def fits(producer: Profile, consumer: Profile) -> bool:
    """Tell whether each part is accepted, and each required part met, by one of the other side."""
    taken, sent = range(len(consumer.names)), producer.required_parts
    # A loop in place of the first `all`: its generator would take as long as the glances.
    for i in range(len(producer.names)):
        if not is_any_held(producer, (i,), consumer, taken):
            return False
    return all(is_any_held(producer, sent, consumer, (j,)) for j in consumer.required_parts)


def is_any_held(inner: Profile, held: Iterable[int], outer: Profile, by: Iterable[int]) -> bool:
    """Tell whether one of some parts of a schema accepts all that one of another one accepts."""
    for i in held:
        name, kind = inner.names[i], inner.types[i]
        for j in by:
            # Equal patterns are mostly the same object.
            type_ = outer.types[j]
            if type_ is not kind and not is_held(type_, kind):
                continue
            theirs = outer.names[j]
            if theirs is name:
                return True
            if name is not None and theirs is not None and is_held(theirs, name):
                return True
    return False


def is_any_apart(one: Profile, other: Profile) -> bool:
    """Tell whether a required part of a schema accepts nothing that any part of another accepts."""
    return any(_is_apart(one, index, other) for index in one.required_parts)


def _is_apart(one: Profile, index: int, other: Profile) -> bool:
    name, kind = one.names[index], one.types[index].prefix
    first = None if name is None else name.prefix
    for theirs, type_ in zip(other.names, other.types, strict=True):
        if (name is None) is not (theirs is None) or not _begin_alike(kind, type_.prefix):
            continue
        if first is None or theirs is None or _begin_alike(first, theirs.prefix):
            return False
    return True


def _begin_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
