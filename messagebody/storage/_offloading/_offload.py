"""Offloading: moving the content of parts to a store, and replacing it by references."""

import contextlib
import os
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from messagebody._base.digests import NO_DIGEST, key_of, sha256_of
from messagebody._base.guards import require_body
from messagebody._base.hints import guided
from messagebody._base.limits import parse_size
from messagebody._base.text import human_size
from messagebody._base.threads import Stop
from messagebody._model.access import body_like, body_of, part_of, parts_of, record_of
from messagebody._model.body import MessageBody
from messagebody._model.content import LocalFile, Reference
from messagebody._wire import data_urls
from messagebody._wire.members import PartRecord, RichRecord, inline_size
from messagebody.errors import LimitExceeded, StoreError
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.storage._offloading._jobs import about, reporter, run_each, subject_of
from messagebody.storage._offloading._put import FileBlob
from messagebody.storage._stores import Blob, Bytes, Store, open_destination
from messagebody.storage._stores.blobs import Watched
from messagebody.storage._stores.objects import Verify, ensure

EVERY_NAME: Final = "/**"
EVERY_TYPE: Final = "*/*"
_WHOLE: Final = 64 * 1024 * 1024
"""The maximum size of a local file that is read once, and hashed and sent from memory."""
_STREAMING: Final = 48 * 1024 * 1024
"""The memory that streaming a larger file needs."""
_AT_ONCE: Final = 64 * 1024 * 1024
"""Bytes of content that all workers may hold at a time."""


