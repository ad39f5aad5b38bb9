"""Jobs and workers killed with signal 9 at any moment: the results are those of a calm run."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, bulk
from messagebody.storage._stores.directory import FileStore
from tests.bulk.helpers import SCHEMA, bodies, tree, write_log

SHARD = 15_000
PROGRAM = f"""
import sys
from messagebody import bulk
if __name__ == "__main__":
    log, out, workers = sys.argv[1:]
    report = bulk.table(log, out=out, workers=int(workers), shard_bytes={SHARD})
    sys.exit(bool(report.failed))
"""


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A log, and the results of a job on it that nobody disturbed."""
    place = tmp_path_factory.mktemp("calm")
    log = write_log(place / "a.jsonl", bodies(300))
    bulk.table(log, out=place / "out", workers=0, shard_bytes=SHARD)
    return log, tree(place / "out")


def start(log: Path, out: Path, workers: int) -> "subprocess.Popen[bytes]":
    program = out.with_suffix(".py")
    program.write_text(PROGRAM)
    return subprocess.Popen(
        [sys.executable, str(program), str(log), str(out), str(workers)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def kill_a_child(process: int, dice: random.Random) -> None:
    """Kill a worker process of a process, if it has one; either may end on its own before."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        if found:
            os.kill(int(dice.choice(found)), signal.SIGKILL)


MOMENTS = [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(50)]


def wait_for(out: Path, records: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until some shards are done, or the job is."""
    while process.poll() is None and len([*(out / "records").glob("*.json")]) < records:
        time.sleep(0.002)


@pytest.mark.parametrize("seed", MOMENTS)
@pytest.mark.dear
def test_the_job_is_killed(seed: int, calm: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    log, wanted = calm
    dice = random.Random(seed)
    out = tmp_path / "out"
    for _ in range(dice.randrange(1, 3)):
        job = start(log, out, dice.choice([0, 0, 2]))
        wait_for(out, dice.randrange(20), job)
        time.sleep(dice.random() * 0.05)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    bulk.table(log, out=out, workers=0, shard_bytes=SHARD)
    found = {name: data for name, data in tree(out).items() if ".messagebody-" not in name}
    assert found == wanted
    left = [name for name in tree(out) if name.startswith(("shards/.", "records/."))]
    assert left == []  # what a killed writer left is swept


@pytest.mark.parametrize("seed", MOMENTS)
@pytest.mark.dear
def test_workers_are_killed(seed: int, calm: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    log, wanted = calm
    dice = random.Random(seed)
    out = tmp_path / "out"
    job = start(log, out, 2)
    for _ in range(2):
        wait_for(out, dice.randrange(20), job)
        time.sleep(dice.random() * 0.05)
        kill_a_child(job.pid, dice)
    assert job.wait(250) == 0
    assert {n: d for n, d in tree(out).items() if ".messagebody-" not in n} == wanted


JOBS: dict[str, Callable[..., bulk.Report]] = {
    "validate": lambda log, **how: bulk.validate(log, SCHEMA, **how),
    "verify": lambda log, **how: bulk.verify(log, resolver=Resolver(), **how),
}


class Killed(BaseException):
    """The end of a process, at a moment that a test chooses."""


def killed_after(actions: int, act: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Act, and stop before or after one of the changes to the results; return whether it was."""
    done = count()

    def stopping(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any, **options: Any) -> Any:
            number = next(done)
            if number == actions // 2 and actions % 2:
                raise Killed
            found = change(*arguments, **options)
            if number == actions // 2:
                raise Killed
            return found

        return changed

    with monkeypatch.context() as patched:
        for name in ("put", "delete"):
            patched.setattr(FileStore, name, stopping(getattr(FileStore, name)))
        with contextlib.suppress(Killed):
            act()
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", JOBS)
def test_a_run_is_killed_at_each_change(
    name: str, is_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    old, new = bodies(12), [*bodies(5), MessageBody([Part("new")])]

    def run(place: Path) -> bulk.Report:
        return JOBS[name](log, out=place, workers=0, shard_bytes=2000)

    for actions in count():
        shutil.rmtree(out, ignore_errors=True)
        if not is_first:
            write_log(log / "a.jsonl", old)
            write_log(log / "b.jsonl", old[:5])
            run(out)
        write_log(log / "a.jsonl", new)
        (log / "b.jsonl").write_text("{bad\n")
        if not killed_after(actions, lambda: run(out), monkeypatch):
            break
        run(out)
        run(calm := tmp_path / f"calm{actions}")
        assert tree(out) == tree(calm)
    assert actions > 10
