"""The map in CONTRIBUTING: it is complete and true, and leads to where a thing is decided."""

import re
from pathlib import Path

import pytest

import messagebody

PACKAGE = Path(str(messagebody.__file__)).parent
PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = [
    line.strip("| ").split(" | ")
    for line in PAGE.partition("## Map")[2].partition("## Rules")[0].splitlines()
    if line.startswith("| `")
]

QUESTIONS = {
    "whether /a/../b is a legal name": "names",
    "whether the bytes of a part are written as base64": "wire/members",
    "that a document with a repeated member is refused": "wire/strict_json",
    "how many parts a body may have": "limits",
    "the content type of a file that is added": "sniffing",
    "that 169.254.169.254 is never connected to": "references/url",
    "which parts offload moves": "offloading/_offload",
    "how much memory an offload may hold": "offloading/_jobs",
    "which schema part a violation names as the nearest": "schema/validation",
    "the exit code of an error": "cli/application",
    "that the glob /a/** does not match /a": "globs/automaton",
    "how the counterexample of a check is found": "solver/decision",
    "what a message of OpenAI loses when it is written": "formats/losses",
    "which routes lead from one agent to another": "compatibility/questions",
    "what a full cache of a resolver deletes": "references/cache",
    "that the zip entry ../x never becomes a part": "archives/entries",
    "which part goes into a prompt of 1,000 tokens": "prompting/prompt",
    "the row that a part becomes": "tables",
    "how a killed job goes on": "bulk/run",
    "how text of a stranger is escaped in a page": "rendering/elements",
    "how many characters of a part a tool gives to a model": "prompting/reader",
    "how often a failed shard is tried": "bulk/run",
    "that the events of a stream come in order": "streaming/accumulator",
    "which formats a message may be of": "formats/base",
    "that a part named /con is not unpacked": "interop/directory",
    "how long an object that no body refers to is safe from a sweep": "stores/objects",
    "whether an unknown member of a part is a slip": "wire/members",
    "which pictures a page shows": "rendering/contents",
    "what a schema says that is inferred from bodies": "schema/inference",
    "how the path /city=Oslo is written as a name": "filesystem/paths",
}


def _rooms(row: list[str]) -> list[str]:
    return re.findall(r"`([a-z0-9_]+)/?`", row[0])


def _places(row: list[str]) -> set[str]:
    """Return the modules that a row names, by their path in the package."""
    rooms = _rooms(row)
    inner = {f"{room}/{name}" for room in rooms for name in re.findall(r"`([a-z0-9_]+)/?`", row[1])}
    return {place for place in {*rooms, *inner} if _exists(place)}


def _exists(place: str) -> bool:
    return (PACKAGE / place).is_dir() or (PACKAGE / f"{place}.py").exists()


def test_every_room_is_on_the_map_once() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    left_out = {"__init__", "__main__", "__pycache__", "samples"}
    assert sorted(room for row in ROWS for room in _rooms(row)) == sorted(there - left_out)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_the_map_names_is_there(row: list[str]) -> None:
    named = {*_rooms(row), *re.findall(r"`([a-z0-9_]+)/?`", row[1])}
    assert named == {place.rpartition("/")[2] for place in _places(row)}


@pytest.mark.parametrize(("question", "place"), QUESTIONS.items())
def test_leads_to_where_it_is_decided(question: str, place: str) -> None:
    assert place in set().union(*map(_places, ROWS)), question
