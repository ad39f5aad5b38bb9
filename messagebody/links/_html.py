"""Links of HTML and XHTML: the attributes with URLs, and where their values are written.

Only this module uses turbohtml. Its tokenizer follows WHATWG and takes linear time; building a tree
would not, because the standard repeats open formatting elements without end.
"""

import html
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from xml.parsers import expat

from messagebody._core import TextRange
from messagebody.errors import MissingDependency
from messagebody.links._destinations import LinkedUrl, words_of

_URLS: Final = frozenset({"href", "src", "poster", "data", "cite"})
_SETS: Final = frozenset({"srcset"})
_SPACES: Final = "\t\n\f\r "
_LINE_END: Final = re.compile("\r\n?|\n")
_TAG: Final = re.compile(rf"<[^{_SPACES}/>]*+")
# An attribute by the states of the tokenizer: a name may begin with "=".
_ATTRIBUTE: Final = re.compile(
    rf"[{_SPACES}/]*+(?P<name>=?[^{_SPACES}/>=]*+)"
    rf"(?:[{_SPACES}]*+=[{_SPACES}]*+"
    rf"(?:\"(?P<double>[^\"]*+)\"|'(?P<single>[^']*+)'|(?P<bare>[^{_SPACES}>]*+)))?"
)
_STRAY: Final = dict.fromkeys(map(ord, "\t\n\r"))
_CONTROLS: Final = "".join(map(chr, range(0x21)))
_TAGS: Final = re.compile(r"<[^<>]*+>")
_LONGEST_WORDS: Final = 1000
"""Characters after the tag of a link that are searched for its words."""

# A candidate of `srcset`: its URL, and what follows up to the comma.
_CANDIDATE: Final = re.compile(rf"[{_SPACES},]*+(?P<url>[^{_SPACES}]++)")
_DESCRIPTORS: Final = re.compile(r"(?:[^,(]|\([^)]*+\)?+)*+")
_COUNT: Final = "0*[1-9][0-9]*"
_LEGAL: Final = re.compile(
    rf"(?:(?:[0-9]+|[0-9]*\.[0-9]+)(?:[eE][+-]?[0-9]+)?x"
    rf"|{_COUNT}w(?:[{_SPACES}]+{_COUNT}h)?|{_COUNT}h[{_SPACES}]+{_COUNT}w)?"
)


def destinations(text: str, shown: str | None = None) -> list[LinkedUrl]:
    """Return the URLs of an HTML document, in order.

    Arguments:
        text: the document.
        shown: a text of the same length with the words of links, if the document is a part of it.

    Raises:
        MissingDependency: the extra `links` is not installed.

    Examples:
        >>> destinations("<a href=source:1>cute</a>")
        [LinkedUrl(span=TextRange(start=8, end=16), url='source:1', words='cute', markup='html')]
    """
    tokens, kinds = _tokenizer()
    lines = [0, *(end.end() for end in _LINE_END.finditer(text))]
    found: list[LinkedUrl] = []
    for token in tokens(text):
        if token.type is kinds.START_TAG and token.attrs and token.tag != "base":
            values = dict(reversed(token.attrs))  # the first of two counts
            if not _URLS.isdisjoint(values) or not _SETS.isdisjoint(values):
                start = lines[token.line - 1] + token.col
                found += _in_tag(text, start, values, text if shown is None else shown)
    return found


def shown_text(text: str) -> str:
    r"""Return the text of an HTML document without its tags, in one line.

    Raises:
        MissingDependency: the extra `links` is not installed.

    Examples:
        >>> shown_text("<p>so <b>cute</b> &amp;\n small</p>")
        'so cute & small'
    """
    tokens, kinds = _tokenizer()
    shown = (token.data or "" for token in tokens(text) if token.type is kinds.TEXT)
    return " ".join("".join(shown).split())


def _tokenizer() -> tuple[Any, Any]:
    """Return the tokenizer of turbohtml and the kinds of its tokens."""
    try:
        from turbohtml import TokenType, tokenize
    except ImportError as error:
        raise MissingDependency("links in HTML", "links") from error
    return tokenize, TokenType


