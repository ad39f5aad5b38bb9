"""Pinned versions: each library that a command of the Makefile installs has one, and it fits."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def requirements() -> Iterator[str]:
    yield from PROJECT["build-system"]["requires"]
    yield from PROJECT["project"]["dependencies"]
    for group in (PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]):
        for members in group.values():
            yield from members


def test_each_requirement_has_a_pin_that_fits() -> None:
    wrong = []
    for text in sorted(set(requirements())):
        wanted = Requirement(text)
        pins = [
            pin for pin in PINS if canonicalize_name(pin.name) == canonicalize_name(wanted.name)
        ]
        versions = [str(pin.specifier).removeprefix("==") for pin in pins]
        if not versions or not all(map(wanted.specifier.contains, versions)):
            wrong.append(f"{text}: pinned {versions}")
    assert wrong == [], "run `make constraints`"


def test_a_pin_is_a_name_and_a_version() -> None:
    for pin in PINS:
        assert re.fullmatch(r"==[\w.+!]+", str(pin.specifier)), pin
        assert pin.url is None


def test_all_groups_are_compiled() -> None:
    groups = re.search("^GROUPS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert groups is not None
    assert sorted(groups[1].split()) == sorted(PROJECT["dependency-groups"])


def test_rules_for_files_name_files() -> None:
    tools = PROJECT["tool"]
    paths = [*tools["ruff"]["lint"]["per-file-ignores"], *tools["coverage"]["report"]["omit"]]
    assert [path for path in paths if not any(ROOT.glob(path.removesuffix("/**")))] == []
