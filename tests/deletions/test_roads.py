"""Every place of the source that deletes, replaces or writes is run among foreign files."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

import messagebody

PACKAGE = Path(messagebody.__file__).parent
DELETING = {
    "unlink", "rmtree", "rmdir", "rm", "rm_file", "delete", "write_bytes", "write_text", "truncate",
    "delete_object", "delete_objects", "abort_multipart_upload", "put_object", "copy_object",
    "mv", "mv_file", "pipe_file", "copyfile", "copy_file", "removedirs",
}  # fmt: skip
# These are methods of strings, lists and parts too: only those of modules count.
OF_MODULES = {"remove", "replace", "rename", "move", "link", "symlink", "ftruncate"}
# What pytest runs for those who make a store or a filesystem, in a place of its own.
KITS = "testing/"
# In-memory files: no place is theirs.
IN_MEMORY = {"archives/zip.py", "archives/tar.py"}
# Run by tests of their own, because they need what these places do not have.
ELSEWHERE = {
    ("s3/_uploads.py", "abort_multipart_upload"): "tests/s3: an upload of its own",
    ("storage/_stores/filesystem.py", "pipe_file"): "tests/storage/test_filesystem.py: in memory",
    ("filesystem/_files.py", "truncate"): "in memory",
    ("_base/files.py", "unlink"): "tests/base/test_files.py: a temporary of its own",
    ("_base/files.py", "truncate"): "tests/envelopes: the end of its own log",
}


def roads() -> Iterator[tuple[str, int, str]]:
    """Yield the file, the line and the name of each call that deletes or writes."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(KITS) or name in IN_MEMORY:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # Also one that is handed on, such as `path.unlink`.
            if isinstance(node, ast.Attribute) and _deletes(node):
                yield name, node.end_lineno or node.lineno, node.attr


def _deletes(node: ast.Attribute) -> bool:
    of = node.value.id if isinstance(node.value, ast.Name) else ""
    return node.attr in DELETING or (node.attr in OF_MODULES and of in {"os", "shutil", "Path"})


@pytest.mark.dear
def test_the_search_finds_them() -> None:
    found = {(name, road) for name, _, road in roads()}
    assert {
        ("bulk/_run.py", "delete"), ("storage/_offloading/_sweep.py", "delete"),
        ("storage/_references/cache.py", "delete"), ("storage/_stores/directory.py", "unlink"),
        ("s3/_store.py", "delete_object"), ("archives/directory/_unpack.py", "rename"),
    } <= found  # fmt: skip
    assert ELSEWHERE.keys() <= found


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_road_is_run_among_foreign_files(tmp_path: Path) -> None:
    """By the tests beside this one, whose lines are noted."""
    data = tmp_path / "lines"
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--data-file={data}",
         f"--source={PACKAGE}", f"--rcfile={os.devnull}",
         "-m", "pytest", "-q", "-n", "0", f"--basetemp={tmp_path / 'inner'}",
         str(here / "test_commands.py"), str(here / "test_functions.py")],
        cwd=PACKAGE.parent, env=os.environ | {"COVERAGE_CORE": "ctrace"}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    lines = coverage.CoverageData(str(data))
    lines.read()
    not_run = [
        f"{name}:{line} {road}"
        for name, line, road in roads()
        if line not in (lines.lines(str(PACKAGE / name)) or []) and (name, road) not in ELSEWHERE
    ]
    assert not_run == []
