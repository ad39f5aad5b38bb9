"""Multipart messages of mail and forms, in and out."""

import email
import email.header
import email.message
import email.policy
import email.utils
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, Final
from urllib.parse import quote as percent

from messagebody._text import quote
from messagebody.archives.entries import (
    CHUNK,
    Leaving,
    Source,
    findings,
    leaving,
    opened,
    packed,
)
from messagebody.body import MessageBody
from messagebody.errors import DecodeError, InvalidArgument, MessageBodyError
from messagebody.findings import Finding
from messagebody.formats.base import Converted, Loss, LossKind
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.media_types import check_content_type
from messagebody.names import is_name, safe_name
from messagebody.part import Part
from messagebody.references import Resolver
from messagebody.wire import base64

SUBTYPES: Final = ("mixed", "related", "alternative", "form-data")
"""What a message may be: `multipart/` and one of these."""

# Base64 has no "-": the line never stands in content.
_BOUNDARY: Final = "--messagebody--"
_HEADERS: Final = ("Content-ID", "Content-Location")
_SAFE: Final = re.compile(r"[\x20-\x7e]*")
# What a content type says beside the type of the content.
_NAMES: Final = re.compile(r"""\s*;\s*(?:name|boundary)[*\d]*=("[^"]*"|[^;\s]*)""", re.IGNORECASE)
_MULTIPART: Final = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)
_KEPT: Final = frozenset({"contentID", "contentLocation", "filename", "formField"})
# Parts within parts are read by recursion, and a sender decides how deep they go.
_DEPTH: Final = 20
_LINE: Final = 57  # bytes that make a line of 76 characters in base64


def to_body(source: Source, /, *, limits: Limits = DEFAULT_LIMITS) -> Converted[MessageBody]:
    """Return the body of a message: its parts in order, those of parts within parts too.

    File names are read as each RFC writes them (2047, 2231, 7578), also where they are raw UTF-8.
    `Content-ID`, `Content-Location` and the name of a form's field are metadata of the part.

    Arguments:
        source: bytes, the path of a file, or a binary file.
        limits: what to take before refusing.

    Raises:
        DecodeError: it is no multipart message, it is damaged, or it goes beyond a limit.

    Examples:
        >>> data = from_body(MessageBody([Part("# Cats", name="/cats.md")])).value
        >>> to_body(data).value.names()
        ['/cats.md']
    """
    with opened(source) as file:
        # One byte more than allowed tells a message that is too long from one that just fits.
        data = file.read(limits.json_bytes + 1)
    if len(data) > limits.json_bytes:
        raise DecodeError(f"the message has more than {limits.json_bytes:,} bytes")
    # Newer policies parse headers by their grammar, and may raise on damaged ones.
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    if message.get_content_maintype() != "multipart":
        raise DecodeError("it is no multipart message")
    body = MessageBody()
    losses: list[Loss] = []
    for number, part in enumerate(_leaves(message, 0)):
        if number >= limits.parts:
            raise DecodeError(f"the message has more than {limits.parts:,} parts")
        body.append(_part(part, body, losses, number, limits))
    return Converted(body, losses)


def _leaves(message: Any, depth: int) -> Iterator[Any]:
    if depth > _DEPTH:
        raise DecodeError(f"the message has more than {_DEPTH} levels of parts")
    for part in message.get_payload() if message.is_multipart() else ():
        yield from _leaves(part, depth + 1) if part.is_multipart() else (part,)


def _part(part: Any, body: MessageBody, losses: list[Loss], number: int, limits: Limits) -> Part:
    try:
        _read_raw_text(part)
        content = part.get_payload(decode=True) or b""
        stated = _joined(part.get("Content-Type")) or "text/plain"
        filename = _decoded(part.get_filename())
        field = _decoded(part.get_param("name", header="Content-Disposition"))
    except (ValueError, LookupError, TypeError, AttributeError, IndexError) as error:
        raise DecodeError(f"part {number} can't be read: {error}") from error
    if len(content) > limits.part_bytes:
        raise DecodeError(f"part {number} has more than {limits.part_bytes:,} bytes")
    kind = re.sub(
        r'\s*;\s*(?:name|boundary)\*?\d*\*?=("[^"]*"|[^;\s]*)', "", stated, flags=re.IGNORECASE
    )
    try:
        kind = check_content_type(kind)
    except MessageBodyError:
        why = f"{quote(stated)} is not a content type"
        losses.append(Loss(LossKind.DOWNGRADED, f"part {number}", why))
        kind = "application/octet-stream"
    metadata = {_member(key): _joined(part[key]) for key in _HEADERS if part.get(key)}
    if field:
        metadata["formField"] = field
    name = None
    if filename:
        name = "/" + filename.removeprefix("/")
        if not is_name(name) or name in body:
            name = safe_name(filename, directory="/", taken=body)
            metadata["filename"] = filename
    return Part(content, name=name, content_type=kind, metadata=metadata or None)


