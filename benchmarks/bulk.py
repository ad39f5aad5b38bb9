"""Bulk jobs: messages a second and a core, workers, memory, a plain pool, Dask, and large numbers.

`BULK_MESSAGES=1000000 python -m benchmarks bulk` makes that many messages, 100,000 by default.
`BULK_WORKERS` is how many workers do them (2), `BULK_TASKS` how many tasks Dask gets (2,000).
"""

import base64
import hashlib
import json
import os
import resource
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.harness import print_table, show_time
from messagebody import MessageBody, MessageBodySchema, bulk
from messagebody._cli.executors import LOCAL, dask_client
from messagebody.bulk._engines import run_on_executor
from messagebody.bulk._work import TaskOutcome

SCHEMA = MessageBodySchema([
    (None, "text/*", True), ("/sources/*", "text/*"), ("/charts/*", "image/*"),
])  # fmt: skip
LARGE = 20_000
"""Bytes of the part that one message in a hundred has, and that is offloaded."""
SAMPLE = 20_000
"""Messages that one core is measured with."""
TASKS = int(os.environ.get("BULK_TASKS", "2000"))
WORKERS = int(os.environ.get("BULK_WORKERS", "2"))
COUNTS = (10**6, 10**8, 10**10)
MACHINES = (1, 10, 1_000)
CORES = 8
"""Cores of a machine in the table of large numbers."""
NETWORK = 10e9 / 8
"""Bytes a second that a machine of today reads from its object store."""
READ_AT_ONCE = 4 * 1024 * 1024
GET, PUT = 0.4e-6, 5e-6
"""Dollars a request, as S3 charges them."""


