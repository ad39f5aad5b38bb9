"""A campaign of damaged inputs through every reader, each in a process with limits of its own.

`python -m tests.fuzz.campaign --seconds 600` prints what happened, one line for each reader, and
fails if a reader raised anything but an error of the package, took over two seconds of processor
time for one input, took over a GiB of memory for one of 64 MiB, or disagreed with another reading.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from messagebody import MessageBodyError
from tests.fuzz.readers import READERS, Reader

SECONDS = 2.0
"""Processor time that an input may take."""
HANG = 20
"""Seconds of processor time after which the system ends the process."""
LARGE = 64 * 1024**2
"""Bytes of a large input."""
ALLOWANCE = 1024**3
"""Bytes of memory that reading may take beyond those of the process before it."""
_SHOWN = 5


@attrs.define
class Report:
    """What happened to the inputs of one reader."""

    reader: str
    inputs: int = 0
    taken: int = 0
    refused: int = 0
    slowest: float = 0.0
    """Seconds of processor time of the slowest short input."""
    large: float = 0.0
    """The same of large inputs."""
    memory: int = 0
    """The most bytes of memory that its processes had."""
    failures: list[str] = attrs.field(factory=list)

    def __str__(self) -> str:
        return (
            f"{self.reader:18} {self.inputs:>10,} {self.taken:>10,} {self.refused:>10,} "
            f"{self.slowest:>8.2f} {self.large:>8.2f} {self.memory // 1024**2:>8,} "
            f"{len(self.failures):>8,}"
        )

    def note_memory(self) -> None:
        self.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def try_input(read: Callable[[], object], report: Report, label: str, seconds: float) -> None:
    """Read one input and note what came of it."""
    signal.setitimer(signal.ITIMER_PROF, max(HANG, 2 * seconds))
    start = time.process_time()
    try:
        read()
        report.taken += 1
    except MessageBodyError:
        report.refused += 1
    except Exception:  # noqa: BLE001 - every other exception is the finding
        report.failures.append(f"{label}: {traceback.format_exc(limit=-3)[-1000:]}")
    took = time.process_time() - start
    signal.setitimer(signal.ITIMER_PROF, 0)
    report.inputs += 1
    report.slowest = max(report.slowest, took)
    if took > seconds:
        report.failures.append(f"{label}: {took:.1f} s of processor time")


def hold_memory() -> None:
    """Let the process grow by the allowance, and no further."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ALLOWANCE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run_small(reader: Reader, start: int, count: int, seconds: float, place: Path) -> Report:
    """Read damaged inputs, one seed after another, until a number or a time is reached."""
    hold_memory()
    report, end = Report(reader.name), time.monotonic() + seconds
    with place.open("r+b", buffering=0) as note:
        for seed in range(start, start + count):
            if time.monotonic() > end or len(report.failures) >= _SHOWN:
                break
            note.seek(0)
            note.write(b"%-20d" % seed)  # for the parent, if the system ends this process
            given = reader.input(seed)
            try_input(lambda: reader.read(given, seed), report, f"seed {seed}", SECONDS)  # noqa: B023
    report.note_memory()
    return report


def large_inputs(reader: Reader, count: int) -> Iterator[tuple[str, Any]]:
    """Yield valid inputs of which one piece is repeated until they are large."""
    for seed in range(count):
        valid: Any = reader.seeds[seed % len(reader.seeds)]
        if type(valid) not in {bytes, str}:
            return
        start = seed * 7919 % len(valid)
        end = start + 1 + seed * 104_729 % 40
        piece = valid[start:end]
        yield f"large {seed}", valid[:start] + piece * (LARGE // len(piece)) + valid[end:]


def run_large(reader: Reader, seed: int) -> Report:
    """Read one large input; time grows with its length, so only memory is held."""
    report = Report(reader.name)
    for label, given in [*large_inputs(reader, seed + 1)][seed:]:
        hold_memory()
        # An odd seed: even ones bring the limits and options that would refuse it at once.
        try_input(lambda: reader.read(given, 1), report, label, 60 * SECONDS)  # noqa: B023
    report.large, report.slowest = report.slowest, 0.0
    report.note_memory()
    return report


def in_process(reader: str, *arguments: object) -> Report:
    """Run part of a campaign in a process of its own."""
    with tempfile.NamedTemporaryFile() as place:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.campaign", "--reader", reader,
             "--place", place.name, *map(str, arguments)],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        if done.returncode == 0:
            return Report(**json.loads(done.stdout.splitlines()[-1]))
        at = Path(place.name).read_text().strip()
        return Report(
            reader, failures=[f"ended by {done.returncode} at {at}: {done.stderr[-500:]}"]
        )


def campaign(names: Iterable[str], seconds: float, count: int, start: int, large: int) -> int:
    """Run every reader for its share of the time; print the counts and return the exit code."""
    chosen, end = [*names], time.monotonic() + seconds
    head = ("inputs", "taken", "refused", "slowest", "large", "MiB", "failures")
    say("{:18} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}".format("reader", *head))
    total = Report("together")
    for done, name in enumerate(chosen):
        merge(
            report := Report(name),
            [in_process(name, "--large-seed", seed) for seed in range(large)],
        )
        # What a reader that is done early leaves is for those after it.
        share = max(1.0, (end - time.monotonic()) / (len(chosen) - done))
        small = ["--seconds", share, "--count", count, "--start", start]
        merge(report, [in_process(name, *small)])
        merge(total, [report])
        say(str(report))
        for failure in report.failures[:_SHOWN]:
            say("    " + failure.replace("\n", "\n    "))
    say(str(total))
    return 1 if total.failures else 0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def merge(report: Report, others: Iterable[Report]) -> None:
    for other in others:
        report.inputs += other.inputs
        report.taken += other.taken
        report.refused += other.refused
        report.slowest = max(report.slowest, other.slowest)
        report.large = max(report.large, other.large)
        report.memory = max(report.memory, other.memory)
        report.failures += other.failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3_600)
    parser.add_argument("--count", type=int, default=10**6, help="inputs of each reader at most")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--large", type=int, default=4, help="inputs of 64 MiB for each reader")
    parser.add_argument("--reader", help="only this one, in this process")
    parser.add_argument("--large-seed", type=int)
    parser.add_argument("--place", type=Path, help="a file for the seed that is being read")
    chosen = parser.parse_args()
    if chosen.reader is None:
        return campaign(READERS, chosen.seconds, chosen.count, chosen.start, chosen.large)
    reader = READERS[chosen.reader]
    if chosen.large_seed is not None:
        report = run_large(reader, chosen.large_seed)
    else:
        report = run_small(reader, chosen.start, chosen.count, chosen.seconds, chosen.place)
    say(json.dumps(attrs.asdict(report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
