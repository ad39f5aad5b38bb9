"""Limits on the bytes, requests and time of reading references, and a watchdog for deadlines."""

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
    """Limits on the cost of reading references.

    Arguments:
        part_bytes: the bytes of one part.
        body_bytes: the bytes of all references of a body.
        fetches: the requests to web servers for one body, including redirects.
        hosts: the web servers for one body.
        connections_per_host: the simultaneous connections to one web server.
        redirects: the redirects to follow for one part.
        part_seconds: the wall-clock time for one part.
        body_seconds: the wall-clock time for one body, while its references are being read.
        connect_seconds: the time for a host look-up, and for one connection.

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
    """The remaining cost limits of one body; thread-safe.

    Arguments:
        limits: the limits.
        progress: a function that is called with the number of bytes whenever some arrive.
    """

    def __init__(self, limits: FetchLimits, progress: Callable[[int], None] | None = None) -> None:
        self.limits = limits
        self._progress = progress
        self._lock = threading.Lock()
        self._bytes = 0
        self._fetches = 0
        self._readers = 0
        self._since = 0.0  # the start of the current reading, when the first reader began
        self._seconds = 0.0  # the time of earlier readings
        self._slots: defaultdict[str, threading.BoundedSemaphore] = defaultdict(
            lambda: threading.BoundedSemaphore(limits.connections_per_host)
        )

    def check_size(self, size: int) -> None:
        """Refuse content of a stated size, before any of it is requested.

        Raises:
            LimitExceeded: it would be refused at its end.
        """
        if size > self.limits.part_bytes:
            raise LimitExceeded(
                f"{human_size(size)} are stated, over {self.limits.part_bytes:,} bytes "
                "(limit part_bytes)"
            )
        if self._bytes + size > self.limits.body_bytes:
            raise LimitExceeded(
                f"{human_size(size)} more are stated, and the body's references hold over "
                f"{human_size(self.limits.body_bytes)} with them (limit body_bytes)"
            )

    def take_bytes(self, count: int) -> None:
        """Count received bytes."""
        with self._lock:
            self._bytes += count
            # Compare under the lock, but raise outside of it, not to delay other threads.
            is_over = self._bytes > self.limits.body_bytes
        if is_over:
            raise LimitExceeded(
                f"the body's references hold over {human_size(self.limits.body_bytes)} "
                "(limit body_bytes)"
            )
        if self._progress is not None:
            self._progress(count)

    def take_fetch(self, host: str) -> threading.BoundedSemaphore:
        """Count a request, and return the connection slots of its host."""
        with self._lock:
            if self._fetches == self.limits.fetches:
                raise LimitExceeded(f"over {self.limits.fetches:,} requests (limit fetches)")
            # Refused hosts are not stored, because a body may have any number of them.
            if host not in self._slots and len(self._slots) == self.limits.hosts:
                raise LimitExceeded(f"over {self.limits.hosts:,} servers (limit hosts)")
            self._fetches += 1
            return self._slots[host]

    @contextlib.contextmanager
    def part(self) -> Iterator[float]:
        """Count the time of the block as reading a part; yield its deadline (monotonic time)."""
        now = time.monotonic()
        with self._lock:
            # Only the time of reading counts, because a program may keep a body for days.
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
        """Return the deadline of the body, if references are read from now on."""
        return self._since + self.limits.body_seconds - self._seconds

    def check_time(self, deadline: float) -> None:
        """Raise an error if the deadline of a part has passed."""
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

    The timeout of a socket starts again with every byte, so it never stops a server that sends one
    byte per second, or endless headers. The watchdog does.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._timer = self._timer_until(deadline)
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.has_expired = False

    def _timer_until(self, deadline: float) -> threading.Timer:
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._expire)
        # A program that exits must not wait for its deadlines.
        timer.daemon = True
        return timer

    def hasten(self, deadline: float) -> None:
        """Move the deadline forward; a later one changes nothing."""
        if deadline < self._deadline:
            self._timer.cancel()
            self._deadline, self._timer = deadline, self._timer_until(deadline)
            self._timer.start()

    def guard(self, connection: socket.socket) -> None:
        """Watch a connected socket, by a duplicate handle, because TLS takes over the original."""
        with self._lock:
            self._release()
            self._socket = connection.dup()
            # The deadline may have passed while connecting.
            if self.has_expired:
                self._shut_down()

    def _expire(self) -> None:
        with self._lock:
            self.has_expired = True
            self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is None:
            return
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the server has already closed the connection

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
