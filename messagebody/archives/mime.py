"""Multipart messages of mail and forms, read and written."""

import email.header
import email.utils
import os
import re
from collections.abc import Container, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import quote as percent

from messagebody._core import (
    DEFAULT_LIMITS,
    OCTET_STREAM,
    Limits,
    MessageBody,
    Part,
    base64,
    by_usual_name,
    check_content_type,
    essence,
    quote,
    require_body,
    require_path,
)
from messagebody.adapters import Affected, Converted, Loss, LossKind, left_behind
from messagebody.archives._entries import (
    CHUNK,
    Leaving,
    Source,
    damage_told,
    findings,
    fits,
    kept,
    leaving,
    most_bytes,
    opened,
    packed,
    states_filename,
)
from messagebody.archives._multipart import DAMAGES, Leaf, MultipartReader
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument, MessageBodyError
from messagebody.findings import Finding
from messagebody.names import safe_name
from messagebody.storage import Resolver

_READERS: Final = frozenset({"subject", "from", "to", "cc", "reply-to", "sender"})
"""The headers that a reader of another format misses."""

SUBTYPES: Final = ("mixed", "related", "alternative", "form-data")
"""The subtypes of `multipart/` that a message may have."""

# Base64 has no "-", so this line never occurs in content.
_BOUNDARY: Final = "--messagebody--"
_HEADERS: Final = ("Content-ID", "Content-Location")
_READ: Final = frozenset({"content-type", "content-disposition", "content-id", "content-location"})
# Encoded words of a file name; for each, the library searches to the end of the text.
_WORDS: Final = 100
_SAFE: Final = re.compile(r"[\x20-\x7e]*")
# The rest of a content type after the type. A match begins only at the start of a run of white
# space: tried from each space of a long run, it would take the square of its length.
_NAMES: Final = re.compile(
    r"""(?<!\s)\s*;\s*(?:name|boundary)[*\d]*=("[^"]*"|[^;\s]*)""", re.IGNORECASE
)
_MULTIPART: Final = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)
_KEPT: Final = frozenset({"contentID", "contentLocation", "formField", "filename"})
# Headers of a message that its parts state, or that belong to one transport.
_OWN: Final = frozenset(
    {"mime-version", "content-type", "content-transfer-encoding", "content-length"}
)
_HEADER_NAME: Final = re.compile(r"[!-9;-~]{1,200}")
# The library takes a tenth of a millisecond for the headers of a part.
_PARTS: Final = 50_000
_LINE: Final = 57  # bytes that make a line of 76 characters in base64


