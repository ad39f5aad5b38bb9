"""Tests of libraries themselves, from their releases, over the filesystem of a body.

They run in a process of their own, by the settings of their projects and not by ours.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize(("name", "passed", "deviations"), [("zarr", 60, 0), ("pyarrow", 30, 5)])
def test_its_own_tests_pass(name: str, passed: int, deviations: int) -> None:
    command = [
        sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "-c", os.devnull,
        "--confcutdir", str(HERE), "--noconftest", "-o", "asyncio_mode=auto",
        "-o", "asyncio_default_fixture_loop_scope=function", str(HERE / f"upstream_{name}.py"),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", done.stdout[-200:])}
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert counts["passed"] >= passed, counts
    assert counts.get("xfailed", 0) == deviations, counts
