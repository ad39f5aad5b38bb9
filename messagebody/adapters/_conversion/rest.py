"""The rest of a message: an entry for each of its blocks, and the part that an entry is about."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final
from zlib import crc32

import attrs

from messagebody._core import Part, PartRecord, is_text, part_of, record_of
from messagebody.adapters._vocabulary.dialect import TYPES
from messagebody.adapters._vocabulary.part_names import Found
from messagebody.errors import EnvelopeError


def member_of(rest: dict[str, Any], key: str, kind: type) -> Any:
    """Return a member of the rest of a message, None if there is none.

    Raises:
        EnvelopeError: it is of another type.
    """
    value = rest.get(key)
    if value is not None and type(value) is not kind:
        raise EnvelopeError(f"rest is not what to_body returned: '{key}' is not {TYPES[kind]}")
    return value


def entries_of(rest: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the entries of the blocks of a message ("blocks") or of a result ("inner").

    Raises:
        EnvelopeError: they are something else.
    """
    entries: list[dict[str, Any]] = member_of(rest, key, list) or []
    for entry in entries:
        if not isinstance(entry, dict):  # but a block in it may be bad, and any value
            raise EnvelopeError(f"rest is not what to_body returned: '{key}' has objects")
        for member, value in entry.items():
            kinds, expected = _TYPES.get(member, _ANY)
            if kinds and type(value) not in kinds:
                raise EnvelopeError(f"rest is not what to_body returned: '{member}' is {expected}")
    return entries


_NOTHING: Final = type(None)
_ANY: Final[tuple[tuple[type, ...], str]] = ((), "")
_TYPES: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    **dict.fromkeys(("name", "kind", "of", "type", "mark"), ((str, _NOTHING), TYPES[str])),
    **dict.fromkeys(("patch", "shared"), ((dict, _NOTHING), TYPES[dict])),
    "carry": ((bool, dict), "true or an object"),
    "form": ((str, list, _NOTHING), "text or a list"),
}
"""The types of members of an entry, and what errors call them."""


def matched(items: Sequence[Found], entries: list[dict[str, Any]]) -> list[int | None]:
    """Return for each item the position of the entry of its block, None if there is none.

    A named part finds its block by the name, and another by its mark. Plain blocks have no mark:
    they are taken in order, texts apart from files, which keeps their place among unknown blocks.
    """
    if not entries:
        return [None] * len(items)
    named: dict[str, int] = {}
    marked: dict[str, deque[int]] = {}
    plain: dict[str, deque[int]] = {"text": deque(), "media": deque()}
    for index, entry in enumerate(entries):
        if "block" in entry:
            continue
        name, mark, of = entry.get("name"), entry.get("mark"), entry.get("of", "text")
        if isinstance(name, str):
            named[name] = index
        elif isinstance(mark, str):
            marked.setdefault(mark, deque()).append(index)
        elif of in plain:
            plain[of].append(index)
    found: list[int | None] = []
    for item, parts in items:
        name = parts[0].name if item is None else item.key
        if name is not None:
            found.append(named.get(name))
            continue
        queue = (marked and marked.get(mark_of(parts[0]))) or plain[content_class(parts[0])]
        found.append(_nearest(queue, entries, parts[0]) if queue else None)
    return found


def _nearest(queue: deque[int], entries: list[dict[str, Any]], part: Part) -> int:
    """Take the entry of a part out of a queue: of blocks with one URL, that of its own type.

    Only the first ones are looked at: a sender may repeat a URL in every block.
    """
    if len(queue) == 1:
        return queue.popleft()
    kinds = ((index, entries[index].get("type", part.content_type)) for index in islice(queue, 8))
    index = next((index for index, kind in kinds if kind == part.content_type), queue[0])
    queue.remove(index)
    return index


def with_entries(
    items: Sequence[Found], entries: list[dict[str, Any]]
) -> Iterator[tuple[Found, dict[str, Any]]]:
    """Yield the items that came in a block with an entry, and that entry."""
    for found, index in zip(items, matched(items, entries), strict=True):
        if index is not None:
            yield found, entries[index]


def content_class(part: Part) -> str:
    """Return the class by which unnamed parts are told apart: "text" or "media"."""
    return "media" if part.is_reference or not is_text(part.content_type) else "text"


def mark_of(part: Part) -> str:
    """Return a mark by which the block of a part is found again."""
    return mark_of_record(record_of(part))


def mark_of_record(record: PartRecord) -> str:
    """Return the mark of the part of a record.

    A checksum of 32 bits tells the parts of one message apart. It can't stand for the content. Of
    large files, the size and both ends are enough.
    """
    said = record.content if record.url is None else record.url
    if isinstance(said, str):
        return f"{crc32(said.encode()):08x}"
    content = part_of(record).read_bytes()
    if len(content) > 2 * _END:
        content = b"%d %b%b" % (len(content), content[:_END], content[-_END:])
    return f"{crc32(content):08x}"


_END: Final = 64 * 1024
"""Bytes at each end of a large file; reading all of a film would cost more than the conversion."""


@attrs.frozen
class _Held:
    """What stands in a message for a value: no message of JSON has one."""

    value: Any


_UNKNOWN: Final = {"type": "value held", "block_type": "value held"}
"""What makes a block one of the content in all formats, and of no kind that they have."""


def placeholder(block: Any) -> Any:
    """Return a block, or an unknown block that holds a value that is no object.

    Formats join objects, and may copy them.
    """
    return block if isinstance(block, dict) else {**_UNKNOWN, "held": _Held(block)}


def is_placeholder(block: Any) -> bool:
    """Return whether a block holds a value that is no object."""
    return isinstance(block, dict) and isinstance(block.get("held"), _Held)


def without_placeholders(message: Any) -> Any:
    """Return a message with the values that unknown blocks hold in their places, made in place."""
    root = [message]
    pending: list[Any] = [root]
    while pending:
        here = pending.pop()
        for key, value in here.items() if isinstance(here, dict) else enumerate(here):
            if is_placeholder(value):
                here[key] = value["held"].value
            elif isinstance(value, dict | list):
                pending.append(value)
    return root[0]
