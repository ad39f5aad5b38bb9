"""Memory of a worker: one message and one block of output at a time, however large the log."""

import base64
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1024 * 1024
LARGEST = 24 * MIB

PROGRAM = """
import sys
from messagebody import MessageBodySchema, bulk
from messagebody.bulk import jobs
from messagebody.bulk._run import Options, run

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024

name, small, log, out = sys.argv[1:]
job = {"validate": jobs.Validate(MessageBodySchema([("/**",), (None,)])), "table": jobs.Table(),
       "digest": jobs.Digest(), "stats": jobs.Stats(), "convert": jobs.Convert()}[name]
# Imports everything: what a worker takes before it begins is not what is measured.
run(job, [small], out + "-warm", Options(workers=0))
before = peak()
report = run(job, [log], out, Options(workers=0, shard_bytes="1 GiB"))
assert report.counts["messages"] > 1000, report
assert not report.counts["bad lines"], report
print(peak() - before)
"""


def growth(job: str, log: Path, out: Path) -> int:
    """Return by how much the memory of a process grows, at most, when it does a job on a log."""
    small = log.with_name("small.jsonl")
    small.write_text('[{"content":"x"}]\n')
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, job, str(small), str(log), str(out)],
        # What is free again goes back to the system, whatever the C library would rather keep.
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(MIB)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return int(done.stdout)


@pytest.fixture(scope="module")
def large_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 200 MiB in one shard: some of the largest messages in a row among small ones."""
    log = tmp_path_factory.mktemp("logs") / "large.jsonl"
    small = json.dumps([{"content": "text " * 400}]) + "\n"
    text = json.dumps([{"content": "x" * LARGEST}]) + "\n"
    noise = base64.b64encode(random.Random(1).randbytes(LARGEST * 3 // 4)).decode()
    picture = [{"contentType": "image/png", "contentEncoding": "base64", "content": noise}]
    with log.open("w") as stream:
        for _ in range(2):
            stream.write(text + text + small * 1000 + 2 * (json.dumps(picture) + "\n"))
    return log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "others"),
    [("validate", 0), ("digest", 0), ("stats", 0), ("convert", 64), ("table", 64)],
)
def test_large_messages_take_little_memory(
    job: str, others: int, large_log: Path, tmp_path: Path
) -> None:
    assert growth(job, large_log, tmp_path / "out") < others * MIB + 3 * LARGEST


@pytest.mark.parametrize("job", ["validate", pytest.param("table", marks=pytest.mark.slow)])
@pytest.mark.dear
def test_more_messages_take_no_more_memory(job: str, tmp_path: Path) -> None:
    grown = []
    for messages in (6_000, 24_000):
        log = tmp_path / f"{messages}.jsonl"
        log.write_text("".join(f'[{{"content":"{n:02000}"}}]\n' for n in range(messages)))
        grown.append(growth(job, log, tmp_path / f"{messages}-out"))
    assert max(grown) < 64 * MIB
    assert grown[1] - grown[0] < 8 * MIB