def _in_tag(text: str, start: int, values: Mapping[str, str], shown: str) -> Iterator[LinkedUrl]:
    """Yield the URLs of a start tag.

    Arguments:
        text: the document.
        start: where the tag begins.
        values: its attributes.
        shown: the text with the words.
    """
    tag = _TAG.match(text, start)
    position = start if tag is None else tag.end()
    seen: set[str] = set()
    written = []
    while (attribute := _ATTRIBUTE.match(text, position)) and attribute.end() > position:
        position = attribute.end()
        name = attribute["name"].lower()
        if name not in seen:
            seen.add(name)
            written.append((name, attribute))
    words = _words(shown, position + 1, values)
    for name, attribute in written:
        group = attribute.lastgroup or "name"
        if group == "name":
            continue
        if name in _URLS:
            yield from _url(attribute[group], attribute.start(group), values[name], words)
        elif name in _SETS:
            yield from _candidates(attribute[group], attribute.start(group), words)


def _words(shown: str, start: int, values: Mapping[str, str]) -> str:
    if values.get("alt"):
        return words_of(values["alt"])
    inside, closed, _ = shown[start : start + _LONGEST_WORDS].partition("</a")
    return words_of(html.unescape(_TAGS.sub("", inside))) if closed else ""


def _url(written: str, start: int, value: str, words: str) -> Iterator[LinkedUrl]:
    """Yield the URL of a value, without the white space around it, as browsers read it."""
    bare = written.strip(_CONTROLS)
    if bare:
        start += written.index(bare)
        url = value.strip(_CONTROLS).translate(_STRAY)
        yield LinkedUrl(TextRange(start, start + len(bare)), url, words, "html")


def _candidates(written: str, start: int, words: str) -> Iterator[LinkedUrl]:
    """Yield the URLs of a `srcset`; a candidate with illegal descriptors is none."""
    position = 0
    while (candidate := _CANDIDATE.match(written, position)) is not None:
        url = candidate["url"].rstrip(",")
        position = candidate.end()
        descriptors = ""
        if url == candidate["url"]:
            rest = _DESCRIPTORS.match(written, position)
            if rest is not None:
                position, descriptors = rest.end(), rest[0].strip(_SPACES)
        if url and _LEGAL.fullmatch(descriptors):
            yield from _url(url, start + candidate.start("url"), html.unescape(url), words)


def xhtml_destinations(text: str) -> list[LinkedUrl]:
    """Return the URLs of an XHTML document, in order; up to the first error if it is no XML.

    Examples:
        >>> [found] = xhtml_destinations('<p><![CDATA[<a href="/a">]]><a href="/b">b</a></p>')
        >>> found.url
        '/b'
    """
    parser = expat.ParserCreate("utf-8")
    # The document type names entities such as &nbsp; that nothing here fetches.
    parser.UseForeignDTD(True)
    # With it, entities of the document itself stay as they are: what they hold stands elsewhere.
    parser.DefaultHandler = lambda _: None
    places = _TextPlaces(text)
    found: list[LinkedUrl] = []

    def start(tag: str, values: dict[str, str]) -> None:
        if tag != "base" and not (_URLS.isdisjoint(values) and _SETS.isdisjoint(values)):
            found.extend(_in_tag(text, places.of_byte(parser.CurrentByteIndex), values, text))

    parser.StartElementHandler = start
    with suppress(expat.ExpatError):  # what stands before an error has been read
        parser.Parse(text.encode(), True)
    return found


class _TextPlaces:
    """Where bytes of a text in UTF-8 are among its characters; asked in order."""

    def __init__(self, text: str) -> None:
        self._data = b"" if text.isascii() else text.encode()
        self._byte = self._place = 0

    def of_byte(self, byte: int) -> int:
        if not self._data:
            return byte
        self._place += len(self._data[self._byte : byte].decode())
        self._byte = byte
        return self._place
