"""Colours by meaning, and text measured as a terminal measures it."""

import unicodedata

import attrs

__all__ = ["PLAIN", "Palette", "cut", "display_width"]

# SGR codes of ECMA-48; the sixteen basic colours, which every colour scheme makes readable.
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
"""Leaves all text as it is."""


def display_width(text: str) -> int:
    """Return how many columns a terminal gives `text`: two for wide characters, none for marks.

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
    """Return `text` cut to `width` columns, with "…" where something is missing.

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
