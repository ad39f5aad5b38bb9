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

# A question, where it is decided, and the words of the map that lead there.
QUESTIONS = {
    "whether /a/../b is a legal name": ("names", "which names are legal"),
    "whether the bytes of a part are written as base64": ("_wire/members", "plain or base64"),
    "that a document with a repeated member is refused": ("_wire/strict_json", "repeated members"),
    "how many parts a body may have": ("_base/limits", "how many parts"),
    "the content type of a file that is added": ("_base/sniffing", "type of a file"),
    "that 169.254.169.254 is never connected to": ("storage/references/url", "addresses closed"),
    "which parts offload moves": ("storage/offloading/offload", "which parts go"),
    "how much memory an offload may hold": ("storage/offloading/offload", "how much memory"),
    "which schema part a violation names as the nearest": ("schema/validation", "nearest misses"),
    "the exit code of an error": ("_cli/application", "exit codes"),
    "that the glob /a/** does not match /a": ("globs/automaton", "what matches"),
    "how the counterexample of a check is found": (
        "compatibility/solver/decision",
        "counterexample",
    ),
    "what a message of OpenAI loses when it is written": (
        "adapters/conversion/losses",
        "what is lost",
    ),
    "which routes lead from one agent to another": ("agents/registry", "routes"),
    "what a full cache of a resolver deletes": (
        "storage/references/cache",
        "deleted when it is full",
    ),
    "that the zip entry ../x never becomes a part": (
        "archives/entries",
        "what may become a part",
    ),
    "which part goes into a prompt of 1,000 tokens": ("prompts/plan", "what fits into a budget"),
    "the row that a part becomes": ("bulk/tables", "one row a part"),
    "how a killed job goes on": ("bulk/run", "which shards are left"),
    "how text of a stranger is escaped in a page": ("rendering/elements", "escaping"),
    "how many characters of a part a tool gives to a model": (
        "prompts/reader",
        "how long an answer is",
    ),
    "how often a failed shard is tried": ("bulk/run", "retries"),
    "that the events of a stream come in order": (
        "adapters/streams/accumulator",
        "order of events",
    ),
    "which formats a message may be of": ("adapters/registry", "which formats there are"),
    "that a part named /con is not unpacked": ("archives/directory", "unpack"),
    "how long an object that no body refers to is safe from a sweep": (
        "storage/stores/objects",
        "how long unused ones are safe",
    ),
    "whether an unknown member of a part is a slip": ("_wire/members", "slips too"),
    "which pictures a page shows": ("rendering/contents", "pictures, texts, tables"),
    "what a schema says that is inferred from bodies": ("schema/inference", "schemas of bodies"),
    "how the path /city=Oslo is written as a name": ("filesystem/paths", "quoted names"),
}
_NAME = re.compile(r"`([a-z0-9_/]+?)/?`")
_ALIKE = re.compile(r"^a (?:module|folder) for each ")


def _spelt(place: Path) -> str:
    """Return the path of a module or package as the map spells it, without inner underscores."""
    first, *inner = place.relative_to(PACKAGE).with_suffix("").parts
    return "/".join([first, *(step.removeprefix("_") for step in inner)])


PLACES = {
    _spelt(path)
    for path in PACKAGE.rglob("*")
    if (path.suffix == ".py" or (path / "__init__.py").exists())
    and path.stem not in {"__init__", "__main__"}
}


def _rooms(row: list[str]) -> list[str]:
    return _NAME.findall(row[0])


def _places(row: list[str]) -> set[str]:
    """Return the modules that a row names, each in one of the row's rooms or below it."""
    named = _NAME.findall(row[1])
    return {*_rooms(row)} | {
        place
        for place in PLACES
        for room in _rooms(row)
        if place.startswith(f"{room}/") and place.rpartition("/")[2] in named
    }


def test_every_room_is_on_the_map_once() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms = [room for row in ROWS for room in _rooms(row) if "/" not in room]
    assert sorted(rooms) == sorted(there - {"__init__", "__main__", "__pycache__"})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_the_map_names_is_there(row: list[str]) -> None:
    named = {*_NAME.findall(row[1]), *(room.rpartition("/")[2] for room in _rooms(row))}
    assert {*_rooms(row)} <= PLACES
    assert named == {place.rpartition("/")[2] for place in _places(row)}


def test_every_module_is_on_the_map() -> None:
    named = {place for row in ROWS for place in _places(row)}
    alike = {room for row in ROWS if _ALIKE.match(row[1]) for room in _rooms(row)}
    assert [each for each in sorted(PLACES - named) if each.rpartition("/")[0] not in alike] == []


def _pieces(row: list[str]) -> list[str]:
    """Return what a row says, cut at commas and semicolons outside of brackets."""
    return re.split(r"[,;] (?![^()]*\))", row[1])


@pytest.mark.parametrize("question", QUESTIONS)
def test_leads_to_where_it_is_decided(question: str) -> None:
    place, clue = QUESTIONS[question]
    [(row, piece)] = ((row, piece) for row in ROWS for piece in _pieces(row) if clue in piece)
    assert place in _places(row)
    assert place.rpartition("/")[2] in _NAME.findall(piece) or place in _rooms(row)
