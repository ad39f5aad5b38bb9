"""Workflows at the command line: check, show, adapt."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Shell

REPORT = {"name": "/report.md", "contentType": "text/markdown", "required": True}
FLOW: dict[str, Any] = {
    "agents": [
        {"name": "scout", "input": [], "output": [REPORT, {"name": "/raw/**"}]},
        {"name": "writer", "input": [{**REPORT, "name": "/in/report.md"}], "output": []},
    ],
    "edges": [["scout", "writer", [{"mount": "/in"}]]],
}
BREAKS = (
    "'scout' may send /raw/a of text/plain, which arrives as /in/raw/a; 'writer' does not take it"
)


@pytest.fixture
def shell(shell: Shell) -> Shell:
    write("flow.json", FLOW)
    mended = {**FLOW, "edges": [["scout", "writer", [{"drop": ["/raw/**"]}, {"mount": "/in"}]]]}
    write("mended.json", mended)
    write("leak.json", {**mended, "never": [["/report.md", "writer"]]})
    write("out.json", [REPORT])
    write("in.json", [{**REPORT, "name": "/brief.md"}])
    write("picture.json", [{"name": "/a.png", "contentType": "image/png", "required": True}])
    return shell


def write(path: str, value: Any) -> None:
    Path(path).write_text(json.dumps(value), "utf-8")


def test_check_shows_what_breaks_step_by_step(shell: Shell) -> None:
    done = shell("workflow", "check", "flow.json", "--suggest")
    assert done.code == 1
    assert done.out.splitlines() == [
        "sometimes  writer",
        f"  {BREAKS}",
        "    'scout' sends  /raw/a text/plain, /report.md text/markdown",
        "    mount /in      /in/raw/a text/plain, /in/report.md text/markdown",
        "steps that mend writer:",
        '  at the end of edge 0: [{"drop": [["/in/raw/**", "*/*"]]}] (loses /raw/** of */*)',
    ]
    done = shell("workflow", "check", "mended.json", "--suggest")
    assert (done.code, done.out) == (0, "always  writer\n")


def test_check_for_programs(shell: Shell) -> None:
    done = shell("workflow", "check", "flow.json", "--json", "--suggest")
    data = json.loads(done.out)
    assert (done.code, data["verdict"]) == (1, "sometimes")
    breach = data["agents"]["writer"]["breaches"][0]
    assert (breach["kind"], breach["edge"], breach["problem"]) == ("refused", 0, BREAKS)
    added = data["suggestions"][0]["add"][0]
    assert (added["edge"], added["lost"]) == (0, [{"name": "/raw/**", "contentType": "*/*"}])
    github = shell("workflow", "check", "flow.json", "--format", "github").out
    assert github.startswith("::error file=flow.json,line=1,title=messagebody refused::")
    sarif = json.loads(shell("workflow", "check", "flow.json", "--format", "sarif").out)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "refused"
    assert shell("workflow", "check", "mended.json", "--format", "github").out.strip() == ""


def test_rules_are_checked(shell: Shell) -> None:
    done = shell("workflow", "check", "leak.json")
    assert done.code == 1
    assert done.out.splitlines()[1].startswith("leak  parts '/report.md' can reach 'writer': ")
    report = shell("workflow", "check", "leak.json", "--format", "junit").out
    assert 'failures="1"' in report


def test_undecided_has_a_code_of_its_own(shell: Shell) -> None:
    done = shell("workflow", "check", "flow.json", "--max-steps", "1")
    assert (done.code, done.out) == (3, "undecided  writer\n  the budget ended first\n")
    told = shell("workflow", "check", "flow.json", "--max-steps", "1", "--json")
    assert told.code == 3
    assert json.loads(told.out)["agents"]["writer"]["reason"] == "the budget ended first"
    annotation = shell(
        "workflow", "check", "flow.json", "--max-steps", "1", "--format", "github"
    ).out
    assert "undecided, the budget ended first" in annotation


def test_adapt(shell: Shell) -> None:
    done = shell("workflow", "adapt", "out.json", "in.json")
    assert (done.code, done.out) == (0, '{"rename": ["/report.md", "/brief.md"]}\n')
    assert json.loads(shell("workflow", "adapt", "out.json", "out.json", "--json").out) == []
    done = shell("workflow", "adapt", "out.json", "picture.json", "--json")
    assert (done.code, done.out.strip()) == (1, "null")
    assert shell("workflow", "adapt", "-", "-").code == 2


def test_show_writes_a_page(shell: Shell) -> None:
    done = shell("workflow", "show", "flow.json")
    assert shell("workflow", "show", "flow.json", "-o", "flow.html").out == ""
    assert Path("flow.html").read_text("utf-8") == done.out
    assert shell("workflow", "show", "flow.json", "-o", "flow.json").code == 2
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
    for text in ("mount /in", "sometimes", "/in/raw/a text/plain", "flow.json"):
        assert text in done.out
    assert "<script" not in done.out


def test_show_writes_a_graph(shell: Shell) -> None:
    done = shell("workflow", "show", "flow.json", "--format", "mermaid")
    assert (done.code, done.out) == (
        0,
        'flowchart LR\n  n0["scout"] -.->|"sometimes<br/>mount /in"| n1["writer"]\n'
        "  linkStyle 0 stroke:#bf8700\n",
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"agents": [], "edges": [["a", "b"]]}'])
def test_a_wrong_file_says_what_is_wrong(shell: Shell, text: str) -> None:
    Path("wrong.json").write_text(text, "utf-8")
    done = shell("workflow", "check", "wrong.json")
    assert done.code == 2
    assert "'wrong.json' is not a valid workflow" in done.err


def test_a_wrong_step_says_where_it_is(shell: Shell) -> None:
    write("wrong.json", {**FLOW, "edges": [["scout", "writer", [{"muont": "/in"}]]]})
    done = shell("workflow", "check", "wrong.json")
    assert done.code == 2
    assert "; did you mean 'mount'?; in edge 0: 'scout' → 'writer'" in done.err
