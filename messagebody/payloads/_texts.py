"""Texts as stored bytes: base64 is stored decoded, and every text comes back exactly."""

import re
from typing import Final, Literal

import attrs

from messagebody._core import OCTET_STREAM, TEXT_PLAIN, base64, check_content_type
from messagebody.errors import DecodeError, InvalidContentType

Form = Literal["text", "base64", "urlsafe"]

_HEAD: Final = re.compile(r"data:([^,;\s]{0,200})(?:;[^,;\s]{1,200}){0,8};base64,")
# Enough to see that prose is not base64 without reading all of it.
_SAMPLE: Final = 256
_ALPHABET: Final = re.compile(r"[A-Za-z0-9+/_-]*+={0,2}")
_URL_SAFE: Final = str.maketrans("+/", "-_")


@attrs.frozen
class Split:
    """A text in its stored form.

    Arguments:
        form: how the text is made of the bytes.
        head: the text before them, such as "data:image/png;base64,".
        data: the bytes.
    """

    form: Form
    head: str
    data: bytes = attrs.field(repr=False)

    @property
    def content_type(self) -> str:
        """The content type of the bytes: that of a data URL, or one that follows from the form."""
        if self.form == "text":
            return TEXT_PLAIN
        match = _HEAD.match(self.head)
        try:
            return check_content_type(match[1] if match else OCTET_STREAM)
        except InvalidContentType:
            return OCTET_STREAM


def split_text(text: str) -> Split:
    """Return the bytes to store for a text, and the values that `join_text` needs to restore it.

    Examples:
        >>> split_text("data:image/png;base64,aGVsbG8=")
        Split(form='base64', head='data:image/png;base64,')
        >>> split_text("hello").form
        'text'
    """
    match = _HEAD.match(text)
    head = match[0] if match else ""
    encoded = text[len(head) :]
    if _ALPHABET.fullmatch(encoded[:_SAMPLE]):
        form: Form = "urlsafe" if "-" in encoded or "_" in encoded else "base64"
        try:
            data = base64.decode(encoded)
        except ValueError:
            data = b""  # it is not base64, which the next line detects
        if _encode(form, data) == encoded:
            return Split(form, head, data)
    # Python's strings may hold lone surrogates, which must come back too.
    return Split("text", "", text.encode("utf-8", "surrogatepass"))


def join_text(form: str, head: str, data: bytes) -> str:
    """Return the text that was split.

    Raises:
        DecodeError: the form is unknown, or the bytes do not fit it.
    """
    if form in {"base64", "urlsafe"}:
        return head + _encode(form, data)
    try:
        if form == "text":
            return head + data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DecodeError(f"stored text is not UTF-8 at byte {error.start:,}") from error
    raise DecodeError("a stored text has the form text, base64 or urlsafe")


def _encode(form: str, data: bytes) -> str:
    text = base64.encode(data)
    return text.translate(_URL_SAFE) if form == "urlsafe" else text
