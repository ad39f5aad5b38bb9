"""Parts as an aligned table: size, content type, name, place."""

from typing import TYPE_CHECKING

from messagebody.rendering.columns import Cell, align
from messagebody.rendering.describing import kind_of, place_of, preview, size_of, type_of
from messagebody.rendering.styling import PLAIN, Palette

if TYPE_CHECKING:
    from collections.abc import Iterable

    from messagebody.part import Part

__all__ = ["listing"]


def listing(
    parts: "Iterable[Part]", *, palette: Palette = PLAIN, width: int | None = None
) -> list[str]:
    r"""Return one line a part: size, content type, then its name, or the beginning of its text.

    Arguments:
        parts: the parts, in the order to show them.
        palette: paints the cells.
        width: columns to keep to; None for any.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> _ = body.add("Cats are cute.", content_type="text/markdown")
        >>> _ = body.add("meow", name="/sources/1")
        >>> print("\n".join(listing(body)))
        14 B  text/markdown  "Cats are cute."
         4 B  text/plain     /sources/1
    """
    return align([_row(part) for part in parts], palette=palette, width=width)


def _row(part: "Part") -> list[Cell]:
    size, kind = Cell(size_of(part), "dim", right=True), Cell(type_of(part), kind_of(part))
    if part.name is None:
        return [size, kind, Cell(preview(part), "dim")]
    place = place_of(part)
    return [size, kind, Cell(f"{part.name}  → {place}" if place else part.name)]
