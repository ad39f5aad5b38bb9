"""Copy the core and its tests into a directory, without any leaf: `python -m tests.core TARGET`.

What passes there needs no leaf. `make test ENV=core` runs it.
"""

import shutil
import sys
from pathlib import Path

from tests.test_imports import LEAVES

ROOT = Path(__file__).parents[1]
# The leaves that tests of the core are made with: S3 servers, sample files and strategies.
TOOLS = {"s3", "samples", "testing"}
TESTS = ["base", "compatibility", "filesystem", "globs", "model", "schema", "storage", "wire"]


def copy_core(target: Path) -> None:
    """Copy the package without its leaves, and the tests of what stays."""
    leaves = {leaf for floor in LEAVES for leaf in floor} - TOOLS
    here = ROOT / "messagebody"

    def left_out(directory: str, names: list[str]) -> set[str]:
        at_root = Path(directory) == here
        return {n for n in names if n == "__pycache__" or (at_root and Path(n).stem in leaves)}

    shutil.copytree(here, target / "messagebody", ignore=left_out)
    for name in ("conftest.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, target / name)
    (target / "tests").mkdir()
    for path in (ROOT / "tests").iterdir():
        if path.is_dir() and path.name in {*TESTS, "vectors"}:
            shutil.copytree(path, target / "tests" / path.name, ignore=left_out)
        elif path.suffix == ".py" and not path.name.startswith("test_"):
            shutil.copy(path, target / "tests" / path.name)
    (target / "tests/faults").mkdir()
    shutil.copy(ROOT / "tests/faults/proxy.py", target / "tests/faults/proxy.py")


if __name__ == "__main__":
    copy_core(Path(sys.argv[1]))
