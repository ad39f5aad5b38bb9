"""Memory of a worker: one message and one block of output at a time, however large the log."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1024 * 1024
LARGEST = 8 * MIB

PROGRAM = """
import sys
from messagebody import MessageBody, MessageBodySchema, bulk, tables
from messagebody.bulk import jobs
from messagebody.bulk.run import Options, run

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024

name, log, out = sys.argv[1:]
warm = MessageBody.from_json("[]")
tables.to_table([warm])
job = {"validate": jobs.Validate(MessageBodySchema([("/**",), (None,)])), "table": jobs.Table(),
       "digest": jobs.Digest(), "stats": jobs.Stats()}[name]
run(job, [sys.argv[2] + "/small.jsonl"], out + "-warm", Options(engine="serial"))
before = peak()
report = run(job, [log + "/large.jsonl"], out, Options(engine="serial", shard_bytes="1 GiB"))
assert report.counts["messages"] > 1000, report
print(peak() - before)
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 200 MiB in one shard, with messages of 8 MiB among small ones."""
    place = tmp_path_factory.mktemp("logs")
    small = json.dumps([{"content": "text " * 400}]) + "\n"
    large = json.dumps([{"content": "x" * LARGEST}]) + "\n"
    (place / "small.jsonl").write_text(small)
    with (place / "large.jsonl").open("w") as stream:
        for _ in range(18):
            stream.write(large + small * 1000)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("name", ["validate", "digest", "stats", "table"])
def test_a_large_shard_takes_little_memory(name: str, logs: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, str(logs), str(tmp_path / "out")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert int(done.stdout) < 64 * MIB + 3 * LARGEST
