"""Objects of a store under their digest: ensured, kept and fetched back, verified."""

import threading
import time
from concurrent.futures import Future
from typing import Final, Literal

from messagebody._base.digests import key_of, sha256_of
from messagebody._base.guards import require_bytes
from messagebody._base.media_types import OCTET_STREAM
from messagebody._base.text import redact_url
from messagebody._model.content import Reference
from messagebody.errors import DigestMismatch, DigestUnknown, ObjectNotFound
from messagebody.storage._stores.base import Blob, Bytes, Stat, Store, read_back

Verify = Literal["size", "digest"]

GRACE: Final = 7 * 24 * 3600.0
"""Seconds for which `sweep` leaves unreferenced objects alone."""

# Below it, sending once more costs less than asking.
_ASK_FIRST: Final = 1024 * 1024

# Puts that are under way, by store and key. The store by its identity: two stores of one URL may
# be two servers, and each is alive while one of its puts is.
_under_way: dict[tuple[int, str], "Future[None]"] = {}
_lock: Final = threading.Lock()


def keep(store: Store, data: bytes, *, content_type: str = OCTET_STREAM) -> Reference:
    """Store bytes under their digest, unless they are there, and return a reference to them.

    An object that is there and so old that `sweep` could take it is written again. Threads that
    keep the same bytes at the same time wait for one write.

    Arguments:
        store: an open store.
        data: the bytes.
        content_type: sent along where the store keeps content types.

    Raises:
        StoreError: the store failed.
        DigestMismatch: the store, one that is read back, keeps other bytes than it was sent.

    Examples:
        >>> from messagebody.storage._stores import fetch, keep, open_store
        >>> store = open_store("memory://kept")
        >>> reference = keep(store, b"hello", content_type="text/plain")
        >>> reference.size, fetch(store, reference)
        (5, b'hello')
    """
    data = bytes(require_bytes(data))
    digest = sha256_of(data)
    key = key_of(digest)
    mine: Future[None] = Future()
    with _lock:
        under_way = _under_way.setdefault((id(store), key), mine)
    if under_way is not mine:
        under_way.result()
    else:
        _finish(mine, store, digest, Bytes(data, digest), content_type)
    return Reference(store.url_of(key), len(data), digest)


def _finish(
    future: "Future[None]", store: Store, digest: str, blob: Blob, content_type: str
) -> None:
    try:
        ensure(store, digest, blob, content_type, "digest" if store.reads_back else None)
    except BaseException as error:
        future.set_exception(error)
        raise
    else:
        future.set_result(None)
    finally:
        with _lock:
            del _under_way[id(store), key_of(digest)]


def fetch(store: Store, reference: Reference) -> bytes:
    """Return what `keep` stored, verified.

    The object is found by the digest of the reference, so that a store may move; the URL is not
    followed.

    Arguments:
        store: an open store.
        reference: a reference with size and digest.

    Raises:
        DigestUnknown: the reference states no size or no digest.
        ObjectNotFound: the store has no such object.
        DigestMismatch: the object is damaged.
        StoreError: the store failed.
    """
    size, digest = reference.size, reference.digest
    if size is None or digest is None:
        raise DigestUnknown([redact_url(reference.url)])
    key = key_of(digest)
    # One byte more than promised shows an object that is too long without reading all of it.
    data = store.read_range(key, 0, size + 1)
    if len(data) != size:
        got = "more" if len(data) > size else f"{len(data):,}"
        raise DigestMismatch(redact_url(store.url_of(key)), f"{size:,} bytes", got)
    if sha256_of(data) != digest:
        raise DigestMismatch(redact_url(store.url_of(key)), digest, sha256_of(data))
    return data


def ensure(
    store: Store, digest: str, blob: Blob, content_type: str, verify: Verify | None = None
) -> str:
    """Make sure that a store has some content, and will keep it; return its key.

    Arguments:
        store: the store.
        digest: the content's digest, which its key is made of.
        blob: the content.
        content_type: sent along.
        verify: look at the object afterwards: ask its size, or read it back.

    Raises:
        DigestMismatch: the store keeps other bytes than it was sent.
    """
    key = key_of(digest)
    # A large object may be there from an attempt that failed later: ask before sending it.
    is_there = blob.size > _ASK_FIRST and _is_fresh(store.stat(key), blob.size, digest)
    if not is_there and not store.put(key, blob, content_type=content_type):
        _renew(store, key, blob, content_type, digest)
    if verify is not None and _found(store, key, verify) != _wanted(blob, digest, verify):
        # What an earlier writer left under the key may be spoilt: write it once more.
        store.put(key, blob, content_type=content_type, if_absent=False)
        found = _found(store, key, verify)
        if found != _wanted(blob, digest, verify):
            raise DigestMismatch(store.url_of(key), _wanted(blob, digest, verify), found)
    return key


def _renew(store: Store, key: str, blob: Blob, content_type: str, digest: str) -> None:
    """Write an object again that is there, if it is spoilt or so old that `sweep` could take it."""
    if not _is_fresh(store.stat(key), blob.size, digest):
        store.put(key, blob, content_type=content_type, if_absent=False)


def _is_fresh(found: Stat | None, size: int, digest: str) -> bool:
    if found is None or found.size != size or found.checksum not in {None, digest}:
        return False  # it is damaged, or was not written by offload
    # Half of the shortest grace: an object that is renewed now outlives any sweep that has seen it.
    return found.modified is None or time.time() - found.modified < GRACE / 2


def _wanted(blob: Blob, digest: str, verify: Verify) -> str:
    return f"{blob.size:,} bytes" if verify == "size" else digest


def _found(store: Store, key: str, verify: Verify) -> str:
    if verify == "digest":
        try:
            return read_back(store, key)[1]
        except ObjectNotFound:
            return "nothing"
    found = store.stat(key)
    return "nothing" if found is None else f"{found.size:,} bytes"
