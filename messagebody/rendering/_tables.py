"""Tables and trees of parts for a terminal, with colours and aligned columns."""

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Union

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import count_of, escape, human_size, redact_url

# SGR codes of ECMA-48: the sixteen basic colours, which are readable in every colour scheme.
_CODES = {
    "title": "1",
    "directory": "1;34",
    "dim": "2",
    "text": "32",
    "image": "35",
    "audio": "36",
    "video": "36",
    "application": "33",
    "reference": "4;34",
    "local": "33",
    "yes": "1;32",
    "no": "1;31",
    "maybe": "1;33",
    "command": "36",
}


@attrs.frozen
class Palette:
    r"""Paint text by its role, or leave it alone.

    Arguments:
        enabled: whether to write escape sequences at all.

    Examples:
        >>> Palette(enabled=True)("valid", "yes")
        '\x1b[1;32mvalid\x1b[0m'
        >>> PLAIN("valid", "yes")
        'valid'
    """

    enabled: bool = False

    def __call__(self, text: str, role: str) -> str:
        """Return `text` in the colour of `role`; an unknown role has none."""
        code = _CODES.get(role)
        if not self.enabled or code is None or not text:
            return text
        return f"\x1b[{code}m{text}\x1b[0m"


PLAIN = Palette()
"""The palette that leaves all text unchanged."""


def display_width(text: str) -> int:
    """Return the width of `text` in a terminal: two columns for wide characters, none for marks.

    Examples:
        >>> display_width("cat"), display_width("\u732b")
        (3, 2)
    """
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Return `text` cut to `width` columns, with "…" in place of the missing text.

    Examples:
        >>> cut("/sources/interview", 10)
        '/sources/…'
    """
    if display_width(text) <= width:
        return text
    kept, room = [], width - 1
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def folded(lines: Iterable[str], width: int | None) -> list[str]:
    """Return sentences folded to `width` columns; folded lines are indented by two more columns.

    Examples:
        >>> folded(["  part 0: accepted by no schema part"], 24)
        ['  part 0: accepted by no', '    schema part']
    """
    return [each for line in lines for each in _folded(line, width)]


def _folded(line: str, width: int | None) -> list[str]:
    if width is None or len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    # Names and types are not cut, not even at hyphens, because people copy them.
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


_GAP = "  "
# The columns that a cell keeps at least, and the last cell of a row as long as others have more.
_NARROWEST = 4
_LAST = 12


class Cell(NamedTuple):
    """One piece of a row: its text, role and side, and the unpainted text before it."""

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
    """Return one line per row, with aligned columns and no spaces at the ends of lines.

    Arguments:
        rows: rows of equally many cells.
        palette: paints cells by their roles.
        width: the most columns, for which the widest cells are cut; None for any number.

    Examples:
        >>> align([[Cell("5 B", right=True), Cell("/a")], [Cell("12 KiB"), Cell("/b")]])
        ['   5 B  /a', '12 KiB  /b']
    """
    table = [list(row) for row in rows]
    if not table:
        return []
    widths = [max(cell.width for cell in column) for column in zip(*table, strict=True)]
    if width is not None:
        widths = _fitted(widths, width - len(_GAP) * (len(widths) - 1))
    return [_line(row, widths, palette) for row in table]


def _fitted(widths: list[int], room: int) -> list[int]:
    """Return widths whose sum is at most `room`: first the last shrinks, then the widest."""
    *others, last = widths
    last = min(last, max(room - sum(others), _LAST))
    cap = max(others, default=0)
    while cap > _NARROWEST and sum(min(each, cap) for each in others) > room - last:
        cap -= 1
    return [*(min(each, cap) for each in others), last]


def _line(row: Sequence[Cell], widths: Sequence[int], palette: Palette) -> str:
    pieces = []
    for cell, width in zip(row, widths, strict=True):
        room = max(width - display_width(cell.lead), 1)
        text = cut(cell.text, room)
        padding = " " * (room - display_width(text))
        painted = cell.lead + palette(text, cell.role)
        pieces.append(padding + painted if cell.right else painted + padding)
    return _GAP.join(pieces).rstrip(" ")


# Columns for a URL; a content-addressed URL has over a hundred characters.
_WIDEST = 60

_MORE = " \t\r\n"


def kind_of(part: "messagebody.Part") -> str:
    """Return the first half of a part's content type, which decides its colour."""
    return part.content_type.partition("/")[0].lower()


