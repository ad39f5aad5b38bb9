"""Who keeps objects in a store: the places of owners, their records, and the mark of a sweep.

Several programs can share a store. Each is an owner with a place `owners/NAME/`, where its objects
lie, and a record that says who it is, and how to ask it what it needs. Objects at the top of a
store belong to messages, which need no record.
"""

import json
import re
import secrets
import time
from types import TracebackType
from typing import Any, Final, Self

import attrs

from messagebody._base.media_types import JSON
from messagebody._base.text import count_of, escape, quote
from messagebody.errors import AccessDenied, InvalidArgument, ObjectNotFound, StoreError
from messagebody.storage._stores.base import Below, Stat, Store
from messagebody.storage._stores.blobs import Blob, Bytes

MESSAGES: Final = "messages"
"""The owner of the objects at the top of a store."""
PLACES: Final = "owners/"
"""The beginning of the keys of all that owners have, and of the mark."""
RECORD: Final = "owner.json"
"""The key of a record in the place of its owner."""
_MARK: Final = f"{PLACES}sweeping"
_TOKEN: Final = re.compile(rb"[0-9a-f]{16}")

_NAME: Final = re.compile("(?!(?:messages|owners|sha256|sweeping)$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LARGEST: Final = 4096
_AGAIN: Final = 3600.0
"""Seconds after which an owner checks its record again."""

LEASE: Final = 60.0
"""Seconds after its mark for which a sweep may delete; it begins no deletion after a third."""
_POLL: Final = 0.5
_SKEW: Final = 3600.0
"""Seconds by which the clock of a store may differ from that of the machine that sweeps it."""


@attrs.frozen
class OwnerRecord:
    """What a store says about an owner.

    Arguments:
        name: its name, below which its objects lie.
        kind: what it is, such as "langgraph".
        ask: the call that makes the owner for `sweep`.
    """

    name: str
    kind: str
    ask: str

    @property
    def place(self) -> str:
        """The beginning of the keys of its objects, without a slash."""
        return f"{PLACES}{self.name}"

    def to_bytes(self) -> bytes:
        """Return the record as it is stored."""
        return json.dumps(attrs.asdict(self)).encode()

    def __str__(self) -> str:
        return f"{self.name} ({escape(self.kind)}: {escape(self.ask)})"


UNREADABLE: Final = "unknown"
"""The kind of an owner whose record can't be read."""


def is_owner_name(text: str) -> bool:
    """Return whether an owner may have this name."""
    return _NAME.fullmatch(text) is not None


def read_record(store: Store, key: str) -> OwnerRecord | None:
    """Return the record of an owner; None if the key is not that of one.

    A record that can't be read still names its owner, so only its kind is `UNREADABLE`.
    """
    name = key.removeprefix(PLACES).removesuffix(f"/{RECORD}")
    if key != f"{PLACES}{name}/{RECORD}" or not is_owner_name(name):
        return None
    match _json(store.read_range(key, 0, _LARGEST)):
        case {"name": str(found), "kind": str(kind), "ask": str(ask)} if found == name:
            return OwnerRecord(name, kind[:200], ask[:200])
    return OwnerRecord(name, UNREADABLE, "an object with its name and needed()")


def owner_of_place(store: Store) -> str | None:
    """Return the owner whose place a store is, by the record at its top; None if that is none."""
    match _json(store.read_range(RECORD, 0, _LARGEST)):
        case {"name": str(name), "kind": str(), "ask": str()} if is_owner_name(name):
            return name
    return None


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def owned(
    store: Store,
    name: str,
    *,
    kind: str = "program",
    ask: str = "an object with its name and needed()",
) -> Store:
    """Return the store of an owner's objects; its first write names the owner in the store.

    Arguments:
        store: an open store, which may have other owners.
        name: the owner's name, a segment of a key.
        kind: what it is; two owners of one name must be of one kind.
        ask: the call that makes the owner for `sweep`, for whoever forgets it.

    Raises:
        InvalidArgument: the name is not a name of an owner, or the store is not open.

    Examples:
        >>> from messagebody import MessageBody, Part, offload
        >>> from messagebody.storage import open_store, owned
        >>> mine = owned(open_store("memory://programs"), "my-program")
        >>> offload(MessageBody([Part("cats " * 1000)]), mine, threshold=0)[0].url[:42]
        'memory://programs/owners/my-program/sha256'
    """
    if not isinstance(store, Store):
        raise InvalidArgument("an open store", store, "owned(open_store(…), name)")
    if not isinstance(name, str) or not is_owner_name(name):
        expected = "an owner's name of letters, digits, '.', '_' and '-'"
        raise InvalidArgument(expected, got=quote(name), hint="owner='chat'")
    return _Owned(store, OwnerRecord(name, kind, ask))


class _Owned(Below):
    """The objects of an owner, in its place."""

    def __init__(self, store: Store, record: OwnerRecord) -> None:
        super().__init__(store, record.place)
        self._record = record
        self._until = 0.0

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        """Write an object; the owner is named first, so that no object is without one.

        Raises:
            StoreError: the store names an owner of another kind.
        """
        if time.monotonic() >= self._until:
            self._name()
        return super().put(key, blob, content_type=content_type, if_absent=if_absent)

    def _name(self) -> None:
        mine = self._record
        if not super().put(RECORD, Bytes(mine.to_bytes()), content_type=JSON):
            key = f"{mine.place}/{RECORD}"
            found = read_record(self._store, key)
            # Two programs with one name: what one of them lists would lose the other's objects.
            if found is not None and found.kind != mine.kind:
                problem = f"the owner {mine.name} is {quote(found.kind)}; choose another owner="
                raise StoreError(problem, self._store.url, key)
        self._until = time.monotonic() + _AGAIN


class Mark:
    """The mark in a store that a sweep deletes now; writers of old objects wait for its end.

    No store can delete an object only if it is still old. So a sweep marks the store, looks at an
    object and deletes it within a third of the lease, and whoever writes an old object again waits
    until the mark is gone, or the lease over, and looks whether the object is there.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._token = secrets.token_hex(8).encode()
        self._since = 0.0

    def __enter__(self) -> Self:
        found = self._store.stat(_MARK)
        if found is not None and not _TOKEN.fullmatch(self._written()):
            problem = "this is not the mark of a sweep, which needs the name; move it away"
            raise StoreError(problem, self._store.url, _MARK)
        if found is not None and time.time() - (found.modified or 0.0) < LEASE:
            problem = f"another sweep deletes here; try again in {count_of(int(LEASE), 'second')}"
            raise StoreError(problem, self._store.url)
        self._write(if_absent=found is None)
        written = self._store.stat(_MARK)
        skew = 0.0 if written is None else time.time() - (written.modified or time.time())
        if abs(skew) > _SKEW:
            self._remove()
            hours = f"{abs(skew) / 3600:,.0f} hours {'ahead of' if skew > 0 else 'behind'}"
            problem = f"the clock of this machine is {hours} that of the store; ages would be wrong"
            raise StoreError(problem, self._store.url)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        if self._is_mine():
            self._store.delete(_MARK)

    def _write(self, *, if_absent: bool) -> None:
        # Before the request, so that the lease never ends later than others think.
        self._since = time.monotonic()
        self._store.put(_MARK, Bytes(self._token), content_type="", if_absent=if_absent)
        if not self._is_mine():
            raise StoreError("another sweep deletes here", self._store.url)

    def _is_mine(self) -> bool:
        return self._written() == self._token

    def _written(self) -> bytes:
        """Return what the mark says; that of no sweep if it is gone."""
        try:
            return self._store.read_range(_MARK, 0, 64)
        except ObjectNotFound:
            return b"0" * 16

    def renew(self) -> None:
        """Mark the store again if the mark is not young.

        Raises:
            StoreError: another sweep took over, because this one was too slow.
        """
        if time.monotonic() - self._since > LEASE / 6:
            if not self._is_mine():
                raise StoreError("another sweep deletes here", self._store.url)
            self._write(if_absent=False)

    def stat(self, key: str) -> Stat | None:
        """Return the metadata of an object, so shortly before that its deletion may begin."""
        while True:
            self.renew()
            found = self._store.stat(key)
            if self.is_young():
                return found

    def is_young(self) -> bool:
        """Return whether a deletion may begin."""
        return time.monotonic() - self._since < LEASE / 3


def seen(store: Store, key: str) -> Stat | None:
    """Return the metadata of an object of this program; None if it does not exist."""
    try:
        return store.stat(key)
    except AccessDenied:
        return None  # so S3 answers for what is not there, if a role may not list the bucket


def wait_for_sweep(store: Store, key: str) -> None:
    """Wait until no sweep can delete an object that was just written again."""
    began = time.monotonic()
    while time.monotonic() - began < LEASE:
        mark, mine = seen(store, _MARK), seen(store, key)
        if mark is None or mine is None:
            return
        # The mark of a sweep that was killed stays; both times are those of the store's clock.
        if (mine.modified or 0.0) - (mark.modified or 0.0) > LEASE:
            return
        time.sleep(_POLL)
