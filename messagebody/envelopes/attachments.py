"""Attachments of foreign messages: one table of aliases, one rule for URLs and for names.

An attachment becomes a reference part only if its URL is absolute: a scheme, "://" and a host,
spelled in one strict way. A path never becomes a URL.
"""

from typing import Any

from messagebody import base64_text
from messagebody.errors import InvalidContentType
from messagebody.media_types import OCTET_STREAM, check_content_type
from messagebody.names import safe_name
from messagebody.part import Part
from messagebody.resolving import grammar

__all__ = [
    "attachment_part",
    "content_type_of",
    "first_text",
    "is_absolute_url",
    "rebuilt_attachment",
]

ALIASES = {
    "url": ("url", "uri"),
    "data": ("data", "bytes"),
    "mime_type": ("mime_type", "mimeType", "content_type", "contentType"),
    "filename": ("filename", "name"),
}
"""What runtimes call the members of an attachment, the best known name first."""


def is_absolute_url(url: Any) -> bool:
    """Tell whether `url` is an absolute URL in the one spelling that resolvers read.

    Example:
        >>> [is_absolute_url(url) for url in ("https://e.com/a.png", "/srv/a.png", "C:/a.png")]
        [True, False, False]
    """
    if not isinstance(url, str) or "://" not in url:
        return False
    try:
        grammar.parse(url)
    except grammar.Malformed:
        return False
    return True


def first_text(attachment: dict[str, Any], member: str) -> tuple[str, str] | None:
    """Return the alias under which a member is stated as text, and the text."""
    for alias in ALIASES[member]:
        value = attachment.get(alias)
        if isinstance(value, str) and value:
            return alias, value
    return None


def content_type_of(attachment: dict[str, Any]) -> str:
    """Return the stated content type if it is one, else application/octet-stream.

    A kind such as "image" or "video" is no content type, and none is invented.
    """
    stated = first_text(attachment, "mime_type")
    try:
        return check_content_type(stated[1]) if stated else OCTET_STREAM
    except InvalidContentType:
        return OCTET_STREAM


def attachment_part(attachment: Any, directory: str) -> tuple[Part, dict[str, Any]] | None:
    """Return the part an attachment makes, and what is left of the attachment.

    Arguments:
        attachment: a foreign attachment.
        directory: where the part goes.

    Returns:
        None if it makes none: it has neither an absolute URL nor inline bytes in base64.
    """
    if not isinstance(attachment, dict):
        return None
    content_type = content_type_of(attachment)
    filename = first_text(attachment, "filename")
    name = safe_name(filename[1] if filename else "", directory=directory)
    url = first_text(attachment, "url")
    if url is not None:
        if not is_absolute_url(url[1]):
            return None
        part = Part(
            name=name, content_type=content_type, url=url[1], size=_size_of(attachment),
        )  # fmt: skip
        return part, {**attachment, url[0]: None}
    return _inline_part(attachment, name, content_type)


def _inline_part(
    attachment: dict[str, Any], name: str, content_type: str
) -> tuple[Part, dict[str, Any]] | None:
    data = first_text(attachment, "data")
    content = None if data is None else _decoded(data[1])
    if data is None or content is None:
        return None
    return Part(content, name=name, content_type=content_type), {**attachment, data[0]: None}


def _decoded(text: str) -> bytes | None:
    """Decode canonical base64; None for anything that would not encode to the same text."""
    try:
        content = base64_text.decode(text, strict=True)
    except ValueError:
        return None
    return content if base64_text.encode(content) == text else None


def _size_of(attachment: dict[str, Any]) -> int | None:
    size = attachment.get("size")
    fits = isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53
    return size if fits else None


def rebuilt_attachment(rest: dict[str, Any], part: Part) -> dict[str, Any]:
    """Return the attachment that a part and what was left of the attachment make.

    Raises:
        ValueError: the part is a reference where there were bytes, or the reverse.
    """
    for member in ("url", "data"):
        for alias in ALIASES[member]:
            if alias in rest and rest[alias] is None:
                return {**rest, alias: _value_of(part, member)}
    raise ValueError("nothing of the attachment was in a part")


def _value_of(part: Part, member: str) -> str:
    if part.is_reference != (member == "url"):
        raise ValueError("the part changed between a reference and bytes")
    return part.url or "" if member == "url" else base64_text.encode(part.read_bytes())
