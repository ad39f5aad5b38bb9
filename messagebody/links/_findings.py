"""Findings about links: those that lead nowhere, sources that nobody cites, wrong citations."""

import posixpath
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from messagebody._core import Link, Part, did_you_mean, escape, essence, quote
from messagebody.errors import MissingDependency
from messagebody.findings import Finding, Severity, pointer
from messagebody.links._html import shown_text
from messagebody.links._links import (
    CITATIONS,
    HTML,
    citations_of,
    each_link,
    may_have_links,
    range_of,
    text_of,
    unread_links,
)
from messagebody.links._targets import SOURCES
from messagebody.names import is_name

_MISTAKEN: Final = ("source", "sources", "name", "path", "target", "ref", "href", "uri", "link")
"""Members of a citation that are meant as its part or URL."""
_COMPARED: Final = 300
"""The most names, and characters of a name, that a suggestion is looked for among."""
_SUGGESTIONS: Final = 100
"""How many names that lead nowhere get one: each takes milliseconds."""
_SEARCHED: Final = 1_000_000_000
"""Characters of sources that are searched for quotes: many may quote one long source."""


def iter_findings(parts: Sequence[Part]) -> Iterator[Finding]:
    """Yield likely mistakes in the links between the parts of a body.

    The checks are `link-dangles`, `links-unread`, `source-unused`, `citation-part`,
    `citation-range` and `citation-quote`; see `messagebody.findings.iter_findings`. Without the
    extra `links`, Markdown and HTML are not read, and `links-unread` says so.
    """
    try:
        links, unread = [*each_link(parts)], [*unread_links(parts)]
        found = [
            *_dangling(parts, links), *_plain(parts, unread), *_unused(parts, [*links, *unread]),
            *_quotes(parts),
        ]  # fmt: skip
    except MissingDependency as error:
        found = [*_unreadable(parts, error)]
    for index, part in enumerate(parts):
        found += (*_misnamed(parts, index), *_ranges(index, part))
    yield from sorted(found, key=lambda each: each.index or 0)


def _finding(part: Part, check: str, problem: str, index: int, *steps: str | int) -> Finding:
    place = f"part {index}" + (f" {quote(part.name)}" if part.name else "")
    return Finding(check, pointer(index, *steps), problem, Severity.WARNING, place=place)


# Links


def _dangling(parts: Sequence[Part], links: Sequence[Link]) -> Iterator[Finding]:
    names = _Suggestions([part.name for part in parts if part.name])
    for link in links:
        if not link.exists:
            cited = link.where if isinstance(link.where, int) else None
            steps = () if cited is None else ("metadata", CITATIONS, cited, "part")
            says = "links to" if cited is None else "cites"
            meant = names.meant(link.target)
            problem = f"it {says} {quote(link.target)}, which is no part{meant}"
            yield _finding(parts[link.part], "link-dangles", problem, link.part, *steps)


def _plain(parts: Sequence[Part], links: Sequence[Link]) -> Iterator[Finding]:
    """Yield a finding for each plain text that would have links if it were Markdown."""
    for index, group in groupby(links, lambda link: link.part):
        shown = min(group, key=lambda link: link.exists)
        missing = "" if shown.exists else ", which is no part"
        problem = (
            f"what would be a link to {quote(shown.target)}{missing}, is none, because this is "
            "text/plain; it is read if the type is text/markdown"
        )
        yield _finding(parts[index], "links-unread", problem, index)


def _unreadable(parts: Sequence[Part], error: MissingDependency) -> Iterator[Finding]:
    """Yield a finding for each text that can't be read, because a parser is not there."""
    for index, part in enumerate(parts):
        if may_have_links(part):
            yield _finding(part, "links-unread", f"its links are not looked at: {error}", index)


