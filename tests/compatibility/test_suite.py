"""The published containment suite: its answers are ours, and others bear them out."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from messagebody.compatibility import check, satisfiable
from messagebody.schema import MessageBodySchema
from tests.compatibility import oracle, suite

ROOT = Path(__file__).parents[2]
LINES = suite.read()
KINDS = {"worked": 22, "small": 139, "random": 2_000, "growing": 48}


def triples(side: list[dict[str, Any]]) -> oracle.Schema:
    return [(part.get("name"), part["contentType"], part.get("required", False)) for part in side]


def assert_borne_out(line: dict[str, Any]) -> None:
    """Assert that the bodies of a line show what it says, without deciding."""
    a, b = triples(line["producer"]), triples(line["consumer"])
    for body, is_taken in ((line["example"], True), (line["counterexample"], False)):
        if body is not None:
            assert oracle.is_valid(a, body), line["id"]
            assert oracle.is_valid(b, body) is is_taken, line["id"]
    shown = line["example"] is not None, line["counterexample"] is not None
    if line["verdict"] == "always":
        # Where no body is valid for the producer, none shows that it fits.
        assert shown == (line["satisfiable"], False), line["id"]
    else:
        assert shown == (line["verdict"] == "sometimes", True), line["id"]


def assert_decided(line: dict[str, Any]) -> None:
    producer, consumer = (
        MessageBodySchema.from_dicts(line[side]) for side in ("producer", "consumer")
    )
    assert check(producer, consumer).verdict == line["verdict"], line["id"]
    assert satisfiable(producer).value is line["satisfiable"], line["id"]


def test_what_is_in_it() -> None:
    """Each kind of pair, each verdict, and no id twice."""
    kinds = [line["id"].partition("/")[0] for line in LINES]
    assert {each: kinds.count(each) for each in set(kinds)} == KINDS
    verdicts = [line["verdict"] for line in LINES]
    assert min(verdicts.count(each) for each in ("always", "sometimes", "never")) > 400
    assert len({line["id"] for line in LINES}) == len(LINES)


def test_every_tenth_line() -> None:
    for line in LINES[::10]:
        assert_decided(line)
        # Brute force writes braces out.
        if "growing" not in line["id"]:
            assert_borne_out(line)


@pytest.mark.slow
def test_every_line() -> None:
    for line in LINES:
        assert_decided(line)
        if not line["id"].startswith("growing/braces"):
            assert_borne_out(line)


def test_lines_are_made_as_they_are_stored() -> None:
    """The first ones: the command writes the same again."""
    for stored, (id_, a, b) in zip(LINES[:40], suite.worked(), strict=False):
        assert json.loads(json.dumps(suite.line(id_, a, b))) == stored


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.dear
def test_hashes_have_no_say(seed: str) -> None:
    """Of two bodies that show the same, the same one is found in every process."""
    stored = [line for line in LINES if line["id"].startswith("random/18")]
    code = (
        "import json; from tests.compatibility import suite\n"
        "for each in suite.chosen_by_lot():\n"
        "    if each[0].startswith('random/18'): print(json.dumps(suite.line(*each)))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=ROOT,
    )
    assert list(map(json.loads, made.stdout.splitlines())) == stored


@pytest.mark.slow
def test_all_lines_are_made_as_they_are_stored() -> None:
    made = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in suite.lines())
    assert made.encode() == gzip.decompress(suite.SUITE.read_bytes())
