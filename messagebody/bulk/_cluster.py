"""The engine for clusters: runs the tasks of a job on Dask workers."""

import contextlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any, Final

from messagebody._base.text import escape
from messagebody.bulk._engines import Outcomes, Task
from messagebody.bulk._work import Outcome
from messagebody.errors import InvalidArgument, MessageBodyError, MissingDependency

_TASKS_PER_THREAD: Final = 2
"""Tasks submitted at a time per thread of the cluster: one that runs and one that waits."""
# The default of Dask is 30 seconds, which is long for a user who mistyped the address.
_CONNECT_TIMEOUT: Final = "10s"
# Without an address, clusters compete for one port, and workers listen on all interfaces.
_LOCAL_ADDRESS: Final = "127.0.0.1:0"
# The scheduler blames all tasks of a dead worker, including those that only waited there. So at
# first a task is only a suspect, and it is run again alone.
_KILLED: Final = Outcome(None, "workers of the cluster died while they had it")


def run_on_dask(queue: deque[Task], client: Any, workers: int) -> Outcomes:
    """Run tasks on the workers of a cluster.

    Arguments:
        queue: the tasks.
        client: a `distributed.Client`, the address of a scheduler, or None for a local cluster.
        workers: the number of processes of a local cluster.

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
            most = _TASKS_PER_THREAD * max(1, sum(connected.nthreads().values()))
            while queue and len(tasks) < most:
                is_suspect = id(queue[0]) in suspects
                if is_suspect and tasks:
                    break
                task = queue.popleft()
                # Dask runs equal pure calls only once, so a retried task would not run.
                future = connected.submit(_call, task, pure=False)
                tasks[future] = task
                running.add(future)
                # A suspect runs alone: if a worker dies now, this task is to blame.
                most = 1 if is_suspect else most
            future = next(running)
            task = tasks.pop(future)
            outcome = _outcome(distributed, future, was_alone=id(task) in suspects)
            if outcome is _KILLED:
                suspects[id(task)] = task
            yield task, outcome


@contextlib.contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Yield an executor that runs functions on the workers of a cluster.

    Arguments:
        address: the address of the scheduler.

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
        # The scheduler has already tried it on other workers.
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
                dashboard_address=_LOCAL_ADDRESS,
                worker_dashboard_address=_LOCAL_ADDRESS,
                scheduler_kwargs={"dashboard": False},
            ) as cluster,
            distributed.Client(cluster) as connected,
        ):
            yield connected
    elif isinstance(client, str):
        try:
            connected = distributed.Client(client, timeout=_CONNECT_TIMEOUT)
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
