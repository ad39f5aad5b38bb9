"""The content of a part: where its bytes come from, and how a browser may treat them."""

import copy
import os
import re
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, Final
from urllib.parse import quote

import attrs

from messagebody._core import (
    CHUNK,
    KEY_PREFIX,
    Part,
    essence,
    hex_digits,
    is_data_url,
    is_shown_inline,
    parse_content_type,
)
from messagebody.serving._messages import ServedBody
from messagebody.storage import Resolver, Store

_PUBLIC: Final = Resolver(public_https=True)
"""Says which references anybody can read, without a look-up; nothing is read through it."""
_PIECE: Final = CHUNK // 8
"""Bytes of content in memory that are sent at once; a store is asked for more."""


@attrs.frozen
class PartContent:
    """The bytes of a part.

    Arguments:
        size: their number.
        content_type: the type.
        tag: the entity tag, without quotes: the digits of the digest; None if it is unknown.
        name: the name of a file that a browser saves.
        read: returns a range, given its start and end.
        blocks: whether reading takes time, as from a store or a server.
        piece: bytes that are read and sent at once.
    """

    size: int
    content_type: str
    tag: str | None
    name: str
    read: Callable[[int, int], bytes]
    blocks: bool = True
    piece: int = CHUNK

    @property
    def disposition(self) -> str:
        """Whether a browser shows it: only what can't run as a page."""
        is_shown = is_shown_inline(self.content_type)
        return saved_as("inline" if is_shown else "attachment", self.name)


def saved_as(way: str, name: str) -> str:
    """Return the header that says what a browser does with content, and what it calls the file."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    also = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'{way}; filename="{plain}"{also}'


@attrs.frozen
class Elsewhere:
    """Content that a client reads itself, because anybody can.

    Arguments:
        url: its public URL.
    """

    url: str


def content_of(
    served: ServedBody, index: int, resolver: Resolver | None
) -> PartContent | Elsewhere:
    """Return the content of a part, or where it is.

    Arguments:
        served: the message.
        index: the position of the part.
        resolver: reads references that are not public; None for the closed default.

    Raises:
        UnsafeReference: it is a reference that nobody opened.
        StoreError: its size is not known, and its store can't be asked.
    """
    part = served.body[index]
    if part.url is None or is_data_url(part.url):
        return _inline(served, index, part)
    key = served.own_key(part)
    if key is not None and served.own is not None and part.size is not None:
        return _content(served, index, part, part.size, partial(served.own.read_range, key))
    if _PUBLIC.allows(part.url):
        return Elsewhere(part.url)
    return _reference_content(served, index, part, part.url, resolver or Resolver())


def reader_of(store: Store | None, resolver: Resolver | None) -> Resolver:
    """Return a resolver that reads the objects of the messages' own store, too.

    Arguments:
        store: the own store; None if there is none.
        resolver: reads other references; None for the closed default.
    """
    reader = copy.copy(resolver or Resolver())
    if store is not None:
        # Below this prefix, a URL says the digest, so no message leads to another file.
        own = store.below(KEY_PREFIX.rstrip("/"))
        reader.entries = (*Resolver(allow=own).entries, *reader.entries)
    return reader


def _inline(served: ServedBody, index: int, part: Part) -> PartContent:
    if part.text is not None and len(part.text) > CHUNK:
        # Not encoded as a whole: a client may take its time with it, and a thousand clients more.
        file = part.open()
        size = file.seek(0, os.SEEK_END)
        found = _content(served, index, part, size, partial(_read_file, file))
        return attrs.evolve(found, piece=_PIECE)
    data = memoryview(part.read_bytes())
    found = _content(served, index, part, len(data), lambda start, end: bytes(data[start:end]))
    return attrs.evolve(found, piece=_PIECE, blocks=False)


def _read_file(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _reference_content(
    served: ServedBody, index: int, part: Part, url: str, resolver: Resolver
) -> PartContent:
    subject, budget = part.label, resolver.budget()
    resolver.source(url, subject=subject)
    size = part.size
    if size is None:
        size = resolver.size(url, subject=subject, budget=budget)
    read = partial(resolver.read_range, url, subject=subject, budget=budget)
    return _content(served, index, part, size, read)


def _content(
    served: ServedBody,
    index: int,
    part: Part,
    size: int,
    read: Callable[[int, int], bytes],
) -> PartContent:
    digest = served.digest_of(index, part)
    name = f"{served.id}-{index}" if part.name is None else part.name.rpartition("/")[2]
    tag = None if digest is None else hex_digits(digest)
    return PartContent(size, _type_of(part), tag, name, read)


def _type_of(part: Part) -> str:
    """Return the type of a part; that of text says its charset, or a browser would guess it."""
    kind = part.content_type
    is_text = part.text is not None and essence(kind).startswith("text/")
    if is_text and "charset" not in parse_content_type(kind).parameters:
        return f"{kind}; charset=utf-8"
    return kind
