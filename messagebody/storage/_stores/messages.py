"""Messages in stores: every object `*.json` that is not hidden, as it is now."""

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from messagebody._base.guards import is_url
from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._model.body import MessageBody
from messagebody._wire.reader import too_large
from messagebody.errors import ObjectNotFound
from messagebody.storage._stores import open_store
from messagebody.storage._stores.base import Stat, Store
from messagebody.storage._stores.documents import StoredDocument

MESSAGE_SUFFIX: Final = ".json"
_SETTLED: Final = 2.0
"""Seconds after which another write must show in the metadata: some clocks tick once a second."""


@attrs.frozen
class StoredMessage:
    """A message as it was looked up; it equals a later one until the object is written again.

    Arguments:
        store: the store.
        stat: the metadata of the object.
        limits: the bounds of reading it.
        seen: the time, if the object was written so shortly before that another write might not
            show; such a message equals no other.
    """

    store: Store = attrs.field(eq=False, repr=False)
    stat: Stat
    limits: Limits = attrs.field(eq=False, repr=False)
    seen: float | None = None

    def __call__(self) -> MessageBody:
        """Return the body.

        Raises:
            ObjectNotFound: the object is gone.
            DecodeError: it is not a body, or is larger than the limits.
        """
        # Without reading it, as a file without blocks may have any size.
        if self.stat.size > self.limits.json_bytes:
            raise too_large(self.stat.size, self.limits)
        # It may have grown meanwhile; one byte more than the limit is refused by the reader.
        data = self.store.read_range(self.stat.key, 0, self.limits.json_bytes + 1)
        return MessageBody.from_json(data, limits=self.limits)


class StoredMessages(Mapping[str, StoredMessage]):
    """The messages in a store by name, each time as they are then; nothing is watched.

    The name of a message is its key without the suffix.

    Arguments:
        store: the store.
        limits: the bounds of reading a message.
    """

    def __init__(self, store: Store, limits: Limits = DEFAULT_LIMITS) -> None:
        self.store = store
        self._limits = limits

    def __getitem__(self, name: str) -> StoredMessage:
        key = name + MESSAGE_SUFFIX
        if not is_message_key(key):
            raise KeyError(name)
        return _look_up(self.store, key, self._limits)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stats())

    def __len__(self) -> int:
        return len(self.stats())

    def __bool__(self) -> bool:
        # Without listing all of a bucket.
        return any(is_message_key(found.key) for found in self.store.iter_objects())

    def stats(self) -> dict[str, Stat]:
        """Return the metadata of all messages, by name."""
        return {
            found.key.removesuffix(MESSAGE_SUFFIX): found
            for found in self.store.iter_objects()
            if is_message_key(found.key)
        }


class OneStoredMessage(Mapping[str, StoredMessage]):
    """The message at one key of a store, each time as it is then; its name is "".

    Arguments:
        store: the store.
        key: the key.
        limits: the bounds of reading it.
    """

    def __init__(self, store: Store, key: str, limits: Limits = DEFAULT_LIMITS) -> None:
        self.store = store
        self.key = key
        self._limits = limits

    def __getitem__(self, name: str) -> StoredMessage:
        if name:
            raise KeyError(name)
        return _look_up(self.store, self.key, self._limits)

    def __iter__(self) -> Iterator[str]:
        return iter([""])

    def __len__(self) -> int:
        return 1


def messages_at(
    place: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS
) -> StoredMessages | OneStoredMessage:
    """Return the messages of a directory or a store, or the one of a file.

    Arguments:
        place: a path, or the URL of a store; one that ends with `.json` is that of a file in it.
        limits: the bounds of reading a message.

    Raises:
        OSError: nothing is at the path.
        InvalidArgument: the URL is not that of a store.
    """
    if isinstance(place, str) and is_url(place):
        if not place.endswith(MESSAGE_SUFFIX):
            return StoredMessages(open_store(place.rstrip("/")), limits)
        document = StoredDocument.at(place)
        return OneStoredMessage(document.store, document.key, limits)
    path = Path(os.path.realpath(place))
    path.stat()
    if path.is_dir():
        return StoredMessages(open_store(path), limits)
    return OneStoredMessage(open_store(path.parent), path.name, limits)


def _look_up(store: Store, key: str, limits: Limits) -> StoredMessage:
    """Return a message as it is now.

    Raises:
        KeyError: there is none.
    """
    try:
        found = store.stat(key)
    except ObjectNotFound:  # no legal key
        found = None
    if found is None:
        raise KeyError(key)
    now = time.time()
    is_settled = found.modified is not None and abs(now - found.modified) > _SETTLED
    return StoredMessage(store, found, limits, None if is_settled else now)


def is_message_key(key: str) -> bool:
    """Return whether an object is a message: hidden ones and paths to elsewhere are not."""
    place = f"/{key}"
    return key.endswith(MESSAGE_SUFFIX) and "/." not in place and "//" not in place
