"""Bulk jobs: messages a second and a core, workers, memory, a plain pool, Dask, and large numbers.

`BULK_MESSAGES=1000000 python -m benchmarks bulk` makes that many messages, 100,000 by default.
`BULK_WORKERS` is how many workers do them (2), `BULK_TASKS` how many tasks Dask gets (2,000).
"""

import base64
import hashlib
import json
import os
import resource
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.harness import compare, print_table, show_ratio, show_time
from messagebody import MessageBody, MessageBodySchema, bulk
from messagebody.bulk._executors import run_tasks

SCHEMA = MessageBodySchema([
    (None, "text/*", True), ("/{sources,files}/*", "text/*"), ("/charts/*", "image/*"),
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


def _answer(number: int) -> dict[str, Any]:
    return {"contentType": "text/markdown", "content": f"Answer {number}, naïve. " * 20}


def _one(number: int) -> list[dict[str, Any]]:
    return [_answer(number)]


def _three(number: int) -> list[dict[str, Any]]:
    """Return parts as agents leave them: an answer, two sources, now and then a picture."""
    parts: list[dict[str, Any]] = [
        {"contentType": "text/markdown", "content": f"Answer {number}. " * 20},
        {"name": "/sources/1", "contentType": "text/plain", "content": f"Source {number}. " * 12},
        {"name": "/sources/2", "contentType": "text/html",
         "contentUrl": f"https://example.com/{number}"},
    ]  # fmt: skip
    if number % 100 == 0:
        seed = hashlib.sha256(str(number // 300).encode()).digest()
        parts.append(_picture(seed * (LARGE // len(seed))))
    return parts


def _ten(number: int) -> list[dict[str, Any]]:
    links = [
        {"name": f"/sources/{n}", "contentType": "text/html",
         "contentUrl": f"https://example.com/{number}/{n}"}
        for n in range(3)
    ]  # fmt: skip
    files = [
        {"name": f"/files/{n}.md", "contentType": "text/markdown",
         "content": f'File {number}, "quoted", naïve.\n' * 8}
        for n in range(5)
    ]  # fmt: skip
    return [_answer(number), *links, *files, _picture(b"\x89PNG\r\n\x1a\n" * 30)]


def _picture(data: bytes) -> dict[str, Any]:
    return {"name": "/charts/1", "contentType": "image/png", "contentEncoding": "base64",
            "content": base64.b64encode(data).decode()}  # fmt: skip


def line(number: int, parts: Callable[[int], list[dict[str, Any]]] = _three) -> bytes:
    """Return a line of a log, as a program in Python writes it."""
    message = {"id": f"m{number}", "agent": f"agent-{number % 50}", "body": parts(number)}
    return json.dumps(message).encode() + b"\n"


def write(path: Path, count: int, make: Callable[[int], bytes] = line) -> None:
    """Write a log of messages."""
    with path.open("wb") as stream:
        for start in range(0, count, 10_000):
            stream.write(b"".join(map(make, range(start, min(start + 10_000, count)))))


SHAPES: Final = {"1 part": _one, "3 parts": _three, "10 parts": _ten}
"""Messages by the number of their parts."""


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


_QUERY: Final = """
    SELECT part.contentType, count(*), sum(octet_length(data)), max(sha256(data))
    FROM (
        SELECT part, CASE WHEN part.contentEncoding = 'base64' THEN from_base64(part.content)
                          ELSE encode(coalesce(part.content, '')) END AS data
        FROM (
            SELECT unnest(body) AS part
            FROM read_json(?, format = 'newline_delimited', columns = {body: 'STRUCT(
                name VARCHAR, contentType VARCHAR, content VARCHAR, contentEncoding VARCHAR,
                contentUrl VARCHAR)[]'})
        )
    )
    GROUP BY ALL
"""


def on_duckdb(path: Path) -> None:
    """Let DuckDB decode and hash the contents of a log on one thread, and count them by type."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(_QUERY, [str(path)]).fetchall()


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
        "stats": lambda **how: bulk.stats(log, **how),
        "digest": lambda **how: bulk.digest(log, **how),
        "table": lambda **how: bulk.table(log, **how),
        "infer": lambda **how: bulk.infer(log, **how),
        "offload": lambda **how: bulk.offload(
            log, place / "store", offload_options={"threshold": LARGE // 2}, **how
        ),
        "convert": lambda **how: bulk.convert(log, target="anthropic", **how),
    }


def one_core(place: Path, count: int) -> float:
    """Measure each job in one process; return CPU seconds that validation takes for a message."""
    found, sizes = {}, []
    for name, parts in SHAPES.items():
        log = place / f"{name}.jsonl"
        write(log, count, partial(line, parts=parts))
        sizes.append(f"{log.stat().st_size / count / 1000:.1f} KB")
        contestants: dict[str, Callable[[], object]] = {
            "plain loop": partial(plain_loop, log), "DuckDB, one thread": partial(on_duckdb, log),
        }  # fmt: skip
        for job, run in jobs(log, place).items():
            contestants[job] = partial(_anew, run, place / f"{job}-{name}")
        found[name] = compare(contestants, seconds=1.5, rounds=7)
    rows = []
    for job in found["3 parts"]:
        times = [(each[job] / count, each[job] / each["plain loop"]) for each in found.values()]
        rows.append([job, *(f"{show_time(time)}, {show_ratio(ratio)}" for time, ratio in times)])
    print_table(
        "One core: CPU time a message, and its ratio to the plain loop",
        ["job", *(f"{name}, {size}" for name, size in zip(SHAPES, sizes, strict=True))], rows,
    )  # fmt: skip
    return found["3 parts"]["validate"] / count


def _anew(job: Callable[..., bulk.Report], out: Path) -> None:
    """Do a job in this process, and delete what it wrote, so that the next call does it again."""
    job(out=out, workers=0)
    shutil.rmtree(out)


def scaling(log: Path, place: Path, count: int) -> None:
    """Measure jobs on one and on two workers by CPU time, which others on the machine don't take.

    A job can't take less time than its busiest process. So the CPU time of that one is what the
    job takes on a machine with enough free cores. A worker also takes time to start and to import
    what the job needs. So what half of the log takes is subtracted, and the rest counts twice.
    """
    half = place / "half.jsonl"
    write(half, count // 2)
    rows = []
    for name in [*jobs(log, place), "Pool, `is_valid`", "Pool, `hash_line`"]:
        (one_half, _), (two_half, _) = (_busiest(name, half, place, each) for each in (1, 2))
        (one, _), (two, here) = (_busiest(name, log, place, each) for each in (1, 2))
        one_whole, two_whole = 2 * (one - one_half), 2 * (two - two_half)
        rows.append([
            name, show_time(one_whole), show_time(two_whole), show_ratio(one_whole / two_whole),
            show_time(max(0.0, two - two_whole)), show_time(here),
        ])  # fmt: skip
    print_table(
        f"From one worker to two: {count:,} messages, CPU time",
        ["", "one worker", "each of two", "faster by", "start of each", "parent"],
        rows,
    )


def _busiest(name: str, log: Path, place: Path, number: int) -> tuple[float, float]:
    """Return CPU seconds of the busiest process, and of this one."""
    out = place / f"{name}-{log.stem}-{number}"
    before = _cpu()
    if name.startswith("Pool"):
        plain_pool(log, is_valid if "is_valid" in name else hash_line, number)
    else:
        # Many shards, so that the workers are equally busy.
        shard_bytes = max(1, log.stat().st_size // 32)
        jobs(log, place)[name](out=out, workers=number, shard_bytes=shard_bytes)
    here, workers = (after - then for after, then in zip(_cpu(), before, strict=True))
    return max(here, workers / number), here


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


def nothing() -> dict[str, int]:
    """Do nothing, so that only the executor is measured."""
    return {}


def dask() -> float:
    """Measure what a task costs on a Dask cluster of this machine; return CPU seconds.

    The scheduler and the client that hands out the tasks are threads of this process. The first is
    what limits a cluster, so that the figure is a bound from above.
    """
    import distributed

    queue: deque[Any] = deque([nothing] * TASKS)
    start = time.perf_counter()
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
    )
    with cluster, distributed.Client(cluster) as client:
        running = run_tasks(queue, client.get_executor(), 4)
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


def large_numbers(cost: float, size: float, task: float) -> None:
    """Print what the measured costs mean for many messages on many machines.

    Arguments:
        cost: CPU seconds that validation takes for a message.
        size: bytes a message.
        task: CPU seconds that the scheduler needs for a task.
    """
    rows = []
    for count in COUNTS:
        shards = max(1, round(count * size / bulk.Options().shard_bytes))
        reads = max(shards, count * size / READ_AT_ONCE)
        for machines in MACHINES:
            limits = {
                "processors": count * cost / min(machines * CORES, shards),
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
        cost = one_core(place, sample)
        size = log.stat().st_size / sample
        scaling(log, place, sample)
        log = place / "log.jsonl"
        write(log, count)
        workers(log, place, count, [WORKERS])
        large_numbers(cost, size, dask())


if __name__ == "__main__":
    main()
