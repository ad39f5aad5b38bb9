"""Long contents of a document, cut out before the rest is parsed.

What agents send most is a short answer and large parts. A parser copies their text, and the proof
that no member was lost looks at each of its bytes twice. Both are spared here: a long content is
found by the quotes around it, a mark takes its place, and what remains is a short document. Base64
is then decoded from the bytes of the document.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from messagebody._wire import base64
from messagebody._wire.members import PartRecord

SHORTEST: Final = 4096
"""The shortest document that is looked through, in bytes: a shorter one is parsed as quickly."""
LONG: Final = 1024
"""A content of more bytes is cut out."""
# A document with this many bytes between its contents, on average, is worth looking through.
_SPARSE: Final = 1024

MARK: Final = "\x7f"
"""The content that stands for one that was cut out; no other content may have its character."""
_MARK: Final = b'"\x7f"'
_ESCAPED: Final = b"\\u007"  # how else the character could be written
_KEY: Final = b'"content"'
_KEY_SIZE: Final = len(_KEY)
_BACKSLASH: Final = ord("\\")
_BACKSLASHES: Final = 64  # before a quote; with more, the document is left to the parser
_FEW: Final = 4

_decode: Final = msgspec.json.Decoder(str).decode


class Cut(NamedTuple):
    """A document without its long contents.

    Arguments:
        document: what remains, with a mark for each.
        contents: the contents with their quotes, in order.
    """

    document: bytes
    contents: Sequence[memoryview]

    def fill_in(self, records: Sequence[PartRecord]) -> bool:
        """Put the contents into the records of the document; return whether each found its place.

        Raises:
            ValueError, msgspec.DecodeError: a content is no string of JSON.
        """
        marked = [record for record in records if record.content == MARK]
        # A member of the same name in metadata is no content.
        if len(marked) != len(self.contents):
            return False
        for record, content in zip(marked, self.contents, strict=True):
            record.content = _read(content, is_base64=record.encoding == "base64")
        return True


def cut(document: bytes) -> Cut | None:
    """Return a document without its long contents, or None if it has none or many short ones.

    The document may be any bytes. Nothing changes but what stands between the quotes of a content,
    so the rest is legal exactly if the whole is, but for the contents.
    """
    view = memoryview(document)
    pieces: list[memoryview] = []
    contents: list[memoryview] = []
    # How many short contents are looked at, which is a small share of what parsing them takes.
    patience = 2 + len(document) // SHORTEST
    taken = number = 0
    find = document.find
    at = find(_KEY)
    while at >= 0:
        number += 1
        if number > patience and at < number * _SPARSE:
            return None
        after = at + _KEY_SIZE
        start = _start(document, after)
        if start:
            after = find(b'"', start + 1) + 1
            # Most strings have no backslash before their end, and need no closer look.
            if not after or document[after - 2] == _BACKSLASH:
                after = _end(document, start)
                if not after:
                    return None
            if after - start > LONG:
                pieces.append(view[taken:start])
                contents.append(view[start:after])
                taken = after
        at = find(_KEY, after)
    if not contents:
        return None
    pieces.append(view[taken:])
    rest = _MARK.join(pieces)
    is_clear = rest.count(b"\x7f") == len(contents) and _ESCAPED not in rest
    return Cut(rest, contents) if is_clear else None


def without(document: bytes, contents: Sequence[bytes]) -> bytes | None:
    """Return a document without some contents, whose spelling is known; None if one is not found.

    Arguments:
        document: the document.
        contents: strings of JSON, in their order in the document.
    """
    view = memoryview(document)
    pieces: list[memoryview] = []
    taken = 0
    find, starts_with = document.find, document.startswith
    for content in contents:
        after = taken
        while True:
            after = find(_KEY, after) + _KEY_SIZE
            if after < _KEY_SIZE:
                return None
            start = _start(document, after)
            if starts_with(content, start):
                break
        pieces.append(view[taken:start])
        taken = start + len(content)
    return b"".join([*pieces, view[taken:]])


def _start(document: bytes, after: int) -> int:
    """Return where the string behind a name begins; 0 for another value or an odd spelling."""
    if document.startswith(b':"', after):
        return after + 1
    return after + 2 if document.startswith(b': "', after) else 0


def _end(document: bytes, start: int) -> int:
    """Return the end of the string that begins at a quote; 0 if it has none or many quotes."""
    end = document.find(b'"', start + 1)
    inside = 0
    while end > 0 and document[end - 1] == _BACKSLASH:
        before = document[max(start + 1, end - _BACKSLASHES) : end]
        number = len(before) - len(before.rstrip(b"\\"))
        if number % 2 == 0 and number < _BACKSLASHES:
            break
        inside += 1
        # A text of JSON has quotes by the thousand, which the parser passes more quickly.
        if number == _BACKSLASHES or (inside > _FEW and end - start < inside * _SPARSE):
            return 0
        end = document.find(b'"', end + 1)
    return end + 1


def _read(content: memoryview, *, is_base64: bool) -> str | bytes:
    if is_base64:
        try:
            return base64.decode_view(content[1:-1])
        except ValueError:
            pass  # it may be legal in another spelling; the checks of all contents decide
    return _decode(content)
