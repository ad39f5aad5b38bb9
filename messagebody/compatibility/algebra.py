"""Schemas out of schemas: what both accept, what either accepts, and the same said more simply."""

import posixpath
from collections.abc import Callable, Iterable
from itertools import product
from typing import TypeVar

import attrs

from messagebody.compatibility.inclusion import check
from messagebody.compatibility.relations import dead_parts, satisfiable
from messagebody.globs import (
    ContentTypePattern,
    NamePattern,
    content_type_pattern,
    name_pattern,
)
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.solver.containment import alternatives, are_disjoint, contains

__all__ = ["join", "meet", "simplify"]

_P = TypeVar("_P", NamePattern, ContentTypePattern)

_IMPOSSIBLE = SchemaPart("/.", required=True)
"""Required, and no name matches it: a schema with it accepts nothing."""


def meet(one: MessageBodySchema, other: MessageBodySchema) -> MessageBodySchema | None:
    """Return a schema that accepts exactly what both accept.

    Returns:
        The schema, or None if no union of names and types that schemas can write says it.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> text = MessageBodySchema([(None, "text/*", True), ("/files/**", "*/*")])
        >>> files = MessageBodySchema([(None, "*/*"), ("/files/*", "image/*")])
        >>> meet(text, files)
        MessageBodySchema(2 parts: required text/*, '/files/*' image/*)
    """
    found: dict[SchemaPart, None] = {}
    for a, b in product(one, other):
        both = _intersection(a, b)
        if both is None:
            return None
        found.update(dict.fromkeys(both))
    required = _required_in_meet(one, other), _required_in_meet(other, one)
    if required[0] is None or required[1] is None:
        return None
    needed = dict.fromkeys(required[0] + required[1])
    optional = [part for part in found if attrs.evolve(part, required=True) not in needed]
    return MessageBodySchema([*needed, *optional])


def _required_in_meet(one: MessageBodySchema, other: MessageBodySchema) -> list[SchemaPart] | None:
    """Return what a requirement comes to when only what the other accepts may meet it."""
    needed = []
    for part in one:
        if part.required:
            ways = [_intersection(part, each) for each in other]
            pieces = dict.fromkeys(piece for way in ways for piece in way or ())
            if None in ways or len(pieces) > 1:
                return None
            needed += [attrs.evolve(piece, required=True) for piece in pieces or (_IMPOSSIBLE,)]
    return needed


def _intersection(a: SchemaPart, b: SchemaPart) -> list[SchemaPart] | None:
    """Return what two schema parts both accept: at most one part; None if it can't be written."""
    kinds = _common(a.content_type_pattern, b.content_type_pattern, content_type_pattern)
    if kinds == [] or (a.name_pattern is None) != (b.name_pattern is None):
        return []
    if a.name_pattern is None or b.name_pattern is None:
        return None if kinds is None else [SchemaPart(None, _union(kinds))]
    names = _common(a.name_pattern, b.name_pattern, name_pattern)
    if names == []:
        return []
    return None if names is None or kinds is None else [SchemaPart(_union(names), _union(kinds))]


def _common(a: _P, b: _P, read: Callable[[str], _P]) -> list[str] | None:
    """Return patterns whose union is what two patterns both match; None if unsure."""
    if contains(a, b):
        return [b.text]
    if contains(b, a):
        return [a.text]
    if are_disjoint(a, b):
        return []
    found: dict[str, None] = {}
    if len(alternatives(a)) * len(alternatives(b)) <= 1:
        return None
    for mine, theirs in product(alternatives(a), alternatives(b)):
        common = _common(read(mine), read(theirs), read)
        if common is None:
            return None
        found.update(dict.fromkeys(common))
    return list(found)


def _union(patterns: Iterable[str]) -> str:
    """Write the union of patterns as one.

    Examples:
        >>> _union(["text/*", "image/png"]), _union(["/a/b", "/a/c/*"])
        ('{text/*,image/png}', '/a/{b,c/*}')
    """
    different = list(dict.fromkeys(patterns))
    if len(different) == 1:
        return different[0]
    common = posixpath.commonprefix(different)
    shared = common[: common.rfind("/") + 1] if "{" not in common else ""
    return shared + "{" + ",".join(each[len(shared) :] for each in different) + "}"


def join(one: MessageBodySchema, other: MessageBodySchema) -> MessageBodySchema:
    """Return the least schema that accepts what either accepts.

    Its parts are those of both. It requires what both require: for two requirements, the part
    that holds both, if that accepts nothing new.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> a = MessageBodySchema([(None, "text/plain", True)])
        >>> b = MessageBodySchema([(None, "text/html", True), ("/data", "text/csv")])
        >>> join(a, b)
        MessageBodySchema(2 parts: required text/{html,plain}, '/data' text/csv)
    """
    for schema, rest in ((one, other), (other, one)):
        if satisfiable(schema).value is False:
            return simplify(rest)
    accepted = MessageBodySchema(
        attrs.evolve(part, required=False, description=None) for part in (*one, *other)
    )
    needed = []
    for a, b in product(one, other):
        if a.required and b.required and (a.name is None) == (b.name is None):
            names = [part.name for part in (a, b) if part.name is not None]
            name = _union(sorted(names)) if names else None
            kind = _union(sorted([a.content_type, b.content_type]))
            both = SchemaPart(name, kind)
            if check(MessageBodySchema([both]), accepted):
                needed.append(attrs.evolve(both, required=True))
    return simplify(MessageBodySchema([*accepted, *needed]))


def simplify(schema: MessageBodySchema) -> MessageBodySchema:
    """Return a shorter schema that accepts exactly the same bodies, in a canonical order.

    Parts that can never occur, optional parts that others cover and requirements that follow
    from others are left out, each only where that is proved to change nothing. Descriptions go.

    Examples:
        >>> from messagebody.schema import MessageBodySchema
        >>> simplify(MessageBodySchema([("/a", "Text/*"), ("/b", "text/plain"), ("/*", "text/*")]))
        MessageBodySchema(1 part: '/*' text/*)
    """
    if satisfiable(schema).value is False:
        return MessageBodySchema([_IMPOSSIBLE])
    dead = set(dead_parts(schema))
    parts = {_canonical(part) for index, part in enumerate(schema) if index not in dead}
    kept = sorted(parts, key=_order)
    for part in reversed(kept):
        kept = _without(kept, part)
    return MessageBodySchema(sorted(kept, key=_order))


def _canonical(part: SchemaPart) -> SchemaPart:
    kind, name = part.content_type_pattern, part.name_pattern
    return SchemaPart(
        "/**" if name is not None and name.is_universal else part.name,
        "*/*" if kind.is_universal else part.content_type.lower(),
        part.required,
    )


def _order(part: SchemaPart) -> tuple[bool, bool, str, int, str]:
    return (
        not part.required,
        part.name is not None,
        part.name or "",
        -part.content_type.count("*"),
        part.content_type,
    )


def _without(kept: list[SchemaPart], part: SchemaPart) -> list[SchemaPart]:
    """Leave out a part, or at least that it is required, if that changes nothing."""
    now = MessageBodySchema(kept)
    less = [each for each in kept if each != part]
    weaker = [*less, attrs.evolve(part, required=False)]
    for shorter in (less, weaker):
        if len(set(shorter)) == len(shorter) and shorter != kept:
            changed = MessageBodySchema(shorter)
            if check(now, changed) and check(changed, now):
                return shorter
    return kept
