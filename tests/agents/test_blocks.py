"""Pairs decided in blocks on a pool or a cluster: the file is the one that a loop writes."""

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from messagebody.agents import Agent, Registry
from messagebody.agents import _geometry as geometry
from messagebody.errors import InvalidArgument, MessageBodyError
from tests.agents.test_registry_file import schemas


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("_ASKED", 7), ("_OTHERS", 11), ("_AHEAD", 3)):
        monkeypatch.setattr(f"messagebody.agents._blocks.{name}", size)


@contextmanager
def pool(workers: int = 2) -> Iterator[Executor]:
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as found:
        yield found


@contextmanager
def cluster() -> Iterator[Executor]:
    distributed: Any = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client.get_executor()


def agents(count: int, seed: int) -> list[Agent]:
    dice, pool = random.Random(seed), schemas(count, seed)
    return [
        Agent(f"agent-{number}", dice.choice(pool), dice.choice(pool)) for number in range(count)
    ]


def written(path: Path) -> dict[str, list[Any]]:
    """Return what a file holds, but for the time when each agent came."""
    with closing(sqlite3.connect(path)) as file:
        return {
            table: file.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
            for table, columns in (
                ("agents", "name, place, data, output, input"),
                ("outputs", "*"), ("inputs", "*"),
            )
        }  # fmt: skip


def fill(registry: Registry, executor: Executor | None) -> None:
    """Add many agents, take some out, change and add others."""
    registry.put_all(agents(40, 1), executor=executor)
    for number in range(0, 40, 3):
        registry.remove(f"agent-{number}")
    registry.put_all(agents(30, 2), executor=executor)
    registry.put(agents(31, 3)[-1])


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "engine", [ThreadPoolExecutor, pool, pytest.param(cluster, marks=pytest.mark.slow)]
)
@pytest.mark.dear
def test_blocks_say_what_a_loop_says(engine: Any, lenient: bool, tmp_path: Path) -> None:
    with Registry(path=tmp_path / "loop.db", lenient=lenient) as registry:
        fill(registry, None)
    with Registry(path=tmp_path / "blocks.db", lenient=lenient) as registry, engine() as executor:
        fill(registry, executor)
    loop = written(tmp_path / "loop.db")
    assert written(tmp_path / "blocks.db") == loop
    assert len(loop["outputs"]) > 11  # more than one block of others


def test_threads_share_what_they_make_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def matches_type(*args: Any) -> bool:
        time.sleep(0)  # another thread goes on
        return real(*args)

    real: Callable[..., bool] = vars(geometry)["matches_type"]
    monkeypatch.setattr(geometry, "matches_type", matches_type)
    monkeypatch.setattr("messagebody.agents._blocks._ASKED", 1)
    monkeypatch.setattr("messagebody.agents._blocks._OTHERS", 1000)
    files = [tmp_path / f"{kind}.db" for kind in ("loop", "blocks")]
    with ThreadPoolExecutor(4) as threads:
        for file, executor in zip(files, (None, threads), strict=True):
            with Registry(path=file) as registry:
                registry.put_all(agents(100, 1)[:10])
                registry.put_all(agents(100, 1)[10:], executor=executor)
    loop, blocks = map(written, files)
    assert blocks == loop


def test_a_worker_that_dies_changes_nothing(tmp_path: Path) -> None:
    # With one worker: Python's pool hangs where a worker dies while another one is being started.
    with Registry(path=tmp_path / "agents.db") as registry, pool(1) as executor:
        registry.put_all(agents(5, 1))
        before = written(tmp_path / "agents.db")
        victim = executor.submit(os.getpid).result()
        executor.submit(os.kill, victim, signal.SIGKILL)
        # The pool says it is broken, or its pipe is closed already.
        with pytest.raises(MessageBodyError, match=r"could not be decided: (Broken|OSError)"):
            registry.put_all(agents(40, 2), executor=executor)
        assert written(tmp_path / "agents.db") == before
        registry.put_all(agents(40, 2))
        assert len(registry) == 40


def test_what_is_no_executor(tmp_path: Path) -> None:
    with (
        Registry(path=tmp_path / "agents.db") as registry,
        pytest.raises(InvalidArgument, match="Executor"),
    ):
        registry.put_all([], executor=map)  # type: ignore[arg-type]
