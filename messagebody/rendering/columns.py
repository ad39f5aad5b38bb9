"""Rows of cells, aligned in columns."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from messagebody.rendering.styling import PLAIN, Palette, cut, display_width

__all__ = ["Cell", "align"]

_GAP = "  "


class Cell(NamedTuple):
    """One piece of a row: its text, its role, its side, and what stands before it unpainted."""

    text: str
    role: str = ""
    right: bool = False
    lead: str = ""

    @property
    def width(self) -> int:
        """Columns of a terminal."""
        return display_width(self.lead) + display_width(self.text)


def align(
    rows: Iterable[Sequence[Cell]], *, palette: Palette = PLAIN, width: int | None = None
) -> list[str]:
    """Return one line a row, columns aligned, nothing at the ends of lines.

    Arguments:
        rows: rows of equally many cells.
        palette: paints cells by their roles.
        width: columns to keep to, at the cost of the last column; None for any.

    Examples:
        >>> align([[Cell("5 B", right=True), Cell("/a")], [Cell("12 KiB"), Cell("/b")]])
        ['   5 B  /a', '12 KiB  /b']
    """
    table = [list(row) for row in rows]
    if not table:
        return []
    widths = [max(cell.width for cell in column) for column in zip(*table, strict=True)]
    if width is not None:
        before = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(width - before, 12))
    return [_line(row, widths, palette) for row in table]


def _line(row: Sequence[Cell], widths: Sequence[int], palette: Palette) -> str:
    pieces = []
    for cell, width in zip(row, widths, strict=True):
        room = max(width - display_width(cell.lead), 1)
        text = cut(cell.text, room)
        padding = " " * (room - display_width(text))
        painted = cell.lead + palette(text, cell.role)
        pieces.append(padding + painted if cell.right else painted + padding)
    return _GAP.join(pieces).rstrip(" ")
