"""A schema that given bodies keep."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from messagebody.media_types import essence
from messagebody.names import parent
from messagebody.part import Part
from messagebody.schema.schema_part import SchemaPart

__all__ = ["infer_parts"]

_ROOT: Final = "/"


@attrs.define
class _Seen:
    """The content types of a group of parts, and the bodies it occurs in."""

    types: dict[str, None] = attrs.field(factory=dict)
    bodies: set[int] = attrs.field(factory=set)


def infer_parts(bodies: Sequence[Iterable[Part]]) -> Iterator[SchemaPart]:
    """Yield schema parts under which all bodies are valid.

    Unnamed parts are told by type, a lone file by its name, several files of a directory by the
    directory. What every body has is required.
    """
    patterns = _patterns(bodies)
    groups: dict[tuple[str | None, str], _Seen] = {}
    for number, body in enumerate(bodies):
        for part in body:
            kind = essence(part.content_type)
            name = None if part.name is None else patterns.get(parent(part.name), part.name)
            seen = groups.setdefault((name, kind if name is None else ""), _Seen())
            seen.types[kind] = None
            seen.bodies.add(number)
    for (name, _), seen in groups.items():
        required = len(seen.bodies) == len(bodies)
        yield SchemaPart(name, _union(list(seen.types)), required)


def _patterns(bodies: Sequence[Iterable[Part]]) -> dict[str, str]:
    """Return the name pattern of each directory that holds several names; the root keeps names."""
    members: dict[str, set[str]] = {}
    for body in bodies:
        for part in body:
            if part.name is not None:
                members.setdefault(parent(part.name), set()).add(part.name)
    return {
        directory: f"{directory}/*"
        for directory, names in members.items()
        if len(names) > 1 and directory != _ROOT
    }


def _union(types: Sequence[str]) -> str:
    """Return a pattern of exactly these content types."""
    if len(types) == 1:
        return types[0]
    kinds = {kind.partition("/")[0] for kind in types}
    if len(kinds) > 1:
        return "{" + ",".join(types) + "}"
    return f"{kinds.pop()}/{{{','.join(kind.partition('/')[2] for kind in types)}}}"
