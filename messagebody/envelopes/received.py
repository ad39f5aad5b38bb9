"""Received messages: their exact text in one part, and parts derived from it to work with.

A received message is evidence: its text goes into the body byte for byte, so that a signature
over it survives. What else the body holds of it are views: handy, queryable, and checked against
the text on the way back. A view somebody edited contradicts the text, and that is an error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from messagebody import strict_json
from messagebody.body import MessageBody
from messagebody.envelopes.conversion import Loss, LossKind
from messagebody.errors import EnvelopeError
from messagebody.limits import DEFAULT_LIMITS
from messagebody.names import safe_name
from messagebody.part import Part
from messagebody.text import quote

__all__ = [
    "DEPTH",
    "JSON",
    "Message",
    "Slot",
    "check_depth",
    "check_views",
    "is_digest",
    "member",
    "numbered_name",
    "pointer",
    "read",
    "read_object",
    "shown",
    "text_of",
]

Message = Mapping[str, Any] | str | bytes | bytearray | memoryview
"""A message as parsed JSON, or as the JSON text it came in."""

JSON = "application/json"
DEPTH = DEFAULT_LIMITS.depth

_NESTED = (dict, list, tuple)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@attrs.frozen
class Slot:
    """A name under which content of a received message may lie that its text only points to.

    Arguments:
        name: the part name.
        digest: what the message says of the content, if it does.
    """

    name: str
    digest: str | None


def read(message: Any) -> Any:
    """Return a message as a JSON value, parsed strictly if it is text.

    Raises:
        strict_json.InvalidJson: it repeats a member, holds NaN or a lone surrogate, nests more
            than 100 levels deep, or is no JSON at all.
    """
    if isinstance(message, str | bytes | bytearray | memoryview):
        return strict_json.loads(message, depth=DEPTH)
    value = dict(message) if isinstance(message, Mapping) else message
    strict_json.check_value(value, depth=DEPTH)
    return value


def read_object(message: Any, what: str) -> dict[str, Any]:
    """Return a message as a JSON object.

    Arguments:
        message: parsed JSON or JSON text.
        what: the format, for the error.

    Raises:
        EnvelopeError: it is no strict JSON, or no object.
    """
    try:
        value = read(message)
    except strict_json.InvalidJson as error:
        raise EnvelopeError(f"{what}: {error}") from error
    if not isinstance(value, dict):
        raise EnvelopeError(f"{what} is a JSON object, got {shown(value)}")
    return value


def check_depth(value: Any) -> None:
    """Raise `EnvelopeError` if a value nests too deep for a recursive writer; never recurses."""
    pending: list[list[Any]] = [[value] if isinstance(value, _NESTED) else []]
    while pending:
        if not pending[-1]:
            pending.pop()
            continue
        item = pending[-1].pop()
        if len(pending) > DEPTH:
            raise EnvelopeError(f"nested more than {DEPTH} levels deep")
        children = item.values() if isinstance(item, dict) else item
        below = [child for child in children if isinstance(child, _NESTED)]
        if below:
            pending.append(below)


def member(value: Any, *keys: str) -> Any:
    """Return a member of nested objects, None where there is none or no object on the way."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_of(value: Any, *keys: str) -> str:
    """Return a member of nested objects if it is text, else the empty text."""
    found = member(value, *keys)
    return found if isinstance(found, str) else ""


def pointer(*steps: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of a place.

    Examples:
        >>> pointer("context_attachments", 0, "a/b")
        '/context_attachments/0/a~1b'
    """
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def shown(value: Any) -> str:
    """Return what to say of a JSON value in an error: short, escaped, whatever its size."""
    if isinstance(value, str):
        return quote(value, limit=80)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 64 else "a large number"
    if isinstance(value, float):
        return repr(value)
    return "an object" if isinstance(value, Mapping) else "an array"


def is_digest(value: Any) -> bool:
    """Tell whether a value is a digest as parts state them."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def numbered_name(directory: str, number: int, original: Any) -> str:
    """Return the positional, legal name for the n-th thing of a kind, whatever it is called.

    Examples:
        >>> numbered_name("/attachments", 1, "plans/42 (new).md")
        '/attachments/1/42_new.md'
    """
    text = original if isinstance(original, str) else ""
    if "://" in text:
        text = text.partition("?")[0].partition("#")[0]
    return safe_name(text, directory=f"{directory}/{number}")


def check_views(
    body: MessageBody, exact: str, views: Sequence[Part], slots: Iterable[Slot] = ()
) -> tuple[Loss, ...]:
    """Check that a body says nothing its exact message doesn't, and return what would be lost.

    Arguments:
        body: the body on its way back.
        exact: the name of the part that holds the message.
        views: the parts the message gives rise to; unnamed ones come first in the body.
        slots: names under which content may lie that the message only points to.

    Raises:
        EnvelopeError: a view was edited, moved or removed; its findings are their places.
    """
    known = {exact, *(view.name for view in views if view.name)}
    unnamed = body.unnamed()
    wanted = [view for view in views if view.name is None]
    conflicts = [*_conflicts(body, unnamed, views)]
    losses: list[Loss] = []
    for slot in slots:
        part = body.get(slot.name)
        if part is None or slot.name in known:
            continue
        known.add(slot.name)
        if slot.digest is None:
            why = "the message names it without a hash, so its content is not vouched for"
            losses.append(Loss(LossKind.DOWNGRADED, slot.name, why))
        elif part.digest != slot.digest:
            conflicts.append(slot.name)
    if conflicts:
        raise EnvelopeError(
            f"edited: {', '.join(conflicts)}; the message in {exact} says otherwise. "
            f"Undo the edit, or drop {exact} and build a new message",
            conflicts,
        )
    return (*losses, *_extras(body, known, unnamed[: len(wanted)]))


def _conflicts(body: MessageBody, unnamed: list[Part], views: Sequence[Part]) -> Iterator[str]:
    position = 0
    for view in views:
        if view.name is not None:
            part = body.get(view.name)
        else:
            part = unnamed[position] if position < len(unnamed) else None
            position += 1
        if part is None or not _is_intact(view, part):
            yield view.name or f"unnamed part {position - 1}"


def _is_intact(view: Part, part: Part) -> bool:
    """Tell whether a part still is the view, offloaded or inlined or not; fetch nothing."""
    if not strict_json.same([part.metadata, part.extra], [view.metadata, view.extra]):
        return False
    if view.is_reference:
        return part.url == view.url or (view.digest is not None and part.digest == view.digest)
    return part.content_type == view.content_type and part.digest == view.digest


def _extras(body: MessageBody, known: set[str], taken: list[Part]) -> Iterator[Loss]:
    left = len(taken)
    for index, part in enumerate(body):
        if part.name is None and left:
            left -= 1
        elif part.name not in known:
            where = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
            yield Loss(LossKind.OMITTED, where, "the message is sent as it was received")
