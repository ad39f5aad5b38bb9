"""Interleaved measurement: contestants take turns in one run, medians of CPU time are compared.

Turns even out what a shared machine does meanwhile; CPU time leaves out what others take; the
garbage collector stays on, as users have it.
"""

import gc
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

__all__ = ["compare", "machine", "print_table", "show_ratio", "show_time"]


def compare(
    contestants: Mapping[str, Callable[[], object]], *, seconds: float = 2.0, rounds: int = 5
) -> dict[str, float]:
    """Return the median CPU seconds of one call of each contestant.

    Arguments:
        contestants: callables by name; each is called once to warm up.
        seconds: about how long all rounds of one contestant take.
        rounds: how often the contestants take turns, at least.
    """
    calls = {name: _calls_for(run, seconds / rounds) for name, run in contestants.items()}
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            samples[name].append(_time(run, calls[name]))
    return {name: statistics.median(times) for name, times in samples.items()}


def _calls_for(run: Callable[[], object], seconds: float) -> int:
    run()  # what is made once and kept is not a part of each call
    once = _time(run, 1)
    return max(1, min(100_000, int(seconds / max(once, 1e-7))))


def _time(run: Callable[[], object], calls: int) -> float:
    gc.collect()
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def show_time(seconds: float) -> str:
    """Return a duration in the unit it reads best in."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def show_ratio(ratio: float) -> str:
    """Return a ratio as a factor."""
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.0f}×"


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table under a heading."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def machine(*packages: str) -> str:
    """Return a line about interpreter, processor and the versions compared."""
    return f"{platform.python_implementation()} {platform.python_version()}, " + ", ".join(
        f"{package} {_version(package)}" for package in packages
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
