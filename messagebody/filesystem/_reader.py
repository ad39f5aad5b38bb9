"""The content of a body's files, including the content behind references."""

import contextlib
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any, Final

from messagebody._model.access import access_of, parts_of
from messagebody._model.content import Reference
from messagebody._model.part import Part
from messagebody.filesystem._files import PartReader, described_stream
from messagebody.filesystem._paths import concerning
from messagebody.filesystem._tree import FileTree
from messagebody.storage._references.limits import FetchBudget
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.sources import NoRanges
from messagebody.storage._references.spool import Spool

_MOST: Final = 4
"""Number of whole contents that are kept; each may have a private temporary file."""


class FileReader:
    """Reads the files of a tree.

    Arguments:
        tree: the files.
    """

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._sizes: dict[str, int] = {}  # by the URLs of references that state none
        self._wholes = _Wholes()

    def open(self, path: str, url: str, *, whole: bool) -> Any:
        """Open a file for reading.

        Arguments:
            path: the path.
            url: the name of the stream; see `described_stream`.
            whole: whether a reference is fetched and verified first.
        """
        if (content := self.inline(path)) is not None:
            return PartReader(path, url, content)
        part = self._tree.file(path)
        with concerning(path):
            if not whole or part.reference is None:
                return described_stream(part.open(), path, url, self._known_size(part))
            spool = self._fetch(part, part.reference)
        return described_stream(spool.stream(), path, url, spool.size)

    def read(self, path: str, start: int | None, end: int | None) -> bytes:
        """Return the content of a file, or a range; of a reference only the range is requested."""
        part = self._tree.file(path)
        with concerning(path):
            if start is None and end is None:
                return part.read_bytes()
            return self._range(path, part, start, end)

    def inline(self, path: str) -> bytes | None:
        """Return content that is in the message; None if it is elsewhere or the part is missing."""
        tree = self._tree
        record = parts_of(tree.body).find(tree.name(path))
        content = None if record is None else record.content
        return content.encode() if isinstance(content, str) else content

    def size(self, path: str, part: Part) -> int:
        """Return the size of a part; one that is not stated is requested once."""
        found = self._known_size(part)
        if found is None:
            with concerning(path):
                resolver, budget = self._access(part)
                found = resolver.size(str(part.url), subject=part.label, budget=budget)
            self._sizes[str(part.url)] = found
        return found

    def has_references(self, paths: Iterable[str]) -> bool:
        """Return whether a path leads to a reference, which is slow to read."""
        parts = map(self._tree.part, paths)
        return any(part is not None and part.is_reference for part in parts)

    def sign(self, path: str, expires: int) -> str:
        """Return a signed URL of a reference that an explicit allow entry covers.

        Raises:
            NotImplementedError: the content is in the message.
        """
        part = self._tree.file(path)
        if part.url is None:
            raise NotImplementedError(f"{part.label} is in the message; nothing to sign")
        with concerning(path):
            return self._access(part)[0].sign(
                part.url, expires=expires, content_type=part.content_type, subject=part.label
            )

    def _known_size(self, part: Part) -> int | None:
        return self._sizes.get(str(part.url)) if part.size is None else part.size

    def _access(self, part: Part) -> tuple[Resolver, FetchBudget | None]:
        """Return the resolver of a part, and the remaining fetch budget if there is one."""
        found = access_of(part)
        return found["resolver"] or Resolver(), found["budget"]

    def _fetch(self, part: Part, reference: Reference) -> Spool:
        resolver, budget = self._access(part)
        return resolver.fetch(reference, subject=part.label, budget=budget)

    def _range(self, path: str, part: Part, start: int | None, end: int | None) -> bytes:
        size = self._known_size(part)
        if size is None and (end is None or end < 0 or (start or 0) < 0):
            size = self.size(path, part)
        if size is not None:
            # Some servers refuse a range that goes beyond the end.
            start, end, _ = slice(start, end).indices(size)
        start, end = start or 0, end or 0
        # Complete content can be verified, so it is.
        if size is not None and (start, end) == (0, size):
            return part.read_bytes()
        if part.reference is not None:
            return self._range_of_reference(part, part.reference, start, end)
        with part.open() as stream:
            stream.seek(start)
            return stream.read(max(end - start, 0))

    def _range_of_reference(self, part: Part, reference: Reference, start: int, end: int) -> bytes:
        resolver, budget = self._access(part)
        key = resolver, reference
        if not (resolver.require_digest or self._wholes.has(key)):
            # Some servers send everything, whatever range is asked for.
            with contextlib.suppress(NoRanges):
                return resolver.read_range(
                    reference.url, start, end, subject=part.label, budget=budget, skips=False
                )
        return self._wholes.cut(key, start, end, partial(self._fetch, part, reference))


class _Wholes:
    """The last contents that no server sends in ranges, by key, to cut ranges of them.

    Threads that ask for one content at the same time fetch it once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Whole] = OrderedDict()

    def has(self, key: Hashable) -> bool:
        """Return whether a content is kept, or being fetched."""
        return (os.getpid(), key) in self._kept

    def cut(self, key: Hashable, start: int, end: int, fetch: Callable[[], Spool]) -> bytes:
        """Return a range of a content, which is fetched if it is not kept."""
        # A forked process would share the position in a temporary file.
        place = os.getpid(), key
        with self._lock:
            whole = self._kept.pop(place, None) or _Whole()
            self._kept[place] = whole
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        try:
            return whole.cut(start, end, fetch)
        except BaseException:
            with self._lock:
                self._kept.pop(place, None)
            raise


class _Whole:
    """A content, once it is fetched; it is deleted when nobody uses it any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spool: Spool | None = None

    def cut(self, start: int, end: int, fetch: Callable[[], Spool]) -> bytes:
        with self._lock:
            if self._spool is None:
                self._spool = fetch()
                weakref.finalize(self, self._spool.close)
            stream = self._spool.stream()
            stream.seek(start)
            return stream.read(max(0, end - start))
