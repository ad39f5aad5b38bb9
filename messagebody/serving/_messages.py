"""The messages of a server: found by id, listed newest first, and replaced as a whole."""

import logging
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import attrs

from messagebody._core import (
    MESSAGE_SUFFIX,
    MIB,
    MessageBody,
    OneStoredMessage,
    Part,
    StoredMessage,
    StoredMessages,
    columns,
    did_you_mean,
    escape,
    hex_digits,
    is_message_key,
    is_url,
    key_of,
    messages_at,
    quote,
    redact_urls,
    require_body,
    sha256_of,
)
from messagebody.errors import DecodeError, DuplicateName, InvalidArgument, PartNotFound
from messagebody.serving._limits import ServingLimits
from messagebody.serving._problems import HttpProblem
from messagebody.storage import Bytes, Store

_logger: Final = logging.getLogger(__name__)
_ID: Final = re.compile(r"[^/\\\\.~\ufffd][^/\\\\\ufffd]{0,199}")
"""The ids of messages: one segment of a path, in which nothing is hidden."""
UPLOADS: Final = "uploads"
"""The segment where parts are put before their message; no message has this id."""
_SMALL: Final = MIB
"""Bytes of a message that is read without waiting for others."""
_LOOKED_AT: Final = 10_000
_SHOWN: Final = 3
_CUT: Final = 300
_COMPARED: Final = 1_000
"""Names of parts among which one is looked for that somebody may have meant."""
_MOST_TAGS: Final = 100
_POSITION: Final = re.compile(r"~(0|[1-9][0-9]{0,8})")


@attrs.frozen(eq=False)
class Form:
    """A form of a message, which all clients share that get it at the same time.

    Arguments:
        data: the bytes.
        tag: their entity tag, without quotes; by default, the digits of their digest.
        headers: further headers of the answer, with "_" for "-".
    """

    data: bytes
    tag: str = attrs.field()
    headers: Mapping[str, str] = attrs.field(factory=dict)

    @tag.default
    def _digits(self) -> str:
        return hex_digits(sha256_of(self.data))


def is_id(name: str) -> bool:
    """Return whether a message can have this id: what can be read, and written in one segment."""
    is_segment = _ID.fullmatch(name) is not None and name.isprintable()
    return is_segment and name != UPLOADS and name == name.strip()


class Dated(NamedTuple):
    """A message in the list."""

    modified: float
    id: str
    size: int


@attrs.define(eq=False)
class ServedBody:
    """A message as it is answered.

    Arguments:
        id: its id.
        body: the body.
        own: the store whose objects belong to the messages; None if there is none.
    """

    id: str
    body: MessageBody
    own: Store | None
    tags: dict[Any, str] = attrs.field(factory=dict, init=False)
    """The entity tags of other forms of the message, once they are known."""
    _forms: WeakValueDictionary[Any, Form] = attrs.field(factory=WeakValueDictionary, init=False)
    _forming: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    _digests: dict[int, str | None] = attrs.field(factory=dict, init=False)
    _digesting: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    @cached_property
    def data(self) -> bytes:
        """The JSON, as it is stored."""
        return self.body.to_json_bytes()

    @cached_property
    def state(self) -> str:
        """Digits that change with everything in the message, metadata and URLs too."""
        return hex_digits(sha256_of(self.data))

    @cached_property
    def _positions(self) -> dict[str | None, int]:
        return {name: index for index, name in enumerate(columns(self.body).names)}

    def form(self, name: Hashable, make: Callable[[], Form]) -> Form:
        """Return a form, which is made if no client is being sent it just now.

        Arguments:
            name: what the form depends on.
            make: makes it.
        """
        with self._forming:
            found = self._forms.get(name)
            if found is None:
                found = self._forms[name] = make()
                # Clients with many names of the server drop others.
                if len(self.tags) >= _MOST_TAGS:
                    self.tags.clear()
                self.tags[name] = found.tag
            return found

    def index_of(self, place: str) -> int:
        """Return the position of the part at a path, which is its name or `/~` and its position.

        Raises:
            PartNotFound: there is none.
        """
        if match := _POSITION.fullmatch(place.removeprefix("/")):
            index = int(match[1])
            if index < len(self.body):
                return index
            raise PartNotFound(place)
        if place not in self._positions:
            names = islice((name for name in self._positions if name is not None), _COMPARED)
            raise PartNotFound(place, did_you_mean(place[:_CUT], names))
        return self._positions[place]

    def digest_of(self, index: int, part: Part) -> str | None:
        """Return the digest of a part, which is computed once."""
        with self._digesting:
            if index not in self._digests:
                self._digests[index] = part.digest
            return self._digests[index]

    def own_key(self, part: Part) -> str | None:
        """Return the key of a part's content if it is an object of the messages' own store.

        The URL must be the one that the digest has there, so that no message leads to other files
        in the directory.
        """
        found = part.reference
        if self.own is None or found is None or found.digest is None or found.size is None:
            return None
        key = key_of(found.digest)
        return key if found.url == self.own.url_of(key) else None


