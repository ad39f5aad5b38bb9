"""`data:` URLs (RFC 2397), decoded in linear time.

Such a URL is inline content in another form. The standard library decodes percent escapes by
splitting, which takes gigabytes of memory for a long run of escapes. This module substitutes them
in blocks.
"""

import binascii
import re
from collections.abc import Iterator

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import TEXT_PLAIN
from messagebody._base.text import human_size
from messagebody._wire import base64
from messagebody.errors import DecodeError, LimitExceeded

# No media type has nearly 1,000 characters. Without the bound, a URL without a comma would be
# scanned to its end.
_HEAD = re.compile(r"data:([^,]{0,1000}),", re.IGNORECASE)
# Runs of escapes and not single ones, so that one call decodes a long run. Possessive, so that the
# engine keeps no state for each escape.
_ESCAPES = re.compile(rb"(?:%[0-9A-Fa-f]{2})++")
_LOOSE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
# Checked before decoding, because `binascii` silently drops foreign characters.
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")
_DEFAULT = "text/plain;charset=US-ASCII"


def is_data_url(url: str) -> bool:
    """Return whether a URL contains its content."""
    return url[:5].lower() == "data:"


def states_type(url: str) -> bool:
    """Return whether a `data:` URL states the type of its content."""
    return url[len("data:") : 1000].lstrip()[:1] not in (",", ";", "")


def decode(url: str, *, max_bytes: int = DEFAULT_LIMITS.part_bytes) -> tuple[str, bytes]:
    """Return content type and content of a `data:` URL.

    Arguments:
        url: the URL.
        max_bytes: the most bytes of content to accept.

    Raises:
        DecodeError: the URL breaks RFC 2397.
        LimitExceeded: it holds more.

    Examples:
        >>> decode("data:text/plain;base64,aGVsbG8=")
        ('text/plain', b'hello')
        >>> decode("data:,a%20b")
        ('text/plain;charset=US-ASCII', b'a b')
        >>> decode("data:image/gif; base64,R0lGODlh")
        ('image/gif', b'GIF89a')
    """
    head = _HEAD.match(url)
    if head is None:
        raise DecodeError("a data URL is data:[type][;base64],content")
    # Many make the head of a Content-Type header; white space has no meaning in it.
    content_type, is_base64 = _media_type("".join(head[1].split()))
    content = _quickly(url[head.end() :], max_bytes) if is_base64 else None
    if content is not None:
        return content_type, content
    try:
        # A fragment is not part of the content (RFC 3986, 3.5).
        text = url[head.end() :].partition("#")[0].encode("ascii")
    except UnicodeEncodeError as error:
        raise DecodeError(f"character {error.start:,} of the data URL is not ASCII") from error
    # An escape has three characters for one byte. Measured before decoding, so that the limit
    # bounds the memory.
    _check_size(len(text) - 2 * text.count(b"%"), is_base64, max_bytes)
    content = _unescape(text)
    return content_type, _from_base64(content) if is_base64 else content


def _quickly(text: str, max_bytes: int) -> bytes | None:
    """Return the content of base64 without escapes; None if it has escapes, or is invalid.

    One call checks and decodes it. Nearly every URL of a large picture has this form.
    """
    if len(text) * 3 // 4 > max_bytes:
        return None
    try:
        return base64.decode(text)
    except ValueError:
        return None


def _check_size(length: int, is_base64: bool, max_bytes: int) -> None:
    size = length * 3 // 4 if is_base64 else length
    # Up to two bytes are only padding.
    if size > max_bytes + 2 * is_base64:
        raise LimitExceeded(
            f"the data URL holds {human_size(size)}, the limit is {human_size(max_bytes)}"
        )


def _media_type(text: str) -> tuple[str, bool]:
    # In RFC 2397, `;base64` is the last parameter; anywhere else it belongs to the media type.
    is_base64 = text.lower().endswith(";base64")
    if is_base64:
        text = text[: -len(";base64")]
    if not text:
        return _DEFAULT, is_base64
    # Some write a bare charset, such as `;utf8`, which is no parameter.
    kind, *parameters = text.split(";")
    text = ";".join([kind, *(each for each in parameters if "=" in each)])
    # RFC 2397 allows to leave out `text/plain` before parameters.
    return (TEXT_PLAIN + text if text.startswith(";") else text), is_base64


def _unescape(text: bytes) -> bytes:
    if b"%" not in text:
        return text
    if _LOOSE.search(text):
        raise DecodeError("a percent sign of the data URL is not followed by two hex digits")
    return b"".join(_ESCAPES.sub(_bytes_of, block) for block in _blocks(text))


def _bytes_of(run: re.Match[bytes]) -> bytes:
    return bytes.fromhex(run[0].replace(b"%", b"").decode())


_BLOCK = 1 << 16


def _blocks(text: bytes) -> Iterator[bytes]:
    """Yield a text in blocks that don't split an escape.

    A substitution keeps all pieces until its end, which takes 40 times the memory if escapes
    alternate with other bytes.
    """
    start = 0
    while start < len(text):
        end = start + _BLOCK
        escape = text.rfind(b"%", end - 2, end)
        end = end if escape < 0 else escape
        yield text[start:end]
        start = end


def _from_base64(text: bytes) -> bytes:
    # Several SDKs write the URL-safe alphabet, as in inline content; white space has no meaning.
    text = text.translate(bytes.maketrans(b"-_", b"+/"), b" \t\r\n")
    if not _BASE64.fullmatch(text):
        raise DecodeError("the content of the data URL is not base64")
    stripped = text.rstrip(b"=")
    try:
        return binascii.a2b_base64(stripped + b"=" * (-len(stripped) % 4))
    except binascii.Error as error:
        raise DecodeError("the content of the data URL is not base64") from error
