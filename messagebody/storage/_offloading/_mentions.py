"""Mentions of objects: their digests in texts, in values, and in the contents of a store.

A reference may stand in a text of a text: the JSON of a body as a string of another JSON, as a part
in base64, in a pickle or a URL. So whatever holds the 64 digits of an object mentions it. A mention
too many keeps garbage; one too few would lose content.
"""

import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import chain
from typing import Any, Final
from urllib.parse import unquote

import attrs

from messagebody._base.digests import from_hex_digits
from messagebody._base.media_types import is_text
from messagebody._base.sniffing import HEAD, content_type
from messagebody._base.threads import gather
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import ObjectNotFound
from messagebody.storage._stores import Stat, Store

_IS_DIGIT: Final = bytes(each in b"0123456789abcdef" for each in range(256))
_DIGITS: Final = b"\1" * 64
# Where digits begin in a run: before them may be the end of an escape, as in `%3A` or `\u003a`.
_STARTS: Final = (0, 2, 4)
_IS_BASE64: Final = bytes(
    chr(each).isalnum() or each in b"+/-_" if each < 128 else 0 for each in range(256)
)
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
# As long as a digest in base64.
_LONG: Final = b"\1" * 84
_OVERLAP: Final = 4096
"""Bytes of a piece that are in the next one, too: a digest that is in base64 ten times."""
_WIDE: Final = (b"2\x005\x006", b"2\0\0\x005\0\0\x006")
"""The end of the word in UTF-16 and UTF-32, whichever byte comes first."""
_ENDINGS: Final = re.compile(rb"\\+[nr]")
_PLAIN: Final = (bool, int, float, complex, type(None))


def digits_in(data: str | bytes | bytearray | memoryview) -> set[str]:
    """Return the digits of all digests that a text or bytes hold, however often they are escaped.

    Examples:
        >>> digits_in("s3://bucket/sha256/" + "0" * 64) == {"0" * 64}
        True
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    found: set[str] = set()
    pending = [bytes(data)]
    while pending:
        piece = pending.pop()
        found.update(map(bytes.decode, _written_in(piece.lower())))
        pending += _decoded(piece)
        if _is_wide(piece):
            pending.append(piece.replace(b"\0", b""))
    return found


def _written_in(lower: bytes) -> Iterator[bytes]:
    """Yield all that may be the digits of a digest, whatever stands before or behind them."""
    mask = lower.translate(_IS_DIGIT)
    start = mask.find(_DIGITS)
    while start >= 0:
        end = mask.find(0, start)
        run = lower[start : len(mask) if end < 0 else end]
        yield from (run[at : at + 64] for at in _STARTS if at + 64 <= len(run))
        start = mask.find(_DIGITS, start + len(run))


def _is_wide(data: bytes) -> bool:
    """Return whether bytes may hold text in which each letter has bytes of zero beside it."""
    is_text = len(data) < 3 * data.count(b"\0")  # such as base64, which does not hold the word
    return is_text or any(form in data for form in _WIDE)


def _decoded(data: bytes) -> Iterator[bytes]:
    """Yield what may be base64 in bytes, decoded."""
    # In lines, perhaps lines of a text in JSON or in a URL.
    joined = data.translate(None, b" \t\r\n")
    for escape, sign in ((b"%0A", b""), (b"%0D", b""), (b"%5C", b"\\")):
        joined = joined.replace(escape, sign)
    joined = _ENDINGS.sub(b"", joined) if b"\\" in joined else joined
    # Patterns take twenty times as long.
    mask = joined.translate(_IS_BASE64)
    start = mask.find(_LONG)
    while start >= 0:
        end = mask.find(0, start)
        run = joined[start : len(mask) if end < 0 else end].translate(_STANDARD)
        # What stands before may be letters, too.
        for shift in range(4):
            # One letter more than whole bytes has none of its own.
            end = len(run) - ((len(run) - shift) % 4 == 1)
            yield binascii.a2b_base64(run[shift:end] + b"==")
        start = mask.find(_LONG, start + len(run))


def digests_of(value: object) -> list[str]:
    """Return all digests in a value, in order: in a body, JSON, or objects of a framework."""
    found: set[str] = set()
    seen: dict[int, object] = {}  # with the objects, so that no other one gets the same id
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str | bytes | bytearray | memoryview):
            found |= digits_in(each)
        elif not isinstance(each, _PLAIN) and id(each) not in seen:
            seen[id(each)] = each
            pending += _inside(each)
    return [*map(from_hex_digits, sorted(found))]


def _inside(value: Any) -> Iterable[object]:
    """Return what a value consists of."""
    if isinstance(value, MessageBody):
        # A resolver reads a URL whose signs are escaped, too.
        return [value.to_json_bytes(), *(unquote(part.url) for part in value if part.url)]
    if isinstance(value, Part):
        return [MessageBody([value])]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | AbstractSet):
        return value
    # Dataclasses and models, whose text may leave fields out.
    slots = chain.from_iterable(getattr(kind, "__slots__", ()) for kind in type(value).__mro__)
    members = [getattr(value, name, None) for name in slots]
    return [*members, *getattr(value, "__dict__", {}).values(), repr(value)]


@attrs.define
class Mentions:
    """What the contents of a store mention; each of them is read at most once.

    Arguments:
        store: the store.
    """

    _store: Store
    _read: set[str] = attrs.field(factory=set, init=False)
    _found: set[str] = attrs.field(factory=set, init=False)

    def of(self, kept: Iterable[Stat], others: Mapping[str, Stat]) -> set[str]:
        """Return the digits of the other objects that kept ones mention, or those that these do.

        Arguments:
            kept: objects that stay.
            others: the other objects by their digits.

        Raises:
            StoreError: the store failed.
        """
        following = [*kept]
        while following and not others.keys() <= self._found:
            fresh = {each.key[-64:]: each for each in following}
            work = [partial(self._in, each) for digits, each in fresh.items()
                    if digits not in self._read]  # fmt: skip
            self._read |= fresh.keys()
            new = set().union(*gather(work)) & others.keys() - self._found
            self._found |= new
            following = [others[each] for each in new]
        return self._found & others.keys()

    def _in(self, stat: Stat) -> set[str]:
        try:
            head = self._store.read_range(stat.key, 0, HEAD)
            if not _may_mention(head):
                return set()
            is_whole = stat.size <= len(head)
            pieces = [head] if is_whole else _pieces(self._store.stream(stat.key))
            return set().union(*map(digits_in, pieces))
        except ObjectNotFound:
            return set()  # it is gone meanwhile


def _may_mention(head: bytes) -> bool:
    """Return whether a content is something else than a picture, a sound or a film."""
    kind = content_type(head)
    return is_text(kind) or not kind.startswith(("image/", "audio/", "video/"))


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield content in pieces of which no digest is outside."""
    last = b""
    for chunk in chunks:
        yield last + chunk
        last = (last + chunk)[-_OVERLAP:]
