"""Sweep of a store: objects that no body refers to any more are found, and deleted on request.

Reading never deletes. Sweeping does, so it deletes narrowly: only keys that offloading makes, only
when they are old, and only when every body it was given could be read.
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

# Temporaries of killed writers are nobody's, and named so that nothing else is taken for one.
_TEMPORARY = re.compile(re.escape(KEY_PREFIX) + TEMPORARY_PATTERN)


@attrs.frozen
class Swept:
    """What `sweep` found, and removed if it was told to.

    Arguments:
        objects: objects that no given body refers to, older than the grace time.
        uploads: multipart uploads of such objects that were not finished in that time.
        deleted: whether they were removed.
    """

    objects: tuple[Stat, ...]
    uploads: tuple[Upload, ...]
    deleted: bool

    @property
    def size(self) -> int:
        """Bytes of the objects."""
        return sum(each.size for each in self.objects)

    def __str__(self) -> str:
        what = f"{count_of(len(self.objects), 'object')} ({human_size(self.size)})"
        uploads = count_of(len(self.uploads), "unfinished upload")
        return f"{what} and {uploads} {'deleted' if self.deleted else 'could be deleted'}"


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
    """List, and with `delete` remove, old objects of a store that no body refers to.

    Arguments:
        store: a store, its URL, or a directory's path.
        bodies: every body that is still in use, or its JSON, or one body; all are decoded before
            anything is listed, so that a broken one can't cost its objects.
        delete: remove the objects and uploads found; a dry run otherwise.
        grace: seconds; younger objects stay, for their bodies may be on their way.
        unsafe: delete with a grace of under seven days. `offload` reuses an object it finds and
            renews it only after half of that, so this is safe only while no process offloads.
        everything: delete although no given body refers to the store, so that nothing old of it
            stays. Without it, bodies of another store are taken for a mistake.
        storage_options: of `stores.open_store`, if `store` is not an open store.

    Raises:
        ValueError: the grace is too short to delete anything while others offload.
        StoreError: no body was given, none of them refers to the store that is to lose objects, the
            store is the inside of another one, or it failed.
        DecodeError: a body does not decode.
    """
    if delete and grace < GRACE and not unsafe:
        raise ValueError(
            "a grace of under 7 days can delete what a message that was offloaded just now "
            "refers to; if no process offloads meanwhile, pass unsafe=True"
        )
    opened = open_store(store, **(storage_options or {}))
    # All bodies are read before anything is listed: a broken one must cost no object.
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
            f"no body that was given refers to this store, so all of its {len(objects):,} old "
            "objects would be deleted; if this is the store that you mean, pass everything=True, "
            "in the shell --everything"
        )
        raise StoreError(problem, opened.url)
    if delete:
        objects = tuple(_delete(opened, objects, before))
        for upload in uploads:
            opened.abort_upload(upload)
    return Swept(objects, uploads, delete)


def _check_level(store: Store) -> None:
    """Check that a store is not the directory in which another store keeps its objects."""
    parent, _, last = store.url.rstrip("/").rpartition("/")
    if f"{last}/" != KEY_PREFIX:
        return
    keys = [each.key for each in store.iter_objects()]
    if any(_is_ours(KEY_PREFIX + key) for key in keys) and not any(map(_is_ours, keys)):
        problem = f"this is where a store keeps its objects; the store is {parent}"
        raise StoreError(problem, store.url)


def _keys_in_use(
    store: Store, bodies: MessageBody | Iterable[MessageBody | str | bytes]
) -> tuple[set[str], bool]:
    """Return the keys that bodies may mean, and whether any of them refers to this very store."""
    keys: set[str] = set()
    count, refers_here = 0, False
    if isinstance(bodies, MessageBody):
        bodies = [bodies]  # which holds parts, and is no list of bodies
    place = store.url_of(KEY_PREFIX)
    for body in require_iterable(bodies, "bodies in a list", hint="sweep(store, [body])"):
        count += 1
        decoded = body if isinstance(body, MessageBody) else MessageBody.from_json(body)
        for part in decoded:
            keys |= _keys_of(part.url, part.reference.digest if part.reference else None)
            refers_here = refers_here or str(part.url).startswith(place)
    # An empty list is a mistake far more often than a wish to delete everything.
    if not count:
        raise StoreError("no body was given, so every object would be swept", store.url)
    return keys, refers_here


def _keys_of(url: str | None, digest: str | None) -> set[str]:
    """Return the keys a reference may mean: by its URL, and by its digest, however it is spelt."""
    # Both: another spelling of the URL must not make an object look unused.
    keys = {key_of(digest)} if digest else set()
    if url is not None:
        keys |= keys_in(url)
    return keys


def _is_ours(key: str) -> bool:
    return bool(is_key(key) or _TEMPORARY.fullmatch(key))


def _is_old(found: Stat, before: float) -> bool:
    """Return whether an object is old; one of unknown age never is."""
    return found.modified is not None and found.modified < before


def _delete(store: Store, objects: Iterable[Stat], before: float) -> Iterator[Stat]:
    for each in objects:
        # An offload that found the object meanwhile wrote it again: look once more.
        now = store.stat(each.key)
        if now is not None and _is_old(now, before):
            store.delete(each.key)
            yield now