def size_of(part: "messagebody.Part") -> str:
    """Return a part's size for a person; "?" if it is unknown."""
    return "?" if part.size is None else human_size(part.size)


def type_of(part: "messagebody.Part") -> str:
    """Return a part's content type, escaped, because a quoted parameter may hold any text."""
    return escape(part.content_type, limit=60)


def place_of(part: "messagebody.Part") -> str:
    """Return the place of content that is not in the message, without its secrets.

    Examples:
        >>> from messagebody import Part
        >>> place_of(Part(url="https://example.com/cat.png?signature=s3cret"))
        'https://example.com/cat.png?…'
    """
    if part.url is not None:
        return _shortened(redact_url(part.url, limit=8192))
    if part.local_file is not None:
        return "local file " + escape(part.local_file.path.name, limit=200)
    return ""


def _shortened(url: str) -> str:
    """Leave out the middle of a long URL: the store and the end of the key identify it."""
    return url if len(url) <= _WIDEST else f"{url[: _WIDEST - 13]}…{url[-12:]}"


def preview(part: "messagebody.Part", limit: int = 40) -> str:
    r"""Return the first words of an inline text part; for other parts the place, or nothing.

    Examples:
        >>> from messagebody import Part
        >>> preview(Part("Cats are\n\tcute. And funny."), limit=12)
        '"Cats are cut…"'
    """
    if part.text is None:
        return place_of(part)
    # A text may be very long, so only its beginning is read.
    words = " ".join(part.text[: 4 * limit].split())
    shown = escape(words[:limit])
    more = len(words) > limit or part.text[4 * limit :].strip(_MORE)
    return f'"{shown}…"' if more else f'"{shown}"'


def total_size(parts: "Iterable[messagebody.Part]") -> str:
    """Return the total size of several parts, with "at least" if one is unknown."""
    sizes: list[Any] = [part.size for part in parts]
    known = human_size(sum(size for size in sizes if size is not None))
    return f"at least {known}" if None in sizes else known


def listing(
    parts: "Iterable[messagebody.Part]", *, palette: Palette = PLAIN, width: int | None = None
) -> list[str]:
    r"""Return one line per part: size, content type, and its name or the beginning of its text.

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


def _row(part: "messagebody.Part") -> list[Cell]:
    size, kind = Cell(size_of(part), "dim", right=True), Cell(type_of(part), kind_of(part))
    if part.name is None:
        return [size, kind, Cell(preview(part), "dim")]
    place = place_of(part)
    return [size, kind, Cell(f"{part.name}  → {place}" if place else part.name)]


def directory_of(entries: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return nested directories that hold named values, in the order given.

    A part and a directory may have the same name, `/a` beside `/a/b`, so the key of a directory
    ends in a slash: "a" and "a/".

    Arguments:
        entries: part names with their values.

    Examples:
        >>> directory_of([("/a", 1), ("/a/b", 2)])
        {'a': 1, 'a/': {'b': 2}}
    """
    root: dict[str, Any] = {}
    for name, value in entries:
        _place(root, name, value)
    return root


def _place(root: dict[Any, Any], name: str, value: Any) -> None:
    *directories, leaf = name[1:].split("/")
    for directory in directories:
        root = root.setdefault(directory + "/", {})
    root[leaf] = value


# The result of `directory_of`, and unnamed parts by their positions.
_Directory = dict[object, Union["messagebody.Part", "_Directory"]]


def tree(
    parts: "Iterable[messagebody.Part]",
    *,
    title: str = "",
    palette: Palette = PLAIN,
    width: int | None = None,
) -> list[str]:
    r"""Return the lines of a tree with the size and type of every part.

    Arguments:
        parts: the parts, usually a body.
        title: the beginning of the first line.
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


def _grown(parts: "list[messagebody.Part]") -> _Directory:
    root: _Directory = {}
    for position, part in enumerate(parts):
        if part.name is None:
            root[position] = part
        else:
            _place(root, part.name, part)
    return root


def _rows(root: _Directory) -> Iterator[list[Cell]]:
    # Names may be nested hundreds of levels deep, so this is a stack and not a recursion.
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


def _part_row(branch: str, key: object, part: "messagebody.Part") -> list[Cell]:
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
