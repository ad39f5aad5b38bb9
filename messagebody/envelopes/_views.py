"""Views of a message that is kept as it was received: parts that must not contradict it."""

from collections.abc import Iterator, Sequence

from messagebody._core import MessageBody, Part, quote, record_of, strict_json, unlisted
from messagebody.adapters import Loss, LossKind
from messagebody.errors import EnvelopeError


def check_views(body: MessageBody, exact: str, views: Sequence[Part]) -> list[Loss]:
    """Check that a body does not contradict its exact message, and return what would be lost.

    Arguments:
        body: the body on its way back.
        exact: the name of the part that holds the message.
        views: the parts made from the message; unnamed ones come first in the body.

    Raises:
        EnvelopeError: a view was edited, moved or removed; the findings name the places.
    """
    known = {exact, *(view.name for view in views if view.name)}
    unnamed = body.unnamed()
    conflicts = [*_conflicts(body, unnamed, views)]
    if conflicts:
        raise EnvelopeError(
            f"edited: {', '.join(conflicts)}, which contradicts the message in {exact}. "
            f"Undo the edit, or drop {exact} and build a new message",
            conflicts,
        )
    return [*_extras(body, known, sum(view.name is None for view in views))]


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
    """Return whether a part still equals the view, even offloaded or inlined; fetch nothing."""
    described = [[unlisted(record_of(each)), each.extra] for each in (part, view)]
    if not strict_json.same(*described):
        return False
    # The part may have been inlined or moved, but the same digest means the same content.
    if view.is_reference:
        return part.url == view.url or (view.digest is not None and part.digest == view.digest)
    return part.content_type == view.content_type and part.digest == view.digest


def _extras(body: MessageBody, known: set[str], wanted: int) -> Iterator[Loss]:
    """Yield the parts that are not among the known ones, nor among the first unnamed ones."""
    for index, part in enumerate(body):
        if part.name is None and wanted:
            wanted -= 1
        elif part.name not in known:
            where = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
            yield Loss(LossKind.OMITTED, where, "the message is sent as it was received")
