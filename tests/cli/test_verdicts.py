"""The exit codes of verdicts in every format: what could not be read never looks like a yes."""

import json
import string
import xml.etree.ElementTree as ET
from itertools import product
from pathlib import Path

import pytest

from messagebody._cli.reports import FORMATS
from tests.commands import Done, Shell
from tests.effort import one_in

ALL_FORMATS = ["text", *FORMATS]
TEXT = [{"contentType": "text/plain", "required": True}]
WIDER = [{"contentType": "text/*", "required": True}]
CLASH = [{"name": "/a", "contentType": f"a/{x}", "required": True} for x in "bc"]
# Decided by a search alone, which a budget can end: all first letters together cover the star.
HARD = [{"name": "/*"}]
HARD_TAKER = [{"name": f"/{letter}*"} for letter in f"{string.ascii_letters}{string.digits}._-"]
# No default reader takes such names, and there are no such types.
LONG_NAME = [{"name": "/*" + "a" * 1030, "contentType": "x/q"}]
LONGER_NAME = [{"name": "/*" + "a" * 1040, "contentType": "x/q"}]
LONG_TYPE = [{"name": "/a", "contentType": "x/" + "q" * 1030}]
BAD = {
    "nothing": b"",
    "no-json": b"{",
    "not-utf-8": b'[{"name":"\xff"}]',
    "no-schema": b'"text/plain"',
    "null": b"null",
    "misspelt": b'[{"requierd":true}]',
    "wrong-type": b'[{"required":"yes"}]',
    "bad-pattern": b'[{"name":"/a["}]',
    "bad-type": b'[{"contentType":"text"}]',
    "a-body": b'[{"contentType":"text/plain","content":"Hello!"}]',
    "equal-members": b'[{"name":"/a","name":"/b"}]',
    "deep": b"[" * 100_000,
    "two-documents": b"[] []",
}


@pytest.fixture
def shell(shell: Shell, tmp_path: Path) -> Shell:
    named = {
        "text": TEXT, "wider": WIDER, "clash": CLASH, "hard": HARD, "taker": HARD_TAKER,
        "long": LONG_NAME, "longer": LONGER_NAME, "long-type": LONG_TYPE,
    }  # fmt: skip
    for name, schema in named.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    for name, data in BAD.items():
        (tmp_path / f"{name}.json").write_bytes(data)
    (tmp_path / "directory.json").mkdir()
    return shell


def assert_refused(done: Done) -> None:
    """Bad input: the code for it, nothing on standard output, one line that says what is wrong."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("messagebody: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("form", "name"), one_in(7, product(ALL_FORMATS, [*BAD, "missing", "directory"]))
)
class TestBadInput:
    def test_check(self, shell: Shell, form: str, name: str) -> None:
        bad = f"{name}.json"
        assert_refused(shell("check", bad, "wider.json", "--format", form))
        assert_refused(shell("check", "text.json", bad, "--format", form))
        assert_refused(shell("check", bad, bad, "--format", form))

    def test_lint(self, shell: Shell, form: str, name: str) -> None:
        if name != "a-body":
            assert_refused(shell("lint", f"{name}.json", "--format", form))


@pytest.mark.parametrize("form", ALL_FORMATS)
class TestAnswers:
    def test_yes(self, shell: Shell, form: str) -> None:
        assert shell("check", "text.json", "wider.json", "--format", form).code == 0
        assert shell("lint", "text.json", "--format", form).code == 0

    def test_no(self, shell: Shell, form: str) -> None:
        for arguments in (
            ["check", "wider.json", "text.json"],
            ["lint", "clash.json"],
        ):
            done = shell(*arguments, "--format", form)
            assert done.code == 1
            assert done.out.strip()

    # Names of this length take a second each, and the formats differ in what frames them.
    @pytest.mark.slow
    def test_no_for_names_that_no_reader_takes(self, shell: Shell, form: str) -> None:
        for arguments in (
            ["check", "long.json", "longer.json"],
            ["check", "long-type.json", "wider.json"],
        ):
            done = shell(*arguments, "--format", form)
            assert done.code == 1
            assert done.out.strip()

    def test_undecided(self, shell: Shell, form: str) -> None:
        done = shell("check", "hard.json", "taker.json", "--max-steps", "1", "--format", form)
        assert done.code == 3
        assert "budget of 1 steps ended" in done.out

    def test_usage(self, shell: Shell, form: str) -> None:
        for arguments in (
            ["check", "text.json"],
            ["check", "-", "-"],
            ["check", "text.json", "wider.json", "--max-steps", "few"],
        ):
            done = shell(*arguments, "--format", form)
            assert (done.code, done.out) == (2, "")

    def test_a_file_that_cannot_be_read(self, shell: Shell, form: str, tmp_path: Path) -> None:
        (tmp_path / "loop.json").symlink_to("loop.json")
        assert_refused(shell("check", "loop.json", "wider.json", "--format", form))


def test_paths_are_those_of_a_repository(shell: Shell, tmp_path: Path) -> None:
    """Below the working directory as from there; anything else as it was given."""

    def paths(producer: str, consumer: str) -> tuple[str, str]:
        stdin = json.dumps(TEXT).encode()
        report = json.loads(shell("check", producer, consumer, "--json", stdin=stdin).out)
        return report["producer"], report["consumer"]

    assert paths("./text.json", str(tmp_path / "wider.json")) == ("text.json", "wider.json")
    outside = tmp_path.parent / "outside.json"
    outside.write_text(json.dumps(WIDER))
    assert paths("-", str(outside)) == ("-", str(outside))


def test_no_format_of_that_name(shell: Shell) -> None:
    assert shell("check", "text.json", "wider.json", "--format", "xml").code == 2


def test_reports_say_what_the_code_says(shell: Shell) -> None:
    """A failure in JUnit for a no, an error for undecided, neither for a yes."""
    for arguments, tags in (
        (["text.json", "wider.json"], []),
        (["wider.json", "text.json"], ["failure"]),
        (["hard.json", "taker.json", "--max-steps", "1"], ["error"]),
    ):
        [case] = ET.fromstring(shell("check", *arguments, "--format", "junit").out).iter("testcase")
        assert [child.tag for child in case] == tags


@pytest.mark.parametrize("name", BAD)
def test_registry(shell: Shell, tmp_path: Path, name: str) -> None:
    """One file that is no agent is named, and the others are answered; the code says so."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "good.json").write_text(json.dumps({"name": "x", "input": TEXT}))
    (tmp_path / "agents" / "bad.json").write_bytes(BAD[name])
    for arguments in (
        ["pairs", "agents"], ["pairs", "agents", "--format", "mermaid"],
        ["pairs", "agents", "--json"],
        ["diff", "agents", "agents"],
    ):  # fmt: skip
        done = shell("registry", *arguments)
        assert done.code == 2, arguments
        assert "bad.json" in done.err


def test_hundreds_of_reasons_are_told_briefly(shell: Shell, tmp_path: Path) -> None:
    """All are there, the first twenty with why each part rejects."""
    for side in "ab":
        parts = [{"name": f"/{side}{i}/*", "required": True} for i in range(60)]
        (tmp_path / f"{side}.json").write_text(json.dumps(parts))
    found = json.loads(shell("check", "a.json", "b.json", "--json").out)["reasons"]
    assert len(found) == 120
    assert ["(other name; part " in each["text"] for each in found] == [True] * 20 + [False] * 100
