"""Run the tasks of a job: one after another, on worker processes, or on any executor.

Each way takes tasks from a queue until it is empty and no task is running, and yields each task
with its outcome. The caller may put a task into the queue again.
"""

import multiprocessing
import signal
import uuid
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as wait_for
from multiprocessing.connection import Connection, wait
from typing import Any, Final

import attrs

from messagebody._core import escape, redact_urls
from messagebody.bulk._work import TaskOutcome
from messagebody.errors import MessageBodyError

Task = Callable[[], TaskOutcome]
Outcomes = Generator[tuple[Task, TaskOutcome], None, None]

_READY: Final = "ready"
# Code that a job calls may handle SIGTERM; after this many seconds the process is killed.
_TERMINATION_TIMEOUT: Final = 5.0


def run_serially(queue: deque[Task]) -> Outcomes:
    """Run tasks one after another in this process."""
    while queue:
        task = queue.popleft()
        yield task, task()


# By hand: the standard library's pool is broken for good once a worker dies, with all its tasks,
# and may hang if a worker dies while another one starts. loky's pool blames all tasks, too.
def run_on_processes(queue: deque[Task], workers: int) -> Outcomes:
    """Run tasks on worker processes; a worker that dies is replaced, and only its task fails.

    Arguments:
        queue: the tasks.
        workers: the number of processes.

    Raises:
        MessageBodyError: a worker exits before its first task, and not because of a signal.
    """
    idle: list[_Worker] = []
    busy: dict[Any, _Worker] = {}
    try:
        while queue or busy:
            while queue and len(busy) < workers:
                worker = idle.pop() if idle else _Worker()
                busy[worker.connection] = worker
                worker.give(queue.popleft())
            # The connection of a dead process is ready, too: reading it gives an end of file.
            for connection in wait(list(busy)):
                worker = busy[connection]
                outcome = worker.answer()
                if outcome is None:
                    continue
                del busy[connection]
                if worker.is_alive:
                    idle.append(worker)
                yield worker.task, outcome
    finally:
        for worker in [*idle, *busy.values()]:
            worker.end()


def run_on_executor(queue: deque[Task], executor: Executor, at_once: int) -> Outcomes:
    """Run tasks on an executor, such as a process pool or a cluster.

    A cluster blames all tasks that a dead worker had, also those that waited there. So a task
    whose call fails is only suspected: it is called once more while no other task runs.

    Arguments:
        queue: the tasks.
        executor: the executor.
        at_once: the number of tasks that it is given at a time.

    Raises:
        MessageBodyError: the executor is broken or shut down.
    """
    running: dict[Future[TaskOutcome], Task] = {}
    suspects: set[int] = set()
    try:
        while queue or running:
            while queue and len(running) < at_once:
                is_suspect = id(queue[0]) in suspects
                if is_suspect and running:
                    break
                task = queue.popleft()
                running[_submitted(executor, task)] = task
                if is_suspect:
                    break
            for future in wait_for(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                yield task, _outcome(future, is_final=id(task) in suspects)
                if future.exception() is not None:
                    suspects.add(id(task))
    finally:
        for future in running:
            future.cancel()


@attrs.frozen
class _Submission:
    """A call of a task.

    Arguments:
        task: the task.
        token: makes two calls differ. To Dask, equal calls are one: a second one would not run.
    """

    task: Task
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    def __call__(self) -> TaskOutcome:
        return self.task()


def _submitted(executor: Executor, task: Task) -> "Future[TaskOutcome]":
    try:
        return executor.submit(_Submission(task))
    except (RuntimeError, OSError) as error:  # broken, or shut down
        raise _failed(error) from error


def _outcome(future: "Future[TaskOutcome]", *, is_final: bool) -> TaskOutcome:
    try:
        error = future.exception()
    except CancelledError as cancelled:
        raise _failed(cancelled) from cancelled
    if error is None:
        return future.result()
    if isinstance(error, BrokenExecutor):
        raise _failed(error) from error
    problem = escape(redact_urls(f"{type(error).__name__}: {error}"), limit=2000)
    return TaskOutcome(None, problem, is_final=is_final)


def _failed(error: BaseException) -> MessageBodyError:
    # A dead worker has a name of its own in each executor.
    return MessageBodyError(
        f"the executor failed: {type(error).__name__}; run the job again to go on where it ended"
    )


class _Worker:
    """A process that runs one task after another."""

    def __init__(self) -> None:
        # A forked process would inherit locks and connections of threads that it does not have.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process ends the connection
        self._has_begun = False
        self.is_alive = True
        self.task: Task

    def give(self, task: Task) -> None:
        """Send it a task."""
        self.task = task
        try:
            self.connection.send(task)
        except OSError:
            self._has_begun = True  # it died while idle; `answer` finds that out

    def answer(self) -> TaskOutcome | None:
        """Return the outcome of its task; None if it only reports that it has started."""
        try:
            received = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        self._has_begun = True
        return received if isinstance(received, TaskOutcome) else None

    def _died(self) -> TaskOutcome:
        self.is_alive = False
        self.end()
        code = self._process.exitcode
        # A signal may also kill it early. Only an exit of its own is the fault of the script.
        if not self._has_begun and (code is None or code >= 0):
            raise MessageBodyError(
                "a worker process ended before it began; a script must start jobs below "
                '`if __name__ == "__main__":`, since every worker imports the script'
            )
        return TaskOutcome(None, f"the worker died (exit code {code})")

    def end(self) -> None:
        """End the process, even in the middle of a task: an interrupted task is run again."""
        self.connection.close()
        self._process.terminate()
        self._process.join(_TERMINATION_TIMEOUT)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(connection: "Connection[Any, Any]") -> None:
    """Run tasks until the connection is closed."""
    # Ctrl-C reaches all processes of a terminal; the parent process decides how to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        connection.send(_READY)
        while True:
            connection.send(connection.recv()())
    except (EOFError, OSError):
        return
