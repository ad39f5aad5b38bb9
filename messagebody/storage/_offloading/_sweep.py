"""Sweep of a store: finding objects that no owner needs, and deleting them on request.

Because sweeping deletes, it is careful: it deletes only objects with keys of offloading, only old
ones, only those of owners that it knows, and only if every owner that the store names was asked.
"""

import math
import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

import attrs

from messagebody._base.digests import KEY_PREFIX
from messagebody._base.files import TEMPORARY_PATTERN
from messagebody._base.guards import require_iterable
from messagebody._base.text import count_of, human_size
from messagebody.errors import InvalidArgument, StoreError
from messagebody.storage._offloading._owners import Needs, Owner, Recent
from messagebody.storage._stores import Stat, Store, Upload, open_store
from messagebody.storage._stores.objects import GRACE
from messagebody.storage._stores.owners import MESSAGES, Mark, OwnerRecord, read_record

# An object, or the temporary file of a killed writer, at the top or in the place of an owner.
_OBJECT: Final = re.compile(
    rf"(?:([^/]+)/)?{re.escape(KEY_PREFIX)}(?:[0-9a-f]{{64}}|{TEMPORARY_PATTERN})"
)
# As in keys and URLs, in digests, and in references of payloads.
_DIGITS: Final = re.compile("sha256[/:=]([0-9a-f]{64})")
_TOP: Final = OwnerRecord(MESSAGES, "messages", "storage.Bodies(bodies)")
_HINT: Final = "sweep(store, Bodies([body]))"


@attrs.frozen
class KeptObjects:
    """Objects that a sweep keeps.

    Arguments:
        owner: the name of their owner; empty if they belong to none that is known.
        why: "needed", "young", or "of no owner".
        count: their number.
        size: their bytes.
    """

    owner: str
    why: str
    count: int
    size: int

    def __str__(self) -> str:
        of = f" by {self.owner}" if self.why == "needed" else f" of {self.owner}" * bool(self.owner)
        return f"{count_of(self.count, 'object')} ({human_size(self.size)}) kept: {self.why}{of}"


@attrs.frozen
class Swept:
    """The result of `sweep`.

    Arguments:
        objects: the objects that no owner needs, and that are older than the grace period.
        uploads: unfinished multipart uploads that are older than the grace period.
        kept: how many objects are kept, and why.
        deleted: whether the objects and uploads were deleted.
    """

    objects: tuple[Stat, ...]
    uploads: tuple[Upload, ...]
    kept: tuple[KeptObjects, ...]
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
    owners: Owner | Iterable[Owner],
    *,
    delete: bool = False,
    forget: Collection[str] = (),
    grace: float = GRACE,
    unsafe: bool = False,
    everything: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> Swept:
    """Return old objects of a store that no owner needs, and delete them with `delete`.

    Every owner that the store names must be given, because only an owner knows what it needs.

    Arguments:
        store: a store, its URL, or the path of a directory: the one that the owners got, not the
            place of one of them in it.
        owners: all owners of objects in the store, such as `Bodies(bodies)`. They are asked
            before the store is listed, and again before anything is deleted.
        delete: delete the objects and uploads; by default, only list them.
        forget: names of owners that are gone for good; nothing of theirs is needed any more, and
            their records go, too, when the last object has.
        grace: the grace period in seconds; younger objects are kept, because their references may
            be in transit.
        unsafe: allow to delete with a grace period of less than seven days. This is only safe while
            nothing is written, because existing objects are reused, and renewed only after half of
            seven days.
        everything: allow to delete all old objects of an owner that needs none. By default, this is
            an error, because what it was asked for is probably that of another store.
        storage_options: the options of `storage.open_store`, if `store` is not an open store.

    Raises:
        ValueError: the grace period is too short to delete safely while others write.
        InvalidArgument: an owner is something else, such as a body.
        StoreError: an owner that the store names was not given, or needs nothing of it, the store
            is a directory inside a store, another sweep deletes, the clock is wrong, or the store
            failed.
        DecodeError: what an owner refers to can't be decoded, such as an invalid body.
    """
    if delete and grace < GRACE and not unsafe:
        raise ValueError(
            "a grace of under 7 days can delete objects that a message offloaded just now refers "
            "to; if nothing is written meanwhile, pass unsafe=True"
        )
    opened = open_store(store, **(storage_options or {}))
    given = [*_checked(owners), *(Needs(name, ()) for name in forget)]
    # Before the store is listed, so that an owner that fails does not lose its objects.
    places = _Places(opened, _digits_needed(given))
    _check_level(opened)
    places.check_given({each.name for each in given})
    befores = _befores(given, time.time() - grace)
    old = {name: places.old(name, before) for name, before in befores.items()}
    uploads = tuple(
        each for each in opened.iter_uploads()
        if each.started < befores.get(_place_of(each.key) or "", -math.inf)
    )  # fmt: skip
    if delete:
        patient = {each.name for each in given if isinstance(each, Recent)}
        places.check_needs(
            {} if everything else {n: old[n] for n in old.keys() - patient - {*forget}}
        )
        # Asked again: what moved from one owner to another meanwhile was perhaps seen at neither.
        needed = _digits_needed(given)
        for name, objects in old.items():
            unneeded = [each for each in objects if not _is_needed(each, needed)]
            old[name] = [*_delete(_store_of(opened, name), name, unneeded, befores[name])]
        for upload in uploads:
            opened.abort_upload(upload)
        for name in forget:
            places.forget(name, old[name])
    return Swept(tuple(chain(*old.values())), uploads, (*places.kept(old),), delete)


