"""Pinned versions: each library that a command of the Makefile installs has one, and it fits."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("text", sorted(set(requirements())))
def test_each_requirement_has_a_pin_that_fits(text: str) -> None:
    wanted = Requirement(text)
    pins = [pin for pin in PINS if canonicalize_name(pin.name) == canonicalize_name(wanted.name)]
    assert pins, "run `make constraints`"
    for pin in pins:
        assert wanted.specifier.contains(str(pin.specifier).removeprefix("==")), pin


def test_a_pin_is_a_name_and_a_version() -> None:
    for pin in PINS:
        assert re.fullmatch(r"==[\w.+!]+", str(pin.specifier)), pin
        assert pin.url is None


def test_all_groups_are_compiled() -> None:
    groups = re.search("^GROUPS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert groups is not None
    assert sorted(groups[1].split()) == sorted(PROJECT["dependency-groups"])
