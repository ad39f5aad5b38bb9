"""Threads whose work can be given up: cancellation, and a pool that holds up no process."""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

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
        future: Future[_T] = Future()
        with self._lock:
            self._waiting.append((future, work))
            if len(self._doing) == self._workers:
                return future
            number = next(self._numbers)
            self._doing[number] = None
        # A daemon: a process that ends does not wait for a store that never answers.
        threading.Thread(target=self._run, args=(number,), name=self._name, daemon=True).start()
        return future

    def give_up(self, futures: Iterable["Future[Any]"], patience: float | None = PATIENCE) -> None:
        """Drop work that has not begun, and wait for the rest; leave it behind if it takes longer.

        Arguments:
            futures: what `submit` returned.
            patience: seconds to wait; as long as it takes if None.
        """
        begun = [future for future in futures if not future.cancel()]
        with self._lock:
            dropped = [pair for pair in self._waiting if pair[0].cancelled()]
            for pair in dropped:
                self._waiting.remove(pair)
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
