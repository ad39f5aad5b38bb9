"""Executors of commands: processes of this machine, or the workers of a Dask cluster."""

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from messagebody._core import escape
from messagebody.errors import MessageBodyError, MissingDependency

LOCAL: Final = "local"
"""The address that starts a cluster on this machine."""
# Dask waits 30 seconds, which is long for a mistyped address.
_CONNECT: Final = "10s"
# Without an address, clusters compete for one port, and workers listen on all networks.
_HERE: Final = "127.0.0.1:0"


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