class _Suggestions:
    """The names of a body, and which one somebody meant who wrote a name that is none."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._known: dict[str, str] = {}
        self._alike: dict[str, list[str]] = defaultdict(list)
        for name in names:
            for piece in posixpath.split(name):
                self._alike[piece].append(name)

    def meant(self, name: str) -> str:
        """Return the question for the nearest name, or ""."""
        if name not in self._known:
            is_asked = len(self._known) < _SUGGESTIONS
            self._known[name] = did_you_mean(name[:_COMPARED], self._near(name)) if is_asked else ""
        return self._known[name]

    def _near(self, name: str) -> list[str]:
        """Return the names to compare with: those with the same directory or last segment first."""
        directory, last = posixpath.split(name)
        alike = [*self._alike.get(directory, ()), *self._alike.get(last, ())]
        near = dict.fromkeys([*alike[:_COMPARED], *self._names[:_COMPARED]])
        return [each for each in near if len(each) <= _COMPARED][:_COMPARED]


def _unused(parts: Sequence[Part], links: Sequence[Link]) -> Iterator[Finding]:
    used = {link.target for link in links if link.target.startswith(SOURCES)}
    if not used:
        return  # a body that links to no source has its sources for others
    for index, part in enumerate(parts):
        if part.name and part.name.startswith(SOURCES) and part.name not in used:
            yield _finding(part, "source-unused", "no part links to this source", index)


# Citations


def _misnamed(parts: Sequence[Part], index: int) -> Iterator[Finding]:
    """Yield a finding for each citation of a part that does not name its source."""
    part = parts[index]
    held = (part.metadata or {}).get(CITATIONS)
    for number, citation in enumerate(held if isinstance(held, list) and part.is_text else ()):
        if (problem := _flaw_of(citation)) is not None:
            steps = "metadata", CITATIONS, number
            yield _finding(part, "citation-part", problem, index, *steps)


def _flaw_of(citation: Any) -> str | None:
    """Return why a citation is about nothing, None if it is not."""
    if not isinstance(citation, dict):
        return f"a citation is an object with 'part' or 'url', got {quote(citation, limit=60)}"
    name = citation.get("part")
    if name is not None and not (isinstance(name, str) and is_name(name)):
        return f"'part' is the name of a part, such as '/sources/1', got {quote(name, limit=60)}"
    # A service's own words for a source have a type, and what is no page is a document.
    if not citation.keys().isdisjoint(("part", "url", "document", "type")):
        return None
    if member := next((key for key in _MISTAKEN if key in citation), None):
        meant = "url" if "://" in str(citation[member]) else "part"
        return f"a citation has its source as {meant!r}, and not as {member!r}"
    return None


def _ranges(index: int, part: Part) -> Iterator[Finding]:
    citations = [*_all_citations(part)]
    text = text_of(part) if citations else None
    # A range of a text that is not read may still be none.
    length = sys.maxsize if text is None else len(text)
    has = "" if text is None else f"its text has {len(text):,} characters, and "
    for number, citation in citations:
        if range_of(citation, length) is None:
            start, end = (escape(str(citation.get(key)), limit=20) for key in ("start", "end"))
            problem = f"{has}it cites for {start} to {end}"
            steps = "metadata", CITATIONS, number
            yield _finding(part, "citation-range", problem, index, *steps)


def _all_citations(part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
    held = (part.metadata or {}).get(CITATIONS)
    if isinstance(held, list) and part.is_text:
        yield from ((k, each) for k, each in enumerate(held) if isinstance(each, dict))


def _quotes(parts: Sequence[Part]) -> Iterator[Finding]:
    sources = _Sources(parts)
    for index, part in enumerate(parts):
        for number, citation in citations_of(part):
            name, words = citation["part"], citation.get("quote")
            if isinstance(words, str) and not sources.may_say(name, words):
                problem = f"{quote(words, limit=60)} is not in the text of {quote(name)}"
                steps = "metadata", CITATIONS, number, "quote"
                yield _finding(part, "citation-quote", problem, index, *steps)


class _Sources:
    """The texts of the parts that are quoted."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = {part.name: part for part in parts}
        self._texts: dict[str, str | None] = {}
        self._left = _SEARCHED

    def may_say(self, name: str, words: str) -> bool:
        """Return whether a source has some words, or can't be searched for them."""
        text = self._text(name)
        if text is None or self._left < len(text):
            return True
        self._left -= len(text)
        return words in text

    def _text(self, name: str) -> str | None:
        if name not in self._texts:
            part = self._parts.get(name)
            self._texts[name] = None if part is None else _quotable(part)
        return self._texts[name]


def _quotable(part: Part) -> str | None:
    """Return the text of a source; of HTML also what a reader sees of it."""
    text = text_of(part)
    is_html = text is not None and essence(part.content_type) in HTML
    return f"{text}\n{shown_text(text)}" if is_html and text is not None else text
