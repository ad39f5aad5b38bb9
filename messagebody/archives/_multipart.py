"""The parts of a multipart message, read from a file line by line.

Python's `email` only parses the headers, because its parser keeps several copies of all content.
The parsers of web frameworks read forms only: they refuse parts without a `Content-Disposition`.
"""

import binascii
import re
import string
from collections.abc import Iterator
from contextlib import contextmanager
from email.errors import MessageError
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import BinaryIO, Final

import attrs

from messagebody._core import quote
from messagebody.adapters import Loss, LossKind
from messagebody.archives._entries import CHUNK, damage_told
from messagebody.errors import DecodeError

# Parts within parts are read by recursion, and the sender decides their depth.
_DEPTH: Final = 20
_HEADER_BYTES: Final = 1024 * 1024
# The library takes some microseconds for a line of headers.
_HEADER_LINES: Final = 500_000
# The lines that the library takes as headers; any other line begins the content.
_HEADER: Final = re.compile(rb"From |[!-9;-~]*:|[\t ]")
_BASE64: Final = f"{string.ascii_letters}{string.digits}+/=".encode()
# A line that begins like a delimiter, without the white space at its end, which is no part of it.
_DELIMITER: Final = re.compile(rb"^--(?:[^ \t\r\n]++|[ \t\r]++(?!\n|\Z))*+", re.MULTILINE)
_NOT_BASE64: Final = bytes(each for each in range(256) if each not in _BASE64)
# At each ";", the library counts the quotes from the start again.
_PARAMETERS: Final = 100
_FORWARDED: Final = ("message/rfc822", "message/global")
_READERS: Final = frozenset({"subject", "from", "to", "cc", "date"})
"""The headers of a message within that somebody reads."""
_AS_IT_CAME: Final = ("", "7bit", "8bit", "binary")
DAMAGES: Final = (MessageError, ValueError, LookupError, TypeError, AttributeError)
"""The errors that the library raises for damaged headers and content."""


@attrs.frozen
class Leaf:
    """A part that holds no other parts.

    Arguments:
        number: its position among all of them, from 0.
        head: its headers.
        content: its decoded content, which must be read before the next part.
    """

    number: int
    head: "Message[str, str]"
    content: Iterator[bytes]


