"""Peeks: what a link on a page shows of its part, and the marks of citations in a text."""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import redact_url
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import CITATIONS
from messagebody.rendering._markup import is_web_link
from messagebody.rendering._tables import preview, size_of, type_of

_BEGINNING: Final = 240
"""Characters of a part, and of a quote, that a peek shows."""
_QUOTES: Final = 3
"""Quotes of one source below a text."""
# A rare punctuation mark, because letters could change how the text around them is read.
_SIGN: Final = "\N{DOTTED CROSS}"
_MARK: Final = re.compile(f"{_SIGN}([0-9]+){_SIGN}")
_LEFT_OVER: Final = re.compile(f"{_SIGN}[0-9]*{_SIGN}?")
_LINK: Final = re.compile(r'(<a href="#([\w-]+)"[^>]*>)(.*?)(</a>)', re.DOTALL)

Places = Mapping[str, "tuple[str, messagebody.Part]"]
"""The anchors and parts of a page by the names of the parts."""


def unmarked(value: str) -> str:
    """Return the value of an attribute without the marks of citations."""
    return _LEFT_OVER.sub("", value) if _SIGN in value else value


def peek(part: "messagebody.Part") -> Html:
    """Return what a link shows of the part that it leads to."""
    begins = preview(part, _BEGINNING) if part.text else ""
    facts = f"{type_of(part)}  {size_of(part)}" if part.size is not None else type_of(part)
    return element("span", element("b", part.name or "part"), begins, element("small", facts),
                   class_="peek")  # fmt: skip


def with_peeks(html: Html, places: Places, may_peek: Callable[[], bool]) -> Html:
    """Return elements in which each link to a part shows its beginning.

    Arguments:
        html: elements of which only links to parts lead to places on the page.
        places: the parts.
        may_peek: returns whether the page has room for one more.
    """
    parts = dict(places.values())

    def shown(link: re.Match[str]) -> str:
        part = parts.get(link[2])
        if part is None or not may_peek():
            return link[0]
        return f"{link[1]}{link[3]}{peek(part)}{link[4]}"

    return Html(_LINK.sub(shown, html))


# Citations


@attrs.frozen
class _CitedSource:
    """A source that a text rests on.

    Arguments:
        number: its number in the text.
        label: its name, its title or its URL.
        href: where a link leads to; None for no link.
    """

    number: int
    label: str
    href: str | None

    def link(self, *children: str) -> Html:
        rel = None if self.href is None or self.href[0] == "#" else "noopener noreferrer nofollow"
        return element("a", *children, href=self.href, rel=rel)


@attrs.frozen
class _Cited:
    """One citation: its source, the quote, and where in the source it stands."""

    source: _CitedSource
    quote: str
    at: str

    def peek(self) -> Html:
        quote = element("q", self.quote) if self.quote else ""
        return element("span", element("b", self.source.label), quote, element("small", self.at),
                       class_="peek")  # fmt: skip


class Citations:
    """The citations of one text on a page.

    Arguments:
        part: the part with the text.
        text: its text.
        places: the parts that it may cite.
    """

    def __init__(self, part: "messagebody.Part", text: str, places: Places) -> None:
        held = (part.metadata or {}).get("citations")
        self._places = places
        self._sources: dict[str, _CitedSource] = {}
        self._cited: list[_Cited] = []
        self._ends: list[tuple[int, int]] = []
        for citation in islice(held, CITATIONS) if isinstance(held, list) else ():
            source = self._source(citation) if isinstance(citation, dict) else None
            if source is not None:
                self._add(source, citation, len(text))
        self._can_mark = _SIGN not in text

    def _source(self, citation: dict[str, Any]) -> _CitedSource | None:
        document = citation.get("document")
        title = citation.get("title") or (isinstance(document, dict) and document.get("title"))
        named = [each for each in (citation.get("part"), citation.get("url"), title)
                 if isinstance(each, str) and each]  # fmt: skip
        if not named:
            return None
        key = named[0]
        if key not in self._sources:
            href = None
            if "part" in citation:
                href = f"#{self._places[key][0]}" if key in self._places else None
            elif is_web_link(key):
                href = key
            label = title if isinstance(title, str) else redact_url(key)
            self._sources[key] = _CitedSource(len(self._sources) + 1, label[:_BEGINNING], href)
        return self._sources[key]

    def _add(self, source: _CitedSource, citation: dict[str, Any], length: int) -> None:
        quote, end = citation.get("quote"), citation.get("end")
        words = quote[:_BEGINNING] if isinstance(quote, str) else ""
        self._cited.append(_Cited(source, words, _place_in(citation.get("at"))))
        if isinstance(end, int) and 0 < end <= length:
            self._ends.append((end, len(self._cited) - 1))

    def marked(self, text: str) -> str:
        """Return a text with a sign at the end of each range that is cited for."""
        if not self._can_mark or not self._ends:
            return text
        pieces, position = [], 0
        for end, number in sorted(self._ends):
            pieces += [text[position:end], f"{_SIGN}{number}{_SIGN}"]
            position = end
        return "".join([*pieces, text[position:]])

    def shown(self, html: Html) -> Html:
        """Return the elements of a marked text with numbers for signs, and the sources below."""
        if not self._cited:
            return html
        if self._can_mark:
            html = Html(_LEFT_OVER.sub("", _MARK.sub(self._number, html)))
        return joined(html, self._source_list())

    def _number(self, mark: re.Match[str]) -> str:
        cited = self._cited[int(mark[1])] if int(mark[1]) < len(self._cited) else None
        if cited is None:
            return ""
        return element("sup", cited.source.link(str(cited.source.number), cited.peek()))

    def _source_list(self) -> Html:
        rows = []
        for source in self._sources.values():
            said = [each for each in self._cited if each.source is source]
            quotes = [element("q", each.quote) for each in said if each.quote]
            places = ", ".join(dict.fromkeys(each.at for each in said if each.at))
            rows.append(element("li", source.link(source.label), " ", *quotes[:_QUOTES],
                                element("small", places)))  # fmt: skip
        return element("ol", *rows, class_="cited", aria_label="Sources")


def _place_in(at: Any) -> str:
    """Return in words where in a source a quote stands.

    Examples:
        >>> _place_in({"pages": [3, 5]}), _place_in({"cell": "B4"})
        ('pages 3 to 5', 'cell B4')
    """
    if not isinstance(at, dict):
        return ""
    return ", ".join(
        f"{key} {' to '.join(map(str, value)) if isinstance(value, list) else value}"[:40]
        for key, value in islice(at.items(), 4)
    )
