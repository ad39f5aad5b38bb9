"""Fetch: the content of one part into a file of this machine."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from messagebody.errors import MessageBodyError, StoreError
from messagebody.offloading.reading_back import budget_for
from messagebody.offloading.transfers import FileBlob, SpoolBlob
from messagebody.offloading.working import reporter
from messagebody.part import Part
from messagebody.resolving import Resolver
from messagebody.stores import CHUNK, Blob, Bytes
from messagebody.text import escape, redact_url
from messagebody.whole_file import replace_file

__all__ = ["fetch"]


def fetch(
    part: Part,
    path: str | os.PathLike[str],
    *,
    resolver: Resolver | None = None,
    callback: Any = None,
) -> Path:
    """Write the content of one part to a file, verified, whole or not at all; return its path.

    Only a few MiB are held at a time, however large the part is.

    Arguments:
        part: the part: a reference, a local file, or content that is here.
        path: the file; one that is there is replaced.
        resolver: decides whether a reference is read; the part's own, else one that allows
            nothing of yours.
        callback: an fsspec `Callback`, told the bytes that arrive.

    Raises:
        UnsafeReference: the resolver refuses the reference; the text says how to allow it.
        DigestMismatch: the bytes are not the ones promised.
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
    spool = chosen.fetch(
        part.reference.url,
        size=part.reference.size,
        digest=part.reference.digest,
        subject=part.label,
        budget=budget,
    )
    with contextlib.closing(spool):
        yield SpoolBlob(spool)
