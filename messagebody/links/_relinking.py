"""Relinking: links that follow the names of parts; all other characters stay as they are."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from messagebody._core import Part, TextRange, stated_charset
from messagebody.links._destinations import rest_of
from messagebody.links._links import CITATIONS, InnerLink, citations_of, found_in, text_of
from messagebody.links._targets import spelled, target_of

Rename = Callable[[str], str]

_MARKDOWN_LINK: Final = "[{words}]({url})"
_HTML_LINK: Final = '<a href="{url}">{words}</a>'
_ACTIVE: Final = re.compile(r"[\\\[\]`*_~&!]")


def relinked(part: Part, name: str | None, rename: Rename) -> Part:
    """Return a part with another name whose links lead to parts by their new names.

    Arguments:
        part: the part.
        name: its new name; relative links are mended for it.
        rename: returns the new name of a part, also of one that does not exist.

    Raises:
        MissingDependency: it is Markdown or HTML, and the extra `links` is not installed.
    """
    changes: dict[str, Any] = {} if name == part.name else {"name": name}
    if text := _text(part, name, rename):
        # Content in another charset stays in it.
        is_plain = part.text is not None
        content = text if is_plain else text.encode(stated_charset(part.content_type))
        changes["content"] = content
    if citations := _citations(part, rename):
        changes["metadata"] = {**(part.metadata or {}), CITATIONS: citations}
    return part.evolve(**changes) if changes else part


def _text(part: Part, name: str | None, rename: Rename) -> str:
    """Return the text of a part with its links to new names, "" if nothing changes."""
    found = found_in(part)
    targets = [rename(each.target) for each in found]
    changed = [
        (each, target)
        for each, target in zip(found, targets, strict=True)
        if not _leads_to(each, target, name)
    ]
    if not changed:
        return ""
    text = text_of(part) or ""
    new = _edited(text, [_edit(text, *each, name) for each in changed])
    if any(each.destination.markup == "autolink" for each, _ in changed):
        # Brackets may belong to others around them, as in `[a]<source:1>`. Those of HTML don't.
        then = found_in(part.evolve(content=new, name=name))
        if [each.target for each in then] != targets:
            return _edited(text, [_edit(text, *each, name, _HTML_LINK) for each in changed])
    return new


def _leads_to(found: InnerLink, target: str, name: str | None) -> bool:
    """Return whether a URL means a name as it is; such as `./b.md`, which keeps its spelling."""
    meant = target_of(found.destination.url, name)
    return meant is not None and meant[0] == target


def _edit(
    text: str, found: InnerLink, target: str, name: str | None, link: str = _MARKDOWN_LINK
) -> tuple[TextRange, str]:
    """Return the span to replace and what comes there."""
    span, url, _, markup = found.destination
    written = text[slice(*span)]
    new = spelled(url, target, name) + rest_of(written, markup)
    if markup == "autolink" and not new.startswith("source:"):
        # Only a URL with a scheme can stand between angle brackets alone. After `[a]`, `!` or `(`,
        # brackets would be read together with that.
        whole = TextRange(span.start - 1, span.end + 1)
        if text.endswith(("]", "!", "("), 0, whole.start):
            link = _HTML_LINK
        return whole, link.format(words=_plain(written), url=new)
    return span, new


def _plain(url: str) -> str:
    """Return the URL of an autolink as Markdown that shows it."""
    return _ACTIVE.sub(r"\\\g<0>", url)


def _edited(text: str, edits: Iterable[tuple[TextRange, str]]) -> str:
    pieces, position = [], 0
    for span, new in edits:
        pieces += [text[position : span.start], new]
        position = span.end
    return "".join([*pieces, text[position:]])


def _citations(part: Part, rename: Rename) -> list[Any] | None:
    """Return the citations of a part with new names, None if nothing changes."""
    changed = {
        number: {**citation, "part": new}
        for number, citation in citations_of(part)
        if (new := rename(citation["part"])) != citation["part"]
    }
    if not changed:
        return None
    held = (part.metadata or {})[CITATIONS]
    return [changed.get(number, each) for number, each in enumerate(held)]
