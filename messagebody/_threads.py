"""Threads and executors: cancellation, a pool that holds up no process, results in order."""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, wait
from functools import partial
from typing import Any, Final, TypeVar

_T = TypeVar("_T")
_Item = TypeVar("_Item")

PATIENCE: Final = 1.0
"""Seconds that cancelled work gets to undo its changes, before it is given up."""


class Interrupted(Exception):
    """The work was cancelled from outside; it passes every store as it is."""


class Stop(threading.Event):
    """Tells workers to stop at the next safe place."""

    def check(self) -> None:
        """Raise if the work was cancelled."""
        if self.is_set():
            raise Interrupted


class Pool:
    """A few threads that live as long as there is work.

    Those of `concurrent.futures` are waited for when a process ends, so that one store which
    never answers keeps it alive for minutes. These are not, and `give_up` leaves them behind.

    Arguments:
        workers: threads at a time.
        name: begins the names of the threads.
    """

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._name = name
        self.forget()

    def forget(self) -> None:
        """Begin anew, without threads and work; for a process that was just forked."""
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._doing: dict[int, Future[Any] | None] = {}  # by thread, given up ones apart
        self._numbers = itertools.count()

    def submit(self, work: Callable[[], _T]) -> "Future[_T]":
        """Have work done by one of the threads."""
        return self.submit_all([work])[0]

    def submit_all(self, work: Iterable[Callable[[], _T]]) -> "list[Future[_T]]":
        """Have several pieces of work done; all of them wait before the first thread starts.

        Otherwise a thread would be done with a quick piece before the next one came, and end:
        a thousand pieces would take a thousand threads.
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
        """Drop work that has not begun, and wait for the rest; leave it behind if it takes longer.

        Arguments:
            futures: what `submit` returned; everything if None.
            patience: seconds to wait; as long as it takes if None.
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
        with self._lock:  # others may have the places of those that are stuck
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


def results_in_order(
    executor: Executor, act: Callable[[_Item], _T], items: Iterable[_Item], *, ahead: int
) -> Iterator[_T]:
    """Yield what a function returns for every item, in order, with several calls under way.

    Unlike `Executor.map`, it takes items only as they are needed. After an error no further call
    begins.

    Arguments:
        executor: makes the calls.
        act: the function.
        items: what it is called with, one by one.
        ahead: calls that are handed out, and results that wait to be taken, at most.
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
