"""The programs of docs/examples, run as readers run them."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import servers

ROOT = Path(__file__).parents[1]
RESEARCHER = ROOT / "docs/examples/researcher.py"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("langgraph") is None, reason="runs with make test-borders"
)


def run(store: str, directory: Path, environment: dict[str, str]) -> list[str]:
    known = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, "-W", "error", str(RESEARCHER), store]
    done = subprocess.run(
        command, check=False, cwd=directory, env=known, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check(said: list[str], page: str) -> None:
    verdict, added, refused, sent = said
    assert verdict.endswith("always")
    assert added.endswith("everything required is there")
    assert refused.startswith("not added: part 0 ('/notes', text/plain): accepted by no")
    size, names = sent.split(maxsplit=1)
    assert int(size) < 1000  # of 40 KB: the table and the chart are in the store
    assert names.startswith("['/report.md', '/tables/rides.csv', '/charts/rides.png',")
    assert sent.endswith("Made of 3 parts; 1 was cut.")
    assert "They grow." in page
    assert ">day</th>" in page  # the table, read from the store
    assert "data:image/png;base64," in page  # and the chart


def test_with_a_directory_as_the_store(tmp_path: Path) -> None:
    said = run((tmp_path / "store").as_uri(), tmp_path, {})
    check(said, (tmp_path / "article.html").read_text("utf-8"))
    assert len([*tmp_path.glob("store/sha256/*")]) == 2  # once, for message and checkpoints


def test_with_s3(tmp_path: Path, moto_server: servers.Server) -> None:
    client = moto_server.session().client("s3", endpoint_url=moto_server.endpoint)
    client.create_bucket(Bucket="researcher")
    here = moto_server.environment() | {"AWS_ENDPOINT_URL": moto_server.endpoint}
    said = run("s3://researcher/agents", tmp_path, here)
    check(said, (tmp_path / "article.html").read_text("utf-8"))
    keys = [each["Key"] for each in client.list_objects_v2(Bucket="researcher")["Contents"]]
    assert len(keys) == 2
    assert all(key.startswith("agents/sha256/") for key in keys)


def test_the_program_is_short() -> None:
    assert len(RESEARCHER.read_text("utf-8").splitlines()) < 65  # with what it says it needs
