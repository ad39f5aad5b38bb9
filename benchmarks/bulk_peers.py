"""Bulk jobs beside Daft: the same log, parsed, its contents decoded and hashed.

Daft does not go with the newest versions of other libraries that `constraints.txt` pins. So it is
run where `pip install daft` was.
"""

import os
import resource
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.bulk import hash_parts, plain_loop, write
from benchmarks.harness import machine, print_table, show_ratio
from messagebody import bulk

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5


def on_daft(log: Path) -> int:
    """Let Daft read the log and call a function with the bodies of each batch."""
    import daft

    @daft.udf(  # type: ignore[untyped-decorator]
        return_dtype=daft.DataType.int64()
    )
    def hashed(bodies: Any) -> list[int]:
        return [hash_parts(parts) for parts in bodies.to_pylist()]

    parts = daft.read_json(str(log)).select(hashed(daft.col("body")).alias("parts"))
    return int(parts.sum("parts").to_pydict()["parts"][0])


def main() -> None:
    """Print CPU times a message, of all threads; the contestants take turns."""
    count = int(os.environ.get("BULK_MESSAGES", "20000"))
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        log = place / "log.jsonl"
        write(log, count)
        for number in range(ROUNDS + 1):
            contestants: dict[str, Callable[[], object]] = {
                "plain loop": lambda: plain_loop(log),
                "Daft": lambda: on_daft(log),
                "bulk.stats": lambda n=number: bulk.stats(  # type: ignore[misc]
                    log, out=place / f"stats-{n}", workers=0
                ),
                "bulk.table": lambda n=number: bulk.table(  # type: ignore[misc]
                    log, out=place / f"table-{n}", workers=0
                ),
            }
            for name, act in contestants.items():
                before = _cpu()
                act()
                if number:  # the first round imports and starts
                    times.setdefault(name, []).append((_cpu() - before) / count)
    plain = median(times["plain loop"])
    rows = [
        [name, f"{median(found) * 1e6:.1f} µs", show_ratio(median(found) / plain)]
        for name, found in times.items()
    ]
    print_table(f"{count:,} messages; {machine('daft', 'pyarrow')}",
                ["", "CPU a message", "plain loop = 1"], rows)  # fmt: skip


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
