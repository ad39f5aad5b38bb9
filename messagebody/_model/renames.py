"""Renames: the new names of parts when a part or a directory moves."""

from collections.abc import Mapping
from typing import Self

import attrs

from messagebody._model.index import PartList
from messagebody._wire.members import check_part_name
from messagebody.errors import InvalidArgument


@attrs.frozen
class Renames:
    """What the names of a body become when one of them, or all below a directory, move.

    Arguments:
        old: the name that moves; a directory if it ends in a slash.
        new: what it becomes; it ends in a slash where `old` does.
        names: the new names of the parts that there are, in message order.
    """

    old: str
    new: str
    names: Mapping[str, str]

    @classmethod
    def for_move(cls, parts: PartList, old: str, new: str) -> Self:
        """Return what moving a name of some parts does; `names` is empty if there is none.

        Raises:
            InvalidName: the new name is not legal.
        """
        for name in (old, new):
            if not isinstance(name, str):
                raise InvalidArgument("a name", name)
        if not old.endswith("/") and parts.find(old) is not None:
            return cls(old, new, {old: check_part_name(new)})
        old, new = f"{old.rstrip('/')}/", f"{check_part_name(new.rstrip('/'))}/"
        moved = [record.name or "" for record in parts.below(old)]
        return cls(old, new, {name: check_part_name(new + name[len(old) :]) for name in moved})

    def steps(self) -> list[tuple[str, str]]:
        """Return the names and new names in an order in which no part is in the way of another.

        A directory that moves into itself, or up, may put a part where another one is that moves.
        """
        grows = len(self.new) > len(self.old)
        return sorted(self.names.items(), key=lambda pair: len(pair[0]), reverse=grows)

    def __call__(self, name: str) -> str:
        """Return what a name becomes, also one that no part has."""
        if self.old.endswith("/"):
            is_below = name.startswith(self.old)
            return self.new + name[len(self.old) :] if is_below else name
        return self.new if name == self.old else name
