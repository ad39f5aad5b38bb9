"""What a part looks like in one line: its type, size, place and first words."""

from typing import TYPE_CHECKING, Any

from messagebody.text import escape, human_size, redact_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from messagebody.part import Part

__all__ = ["kind_of", "place_of", "preview", "size_of", "total_size", "type_of"]

# Columns of a URL, of which a content-addressed one has over a hundred.
_WIDEST = 60

_MORE = " \t\r\n"


def kind_of(part: "Part") -> str:
    """Return the first half of a part's content type, which decides its colour."""
    return part.content_type.partition("/")[0].lower()


def size_of(part: "Part") -> str:
    """Return a part's size for a person; "?" where nobody has stated it."""
    return "?" if part.size is None else human_size(part.size)


def type_of(part: "Part") -> str:
    """Return a part's content type; a quoted parameter of it may hold anything."""
    return escape(part.content_type, limit=60)


def place_of(part: "Part") -> str:
    """Return where content lives that is not in the message, without its secrets.

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
    """Leave out the middle of a long URL: the store and the end of the key tell it apart."""
    return url if len(url) <= _WIDEST else f"{url[: _WIDEST - 13]}…{url[-12:]}"


def preview(part: "Part", limit: int = 40) -> str:
    r"""Return the first words of a part that is text here, else where it is, else nothing.

    Examples:
        >>> from messagebody import Part
        >>> preview(Part("Cats are\n\tcute. And funny."), limit=12)
        '"Cats are cut…"'
    """
    if part.text is None:
        return place_of(part)
    # A text may be very long: only its beginning is looked at.
    words = " ".join(part.text[: 4 * limit].split())
    shown = escape(words[:limit])
    more = len(words) > limit or part.text[4 * limit :].strip(_MORE)
    return f'"{shown}…"' if more else f'"{shown}"'


def total_size(parts: "Iterable[Part]") -> str:
    """Return the size of several parts together, "at least" where one is unknown."""
    sizes: list[Any] = [part.size for part in parts]
    known = human_size(sum(size for size in sizes if size is not None))
    return f"at least {known}" if None in sizes else known
