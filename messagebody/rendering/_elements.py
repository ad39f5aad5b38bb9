"""Elements of HTML: text is escaped and attributes are quoted in this one place."""

import html
from typing import Final

from messagebody._core import escape

# HTML forbids an end tag for these.
_EMPTY: Final = frozenset({"img", "link", "meta"})
# Line breaks and tabs, and the joiners that emoji and several scripts need.
_KEPT: Final = "\n\t\u200c\u200d"


class Html(str):
    """Markup that is safe without escaping, in contrast to text."""

    __slots__ = ()


def visible(text: str) -> str:
    r"""Return a text with controls and marks of direction written as escapes.

    Examples:
        >>> visible("safe\u202efdp.exe")
        'safe\\u202efdp.exe'
    """
    return escape(text.replace("\r\n", "\n"), keep=_KEPT)


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
    start = tag + "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _EMPTY:
        return Html(f"<{start}>")
    return Html(f"<{start}>{joined(*children)}</{tag}>")


def _attribute(name: str, value: str | bool | None) -> str:
    spelled = name.rstrip("_").replace("_", "-")
    if isinstance(value, str):
        return f' {spelled}="{html.escape(visible(value))}"'
    return f" {spelled}" if value else ""


def joined(*children: str) -> Html:
    """Return several pieces as one; strings that are not `Html` are escaped.

    Examples:
        >>> joined(element("b", "a"), " & b")
        '<b>a</b> &amp; b'
    """
    return Html("".join(c if isinstance(c, Html) else html.escape(visible(c)) for c in children))
