"""Limits on bytes, requests and time of reading references, and the watchdog that enforces them."""

import contextlib
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import attrs

from messagebody._base.limits import MIB
from messagebody._base.text import human_size
from messagebody.errors import LimitExceeded


@attrs.frozen
class FetchLimits:
    """Limits on what references may cost; each can be changed.

    Arguments:
        part_bytes: bytes of one part.
        body_bytes: bytes of all references of a body.
        fetches: requests to web servers for one body, redirects included.
        hosts: web servers asked for one body.
        connections_per_host: connections open to one web server at a time.
        redirects: redirects followed for one part.
        part_seconds: wall-clock time for one part.
        body_seconds: wall-clock time for one body, while references of it are being read.
        connect_seconds: time for a look-up, and for one connection.

    Examples:
        >>> FetchLimits(redirects=0).redirects
        0
    """

    part_bytes: int = 1024 * MIB
    body_bytes: int = 4096 * MIB
    fetches: int = 1_000
    hosts: int = 50
    connections_per_host: int = 8
    redirects: int = 5
    part_seconds: float = 300.0
    body_seconds: float = 1800.0
    connect_seconds: float = 10.0


class FetchBudget:
    """The rest of the limits of one body; safe to share between threads.

    Arguments:
        limits: the limits.
        progress: told the number of bytes whenever some arrive.
    """

    def __init__(self, limits: FetchLimits, progress: Callable[[int], None] | None = None) -> None:
        self.limits = limits
        self._progress = progress
        self._lock = threading.Lock()
        self._bytes = 0
        self._fetches = 0
        self._readers = 0
        self._since = 0.0  # when the first of the readers began
        self._seconds = 0.0  # that were spent before
        self._slots: defaultdict[str, threading.BoundedSemaphore] = defaultdict(
            lambda: threading.BoundedSemaphore(limits.connections_per_host)
        )

    def take_bytes(self, count: int) -> None:
        """Count bytes that arrived."""
        with self._lock:
            self._bytes += count
            # Judged under the lock, raised outside: an error must not hold up other threads.
            over = self._bytes > self.limits.body_bytes
        if over:
            raise LimitExceeded(
                f"the body's references hold over {human_size(self.limits.body_bytes)} "
                "(limit body_bytes)"
            )
        if self._progress is not None:
            self._progress(count)

    def take_fetch(self, host: str) -> threading.BoundedSemaphore:
        """Count a request, and return the slots of the host it goes to."""
        with self._lock:
            if self._fetches == self.limits.fetches:
                raise LimitExceeded(f"over {self.limits.fetches:,} requests (limit fetches)")
            # Refused hosts are not remembered: a body may have any number of them.
            if host not in self._slots and len(self._slots) == self.limits.hosts:
                raise LimitExceeded(f"over {self.limits.hosts:,} servers (limit hosts)")
            self._fetches += 1
            return self._slots[host]

    @contextlib.contextmanager
    def part(self) -> Iterator[float]:
        """Read a part in the block; yield when it has to be there (monotonic time)."""
        now = time.monotonic()
        with self._lock:
            # Time counts while somebody reads: a body may be kept for days.
            if self._readers == 0:
                self._since = now
            self._readers += 1
            deadline = min(now + self.limits.part_seconds, self._end())
        try:
            yield deadline
        finally:
            with self._lock:
                self._readers -= 1
                if self._readers == 0:
                    self._seconds += time.monotonic() - self._since

    def _end(self) -> float:
        """Return when the body's time is over, if references are read from now on."""
        return self._since + self.limits.body_seconds - self._seconds

    def check_time(self, deadline: float) -> None:
        """Raise if a part's time is over."""
        if time.monotonic() > deadline:
            raise self.out_of_time()

    def out_of_time(self) -> LimitExceeded:
        """Return the error for a part that took too long."""
        if time.monotonic() > self._end():
            return LimitExceeded(
                f"the body took over {self.limits.body_seconds:g} s (limit body_seconds)"
            )
        return LimitExceeded(
            f"the part took over {self.limits.part_seconds:g} s (limit part_seconds)"
        )


class Watchdog:
    """A timer that shuts a socket down at a deadline.

    A timeout of the socket begins anew at every byte, so that a server which sends one byte a
    second, or headers without end, is never timed out. This ends it.
    """

    def __init__(self, deadline: float) -> None:
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._bite)
        # A program that ends need not wait for its deadlines.
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.has_bitten = False

    def guard(self, connection: socket.socket) -> None:
        """Watch a connected socket: by a handle of our own, for TLS takes the other one over."""
        with self._lock:
            self._release()
            self._socket = connection.dup()
            # The deadline passed while the connection was made.
            if self.has_bitten:
                self._shut_down()

    def _bite(self) -> None:
        with self._lock:
            self.has_bitten = True
            self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is None:
            return
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the other side was faster

    def _release(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._release()
