"""Sweep of a store: finding objects that no owner needs, and deleting them on request.

Because sweeping deletes, it is careful: it deletes only objects with keys of offloading, only old
ones, only in the places of owners that the store names, and only if each of these was asked. What
the content of a kept object mentions is kept, too.
"""

import math
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Any, Final

import attrs

from messagebody._base.digests import KEY_PREFIX
from messagebody._base.files import TEMPORARY_PATTERN
from messagebody._base.guards import require_iterable
from messagebody._base.text import count_of, human_size, quote
from messagebody.errors import InvalidArgument, StoreError
from messagebody.storage._offloading._mentions import Mentions
from messagebody.storage._offloading._owners import Needs, Owner, Recent, digits_needed
from messagebody.storage._stores import Stat, Store, Upload, open_store
from messagebody.storage._stores.objects import GRACE
from messagebody.storage._stores.owners import (
    MESSAGES,
    PLACES,
    RECORD,
    UNREADABLE,
    Mark,
    OwnerRecord,
    is_owner_name,
    owner_of_place,
    read_record,
)

# An object, or the temporary file of a killed writer, at the top or in the place of an owner.
_OBJECT: Final = re.compile(
    rf"(?:{re.escape(PLACES)}(?P<owner>[^/]+)/)?"
    rf"{re.escape(KEY_PREFIX)}(?:[0-9a-f]{{64}}|{TEMPORARY_PATTERN})"
)
_TOP: Final = OwnerRecord(MESSAGES, "messages", "storage.Bodies(bodies)")
_HINT: Final = "sweep(store, Bodies([body]))"
_NAMES: Final = "names of owners in a list"