class OneBody:
    """One message in memory, which does not change.

    Arguments:
        body: the body.
    """

    store = None

    def __init__(self, body: MessageBody) -> None:
        self._served = ServedBody("message", body, None)
        self._entry = Dated(time.time(), "message", len(self._served.data))

    def find_small(self, name: str) -> ServedBody:
        """Return the message."""
        return self.find(name)

    def find(self, name: str) -> ServedBody:
        """Return the message."""
        if name != self._served.id:
            raise not_found()
        return self._served

    def newest(self) -> list[Dated]:
        """Return the list of the one message."""
        return [self._entry]


class StoredBodies:
    """The messages of a store, or the one at a key of it, each as it is now.

    Arguments:
        store: the store.
        limits: the limits.
        only: the key of the only message to serve; None for all.
    """

    def __init__(self, store: Store, limits: ServingLimits, only: str | None = None) -> None:
        self.store = store
        self._limits = limits
        self._only = only
        self._all = StoredMessages(store, limits.message)
        self._cache = _LastRead(limits.cached_bytes)
        # One large document at a time: each may take many times its size in memory.
        self._decoding = threading.Lock()
        self._writing = threading.Lock()
        self._listed: list[Dated] = []
        self._lasts_until = 0.0

    def find_small(self, name: str) -> ServedBody | None:
        """Return a message if it is in memory as it is now, or small enough to be read at once."""
        found = self._look_up(name)
        served = self._cache.get(name, found)
        if served is None and found.stat.size <= _SMALL:
            served = self._read(name, found)
        return served

    def find(self, name: str) -> ServedBody:
        """Return a message as it is now."""
        found = self._look_up(name)
        if found.stat.size <= _SMALL:
            return self._cache.get(name, found) or self._read(name, found)
        with self._decoding:
            return self._cache.get(name, found) or self._read(name, found)

    def _read(self, name: str, found: StoredMessage) -> ServedBody:
        served = self._decode(name, found)
        self._cache.put(name, found, served)
        return served

    def find_old(self, name: str) -> ServedBody | None:
        """Return the message that a writer would replace, None if there is none.

        Raises:
            HttpProblem: no message can have this id here.
        """
        is_other = self._only is not None and name != self._only.removesuffix(MESSAGE_SUFFIX)
        if is_other or not is_id(name):
            raise not_found()
        try:
            return self.find(name)
        except HttpProblem:
            return None

    def _look_up(self, name: str) -> StoredMessage:
        if not is_id(name):
            raise not_found()
        try:
            if self._only is None:
                return self._all[name]
            if name == self._only.removesuffix(MESSAGE_SUFFIX):
                return OneStoredMessage(self.store, self._only, self._limits.message)[""]
        except KeyError:
            pass
        if (
            name.endswith(MESSAGE_SUFFIX)
            and self._all.get(name.removesuffix(MESSAGE_SUFFIX)) is not None
        ):
            raise not_found(f"; its id has no {MESSAGE_SUFFIX}")
        raise not_found()

    def warn_of_left_out(self) -> None:
        """Log which messages no id can name, among the first objects of the store."""
        keys = (found.key for found in islice(self.store.iter_objects(), _LOOKED_AT))
        left_out = [
            key
            for key in keys
            if is_message_key(key) and not is_id(key.removesuffix(MESSAGE_SUFFIX))
        ]
        if left_out:
            shown = ", ".join(map(quote, sorted(left_out)[:_SHOWN]))
            more = ", …" if len(left_out) > _SHOWN else ""
            folders = any("/" in key for key in left_out)
            advice = "; serve a folder by itself" if folders else ""
            _logger.warning("left out, as no id can name them: %s%s%s", shown, more, advice)

    def _decode(self, name: str, found: StoredMessage) -> ServedBody:
        try:
            return ServedBody(name, found(), self.store)
        except DecodeError as error:
            # A file of another kind in the directory is not served.
            _logger.warning("%s is not served: %s", quote(name), error)
            why = escape(redact_urls(error.statement), limit=_CUT)
            raise not_found(f": the file of this name is none. {why}") from error

    def newest(self) -> list[Dated]:
        """Return all messages, the newest first."""
        begun = time.monotonic()
        if begun > self._lasts_until:
            self._listed = sorted(self._entries(), key=lambda each: (-each.modified, each.id))
            # Requests must not list a huge store as often as they come.
            self._lasts_until = begun + 10 * (time.monotonic() - begun)
        return self._listed

    def _entries(self) -> list[Dated]:
        if self._only is not None:
            stat = self.store.stat(self._only)
            stats = {} if stat is None else {self._only.removesuffix(MESSAGE_SUFFIX): stat}
        else:
            stats = self._all.stats()
        return [
            Dated(stat.modified or 0.0, name, stat.size)
            for name, stat in stats.items()
            if is_id(name)
        ]

    def lock(self) -> threading.Lock:
        """Return the lock of all changes: a message is compared and replaced by one writer."""
        return self._writing

    def write(self, name: str, body: MessageBody, *, is_new: bool) -> ServedBody:
        """Write a message, completely or not at all.

        Raises:
            DuplicateName: it is to be new, and somebody else wrote it meanwhile.
        """
        served = ServedBody(name, body, self.store)
        key = self._only or name + MESSAGE_SUFFIX
        written = self.store.put(
            key, Bytes(served.data), content_type="application/json", if_absent=is_new
        )
        self._lasts_until = 0.0
        if not written:
            raise DuplicateName(name)
        return served


