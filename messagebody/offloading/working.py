"""Doing the same to many parts at once: bounded threads, bounded memory, clean cancellation."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import attrs

from messagebody.stores import Interrupted

__all__ = ["Gate", "Interrupted", "Outcome", "Stop", "reporter", "run_all"]

_T = TypeVar("_T")
_WORKERS = 16
_GATE = 64 * 1024 * 1024


class Stop(threading.Event):
    """Tells workers to stop at the next safe place."""

    def check(self) -> None:
        """Raise if the work was cancelled."""
        if self.is_set():
            raise Interrupted


class Gate:
    """Lets work in whose bytes fit together into memory; one that never fits goes alone."""

    def __init__(self, capacity: int = _GATE) -> None:
        self._capacity = capacity
        self._free = capacity
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Wait until `size` bytes are free, and hold them for the block."""
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


def reporter(callback: Any, size: int) -> Callable[[int], None]:
    """Return what tells an fsspec `Callback` of bytes, from any thread; nobody if it is None.

    Arguments:
        callback: the callback.
        size: bytes there will be in all.
    """
    if callback is None:
        return lambda _: None
    callback.set_size(size)
    lock = threading.Lock()

    def report(count: int) -> None:
        with lock:
            callback.relative_update(count)

    return report


@attrs.frozen
class Outcome:
    """What came of one piece of work: a value, an error, or neither when it was not begun."""

    value: object = None
    error: Exception | None = None
    begun: bool = True


def run_all(
    work: Sequence[Callable[[], _T]], stop: Stop, *, fail_fast: bool = False
) -> list[Outcome]:
    """Run pieces of work on a few threads and return what came of each, in order.

    Arguments:
        work: the pieces.
        stop: set when the caller, or an interrupt, ends the work.
        fail_fast: begin nothing new once a piece has failed; what runs is finished.
    """
    if len(work) == 1:
        return [_attempt(work[0], stop)]
    with ThreadPoolExecutor(min(_WORKERS, len(work) or 1), "messagebody") as pool:
        futures = [pool.submit(_checked, piece, stop) for piece in work]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            if fail_fast and any(future.exception() for future in done):
                pool.shutdown(wait=True, cancel_futures=True)
            else:  # a cancelled future never counts as done, so there is nothing to wait for above
                wait(futures)
            return [_outcome(future) for future in futures]
        except BaseException:
            # An interrupt: what runs stops at its next buffer and undoes what it began.
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _checked(piece: Callable[[], _T], stop: Stop) -> _T:
    stop.check()
    return piece()


def _attempt(piece: Callable[[], _T], stop: Stop) -> Outcome:
    stop.check()
    try:
        return Outcome(piece())
    except Interrupted:
        raise
    except Exception as error:  # noqa: BLE001 - reported with the part it belongs to
        return Outcome(error=error)


def _outcome(future: "Future[_T]") -> Outcome:
    if future.cancelled():
        return Outcome(begun=False)
    error = future.exception()
    if error is None:
        return Outcome(future.result())
    if isinstance(error, Interrupted) or not isinstance(error, Exception):
        raise error
    return Outcome(error=error)
