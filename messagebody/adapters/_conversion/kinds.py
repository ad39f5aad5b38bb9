"""Kinds: which kind of block a part goes out in."""

from collections.abc import Sequence
from typing import Any

from messagebody._core import Part
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import Dialect


def kinds_at(
    dialect: Dialect, kinds: Sequence[Kind], entry: dict[str, Any], directory: str
) -> list[Kind]:
    """Return the kinds of block that a part may go out in, the one that it came in first.

    Arguments:
        dialect: the format.
        kinds: the kinds that a message of the role may have.
        entry: the rest of the block that the part came in.
        directory: where the part is: "/", or the directory of a result.
    """
    again = dialect.kind(entry.get("kind"))
    here = [kind for kind in kinds if (kind.in_messages if directory == "/" else kind.in_results)]
    return here if again is None else [again, *here]


def kind_for(
    dialect: Dialect, part: Part, entry: dict[str, Any], kinds: Sequence[Kind], *, is_carried: bool
) -> Kind | None:
    """Return the kind of block for a part: its original kind, or the first that fits.

    Arguments:
        dialect: the format.
        part: the part, as the target can read it.
        entry: the rest of the block that it came in.
        kinds: what `kinds_at` returned.
        is_carried: whether a description of its bytes goes out with it.
    """
    again = dialect.kind(entry.get("kind"))
    if again is not None:
        if _fits_again(part, again, entry):
            return again
        kinds = kinds[1:]
    for kind in kinds:
        # A block of a value would lose the bytes, which are carried, or a name.
        is_less = kind.is_value and (is_carried or (part.name is not None and not kind.name_slot))
        if not is_less and fits(part, kind):
            return kind
    return None


def fits(part: Part, kind: Kind) -> bool:
    """Return whether a block of a kind may hold a part."""
    if kind.is_source and not (part.name or "").startswith("/sources/"):
        return False
    if part.url is not None:
        return kind.opens(part.url, part.content_type)
    if kind.max_bytes is not None and (part.size or 0) > kind.max_bytes:
        return False
    return kind.takes(part.content_type)


def _fits_again(part: Part, kind: Kind, entry: dict[str, Any]) -> bool:
    """Return whether a part that came in a block of a kind may be written in such a block again.

    The type of content behind a URL is often a guess, so any type is allowed.
    """
    if part.url is not None:
        return kind.opens(part.url)
    return kind.takes(part.content_type) or part.content_type == entry.get("type")