class MultipartReader:
    """Read the parts of a multipart message from a file, including parts within parts.

    Arguments:
        file: the message.
        max_bytes: the largest number of bytes to read.
        max_parts: the largest number of parts to read; empty ones count.
    """

    def __init__(self, file: BinaryIO, max_bytes: int, max_parts: int) -> None:
        self.losses: list[Loss] = []
        self.headers: list[tuple[str, str]] = []
        """The headers of the message."""
        self.subtypes: list[str] = []
        """The subtypes of multipart messages, the outermost first."""
        self._lines = _Lines(file, max_bytes)
        self._max_parts = max_parts
        self._begun = 0
        self._count = 0
        self._header_lines = 0

    def leaves(self) -> Iterator[Leaf]:
        """Yield the parts in order.

        Raises:
            DecodeError: it is not a multipart message, it is damaged, or too long.
        """
        head = self._head()
        boundary = None if head is None else _boundary(head)
        if head is None or boundary is None:
            raise DecodeError("it is not a multipart message")
        with damage_told(DAMAGES, "the message"):
            self.headers = [(key, str(value)) for key, value in head.items()]
        yield from self._parts(head, boundary, 0)
        if self._count == 0 and self.losses:
            raise DecodeError("the message has no part: its boundary is not in it")

    def _parts(self, head: "Message[str, str]", boundary: bytes, depth: int) -> Iterator[Leaf]:
        if depth > _DEPTH:
            raise DecodeError(f"the message has more than {_DEPTH} levels of parts")
        subtype = head.get_content_subtype()
        is_digest = subtype == "digest"
        if depth and subtype not in self.subtypes[1:]:
            why = f"its parts of multipart/{subtype[:40]} stand among the others"
            self.losses.append(Loss(LossKind.CONVERTED, "the message", why))
        self.subtypes.append(subtype)
        with self._lines.ended_by(b"--" + boundary) as delimiter:
            # Text before the first part is for readers that don't know multipart.
            self._lines.skip()
            while (is_last := self._lines.take(delimiter)) is False:
                self._begun += 1
                if self._begun > self._max_parts:
                    raise DecodeError(f"the message has more than {self._max_parts:,} parts")
                inner = self._head()
                if inner is not None:  # between two delimiters there is not even an empty part
                    inner.set_default_type("message/rfc822" if is_digest else "text/plain")
                    yield from self._part(inner, depth)
                self._lines.skip()
        if is_last is None:
            self._lose("the message", "its end is missing, and parts before it may be missing too")

    def _part(self, head: "Message[str, str]", depth: int) -> Iterator[Leaf]:
        boundary = _boundary(head)
        encoding = str(head.get("Content-Transfer-Encoding", "")).strip().lower()
        if boundary is not None:
            yield from self._parts(head, boundary, depth + 1)
        elif self._is_forwarded(head, encoding) and depth < _DEPTH:
            inner = self._head()
            if inner is not None:
                self._lose_headers(inner)
            yield from self._part(Message(compat32) if inner is None else inner, depth + 1)
        else:
            yield Leaf(self._count, head, self._content(encoding))
            self._count += 1

    def _is_forwarded(self, head: "Message[str, str]", encoding: str) -> bool:
        """Return whether a message within is read as its parts; one that is a file stays whole."""
        is_file = head.get_filename() is not None or head.get_content_disposition() == "attachment"
        # RFC 2046 allows no other encoding, but some programs write base64.
        return head.get_content_type() in _FORWARDED and encoding != "base64" and not is_file

    def _lose_headers(self, inner: "Message[str, str]") -> None:
        if any(key.lower() in _READERS for key in inner):
            why = "the message within has headers, such as its subject, that no part holds"
            self._lose(f"part {self._count}", why)

    def _head(self) -> "Message[str, str] | None":
        """Return the headers of a part, None if it has no line at all."""
        lines, size, is_whole = [], 0, True
        while (line := self._lines.line()) and (_HEADER.match(line) or not is_whole):
            lines.append(line)
            size, is_whole = size + len(line), line.endswith(b"\n")
            self._header_lines += 1
            if self._header_lines > _HEADER_LINES:
                raise DecodeError(f"the message has more than {_HEADER_LINES:,} lines of headers")
            if size > _HEADER_BYTES:
                raise DecodeError(f"the headers of a part have more than {_HEADER_BYTES:,} bytes")
        if not line and not lines:
            return None
        # The first line of a message in a mailbox is not a header: the content begins here.
        first = lines.pop() if len(lines) > 1 and lines[-1].startswith(b"From ") else b""
        # The blank line between headers and content is part of neither.
        self._lines.put_back(first + (line if line.strip(b"\r\n") else b""))
        with damage_told(DAMAGES, "the message"):
            # Newer policies parse headers by their grammar, and may raise errors for damaged
            # headers.
            head = BytesHeaderParser(policy=compat32).parsebytes(b"".join(lines))
        for key in ("Content-Type", "Content-Disposition"):
            if str(head.get(key, "")).count(";") > _PARAMETERS:
                raise DecodeError(f"{key} of a part has more than {_PARAMETERS} parameters")
        return head

    # Content

    def _content(self, encoding: str) -> Iterator[bytes]:
        if encoding == "base64":
            return self._from_base64()
        if encoding == "quoted-printable":
            return self._from_quoted()
        if encoding not in _AS_IT_CAME:
            why = f"its encoding {quote(encoding, limit=40)} is not known, and stays as it came"
            self.losses.append(Loss(LossKind.DOWNGRADED, f"part {self._count}", why))
        return self._blocks()

    def _from_base64(self) -> Iterator[bytes]:
        rest = more = b""
        for block in self._blocks():
            letters = block.translate(None, _NOT_BASE64)
            if b"=" in rest:
                more = more or letters.strip(b"=")  # read to the end, where the next part begins
                continue
            rest += letters
            if b"=" not in rest:
                whole = len(rest) // 4 * 4
                yield binascii.a2b_base64(rest[:whole])
                rest = rest[whole:]
        last, _, after = rest.partition(b"=")
        if more or after.strip(b"="):
            self._lose(f"part {self._count}", "the text after its base64 is not content")
        yield binascii.a2b_base64(last + b"==")  # padding may be missing

    def _from_quoted(self) -> Iterator[bytes]:
        rest = b""
        for block in self._blocks():
            rest += block
            # Only a line that is too long is cut, and the cut may be inside an escape.
            escape = rest.find(b"=", max(len(rest) - 2, 0))
            end = len(rest) if rest.endswith(b"\n") or escape < 0 else escape
            yield binascii.a2b_qp(rest[:end])
            rest = rest[end:]
        yield binascii.a2b_qp(rest)

    def _blocks(self) -> Iterator[bytes]:
        """Yield the unchanged content of a part, in pieces of whole lines."""
        held = b""
        while lines := self._lines.block():
            lines, held = held + lines, b""
            if lines.endswith(b"\n"):  # else it is a piece of a long line
                last = lines.rfind(b"\n", 0, -1) + 1
                lines, held = lines[:last], lines[last:]
            yield lines
        # The end of the last line belongs to the delimiter.
        yield held.removesuffix(b"\n").removesuffix(b"\r")

    def _lose(self, where: str, why: str) -> None:
        self.losses.append(Loss(LossKind.OMITTED, where, why))


