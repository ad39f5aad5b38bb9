"""The how-to for a CI gate: its files are put into a repository, and its jobs are run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "ci-gate.md").read_text("utf-8")
FILES = dict(re.findall(r'^```\w+ title="(.+?)"\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE))
JOBS = {name: yaml.safe_load(FILES[name]) for name in FILES if name.endswith(".yml")}
OUTPUT = "agents/researcher/output.json"
WIDER = """[
  {"contentType": "text/markdown", "required": true},
  {"name": "/sources/*", "contentType": "*/*"}
]"""

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "git", "jq"))), reason="needs bash, git and jq"
)


class Repository:
    """A repository as the page describes it, with all of it on `main`."""

    def __init__(self, root: Path) -> None:
        self.root = root / "repository"
        (root / "bin").mkdir()
        command = root / "bin" / "messagebody"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m messagebody "$@"\n')
        command.chmod(0o755)
        self._environment = {
            **os.environ,
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[1]),
            **{f"GIT_{who}_NAME": "t" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "t@example.org" for who in ("AUTHOR", "COMMITTER")},
        }
        for name, text in FILES.items():
            self.write(name, text)
        self.run("git init --quiet --initial-branch main && git add . && git commit --quiet -m all")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def read(self, name: str) -> Any:
        return json.loads((self.root / name).read_text("utf-8"))

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script as CI systems do: it stops at the first command that fails."""
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.root,
            check=False,
            env={**self._environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def steps(job: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in job["steps"] if "name" in step}


def test_the_page_has_every_file_it_names() -> None:
    """The tree at its beginning is the repository that is tested."""
    tree = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert tree is not None
    assert set(tree[1].split()) == FILES.keys() - JOBS.keys()


@needs_tools
@pytest.mark.slow
def test_nothing_changed(repository: Repository) -> None:
    """The gate opens, and what was asked is reported."""
    done = repository.run("bash ci/gate.sh main junit")
    assert done.returncode == 0, done.stdout
    reports = sorted((repository.root / "reports").iterdir())
    assert len(reports) == 5
    assert all(ET.parse(each).getroot().get("failures") == "0" for each in reports)


@needs_tools
@pytest.mark.slow
def test_on_github(repository: Repository) -> None:
    """A change that breaks a pair is annotated at its file; the merged report is SARIF."""
    workflow = JOBS[".github/workflows/schemas.yml"]
    named = steps(workflow["jobs"]["gate"])
    gate = named["Gate"]
    repository.run("git checkout --quiet -b change")
    repository.write(OUTPUT, WIDER)
    base = gate["env"]["BASE"].replace("origin/${{ github.base_ref }}", "main")
    done = repository.run(gate["run"], **{**gate["env"], "BASE": base})
    assert done.returncode == 1
    said = rf"::error file={re.escape(OUTPUT)},line=\d+,title=messagebody part-not-accepted::"
    assert re.search(said, done.stdout)
    assert "- researcher → summariser" in done.stdout
    made = repository.run(named["Make one report of all"]["run"])
    assert (made.returncode, made.stdout) == (0, "")
    [run] = repository.read("schemas.sarif")["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["part-not-accepted"]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {OUTPUT}
    assert len(places) == 2  # the old schema does not take it, and neither does the summariser


@needs_tools
@pytest.mark.slow
def test_on_gitlab(repository: Repository) -> None:
    """The reports are where the job says they are; a file that is no schema closes the gate."""
    job = JOBS[".gitlab-ci.yml"]["schemas"]
    repository.write("agents/summariser/input.json", '[{"requierd": true}]')
    [gate], [merge] = job["script"], job["after_script"]
    done = repository.run(gate, CI_MERGE_REQUEST_DIFF_BASE_SHA="main")
    assert done.returncode == 1
    assert "requierd" in done.stdout
    repository.write("agents/summariser/input.json", FILES["agents/summariser/input.json"])
    repository.write(OUTPUT, WIDER)
    done = repository.run(gate, CI_MERGE_REQUEST_DIFF_BASE_SHA="main")
    assert done.returncode == 1
    assert repository.run(merge).returncode == 0
    reports = job["artifacts"]["reports"]
    findings = repository.read(reports["codequality"])
    assert {each["location"]["path"] for each in findings} == {OUTPUT}
    results = [ET.parse(each).getroot() for each in repository.root.glob(reports["junit"])]
    assert sorted(str(each.get("failures")) for each in results) == ["0", "0", "0", "1", "1"]


@needs_tools
@pytest.mark.slow
def test_a_pair_that_no_longer_exists(repository: Repository) -> None:
    """Deleting an agent that a pair needs is noticed."""
    repository.run("git checkout --quiet -b change && git rm -r --quiet agents/summariser")
    done = repository.run("bash ci/gate.sh main")
    assert done.returncode == 1
    assert "can't read" in done.stdout
