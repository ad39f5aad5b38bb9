"""Linking: `source:` links of Markdown, which go out as citations of the words that they link.

The link stays in the text, so a format without citations loses nothing. A reader finds the same
words, and gives the source the name that the link means.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Final

from messagebody._core import JSON, TEXT_PLAIN, MessageBody, Part, essence
from messagebody.adapters._vocabulary.items import Text
from messagebody.errors import MissingDependency
from messagebody.links import each_link, source_links

Citation = dict[str, Any]

_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})
_SEGMENT: Final = re.compile(r"[^/:()<>\[\]\"'#?\s]+")
"""What may be the last segment of a name that a text links to."""
_UNLINKED: Final = frozenset({TEXT_PLAIN, JSON})
"""The types of most parts, whose texts hold no links."""
_OF_LINKS: Final = frozenset({"part", "start", "end", "title", "kind", "type"})
_WEB: Final = ("https://", "http://")


def is_markdown(item: Text) -> bool:
    """Return whether a text may link in Markdown."""
    return item.media_type != TEXT_PLAIN and essence(item.media_type) in _MARKDOWN


def pages_of(body: Iterable[Part]) -> dict[str, Part]:
    """Return the sources that others can be told of, which are pages of the web, by their names."""
    sources = (part for part in body if part.name and part.name.startswith("/sources/"))
    return {str(part.name): part for part in sources if (part.url or "").startswith(_WEB)}


def linked_citations(
    body: MessageBody, pages: Mapping[str, Part], part: Part, text: str
) -> list[Citation]:
    """Return what the `source:` links of a text cite, without what its metadata cites already.

    A source is cited by its URL. One whose content is in the body has none, and one in a store has
    an address that means nothing to others: these stay links.

    Arguments:
        body: the body.
        pages: its sources that can be cited.
        part: the part with the text.
        text: its text.

    Raises:
        MissingDependency: the text has such links, and the extra `links` is not installed.
    """
    if not pages or essence(part.content_type) not in _MARKDOWN:
        return []
    said = {*_claims(body, part, len(text))}
    found = []
    for (start, end), name in source_links(text):
        source = pages.get(name)
        if source is None or (source.url, start, end) in said:
            continue
        title = (source.metadata or {}).get("title")
        titled = {"title": title} if isinstance(title, str) else {}
        found.append({"url": source.url, **titled, "start": start, "end": end})
    return found


def _claims(body: MessageBody, part: Part, length: int) -> Iterator[tuple[str, int, int]]:
    """Yield the URLs that the citations of a text name, each with the range."""
    held = (part.metadata or {}).get("citations")
    for each in held if isinstance(held, list) else ():
        if not isinstance(each, dict):
            continue
        name = each.get("part")
        source = body.get(name) if isinstance(name, str) else None
        url = each.get("url") if source is None else source.url
        start, end = each.get("start", 0), each.get("end", length)
        if isinstance(url, str) and type(start) is type(end) is int:
            yield url, start, end


def may_link(part: Part) -> bool:
    """Return whether the text of a part may link to other parts, or cite them."""
    return part.content_type not in _UNLINKED or "citations" in (part.metadata or {})


def lost_links(parts: Iterable[Part], gone: AbstractSet[str]) -> Iterator[tuple[Part, list[str]]]:
    """Yield the texts that link to parts whose names do not go out, each with the names.

    Arguments:
        parts: the parts of a body.
        gone: the names.
    """
    ends = {name.rpartition("/")[2] for name in gone}
    for part in filter(may_link, parts) if gone else ():
        # Others need no parser.
        text = part.text or ""
        if "%" in text or not ends.isdisjoint(_SEGMENT.findall(text)):
            with suppress(MissingDependency):  # the findings about links say so
                targets = dict.fromkeys(link.target for link in each_link([part]))
                if lost := [target for target in targets if target in gone]:
                    yield part, lost


def again_as(known: list[Any], found: list[Citation]) -> list[Citation]:
    """Return those of the citations that links give which a message had, in its order.

    Arguments:
        known: URL, start and end of each that it had.
        found: what the links of the text cite now.
    """
    by_claim = {(each["url"], each["start"], each["end"]): each for each in found}
    claims = (tuple(each) for each in known if isinstance(each, list) and _is_claim(each))
    return [by_claim[claim] for claim in claims if claim in by_claim]


def _is_claim(value: list[Any]) -> bool:
    return [type(each) for each in value] == [str, int, int]


def repeats_links(item: Text, citations: Iterable[Citation], named: Mapping[str, Part]) -> bool:
    """Return whether the citations of a text in Markdown say only what its links say.

    Arguments:
        item: the text.
        citations: its citations, with the names of their sources.
        named: the named parts.
    """
    if not is_markdown(item):
        return False
    try:
        meant = {(name, *words) for words, name in source_links(item.text)}
    except MissingDependency:
        return False
    return all(
        each.keys() <= _OF_LINKS
        and type(each.get("start")) is type(each.get("end")) is int
        and isinstance(each.get("part"), str)
        and (each["part"], each["start"], each["end"]) in meant
        and all(each.get(key) in (None, "citation") for key in ("kind", "type"))
        and _title(each) == _title(named[each["part"]].metadata or {})
        for each in citations
    )


def _title(said: Mapping[str, Any]) -> list[Any]:
    return [said["title"]] if "title" in said else []


def linked_names(text: str, citations: Iterable[Citation]) -> dict[str, str]:
    """Return the names that the links of a text give to the URLs of its citations.

    Examples:
        >>> linked_names("[cute](source:2)", [{"url": "https://e.com", "start": 1, "end": 5}])
        {'https://e.com': '/sources/2'}
    """
    try:
        meant: dict[tuple[int, int], str] = dict(source_links(text))
    except MissingDependency:
        return {}  # they get the next free names
    ranged = [(each.get("url"), (each.get("start"), each.get("end"))) for each in citations]
    unranged = ((None, None), (0, len(text)))
    if len(ranged) == len(meant) and all(words in unranged for _, words in ranged):
        # A format without ranges has them in the order of the links.
        ranged = [(url, words) for (url, _), words in zip(ranged, meant, strict=True)]
    found: dict[str, str] = {}
    for url, (start, end) in ranged:
        if isinstance(url, str) and type(start) is type(end) is int and (start, end) in meant:
            found.setdefault(url, meant[start, end])
    return found
