"""Elements of HTML: text is escaped and attributes are quoted in this one place."""

import html
import re
from typing import Final

from messagebody._core import escape

# HTML forbids an end tag for these.
_EMPTY: Final = frozenset({"img", "link", "meta"})
# Line breaks and tabs, and the joiners that emoji and several scripts need.
_KEPT: Final = "\n\t\u200c\u200d"
# Most names, numbers and addresses need no escapes.
_PLAIN: Final = re.compile(r"[\w ./:;,#=+-]*", re.ASCII)


class Html(str):
    """Markup that is safe without escaping, in contrast to text."""

    __slots__ = ()


def visible(text: str) -> str:
    r"""Return a text with controls and marks of direction written as escapes.

    Examples:
        >>> visible("safe\u202efdp.exe")
        'safe\\u202efdp.exe'
    """
    text = text.replace("\r\n", "\n")
    # Most texts have lines, and nothing else to escape.
    lines = text.replace("\n", "").replace("\t", "")
    return text if lines.isascii() and lines.isprintable() else escape(text, keep=_KEPT)


def element(tag: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """Return an element.

    Arguments:
        tag: its name.
        *children: `Html` is taken as it is, any other string is text and escaped.
        **attributes: values are escaped; True stands for an attribute without a value, False and
            None for no attribute. A trailing "_" is left out, so that `class_` is possible.

    Examples:
        >>> element("a", "x < y", href='"', class_="link", hidden=False)
        '<a href="&quot;" class="link">x &lt; y</a>'
    """
    start = tag
    for name, value in attributes.items():
        if value is not None and value is not False:
            start += _attribute(name, value)
    if tag in _EMPTY:
        return Html(f"<{start}>")
    return Html(f"<{start}>{joined(*children)}</{tag}>")


def _attribute(name: str, value: str | bool) -> str:
    spelled = name.rstrip("_").replace("_", "-")
    return f' {spelled}="{_escaped(value)}"' if isinstance(value, str) else f" {spelled}"


def joined(*children: str) -> Html:
    """Return several pieces as one; strings that are not `Html` are escaped.

    Examples:
        >>> joined(element("b", "a"), " & b")
        '<b>a</b> &amp; b'
    """
    return Html("".join(c if isinstance(c, Html) else _escaped(c) for c in children))


def _escaped(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else html.escape(visible(text))
