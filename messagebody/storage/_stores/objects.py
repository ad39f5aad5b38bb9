"""Content-addressed objects: stored under their digest, read back and verified."""

import time
from concurrent.futures import Future
from typing import Final, Literal

from messagebody._base.digests import key_of, sha256_of
from messagebody._base.forks import after_fork, lock_for_forks
from messagebody._base.guards import require_bytes
from messagebody._base.media_types import OCTET_STREAM
from messagebody._base.text import redact_url
from messagebody._model.content import Reference
from messagebody.errors import DigestMismatch, DigestUnknown, ObjectNotFound
from messagebody.storage._stores.base import Stat, Store
from messagebody.storage._stores.blobs import Blob, Bytes
from messagebody.storage._stores.owners import seen, wait_for_sweep

Verify = Literal["size", "digest"]

GRACE: Final = 7 * 24 * 3600.0
"""The minimum age in seconds of objects that `sweep` deletes, because no owner needs them."""

# Sending a smaller object again costs less than a `stat` before it.
STAT_FIRST: Final = 1024 * 1024
"""Bytes: a larger object is asked about before it is sent."""

_TRIES: Final = 3
"""How often an object is written again that is gone after it; a sweep takes it at most once."""

# Pending puts by store and key. The key is the `id` of the store, because two stores of one URL may
# be two servers; a pending put keeps its store alive.
_pending: dict[tuple[int, str], "Future[Reference]"] = {}
_lock: Final = lock_for_forks()
after_fork(_pending.clear)  # the threads that would end them are not there


def keep(store: Store, data: bytes, *, content_type: str = OCTET_STREAM) -> Reference:
    """Store bytes under their digest, if they are absent, and return a reference to them.

    An existing object that is old enough for `sweep` is written again. Threads that keep the same
    bytes at the same time wait for one write.

    Arguments:
        store: an open store.
        data: the bytes.
        content_type: their content type, if the store keeps content types.

    Raises:
        StoreError: the store failed.
        DigestMismatch: the bytes were read back, and are not the bytes that were sent.

    Examples:
        >>> from messagebody.storage._stores import fetch, keep, open_store
        >>> store = open_store("memory://kept")
        >>> reference = keep(store, b"hello", content_type="text/plain")
        >>> reference.size, fetch(store, reference)
        (5, b'hello')
    """
    data = bytes(require_bytes(data))
    digest = sha256_of(data)
    place = id(store), digest
    mine: Future[Reference] = Future()
    with _lock:
        pending = _pending.setdefault(place, mine)
    if pending is mine:
        try:
            mine.set_result(ensure(store, digest, Bytes(data, digest), content_type))
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with _lock:
                del _pending[place]
    return pending.result()


def fetch(store: Store, reference: Reference) -> bytes:
    """Return bytes that `keep` stored, verified.

    The object is found by its digest, not by its URL, so that a store may move.

    Arguments:
        store: an open store.
        reference: a reference with size and digest.

    Raises:
        DigestUnknown: the reference has no size or no digest.
        ObjectNotFound: the object does not exist.
        DigestMismatch: the object is damaged.
        StoreError: the store failed.
    """
    size, digest = reference.size, reference.digest
    if size is None or digest is None:
        raise DigestUnknown([redact_url(reference.url)])
    key = key_of(digest)
    # One byte more than expected detects a longer object without reading all of it.
    data = store.read_range(key, 0, size + 1)
    if len(data) != size:
        got = "more" if len(data) > size else f"{len(data):,}"
        raise DigestMismatch(redact_url(store.url_of(key)), f"{size:,} bytes", got)
    if sha256_of(data) != digest:
        raise DigestMismatch(redact_url(store.url_of(key)), digest, sha256_of(data))
    return data


def ensure(
    store: Store, digest: str, blob: Blob, content_type: str, verify: Verify | None = None
) -> Reference:
    """Store content unless it is there, renew it if it is old, and return a reference to it.

    Arguments:
        store: the store.
        digest: the content's digest, from which its key is made.
        blob: the content.
        content_type: the content type.
        verify: check the "size" of the object afterwards, or read it back and check the "digest";
            by default, the store decides whether it is read back.

    Raises:
        DigestMismatch: the stored bytes are not the bytes that were sent.
    """
    key = key_of(digest)
    verify = verify or ("digest" if store.reads_back else None)
    # A large object may exist from an attempt that failed later, so check before sending it.
    is_asked = store.is_asked_first and blob.size > STAT_FIRST
    exists = is_asked and is_fresh(store.stat(key), blob.size, digest)
    if not exists and not store.put(key, blob, content_type=content_type):
        _renew(store, key, blob, content_type, digest)
    if verify is not None and _found(store, key, verify) != _wanted(blob, digest, verify):
        # An earlier writer may have left a damaged object under the key, so write it again.
        store.put(key, blob, content_type=content_type, if_absent=False)
        found = _found(store, key, verify)
        if found != _wanted(blob, digest, verify):
            raise DigestMismatch(_told(store, key), _wanted(blob, digest, verify), found)
    return Reference(store.url_of(key), blob.size, digest)


def _renew(store: Store, key: str, blob: Blob, content_type: str, digest: str) -> None:
    """Write an existing object again if it is damaged, or old enough for `sweep` to delete it."""
    if is_fresh(store.stat(key), blob.size, digest):
        return
    for _ in range(_TRIES):
        store.put(key, blob, content_type=content_type, if_absent=False)
        # A sweep that saw the old object may delete the new one.
        wait_for_sweep(store, key)
        if seen(store, key) is not None or _is_readable(store, key):
            return
    raise DigestMismatch(_told(store, key), digest, "nothing")


def _is_readable(store: Store, key: str) -> bool:
    """Return whether an object can be read although the store denies that it is there."""
    try:
        store.read_range(key, 0, 1)
    except ObjectNotFound:
        return False
    return True


def is_fresh(found: Stat | None, size: int, digest: str) -> bool:
    """Return whether an object is whole, and so young that no sweep deletes it soon."""
    if found is None or found.size != size or found.checksum not in {None, digest}:
        return False  # it is damaged, or was not written by offload
    # Half of the shortest grace, so that a renewed object survives any sweep that has listed it.
    return found.modified is None or time.time() - found.modified < GRACE / 2


def _told(store: Store, key: str) -> str:
    # Not the URL of references, which may be a secret of those who have the message.
    return f"{redact_url(store.url)}/{key}"


def _wanted(blob: Blob, digest: str, verify: Verify) -> str:
    return f"{blob.size:,} bytes" if verify == "size" else digest


def _found(store: Store, key: str, verify: Verify) -> str:
    if verify == "digest":
        try:
            return store.measure(key)[1]
        except ObjectNotFound:
            return "nothing"
    found = store.stat(key)
    return "nothing" if found is None else f"{found.size:,} bytes"
