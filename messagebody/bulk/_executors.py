"""Run the tasks of a job on an executor, by default on processes of this machine."""

import multiprocessing
import os
import signal
import threading
import uuid
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from typing import Any

from messagebody.bulk._work import TaskOutcome, attempt
from messagebody.errors import MessageBodyError

Task = Callable[[], dict[str, int]]
Outcomes = Generator[tuple[Task, TaskOutcome], None, None]


def run_tasks(queue: deque[Task], executor: Executor, at_once: int) -> Outcomes:
    """Run tasks until the queue is empty, and yield each with its outcome.

    An executor may blame all tasks that a dead worker had. So a task whose call fails is only
    suspected: if the caller puts it into the queue again, it runs while no other does.
    """
    running: dict[Future[TaskOutcome], Task] = {}
    suspects: set[int] = set()
    try:
        while queue or running:
            while queue:
                is_alone = not suspects.isdisjoint(map(id, [queue[0], *running.values()]))
                if len(running) >= (1 if is_alone else at_once):
                    break
                task = queue.popleft()
                # To Dask, equal calls are one: without a token, a second one would not run.
                running[executor.submit(_call, task, uuid.uuid4().hex)] = task
            for call in wait(running, return_when=FIRST_COMPLETED).done:
                task, error = running.pop(call), call.exception()
                suspects |= {id(task)} if error else set()
                yield task, TaskOutcome.of(error) if error else call.result()
    except (RuntimeError, OSError, CancelledError) as error:  # broken, or shut down
        problem = f"the executor failed: {type(error).__name__}"
        raise MessageBodyError(f"{problem}; run the job again to go on where it ended") from error
    finally:
        for call in running:
            call.cancel()


def _call(task: Task, token: str) -> TaskOutcome:  # noqa: ARG001
    return attempt(task)


class InTurn(Executor):
    """This process, which makes each call at once."""

    def submit(self, call: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        """Make a call."""
        made: Future[Any] = Future()
        made.set_result(call(*arguments, **named))
        return made


class Processes(Executor):
    """Processes of this machine; one that dies is replaced, and only its call fails.

    Each is a pool of its own: a pool is broken for good when a process dies, with all its calls,
    and may hang if another process starts meanwhile.
    """

    def __init__(self) -> None:
        # A forked process would inherit locks and connections of threads that it does not have.
        self._context = multiprocessing.get_context("spawn")
        self._theirs, self._lifeline = self._context.Pipe(duplex=False)
        self._first: dict[ProcessPoolExecutor, Future[int]] = {}
        self._last: dict[ProcessPoolExecutor, Future[Any]] = {}

    def submit(self, call: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        """Make a call on a process that makes none, or on a new one."""
        has_begun = True
        for pool in [pool for pool, last in self._last.items() if last.done()]:
            try:
                self._last[pool] = pool.submit(call, *arguments, **named)
                return self._last[pool]
            except BrokenProcessPool:
                del self._last[pool]
                has_begun = self._first.pop(pool).exception() is None
        pool = ProcessPoolExecutor(1, self._context, _live, (self._theirs,))
        self._first[pool] = self._last[pool] = pool.submit(int)
        if not has_begun and self._first[pool].exception() is not None:
            advice = 'start jobs below `if __name__ == "__main__":`, as workers import the script'
            raise MessageBodyError(f"a worker process ended before it began; {advice}")
        self._last[pool] = pool.submit(call, *arguments, **named)
        return self._last[pool]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, even in the middle of a call: an interrupted task is run again."""
        for pool, last in self._last.items():
            pool.shutdown(wait and last.done(), cancel_futures=cancel_futures)
        self._lifeline.close()
        self._theirs.close()


def _live(lifeline: Any) -> None:
    """Leave Ctrl-C to the parent process, and end when it closes the lifeline, or is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end() -> None:
        lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
