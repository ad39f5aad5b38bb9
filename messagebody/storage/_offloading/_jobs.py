"""Parallel work on many parts: a thread pool, a memory limit, and one error for all parts."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from functools import partial
from typing import Any, TypeVar

import attrs

from messagebody._base.threads import Interrupted, Pool, Stop
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import PartsFailed, StoreError

_T = TypeVar("_T")
# A usual number for uploads with boto3; more connections were not faster in measurements.
_WORKERS = 16
_TICK = 0.1
"""Seconds between two checks whether the work was cancelled."""
_GATE = 64 * 1024 * 1024
"""Bytes of content that all workers may hold at a time."""


class MemoryGate:
    """A limit on the memory of concurrent work; work that is larger than the limit runs alone."""

    def __init__(self, capacity: int = _GATE) -> None:
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


def reporter(callback: Any, size: int) -> Callable[[int], None] | None:
    """Return a function that reports bytes to an fsspec `Callback`, from any thread.

    Arguments:
        callback: the callback; None if there is nobody to report to.
        size: the total number of bytes.
    """
    if callback is None:
        return None
    callback.set_size(size)
    lock = threading.Lock()

    def report(count: int) -> None:
        # Callbacks of fsspec are not thread-safe.
        with lock:
            callback.relative_update(count)

    return report


@attrs.frozen
class Outcome:
    """The outcome of one piece of work: a value, an error, or neither if it was not started."""

    value: object = None
    error: Exception | None = None
    begun: bool = True


def run_all(
    work: Sequence[Callable[[], _T]], stop: Stop, *, fail_fast: bool = False
) -> list[Outcome]:
    """Run pieces of work on a few threads and return their outcomes, in order.

    Arguments:
        work: the pieces.
        stop: set when the caller, or an interrupt, ends the work.
        fail_fast: start nothing new after a piece has failed; running pieces are finished.
    """
    # An interrupt only reaches the main thread, which must not hang in a store.
    if len(work) == 1 and threading.current_thread() is not threading.main_thread():
        return [_attempt(work[0], stop)]
    pool = Pool(_WORKERS, "messagebody")
    try:
        futures = pool.submit_all([partial(_checked, piece, stop) for piece in work])
        if not _wait(futures, stop, fail_fast=fail_fast):
            raise Interrupted
        return [_outcome(future) for future in futures]
    except BaseException:
        # Running work stops at its next buffer, and rolls back unfinished writes.
        stop.set()
        pool.give_up()
        raise


def _wait(futures: "list[Future[_T]]", stop: Stop, *, fail_fast: bool) -> bool:
    """Wait until all work is done or was not started; return False if it was cancelled."""
    pending = set(futures)
    while pending:
        # Wait in short steps, so that a signal is noticed while all threads are busy in a store.
        done, pending = wait(pending, timeout=_TICK, return_when=FIRST_EXCEPTION)
        if fail_fast and any(future.exception() for future in done):
            pending = {future for future in pending if not future.cancel()}
            # Cancel only once: running pieces are finished, and their errors reported, too.
            fail_fast = False
        if pending and stop.is_set():
            return False
    return True


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


def about(error: StoreError, subject: str) -> StoreError:
    """Return an error of a store with the part that was being stored in its text."""
    kind: Any = type(error)
    named: StoreError = kind(f"{error.problem}, storing {subject}", error.store, error.key)
    for note in getattr(error, "__notes__", ()):
        named.add_note(note)
    return named


def raise_for(failures: Sequence[tuple[str, Exception]], action: str) -> None:
    """Raise one error for all parts that failed, if any did.

    Arguments:
        failures: the descriptions of the parts, and their errors.
        action: a past participle, such as "offloaded".

    Raises:
        PartsFailed: several parts failed; it is also of the errors' class, if they share one.
    """
    if not failures:
        return
    if len(failures) == 1:
        # A single error is raised unchanged, so that `except ObjectNotFound` works.
        raise failures[0][1]
    raise PartsFailed.from_failures(action, failures) from failures[0][1]


def subject_of(position: int, part: Part) -> str:
    """Return the name of a part in errors."""
    return part.label if part.name else f"part {position} (unnamed, {part.content_type})"


def run_each(
    work: Mapping[int, Callable[[], _T]],
    subject: Callable[[int], str],
    action: str,
    stop: Stop,
    *,
    fail_fast: bool = False,
) -> dict[int, _T]:
    """Run a piece of work for each of some parts, and return the results, by position.

    Arguments:
        work: the pieces, by the position of their part.
        subject: the name of a part in errors, by its position.
        action: a past participle for the error, such as "offloaded".
        stop: cancels the work.
        fail_fast: start nothing new after a piece has failed.

    Raises:
        PartsFailed: several parts failed; a single error is raised unchanged.
    """
    outcomes = run_all([*work.values()], stop, fail_fast=fail_fast)
    done: dict[int, Any] = {}
    failures = []
    for at, outcome in zip(work, outcomes, strict=True):
        done[at] = outcome.value
        if outcome.error is not None:
            failures.append((subject(at), outcome.error))
    if failures:
        raise_for(failures, action)
    return done


def replace_parts(
    body: MessageBody,
    work: Mapping[int, Callable[[], Part]],
    action: str,
    stop: Stop,
    *,
    fail_fast: bool = False,
) -> MessageBody:
    """Replace parts of a body, which no other thread may edit, by new ones; see `run_each`."""
    made = run_each(work, lambda at: subject_of(at, body[at]), action, stop, fail_fast=fail_fast)
    for position, part in made.items():
        body[position] = part
    return body
