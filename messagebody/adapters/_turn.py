"""A turn: one body of a conversation on its way to a message."""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.adapters._base import Loss, LossKind
from messagebody.adapters._items import Item
from messagebody.adapters._places import items_of

Found = tuple[Item | None, list[Part]]


@attrs.define
class Turn:
    """Hold one body of a conversation on its way to a message.

    Arguments:
        number: its position among the bodies, for losses.
        body: the body.
        rest: the rest of the message that it came from.
        is_own: whether it came as a message of the format, and goes back as that message.
        is_emptied: whether all that it said is told by others.
    """

    number: int
    body: MessageBody
    rest: Any
    is_own: bool
    is_emptied: bool = False

    def items(self) -> list[Found]:
        """Return the items of the body."""
        return [*items_of(self.body)]

    def piece(self, parts: Iterable[Part], role: str | None = None) -> "Turn":
        """Return a turn of some of the parts; what has no part goes with the first piece."""
        rest = dict(self.rest) if isinstance(self.rest, dict) else {}
        for member in ("missed", "frame", "form", "mark"):
            rest.pop(member, None)
        if isinstance(entries := rest.get("blocks"), list):
            rest["blocks"] = [
                each for each in entries if not isinstance(each, dict) or "block" not in each
            ]
        if role is not None:
            rest["role"] = role
        return Turn(self.number, MessageBody(parts), rest or None, self.is_own)

    def evolve(self, parts: Iterable[Part]) -> "Turn":
        """Return the turn with other parts."""
        return Turn(self.number, MessageBody(parts), self.rest, self.is_own)


def left_of(turn: Turn) -> Iterator[Loss]:
    """Yield a loss for each member that a reader misses of a message that became none."""
    rest = turn.rest if isinstance(turn.rest, dict) else {}
    names = rest.get("missed", [])
    for name in names if isinstance(names, list) else []:
        why = "its message goes out as a part of another"
        yield Loss(LossKind.OMITTED, f"message {turn.number}: {name}", why)
