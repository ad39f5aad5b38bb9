"""Migration of references to another store."""

import os
from functools import partial
from typing import Any

from messagebody._base.guards import require_body
from messagebody._base.threads import Stop
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import StoreError
from messagebody.storage._offloading._inline import budget_for
from messagebody.storage._offloading._jobs import about, replace_parts, reporter, subject_of
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.spool import SpoolBlob
from messagebody.storage._stores import Store, open_store
from messagebody.storage._stores.blobs import Watched
from messagebody.storage._stores.objects import Verify, ensure


def migrate(
    body: MessageBody,
    store: str | os.PathLike[str] | Store,
    *,
    source: str | os.PathLike[str] | Store | None = None,
    resolver: Resolver | None = None,
    all: bool = False,  # noqa: A002 - the natural name
    verify: Verify | None = None,
    callback: Any = None,
    stop: Stop | None = None,
) -> MessageBody:
    """Return a copy of a body whose references point to copies in another store.

    Every reference is read, verified and stored before the body is returned; nothing is deleted.
    The body's digest stays the same.

    Arguments:
        body: the body, which is not changed.
        store: the destination: a store, its URL, or the path of a directory.
        source: the source: only references to this store are migrated, and may be read.
        resolver: decides which references are read; by default `source`, or the body's resolver.
        all: also migrate references without a digest.
        verify: as in `offload`.
        callback: an fsspec `Callback`, which gets the number of read bytes.
        stop: cancels the work from another thread.

    Raises:
        UnsafeReference: the resolver does not allow a reference.
        DigestMismatch: the bytes don't match the reference; nothing else is copied.
        StoreError: a store failed for one part; see its subclasses.
        PartsFailed: several parts failed for different reasons.

    Examples:
        >>> from messagebody import MessageBody, migrate, offload
        >>> body = MessageBody()
        >>> part = body.add("cats " * 1000, name="/notes.txt")
        >>> small = offload(body, "memory://tests", threshold="1 KiB")
        >>> moved = migrate(small, "memory://archive", source="memory://tests")
        >>> moved["/notes.txt"].url[:24], moved.digest == body.digest
        ('memory://archive/sha256/', True)
    """
    require_body(body)
    body = body.copy()  # a snapshot, because the caller may go on editing it
    opened = open_store(store)
    # The application gave the source, so it is allowed, and nothing else.
    below = None if source is None else Resolver(allow=source, public_https=False)
    chosen = [(at, part) for at, part in enumerate(body) if _is_to_move(part, opened, below, all)]
    progress = reporter(callback, sum(part.size or 0 for _, part in chosen))
    budgets = budget_for(resolver or below, progress=progress)
    stop = stop or Stop()
    work = {
        at: partial(_move, at, part, opened, verify, stop, *budgets(part)) for at, part in chosen
    }
    return replace_parts(body, work, "migrated", stop, fail_fast=True)


def _is_to_move(part: Part, store: Store, below: Resolver | None, take_all: bool) -> bool:
    # References to the destination are skipped, so that a run after a failure continues.
    if part.reference is None or part.reference.url.startswith(store.url_of("")):
        return False
    if below is not None and not below.allows(part.reference.url):
        return False
    return take_all or part.reference.digest is not None


def _move(
    position: int,
    part: Part,
    store: Store,
    verify: Verify | None,
    stop: Stop,
    resolver: Resolver,
    budget: FetchBudget,
) -> Part:
    reference = part.reference
    if reference is None:
        raise TypeError("only references can be migrated")
    spool = resolver.fetch(reference, subject=subject_of(position, part), budget=budget)
    try:
        blob = Watched(SpoolBlob(spool), stop)
        stored = ensure(store, spool.digest, blob, part.content_type, verify)
    except StoreError as error:
        raise about(error, subject_of(position, part)) from error.__cause__
    finally:
        spool.close()
    return part.evolve(url=stored.url, size=stored.size, digest=stored.digest)
