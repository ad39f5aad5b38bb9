"""Engines: what runs the tasks of a job, here one after another or on worker processes.

An engine takes tasks from a queue until it is empty and nothing is in work, and yields each with
its outcome. Whoever reads the outcomes may put a task into the queue again.
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
# What a job calls may handle the signal to end itself; after this time it is killed.
_LONGEST_END: Final = 5.0


def run_serially(queue: deque[Task]) -> Outcomes:
    """Run tasks one after another in this process."""
    while queue:
        task = queue.popleft()
        yield task, task()


def run_on_processes(queue: deque[Task], workers: int) -> Outcomes:
    """Run tasks on worker processes; one that dies is replaced, and its task has failed.

    Arguments:
        queue: the tasks.
        workers: processes at a time.

    Raises:
        MessageBodyError: a worker ends before it begins, and no signal ended it.
    """
    idle: list[_Worker] = []
    busy: dict[Any, _Worker] = {}
    try:
        while queue or busy:
            while queue and len(busy) < workers:
                worker = idle.pop() if idle else _Worker()
                busy[worker.connection] = worker
                worker.give(queue.popleft())
            # The connection of a process that died is ready too, with an end of file.
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
    """A process that does one task after another."""

    def __init__(self) -> None:
        # A forked process would share locks and connections with threads that it does not have.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process ends the connection
        self._has_begun = False
        self.is_alive = True
        self.task: Task

    def give(self, task: Task) -> None:
        """Let it do a task."""
        self.task = task
        try:
            self.connection.send(task)
        except OSError:
            self._has_begun = True  # it died while it waited; `answer` finds that out

    def answer(self) -> Outcome | None:
        """Return the outcome of its task; None for the sign that the process has begun."""
        try:
            said = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        self._has_begun = True
        return said if isinstance(said, Outcome) else None

    def _died(self) -> Outcome:
        self.is_alive = False
        self.end()
        code = self._process.exitcode
        # A signal may hit it before it begins, too; only what it ends itself is the script's.
        if not self._has_begun and (code is None or code >= 0):
            raise MessageBodyError(
                "a worker process ended before it began; a script that starts a job has to do it "
                'below `if __name__ == "__main__":`, since every worker imports it'
            )
        return Outcome(None, f"the worker died (exit code {code})")

    def end(self) -> None:
        """End the process, whatever it is doing: a task that is cut off is done again."""
        self.connection.close()
        self._process.terminate()
        self._process.join(_LONGEST_END)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(connection: "Connection[Any, Any]") -> None:
    """Do tasks until nobody gives any more."""
    # Ctrl-C reaches all processes of a terminal; the one that gives the tasks decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        connection.send(_READY)
        while True:
            connection.send(connection.recv()())
    except (EOFError, OSError):
        return
