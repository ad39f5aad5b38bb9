"""Sweep of a store: finding objects that no body refers to, and deleting them on request.

Because sweeping deletes, it is careful: it deletes only objects with keys of offloading, only old
ones, and only if every given body could be read.
"""

import os
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from messagebody._base.digests import KEY_PREFIX, is_key, key_of, keys_in
from messagebody._base.files import TEMPORARY_PATTERN
from messagebody._base.guards import require_iterable
from messagebody._base.text import count_of, human_size
from messagebody._model.body import MessageBody
from messagebody.errors import StoreError
from messagebody.storage._stores import Stat, Store, Upload, open_store
from messagebody.storage._stores.objects import GRACE

# Temporary files of killed writers; their names can't be mistaken for other files.
_TEMPORARY = re.compile(re.escape(KEY_PREFIX) + TEMPORARY_PATTERN)


@attrs.frozen
class Swept:
    """The result of `sweep`.

    Arguments:
        objects: the objects that no given body refers to, and that are older than the grace period.
        uploads: unfinished multipart uploads that are older than the grace period.
        deleted: whether they were deleted.
    """

    objects: tuple[Stat, ...]
    uploads: tuple[Upload, ...]
    deleted: bool

    @property
    def size(self) -> int:
        """The total size of the objects in bytes."""
        return sum(each.size for each in self.objects)

    def __str__(self) -> str:
        objects = f"{count_of(len(self.objects), 'object')} ({human_size(self.size)})"
        uploads = count_of(len(self.uploads), "unfinished upload")
        return f"{objects} and {uploads} {'deleted' if self.deleted else 'could be deleted'}"


def sweep(
    store: str | os.PathLike[str] | Store,
    bodies: MessageBody | Iterable[MessageBody | str | bytes],
    *,
    delete: bool = False,
    grace: float = GRACE,
    unsafe: bool = False,
    everything: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Swept:
    """Return old objects of a store that no body refers to, and delete them with `delete`.

    Arguments:
        store: a store, its URL, or the path of a directory.
        bodies: every body that is still in use, as a body or JSON, or a single body. All are
            decoded before the store is listed, so that an invalid body can't lose its objects.
        delete: delete the objects and uploads; by default, only list them.
        grace: the grace period in seconds; younger objects are kept, because their bodies may be in
            transit.
        unsafe: allow to delete with a grace period of less than seven days. This is only safe while
            no process offloads, because `offload` reuses existing objects, and renews them only
            after half of seven days.
        everything: allow to delete all old objects, if no given body refers to the store. By
            default, this is an error, because the bodies are probably those of another store.
        storage_options: the options of `storage.open_store`, if `store` is not an open store.

    Raises:
        ValueError: the grace period is too short to delete safely while other processes offload.
        StoreError: no body was given, no body refers to the store, the store is a directory inside
            a store, or the store failed.
        DecodeError: a body is invalid.
    """
    if delete and grace < GRACE and not unsafe:
        raise ValueError(
            "a grace of under 7 days can delete objects that a message offloaded just now refers "
            "to; if no process offloads meanwhile, pass unsafe=True"
        )
    opened = open_store(store, **(storage_options or {}))
    # All bodies are decoded before objects are listed: an invalid body must not lose its objects.
    in_use, refers_here = _keys_in_use(opened, bodies)
    _check_level(opened)
    before = time.time() - grace
    objects = tuple(
        each for each in opened.iter_objects() if _is_ours(each.key) and _is_old(each, before)
        and each.key not in in_use
    )  # fmt: skip
    uploads = tuple(
        each for each in opened.iter_uploads() if _is_ours(each.key) and each.started < before
    )
    if delete and objects and not (refers_here or everything):
        problem = (
            f"no given body refers to this store, so all of its {len(objects):,} old objects would "
            "be deleted; if this is the right store, pass everything=True, in the shell "
            "--everything"
        )
        raise StoreError(problem, opened.url)
    if delete:
        objects = tuple(_delete(opened, objects, before))
        for upload in uploads:
            opened.abort_upload(upload)
    return Swept(objects, uploads, delete)


def _check_level(store: Store) -> None:
    """Raise an error if a store is the directory of objects inside another store."""
    parent, _, last = store.url.rstrip("/").rpartition("/")
    if f"{last}/" != KEY_PREFIX:
        return
    keys = [each.key for each in store.iter_objects()]
    if any(_is_ours(KEY_PREFIX + key) for key in keys) and not any(map(_is_ours, keys)):
        problem = f"this is the directory of objects inside a store; the store is {parent}"
        raise StoreError(problem, store.url)


def _keys_in_use(
    store: Store, bodies: MessageBody | Iterable[MessageBody | str | bytes]
) -> tuple[set[str], bool]:
    """Return the keys that bodies may refer to, and whether any body refers to this store."""
    keys: set[str] = set()
    count, refers_here = 0, False
    if isinstance(bodies, MessageBody):
        bodies = [bodies]  # a body is a list of parts, not of bodies
    place = store.url_of(KEY_PREFIX)
    for body in require_iterable(bodies, "bodies in a list", hint="sweep(store, [body])"):
        count += 1
        decoded = body if isinstance(body, MessageBody) else MessageBody.from_json(body)
        for part in decoded:
            keys |= _keys_of(part.url, part.reference.digest if part.reference else None)
            refers_here = refers_here or str(part.url).startswith(place)
    # An empty list is more likely a mistake than intended to delete everything.
    if not count:
        raise StoreError("no body was given, so every object would be swept", store.url)
    return keys, refers_here


def _keys_of(url: str | None, digest: str | None) -> set[str]:
    """Return the keys that a reference may mean, by its URL and by its digest."""
    # Both, because another spelling of the URL must not make an object look unused.
    keys = {key_of(digest)} if digest else set()
    if url is not None:
        keys |= keys_in(url)
    return keys


def _is_ours(key: str) -> bool:
    return bool(is_key(key) or _TEMPORARY.fullmatch(key))


def _is_old(found: Stat, before: float) -> bool:
    """Return whether an object is old; an object of unknown age is not."""
    return found.modified is not None and found.modified < before


def _delete(store: Store, objects: Iterable[Stat], before: float) -> Iterator[Stat]:
    for each in objects:
        # Check the age again, because an offload may have renewed the object meanwhile.
        now = store.stat(each.key)
        if now is not None and _is_old(now, before):
            store.delete(each.key)
            yield now
