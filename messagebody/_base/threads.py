"""Threads and executors: cancellation, a pool that never delays the exit, results in order."""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

_T = TypeVar("_T")
_Item = TypeVar("_Item")

PATIENCE: Final = 1.0
"""Seconds that cancelled work has to undo its changes before it is given up."""

# A usual number for uploads with boto3; more connections were not faster in measurements.
_WORKERS: Final = 16
_TICK: Final = 0.1
"""Seconds between two checks whether the work was cancelled."""


class Interrupted(Exception):
    """The work was cancelled from outside; stores pass this exception on unchanged."""


class Stop(threading.Event):
    """A flag that makes workers stop at the next safe place."""

    def check(self) -> None:
        """Raise if the work was cancelled."""
        if self.is_set():
            raise Interrupted


class Pool:
    """A few threads that run as long as there is work.

    At its end, a process waits for the threads of `concurrent.futures`, so a store that never
    answers would keep it alive for minutes. It does not wait for these threads, and `give_up`
    leaves them behind.

    Arguments:
        workers: the most threads at a time.
        name: the beginning of the threads' names.
    """

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._name = name
        self.forget()

    def forget(self) -> None:
        """Start again without threads and work; for a process that was just forked."""
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._doing: dict[int, Future[Any] | None] = {}  # by thread, without those given up
        self._numbers = itertools.count()

    def submit(self, work: Callable[[], _T]) -> "Future[_T]":
        """Let one of the threads do the work."""
        return self.submit_all([work])[0]

    def submit_all(self, work: Iterable[Callable[[], _T]]) -> "list[Future[_T]]":
        """Let the threads do several pieces of work, all queued before the first thread starts.

        Otherwise a thread could finish a quick piece and end before the next piece is queued: a
        thousand pieces would take a thousand threads.
        """
        pairs: list[tuple[Future[_T], Callable[[], _T]]] = [(Future(), piece) for piece in work]
        with self._lock:
            self._waiting.extend(pairs)
            free = min(len(pairs), self._workers - len(self._doing))
            numbers = [*itertools.islice(self._numbers, free)]
            self._doing.update(dict.fromkeys(numbers))
        for number in numbers:
            run = partial(self._run, number)
            threading.Thread(target=run, name=self._name, daemon=True).start()
        return [future for future, _ in pairs]

    def give_up(
        self, futures: "Iterable[Future[Any]] | None" = None, patience: float | None = PATIENCE
    ) -> None:
        """Drop work that has not begun; wait for the rest, or leave it behind after some time.

        Arguments:
            futures: the results of `submit`; None for all work.
            patience: seconds to wait; None to wait as long as it takes.
        """
        if futures is None:
            with self._lock:
                futures = [future for future, _ in self._waiting]
                futures += [future for future in self._doing.values() if future is not None]
        begun = [future for future in futures if not future.cancel()]
        with self._lock:
            # One pass: removing them one by one takes quadratic time.
            self._waiting = deque(pair for pair in self._waiting if not pair[0].cancelled())
        stuck = wait(begun, timeout=patience).not_done
        with self._lock:  # stuck threads no longer count as workers
            for number in [n for n, future in self._doing.items() if future in stuck]:
                del self._doing[number]

    def _run(self, number: int) -> None:
        while True:
            with self._lock:
                if number not in self._doing:
                    return
                if not self._waiting:
                    del self._doing[number]
                    return
                future, work = self._waiting.popleft()
                self._doing[number] = future
            if future.set_running_or_notify_cancel():
                _do(future, work)


def _do(future: "Future[Any]", work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
        future.set_exception(error)
    else:
        future.set_result(result)


class Outcomes(NamedTuple):
    """The results of pieces of work; each has a value if there is no error."""

    values: list[Any]
    """In order; None for a piece that failed or did not begin."""
    errors: dict[int, Exception]
    """By the positions of their pieces."""


def run_all(
    work: Sequence[Callable[[], object]], stop: Stop, *, fail_fast: bool = False
) -> Outcomes:
    """Run pieces of work on a few threads.

    Arguments:
        work: the pieces.
        stop: set when the caller, or an interrupt, ends the work.
        fail_fast: begin nothing new after a piece has failed; running pieces are finished.

    Raises:
        Interrupted: the work was stopped.
    """
    pieces = [partial(_unless_stopped, piece, stop) for piece in work]
    # An interrupt only reaches the main thread, which must not hang in a store.
    if len(pieces) == 1 and threading.current_thread() is not threading.main_thread():
        futures = [Future[object]()]
        _do(futures[0], pieces[0])
    else:
        futures = _run_in_threads(pieces, stop, fail_fast=fail_fast)
    outcomes = Outcomes([], {})
    for at, future in enumerate(futures):
        error = None if future.cancelled() else future.exception()
        if isinstance(error, Interrupted) or not isinstance(error, Exception | None):
            raise error
        if error is not None:
            outcomes.errors[at] = error
        outcomes.values.append(None if error or future.cancelled() else future.result())
    return outcomes


def _run_in_threads(
    pieces: Sequence[Callable[[], object]], stop: Stop, *, fail_fast: bool
) -> list[Future[object]]:
    pool = Pool(_WORKERS, "messagebody")
    try:
        futures = pool.submit_all(pieces)
        pending = set(futures)
        while pending:
            # In short steps, so that a signal is noticed while all threads are busy in a store.
            done, pending = wait(pending, timeout=_TICK, return_when=FIRST_EXCEPTION)
            if fail_fast and any(future.exception() for future in done):
                # What runs is finished, and its errors count, too.
                pending = {future for future in pending if not future.cancel()}
            if pending:
                stop.check()
    except BaseException:
        # Running work stops at its next buffer, and rolls back unfinished writes.
        stop.set()
        pool.give_up()
        raise
    return futures


def _unless_stopped(piece: Callable[[], _T], stop: Stop) -> _T:
    stop.check()
    return piece()


def gather(work: Sequence[Callable[[], _T]]) -> list[_T]:
    """Run functions on a few threads, and return their results or raise the first error."""
    values, errors = run_all(work, Stop(), fail_fast=True) if work else Outcomes([], {})
    for error in errors.values():
        raise error
    return values


def results_in_order(
    executor: Executor, act: Callable[[_Item], _T], items: Iterable[_Item], *, ahead: int
) -> Iterator[_T]:
    """Yield the result of a function for every item, in order, with several calls running.

    Unlike `Executor.map`, it takes items only as they are needed. After an error, no further call
    starts.

    Arguments:
        executor: makes the calls.
        act: the function.
        items: its arguments, one for each call.
        ahead: the largest number of running calls and waiting results.
    """
    waiting: deque[Future[_T]] = deque()
    try:
        for item in items:
            waiting.append(executor.submit(act, item))
            if len(waiting) == ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
