"""Executors of commands: processes of this machine, or the workers of a Dask cluster."""

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Final

import click

from messagebody._core import escape
from messagebody.errors import MessageBodyError, MissingDependency

LOCAL: Final = "local"
"""The address that starts a cluster on this machine."""
# Dask waits 30 seconds, which is long for a mistyped address.
_CONNECT: Final = "10s"
# Without an address, clusters compete for one port, and workers listen on all networks.
_HERE: Final = "127.0.0.1:0"

dask_option = click.option(
    "--dask", metavar="ADDRESS", help="Run on a Dask cluster: tcp://scheduler:8786, or local."
)


@contextlib.contextmanager
def executor_of(workers: int | None, dask: str | None) -> Iterator[Executor | None]:
    """Give the executor that the options of a command name, or None.

    Raises:
        MissingDependency: Dask is not installed (extra `dask`).
        MessageBodyError: the scheduler does not answer.
        UsageError: both options are given.
    """
    if workers is not None and dask is not None:
        raise click.UsageError("give either --workers or --dask")
    if dask is not None:
        with dask_client(dask) as client:
            yield client.get_executor()
    elif workers is not None:
        # A forked process would share locks with threads that it does not have.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
            yield executor
    else:
        yield None


@contextlib.contextmanager
def dask_client(address: str, workers: int | None = None) -> Iterator[Any]:
    """Give a client of a cluster.

    Arguments:
        address: the address of its scheduler, or `LOCAL`.
        workers: the processes of a local cluster, by default as Dask chooses.

    Raises:
        MissingDependency: Dask is not installed (extra `dask`).
        MessageBodyError: the scheduler does not answer.
    """
    distributed = _distributed()
    if address == LOCAL:
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=_HERE,
                worker_dashboard_address=_HERE,
                scheduler_kwargs={"dashboard": False},
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise MessageBodyError(f"no scheduler answers at {escape(address)}") from error
    with client:
        yield client


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingDependency("--dask", "dask") from error
    return distributed
