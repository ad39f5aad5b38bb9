"""A body as a tree: directories are implied by names, unnamed parts show their first words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Union

from messagebody.rendering.columns import Cell, align
from messagebody.rendering.describing import (
    kind_of,
    place_of,
    preview,
    size_of,
    total_size,
    type_of,
)
from messagebody.rendering.styling import PLAIN, Palette
from messagebody.text import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from messagebody.part import Part

__all__ = ["tree"]

# A directory's entries in message order. A part and a directory may have the same name, `/a`
# beside `/a/b`, so a key says which of the two it is: "a" or "a/".
_Directory = dict[object, Union["Part", "_Directory"]]


def tree(
    parts: "Iterable[Part]",
    *,
    title: str = "",
    palette: Palette = PLAIN,
    width: int | None = None,
) -> list[str]:
    r"""Return the lines of a tree with the size and type of every part.

    Arguments:
        parts: the parts, usually a body.
        title: what the first line calls them.
        palette: paints the cells.
        width: columns to keep to; None for any.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody()
        >>> _ = body.add("Cats are cute.", content_type="text/markdown")
        >>> _ = body.add("meow", name="/sources/1")
        >>> print("\n".join(tree(body)))
        2 parts, 18 B
        ├── "Cats are cute."  14 B  text/markdown
        └── sources/
            └── 1              4 B  text/plain
    """
    listed = list(parts)
    heading = f"{count_of(len(listed), 'part')}, {total_size(listed)}"
    lines = align(_rows(_grown(listed)), palette=palette, width=width)
    return [palette(f"{title}: {heading}" if title else heading, "title"), *lines]


def _grown(parts: "list[Part]") -> _Directory:
    root: _Directory = {}
    for position, part in enumerate(parts):
        if part.name is None:
            root[position] = part
            continue
        *directories, leaf = part.name[1:].split("/")
        below = root
        for directory in directories:
            below = below.setdefault(directory + "/", {})  # type: ignore[assignment]
        below[leaf] = part
    return root


def _rows(root: _Directory) -> Iterator[list[Cell]]:
    # Names may nest hundreds of levels deep: a stack instead of recursion.
    pending = [(iter(root.items()), len(root), "")]
    while pending:
        entries, left, indent = pending.pop()
        for key, entry in entries:
            left -= 1
            branch, below = ("├── ", "│   ") if left else ("└── ", "    ")
            if not isinstance(entry, dict):
                yield _part_row(indent + branch, key, entry)
                continue
            yield [Cell(str(key), "directory", lead=indent + branch), Cell(""), Cell(""), Cell("")]
            pending.append((entries, left, indent))
            pending.append((iter(entry.items()), len(entry), indent + below))
            break


def _part_row(branch: str, key: object, part: "Part") -> list[Cell]:
    place = place_of(part)
    if isinstance(key, str):
        shown = Cell(key, lead=branch)
    else:
        text = preview(part) if part.text is not None else "(unnamed)"
        shown = Cell(text, "dim", lead=branch)
    return [
        shown,
        Cell(size_of(part), "dim", right=True),
        Cell(type_of(part), kind_of(part)),
        Cell(f"→ {place}" if place else "", "dim"),
    ]