@guided
def offload(
    body: MessageBody,
    store: str | os.PathLike[str] | Store,
    *,
    threshold: int | str = "256 KiB",
    fit: int | str | None = None,
    names: str = EVERY_NAME,
    content_type: str = EVERY_TYPE,
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
        names: a glob of names; only parts of these are offloaded.
        content_type: a glob of content types; only parts of these are offloaded.
        unnamed: whether unnamed parts are offloaded, too.
        storage_options: the options of `storage.open_store`, or of `serving.UploadAddress`, if
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
    records = parts_of(body).records()  # a snapshot, because the caller may go on editing it
    opened = open_destination(store, **(storage_options or {}))
    selects = selector(names, content_type, unnamed=unnamed)
    most = parse_size(threshold)
    sizes = _weigh(records, selects, most if fit is None else -1)
    chosen = {at: size for at, size in sizes.items() if size > most}
    if fit is not None:
        url = opened.url_of(key_of(NO_DIGEST))
        chosen |= _choose_to_fit(records, sizes, chosen, url, parse_size(fit))
    sender = _Sender(opened, verify, stop or Stop(), reporter(callback, sum(chosen.values())))
    work = {
        at: partial(_read_in, record) if size is None else partial(sender.move, at, record, size)
        for at, record in enumerate(records)
        if (size := chosen.get(at)) is not None or _local_file(record) is not None
    }
    subject = partial(_subject, records)
    for at, record in run_each(work, subject, "offloaded", sender.stop, fail_fast=True).items():
        records[at] = record
    return body_like(body, records)


def selector(names: str, content_type: str, *, unnamed: bool) -> Callable[[str | None, str], bool]:
    """Return a function that selects parts by their name and content type.

    Raises:
        InvalidPattern: a pattern breaks the rules, or can match nothing.
    """
    by_name = None if names == EVERY_NAME else name_pattern(names)
    by_type = None if content_type == EVERY_TYPE else content_type_pattern(content_type)
    for pattern in filter(None, (by_name, by_type)):
        pattern.require_matches()  # otherwise, nothing would silently be offloaded

    def selects(name: str | None, content_type: str) -> bool:
        named = unnamed if name is None else by_name is None or by_name.matches(name)
        return named and (by_type is None or by_type.matches(content_type))

    return selects


def _weigh(
    records: Iterable[PartRecord], selects: Callable[[str | None, str], bool], least: int
) -> dict[int, int]:
    """Return the sizes of the parts that may be offloaded and are larger than `least`."""
    return {
        at: size
        for at, record in enumerate(records)
        if (size := _size_here(record)) is not None
        and size > least
        and selects(record.name, record.content_type)
    }


def _choose_to_fit(
    records: Sequence[PartRecord], sizes: Mapping[int, int], chosen: Container[int], url: str,
    fit: int,
) -> dict[int, int]:  # fmt: skip
    """Return the sizes of the parts to offload beside the chosen ones, so that the JSON fits.

    Raises:
        LimitExceeded: it can't be made to fit.
    """
    # The brackets, and the commas between parts.
    length = 2 + max(0, len(records) - 1)
    gains: dict[int, int] = {}
    for at, record in enumerate(records):
        small = None
        if at in sizes:
            small = _json_length(_as_reference(record, url, sizes[at], NO_DIGEST))
        if small is not None and at in chosen:
            length += small
            continue
        mine = _json_length(record)
        length += mine
        if small is not None:
            gains[at] = mine - small
    more = {}
    # The largest gain first, so that few parts are offloaded.
    for at in sorted(gains, key=gains.__getitem__, reverse=True):
        # Short content is smaller than its reference.
        if length <= fit or gains[at] <= 0:
            break
        length -= gains[at]
        more[at] = sizes[at]
    if length > fit:
        raise LimitExceeded(
            f"the body can't be made to fit {human_size(fit)}: with every part that may "
            f"be offloaded its JSON still has {human_size(length)}"
        )
    return more


def _json_length(record: PartRecord) -> int:
    whole = record if _local_file(record) is None else _read_in(record)
    data = body_of([whole]).to_json_bytes()
    # Without the brackets. A message of a queue has these characters as escapes, which are longer.
    return len(data) - 2 + sum(3 * data.count(each.encode()) for each in "\ufffe\uffff")


def _local_file(record: PartRecord) -> LocalFile | None:
    return record.local_file if isinstance(record, RichRecord) else None


def _size_here(record: PartRecord) -> int | None:
    """Return the size of inline or local content, or of a `data:` URL; None for a reference."""
    if record.content is not None:
        return inline_size(record.content)
    file = _local_file(record)
    if file is not None:
        return file.size
    is_here = data_urls.is_data_url(record.url or "")
    return len(_content_here(record)) if is_here else None


def _content_here(record: PartRecord) -> bytes:
    """Return inline or local content, or that of a `data:` URL, without a resolver."""
    if record.content is not None:
        return record.content.encode() if isinstance(record.content, str) else record.content
    file = _local_file(record)
    return data_urls.decode(record.url or "")[1] if file is None else file.read_bytes()


def _read_in(record: PartRecord) -> PartRecord:
    """Return a record with the content of its local file."""
    return record_of(part_of(record).evolve(content=_content_here(record)))


def _as_reference(record: PartRecord, url: str, size: int, digest: str) -> PartRecord:
    """Return a record with its content replaced by a reference, and nothing else changed."""
    # No checks: name, type and metadata come from a part, and `open_store` checked the URL.
    extra = record.extra if isinstance(record, RichRecord) else None
    made: PartRecord = RichRecord(extra=extra) if extra else PartRecord()
    made.name, made.content_type, made.metadata = record.name, record.content_type, record.metadata
    made.url, made.size, made.digest = url, size, digest
    return made


def _subject(records: Sequence[PartRecord], at: int) -> str:
    return subject_of(at, part_of(records[at]))


class MemoryGate:
    """A limit on the memory of concurrent work; work that is larger than the limit runs alone."""

    def __init__(self, capacity: int = _AT_ONCE) -> None:
        self._capacity = capacity
        self._free = capacity
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Wait until `size` bytes are free, and reserve them for the block."""
        # More than the capacity waits until nothing else is reserved.
        size = min(size, self._capacity)
        with self._changed:
            self._changed.wait_for(lambda: self._free >= size)
            self._free -= size
        try:
            yield
        finally:
            with self._changed:
                self._free += size
                self._changed.notify_all()


class _Sender:
    """Sends the content of records to one store, and equal content only once.

    Arguments:
        store: the store.
        verify: how; None for the store's own way.
        stop: cancels the work.
        progress: is told of the bytes that are sent.
    """

    def __init__(
        self, store: Store, verify: Verify | None, stop: Stop,
        progress: Callable[[int], None] | None,
    ) -> None:  # fmt: skip
        self.stop = stop
        self._store, self._verify, self._progress = store, verify, progress
        self._gate = MemoryGate()
        self._lock = threading.Lock()
        self._sent: dict[str, Future[Reference]] = {}

    def move(self, at: int, record: PartRecord, size: int) -> PartRecord:
        """Send the content of a record, from memory if it is small enough; return a reference."""
        file = _local_file(record)
        try:
            if file is not None and size > _WHOLE:
                with self._gate.hold(_STREAMING):
                    digest = file.digest()
                    return self._moved(record, digest, FileBlob(file, digest))
            with self._gate.hold(size):
                data = _content_here(record)
                digest = sha256_of(data)
                return self._moved(record, digest, Bytes(data, digest))
        except StoreError as error:
            raise about(error, subject_of(at, part_of(record))) from error.__cause__

    def _moved(self, record: PartRecord, digest: str, blob: Blob) -> PartRecord:
        """Send content unless equal content was sent or is being sent; return a reference to it."""
        mine: Future[Reference] = Future()
        with self._lock:
            # The first thread sends, and threads with equal content wait for it.
            first = self._sent.setdefault(digest, mine)
        watched = Watched(blob, self.stop, self._progress)
        if first is mine:
            try:
                kind, verify = record.content_type, self._verify
                mine.set_result(ensure(self._store, digest, watched, kind, verify))
            except BaseException as error:
                mine.set_exception(error)
                raise
        if self._progress is not None:
            watched.report(watched.size)  # content that was already there counts as sent
        return _as_reference(record, first.result().url, watched.size, digest)
