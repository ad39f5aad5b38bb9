"""`pytest --sample N`: a few cases of each test, the same ones for the same seed."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def collected(*options: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/test_guesses.py", *options],
        check=True, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_a_sample_has_some_cases_of_each_test() -> None:
    every, some = collected(), collected("--sample", "2", "--sample-seed", "a")
    of_each = Counter(case.partition("[")[0] for case in some)
    assert of_each == {
        test: min(count, 2)
        for test, count in Counter(case.partition("[")[0] for case in every).items()
    }
    assert set(some) < set(every)
    assert collected("--sample", "2", "--sample-seed", "a") == some
    assert collected("--sample", "2", "--sample-seed", "b") != some
