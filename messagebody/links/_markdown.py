"""Links of Markdown: blocks by markdown-it-py, and where their texts stand in the document.

Only this module and `_inlines` use markdown-it-py; without it, they can't be imported.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from messagebody._core import TextRange
from messagebody.links import _html as html
from messagebody.links._destinations import LineEnds, LinkedUrl, words_of
from messagebody.links._inlines import Inlines, span_of

_NESTING: Final = 100
"""How deep quotes and lists may be; each takes calls within calls."""
_LINE_END: Final = re.compile("\r\n?")
# What stands before the destination of a definition.
_LABEL: Final = re.compile(r"\[(?:[^\[\]\\]|\\.)*+\]:[ \t\n]*+", re.DOTALL)


class Excerpt:
    """The lines of a block without the marks of quotes and lists before them.

    Arguments:
        lines: the lines, and where each begins in the document.
    """

    def __init__(self, lines: Sequence[tuple[int, str]]) -> None:
        self.text = "\n".join(line for _, line in lines)
        self._places = [place for place, _ in lines]
        lengths = (len(line) + 1 for _, line in lines[:-1])
        self._starts = [*accumulate(lengths, initial=0)]

    def moved(self, destination: LinkedUrl) -> LinkedUrl:
        """Return a destination with its span in the document; it is within a line."""
        return destination._replace(span=self.place(destination.span))

    def place(self, span: TextRange) -> TextRange:
        """Return where a piece of the text begins and ends in the document."""
        last = max(span.start, span.end - 1)
        return TextRange(span.start + self._shift(span.start), span.end + self._shift(last))

    def pieces(self, span: TextRange) -> Iterator[TextRange]:
        """Yield the spans in the document, one for each line."""
        start = span.start
        while start < span.end:
            line = bisect_right(self._starts, start)
            stop = self._starts[line] if line < len(self._starts) else span.end
            shift = self._shift(start)
            yield TextRange(start + shift, min(stop, span.end) + shift)
            start = stop

    def _shift(self, position: int) -> int:
        line = bisect_right(self._starts, position) - 1
        return self._places[line] - self._starts[line]


class MarkdownDocument(StateBlock):
    """A document that is taken apart into blocks, which notes where their texts stand."""

    def __init__(self, text: str, parser: MarkdownIt) -> None:
        super().__init__(text, parser, {"references": {}}, [])
        self.excerpts: list[Excerpt] = []
        """The texts of paragraphs and headings."""
        self.html: list[TextRange] = []
        """Where raw HTML stands, line by line."""
        self.definitions: dict[str, LinkedUrl] = {}
        self._cut: list[tuple[int, str]] = []

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:  # noqa: N802, N803 - markdown-it's names
        """Cut lines out of the document, and note where they were."""
        cut = [self._line(line, indent) for line in range(begin, end)]
        self._cut = cut
        # The rules of HTML, code and fences add their token before they cut out whole lines.
        if keepLastLF and self.tokens[-1].type == "html_block":
            self.html += [TextRange(start, start + len(text)) for start, text in cut]
        return "\n".join(text for _, text in cut) + "\n" * keepLastLF

    def _line(self, line: int, indent: int) -> tuple[int, str]:
        text = super().getLines(line, line + 1, indent, False)
        # From its end, because a tab that is cut in two becomes more characters.
        return self.eMarks[line] - len(text), text

    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        """Add a token, and note the text of a paragraph or heading."""
        if ttype == "inline":
            is_marked = self.tokens[-1].markup.startswith("#")
            lines = [self.text_of(self.line - 1)] if is_marked else self._cut
            self.excerpts.append(Excerpt(lines))
        return super().push(ttype, tag, nesting)

    def text_of(self, line: int) -> tuple[int, str]:
        """Return a line of a block without the white space before it, and where it begins."""
        start = self.bMarks[line] + self.tShift[line]
        return start, self.src[start : self.eMarks[line]]


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a definition as markdown-it does, and note where its destination stands."""
    assert isinstance(state, MarkdownDocument)  # noqa: S101 - no other is parsed
    known = state.env["references"]
    before = len(known)
    if not reference(state, start, end, silent):
        return False
    if len(known) > before:  # the first of two definitions counts
        excerpt = Excerpt([state.text_of(line) for line in range(start, state.line)])
        label = _LABEL.match(excerpt.text)
        assert label is not None  # noqa: S101 - the rule has read it
        url = parseLinkDestination(excerpt.text, label.end(), len(excerpt.text))
        span = span_of(excerpt.text, label.end(), url.pos)
        found = excerpt.moved(LinkedUrl(span, url.str, "", "markdown"))
        state.definitions[next(reversed(known))] = found
    return True


class _LinkParser(MarkdownIt):
    """Markdown-it that changes and refuses no URL: this is a look at a text, and not a page."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - markdown-it's name
        return url

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - the same
        return True


@cache
def _parser() -> MarkdownIt:
    parser = _LinkParser("commonmark", {"maxNesting": _NESTING})
    parser.block.ruler.at("reference", _definition)
    return parser


def document_of(text: str) -> MarkdownDocument:
    """Return a text taken apart into blocks, with line ends and NUL as CommonMark wants them."""
    parser = _parser()
    document = MarkdownDocument(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), parser)
    parser.block.tokenize(document, 0, document.lineMax)
    return document


def destinations(text: str) -> list[LinkedUrl]:
    r"""Return the URLs of a text in Markdown, in order.

    A definition is one of them, if anything uses it. Raw HTML is read by the rules of HTML.

    Raises:
        MissingDependency: there is raw HTML, and the extra `links` is not installed.

    Examples:
        >>> [found.url for found in destinations("> [a](source:1)\n> ![b][c]\n\n[c]: /b.png")]
        ['source:1', '/b.png']
    """
    ends = LineEnds(text)
    document = document_of(text)
    plain = document.src
    found: list[LinkedUrl] = []
    used: dict[str, str] = {}
    for excerpt in document.excerpts:
        inlines = Inlines(excerpt.text, document.definitions)
        found += map(excerpt.moved, inlines.links)
        for label, words in inlines.uses:
            used.setdefault(label, words_of(excerpt.text, *words))
        document.html += [piece for span in inlines.html for piece in excerpt.pieces(span)]
    found += [document.definitions[label]._replace(words=words) for label, words in used.items()]
    if document.html:
        found += html.destinations(_only(plain, sorted(document.html)), plain)
    return [ends.moved(each) for each in sorted(found)]


def linked_words(text: str) -> list[tuple[TextRange, str]]:
    r"""Return where the linked words of a text in Markdown stand, each with its URL, in order.

    A definition gives as many as use it. Links in raw HTML have none.

    Examples:
        >>> linked_words("> [so\n> cute][1], <source:2>\n\n[1]: source:1")
        [(TextRange(start=3, end=12), 'source:1'), (TextRange(start=19, end=27), 'source:2')]
    """
    ends = LineEnds(text)
    document = document_of(text)
    found: list[tuple[TextRange, str]] = []
    for excerpt in document.excerpts:
        inlines = Inlines(excerpt.text, document.definitions)
        found += ((excerpt.place(words), url) for words, url in inlines.words)
        found += (
            (excerpt.place(words), document.definitions[label].url) for label, words in inlines.uses
        )
    return [(TextRange(*map(ends.place, words)), url) for words, url in sorted(found)]


def _only(text: str, spans: Iterable[TextRange]) -> str:
    """Return a text of the same length with spaces in place of all but some spans."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [" " * (start - position), text[start:end]]
        position = end
    return "".join([*pieces, " " * (len(text) - position)])
