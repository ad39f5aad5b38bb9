"""Engines run the tasks of a job: here, one after another or on worker processes.

An engine takes tasks from a queue until the queue is empty and no task is running, and yields each
task with its outcome. The consumer of the outcomes may put a task back into the queue.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from messagebody.bulk._work import Outcome
from messagebody.errors import MessageBodyError

Task = Callable[[], Outcome]
Outcomes = Generator[tuple[Task, Outcome], None, None]

_READY: Final = "ready"
# Code that a job calls may handle SIGTERM; after this many seconds the process is killed.
_TERMINATION_TIMEOUT: Final = 5.0


def run_serially(queue: deque[Task]) -> Outcomes:
    """Run tasks one after another in this process."""
    while queue:
        task = queue.popleft()
        yield task, task()


def run_on_processes(queue: deque[Task], workers: int) -> Outcomes:
    """Run tasks on worker processes; a worker that dies is replaced, and its task fails.

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

    def answer(self) -> Outcome | None:
        """Return the outcome of its task; None if it only reports that it has started."""
        try:
            received = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        self._has_begun = True
        return received if isinstance(received, Outcome) else None

    def _died(self) -> Outcome:
        self.is_alive = False
        self.end()
        code = self._process.exitcode
        # A signal may also kill it early. Only an exit of its own is the fault of the script.
        if not self._has_begun and (code is None or code >= 0):
            raise MessageBodyError(
                "a worker process ended before it began; a script must start jobs below "
                '`if __name__ == "__main__":`, since every worker imports the script'
            )
        return Outcome(None, f"the worker died (exit code {code})")

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
