"""How much of a stranger's message is read."""

import json
from typing import Any

import pytest

from messagebody import Limits, MessageBody
from messagebody.adapters import adapter
from messagebody.errors import DecodeError
from tests.adapters.formats.messages import MESSAGES


def read(name: str, message: Any, blocks: int) -> int:
    """Return how many parts a message has."""
    reader: Any = adapter(name)
    return len(reader.to_body(message, limits=Limits(blocks=blocks)).value)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_has_as_many_blocks_as_parts_or_more(name: str) -> None:
    for message in MESSAGES[name]:
        parts = read(name, message, 100)
        if parts:
            with pytest.raises(DecodeError, match="the message has more than 0 blocks"):
                read(name, message, 0)


def test_a_block_that_makes_no_part_counts() -> None:
    unknown = {"role": "user", "content": [{"type": "unknown"}] * 3}
    assert read("anthropic", unknown, 3) == 0
    with pytest.raises(DecodeError, match="more than 2 blocks"):
        read("anthropic", unknown, 2)


def test_the_blocks_of_a_result_count() -> None:
    block = {"type": "text", "text": "x"}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [block] * 5}
    message = {"role": "user", "content": [result]}
    assert read("anthropic", message, 6) == 5
    with pytest.raises(DecodeError, match="more than 5 blocks"):
        read("anthropic", message, 5)


def test_bodies_have_no_blocks() -> None:
    parts = json.dumps([{"content": "x"}] * 3)
    assert len(MessageBody.from_json(parts, limits=Limits(blocks=0))) == 3