def _checked(owners: Owner | Iterable[Owner]) -> list[Owner]:
    """Return owners in a list."""
    alone: Any = [owners] if hasattr(owners, "needed") else owners
    given: list[Owner] = [*require_iterable(alone, "owners in a list", hint=_HINT)]
    for each in given:
        if not (hasattr(each, "needed") and isinstance(getattr(each, "name", None), str)):
            raise InvalidArgument("an owner of objects", each, _HINT)
    return given


def _digits_needed(owners: Iterable[Owner]) -> set[str]:
    """Return the digits of all digests that owners need, wherever the objects lie."""
    return {
        digits for owner in owners for text in owner.needed() for digits in _DIGITS.findall(text)
    }


def _befores(owners: Iterable[Owner], before: float) -> dict[str, float]:
    """Return, by owner, the time before which an old object was written."""
    found: dict[str, float] = {}
    for each in owners:
        own = before - each.seconds if isinstance(each, Recent) else before
        found[each.name] = min(own, found.get(each.name, own))
    return found


class _Places:
    """The objects of a store by their places: its top, and that of each owner.

    Arguments:
        store: the store, which is listed.
        needed: the digits of the digests that owners need.
    """

    def __init__(self, store: Store, needed: Collection[str]) -> None:
        self._store = store
        self._records: dict[str, OwnerRecord] = {}
        self._needed: defaultdict[str, list[int]] = defaultdict(list)  # sizes
        self._others: defaultdict[str, list[Stat]] = defaultdict(list)
        for each in store.iter_objects():
            name = _place_of(each.key)
            if name is None:
                record = read_record(store, each.key)
                if record is not None:
                    self._records[record.name] = record
            elif _is_needed(each, needed):
                self._needed[name].append(each.size)
            else:
                self._others[name].append(each)

    def old(self, name: str, before: float) -> list[Stat]:
        """Return the old objects of an owner that nobody needs."""
        return [each for each in self._others[name] if _is_old(each, before)]

    def check_given(self, names: Collection[str]) -> None:
        """Raise an error unless every owner that the store names is given."""
        named = dict(self._records)
        if self._needed[MESSAGES] or self._others[MESSAGES]:
            named[MESSAGES] = _TOP
        missing = [named[name] for name in sorted(named.keys() - names)]
        if missing:
            problem = (
                "owners of objects here were not given, and only an owner knows what it needs: "
                f"{', '.join(map(str, missing))}; for one that is gone for good, forget=[name], in "
                "the shell --forget NAME"
            )
            raise StoreError(problem, self._store.url)

    def check_needs(self, old: Mapping[str, Collection[Stat]]) -> None:
        """Raise an error if an owner with old objects needs none of its objects."""
        for name, objects in old.items():
            if objects and not self._needed[name]:
                problem = (
                    f"the owner {name} needs nothing of this store, so all of its "
                    f"{count_of(len(objects), 'old object')} would be deleted; if this is the "
                    "right store, pass everything=True"
                )
                raise StoreError(problem, self._store.url)

    def forget(self, name: str, deleted: Collection[Stat]) -> None:
        """Delete the record of an owner whose last objects were deleted."""
        if name in self._records and len(self._others[name]) == len(deleted):
            self._store.delete(self._records[name].key)

    def kept(self, gone: Mapping[str, Collection[Stat]]) -> Iterator[KeptObjects]:
        """Yield what is kept, if some objects are deleted."""
        for name, sizes in self._needed.items():
            if sizes:
                yield KeptObjects(name, "needed", len(sizes), sum(sizes))
        for name, others in self._others.items():
            keys = {each.key for each in gone.get(name, ())}
            left = [each.size for each in others if each.key not in keys]
            if left:
                why = "young" if name in gone else "of no owner"
                yield KeptObjects(name, why, len(left), sum(left))


def _place_of(key: str) -> str | None:
    """Return the owner in whose place an object lies; None for what offloading did not make."""
    match = _OBJECT.fullmatch(key)
    # A store may be below that name: objects of messages have no name before their key.
    if match is None or match[1] == MESSAGES:
        return None
    return match[1] or MESSAGES


def _store_of(store: Store, name: str) -> Store:
    return store if name == MESSAGES else store.below(name)


def _check_level(store: Store) -> None:
    """Raise an error if a store is the directory of objects inside another store."""
    parent, _, last = store.url.rstrip("/").rpartition("/")
    if f"{last}/" != KEY_PREFIX:
        return
    keys = [each.key for each in store.iter_objects()]
    if any(_place_of(KEY_PREFIX + key) for key in keys) and not any(map(_place_of, keys)):
        problem = f"this is the directory of objects inside a store; the store is {parent}"
        raise StoreError(problem, store.url)


def _is_needed(found: Stat, needed: Collection[str]) -> bool:
    return found.key[-64:] in needed


def _is_old(found: Stat, before: float) -> bool:
    """Return whether an object is old; an object of unknown age is not."""
    return found.modified is not None and found.modified < before


def _delete(store: Store, name: str, objects: Collection[Stat], before: float) -> Iterator[Stat]:
    """Delete the objects of an owner that are still old, and yield them."""
    if not objects:
        return
    with Mark(store) as mark:
        for each in objects:
            key = each.key.removeprefix(f"{name}/")
            # Age is read again, because an object may have been written again meanwhile.
            while True:
                mark.renew()
                now = store.stat(key)
                if mark.is_young():
                    break
            if now is not None and _is_old(now, before):
                store.delete(key)
                yield each