def line(number: int) -> bytes:
    """Return a message as agents leave them: an answer, two sources, now and then a picture."""
    parts: list[dict[str, Any]] = [
        {"contentType": "text/markdown", "content": f"Answer {number}. " * 20},
        {"name": "/sources/1", "contentType": "text/plain", "content": f"Source {number}. " * 12},
        {"name": "/sources/2", "contentType": "text/html",
         "contentUrl": f"https://example.com/{number}"},
    ]  # fmt: skip
    if number % 100 == 0:
        seed = hashlib.sha256(str(number // 300).encode()).digest()
        data = base64.b64encode(seed * (LARGE // len(seed))).decode()
        parts.append({"name": "/charts/1", "contentType": "image/png", "contentEncoding": "base64",
                      "content": data})  # fmt: skip
    message = {"id": f"m{number}", "agent": f"agent-{number % 50}", "body": parts}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def write(path: Path, count: int) -> None:
    """Write a log of messages."""
    with path.open("wb") as stream:
        for start in range(0, count, 10_000):
            stream.write(b"".join(map(line, range(start, min(start + 10_000, count)))))


def hash_parts(parts: list[dict[str, Any]]) -> int:
    """Decode and hash each part, as a script does; return how many there are."""
    for part in parts:
        content = part.get("content") or ""
        is_base64 = part.get("contentEncoding") == "base64"
        data = base64.b64decode(content) if is_base64 else content.encode()
        hashlib.sha256(data).hexdigest()
    return len(parts)


def hash_line(line: bytes) -> int:
    """Parse a message, and decode and hash each part."""
    return hash_parts(json.loads(line)["body"])


def is_valid(line: bytes) -> bool:
    """Validate a message with the toolkit, but for what `bulk` does besides."""
    return SCHEMA.is_valid(MessageBody.from_dicts(json.loads(line)["body"]))


def plain_loop(path: Path) -> None:
    """Do a log in one process, without the toolkit."""
    with path.open("rb") as stream:
        for each in stream:
            hash_line(each)


def plain_pool(path: Path, function: Callable[[bytes], int], number: int) -> int:
    """Do the lines of a log on a pool of processes, as a script does; return how many are true."""
    with get_context("spawn").Pool(number) as pool, path.open("rb") as stream:
        done = sum(map(bool, pool.imap(function, stream, chunksize=500)))
        pool.close()
        pool.join()
    return done


def jobs(log: Path, place: Path) -> dict[str, Callable[..., bulk.Report]]:
    """Return the jobs that are measured."""
    return {
        "validate": lambda **how: bulk.validate(log, SCHEMA, **how),
        "offload": lambda **how: bulk.offload(
            log, place / "store", offload_options={"threshold": LARGE // 2}, **how
        ),
        "table": lambda **how: bulk.table(log, **how),
        "infer": lambda **how: bulk.infer(log, **how),
        "stats": lambda **how: bulk.stats(log, **how),
        "convert": lambda **how: bulk.convert(log, target="anthropic", **how),
    }


def one_core(log: Path, place: Path, count: int) -> dict[str, float]:
    """Measure each job in one process; return CPU seconds a message."""
    size, costs, rows = log.stat().st_size, {}, []
    measured: dict[str, Callable[..., object]] = {"plain loop": lambda **_: plain_loop(log)}
    measured |= jobs(log, place)
    for name, job in measured.items():
        start = time.process_time()
        job(out=place / f"{name}-serial", workers=0)
        seconds = time.process_time() - start
        costs[name] = seconds / count
        rows.append([
            name, show_time(seconds / count), f"{count / seconds:,.0f}",
            f"{size / seconds / 1e6:,.1f}", f"{seconds / count / costs['plain loop']:.2f}×",
        ])  # fmt: skip
    print_table(
        f"One core: {count:,} messages, {size / 1e6:,.0f} MB",
        ["job", "CPU a message", "messages/s", "MB/s", "plain loop = 1"],
        rows,
    )
    return costs


def scaling(log: Path, place: Path, count: int) -> None:
    """Measure jobs on one and on two workers by CPU time, which others on the machine don't take.

    A job can't take less time than its busiest process. So the CPU time of that one is what the
    job takes on a machine with enough free cores. What a worker takes to start is shown apart: it
    counts for a short job only.
    """
    short = place / "short.jsonl"
    write(short, 2)
    rows = []
    for name in [*jobs(log, place), "Pool, `is_valid`", "Pool, `hash_line`"]:
        (start, *_), (two_starts, *_) = (_busiest(name, short, place, each) for each in (1, 2))
        (one, *_), (two, here, both) = (_busiest(name, log, place, each) for each in (1, 2))
        one, two, both = one - start, two - two_starts, both - 2 * two_starts
        rows.append([
            name, show_time(one), show_time(two), f"{one / two:.2f}×", show_time(two_starts),
            show_time(here), f"{both / count * 1e6:.1f} µs",
        ])  # fmt: skip
    print_table(
        f"From one worker to two: {count:,} messages, CPU time",
        ["", "one worker", "each of two", "faster by", "start of each", "parent",
         "both, a message"],
        rows,
    )  # fmt: skip


def _busiest(name: str, log: Path, place: Path, number: int) -> tuple[float, float, float]:
    """Return CPU seconds of the busiest process, of this one, and of all."""
    out = place / f"{name}-{log.stem}-{number}"
    before = _cpu()
    if name.startswith("Pool"):
        plain_pool(log, is_valid if "is_valid" in name else hash_line, number)
    else:
        # Many shards, so that the workers are equally busy.
        shard_bytes = max(1, log.stat().st_size // 32)
        jobs(log, place)[name](out=out, workers=number, shard_bytes=shard_bytes)
    here, workers = (after - then for after, then in zip(_cpu(), before, strict=True))
    return max(here, workers / number), here, here + workers


def _cpu() -> tuple[float, float]:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    here, workers = (each.ru_utime + each.ru_stime for each in used)
    return here, workers


def workers(log: Path, place: Path, count: int, numbers: list[int]) -> None:
    """Measure worker processes: time by the clock, and the most memory that one has."""
    rows = []
    for name in ("validate", "offload", "table"):
        job = jobs(log, place)[name]
        for number in numbers:
            out = place / f"{name}-{number}-{count}"
            peaks: list[int] = []
            start = time.perf_counter()
            watch = partial(_note, peaks)
            report = job(out=out, workers=number, progress=watch)
            wall = time.perf_counter() - start
            assert report.counts["messages"] == count
            peak = max(peaks) / 1024
            load = os.getloadavg()[0]
            rows.append([name, number, show_time(wall), f"{count / wall:,.0f}",
                         f"{peak:,.0f} MiB", f"{load:.1f}"])  # fmt: skip
    print_table(
        f"Worker processes: {count:,} messages, {log.stat().st_size / 1e6:,.0f} MB",
        ["job", "workers", "time", "messages/s", "largest worker", "load of the machine"],
        rows,
    )


def largest_child() -> int:
    """Return the most memory that a worker had so far, in KiB."""
    # Not what `getrusage` says of children: that begins with the memory of this process.
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    return max((_peak(Path(f"/proc/{each}/status")) for each in children), default=0)


def _note(peaks: list[int], _: object) -> None:
    peaks.append(largest_child())


_OWN = Path("/proc/self/status")


def _peak(status: Path) -> int:
    found = [row.split()[1] for row in status.read_text().splitlines() if row.startswith("VmHWM")]
    return int(found[0]) if found else 0


def nothing() -> TaskOutcome:
    """Do nothing, so that only the executor is measured."""
    return TaskOutcome({})


def dask() -> float:
    """Measure what a task costs on a Dask cluster of this machine; return CPU seconds.

    The scheduler and the client that hands out the tasks are threads of this process. The first is
    what limits a cluster, so that the figure is a bound from above.
    """
    queue: deque[Any] = deque([nothing] * TASKS)
    start = time.perf_counter()
    with dask_client(LOCAL, 2) as client:
        running = run_on_executor(queue, client.get_executor(), 4)
        next(running)
        begun, before, memory = time.perf_counter(), _cpu()[0], _peak(_OWN)
        list(running)
    each = (_cpu()[0] - before) / (TASKS - 1)
    rows = [[f"{TASKS:,}", show_time(begun - start), show_time(each),
             f"{(_peak(_OWN) - memory) / 1024:,.0f} MiB"]]  # fmt: skip
    print_table(
        "Dask, two workers here", ["tasks", "start and first task", "CPU a task", "memory"], rows
    )
    return each


def large_numbers(costs: dict[str, float], size: float, task: float) -> None:
    """Print what the measured costs mean for many messages on many machines.

    Arguments:
        costs: CPU seconds a message by job.
        size: bytes a message.
        task: CPU seconds that the scheduler needs for a task.
    """
    rows = []
    for count in COUNTS:
        shards = max(1, round(count * size / bulk.Options().shard_bytes))
        reads = max(shards, count * size / READ_AT_ONCE)
        for machines in MACHINES:
            limits = {
                "processors": count * costs["validate"] / min(machines * CORES, shards),
                "network": count * size / (machines * NETWORK),
                "scheduler": shards * task,
            }
            limit = max(limits, key=limits.__getitem__)
            dollars = reads * GET + 2 * shards * PUT
            rows.append([f"10^{len(str(count)) - 1}", f"{count * size / 1e9:,.0f} GB",
                         f"{shards:,}", f"{machines:,}", _duration(limits[limit]), limit,
                         f"${dollars:,.2f}"])  # fmt: skip
    print_table(
        f"Validation of many messages from S3, machines of {CORES} cores, computed",
        ["messages", "bytes", "shards", "machines", "time", "limit", "requests"],
        rows,
    )


def _duration(seconds: float) -> str:
    for unit, factor in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= factor:
            return f"{seconds / factor:.1f} {unit}"
    return f"{seconds:.0f} s"


def main() -> None:
    """Measure everything and print the tables."""
    count = int(os.environ.get("BULK_MESSAGES", "100000"))
    sample = min(count, SAMPLE)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        log = place / "sample.jsonl"
        write(log, sample)
        costs = one_core(log, place, sample)
        size = log.stat().st_size / sample
        scaling(log, place, sample)
        log = place / "log.jsonl"
        write(log, count)
        workers(log, place, count, [WORKERS])
        large_numbers(costs, size, dask())


if __name__ == "__main__":
    main()
