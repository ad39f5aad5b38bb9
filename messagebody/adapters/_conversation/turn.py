"""A turn: one body of a conversation on its way to a message."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from messagebody._core import MessageBody, Part, body_like, body_of, quote, record_of
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._vocabulary.part_names import (
    BodyContents,
    Found,
    contents_of,
    withheld_among,
)
from messagebody.errors import DecodeError, EnvelopeError

UNREAD: Final = "it can't be read, and stays in rest: "
"""How a loss says that something of a conversation could not be read; what is wrong follows."""


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
    rest: dict[str, Any]
    is_own: bool
    is_emptied: bool = False
    _found: tuple[MessageBody, BodyContents] | None = attrs.field(
        default=None, init=False, eq=False
    )

    @property
    def role(self) -> str | None:
        """Who says it, if its rest states that."""
        return self.rest.get("role")

    @property
    def is_unread(self) -> bool:
        """Whether its message could not be read: it is all rest."""
        return is_unread(self.body, self.rest)

    def contents(self) -> BodyContents:
        """Return what the body holds; a change puts another body in its place."""
        if self._found is None or self._found[0] is not self.body:
            self._found = (self.body, contents_of(self.body))
        return self._found[1]

    def items(self) -> list[Found]:
        """Return the items of the body."""
        return self.contents().items

    def renew(self, changed: Mapping[int, Part]) -> None:
        """Put other parts, of the same names, in the place of some; their items say the same.

        Arguments:
            changed: the new part for each old one, by the identity of that.
        """
        if not changed:
            return
        contents = self.contents()
        for among in (*(parts for _, parts in contents.items), contents.parts):
            among[:] = [changed.get(id(part), part) for part in among]
        self.body = body_like(self.body, [*map(record_of, contents.parts)])
        self._found = (self.body, contents)

    def piece(self, parts: Sequence[Part], role: str | None = None) -> "Turn":
        """Return a turn of some of the parts; what has no part goes with the first piece."""
        rest = dict(self.rest)
        for member in ("missed", "frame", "form", "mark", "beside"):
            rest.pop(member, None)
        if isinstance(entries := rest.get("blocks"), list):
            rest["blocks"] = [
                each for each in entries if not isinstance(each, dict) or "block" not in each
            ]
        if role is not None:
            rest["role"] = role
        made = Turn(self.number, self.body, rest, self.is_own)
        if len(parts) < len(self.body):
            # Parts of one body have names of their own.
            made.body = body_of([record_of(part) for part in parts])
        else:
            made._found = self._found
        return made

    def loss(self, kind: LossKind, where: object, why: str, affects: Affected) -> Loss:
        """Return a loss of this turn."""
        return Loss(kind, str(where), why, affects=affects, message=self.number)

    def evolve(self, parts: Iterable[Part]) -> "Turn":
        """Return the turn with other parts."""
        return Turn(self.number, MessageBody(parts), self.rest, self.is_own)


def is_unread(body: MessageBody, rest: Any) -> bool:
    """Return whether a body is of a message that could not be read, and nothing was added to it."""
    return isinstance(rest, dict) and "message" in rest and not len(body)


def left_of(turn: Turn) -> Iterator[Loss]:
    """Yield a loss for each member that a reader misses of a message that became none."""
    names = turn.rest.get("missed", [])
    for name in names if isinstance(names, list) else []:
        why = "its message goes out as a part of another"
        yield turn.loss(LossKind.OMITTED, name, why, Affected.CONTENT)


def with_rest(name: str, body: MessageBody, rest: Any) -> tuple[MessageBody, dict[str, Any]]:
    """Return a body without the part that holds the rest of a message, and the rest.

    Arguments:
        name: the format that is written.
        body: the body.
        rest: the rest if it is beside the body, else None.

    Raises:
        EnvelopeError: the rest is not an object.
    """
    part = body.get(f"/meta/{name}.json") if rest is None else None
    if part is not None and not part.is_reference:
        rest, body = part.read_json(), body.copy()
        del body[str(part.name)]
    if rest is None and (role := _stated_role(body)) is not None:
        rest = {"role": role}
    if rest is not None and not isinstance(rest, dict):
        raise EnvelopeError(f"rest is an object that to_body returned, got {quote(rest)}")
    return body, rest or {}


def _stated_role(body: MessageBody) -> str | None:
    """Return the role in the stored rest of a message of another format, None if there is none."""
    for _, value in _stored_in(body):
        role = value.get("role") if isinstance(value, dict) else None
        if isinstance(role, str):
            return role
    return None


def speaker_lost(turn: Turn) -> Iterator[Loss]:
    """Yield a loss if the stored rest of a message is broken, where nothing else says its role."""
    for name, value in _stored_in(turn.body):
        if not isinstance(value, dict):
            why = "it is broken, and does not say whose words these are"
            yield turn.loss(LossKind.DOWNGRADED, name, why, Affected.CONTENT)


def _stored_in(body: MessageBody) -> Iterator[tuple[str | None, Any]]:
    """Yield the name of each stored rest of a message, and its value; None if it is broken."""
    # Below another directory, it is the rest of a body inside this one.
    names = [name for name in body.names() if name.startswith("/meta/")]
    for part in [body[names[position]] for position in withheld_among(names)]:
        if part.text is None:
            continue
        try:
            yield part.name, part.read_json()
        except DecodeError:
            yield part.name, None
