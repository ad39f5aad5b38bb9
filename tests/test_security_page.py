"""The page on security names tests and commands that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")
PROMISES = [
    line
    for line in PAGE.partition("## What is promised")[2].splitlines()
    if line.startswith("| ") and not line.startswith("| promise ")
]


def named_tests(row: str) -> list[Path]:
    """Return the tests that a row names; one without a directory is beside the one before it."""
    found: list[Path] = []
    for name in re.findall(r"`([A-Za-z_/0-9]+(?:\.py|/))`", row):
        beside = "/" not in name
        found.append(found[-1].parent / name if beside else ROOT / name)
    return found


def test_each_promise_names_tests_that_exist() -> None:
    assert len(PROMISES) >= 13
    for row in PROMISES:
        named = named_tests(row)
        assert named, row
        assert [path for path in named if not path.exists()] == []


def test_the_commands_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = re.findall(r"`make test ENV=([a-z]+)", PAGE)
    assert {"faults", "fuzz"} <= {*named}
    assert [each for each in named if f"\nRUN.{each} " not in makefile] == []
