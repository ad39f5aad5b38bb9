"""Peeks: what a link on a page shows of its part, and the marks of citations in a text."""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import redact_url
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import CITATIONS
from messagebody.rendering._pieces import facts, link, short, web_address
from messagebody.rendering._tables import preview

_BEGINNING: Final = 240
"""Characters of a part, and of a quote, that a peek shows."""
_QUOTES: Final = 3
"""Quotes of one source below a text."""
_TITLES: Final = ("title", "filename")
"""Members of citations with the title of the source."""
# A rare punctuation mark, because letters could change how the text around them is read.
_SIGN: Final = "\N{DOTTED CROSS}"
_MARK: Final = re.compile(f"{_SIGN}([0-9]+){_SIGN}")
_LEFT_OVER: Final = re.compile(f"{_SIGN}[0-9]*{_SIGN}?")
_LINK: Final = re.compile(r'(<a href="#([\w-]+)"[^>]*>)(.*?)(</a>)', re.DOTALL)
_WHOLE_LINK: Final = re.compile(r"<a\b[^>]*>.*?</a>", re.DOTALL)

Places = Mapping[str, "tuple[str, messagebody.Part]"]
"""The anchors and parts by the names of the parts; one that is not shown has no anchor."""


def unmarked(value: str) -> str:
    """Return the value of an attribute without the marks of citations."""
    return _LEFT_OVER.sub("", value) if _SIGN in value else value


def peek(part: "messagebody.Part") -> Html:
    """Return what a link shows of the part that it leads to."""
    begins = preview(part, _BEGINNING) if part.text else ""
    return element("span", element("b", part.name or "part"), begins, facts(part), class_="peek")


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


@attrs.define
class _CitedSource:
    """A source that a text rests on.

    Arguments:
        number: its number in the text.
        label: its title, its name or its URL; may be empty.
        href: where a link leads to; None for no link.
        site: the host of a link to the web.
        quotes: what is quoted of it, and where in it that stands.
    """

    number: int
    label: str
    href: str | None
    site: str
    quotes: list[tuple[str, str]] = attrs.field(factory=list)

    def mark(self, quote: str, at: str) -> Html:
        """Return the number that stands where a text cites it."""
        words = element("q", quote) if quote else ""
        shown = element("span", element("b", self.label), words, element("small", at),
                        class_="peek")  # fmt: skip
        return element("sup", link(self.href, str(self.number), shown))

    def row(self) -> Html:
        """Return its row in the list below a text."""
        named = link(self.href, self.label) if self.href else self.label
        site = [" ", element("small", self.site)] if self.site else []
        quotes = [element("q", each) for each in dict.fromkeys(q for q, _ in self.quotes) if each]
        places = ", ".join(dict.fromkeys(at for _, at in self.quotes if at))
        told = element("small", places) if places else ""
        return element("li", named, *site, " ", *quotes[:_QUOTES], told)


class Citations:
    """The citations of one text on a page.

    Arguments:
        citations: what cites, as in the metadata of a part; what is none is left out.
        places: the parts that may be cited.
        text: the text.
    """

    def __init__(self, citations: Any, places: Places, text: str = "") -> None:
        self._places = places
        self._sources: dict[str, _CitedSource] = {}
        self._marks: list[tuple[int, Html]] = []
        for citation in islice(citations, CITATIONS) if isinstance(citations, list) else ():
            if isinstance(citation, dict):
                self._add(citation, len(text))
        self._can_mark = _SIGN not in text

    def _add(self, citation: dict[str, Any], length: int) -> None:
        quote, end = _first_text(citation.get("quote"))[:_BEGINNING], citation.get("end")
        source = self._source(citation, quote)
        if source is None:
            return
        at = _place_in(citation.get("at"))
        source.quotes.append((quote, at))
        if isinstance(end, int) and 0 < end <= length:
            mark = end, source.mark(quote, at)
            if mark not in self._marks:
                self._marks.append(mark)

    def _source(self, citation: dict[str, Any], quote: str) -> _CitedSource | None:
        """Return the source that a citation names, or that of its quote alone."""
        name, document = citation.get("part"), citation.get("document")
        anchor, part = self._places.get(name, ("", None)) if isinstance(name, str) else ("", None)
        title = _first_text(
            *(citation.get(each) for each in _TITLES),
            document.get("title") if isinstance(document, dict) else None,
            (part.metadata or {}).get("title") if part is not None else None,
        )
        given = citation.get("url") if part is None else part.url
        url = "" if anchor else _first_text(given, citation.get("source"))
        key = _first_text(name, url, title, quote)
        if key and key not in self._sources:
            href = f"#{anchor}" if anchor else web_address(url)
            site = "" if anchor else urlsplit(href or "").hostname or ""
            label = short(title or redact_url(url) or _first_text(name))
            self._sources[key] = _CitedSource(len(self._sources) + 1, label, href, site)
        return self._sources.get(key)

    def marked(self, text: str) -> str:
        """Return a text with a sign at the end of each range that is cited for."""
        if not self._can_mark or not self._marks:
            return text
        pieces, position = [], 0
        for end, number in sorted((end, number) for number, (end, _) in enumerate(self._marks)):
            pieces += [text[position:end], f"{_SIGN}{number}{_SIGN}"]
            position = end
        return "".join([*pieces, text[position:]])

    def shown(self, html: Html) -> Html:
        """Return the elements of a marked text with numbers for signs, and the sources below."""
        if self._sources and self._can_mark:
            html = Html(_LEFT_OVER.sub("", _MARK.sub(self._number, _WHOLE_LINK.sub(_behind, html))))
        return joined(html, self.listed())

    def _number(self, mark: re.Match[str]) -> str:
        number = int(mark[1])
        return self._marks[number][1] if number < len(self._marks) else ""

    def listed(self) -> Html:
        """Return the list of the sources; nothing if there are none."""
        rows = [source.row() for source in self._sources.values()]
        return element("ol", *rows, class_="cited", aria_label="Sources") if rows else Html()


def _behind(link: re.Match[str]) -> str:
    """Return a link with the marks in it behind it, because they become links."""
    marks = [mark[0] for mark in _MARK.finditer(link[0])]
    return "".join([_MARK.sub("", link[0]), *marks]) if marks else link[0]


def _first_text(*values: Any) -> str:
    return next((each for each in values if isinstance(each, str) and each), "")


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
