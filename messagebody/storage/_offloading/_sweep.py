"""Sweep of a store: finding objects that no owner needs, and deleting them on request.

Because sweeping deletes, it is careful: it deletes only objects with keys of offloading, only old
ones, only in the places of owners that the store names, and only if each of these was asked. What
the content of a kept object mentions is kept, too.
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

# An object, or the temporary file of a killed writer, at the top, in the place of an owner, or in a
# store inside the store.
_OBJECT: Final = re.compile(
    rf"(?:(?:{re.escape(PLACES)}(?P<owner>[^/]+)|(?P<inner>[^/]+))/)?"
    rf"{re.escape(KEY_PREFIX)}(?:[0-9a-f]{{64}}|{TEMPORARY_PATTERN})"
)
_TOP: Final = OwnerRecord(MESSAGES, "messages", "storage.Bodies(bodies)")
_HINT: Final = "sweep(store, Bodies([body]))"


@attrs.frozen
class KeptObjects:
    """Objects that a sweep keeps.

    Arguments:
        owner: the name of their owner, or of the directory in which they lie.
        why: "needed", "mentioned" in the content of another object, "young", or "of no owner".
        count: their number.
        size: their bytes.
    """

    owner: str
    why: str
    count: int
    size: int

    def __str__(self) -> str:
        of = f" {'by' if self.why == 'needed' else 'of'} {self.owner}"
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
    everything: bool | Collection[str] = False,
    storage_options: dict[str, Any] | None = None,
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
        everything: names of owners of which all old objects may be deleted, or True for all owners.
            By default, an owner that needs none is an error, because what it was asked for is
            probably that of another store.
        storage_options: the options of `storage.open_store`, if `store` is not an open store.

    Raises:
        ValueError: the grace period is too short to delete safely while others write.
        InvalidArgument: an owner is something else, such as a body, or needs something that is not
            understood; a name to forget is that of the messages, or of a given owner.
        StoreError: an owner that the store names was not given, or needs nothing of it; one to
            forget is not named there; the store is a directory inside a store, or the place of an
            owner; another sweep deletes, the clock is wrong, or the store failed.
        DecodeError: what an owner refers to can't be decoded, such as an invalid body.
    """
    if delete and grace < GRACE and not unsafe:
        raise ValueError(
            "a grace of under 7 days can delete objects that a message offloaded just now refers "
            "to; if nothing is written meanwhile, pass unsafe=True"
        )
    opened = open_store(store, **(storage_options or {}))
    given = _checked(owners)
    gone = _names(forget, "forget")
    _check_forgotten(gone, given)
    given += [Needs(name, ()) for name in gone]
    _check_level(opened)
    mentions, before = Mentions(opened), time.time() - grace
    found = _Look(opened, given, gone)
    old, befores = found.unneeded(mentions, before), found.befores(before)
    uploads = tuple(
        each for each in opened.iter_uploads()
        if each.started < befores.get(_place_of(each.key) or "", -math.inf)
    )  # fmt: skip
    if delete:
        found.check_needs(old, _allowed(everything, given, gone))
        # Looked at again: what moved from one owner to another meanwhile, or into an object, was
        # perhaps seen at neither.
        found = _Look(opened, given, gone, found.needed)
        again = found.unneeded(mentions, before)
        for name, objects in old.items():
            still = {each.key for each in again.get(name, ())}
            unneeded = [each for each in objects if each.key in still]
            old[name] = [*_delete(opened, name, unneeded, befores[name])]
        for upload in uploads:
            opened.abort_upload(upload)
        for name in gone:
            found.forget(name, old.get(name, ()))
    return Swept(tuple(chain(*old.values())), uploads, (*found.kept(old),), delete)


def _checked(owners: Owner | Iterable[Owner]) -> list[Owner]:
    """Return owners in a list."""
    alone: Any = [owners] if hasattr(owners, "needed") else owners
    given: list[Owner] = [*require_iterable(alone, "owners in a list", hint=_HINT)]
    for each in given:
        is_one = callable(getattr(each, "needed", None))
        if not is_one or not isinstance(getattr(each, "name", None), str):
            raise InvalidArgument("an owner of objects", each, _HINT)
    return given


