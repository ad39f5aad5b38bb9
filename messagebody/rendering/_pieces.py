"""Pieces that the pages of bodies, of runs and in notebooks share."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import OCTET_STREAM, base64, escape, extension_of, redact_urls
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import LABEL
from messagebody.rendering._markup import is_web_link
from messagebody.rendering._tables import kind_of, size_of, type_of

_COLOURED: Final = frozenset({"text", "image", "audio", "video"})
_SIGNS: Final = {"+": "ins", "-": "del", "@": "b"}
_LOOKED_AT: Final = 10 * LABEL
"""Characters of a long label that are looked at."""


def badge(words: str, look: str = "", href: str | None = None) -> Html:
    """Return a short remark, which leads to a place on the page if one is given."""
    tag = "span" if href is None else "a"
    return element(tag, words, href=href, class_=f"badge {look}".strip())


def fold(title: str, *children: str, is_open: bool = False, look: str = "") -> Html:
    """Return a section that the reader can open and close by its title.

    Arguments:
        title: the title.
        *children: what is in it.
        is_open: whether it begins open.
        look: a further class.
    """
    return element("details", element("summary", title), *children,
                   class_=f"fold {look}".rstrip(), open=is_open)  # fmt: skip


def short(text: str) -> str:
    """Return a label of any length, cut for the page, without secrets from URLs."""
    return escape(redact_urls(text[:_LOOKED_AT]), limit=LABEL)


# Parts


def dot(part: "messagebody.Part") -> Html:
    """Return the dot that tells the kind of a part by its colour."""
    kind = kind_of(part)
    return element("i", class_=f"dot {kind}" if kind in _COLOURED else "dot")


def facts(part: "messagebody.Part") -> Html:
    """Return the type of a part, and its size if it is known."""
    size = "" if part.size is None else f"  {size_of(part)}"
    return element("small", f"{type_of(part)}{size}")


def card(heading: Iterable[Html], *inside: Html, anchor: str | None, is_open: bool) -> Html:
    """Return a part that folds.

    Arguments:
        heading: what is seen of it when it is folded.
        *inside: the rest.
        anchor: the `id` of its content: a link to what is inside opens a card, and one to the card
            would not.
        is_open: whether it begins open.
    """
    content = element("div", *inside, id=anchor, class_="content")
    return element("details", element("summary", *heading), content, class_="part", open=is_open)


def figure(picture: Html, caption: Iterable[Html], *below: Html, anchor: str, back: str) -> Html:
    """Return a picture that stands beside others, and grows when it is chosen.

    Arguments:
        picture: the picture.
        caption: what stands below it.
        *below: what else there is to say.
        anchor: its `id`.
        back: the `id` of what is chosen when the reader makes it small again.
    """
    larger = element("a", picture, href=f"#{anchor}", title="Show it larger")
    cross = "\N{MULTIPLICATION SIGN}"
    smaller = element("a", cross, href=f"#{back}", class_="smaller", aria_label="Show it smaller")
    return element("figure", larger, smaller, element("figcaption", *caption), *below, id=anchor)


def pair_of(before: str, said: str, now: str) -> Html:
    """Return an old picture beside the new one.

    Arguments:
        before: the old one.
        said: what is said below it.
        now: the new one.
    """
    was = element("figure", before, element("figcaption", said))
    return element("div", was, element("figure", now, element("figcaption", "now")), class_="pair")


def diff(lines: Iterable[str]) -> Html:
    """Return the lines of a unified diff in colours."""
    signed = [element(_SIGNS.get(line[:1], "span"), line or " ") for line in lines]
    return element("pre", *signed, class_="diff", tabindex="0")


# Tables


def framed(head: Iterable[Html], rows: Iterable[Iterable[Html]], caption: str = "") -> Html:
    """Return a table in a frame that scrolls.

    Arguments:
        head: the heads of its columns.
        rows: its cells.
        caption: what stands above it.
    """
    inside = element(
        "table",
        *([element("caption", caption)] if caption else []),
        element("thead", element("tr", *head)),
        element("tbody", *(element("tr", *row) for row in rows)),
    )
    # It may be scrolled, so the keyboard has to reach it.
    return element("div", inside, class_="grid", tabindex="0", role="region", aria_label="Table")


# Links to the web


def web_address(url: str) -> str | None:
    """Return the address that a link may lead to; None if the URL may be no link.

    Examples:
        >>> web_address("https://example.com/a?token=s3cret"), web_address("http://example.com/")
        ('https://example.com/a', None)
    """
    if not is_web_link(url):
        return None
    # Query and fragment may hold signatures and tokens, and people pass pages on.
    return urlsplit(url)._replace(query="", fragment="").geturl()


def link(href: str | None, *children: str) -> Html:
    """Return a link; without an address the same look."""
    # The page's own address may be private, so the site behind a link must not get it.
    is_inside = href is None or href.startswith("#")
    rel = None if is_inside else "noopener noreferrer nofollow"
    return element("a", *children, href=href, rel=rel)


def web_link(url: str, words: str) -> Html:
    """Return a link with the host behind it, which its words do not tell; else the words alone."""
    address = web_address(url)
    if address is None:
        return element("span", words)
    return joined(link(address, words), " ", element("small", urlsplit(url).hostname or ""))


# Files


def data_url(kind: str, data: bytes) -> str:
    """Return bytes as a `data:` URL of a type."""
    return f"data:{kind};base64,{base64.encode(data)}"


def save_link(name: str, data: bytes) -> Html:
    """Return a link that saves bytes as a file of a name, which those hear who don't see it."""
    # A browser may open a type that it knows, and a stranger's HTML would run scripts there.
    return element("a", "Save", href=data_url(OCTET_STREAM, data), download=name,
                   title=f"Save {name}", aria_label=f"Save {name}")  # fmt: skip


def file_name(part: "messagebody.Part", index: int) -> str:
    """Return a name for the file of a part.

    Examples:
        >>> from messagebody import Part
        >>> file_name(Part("x", name="/a/b.txt"), 0), file_name(Part("x"), 7)
        ('b.txt', 'part-7.txt')
    """
    name = f"part-{index}" if part.path is None else part.path.name
    return name if "." in name else name + extension_of(part.content_type, default="")
