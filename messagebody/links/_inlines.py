"""Inlines: the links and raw HTML in the text of a paragraph or heading, by CommonMark.

The parsers of inlines that there are give no places, and take quadratic time for some texts. These
are the steps of the CommonMark specification for links ("look for link or image"): one pass with a
stack of brackets, in linear time. Emphasis has no part in it, because links bind tighter.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container
from functools import cached_property
from typing import Final

import attrs
from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle

from messagebody._core import TextRange
from messagebody.links._destinations import LinkedUrl, words_of

_SPECIAL: Final = re.compile(r"\\|`+|<|!?\[|\]")
_SPACE: Final = re.compile(r"[ \t\n]*+")
_AUTOLINK: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*+)>")
_LABEL_OF_DOMAIN: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL: Final = re.compile(
    rf"<[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]++@{_LABEL_OF_DOMAIN}(?:\.{_LABEL_OF_DOMAIN})*+>"
)
# Possessive, and so linear: a quote changes between three states (outside, in ", in '), and two
# attempts in one state are the same from there on. So at most three read a character.
_TAG: Final = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9-]*+"
    r"(?:[ \t\n]++[A-Za-z_:][A-Za-z0-9:._-]*+"
    r"(?:[ \t\n]*+=[ \t\n]*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?+)*+[ \t\n]*+/?"
    r"|/[A-Za-z][A-Za-z0-9-]*+[ \t\n]*+)>"
)
# The beginnings of other raw HTML, and what ends it.
_DECLARATION: Final = re.compile(r"<!(?:--|\[CDATA\[|[A-Za-z])|<\?")
_ENDS: Final = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
_EMPTY_COMMENT: Final = re.compile(r"<!---?>")
_LABEL: Final = re.compile(r"\[((?:[^\[\]\\]|\\.)*+)\]", re.DOTALL)
_LONGEST_LABEL: Final = 999


def label_of(text: str) -> str:
    """Return the label of a reference in the form by which two are compared; "" for no label."""
    return normalizeReference(text) if len(text) <= _LONGEST_LABEL else ""


@attrs.define
class _Bracket:
    """An opening bracket.

    Arguments:
        inside: the position after it.
        is_image: whether it begins an image.
        holds: whether another one follows, so that what it encloses is no label.
    """

    inside: int
    is_image: bool
    holds: bool = False


class Inlines:
    """The links and raw HTML of one text.

    Arguments:
        text: the text of a paragraph or heading.
        references: the labels that are defined in the document.

    Examples:
        >>> [found] = Inlines("[`]` a](source:1)", ()).links
        >>> found.span, found.url, found.words
        (TextRange(start=8, end=16), 'source:1', '`]` a')
    """

    def __init__(self, text: str, references: Container[str]) -> None:
        self.links: list[LinkedUrl] = []
        self.words: list[tuple[TextRange, str]] = []
        """Where the words of `links` stand, with the URL of each."""
        self.uses: list[tuple[str, TextRange]] = []
        """The labels of definitions that are used, and where the words stand that are linked."""
        self.html: list[TextRange] = []
        """Where raw HTML stands."""
        self._text = text
        self._references = references
        self._brackets: list[_Bracket] = []
        # How many of the brackets at the bottom can't begin a link, because they hold one.
        self._idle = 0
        self._endless: set[str] = set()
        position = 0
        while (special := _SPECIAL.search(text, position)) is not None:
            position = self._after(special)

    def _after(self, special: re.Match[str]) -> int:
        """Read what begins with a special character, and return the position after it."""
        start, end = special.span()
        match special[0][-1]:
            case "\\":
                return end + 1
            case "`":
                return self._after_code(start, end)
            case "<":
                return self._after_angle(start)
            case "[":
                return self._open(end, is_image=special[0] == "![")
            case _:
                return self._close(start)

    # Code and HTML

    @cached_property
    def _runs(self) -> dict[int, list[int]]:
        """Where runs of backticks begin, by their length."""
        found: dict[int, list[int]] = defaultdict(list)
        for run in re.finditer("`+", self._text):
            found[len(run[0])].append(run.start())
        return found

    def _after_code(self, start: int, end: int) -> int:
        runs = self._runs.get(end - start, [])
        closing = bisect_left(runs, end)
        return runs[closing] + end - start if closing < len(runs) else end

    def _after_angle(self, start: int) -> int:
        if found := _AUTOLINK.match(self._text, start):
            url = found[1]
            span = TextRange(*found.span(1))
            self.links.append(LinkedUrl(span, url, words_of(url), "autolink"))
            self.words.append((span, url))
            return found.end()
        if found := _EMAIL.match(self._text, start):
            return found.end()
        end = self._end_of_html(start)
        if end is None:
            return start + 1
        self.html.append(TextRange(start, end))
        return end

    def _end_of_html(self, start: int) -> int | None:
        found = _TAG.match(self._text, start) or _EMPTY_COMMENT.match(self._text, start)
        if found:
            return found.end()
        begun = _DECLARATION.match(self._text, start)
        if begun is None:
            return None
        ending = _ENDS.get(begun[0], ">")
        # Searched for only once if it is missing.
        found_at = -1 if ending in self._endless else self._text.find(ending, begun.end())
        if found_at < 0:
            self._endless.add(ending)
            return None
        return found_at + len(ending)

    # Brackets

    def _open(self, inside: int, *, is_image: bool) -> int:
        if self._brackets:
            self._brackets[-1].holds = True
        self._brackets.append(_Bracket(inside, is_image))
        return inside

    def _close(self, closing: int) -> int:
        if not self._brackets:
            return closing + 1
        opening = self._brackets.pop()
        below = len(self._brackets)
        is_idle = not opening.is_image and below < self._idle
        after = None if is_idle else self._inline(opening, closing)
        if after is None and not is_idle:
            after = self._reference(opening, closing)
        # A link holds no other link, so the brackets around one begin none.
        is_link = after is not None and not opening.is_image
        self._idle = below if is_link else min(self._idle, below)
        return closing + 1 if after is None else after

    def _inline(self, opening: _Bracket, closing: int) -> int | None:
        """Return the position after a link with its destination in parentheses."""
        text, length = self._text, len(self._text)
        if text[closing + 1 : closing + 2] != "(":
            return None
        start = self._skip(closing + 2)
        if text[start : start + 1] == ")":
            return start + 1  # an empty destination leads nowhere
        destination = parseLinkDestination(text, start, length)
        if not destination.ok:
            return None
        end = self._skip(destination.pos)
        if end > destination.pos:
            title = parseLinkTitle(text, end, length)
            end = self._skip(title.pos) if title.ok else end
        if text[end : end + 1] != ")":
            return None
        span = span_of(text, start, destination.pos)
        words = TextRange(opening.inside, closing)
        self.links.append(LinkedUrl(span, destination.str, words_of(text, *words), "markdown"))
        self.words.append((words, destination.str))
        return end + 1

    def _reference(self, opening: _Bracket, closing: int) -> int | None:
        """Return the position after a link that names a definition."""
        text = self._text
        label = _LABEL.match(text, closing + 1)
        if label is not None and label[1].strip():
            name = label_of(label[1])
        elif not opening.holds:
            name = label_of(text[opening.inside : closing])
        else:
            return None
        if name not in self._references:
            return None
        self.uses.append((name, TextRange(opening.inside, closing)))
        return closing + 1 if label is None else label.end()

    def _skip(self, position: int) -> int:
        space = _SPACE.match(self._text, position)
        return position if space is None else space.end()


def span_of(text: str, start: int, end: int) -> TextRange:
    """Return the span of a destination without the angle brackets around it."""
    return TextRange(start + 1, end - 1) if text[start] == "<" else TextRange(start, end)
