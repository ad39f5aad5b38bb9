"""The map in CONTRIBUTING: it names each room once, and each module says what it is about."""

import ast
import re
from pathlib import Path

import messagebody

PACKAGE = Path(str(messagebody.__file__)).parent
PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = PAGE.partition("## Map")[2].partition("## Rules")[0]
ROWS = [line.strip("| ").split(" | ") for line in MAP.splitlines() if line.startswith("| `")]
_NAME = re.compile(r"`([a-z0-9_]+)/?`")


def _rooms(row: list[str]) -> list[str]:
    return _NAME.findall(row[0])


def test_every_room_is_on_the_map_once() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms = [room for row in ROWS for room in _rooms(row)]
    assert sorted(rooms) == sorted(there - {"__init__", "__main__", "__pycache__"})


def test_what_the_map_names_in_a_room_is_there() -> None:
    for row in ROWS:
        for name in _NAME.findall(row[1]):
            assert any((PACKAGE / room / name).is_dir() for room in _rooms(row)), name


def test_every_module_says_first_what_is_decided_there() -> None:
    said: dict[str, Path] = {}
    for path in PACKAGE.rglob("*.py"):
        if path.read_text(encoding="utf-8"):
            first = (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0]
            assert first.endswith((".", ":", "?")), path
            assert said.setdefault(first, path) == path
