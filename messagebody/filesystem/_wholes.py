"""Contents that no server sends in ranges: the last few are kept whole, to cut ranges of them."""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from messagebody.storage._references.spool import Spool

_MOST: Final = 4
"""Number of contents that are kept; each may have a private temporary file."""


class Wholes:
    """Whole contents by key. Threads that ask for one content at the same time fetch it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Whole] = OrderedDict()

    def has(self, key: Hashable) -> bool:
        """Return whether a content is kept, or being fetched."""
        return (os.getpid(), key) in self._kept

    def cut(self, key: Hashable, start: int, end: int, fetch: Callable[[], Spool]) -> bytes:
        """Return a range of a content, which is fetched if it is not kept.

        Arguments:
            key: identifies the content, and who may read it.
            start: the first byte.
            end: the byte after the last.
            fetch: fetches the content.
        """
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
        """Return a range."""
        with self._lock:
            if self._spool is None:
                self._spool = fetch()
                weakref.finalize(self, self._spool.close)
            stream = self._spool.stream()
            stream.seek(start)
            return stream.read(max(0, end - start))
