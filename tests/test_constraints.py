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

# Extras that do not go together with the others, and the groups that test them.
APART = {"deepagents"}


def requirements() -> Iterator[str]:
    yield from PROJECT["build-system"]["requires"]
    yield from PROJECT["project"]["dependencies"]
    for group in (PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]):
        for name, members in group.items():
            yield from () if name in APART else members


def test_what_is_pinned_apart_is_left_out_by_the_makefile() -> None:
    for name in APART:
        assert f"$(filter-out {name}," in (ROOT / "Makefile").read_text("utf-8")
        pins = (ROOT / f"constraints-{name}.txt").read_text("utf-8")
        members = PROJECT["project"]["optional-dependencies"][name]
        for member in [*members, *PROJECT["dependency-groups"].get(name, [])]:
            assert f"\n{Requirement(member).name}==" in pins


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
    assert sorted(groups[1].split()) == sorted(PROJECT["dependency-groups"].keys() - APART)


def test_rules_for_files_name_files() -> None:
    tools = PROJECT["tool"]
    paths = [*tools["ruff"]["lint"]["per-file-ignores"], *tools["coverage"]["report"]["omit"]]
    assert [path for path in paths if not any(ROOT.glob(path.removesuffix("/**")))] == []
