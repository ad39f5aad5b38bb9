"""Text in XML: escaped for readers of the document, and for those who look at it."""

import re
from typing import Final
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import quoteattr

from messagebody.text import escape

__all__ = ["attribute", "content"]

# Characters that no XML 1.0 document may hold, not even as a reference.
_NOT_XML: Final = re.compile("[\ufffe\uffff]")


def content(text: str) -> str:
    r"""Return a text as the content of an element.

    Examples:
        >>> content("a < b\x00")
        'a &lt; b\\x00'
    """
    return escape_markup(_legal(text))


def attribute(text: str) -> str:
    r"""Return a text as the value of an attribute, in quotes.

    Examples:
        >>> attribute('say "a < b"')
        '\'say "a &lt; b"\''
    """
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", escape(text, keep="\n"))
