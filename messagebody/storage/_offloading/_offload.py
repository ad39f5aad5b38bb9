"""Offloading: moving the content of parts to a store, and replacing it by references."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import attrs

from messagebody._base.digests import NO_DIGEST, key_of, sha256_of
from messagebody._base.guards import is_web_url, require_body
from messagebody._base.hints import guided
from messagebody._base.limits import parse_size
from messagebody._base.text import human_size
from messagebody._base.threads import Stop
from messagebody._model.access import columns, part_of, record_of
from messagebody._model.body import MessageBody
from messagebody._model.content import size_of
from messagebody._model.part import Part
from messagebody._wire import data_urls
from messagebody._wire.members import PartRecord, RichRecord
from messagebody.errors import LimitExceeded, StoreError
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.storage._offloading._jobs import (
    MemoryGate,
    about,
    replace_parts,
    reporter,
    subject_of,
)
from messagebody.storage._offloading._transfer import FileBlob, Watched
from messagebody.storage._offloading._uploads import UploadAddress
from messagebody.storage._stores import Blob, Bytes, Store, open_store
from messagebody.storage._stores.objects import Verify, ensure


@attrs.frozen
class Selection:
    """A selection of parts by name and content type."""

    names: str = "/**"
    content_types: str = "*/*"
    unnamed: bool = True

    def chooser(self) -> Callable[[str | None, str], bool]:
        """Return a predicate of a name and a content type, with compiled patterns.

        Raises:
            InvalidPattern: a pattern breaks the rules, or can match nothing.
        """
        names, types = name_pattern(self.names), content_type_pattern(self.content_types)
        # A pattern that matches nothing would silently offload nothing.
        names.require_matches()
        types.require_matches()
        name_matches, type_matches = names.matches, types.matches

        def selects(name: str | None, content_type: str) -> bool:
            named = self.unnamed if name is None else name_matches(name)
            return named and type_matches(content_type)

        return selects


@attrs.frozen
class Policy:
    """The policy that chooses the parts to offload.

    Arguments:
        selection: the parts that may be offloaded.
        threshold: a size in bytes; larger parts are offloaded.
        fit: the maximum size of the JSON in bytes; if it is larger, the largest of the other parts
            are offloaded, too.
    """

    selection: Selection
    threshold: int
    fit: int | None = None

    def positions(self, body: MessageBody, url_of: Callable[[str], str]) -> set[int]:
        """Return the positions of the parts to offload.

        Arguments:
            body: the body.
            url_of: a function that returns the URL for a digest; its length counts for `fit`.

        Raises:
            LimitExceeded: the body can't be made to fit.
        """
        sizes = self._eligible(body)
        chosen = {at for at, size in sizes.items() if size > self.threshold}
        if self.fit is not None:
            chosen |= self._to_fit(body, sizes, chosen, url_of(NO_DIGEST), self.fit)
        return chosen

    def _eligible(self, body: MessageBody) -> dict[int, int]:
        """Return the size of each part that may be offloaded, by position."""
        # Columns, because making a `Part` of each of a million records would be slow.
        table, selects = columns(body), self.selection.chooser()
        return {
            at: size
            for at, record in enumerate(table.records)
            if (size := _size_here(record)) is not None
            and selects(table.names[at], table.types[at])
        }

    def _to_fit(
        self, body: MessageBody, sizes: dict[int, int], chosen: set[int], url: str, fit: int
    ) -> set[int]:
        # The brackets, and the commas between parts.
        length = 2 + max(0, len(body) - 1)
        gains: dict[int, int] = {}
        for position, part in enumerate(body):
            small = None
            if position in sizes:
                small = _json_length(as_reference(part, url, sizes[position], NO_DIGEST))
            if small is not None and position in chosen:
                length += small
                continue
            mine = _json_length(part)
            length += mine
            if small is not None:
                gains[position] = mine - small
        more = set()
        # The largest gain first, so that few parts are offloaded.
        for position in sorted(gains, key=gains.__getitem__, reverse=True):
            # Short content is smaller than its reference.
            if length <= fit or gains[position] <= 0:
                break
            length -= gains[position]
            more.add(position)
        if length > fit:
            raise LimitExceeded(
                f"the body can't be made to fit {human_size(fit)}: with every part that may "
                f"be offloaded its JSON still has {human_size(length)}"
            )
        return more


def _size_here(record: PartRecord) -> int | None:
    """Return the size of inline or local content, or of a `data:` URL; None for a reference."""
    if record.url is None:
        local = record.local_file if isinstance(record, RichRecord) else None
        return size_of(record.content if local is None else local)  # type: ignore[arg-type]
    return len(data_urls.decode(record.url)[1]) if data_urls.is_data_url(record.url) else None


def as_reference(part: Part, url: str, size: int, digest: str) -> Part:
    """Return a part with its content replaced by a reference, and nothing else changed."""
    # No checks: name, type and metadata come from a part, and `open_store` checked the URL.
    kept = record_of(part)
    record: Any = RichRecord(extra=part.extra) if part.extra else PartRecord()
    record.name, record.content_type, record.metadata = kept.name, kept.content_type, kept.metadata
    record.url, record.size, record.digest = url, size, digest
    return part_of(record, like=part)


def _json_length(part: Part) -> int:
    if part.local_file is not None:
        part = part.evolve(content=part.read_bytes())
    data = MessageBody([part]).to_json_bytes()
    # Without the brackets. A message of a queue has these characters as escapes, which are longer.
    return len(data) - 2 + sum(3 * data.count(each.encode()) for each in "\ufffe\uffff")


_WHOLE = 64 * 1024 * 1024
"""The maximum size of a local file that is read once, and hashed and sent from memory."""
_STREAMING = 48 * 1024 * 1024
"""The memory that streaming a larger file needs."""


@guided
def offload(
    body: MessageBody,
    store: str | os.PathLike[str] | Store,
    *,
    threshold: int | str = "256 KiB",
    fit: int | str | None = None,
    names: str = "/**",
    content_types: str = "*/*",
    unnamed: bool = True,
    storage_options: dict[str, Any] | None = None,
    callback: Any = None,
    verify: Verify | None = None,
    stop: Stop | None = None,
) -> MessageBody:
    """Return a copy of a body whose large parts are references to a store, with size and digest.

    If there is an error, the body is unchanged, and a second attempt sends only the rest.
    References are kept, except `data:` URLs, which count as content. Local files that are not
    offloaded become inline content, so that the result can always be written.

    Arguments:
        body: the body, which is not changed.
        store: a store, its URL such as "s3://bucket/prefix", the path of a directory, or the
            upload address of a server of messages, "https://agent.example/uploads/".
        threshold: a size in bytes, as a number or text; larger parts are offloaded.
        fit: the maximum size of the whole JSON; the largest of the other parts are offloaded, too,
            until it fits.
        names: a glob; only parts whose names match are offloaded.
        content_types: a glob; only parts whose types match are offloaded.
        unnamed: whether unnamed parts are offloaded, too.
        storage_options: the options of `storage.open_store`, or of `storage.UploadAddress`, if
            `store` is not an open store.
        callback: an fsspec `Callback`, which gets the number of stored bytes.
        verify: after storing, check the "size", or read the content back to check the "digest",
            which is the default for directories.
        stop: cancels the work from another thread.

    Raises:
        StoreError: the store failed for one part; see its subclasses.
        UnsafeReference: an upload address is private or not encrypted, and no resolver allows it.
        PartsFailed: the store failed for several parts.
        LocalFileChanged: a local file has changed since it was added.
        LimitExceeded: the body can't be made to fit.

    Examples:
        >>> from messagebody import MessageBody, offload
        >>> body = MessageBody()
        >>> part = body.add("cats " * 1000, name="/notes.txt")
        >>> offload(body, "memory://tests", threshold="1 KiB")["/notes.txt"].url[:22]
        'memory://tests/sha256/'
    """
    require_body(body)
    body = body.copy()  # a snapshot, because the caller may go on editing it
    opened = _opened(store, storage_options or {})
    policy = Policy(
        Selection(names, content_types, unnamed),
        parse_size(threshold),
        None if fit is None else parse_size(fit),
    )
    chosen = policy.positions(body, lambda digest: opened.url_of(key_of(digest)))
    verify = verify or ("digest" if opened.reads_back else None)
    parts = {at: body[at] for at in {*chosen, *_local_files(body)}}
    progress = reporter(callback, sum(parts[at].size or 0 for at in chosen))
    sender = _Sender(opened, verify, stop or Stop(), progress)
    return sender.send(body, parts, chosen)


def _opened(store: str | os.PathLike[str] | Store, options: dict[str, Any]) -> Store:
    if isinstance(store, str) and is_web_url(store):
        return UploadAddress(store, **options)
    return open_store(store, **options)


def _local_files(body: MessageBody) -> list[int]:
    return [
        at
        for at, record in enumerate(columns(body).records)
        if isinstance(record, RichRecord) and record.local_file is not None
    ]


@attrs.define
class _Sender:
    """Sends the parts of one body to one store, and equal parts only once."""

    store: Store
    verify: Verify | None
    stop: Stop
    progress: Callable[[int], None]
    gate: MemoryGate = attrs.Factory(MemoryGate)
    lock: threading.Lock = attrs.Factory(threading.Lock)
    sent: dict[str, "Future[str]"] = attrs.Factory(dict)

    def send(self, body: MessageBody, parts: dict[int, Part], chosen: set[int]) -> MessageBody:
        """Return the body with the chosen parts sent and replaced, and other local files read."""
        work = {
            position: partial(self._replace, position, part, position in chosen)
            for position, part in sorted(parts.items())
        }
        return replace_parts(body, work, "offloaded", self.stop, fail_fast=True)

    def _replace(self, position: int, part: Part, is_chosen: bool) -> Part:
        try:
            if not is_chosen:
                return part.evolve(content=part.read_bytes())
            digest, size, key = self._store(part)
            return as_reference(part, self.store.url_of(key), size, digest)
        except StoreError as error:
            raise about(error, subject_of(position, part)) from error.__cause__

    def _store(self, part: Part) -> tuple[str, int, str]:
        """Read a part, hash it, and send it; from memory, if it is small enough."""
        file = part.local_file
        if file is not None and file.size > _WHOLE:
            with self.gate.hold(_STREAMING):
                digest = file.digest()
                key = self._once(digest, FileBlob(file, digest), part.content_type)
                return digest, file.size, key
        with self.gate.hold(part.size or 0):
            data = _content_here(part)
            digest = sha256_of(data)
            key = self._once(digest, Bytes(data, digest), part.content_type)
            return digest, len(data), key

    def _once(self, digest: str, blob: Blob, content_type: str) -> str:
        """Send content unless an equal part was sent or is being sent."""
        mine: Future[str] = Future()
        with self.lock:
            # The first thread sends, and threads with equal parts wait for it.
            first = self.sent.setdefault(digest, mine)
        if first is not mine:
            self.progress(blob.size)
            return first.result()
        try:
            mine.set_result(self._ensure(digest, blob, content_type))
        except BaseException as error:
            mine.set_exception(error)
            raise
        return mine.result()

    def _ensure(self, digest: str, blob: Blob, content_type: str) -> str:
        reported = 0

        def report(count: int) -> None:
            nonlocal reported
            count = min(count, blob.size - reported)  # bytes that are sent again count once
            reported += count
            self.progress(count)

        watched = Watched(blob, self.stop, report)
        key = ensure(self.store, digest, watched, content_type, self.verify)
        # Bytes that were already there count as sent.
        report(blob.size)
        return key


def _content_here(part: Part) -> bytes:
    """Return inline or local content, or that of a `data:` URL, without a resolver."""
    return part.read_bytes() if part.url is None else data_urls.decode(part.url)[1]
