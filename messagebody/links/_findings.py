"""Findings about links: those that lead nowhere, sources that nobody cites, wrong citations."""

import posixpath
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from messagebody._core import Part, did_you_mean, escape, essence, quote
from messagebody.findings import Finding, Severity, pointer
from messagebody.links._html import shown_text
from messagebody.links._links import (
    CITATIONS,
    HTML,
    Link,
    citations_of,
    each_link,
    range_of,
    text_of,
)
from messagebody.links._targets import SOURCES

_COMPARED: Final = 300
"""The most names, and characters of a name, that a suggestion is looked for among."""
_SUGGESTIONS: Final = 100
"""How many names that lead nowhere get one: each takes milliseconds."""
_SEARCHED: Final = 1_000_000_000
"""Characters of sources that are searched for quotes: many may quote one long source."""


def iter_findings(parts: Sequence[Part]) -> Iterator[Finding]:
    """Yield likely mistakes in the links between the parts of a body.

    The checks are `link-dangles`, `source-unused`, `citation-range` and `citation-quote`; see
    `messagebody.findings.iter_findings`.

    Raises:
        MissingDependency: there is Markdown or HTML, and the extra `links` is not installed.
    """
    links = [*each_link(parts)]
    found = [
        *_dangling(parts, links),
        *_unused(parts, links),
        *(each for index, part in enumerate(parts) for each in _ranges(index, part)),
        *_quotes(parts),
    ]
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
