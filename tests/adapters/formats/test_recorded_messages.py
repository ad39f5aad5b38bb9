"""Whole messages as services, SDKs and users really write them.

A row of `tests/vectors/recorded/messages.jsonl` has a message or a conversation, and what becomes
of it: the parts of its body, or its value in another format, and each loss.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.adapters import Converted, adapter, detect

PLACE = Path(__file__).parents[2] / "vectors" / "recorded" / "messages.jsonl"
ROWS = [json.loads(line) for line in PLACE.read_text(encoding="utf-8").splitlines()]
READ = [row for row in ROWS if row["way"] != "detect"]


def read(row: dict[str, Any]) -> Converted[Any]:
    found: Any = adapter(row["from"])
    there: Converted[Any] = (found.to_bodies if row["way"] == "talk" else found.to_body)(
        row["input"]
    )
    return there


def written(row: dict[str, Any], name: str, there: Converted[Any]) -> Converted[Any]:
    found: Any = adapter(name)
    write = found.from_bodies if row["way"] == "talk" else found.from_body
    back: Converted[Any] = write(there.value, rest=there.rest)
    return back


def shown(body: MessageBody) -> list[Any]:
    return [[part.name, part.content_type, part.text or part.url or part.size] for part in body]


def without_ids(value: Any) -> Any:
    """Return messages without the ids that are made up for each."""
    if isinstance(value, list):
        return [without_ids(each) for each in value]
    made = isinstance(value, dict) and "role" in value
    return {key: value[key] for key in value if key not in _MADE_UP} if made else value


_MADE_UP = ("id", "messageId")


def what_becomes_of(row: dict[str, Any]) -> dict[str, Any]:
    if row["way"] == "detect":
        return {"names": [*detect(row["input"])]}
    there = read(row)
    if "to" not in row:
        parts = [*map(shown, there.value)] if row["way"] == "talk" else shown(there.value)
        return {"parts": parts, "losses": [*map(str, there.losses)]}
    done = written(row, row["to"], there)
    losses = [*map(str, (*there.losses, *done.losses))]
    return {"value": without_ids(done.value), "losses": losses}


@pytest.mark.whole
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_it_becomes_what_it_means(row: dict[str, Any]) -> None:
    assert what_becomes_of(row) == row["expected"]


@pytest.mark.whole
@pytest.mark.parametrize("row", READ, ids=lambda row: row["id"])
def test_it_comes_back(row: dict[str, Any]) -> None:
    there = read(row)
    rest = json.loads(json.dumps(there.rest))
    assert written(row, row["from"], Converted(there.value, (), rest)).value == row["input"]
