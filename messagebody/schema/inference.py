"""Inference: a schema of bodies that are seen one by one, or in pieces that are put together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import attrs

from messagebody.media_types import essence
from messagebody.names import parent
from messagebody.part import Part
from messagebody.schema.part import SchemaPart

_ROOT: Final = "/"
# A directory for names, the root's name itself, or a type of unnamed parts.
_Group = tuple[str, str]


@attrs.define
class _Seen:
    """What was seen of a group of parts.

    Arguments:
        name: the one name all of them have; None if they have several, or none.
        types: their content types, in the order in which they came.
        bodies: how many bodies have one.
    """

    name: str | None
    types: dict[str, None] = attrs.field(factory=dict)
    bodies: int = 0


class Inference:
    """A schema in the making: it takes memory for groups of parts, not for bodies.

    Unnamed parts are told by type, a lone file by its name, several files of a directory by the
    directory. What every body has is required.

    Examples:
        >>> inference = Inference()
        >>> inference.add([Part("Hello!")])
        >>> [part.label for part in inference.parts()]
        ['text/plain']
    """

    def __init__(self) -> None:
        self._groups: dict[_Group, _Seen] = {}
        self._bodies = 0

    def add(self, body: Iterable[Part]) -> None:
        """Take a body into account."""
        met: set[_Group] = set()
        for part in body:
            kind, name = essence(part.content_type), part.name
            group = ("type", kind) if name is None else _group_of(name)
            seen = self._groups.setdefault(group, _Seen(name))
            if seen.name != name:
                seen.name = None
            seen.types[kind] = None
            met.add(group)
        for group in met:
            self._groups[group].bodies += 1
        self._bodies += 1

    def update(self, other: Self) -> None:
        """Take into account all that another one has seen, as if it came now."""
        for group, theirs in other._groups.items():
            mine = self._groups.setdefault(group, _Seen(theirs.name))
            if mine.name != theirs.name:
                mine.name = None
            mine.types.update(theirs.types)
            mine.bodies += theirs.bodies
        self._bodies += other._bodies

    def __len__(self) -> int:
        """Return the number of groups, which is that of the schema's parts."""
        return len(self._groups)

    def parts(self) -> Iterator[SchemaPart]:
        """Yield schema parts under which all bodies seen so far are valid."""
        for (sort, value), seen in self._groups.items():
            # Several files of a directory are likely to be many next time, and of other names.
            name = None if sort == "type" else seen.name or f"{value}/*"
            # Where some body lacks it, requiring it would refuse a body it was made of.
            yield SchemaPart(name, _union(list(seen.types)), seen.bodies == self._bodies)

    def to_json(self) -> dict[str, Any]:
        """Return all that was seen as a JSON value."""
        groups = [[*group, *attrs.astuple(seen)] for group, seen in self._groups.items()]
        for each in groups:
            each[3] = list(each[3])
        return {"bodies": self._bodies, "groups": groups}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        made = cls()
        made._bodies = value["bodies"]
        for sort, key, name, types, bodies in value["groups"]:
            made._groups[sort, key] = _Seen(name, dict.fromkeys(types), bodies)
        return made


def _group_of(name: str) -> _Group:
    directory = parent(name)
    # `/*` would accept nearly everything: names at the root are kept as they are.
    return ("name", name) if directory == _ROOT else ("directory", directory)


def _union(types: Sequence[str]) -> str:
    """Return a pattern of exactly these content types."""
    if len(types) == 1:
        return types[0]
    kinds = {kind.partition("/")[0] for kind in types}
    if len(kinds) > 1:
        return "{" + ",".join(types) + "}"
    return f"{kinds.pop()}/{{{','.join(kind.partition('/')[2] for kind in types)}}}"