def _names(names: Any, argument: str) -> list[str]:
    """Return names of owners in a list."""
    hint = f'{argument}=["old-chat"]'
    listed = [*require_iterable(names, "names of owners in a list", hint=hint)]
    for each in listed:
        if not isinstance(each, str):
            raise InvalidArgument("the name of an owner", each, hint)
    return listed


def _check_forgotten(gone: Collection[str], given: Collection[Owner]) -> None:
    """Raise an error unless owners can be forgotten."""
    if MESSAGES in gone:
        hint = "give the messages that are in use: storage.Bodies(bodies)"
        raise InvalidArgument("names of other owners in forget", got=quote(MESSAGES), hint=hint)
    for each in given:
        if each.name in gone:
            hint = "if it is gone for good, do not give it; else do not forget it"
            got = f"{quote(each.name)}, which is given, too"
            raise InvalidArgument("names of owners that are gone in forget", got=got, hint=hint)


def _allowed(everything: Any, given: Iterable[Owner], gone: Iterable[str]) -> set[str]:
    """Return the names of owners that may need nothing."""
    if isinstance(everything, bool):
        named = [each.name for each in given] if everything else []
    else:
        named = _names(everything, "everything")
    return {*named, *gone, *(each.name for each in given if isinstance(each, Recent))}


class _Look:
    """What owners need, and what lies in the store: at its top, and in the place of each owner.

    Arguments:
        store: the store, which is listed.
        given: the owners, which are asked before.
        gone: the names of owners that are forgotten.
        needed: digits of digests that were needed before; some owners answer only once.

    Raises:
        StoreError: an owner that the store names was not given, or one that is gone is not named.
    """

    def __init__(
        self,
        store: Store,
        given: Collection[Owner],
        gone: Collection[str],
        needed: Collection[str] = (),
    ) -> None:
        self._store = store
        self._given = given
        self._needs: defaultdict[str, set[str]] = defaultdict(set)
        for each in given:
            self._needs[each.name] |= digits_needed(each)
        self._records: dict[str, OwnerRecord] = {}
        self._objects: defaultdict[str, list[Stat]] = defaultdict(list)
        for stat in store.iter_objects():
            name = _place_of(stat.key)
            if name is not None:
                self._objects[name].append(stat)
            elif stat.key == RECORD:
                _check_place(store)
            elif stat.key.startswith(PLACES) and (record := read_record(store, stat.key)):
                self._records[record.name] = record
        self._check_given()
        self._check_known(gone)
        self.needed = {*needed}.union(*self._needs.values())
        self._mentioned: set[str] = set()

    def _check_given(self) -> None:
        named = {**self._records, **({MESSAGES: _TOP} if self._objects[MESSAGES] else {})}
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

    def befores(self, before: float) -> dict[str, float]:
        """Return, by owner, the time before which an old object was written.

        Only those that the store names are there: another place of that name is not theirs.
        """
        found: dict[str, float] = {}
        for each in self._given:
            record = _TOP if each.name == MESSAGES else self._records.get(each.name)
            if record is not None and record.kind != UNREADABLE:
                own = before - each.seconds if isinstance(each, Recent) else before
                found[each.name] = min(own, found.get(each.name, own))
        return found

    def unneeded(self, mentions: Mentions, before: float) -> dict[str, list[Stat]]:
        """Return, by owner, the old objects that nobody needs and no kept object mentions."""
        befores = self.befores(before)
        old = {
            name: [each for each in self._objects[name]
                   if _is_old(each, time) and _digits(each) not in self.needed]
            for name, time in befores.items()
        }  # fmt: skip
        others: defaultdict[str, list[Stat]] = defaultdict(list)
        for each in chain(*old.values()):
            others[_digits(each)].append(each)
        # One object may lie in several places, in one of which it is young.
        gone = {each.key for each in chain(*others.values())}
        kept = [each for name in (MESSAGES, *self._records) for each in self._objects[name]
                if each.key not in gone]  # fmt: skip
        self._mentioned = mentions.of(kept, others)
        return {
            name: [each for each in found if _digits(each) not in self._mentioned]
            for name, found in old.items()
        }

    def check_needs(self, old: Mapping[str, Collection[Stat]], allowed: Collection[str]) -> None:
        """Raise an error if an owner with old objects needs none of its objects."""
        for name, objects in old.items():
            here = map(_digits, self._objects[name])
            if objects and name not in allowed and self._needs[name].isdisjoint(here):
                count = len(self._needs[name])
                named = f" ({count_of(count, 'object')}, none of them in its place)" * bool(count)
                problem = (
                    f"the owner {name} needs nothing of this store{named}, so all of its "
                    f"{count_of(len(objects), 'old object')} would be deleted; it was probably "
                    "asked about another store, or not about all that it has. If it has really no "
                    f"use for them, allow it for this owner: everything=[{quote(name)}], in the "
                    f"shell --everything {name}"
                )
                raise StoreError(problem, self._store.url)

    def forget(self, name: str, deleted: Collection[Stat]) -> None:
        """Delete the record of an owner whose last objects were deleted."""
        if len(self._objects[name]) == len(deleted):
            self._store.delete(f"{self._records[name].place}/{RECORD}")

    def kept(self, gone: Mapping[str, Collection[Stat]]) -> Iterator[KeptObjects]:
        """Yield what is kept, if some objects are deleted."""
        for name, objects in self._objects.items():
            keys = {each.key for each in gone.get(name, ())}
            sizes: defaultdict[str, list[int]] = defaultdict(list)
            for each in objects:
                if each.key not in keys:
                    sizes[self._why(name, each, gone)].append(each.size)
            for why, found in sizes.items():
                yield KeptObjects(name, why, len(found), sum(found))

    def _why(self, name: str, stat: Stat, gone: Collection[str]) -> str:
        if _digits(stat) in self.needed:
            return "needed"
        if _digits(stat) in self._mentioned:
            return "mentioned"
        return "young" if name in gone else "of no owner"


