"""Alignment: which of the parts that are read back is which of the parts that were written.

Most items are read back as they were, which shows without their parts.
"""

import re
from typing import Any, Final

from messagebody._core import JSON, TEXT_PLAIN, Part, data_urls
from messagebody.adapters._conversion.collecting import link_type
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    Reasoning,
    Refusal,
    Result,
    Text,
)
from messagebody.adapters._vocabulary.part_names import RESERVED, RESULT, items_of
from messagebody.errors import DecodeError

_TYPES: Final = {Call: JSON, Reasoning: TEXT_PLAIN, Refusal: TEXT_PLAIN}
"""The items whose part says nothing else, and the type of that part."""
_TOLD: Final = frozenset({"id", "name", "type", "error", "empty", "pending"})
"""What its call tells of a result, or the result itself."""


def is_whole(dialect: Dialect, item: Item, parts: list[Part], back: Item | None) -> bool:
    """Return whether an item was read back, and says all that the parts of another one say.

    Arguments:
        dialect: the format.
        item: the item that was written.
        parts: its parts.
        back: the item that was read back from its block.
    """
    if type(back) is not type(item):
        return False
    if isinstance(item, Result) and isinstance(back, Result):
        return _is_whole_result(dialect, item, parts, back)
    [part] = parts
    is_usual = part.content_type == _TYPES.get(type(item)) and part.metadata is None
    return (
        is_usual
        and not part.extra
        and back == item
        and RESERVED.fullmatch(str(part.name)) is not None
    )


def _is_whole_result(dialect: Dialect, item: Result, parts: list[Part], back: Result) -> bool:
    if (back.id, back.kind) != (item.id, item.kind) or len(back.blocks) != len(parts):
        return False
    for number, (part, block) in enumerate(zip(parts, back.blocks, strict=True), 1):
        metadata, text = part.metadata or {}, part.text
        said = metadata.get(RESULT) or {}
        is_told = said.keys() <= _TOLD and (not said.get("error") or back.is_error)
        is_usual = part.content_type == TEXT_PLAIN and len(metadata) == 1
        if not (is_told and is_usual) or part.extra or part.name != f"{item.key}/{number}":
            return False
        if text is None or not is_text_of(dialect, block, text):
            return False
    return True


def is_text_of(dialect: Dialect, block: Any, text: str) -> bool:
    """Return whether a block is read as just a text."""
    if dialect.plain is not None and (said := dialect.plain.text_of(block)) is not None:
        return said == text
    is_typed = isinstance(block, dict) and isinstance(block.get("type", ""), str)
    return is_typed and dialect.read_block(block) == Text(text)


def is_link(part: Part, item: Item | None) -> bool:
    """Return whether an item is the URL of a part, and says all that the part says."""
    if part.size is not None or part.digest is not None:
        return False
    if not isinstance(item, Media) or item.url != part.url:
        return False
    held = (item.name, item.title, item.place, item.size, item.text, item.data, item.encoded)
    if held != (None,) * len(held):
        return False
    return link_type(item) == part.content_type


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


def same_value(part: Part, back: Part) -> bool:
    """Return whether two parts hold the same JSON value, maybe in another spelling."""
    if part.is_reference or back.is_reference or not part.content_type == back.content_type == JSON:
        return False
    try:
        return bool(part.read_json() == back.read_json())
    except DecodeError:
        return False


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
