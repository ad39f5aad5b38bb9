"""What the SDKs wrote is found in bodies, goes back as it was, and leaves no copy in the rest."""

import json
from typing import Any

import pytest

from messagebody import Part
from messagebody.adapters import Converted, adapter, adapter_names, detect
from tests.adapters.formats.vectors import ROWS, message_of, missing

HERE = [row for row in ROWS if row["format"] in adapter_names()]
every = pytest.mark.parametrize("row", HERE, ids=lambda row: row["file"])


def read(row: dict[str, Any]) -> tuple[Any, Any, Converted[Any]]:
    format_ = adapter(row["format"])
    message = message_of(row)
    return format_, message, format_.to_body(message)


@every
def test_everything_is_found_in_order(row: dict[str, Any]) -> None:
    _, _, there = read(row)
    assert missing(row, there.value, there.rest) == []


@every
def test_the_message_comes_back(row: dict[str, Any]) -> None:
    format_, message, there = read(row)
    before = json.dumps(message)
    assert format_.from_body(there.value, rest=there.rest).value == message
    again = json.loads(json.dumps(there.rest))
    assert format_.from_body(there.value, rest=again).value == message
    assert json.dumps(message) == before


@every
def test_the_message_comes_back_from_a_stored_body(row: dict[str, Any]) -> None:
    format_, message, _ = read(row)
    stored = format_.to_body(message, rest="part").value
    assert stored[-1].name == f"/meta/{row['format']}.json"
    assert format_.from_body(type(stored).from_json(stored.to_json())).value == message


@every
def test_it_is_detected(row: dict[str, Any]) -> None:
    found = set(detect(message_of(row)))
    assert row["format"] in found
    assert found <= {row["format"], *row.get("also", ())} | set(_LATER)


# Formats that read the same JSON as another.
_LATER: tuple[str, ...] = ()


@every
def test_changed_content_goes_out_changed(row: dict[str, Any]) -> None:
    format_, _, there = read(row)
    body = there.value
    for index, part in enumerate(body):
        if part.name is None and part.text is not None:
            body[index] = part.evolve(content="something else")
        elif part.name is None and not part.is_reference:
            body[index] = part.evolve(content=b"something else")
    back = format_.to_body(format_.from_body(body, rest=there.rest).value).value
    assert [_content(part) for part in back] == [_content(part) for part in body]


def _content(part: Part) -> Any:
    return part.url if part.is_reference else part.read_bytes()


@every
def test_without_rest_content_still_goes_out(row: dict[str, Any]) -> None:
    format_, _, there = read(row)
    back = format_.to_body(format_.from_body(there.value).value)
    lost = missing(row, back.value, there.rest)
    if format_.signs_reasoning:  # without the signature it is not sent
        lost = [item for item in lost if "reasoning" not in item]
    assert lost == []