def _place_of(key: str) -> str | None:
    """Return the owner in whose place an object lies, or the directory of another store.

    None stands for what offloading did not make.
    """
    match = _OBJECT.fullmatch(key)
    if match is None:
        return None
    owner, inner = match["owner"], match["inner"]
    if owner and is_owner_name(owner):
        return owner
    # The slash tells the directory of a store from an owner of the same name.
    return f"{inner or PLACES + owner}/" if inner or owner else MESSAGES


def _check_place(store: Store) -> None:
    """Raise an error if a store is the place of an owner in another one."""
    name = owner_of_place(store)
    if name is not None:
        outer = store.url.removesuffix(f"/{PLACES}{name}")
        problem = f"this is the place of the owner {name} in a store; sweep the store: {outer}"
        raise StoreError(problem, store.url)


def _check_level(store: Store) -> None:
    """Raise an error if a store is the directory of objects inside another store."""
    parent, _, last = store.url.rstrip("/").rpartition("/")
    if f"{last}/" != KEY_PREFIX:
        return
    keys = [each.key for each in store.iter_objects()]
    if any(_place_of(KEY_PREFIX + key) for key in keys) and not any(map(_place_of, keys)):
        problem = f"this is the directory of objects inside a store; the store is {parent}"
        raise StoreError(problem, store.url)


def _digits(stat: Stat) -> str:
    return stat.key[-64:]


def _is_old(found: Stat, before: float) -> bool:
    """Return whether an object is old; an object of unknown age is not."""
    return found.modified is not None and found.modified < before


def _delete(store: Store, name: str, objects: Collection[Stat], before: float) -> Iterator[Stat]:
    """Delete the objects of an owner that are still old, and yield them."""
    if not objects:
        return
    place = "" if name == MESSAGES else f"{PLACES}{name}"
    own = store.below(place) if place else store
    with Mark(own) as mark:
        for each in objects:
            key = each.key.removeprefix(f"{place}/")
            # Age is read again, because an object may have been written again meanwhile.
            while True:
                mark.renew()
                now = own.stat(key)
                if mark.is_young():
                    break
            if now is not None and _is_old(now, before):
                own.delete(key)
                yield each
