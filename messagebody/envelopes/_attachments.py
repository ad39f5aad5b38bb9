"""Attachments of foreign messages: one table of aliases, one rule for URLs and for names.

An attachment becomes a reference part only if its URL is absolute: a scheme, "://" and a host,
spelled in one strict way. A path never becomes a URL.
"""

from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from messagebody._core import (
    MEDIA_TOP_LEVELS,
    OCTET_STREAM,
    MessageBody,
    Part,
    base64,
    check_content_type,
    sniffing,
    top_level_of_range,
    unspecified,
)
from messagebody.errors import InvalidContentType
from messagebody.names import safe_name
from messagebody.storage._references.url import Malformed, parse

_CACHED_LENGTH = 256

ALIASES = {
    "url": ("url", "uri"),
    "data": ("data", "bytes"),
    "mime_type": ("mime_type", "mimeType", "content_type", "contentType"),
    "filename": ("filename", "name"),
}
"""The names of an attachment's members in several runtimes, the best known name first."""


def is_absolute_url(url: Any) -> TypeGuard[str]:
    """Return whether `url` is an absolute URL in the one spelling that resolvers read.

    Examples:
        >>> [is_absolute_url(url) for url in ("https://e.com/a.png", "/srv/a.png", "C:/a.png")]
        [True, False, False]
    """
    # `mailto:` and Windows paths such as `C:/a` have a scheme by RFC 3986, and no host.
    if not isinstance(url, str) or "://" not in url:
        return False
    return _is_readable(url) if len(url) > _CACHED_LENGTH else _is_readable_cached(url)


def _is_readable(url: str, *, has_local_hosts: bool = False) -> bool:
    try:
        parse(url, has_local_hosts=has_local_hosts)
    except Malformed:
        return False
    return True


# Messages of one conversation repeat their URLs. Long URLs are not cached, because a sender could
# fill the memory with them.
_is_readable_cached = lru_cache(1024)(_is_readable)


def first_text(attachment: dict[str, Any], member: str) -> tuple[str, str] | None:
    """Return the alias of a member that holds text, and the text."""
    for alias in ALIASES[member]:
        value = attachment.get(alias)
        if isinstance(value, str) and value:
            return alias, value
    return None


def media_type(stated: Any, url: str = "", name: str = "") -> str:
    """Return the content type of an attachment: the stated one, or what its names tell of it.

    A kind such as "image" or "video" stands for all types of that kind.

    Examples:
        >>> media_type("image/png"), media_type("video", "https://e.com/8f3a")
        ('image/png', 'video/x-unknown')
        >>> media_type(None, "https://e.com/a.png"), media_type(None)
        ('image/png', 'application/octet-stream')
    """
    text = stated if isinstance(stated, str) else ""
    family = top_level_of_range(text)
    try:
        if family is None and "/" in text:
            return check_content_type(text)
    except InvalidContentType:
        pass  # as if nothing were stated
    top_level = family if family in MEDIA_TOP_LEVELS else None
    found = sniffing.from_url(name, top_level) or sniffing.from_url(url, top_level)
    return found or (unspecified(top_level) if top_level else OCTET_STREAM)


class SplitAttachment(NamedTuple):
    """An attachment in two pieces: a part, and the rest, with null for the member `alias`."""

    part: Part
    rest: dict[str, Any]
    alias: str


def take_part(attachment: Any, directory: str) -> SplitAttachment | None:
    """Take the part out of an attachment.

    Arguments:
        attachment: a foreign attachment.
        directory: where the part goes.

    Returns:
        None if it has neither an absolute URL nor inline bytes in base64.
    """
    if not isinstance(attachment, dict):
        return None
    filename = first_text(attachment, "filename")
    name = safe_name(filename[1] if filename else "", directory=directory)
    stated = first_text(attachment, "mime_type")
    url, data = first_text(attachment, "url"), first_text(attachment, "data")
    content_type = media_type(stated and stated[1], url[1] if url else "", name)
    # A host of the sender's own network, such as "minio", makes a part that no resolver opens.
    if url is not None and _is_readable(url[1], has_local_hosts=True):
        part = Part(name=name, content_type=content_type, url=url[1], size=_size_of(attachment))
        return SplitAttachment(part, {**attachment, url[0]: None}, url[0])
    content = None if data is None else _decode(data[1])
    if data is None or content is None:
        return None
    part = Part(content, name=name, content_type=content_type)
    return SplitAttachment(part, {**attachment, data[0]: None}, data[0])


def take_parts(attachments: list[Any]) -> tuple[list[SplitAttachment], list[Any]]:
    """Take the parts out of attachments; return them, and the rests of all attachments in order."""
    taken, left = [], []
    for number, attachment in enumerate(attachments, 1):
        found = take_part(attachment, f"/attachments/{number}")
        left.append(attachment if found is None else found.rest)
        if found is not None:
            taken.append(found)
    return taken, left


def put_parts(left: list[Any], aliases: dict[str, str], body: MessageBody) -> list[Any]:
    """Return the attachments made of parts and rests; undo `take_parts`.

    Arguments:
        left: the rests of all attachments.
        aliases: the members that are in parts, by name of part.
        body: holds the parts.

    Raises:
        LookupError: a part is gone.
        ValueError: a part is a reference and was bytes before, or the reverse.
    """
    attachments = list(left)
    for name, alias in aliases.items():
        # The name has the position: `/attachments/3/…` is the third.
        index = int(name.split("/")[2]) - 1
        part, holds_url = body[name], alias in ALIASES["url"]
        if part.is_reference != holds_url:
            raise ValueError("the part changed between a reference and bytes")
        value = part.url if holds_url else base64.encode(part.read_bytes())
        attachments[index] = {**attachments[index], alias: value}
    return attachments


def other_attachments(left: Any, aliases: dict[str, str]) -> list[Any]:
    """Return the attachments that no part was taken out of; what is not a list is one of them."""
    if not isinstance(left, list):
        return [left] if left else []
    taken = {int(name.split("/")[2]) - 1 for name in aliases}
    return [attachment for index, attachment in enumerate(left) if index not in taken]


def _decode(text: str) -> bytes | None:
    """Decode canonical base64; None for anything that would not encode to the same text."""
    try:
        content = base64.decode(text, strict=True)
    except ValueError:
        return None
    # Otherwise the way back would write a different text.
    return content if base64.encode(content) == text else None


def _size_of(attachment: dict[str, Any]) -> int | None:
    size = attachment.get("size")
    fits = isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53
    return size if fits else None
