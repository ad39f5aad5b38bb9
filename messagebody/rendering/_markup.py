"""Safe markup: Markdown and HTML from strangers become elements that only show content.

Only this module uses markdown-it and nh3. HTML inside of Markdown is text. The output of
markdown-it goes through the same sieve as HTML, so that a mistake in one of the two does not open a
hole.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

from messagebody.errors import MissingDependency
from messagebody.rendering._code import LOOKS, coloured, language_named
from messagebody.rendering._elements import Html, visible

# No element that loads, runs, submits or is styled, and none that closes the elements around it.
_TAGS: Final = frozenset(
    {"a", "abbr", "b", "bdi", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details",
     "dfn", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
     "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp",
     "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
     "thead", "time", "tr", "u", "ul", "var", "wbr"}
)  # fmt: skip
# Other elements that hold text which is not for readers.
_DROPPED: Final = frozenset(
    {"iframe", "math", "noembed", "noframes", "noscript", "object", "script", "style", "svg",
     "template", "textarea", "title", "xmp"}
)  # fmt: skip
_SIDES: Final = frozenset({"left", "right", "center"})
_ATTRIBUTES: Final = {
    "a": {"href"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "span": {"class"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
}
# Schemes that reach the filter below; `source:` points to a part, as in the format's proposal.
_SCHEMES: Final = frozenset({"https", "data", "source"})
_MOST_CELLS: Final = 100
"""Columns or rows that a cell of a stranger's table may span."""


def is_web_link(url: str) -> bool:
    """Return whether a URL may be a link: it looks public, and names no user.

    Examples:
        >>> is_web_link("https://example.com/a"), is_web_link("https://a:b@example.com/")
        (True, False)
    """
    try:
        pieces = urlsplit(url)
    except ValueError:  # such as an unfinished IPv6 address
        return False
    is_plain = url.isascii() and url.isprintable() and "\\" not in url and " " not in url
    return is_plain and pieces.scheme == "https" and bool(pieces.netloc) and "@" not in url


class Sieve:
    """Makes Markdown and HTML safe for one page.

    Arguments:
        link_to: returns the target on the page for a link inside of the message, None for no link.
        picture_at: returns the `data:` URL of a picture in the message, None if it has none.
        may_colour: returns whether there is time to colour a block of code.
        plain: returns the value of an attribute without what was put into the text for this page.

    Raises:
        MissingDependency: the extra `view` is not installed.
    """

    def __init__(
        self,
        link_to: Callable[[str], str | None],
        picture_at: Callable[[str], str | None],
        may_colour: Callable[[str], bool],
        plain: Callable[[str], str] = str,
    ) -> None:
        try:
            import markdown_it
            import nh3
        except ImportError as error:
            raise MissingDependency("a page of a body", "view") from error
        self._link_to = link_to
        self._picture_at = picture_at
        self._may_colour = may_colour
        self._plain = plain
        self._markdown_it: Any = markdown_it.MarkdownIt
        self._cleaner = nh3.Cleaner(
            tags=set(_TAGS),
            clean_content_tags=set(_DROPPED),
            attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
            attribute_filter=self._filtered,
            url_schemes=set(_SCHEMES),
            link_rel="noopener noreferrer nofollow",
        )

    def html(self, text: str) -> Html:
        """Return the elements of an HTML document that only show content."""
        # Escaped after parsing, because an entity may stand for a mark of direction.
        return Html(visible(self._cleaner.clean(text)))

    def markdown(self, text: str) -> Html:
        """Return a text in Markdown; HTML in it stays text."""
        return self.html(self._parser.render(text))

    @cached_property
    def _parser(self) -> Any:
        # Very deep lists and quotes would take extremely long, and nobody writes them.
        options = {"html": False, "maxNesting": 20, "highlight": self._highlighted}
        parser = self._markdown_it("commonmark", options)
        parser.enable(["table", "strikethrough"])
        parser.validateLink = lambda _: True  # the sieve decides
        parser.core.ruler.push("align", _align)
        return parser

    def _highlighted(self, code: str, word: str, _attributes: str) -> str:
        """Return a block of code in colours; nothing if it stays as it is."""
        language = language_named(word)
        if language is None or not self._may_colour(code):
            return ""
        try:
            return coloured(code, language)
        except MissingDependency:  # without colours it is read as well
            return ""

    def _filtered(self, _tag: str, name: str, value: str) -> str | None:
        value = self._plain(value)
        if name == "href":
            return value if is_web_link(value) else self._link_to(value)
        if name == "src":
            return self._picture_at(value)
        if name == "class":
            # A stranger may set them as well: they change nothing but colours.
            return value if value in LOOKS else None
        if name == "align":
            return value if value in _SIDES else None
        if name in {"colspan", "rowspan", "start"}:
            return value if value.isdecimal() and int(value[:9]) <= _MOST_CELLS else None
        return value


def _align(state: Any) -> None:
    """Set the alignment of cells by an attribute, because the page allows no styles in elements."""
    for token in state.tokens:
        side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
        if side in _SIDES:
            token.attrs["align"] = side