def _read_raw_text(part: Any) -> None:
    """Read headers that hold UTF-8 as it is, which the library keeps as single bytes."""
    for key, value in [*part.raw_items()]:
        if not value.isascii():
            text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            part.replace_header(key, text)


def _member(header: str) -> str:
    return header[0].lower() + header[1:].replace("-", "")


def _joined(header: Any) -> str:
    """Return a header as one line of text."""
    return " ".join(str(header or "").split())


def _decoded(value: Any) -> str:
    """Return text that an RFC encoded: 2231 as three pieces, 2047 as words, 7578 as it is."""
    if value is None:
        return ""
    text = email.utils.collapse_rfc2231_value(value)
    if "=?" in text:
        pieces = email.header.decode_header(text)
        text = "".join(piece.decode(charset or "ascii", "replace") if isinstance(piece, bytes)
                       else piece for piece, charset in pieces)  # fmt: skip
    return text


def from_body(
    body: MessageBody, /, *, subtype: str = "mixed", resolver: Resolver | None = None
) -> Converted[bytes]:
    """Return the message of a body; equal bodies give equal bytes.

    Arguments:
        body: the body.
        subtype: "mixed", "related", "alternative" or "form-data".
        resolver: reads references; without one they are left out, and a loss says so.

    Raises:
        InvalidArgument: the subtype is not one of these, or a value would break out of its header.
    """
    return packed(partial(write, body, subtype=subtype, resolver=resolver))


def write(
    body: MessageBody,
    file: BinaryIO,
    /,
    *,
    subtype: str = "mixed",
    resolver: Resolver | None = None,
) -> list[Loss]:
    """Write the message of a body to a file, part by part, and return what was lost."""
    if subtype not in SUBTYPES:
        raise InvalidArgument(f"subtype as one of {', '.join(SUBTYPES)}", subtype)
    losses: list[Loss] = []
    head = f'MIME-Version: 1.0\r\nContent-Type: multipart/{subtype}; boundary="{_BOUNDARY}"\r\n\r\n'
    file.write(head.encode("ascii"))
    for number, each in enumerate(leaving(body, losses, resolver, keeps=_KEPT)):
        lines = [f"--{_BOUNDARY}", *_headers(each, subtype, number), "", ""]
        file.write("\r\n".join(lines).encode("ascii"))
        with each.open() as content:
            file.writelines(_encoded(content))
    file.write(f"--{_BOUNDARY}--\r\n".encode("ascii"))
    return losses


def _encoded(content: BinaryIO) -> Iterator[bytes]:
    """Yield content as lines of base64."""
    rest = b""
    while chunk := content.read(CHUNK):
        rest += chunk
        whole = len(rest) // _LINE * _LINE
        for start in range(0, whole, _LINE):
            yield base64.encode(rest[start : start + _LINE]).encode() + b"\r\n"
        # Kept for the next chunk: padding may stand only at the end of base64.
        rest = rest[whole:]
    if rest:
        yield base64.encode(rest).encode() + b"\r\n"


def _headers(each: Leaving, subtype: str, number: int) -> Iterator[str]:
    metadata = each.part.metadata or {}
    yield f"Content-Type: {_line(each.part.content_type)}"
    yield "Content-Transfer-Encoding: base64"
    said = f"; filename*=utf-8''{percent(each.path, safe='')}" if each.part.name else ""
    if subtype == "form-data":
        field = metadata.get("formField") or f"part{number + 1}"
        said = f'; name="{percent(_line(field), safe=" ")}"{said}'
        yield f"Content-Disposition: form-data{said}"
    elif said:
        yield f"Content-Disposition: attachment{said}"
    for key in _HEADERS:
        value = metadata.get(_member(key))
        if value is not None:
            yield f"{key}: {_line(value)}"


def _line(value: Any) -> str:
    """Return the value of a header: it must not begin another one."""
    if not isinstance(value, str) or not _SAFE.fullmatch(value):
        raise InvalidArgument("a header of one line in printable ASCII", value)
    return value


def detect(value: Any, /) -> bool:
    """Return whether bytes look like a multipart message.

    Examples:
        >>> detect(from_body(MessageBody()).value), detect({"role": "user"})
        (True, False)
    """
    if not isinstance(value, bytes):
        return False
    head = re.split(rb"\r?\n\r?\n", value[:CHUNK], maxsplit=1)[0]
    return (
        re.search(rb"^content-type:\s*multipart/", head, re.IGNORECASE | re.MULTILINE) is not None
    )


def iter_findings(message: Source, /) -> Iterator[Finding]:
    """Yield why a message can't be read."""
    return findings(lambda: to_body(message))
