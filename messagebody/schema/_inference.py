"""Inference of a schema from bodies, added one by one or in groups that are combined."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.media_types import essence
from messagebody.names import parent
from messagebody.schema._part import SchemaPart

_ROOT: Final = "/"
# ("directory", path), ("name", name at the root), or ("type", type of unnamed parts).
_Group = tuple[str, str]


@attrs.define
class _Summary:
    """The summary of a group of parts.

    Arguments:
        name: the name, if all parts have the same one; else None.
        types: their content types, in order of appearance.
        bodies: the number of bodies with such a part.
    """

    name: str | None
    types: dict[str, None] = attrs.field(factory=dict)
    bodies: int = 0


class Inference:
    """The inference of a schema; it keeps groups of parts in memory, not bodies.

    Unnamed parts are grouped by type, several files of a directory by the directory, and a single
    file has its own name. Groups that every body has are required.

    Examples:
        >>> from messagebody import Part
        >>> inference = Inference()
        >>> inference.add([Part("Hello!")])
        >>> [part.label for part in inference.parts()]
        ['text/plain']
    """

    def __init__(self) -> None:
        self._groups: dict[_Group, _Summary] = {}
        self._bodies = 0

    def add(self, body: "Iterable[messagebody.Part]") -> None:
        """Add a body."""
        met: set[_Group] = set()
        for part in body:
            kind, name = essence(part.content_type), part.name
            group = ("type", kind) if name is None else _group_of(name)
            seen = self._groups.setdefault(group, _Summary(name))
            if seen.name != name:
                seen.name = None
            seen.types[kind] = None
            met.add(group)
        for group in met:
            self._groups[group].bodies += 1
        self._bodies += 1

    def update(self, other: Self) -> None:
        """Add all bodies of another inference, after the bodies of this one."""
        for group, theirs in other._groups.items():
            mine = self._groups.setdefault(group, _Summary(theirs.name))
            if mine.name != theirs.name:
                mine.name = None
            mine.types.update(theirs.types)
            mine.bodies += theirs.bodies
        self._bodies += other._bodies

    def __len__(self) -> int:
        """Return the number of groups, which is the number of parts of the schema."""
        return len(self._groups)

    def parts(self) -> Iterator[SchemaPart]:
        """Yield schema parts that accept all bodies seen so far."""
        for (sort, value), seen in self._groups.items():
            # If a directory has several files, the next body is likely to have others.
            name = None if sort == "type" else seen.name or f"{value}/*"
            # Required only if all bodies have one, so that all bodies are accepted.
            yield SchemaPart(name, _union(list(seen.types)), seen.bodies == self._bodies)

    def to_dict(self) -> dict[str, Any]:
        """Return the state of the inference as a JSON value."""
        groups = [[*group, *attrs.astuple(seen)] for group, seen in self._groups.items()]
        for each in groups:
            each[3] = list(each[3])
        return {"bodies": self._bodies, "groups": groups}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """Return the inference from a value of `to_dict`."""
        made = cls()
        made._bodies = value["bodies"]
        for sort, key, name, types, bodies in value["groups"]:
            made._groups[sort, key] = _Summary(name, dict.fromkeys(types), bodies)
        return made


def _group_of(name: str) -> _Group:
    directory = parent(name)
    # `/*` would accept every name at the root, so each such name has its own group.
    return ("name", name) if directory == _ROOT else ("directory", directory)


def _union(types: Sequence[str]) -> str:
    """Return a pattern that matches exactly these content types."""
    if len(types) == 1:
        return types[0]
    kinds = {kind.partition("/")[0] for kind in types}
    if len(kinds) > 1:
        return "{" + ",".join(types) + "}"
    return f"{kinds.pop()}/{{{','.join(kind.partition('/')[2] for kind in types)}}}"
