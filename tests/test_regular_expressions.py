"""Every regular expression of the package, held against long inputs that make it work hardest."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import messagebody

# A process of its own: the system ends it when it takes too long, and says where it was.
CHILD = r"""
import functools, importlib, inspect, pkgutil, re, resource, sys, time, tracemalloc

length, seconds, only_the_worst = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "worst"

import messagebody

for module in pkgutil.walk_packages(messagebody.__path__, "messagebody."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError:
            pass  # an extra is not installed


def uses(modules, name):
    "How the package uses a pattern: only that has to be cheap."
    return {
        found
        for module in modules
        for found in re.findall(rf"\b{name}\.(fullmatch|match|search|sub|finditer)\b",
                                inspect.getsource(module))
    }


def run(pattern, method, text):
    if method == "sub":
        pattern.sub("" if isinstance(text, str) else b"", text)
    elif method == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)


def inputs(pattern):
    "Runs of every character the pattern speaks of, behind what may come before them; by length."
    binary = isinstance(pattern.pattern, bytes)
    said = pattern.pattern.decode("latin-1") if binary else pattern.pattern
    units = {*" a0/%\\\"'-._({[", "/a", "%00", '\\"', "a ", "a/", ",a", "//"}
    units |= {c for c in said if c.isprintable() and c.isascii()}
    for prefix in ("", "a", "0", '"', "/", ";a=\"", "data:", "https://"):
        for unit in sorted(units):
            for end in ("", "\0"):
                yield functools.partial(made, binary, prefix, unit, end)


def made(binary, prefix, unit, end, size):
    text = prefix + unit * (size // len(unit)) + end
    return text.encode("latin-1") if binary else text


def cost(pattern, method, text):
    start = time.process_time()
    run(pattern, method, text)
    return time.process_time() - start


resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
modules = [m for n, m in sorted(sys.modules.items()) if n.startswith("messagebody.")]
seen = 0
for module in modules:
    for name, pattern in vars(module).items():
        if not isinstance(pattern, re.Pattern):
            continue
        for method in sorted(uses([module], name)):
            print(module.__name__, name, method, flush=True)
            tried = [*inputs(pattern)]
            if only_the_worst:
                tried = [max(tried, key=lambda make: cost(pattern, method, make(2000)))]
            for make in tried:
                text = make(length)
                tracemalloc.start()
                run(pattern, method, text)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak < 40 * length + 100_000, (name, peak, text[:20])
            seen += 1
assert seen > 40, seen
print("done")
"""


def hold(length: int, seconds: int, which: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(length), str(seconds), which],
        cwd=Path(messagebody.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    last = (done.stdout.split("\n") or [""])[-2:]
    assert done.stdout.endswith("done\n"), f"{last}: {done.stderr[-2000:]}"


@pytest.mark.dear
def test_every_pattern_takes_bounded_time_and_memory() -> None:
    hold(1_000, 60, "all")
    hold(50_000, 60, "worst")


@pytest.mark.slow
def test_every_pattern_takes_bounded_time_and_memory_at_length() -> None:
    hold(4_000, 60, "all")
    hold(200_000, 60, "worst")


@pytest.mark.slow
@pytest.mark.timeout(3600)  # its own limit is one of CPU time, which a busy machine gives slowly
def test_fifty_megabytes_of_the_worst_input() -> None:
    hold(50_000_000, 600, "worst")


def test_a_pattern_that_keeps_state_would_be_seen() -> None:
    """The measure itself: a group under a star keeps some hundred bytes a repetition."""
    import tracemalloc

    peaks = []
    for pattern in (r'"(?:[a-z]|\\.)*"', r'"(?:[a-z]|\\.)*+"'):
        tracemalloc.start()
        assert re.fullmatch(pattern, '"' + "a" * 100_000 + '"')
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > 40 * 100_000 > 5 * peaks[1]
