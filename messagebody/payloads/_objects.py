"""Contents of one store, for adapters of frameworks: written once, fetched in parallel."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import attrs

from messagebody._core import OCTET_STREAM, Reference, gather, key_of, parse_size, quote, sha256_of
from messagebody.errors import DecodeError, InvalidSize, MessageBodyError
from messagebody.storage import Store
from messagebody.storage._stores import fetch, keep

_TRUST: Final = 3600.0
"""Seconds for which stored content is assumed to exist.

`sweep` deletes nothing younger than seven days, and `keep` renews older content after half that
time.
"""
# Each entry is a digest and a time: some tens of MB at most in a process that runs for months.
_REMEMBERED: Final = 100_000


DEFAULT_MAX_BYTES: Final = "512 MiB"
"""The most bytes of contents that come back at once by default."""


def checked_threshold(threshold: int | str, smallest: int) -> int:
    """Return a threshold in bytes.

    Raises:
        InvalidSize: it is not a size, or it is so small that a reference is longer than the
            content.
    """
    size = parse_size(threshold)
    if size < smallest:
        raise InvalidSize(f"a threshold is at least {smallest:,} bytes here, got {size:,}")
    return size


class Cipher(Protocol):
    """An encryption of contents, with the interface of LangGraph's `CipherProtocol`."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Return the name of the cipher and the encrypted bytes."""

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Return the decrypted bytes."""


@attrs.frozen
class Stored:
    """The identity of a content in the store.

    Arguments:
        digest: the digest of the object.
        size: its bytes.
        cipher: the name of the cipher that encrypted it; empty if it is not encrypted.
    """

    digest: str
    size: int
    cipher: str = ""


class Objects:
    """The contents of one store.

    Arguments:
        store: an open store.
        cache: bytes of fetched contents to hold in memory.
        cipher: encrypts the contents; the key of an object is then the digest of its encrypted
            bytes.
        max_bytes: the most bytes that `fetch_all` returns for one value.
    """

    def __init__(
        self,
        store: Store,
        *,
        cache: int = 0,
        cipher: Cipher | None = None,
        max_bytes: int = parse_size(DEFAULT_MAX_BYTES),
    ) -> None:
        self.store = store
        self._max_bytes = max_bytes
        self.cipher = cipher
        self._cache = _RecentContents(cache)
        self._known: OrderedDict[str, tuple[Stored, float]] = OrderedDict()
        self._lock = threading.Lock()

    def batch(self) -> "Batch":
        """Return an empty batch of contents to store together."""
        return Batch(self)

    def reference(self, stored: Stored) -> Reference:
        """Return a reference to a content."""
        return Reference(self.store.url_of(key_of(stored.digest)), stored.size, stored.digest)

    def fetch_all(self, wanted: Sequence[Stored]) -> dict[Stored, bytes | MessageBodyError]:
        """Return verified contents, or errors in their place; several are fetched at a time.

        Errors are values, so that a caller can show the rest of a history.

        Raises:
            DecodeError: all together, each as often as it is wanted, they are too large.
        """
        # Counted before anything is fetched: a few kilobytes may want one content many times.
        size = sum(each.size for each in wanted)
        if size > self._max_bytes:
            raise DecodeError(
                f"its contents have {size:,} bytes together; max_bytes is {self._max_bytes:,}"
            )
        # Not a set: fetching in the given order gives the same errors in every run.
        distinct = [*dict.fromkeys(wanted)]
        found: dict[Stored, Any] = {each: self._cache.get(each) for each in distinct}
        missing = [each for each in distinct if found[each] is None]
        work = [partial(self._fetched, each) for each in missing]
        return {**found, **dict(zip(missing, gather(work), strict=True))}

    def _fetched(self, stored: Stored) -> bytes | MessageBodyError:
        try:
            data = self._decrypted(stored, fetch(self.store, self.reference(stored)))
        except MessageBodyError as error:
            return error
        self._cache.put(stored, data)
        return data

    def _decrypted(self, stored: Stored, data: bytes) -> bytes:
        if not stored.cipher:
            return data
        shown = f"content {stored.digest} is encrypted with {quote(stored.cipher)}"
        if self.cipher is None:
            raise DecodeError(f"{shown}, and no cipher was given")
        try:
            return self.cipher.decrypt(stored.cipher, data)
        except Exception as error:
            raise DecodeError(f"{shown}, and can't be decrypted") from error

    def _recall(self, digest: str) -> Stored | None:
        with self._lock:
            stored, until = self._known.get(digest, (None, 0.0))
            return stored if time.monotonic() < until else None

    def _remember(self, digest: str, stored: Stored) -> None:
        with self._lock:
            self._known[digest] = stored, time.monotonic() + _TRUST
            self._known.move_to_end(digest)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)


class Batch:
    """Contents that get their keys at once and are written together."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._named: dict[str, Stored] = {}
        self._to_write: list[Callable[[], None]] = []

    def add(self, data: bytes, content_type: str = OCTET_STREAM) -> Stored:
        """Return the key of a content; `write` writes it unless it is known to be stored."""
        digest = sha256_of(data)
        stored = self._named.get(digest) or self._objects._recall(digest)
        if stored is None:
            stored = self._name(data, digest, content_type)
        self._named[digest] = stored
        return stored

    def _name(self, data: bytes, digest: str, content_type: str) -> Stored:
        cipher = self._objects.cipher
        if cipher is None:
            stored = Stored(digest, len(data))
        else:
            name, data = cipher.encrypt(data)
            content_type = OCTET_STREAM  # a store must not know the type of encrypted content
            stored = Stored(sha256_of(data), len(data), name)

        # Remembered only after writing: otherwise a failed write would never be tried again.
        def write() -> None:
            keep(self._objects.store, data, content_type=content_type)
            self._objects._remember(digest, stored)

        self._to_write.append(write)
        return stored

    def __len__(self) -> int:
        return len(self._named)

    def write(self) -> None:
        """Write what the store does not have, several contents at a time.

        Raises:
            StoreError: the store failed.
        """
        gather(self._to_write)
        self._to_write = []


class _RecentContents:
    """A cache of the contents that were used last."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held = 0
        self._contents: OrderedDict[Stored, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, stored: Stored) -> bytes | None:
        with self._lock:
            if stored in self._contents:
                self._contents.move_to_end(stored)
            return self._contents.get(stored)

    def put(self, stored: Stored, data: bytes) -> None:
        with self._lock:
            self._held += len(data) - len(self._contents.pop(stored, b""))
            # Content that is larger than the cache empties it and is dropped too; no special case
            # is needed.
            self._contents[stored] = data
            while self._held > self._capacity:
                self._held -= len(self._contents.popitem(last=False)[1])
