"""The reader in TypeScript, which was written from the page of the standard alone."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.npm.test_packages import NODE

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "docs" / "reference" / "format" / "v1"
pytestmark = pytest.mark.skipif(not NODE.exists(), reason="npm's packages are not installed")


def run(vectors: Path) -> subprocess.CompletedProcess[str]:
    program = ROOT / "docs" / "examples" / "typescript" / "conformance.ts"
    return subprocess.run(
        [str(NODE), "--experimental-strip-types", "--no-warnings", str(program), str(vectors)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_passes_the_vectors() -> None:
    done = run(VECTORS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout


def test_a_wrong_vector_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(VECTORS, tmp_path / "v1")
    wrong = {"document": "[]", "digest": "sha256:" + "0" * 64}
    (tmp_path / "v1" / "digests.jsonl").write_text(json.dumps(wrong) + "\n", encoding="utf-8")
    assert run(tmp_path / "v1").returncode == 1
