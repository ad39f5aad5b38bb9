"""Base64 in the spellings that messages use, by pybase64.

The reader accepts the standard or the URL-safe alphabet (several SDKs write the latter), but not
both in one string. It accepts complete padding or none, and non-zero trailing bits, and nothing
else. The writer writes the standard alphabet with padding.
"""

import re

import pybase64

from messagebody._base.text import quote

_STANDARD = re.compile(r"[A-Za-z0-9+/]*")
_URL_SAFE = re.compile(r"[A-Za-z0-9_-]*")
_ANY = re.compile(r"[A-Za-z0-9+/_-]*")


def encode(data: bytes, *, url_safe: bool = False) -> str:
    """Return `data` in padded base64, in the standard alphabet or the URL-safe one."""
    return pybase64.b64encode_as_string(data, altchars=b"-_" if url_safe else None)


def decode(text: str, strict: bool = False) -> bytes:
    """Return the bytes of base64 text.

    Arguments:
        text: the text, without white space.
        strict: accept only the standard alphabet with padding.

    Raises:
        ValueError: it is not base64; the text names the character.
    """
    try:
        # Nearly every message has standard, padded base64, which one call in C checks and decodes.
        return pybase64.b64decode(text, None, True)  # by position: names take four times as long
    except ValueError:
        pass  # not standard and padded; the other spellings are checked below
    is_mixed = "+" in text or "/" in text
    if not strict and not is_mixed and ("-" in text or "_" in text):
        try:
            return pybase64.b64decode(text, altchars=b"-_", validate=True)
        except ValueError:
            pass  # its padding may be missing
    _check(text, strict)
    # From here on it is legal, in one of the spellings that several SDKs write.
    body = text.rstrip("=")
    padded = body + "=" * (-len(body) % 4)
    return pybase64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)


def decode_spaced(text: str) -> bytes:
    r"""Return the bytes of base64 text in which white space has no meaning, as in mail.

    Raises:
        ValueError: it is not base64; the text names the character.

    Examples:
        >>> decode_spaced("aGVs\nbG8=\n")
        b'hello'
    """
    try:
        return decode(text)
    except ValueError:
        spaceless = "".join(text.split())
        if len(spaceless) == len(text):
            raise
        return decode(spaceless)


def decode_view(view: memoryview) -> bytes:
    """Return the bytes of standard, padded base64 without copying the text.

    Raises:
        ValueError: it is not standard, padded base64.
    """
    return pybase64.b64decode(view, validate=True)


def _check(text: str, strict: bool) -> None:
    body = text.rstrip("=")
    padding = len(text) - len(body)
    odd = _ANY.match(body).end()  # type: ignore[union-attr]
    if odd < len(body):
        raise ValueError(f"character {odd:,} is {quote(body[odd])}")
    url_safe = _STANDARD.fullmatch(body) is None
    if url_safe and _URL_SAFE.fullmatch(body) is None:
        raise ValueError("it mixes the standard and the URL-safe alphabet")
    # Four characters carry three bytes, so a single remaining character carries none.
    if len(body) % 4 == 1:
        raise ValueError(f"a length of {len(body):,} does not make whole bytes")
    if padding not in (0, -len(body) % 4):
        raise ValueError(f"{padding} '=' at the end, expected {-len(body) % 4} or none")
    if strict and url_safe:
        raise ValueError("it is URL-safe base64 (strict)")
    if strict and len(text) % 4:
        raise ValueError("its padding is missing (strict)")
