"""Bodies as lines and as server-sent events, and back."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from messagebody import MessageBody
from messagebody.adapters.streams import Assembler, part_lines, sse
from messagebody.errors import InvalidArgument
from messagebody.testing.strategies import bodies


@settings(max_examples=20)
@given(bodies())
def test_a_body_comes_back(body: MessageBody) -> None:
    assembler = Assembler("messagebody")
    for line in part_lines(body):
        assert "\n" not in line
        assembler.feed(line)
    assert assembler.finish().or_raise() == body


@settings(max_examples=20)
@given(bodies())
def test_it_goes_on_where_it_broke_off(body: MessageBody) -> None:
    lines = [*part_lines(body)]
    for start in range(len(body) + 1):
        assert [*part_lines(body, start=start)] == lines[start:]


@settings(max_examples=20)
@given(bodies())
def test_events_say_the_same(body: MessageBody) -> None:
    events = [*sse(body)]
    assert all(event.endswith("\n\n") and event.count("\n\n") == 1 for event in events)
    lines = [line for event in events for line in event.split("\n")]
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert data == [*part_lines(body)]
    ids = [line for line in lines if line.startswith("id: ")]
    assert ids == [f"id: {index}" for index in range(len(body))]
    assert json.loads(data[-1]) == {"end": len(body)}


@pytest.mark.parametrize("start", ["1", -1, 1.5, True, None])
def test_a_start_that_is_no_index(start: Any) -> None:
    for lines in (part_lines, sse):
        with pytest.raises(InvalidArgument, match="the index of a part"):
            [*lines(MessageBody(["Hi"]), start=start)]