class _LastRead:
    """The messages that were read last, up to a number of bytes of their JSON, or a larger one.

    Arguments:
        most: the bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, tuple[StoredMessage, ServedBody]] = OrderedDict()
        self._bytes = 0
        self._in_use: WeakValueDictionary[str, ServedBody] = WeakValueDictionary()
        self._origins: WeakKeyDictionary[ServedBody, StoredMessage] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, name: str, found: StoredMessage) -> ServedBody | None:
        """Return a message if it was not written again since."""
        with self._lock:
            # One that is being sent is there, whether or not it is kept.
            served = self._in_use.get(name)
            # Those that were written shortly before equal no other.
            if served is None or self._origins[served] != found:
                return None
            if name in self._held:
                self._held.move_to_end(name)
            return served

    def put(self, name: str, found: StoredMessage, served: ServedBody) -> None:
        """Keep a message, in place of those that nobody read for longest."""
        if found.seen is not None:
            return
        with self._lock:
            self._drop(name)
            self._in_use[name], self._origins[served] = served, found
            self._held[name] = found, served
            self._bytes += found.stat.size
            # Even a larger one stays until the next, or each request for it would decode it again.
            while self._bytes > self._most and len(self._held) > 1:
                self._drop(next(iter(self._held)))

    def _drop(self, name: str) -> None:
        held = self._held.pop(name, None)
        if held is not None:
            self._bytes -= held[0].stat.size


def open_messages(source: Any, limits: ServingLimits) -> OneBody | StoredBodies:
    """Return the messages of a source.

    Arguments:
        source: a body, an open store, the path or URL of a directory of messages, or of one.
        limits: the limits.

    Raises:
        InvalidArgument: it is something else.
        OSError: nothing is at the path.
        StoreError: the URL is not that of a store.
    """
    if isinstance(source, Store):
        return StoredBodies(source, limits)
    if isinstance(source, str | os.PathLike):
        found = messages_at(source, limits.message)
        if isinstance(found, OneStoredMessage):
            return StoredBodies(found.store, limits, _served_key(found.key))
        made = StoredBodies(found.store, limits)
        if not is_url(str(source)):
            made.warn_of_left_out()
        return made
    return OneBody(require_body(source))


def _served_key(key: str) -> str:
    if is_id(key.removesuffix(MESSAGE_SUFFIX)):
        return key
    expected = (
        "a file whose name can be an id: not hidden, without ~ at its start or what can't be seen"
    )
    raise InvalidArgument(expected, got=key)


def not_found(why: str = "") -> HttpProblem:
    """Return the answer for a message that is not there."""
    return HttpProblem(HTTPStatus.NOT_FOUND, f"there is no such message{why}")
