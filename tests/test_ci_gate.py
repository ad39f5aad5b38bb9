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
RESEARCHER = "agents/researcher.json"
WIDER = FILES[RESEARCHER].replace('"text/html"', '"*/*"')
SUMMARISER = "agents/summariser.json"
TAKES = FILES[SUMMARISER].replace("text/{plain,html}", "*/*")

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "git"))), reason="needs bash and git"
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
            # Workers that run tests side by side may have set the width of their terminal.
            **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
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
    done = repository.run("bash ci/gate.sh main")
    assert (done.returncode, done.stdout) == (0, "")


@needs_tools
@pytest.mark.slow
def test_a_change_that_breaks_a_pair(repository: Repository) -> None:
    """The page shows what the gate says, and that both may change together."""
    repository.run("git checkout --quiet -b change")
    repository.write(RESEARCHER, WIDER)
    done = repository.run("bash ci/gate.sh main")
    assert done.returncode == 1
    assert f"```text\n{done.stdout}```" in PAGE
    repository.write(SUMMARISER, TAKES)
    assert repository.run("bash ci/gate.sh main").returncode == 0


@needs_tools
@pytest.mark.slow
def test_on_github(repository: Repository) -> None:
    """A change that breaks a pair is annotated at its file, and reported as SARIF."""
    workflow = JOBS[".github/workflows/agents.yml"]
    named = steps(workflow["jobs"]["gate"])
    gate = named["Gate"]
    repository.run("git checkout --quiet -b change")
    repository.write(RESEARCHER, WIDER)
    base = gate["env"]["BASE"].replace("origin/${{ github.base_ref }}", "main")
    done = repository.run(gate["run"], **{**gate["env"], "BASE": base})
    assert done.returncode == 1
    said = f"::error file={RESEARCHER},line=1,title=messagebody pair-lost::researcher → summariser"
    assert done.stdout.startswith(said)
    [run] = repository.read("agents.sarif")["runs"]
    [place] = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert place["artifactLocation"]["uri"] == RESEARCHER
    done = repository.run(named["Picture"]["run"], GITHUB_STEP_SUMMARY="summary.md")
    assert done.returncode == 0
    summary = (repository.root / "summary.md").read_text("utf-8")
    assert summary.startswith("```mermaid\nflowchart LR\n")
    assert summary.endswith("\n```\n")


@needs_tools
@pytest.mark.slow
def test_on_gitlab(repository: Repository) -> None:
    """The reports are where the job says they are; a file that is no agent closes the gate."""
    job = JOBS[".gitlab-ci.yml"]["agents"]
    repository.write(SUMMARISER, '{"input": [{"requierd": true}]}')
    [gate] = job["script"]
    done = repository.run(gate, CI_MERGE_REQUEST_DIFF_BASE_SHA="main")
    assert done.returncode == 2
    assert "requierd" in done.stdout
    repository.write(SUMMARISER, FILES[SUMMARISER])
    repository.write(RESEARCHER, WIDER)
    done = repository.run(gate, CI_MERGE_REQUEST_DIFF_BASE_SHA="main")
    assert done.returncode == 1
    report = repository.root / job["artifacts"]["reports"]["junit"]
    root = ET.parse(report).getroot()
    assert root.get("failures") == "1"
    # The name of a test stays, or each run would have tests that nobody has seen.
    [case] = root.iter("testcase")
    repository.run(gate, CI_MERGE_REQUEST_DIFF_BASE_SHA="main")
    assert [each.get("name") for each in ET.parse(report).iter("testcase")] == [case.get("name")]


@needs_tools
@pytest.mark.slow
def test_an_agent_that_is_removed(repository: Repository) -> None:
    repository.run("git checkout --quiet -b change && git rm --quiet agents/summariser.json")
    done = repository.run("bash ci/gate.sh main")
    assert (done.returncode, done.stdout) == (0, "  summariser is removed\n")
