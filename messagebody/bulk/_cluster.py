"""The engine of clusters: tasks of a job on the workers of Dask."""

import contextlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any, Final

from messagebody._base.text import escape
from messagebody.bulk._engines import Outcomes, Task
from messagebody.bulk._work import Outcome
from messagebody.errors import InvalidArgument, MessageBodyError, MissingDependency

_IN_WORK: Final = 2
"""Tasks a thread of the cluster that are handed out at a time: one in work and one that waits."""
# Dask waits 30 seconds, which is long for somebody who mistyped the address.
_CONNECT: Final = "10s"
# Without an address, clusters compete for one port, and workers listen on all networks.
_HERE: Final = "127.0.0.1:0"
# The scheduler blames all tasks that a dead worker had, also those that waited. So the first time
# a task is only suspected, and it is tried again while nothing else is in work.
_KILLED: Final = Outcome(None, "workers of the cluster died that had it")


def run_on_dask(queue: deque[Task], client: Any, workers: int) -> Outcomes:
    """Run tasks on the workers of a cluster.

    Arguments:
        queue: the tasks.
        client: a `distributed.Client`, the address of a scheduler, or None for a cluster here.
        workers: processes of a cluster here.

    Raises:
        MissingDependency: Dask is not installed (extra `dask`).
        MessageBodyError: the scheduler does not answer.
    """
    distributed = _distributed()
    with _client(distributed, client, workers) as connected:
        running = distributed.as_completed()
        tasks: dict[Any, Task] = {}
        suspects: dict[int, Task] = {}
        while queue or tasks:
            most = _IN_WORK * max(1, sum(connected.nthreads().values()))
            while queue and len(tasks) < most:
                is_suspect = id(queue[0]) in suspects
                if is_suspect and tasks:
                    break
                task = queue.popleft()
                # To Dask, equal pure calls are one: a task that is tried again would not run.
                future = connected.submit(_call, task, pure=False)
                tasks[future] = task
                running.add(future)
                # Alone, so that if a worker dies now, the scheduler can only mean this task.
                most = 1 if is_suspect else most
            future = next(running)
            task = tasks.pop(future)
            outcome = _outcome(distributed, future, was_alone=id(task) in suspects)
            if outcome is _KILLED:
                suspects[id(task)] = task
            yield task, outcome


@contextlib.contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Give an executor whose functions run on the workers of a cluster.

    Arguments:
        address: of the scheduler.

    Raises:
        MissingDependency: Dask is not installed (extra `dask`).
        MessageBodyError: the scheduler does not answer.
    """
    with _client(_distributed(), address, workers=1) as connected:
        yield connected.get_executor()


def _call(task: Task) -> Outcome:
    return task()


def _outcome(distributed: Any, future: Any, *, was_alone: bool) -> Outcome:
    error = future.exception()
    if error is None:
        found: Outcome = future.result()
        return found
    if isinstance(error, distributed.KilledWorker):
        if not was_alone:
            return _KILLED
        # The scheduler has tried it on other workers already.
        return Outcome(None, "it killed several workers of the cluster", is_final=True)
    return Outcome(None, escape(f"{type(error).__name__}: {error}", limit=2000))


@contextlib.contextmanager
def _client(distributed: Any, client: Any, workers: int) -> Iterator[Any]:
    if isinstance(client, distributed.Client):
        yield client
    elif client is None:
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=_HERE,
                worker_dashboard_address=_HERE,
                scheduler_kwargs={"dashboard": False},
            ) as cluster,
            distributed.Client(cluster) as connected,
        ):
            yield connected
    elif isinstance(client, str):
        try:
            connected = distributed.Client(client, timeout=_CONNECT)
        except (OSError, ValueError) as error:
            raise MessageBodyError(f"no scheduler answers at {escape(client)}") from error
        with connected:
            yield connected
    else:
        raise InvalidArgument("a distributed.Client, the address of a scheduler or None", client)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingDependency("the engine dask", "dask") from error
    return distributed
