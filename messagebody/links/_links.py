"""Links: what the parts of a body say of each other, in texts and in citations."""

from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from messagebody._core import (
    TEXT_PLAIN,
    Link,
    LinkKind,
    Links,
    MessageBody,
    Part,
    TextRange,
    canonical,
    essence,
    require_body,
)
from messagebody.errors import DecodeError, MissingDependency
from messagebody.links import _html as html
from messagebody.links._destinations import LinkedUrl, Reader, words_of
from messagebody.links._targets import target_of
from messagebody.names import check_name, is_name

CITATIONS: Final = "citations"
_MARKS: Final = ("](", "]:", "<source:")
"""What a text in Markdown has that links to parts."""
_SOURCE: Final = "source:"
_LONGEST_PLAIN: Final = 1_000_000
"""Characters of a plain text that are searched for what may be links."""
HTML: Final = frozenset({"text/html", "application/xhtml+xml"})


class InnerLink(NamedTuple):
    """A URL in the text of a part that means another part."""

    destination: LinkedUrl
    target: str
    kind: LinkKind


def links_of(
    body: MessageBody, *, to: str | PurePath | None = None, dangling: bool = False
) -> Links:
    """Return the links between the parts of a body; see `MessageBody.links`."""
    wanted = None if to is None else check_name(to.as_posix() if isinstance(to, PurePath) else to)

    def chosen(links: Iterable[Link]) -> Iterator[Link]:
        for link in links:
            if (wanted is None or link.target == wanted) and not (dangling and link.exists):
                yield link

    parts = [*require_body(body)]
    return Links(chosen(each_link(parts)), chosen(unread_links(parts)))


def each_link(parts: Iterable[Part]) -> Iterator[Link]:
    """Yield the links between parts, in order.

    Raises:
        MissingDependency: there is Markdown or HTML, and the extra `links` is not installed.
    """
    listed = [*parts]
    names = {part.name for part in listed}
    for index, part in enumerate(listed):
        yield from _linked(index, found_in(part), names)
        for number, citation in citations_of(part):
            target, words = citation["part"], _cited_words(part, citation)
            yield Link(index, target, words, number, "citation", target in names)


def unread_links(parts: Sequence[Part]) -> Iterator[Link]:
    """Yield what would be links if plain texts were Markdown, in order.

    Most messages do not state of what type a text is, and models write Markdown.

    Raises:
        MissingDependency: there may be some, and the extra `links` is not installed.
    """
    names = {part.name for part in parts}
    for index, part in enumerate(parts):
        yield from _linked(index, _unread_in(part), names)


def _linked(index: int, links: Iterable[InnerLink], names: Container[str | None]) -> Iterator[Link]:
    for (span, _, words, _), target, kind in links:
        yield Link(index, target, words, span, kind, target in names)


def may_have_links(part: Part) -> bool:
    """Return whether a part is a text with links, or a plain one that looks like Markdown."""
    kind = canonical(part.content_type)
    text = text_of(part) if kind in _READERS or kind == TEXT_PLAIN else None
    # Most plain texts have none, and need no parser.
    return text is not None and (kind != TEXT_PLAIN or any(mark in text for mark in _MARKS))


def _unread_in(part: Part) -> Iterator[InnerLink]:
    if essence(part.content_type) != TEXT_PLAIN or not may_have_links(part):
        return
    text = text_of(part) or ""
    for found in _inner(_markdown(text[:_LONGEST_PLAIN]), part.name):
        # In plain text, `a[0](b)` is a call rather than a link to /b.
        if found.kind == "source" or not {*found.destination.url}.isdisjoint("/."):
            yield found


def found_in(part: Part) -> list[InnerLink]:
    """Return the URLs in the text of a part that mean parts, in order.

    Raises:
        MissingDependency: it is Markdown or HTML, and the extra `links` is not installed.
    """
    reader = _READERS.get(canonical(part.content_type))
    text = None if reader is None else text_of(part)
    if reader is None or text is None:
        return []
    return _inner(reader(text), part.name)


def _inner(urls: Iterable[LinkedUrl], holder: str | None) -> list[InnerLink]:
    meant = ((each, target_of(each.url, holder)) for each in urls)
    return [InnerLink(each, *target) for each, target in meant if target is not None]


def text_of(part: Part) -> str | None:
    """Return the text of a part; None for a reference, which is not read, and for no text."""
    if part.is_reference or not part.is_text:
        return None
    try:
        return part.read_text()
    except DecodeError:  # bytes of another kind than stated, which is a finding of its own
        return None


def _markdown(text: str) -> list[LinkedUrl]:
    try:
        from messagebody.links._markdown import destinations
    except ImportError as error:
        raise MissingDependency("links in Markdown", "links") from error
    return destinations(text)


_READERS: Final[dict[str, Reader]] = {
    "text/markdown": _markdown,
    "text/html": html.destinations,
    "application/xhtml+xml": html.xhtml_destinations,
}


# Citations


def citations_of(part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the citations of a text part that name a part, each with its position."""
    held = (part.metadata or {}).get(CITATIONS)
    if not isinstance(held, list) or not part.is_text:
        return
    for number, citation in enumerate(held):
        name = citation.get("part") if isinstance(citation, dict) else None
        if isinstance(name, str) and is_name(name):
            yield number, citation


def range_of(citation: dict[str, Any], length: int) -> TextRange | None:
    """Return the range of a text that a citation is about; None if the text has no such range.

    Examples:
        >>> range_of({"start": 2}, 5), range_of({"start": 3, "end": 1}, 5)
        (TextRange(start=2, end=5), None)
    """
    start, end = citation.get("start", 0), citation.get("end", length)
    are_numbers = all(isinstance(each, int) and not isinstance(each, bool) for each in (start, end))
    return TextRange(start, end) if are_numbers and 0 <= start <= end <= length else None


def _cited_words(part: Part, citation: dict[str, Any]) -> str:
    text = text_of(part) or ""
    span = range_of(citation, len(text))
    return "" if span is None else words_of(text, *span)


# Sources


def source_links(text: str) -> list[tuple[TextRange, str]]:
    """Return where the words of `source:` links stand in a text, each with the name it means.

    Links in raw HTML are not among them: their words may hold tags. A text without `source:` is not
    parsed.

    Arguments:
        text: a text in Markdown.

    Raises:
        MissingDependency: the extra `links` is not installed.

    Examples:
        >>> source_links("Cats are [cute](source:1).")
        [(TextRange(start=10, end=14), '/sources/1')]
    """
    if _SOURCE not in text:
        return []
    try:
        from messagebody.links._markdown import linked_words
    except ImportError as error:
        raise MissingDependency("links in Markdown", "links") from error
    meant = ((words, target_of(url, None)) for words, url in linked_words(text))
    return [(words, each[0]) for words, each in meant if each is not None and each[1] == "source"]
