"""Inlining: reading the content of references back into a body or into a file."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from messagebody._base.files import replace_file
from messagebody._base.guards import require_body, require_path, require_resolver
from messagebody._base.hints import guided
from messagebody._base.limits import CHUNK
from messagebody._base.text import escape, human_size, redact_url
from messagebody._base.threads import Stop
from messagebody._model.access import resolver_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import InvalidArgument, LimitExceeded, MessageBodyError, StoreError
from messagebody.storage._offloading._jobs import replace_parts, reporter, subject_of
from messagebody.storage._offloading._offload import EVERY_NAME, EVERY_TYPE, selector
from messagebody.storage._offloading._put import FileBlob
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.reader import read_reference
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.spool import SpoolBlob
from messagebody.storage._stores import Blob, Bytes


@guided
def inline(
    body: MessageBody,
    *,
    resolver: Resolver | None = None,
    names: str = EVERY_NAME,
    content_type: str = EVERY_TYPE,
    all: bool = False,  # noqa: A002 - the natural name
    max_bytes: int | None = None,
    callback: Any = None,
    stop: Stop | None = None,
) -> MessageBody:
    """Return a copy of a body with the verified content of its references and local files.

    By default, references with a digest are read, such as those of `offload`. A reference without a
    digest is kept, which is not an error, because its content could not be verified. With a pattern
    for names or types, all matching references are read, and with `all` every reference.

    Arguments:
        body: the body, which is not changed.
        resolver: decides which references are read; by default the body's resolver, or a closed
            one.
        names: a glob; references whose names match are read, with or without a digest.
        content_type: a glob; references whose types match are read, with or without a digest.
        all: also read references without a digest.
        max_bytes: the maximum number of bytes to read in total.
        callback: an fsspec `Callback`, which gets the number of read bytes.
        stop: cancels the work from another thread.

    Raises:
        UnsafeReference: the resolver does not allow a reference; the text has advice.
        DigestMismatch: the bytes don't match the reference.
        LimitExceeded: a limit is exceeded.
        PartsFailed: several parts failed for different reasons.

    Examples:
        >>> from messagebody import MessageBody, Resolver, inline, offload
        >>> body = MessageBody()
        >>> part = body.add("cats " * 1000, name="/notes.txt")
        >>> small = offload(body, "memory://tests", threshold="1 KiB")
        >>> inline(small, resolver=Resolver(allow="memory://tests")) == body
        True
    """
    require_body(body)
    require_resolver(resolver)
    body = body.copy()  # a snapshot, because the caller may go on editing it
    wanted = _chooser(names, content_type, take_all=all)
    chosen = [(position, part) for position, part in enumerate(body) if wanted(part)]
    _check_total([part for _, part in chosen], max_bytes)
    progress = reporter(callback, sum(p.size or 0 for _, p in chosen if p.is_reference))
    budgets = budget_for(resolver, max_bytes, progress)
    work = {at: partial(_read_in, at, part, *budgets(part)) for at, part in chosen}
    return replace_parts(body, work, "read in", stop or Stop())


def _chooser(names: str, content_type: str, *, take_all: bool) -> Callable[[Part], bool]:
    by_pattern = (names, content_type) != (EVERY_NAME, EVERY_TYPE)
    selects = selector(names, content_type, unnamed=names == EVERY_NAME)

    def wanted(part: Part) -> bool:
        if not selects(part.name, part.content_type):
            return False
        if part.url is None:
            return part.local_file is not None
        # Content without a digest can't be verified, so it is only read on request.
        return take_all or by_pattern or part.digest is not None

    return wanted


def _check_total(parts: list[Part], max_bytes: int | None) -> None:
    total = sum(part.size or 0 for part in parts)
    if max_bytes is not None and total > max_bytes:
        raise LimitExceeded(
            f"the references hold {human_size(total)}, max_bytes is {human_size(max_bytes)}"
        )


def _read_in(position: int, part: Part, resolver: Resolver, budget: FetchBudget) -> Part:
    if part.reference is None:
        return part.evolve(content=part.read_bytes())
    subject = subject_of(position, part)
    data = read_reference(part.reference, resolver=resolver, subject=subject, budget=budget)
    return part.evolve(content=data)


def budget_for(
    resolver: Resolver | None,
    max_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Callable[[Part], tuple[Resolver, FetchBudget]]:
    """Return a function from a part to its resolver (given, bound or closed) and budget."""
    # One closed resolver for all parts, so that they share its budget.
    closed = Resolver()
    budgets: dict[Resolver, FetchBudget] = {}

    def pick(part: Part) -> tuple[Resolver, FetchBudget]:
        chosen = resolver or resolver_of(part) or closed
        # One budget for the whole call, so that the cost does not grow with the number of parts.
        if chosen not in budgets:
            limits = chosen.limits
            if max_bytes is not None:
                limits = attrs.evolve(limits, body_bytes=min(limits.body_bytes, max_bytes))
            budgets[chosen] = FetchBudget(limits, progress)
        return chosen, budgets[chosen]

    return pick


def fetch(
    part: Part,
    path: str | os.PathLike[str],
    *,
    resolver: Resolver | None = None,
    callback: Any = None,
) -> Path:
    """Write the verified content of a part to a file atomically, and return its path.

    Memory holds only a few MiB at a time, even for a large part.

    Arguments:
        part: the part: a reference, a local file, or inline content.
        path: the file; an existing file is replaced.
        resolver: decides whether a reference is read; by default the part's resolver, or a closed
            one.
        callback: an fsspec `Callback`, which gets the number of read bytes.

    Raises:
        UnsafeReference: the resolver does not allow the reference; the text has advice.
        DigestMismatch: the bytes don't match the reference.
        StoreError: the store failed, or the file can't be written.

    Examples:
        >>> from messagebody import MessageBody, Resolver, fetch, offload
        >>> body = MessageBody()
        >>> part = body.add("cats " * 1000, name="/notes.txt")
        >>> small = offload(body, "memory://tests", threshold="1 KiB")
        >>> file = fetch(small["/notes.txt"], "notes.txt", resolver=Resolver(allow="memory://tests"))
        >>> file.stat().st_size
        5000
    """
    require_path(path)
    require_resolver(resolver)
    if not isinstance(part, Part):
        hint = "body[…] returns a part of a body" if isinstance(part, MessageBody) else ""
        raise InvalidArgument("a Part", part, hint)
    with _content(part, resolver, callback) as blob:
        try:
            replace_file(path, blob.buffers(CHUNK))
        except MessageBodyError:
            raise
        except OSError as error:
            problem = f"{part.label} can't be written to {escape(os.fspath(path))}"
            problem += f": {error.strerror or type(error).__name__}"
            raise StoreError(problem, redact_url(part.url or "")) from error
    return Path(path)


@contextlib.contextmanager
def _content(part: Part, resolver: Resolver | None, callback: Any) -> Iterator[Blob]:
    if part.reference is None:
        file = part.local_file
        yield Bytes(part.read_bytes()) if file is None else FileBlob(file, file.digest())
        return
    progress = reporter(callback, part.size or 0)
    chosen, budget = budget_for(resolver, progress=progress)(part)
    spool = chosen.fetch(part.reference, subject=part.label, budget=budget)
    with contextlib.closing(spool):
        yield SpoolBlob(spool)
