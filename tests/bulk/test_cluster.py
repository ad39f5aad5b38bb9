"""Workers of a Dask cluster killed with signal 9: only deadly shards are left out."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, bulk
from tests.bulk import functions
from tests.bulk.helpers import SCHEMA, bodies, results, tree, write_log

distributed = pytest.importorskip("distributed")
SHARD = 15_000


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A cluster of processes that are replaced when they die, and how often a task may kill one."""
    import dask

    workers, failures = getattr(request, "param", (2, 3))
    settings = {
        "distributed.scheduler.allowed-failures": failures,
        # On a busy machine, a worker takes longer to come back than a local cluster waits for it.
        "distributed.deploy.lost-worker-timeout": "120s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.mark.dear
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_killed_workers_change_nothing(seed: int, client: Any, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", bodies(300))
    bulk.table(log, out=tmp_path / "calm", workers=0, shard_bytes=SHARD)
    dice = random.Random(seed)
    moments = set(dice.sample(range(1, 18), 2))
    killed = []

    def kill(progress: bulk.Progress) -> None:
        if progress.done in moments:
            alive = [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]
            killed.append(dice.choice(sorted(alive)))
            os.kill(killed[-1], signal.SIGKILL)

    report = bulk.table(log, out=tmp_path / "out", executor=client.get_executor(),
                        shard_bytes=SHARD, progress=kill)  # fmt: skip
    assert report
    assert len(killed) == 2
    assert _without_litter(tmp_path / "out") == tree(tmp_path / "calm")


@pytest.mark.slow
@pytest.mark.parametrize("client", [(1, 0), (2, 1)], indirect=True)
def test_a_deadly_shard_is_left_out_and_its_neighbours_are_not(client: Any, tmp_path: Path) -> None:
    # The first one, so that a neighbour waits behind it while the worker still imports things.
    found = bodies(60)
    found[0] = MessageBody([Part(functions.MARK)])
    log = write_log(tmp_path / "a.jsonl", found)
    report = bulk.map(log, functions.deadly, out=tmp_path / "out", executor=client.get_executor(),
                      shard_bytes=SHARD // 4)  # fmt: skip
    [failure] = report.failed
    assert failure.problem.startswith("failed 3 times, the last time: KilledWorker: ")
    lost = 60 - len(results(tmp_path / "out"))
    assert lost == 60 - report.counts["messages"]
    assert 0 < lost < 30
    assert report.shards == len([*(tmp_path / "out/records").glob("*.json")]) > 3


@pytest.mark.slow
def test_a_cluster_here_does_not_need_the_port_of_another(tmp_path: Path) -> None:
    """Dask's own default is a fixed port, and a warning if it is taken."""
    log = write_log(tmp_path / "a.jsonl", bodies(20))
    with socket.socket() as other:
        with contextlib.suppress(OSError):  # taken already
            other.bind(("127.0.0.1", 8787))
            other.listen()
        out = tmp_path / "out"
        command = ["bulk", "digest", log, "--out", out, "--dask", "local", "--workers", "1"]
        done = subprocess.run(
            [sys.executable, "-m", "messagebody", *map(str, command)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert ("20 messages" in done.stdout, done.stderr) == (True, "")


def _jobs(store: Path) -> dict[str, Callable[..., bulk.Report]]:
    return {
        "validate": lambda log, **how: bulk.validate(log, SCHEMA, **how),
        "table": bulk.table,
        "convert": lambda log, **how: bulk.convert(log, target="anthropic", **how),
        "offload": lambda log, **how: bulk.offload(
            log, store, offload_options={"threshold": 100}, **how
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("job", ["validate", "table", "convert", "offload"])
def test_threads_of_a_worker_change_nothing(job: str, tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.jsonl", bodies(300))
    act = _jobs(tmp_path / "store")[job]
    interval = sys.getswitchinterval()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=8, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        sys.setswitchinterval(1e-5)
        try:
            how = {"executor": client.get_executor(), "workers": 16}
            assert act(log, out=tmp_path / "out", shard_bytes=3_000, **how).shards > 30
        finally:
            sys.setswitchinterval(interval)
    act(log, out=tmp_path / "calm", workers=0, shard_bytes=3_000)
    assert tree(tmp_path / "out") == tree(tmp_path / "calm")


def _without_litter(out: Path) -> dict[str, bytes]:
    """Return all results, without what a killed writer had not yet renamed."""
    return {name: data for name, data in tree(out).items() if ".messagebody-" not in name}