class _Lines:
    """The lines of a message, which end at each delimiter.

    Delimiters are sought a block at a time, because a hostile message has more lines than a loop
    over them could pass in time.

    Arguments:
        file: the message.
        max_bytes: the largest number of bytes to read.
    """

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._read = 0
        self._delimiters: list[bytes] = []
        self._delimiter = b""
        """The delimiter that was just read, if any."""
        self._held = b""
        """What was put back."""
        self._block = b""
        self._start = 0
        """The first byte of the block that begins a line."""
        self._at = 0
        """The first byte of the block that was not read yet."""
        self._end = 0
        """The place of the next delimiter in the block, or the end of the block."""
        self._candidates: set[bytes] = set()
        """What looks like a delimiter in the block."""

    @contextmanager
    def ended_by(self, delimiter: bytes) -> Iterator[bytes]:
        """Let lines end at a delimiter, too."""
        self._delimiters.append(delimiter)
        self._find_delimiter()
        yield delimiter
        self._delimiters.pop()
        self._find_delimiter()

    def line(self) -> bytes:
        """Return the next line, or a piece of a long one; it is empty at a delimiter or the end."""
        if self._held or not self._has_more():
            return self._take_held()
        end = self._block.find(b"\n", self._at, self._end) + 1 or self._end
        line, self._at = self._block[self._at : end], end
        return line

    def block(self) -> bytes:
        """Return some lines; there are none at a delimiter or the end."""
        if self._held or not self._has_more():
            return self._take_held()
        lines, self._at = self._block[self._at : self._end], self._end
        return lines

    def skip(self) -> None:
        """Pass the lines up to the next delimiter."""
        while self.block():
            pass

    def put_back(self, lines: bytes) -> None:
        """Give lines again that were read last."""
        self._held = lines

    def take(self, delimiter: bytes) -> bool | None:
        """Pass a delimiter; tell whether it is the last, None if it is not at this position."""
        if not self._delimiter.startswith(delimiter):
            return None
        rest = self._delimiter[len(delimiter) :].rstrip(b" \t\r\n")
        if rest not in {b"", b"--"}:
            return None
        self._delimiter = b""
        return rest == b"--"

    def _take_held(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _has_more(self) -> bool:
        """Return whether a line follows that is not a delimiter; read a delimiter."""
        if self._delimiter or (self._at == len(self._block) and not self._load()):
            return False
        if self._at < self._end:
            return True
        end = self._block.find(b"\n", self._at) + 1 or len(self._block)
        self._delimiter, self._at = self._block[self._at : end], end
        self._find_delimiter()
        return False

    def _load(self) -> bool:
        """Read the next block, which ends with a line or is a piece of a long one."""
        begins_line = not self._block or self._block.endswith(b"\n")
        block = self._file.read(CHUNK)
        if not block.endswith(b"\n"):
            block += self._file.readline(CHUNK)
        if block.endswith(b"\r"):
            block += self._file.readline(1)  # the line end must not be split
        self._read += len(block)
        if self._read > self._max_bytes:
            raise DecodeError(f"the message has more than {self._max_bytes:,} bytes")
        self._start = 0 if begins_line else block.find(b"\n") + 1 or len(block)
        self._block, self._at = block, 0
        self._candidates = {*_DELIMITER.findall(block, self._start)}
        self._find_delimiter()
        return bool(block)

    def _find_delimiter(self) -> None:
        """Find the next delimiter in the rest of the block, of this or of an outer message.

        Those of an outer message count too, because the end of an inner one may be missing.
        """
        known = {each + end for each in self._delimiters for end in (b"", b"--")}
        self._end = len(self._block)
        if not known.isdisjoint(self._candidates):
            found = _DELIMITER.finditer(self._block, max(self._start, self._at))
            self._end = next((each.start() for each in found if each[0] in known), self._end)


def _boundary(head: "Message[str, str]") -> bytes | None:
    """Return the delimiter between the parts of a message, None if it has no parts."""
    with damage_told(DAMAGES, "the message"):
        stated = head.get_boundary() if head.get_content_maintype() == "multipart" else None
        return None if stated is None else stated.encode("utf-8", "surrogateescape")
