"""Streams as services send them, which are not always as they are documented.

A row of `tests/vectors/recorded/streams.jsonl` has events, and what becomes of them: the parts, who
speaks, how it ended, each loss, and where it matters the message; or why the last event is refused.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from messagebody.adapters import adapter
from messagebody.adapters.streams import Assembler
from messagebody.errors import EnvelopeError

VECTORS = Path(__file__).parents[2] / "vectors/recorded/streams.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


@pytest.mark.whole
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_stream_makes_what_was_said(case: dict[str, Any]) -> None:
    assembler = Assembler(case["format"])
    if "refused" in case:
        with pytest.raises(EnvelopeError, match=case["refused"]):
            [assembler.feed(event) for event in case["events"]]
        return
    for event in case["events"]:
        assembler.feed(event)
    done = assembler.finish()
    assert [[part.name, part.text] for part in done.value] == case["parts"]
    assert done.rest["role"] == case["role"]
    assert assembler.ending == case["ending"]
    assert [str(loss) for loss in done.losses] == case["losses"]
    if "value" in case:
        written = adapter(case["format"]).from_body(done.value, rest=done.rest)
        assert written.value == case["value"]


@pytest.mark.parametrize("cut", [1, 4, 5, 6])
def test_base64_may_be_padded_piece_by_piece(cut: int) -> None:
    """Of pictures and sounds alike, as clients encode the bytes of each event."""
    data = b"\x89PNG\r\n\x1a\n"
    pieces = [base64.b64encode(each).decode() for each in (data[:cut], data[cut:])]
    picture = [{"image": {"source": {"bytes": piece}}} for piece in pieces]
    converse = Assembler("bedrock")
    start = {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}
    converse.feed({"contentBlockStart": start})
    for delta in picture:
        converse.feed({"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}})
    converse.feed({"messageStop": {"stopReason": "end_turn"}})
    chat = Assembler("openai-chat")
    for piece in pieces:
        chat.feed({"choices": [{"index": 0, "delta": {"audio": {"data": piece}}}]})
    chat.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    for assembler in (converse, chat):
        body, losses = assembler.finish()
        assert (body[0].read_bytes(), losses) == (data, ())