def to_body(
    source: Source,
    /,
    *,
    into: str | os.PathLike[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    max_bytes: int | None = None,
) -> Converted[MessageBody]:
    """Return the body of a message: its parts in order, including parts within parts.

    File names are read in the form of each RFC (2047, 2231, 7578), and as raw UTF-8. `Content-ID`,
    `Content-Location` and the name of a form's field are metadata of the part.

    Arguments:
        source: bytes, the path of a file, or a binary file.
        into: a directory for the content, which is kept in memory if not given. It stays empty if
            the message is refused.
        limits: the limits of the reader; `part_bytes` does not apply to content in a directory, and
            there are never more than 50,000 parts.
        max_bytes: bytes of the message; `limits.json_bytes` in memory, 4 GiB in a directory.

    Raises:
        DecodeError: it is not a multipart message, it is damaged, or it goes beyond a limit.

    Examples:
        >>> data = from_body(MessageBody([Part("# Cats", name="/cats.md")])).value
        >>> to_body(data).value.names()
        ['/cats.md']
    """
    directory = None if into is None else Path(require_path(into))
    parts: list[Part] = []
    names: set[str] = set()
    losses: list[Loss] = []
    with opened(source) as file, ExitStack() as undo:
        reader = MultipartReader(
            file, max_bytes or most_bytes(directory, limits), min(limits.parts, _PARTS)
        )
        for leaf in reader.leaves():
            about = _about(leaf, names, losses, limits)
            parts.append(Part(_content(leaf, directory, limits, undo), **about))
            names.add(about["name"])
        undo.pop_all()
    return Converted(MessageBody(parts), [*losses, *reader.losses], _rest(reader))


def _rest(reader: MultipartReader) -> dict[str, Any]:
    """Return what a message says beside its parts: its headers and its subtype."""
    subtype = reader.subtypes[0] if reader.subtypes else "mixed"
    headers = [
        [key, _one_line(value)]
        for key, value in reader.headers
        if key.lower() not in _OWN and _HEADER_NAME.fullmatch(key)
    ]
    rest = {"format": "mime", "subtype": subtype if subtype in SUBTYPES else "mixed"}
    missed = sorted({key for key, _ in headers if key.lower() in _READERS})
    return {**rest, **({"headers": headers} if headers else {}), **(
        {"missed": missed} if missed else {})}  # fmt: skip


def _content(leaf: Leaf, directory: Path | None, limits: Limits, undo: ExitStack) -> Any:
    most = limits.part_bytes if directory is None else None
    with damage_told(DAMAGES, f"part {leaf.number}"):
        return kept(_bounded(leaf, most), directory, leaf.number, undo)


def _bounded(leaf: Leaf, most: int | None) -> Iterator[bytes]:
    size = 0
    for chunk in leaf.content:
        size += len(chunk)
        if most is not None and size > most:
            raise DecodeError(f"part {leaf.number} has more than {most:,} bytes; give into=…")
        yield chunk


def _about(leaf: Leaf, taken: Container[str], losses: list[Loss], limits: Limits) -> dict[str, Any]:
    """Return the description of a part in its headers."""
    head: Any = leaf.head
    with damage_told(DAMAGES, f"part {leaf.number}"):
        _read_raw_text(head)
        stated = _one_line(head.get("Content-Type")) or head.get_default_type()
        filename = _decoded(head.get_filename())
        field = _decoded(head.get_param("name", header="Content-Disposition"))
    kind = _NAMES.sub("", stated)
    try:
        kind = by_usual_name(check_content_type(kind))
    except MessageBodyError:
        why = f"{quote(stated)} is not a content type"
        where = f"part {leaf.number}"
        losses.append(Loss(LossKind.DOWNGRADED, where, why, affects=Affected.LABELS))
        kind = OCTET_STREAM
    metadata = {_member(key): _one_line(head[key]) for key in _HEADERS if head.get(key)}
    if field:
        metadata["formField"] = field
    name = None
    if filename:
        name = "/" + filename.removeprefix("/")
        if not fits(name, limits) or name in taken:
            name = safe_name(filename, directory="/", taken=taken)
            metadata["filename"] = filename
    return {"name": name, "content_type": kind, "metadata": metadata or None}


def _read_raw_text(part: Any) -> None:
    """Read headers with raw UTF-8, which the library keeps as single bytes."""
    for key, value in [*part.raw_items()]:
        if key.lower() in _READ and not value.isascii():
            text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            part.replace_header(key, text)


def _member(header: str) -> str:
    return header[0].lower() + header[1:].replace("-", "")


def _one_line(header: Any) -> str:
    """Return a header as one line of text."""
    return " ".join(str(header or "").split())


def _decoded(value: Any) -> str:
    """Return decoded text: RFC 2231 has three pieces, RFC 2047 words, and RFC 7578 plain text."""
    if value is None:
        return ""
    text = email.utils.collapse_rfc2231_value(value)
    if 0 < text.count("=?") <= _WORDS:
        pieces = email.header.decode_header(text)
        text = "".join(piece.decode(charset or "ascii", "replace") if isinstance(piece, bytes)
                       else piece for piece, charset in pieces)  # fmt: skip
    return text


def from_body(
    body: MessageBody,
    /,
    *,
    rest: Any = None,
    subtype: str | None = None,
    resolver: Resolver | None = None,
) -> Converted[bytes]:
    """Return the message of a body; equal bodies give equal bytes.

    Arguments:
        body: the body.
        rest: what `to_body` returned as `rest`: headers such as the subject, and the subtype.
            Members of a message of another format are losses.
        subtype: "mixed", "related", "alternative" or "form-data"; that of `rest` by default, or
            else "mixed".
        resolver: reads references; without one they are left out, and reported as losses.

    Raises:
        InvalidArgument: the subtype is not one of these, a value would break out of its header, or
            there are more than 50,000 parts.
    """
    return packed(partial(write, body, rest=rest, subtype=subtype, resolver=resolver))


def write(
    body: MessageBody,
    file: BinaryIO,
    /,
    *,
    rest: Any = None,
    subtype: str | None = None,
    resolver: Resolver | None = None,
) -> list[Loss]:
    """Write the message of a body to a file, part by part, and return what was lost."""
    headers, subtype, losses = _left(rest, subtype)
    if len(require_body(body)) > _PARTS:
        expected = f"a body of at most {_PARTS:,} parts, which is what readers take"
        raise InvalidArgument(expected, f"{len(body):,} parts")
    if subtype not in SUBTYPES:
        raise InvalidArgument(f"subtype as one of {', '.join(SUBTYPES)}", subtype)
    head = [*headers, "MIME-Version: 1.0"]
    head.append(f'Content-Type: multipart/{subtype}; boundary="{_BOUNDARY}"')
    file.write("\r\n".join([*head, "", ""]).encode("ascii"))
    for number, each in enumerate(leaving(body, losses, resolver, keeps=_KEPT)):
        kind = _type_of(each, losses)
        lines = [f"--{_BOUNDARY}", *_headers(each, kind, subtype, number), "", ""]
        file.write("\r\n".join(lines).encode("ascii"))
        with each.open() as content:
            file.writelines(_encoded(content))
    file.write(f"--{_BOUNDARY}--\r\n".encode("ascii"))
    return losses


def _left(rest: Any, subtype: str | None) -> tuple[list[str], str, list[Loss]]:
    """Return the headers and the subtype of the rest of a message, and what it loses here."""
    own = rest if isinstance(rest, dict) and rest.get("format") == "mime" else {}
    if not own:
        losses = [*left_behind(rest, "mime has no place for this member of the message")]
        return [], subtype or "mixed", losses if rest else []
    headers = own.get("headers", [])
    if not isinstance(headers, list):
        raise EnvelopeError("rest is not what to_body returned: 'headers' is not a list")
    lines, losses = [], []
    for pair in headers:
        match pair:
            case [str(key), str(value)] if _HEADER_NAME.fullmatch(key) and key.lower() not in _OWN:
                # Only words that mail encodes are outside of ASCII; others would break the message.
                if _SAFE.fullmatch(value):
                    lines.append(f"{key}: {value}")
                else:
                    why = "its text is not printable ASCII"
                    losses.append(Loss(LossKind.OMITTED, key, why, affects=Affected.LABELS))
            case _:
                raise EnvelopeError("rest is not what to_body returned: a header can't be read")
    stated = own.get("subtype")
    return lines, subtype or (stated if stated in SUBTYPES else "mixed"), losses


def _encoded(content: BinaryIO) -> Iterator[bytes]:
    """Yield content as lines of base64."""
    rest = b""
    while chunk := content.read(CHUNK):
        rest += chunk
        whole = len(rest) // _LINE * _LINE
        for start in range(0, whole, _LINE):
            yield base64.encode(rest[start : start + _LINE]).encode() + b"\r\n"
        # Kept for the next chunk, because padding is only allowed at the end of base64.
        rest = rest[whole:]
    if rest:
        yield base64.encode(rest).encode() + b"\r\n"


def _type_of(each: Leaving, losses: list[Loss]) -> str:
    """Return the type that a part goes out with: readers take mail in mail apart."""
    stated = each.part.content_type
    if not essence(stated).startswith(("message/", "multipart/")):
        return stated
    why = f"{stated} goes out as {OCTET_STREAM}: readers would take it apart"
    losses.append(Loss(LossKind.CONVERTED, each.where, why, affects=Affected.LABELS))
    return OCTET_STREAM


def _headers(each: Leaving, kind: str, subtype: str, number: int) -> Iterator[str]:
    metadata = each.part.metadata or {}
    yield f"Content-Type: {_line(kind)}"
    yield "Content-Transfer-Encoding: base64"
    path = metadata["filename"] if states_filename(each.part) else each.path
    said = f"; filename*=utf-8''{percent(path, safe='')}" if each.part.name else ""
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
    """Return the value of a header, which must not begin another header."""
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
    return _MULTIPART.search(head) is not None


def iter_findings(message: Source, /) -> Iterator[Finding]:
    """Yield why a message can't be read."""
    return findings(lambda: to_body(message))
