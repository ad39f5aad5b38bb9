"""Destinations: where a text links to, with the place of each URL as it is written."""

import html
import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from messagebody._core import TextRange

_WORDS: Final = 200
"""The most characters of the words of a link: nested links would repeat them without end."""
_SPACE: Final = re.compile(r"\s+")
_ENTITY: Final = r"&(?:#(?:[xX][0-9A-Fa-f]+|[0-9]+);?|[A-Za-z0-9]+;?)"
# One character as the markup may write it.
_WRITTEN: Final = {
    "html": re.compile(rf"{_ENTITY}|.", re.DOTALL),
    "markdown": re.compile(rf"{_ENTITY}|\\[!-/:-@\[-`{{-~]|.", re.DOTALL),
}

Markup = Literal["autolink", "html", "markdown"]


class LinkedUrl(NamedTuple):
    """A URL in a text.

    Arguments:
        span: where it is written.
        url: the URL, without escapes of the markup.
        words: the words that are linked.
        markup: how it is written.
    """

    span: TextRange
    url: str
    words: str
    markup: Markup


def words_of(text: str, start: int = 0, end: int | None = None) -> str:
    """Return a piece of a text in one line, its first characters if it is long."""
    # Pieces of nested links overlap, so a long one is never copied.
    stop = len(text) if end is None else end
    return _SPACE.sub(" ", text[start : min(stop, start + 2 * _WORDS)]).strip()[:_WORDS]


def rest_of(written: str, markup: Markup) -> str:
    r"""Return the query and fragment of a URL as it is written, with what begins them.

    Examples:
        >>> rest_of("/a&num;x", "html"), rest_of(r"/a\.md?x=1&amp;y=2", "markdown")
        ('&num;x', '?x=1&amp;y=2')
    """
    if markup == "autolink":
        found = re.search(r"[?#]", written)
        return written[found.start() :] if found else ""
    for unit in _WRITTEN[markup].finditer(written):
        if (html.unescape(unit[0]) if unit[0][0] == "&" else unit[0][-1]) in {"?", "#"}:
            return written[unit.start() :]
    return ""


class LineEnds:
    r"""Where characters of a text stand in the text before its line ends became one character.

    Arguments:
        text: the text as it is written.

    Examples:
        >>> LineEnds("a\r\nb").place(2)
        3
    """

    def __init__(self, text: str) -> None:
        found = re.finditer("\r\n", text)
        # The positions after the k-th pair are k higher in the text as it is written.
        self._pairs = [match.start() - index for index, match in enumerate(found)]

    def place(self, position: int) -> int:
        """Return the position in the text as it is written."""
        return position + bisect_left(self._pairs, position)

    def moved(self, destination: LinkedUrl) -> LinkedUrl:
        """Return a destination with the span in the text as it is written."""
        return destination._replace(span=TextRange(*map(self.place, destination.span)))


Reader = Callable[[str], list[LinkedUrl]]