@attrs.frozen
class Swept:
    """The result of `sweep`.

    Arguments:
        objects: the objects that no owner needs, and that are older than the grace period.
        uploads: unfinished multipart uploads that are older than the grace period.
        deleted: whether the objects and uploads were deleted.
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
    owners: Owner | Iterable[Owner],
    *,
    delete: bool = False,
    forget: Collection[str] = (),
    grace: float = GRACE,
    unsafe: bool = False,
    everything: Collection[str] = (),
) -> Swept:
    """Return old objects of a store that no owner needs, and delete them with `delete`.

    Every owner that the store names must be given, because only an owner knows what it needs. The
    contents of kept objects are read, but for pictures, sounds and films, because they may mention
    others.

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
        everything: names of owners of which all old objects may be deleted. Any other owner that
            needs none is an error, because it was probably asked about another store.

    Raises:
        ValueError: the grace period is too short to delete safely while others write.
        InvalidArgument: an owner is something else, such as a body, or needs something that is not
            understood.
        StoreError: an owner that the store names was not given, or needs nothing of it; one to
            forget is not named there; the store is the place of an owner; another sweep deletes,
            the clock is wrong, or the store failed.
        DecodeError: what an owner refers to can't be decoded, such as an invalid body.
    """
    if delete and grace < GRACE and not unsafe:
        raise ValueError(
            "a grace of under 7 days can delete objects that a message offloaded just now refers "
            "to; if nothing is written meanwhile, pass unsafe=True"
        )
    opened = open_store(store)
    gone = [*require_iterable(forget, _NAMES, hint='forget=["old-chat"]')]
    given = [*_checked(owners), *(Needs(name, ()) for name in gone)]
    look = partial(_Look, opened, given, gone, time.time() - grace, Mentions(opened))
    found = look()
    uploads = tuple(filter(found.is_old_upload, opened.iter_uploads()))
    objects = found.unneeded
    if delete:
        named = require_iterable(everything, _NAMES, hint='everything=["old-chat"]')
        # One that can't be asked, such as a queue, needs nothing but what is recent.
        recent = (each.name for each in given if isinstance(each, Recent))
        found.check_needs({*named, *gone, *recent})
        # Looked at again: what moved from one owner to another meanwhile, or into an object, was
        # perhaps seen at neither.
        keys = {each.stat.key for each in objects}
        found = look(found.needed)
        objects = [*found.delete(each for each in found.unneeded if each.stat.key in keys)]
        for upload in uploads:
            opened.abort_upload(upload)
        found.forget(gone, objects)
    return Swept(tuple(each.stat for each in objects), uploads, delete)


def _checked(owners: Owner | Iterable[Owner]) -> list[Owner]:
    """Return owners in a list."""
    alone: Any = [owners] if hasattr(owners, "needed") else owners
    given: list[Owner] = [*require_iterable(alone, "owners in a list", hint=_HINT)]
    for each in given:
        is_one = callable(getattr(each, "needed", None))
        if not is_one or not isinstance(getattr(each, "name", None), str):
            raise InvalidArgument("an owner of objects", each, _HINT)
    return given


@attrs.frozen
class _Object:
    """An object of a store, and its owner."""

    owner: str
    stat: Stat

    @property
    def digits(self) -> str:
        """The digits of its digest."""
        return self.stat.key[-64:]


class _Look:
    """What owners need, what lies in the store, and which of it nobody needs.

    Arguments:
        store: the store, which is listed.
        given: the owners, which are asked before.
        gone: the names of owners that are forgotten.
        before: the time before which an old object was written.
        mentions: reads what stays.
        needed: digits of digests that were needed before; some owners answer only once.

    Raises:
        StoreError: an owner that the store names was not given, or one that is gone is not named.
    """

    def __init__(
        self, store: Store, given: Collection[Owner], gone: Collection[str], before: float,
        mentions: Mentions, needed: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._store = store
        self._needs: defaultdict[str, set[str]] = defaultdict(set)
        for each in given:
            self._needs[each.name] |= digits_needed(each)
        self.needed = {*needed}.union(*self._needs.values())
        self._objects: list[_Object] = []
        self._records: dict[str, OwnerRecord] = {}
        for stat in store.iter_objects():
            self._note(stat)
        self._check_given()
        self._check_known(gone)
        self._befores: dict[str, float] = {}
        for each in given:
            self._befores[each.name] = self._before(each, before)
        self.unneeded = self._find_unneeded(mentions)
        """The old objects that nobody needs and no kept object mentions."""

    def _note(self, stat: Stat) -> None:
        owner = _place_of(stat.key)
        if owner is not None:
            self._objects.append(_Object(owner, stat))
        elif stat.key == RECORD:
            _check_place(self._store)
        elif stat.key.startswith(PLACES) and (record := read_record(self._store, stat.key)):
            self._records[record.name] = record

    def _check_given(self) -> None:
        named = dict(self._records)
        if any(each.owner == MESSAGES for each in self._objects):
            named[MESSAGES] = _TOP
        missing = [named[name] for name in sorted(named.keys() - self._needs.keys())]
        if missing:
            problem = (
                "owners of objects here were not given, and only an owner knows what it needs: "
                f"{', '.join(map(str, missing))}; for one that is gone for good, forget=[name], in "
                "the shell --forget NAME"
            )
            raise StoreError(problem, self._store.url)

    def _check_known(self, gone: Iterable[str]) -> None:
        for name in gone:
            record = self._records.get(name)
            if record is None:
                known = ", ".join(sorted(self._records)) or "nobody"
                problem = f"there is no owner {quote(name)} to forget here; named are {known}"
                raise StoreError(problem, self._store.url)
            if record.kind == UNREADABLE:
                problem = "this is not the record of an owner, so nothing of it can be forgotten"
                raise StoreError(problem, self._store.url, f"{record.place}/{RECORD}")

    def _before(self, owner: Owner, before: float) -> float:
        """Return the time before which an old object of an owner was written."""
        record = _TOP if owner.name == MESSAGES else self._records.get(owner.name)
        # Another place of that name is not the owner's.
        if record is None or record.kind == UNREADABLE:
            return -math.inf
        own = before - owner.seconds if isinstance(owner, Recent) else before
        return min(own, self._befores.get(owner.name, own))

    def _find_unneeded(self, mentions: Mentions) -> list[_Object]:
        old: dict[str, list[_Object]] = {}
        kept: list[Stat] = []
        owners = {MESSAGES, *self._records}
        for each in self._objects:
            before = self._befores.get(each.owner, -math.inf)
            if each.digits not in self.needed and _is_old(each.stat, before):
                old.setdefault(each.digits, []).append(each)
            elif each.owner in owners:  # others may hold anything
                kept.append(each.stat)
        # One object may lie in several places, in one of which it is young.
        mentioned = mentions.of(kept, {digits: found[0].stat for digits, found in old.items()})
        return [each for digits, found in old.items() if digits not in mentioned for each in found]

    def is_old_upload(self, upload: Upload) -> bool:
        """Return whether an unfinished upload was begun so early that it can be aborted."""
        return upload.started < self._befores.get(_place_of(upload.key) or "", -math.inf)

    def check_needs(self, allowed: Collection[str]) -> None:
        """Raise an error if an owner with old objects needs none of its objects."""
        old = Counter(each.owner for each in self.unneeded if each.owner not in allowed)
        for name, number in old.items():
            needs = self._needs[name]
            if needs.isdisjoint(each.digits for each in self._objects if each.owner == name):
                named = f" ({count_of(len(needs), 'object')}, none of them in its place)"
                problem = (
                    f"the owner {name} needs nothing of this store{named * bool(needs)}, so all of "
                    f"its {count_of(number, 'old object')} would be deleted; it was probably "
                    "asked about another store, or not about all that it has. If it has really no "
                    f"use for them, allow it for this owner: everything=[{quote(name)}], in the "
                    f"shell --everything {name}"
                )
                raise StoreError(problem, self._store.url)

    def delete(self, objects: Iterable[_Object]) -> Iterator[_Object]:
        """Delete the objects that are still old, and yield them."""
        by_owner: defaultdict[str, list[_Object]] = defaultdict(list)
        for each in objects:
            by_owner[each.owner].append(each)
        for name, found in by_owner.items():
            place = "" if name == MESSAGES else f"{PLACES}{name}"
            own = self._store.below(place) if place else self._store
            with Mark(own) as mark:
                for each in found:
                    key = each.stat.key.removeprefix(f"{place}/")
                    # Age is read again, because an object may have been written again meanwhile.
                    if _is_old(mark.stat(key), self._befores[name]):
                        own.delete(key)
                        yield each

    def forget(self, gone: Iterable[str], deleted: Iterable[_Object]) -> None:
        """Delete the records of owners whose last objects were deleted."""
        left = Counter(each.owner for each in self._objects)
        left.subtract(each.owner for each in deleted)
        for name in gone:
            if not left[name]:
                self._store.delete(f"{self._records[name].place}/{RECORD}")


def _place_of(key: str) -> str | None:
    """Return the owner in whose place an object lies; None for what offloading did not make."""
    match = _OBJECT.fullmatch(key)
    if match is None:
        return None
    owner = match["owner"]
    if owner is None:
        return MESSAGES
    return owner if is_owner_name(owner) else None


def _check_place(store: Store) -> None:
    """Raise an error if a store is the place of an owner in another one."""
    name = owner_of_place(store)
    if name is not None:
        outer = store.url.removesuffix(f"/{PLACES}{name}")
        problem = f"this is the place of the owner {name} in a store; sweep the store: {outer}"
        raise StoreError(problem, store.url)


def _is_old(found: Stat | None, before: float) -> bool:
    """Return whether an object is there and old; an object of unknown age is not."""
    return found is not None and found.modified is not None and found.modified < before
