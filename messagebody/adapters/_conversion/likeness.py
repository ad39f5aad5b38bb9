"""Likeness: which of the parts that are read back is which of the parts that were written."""

import re
from typing import Final

from messagebody._core import Part, data_urls
from messagebody.adapters._vocabulary.items import Call
from messagebody.adapters._vocabulary.places import items_of
from messagebody.errors import DecodeError


def aligned(parts: list[Part], found: list[Part]) -> list[tuple[Part, Part | None]]:
    """Return each part with the part that was read back for it, None if there is none.

    Several parts may have become one: if a result holds only one text, its texts are joined.
    """
    left, pairs = [*found], []
    for part in parts:
        same = (back for back in left if same_content(part, back) or holds_url_content(part, back))
        alike = (back for back in left if len(parts) == 1 or back.is_reference == part.is_reference)
        back = next(same, None) or next(alike, None)
        if back is not None:
            left = [each for each in left if each is not back]
        pairs.append((part, back))
    return pairs


def same_content(part: Part, back: Part) -> bool:
    """Return whether two parts have the same content, or the same URL."""
    if part.is_reference or back.is_reference:
        return part.url == back.url
    if part.text is not None and back.text is not None:
        return part.text == back.text
    return part.read_bytes() == back.read_bytes()


def holds_url_content(part: Part, back: Part) -> bool:
    """Return whether the content of a part's `data:` URL is in what is read back."""
    held = None if back.is_reference else _in_url(part)
    if held is None:
        return False
    try:
        if held.is_text and back.text is not None:
            return held.read_text() in back.text
    except DecodeError:
        return False  # its bytes are no text, whatever it states
    return held.read_bytes() in back.read_bytes()


def _in_url(part: Part) -> Part | None:
    """Return a part with the content of its `data:` URL, None if it has no such URL."""
    if part.url is None or not data_urls.is_data_url(part.url):
        return None
    return Part(data_urls.decode(part.url)[1], content_type=part.content_type)


_NUMBERED: Final = re.compile(
    r"(/tool/(?:calls|results)/|/(?:reasoning|refusals|code|images)/)\d+(\.json|/.+)?"
)
"""The names of items, whose numbers are those of the body that they are in."""


def same_name(part: Part, back: Part) -> bool:
    """Return whether two parts have the same name, or are items that are numbered again."""
    if part.name == back.name or part.name is None or back.name is None:
        return part.name == back.name
    first, second = _NUMBERED.fullmatch(part.name), _NUMBERED.fullmatch(back.name)
    return first is not None and second is not None and first.groups() == second.groups()


def same_call(part: Part, back: Part) -> bool:
    """Return whether two parts are the same call; a format may need an id where none was stated."""
    first, second = _call_in(part), _call_in(back)
    if first is None or second is None:
        return False
    return (first.name, first.arguments) == (second.name, second.arguments)


def lost_id(part: Part, back: Part) -> str | None:
    """Return the id of a call that goes out without one."""
    first, second = _call_in(part), _call_in(back)
    if first is None or second is None or second.id is not None:
        return None
    return first.id


def _call_in(part: Part) -> Call | None:
    if part.name is None:
        return None
    ((item, _),) = items_of([part])
    return item if isinstance(item, Call) else None
