"""Streams as services send them, which are not always as they are documented."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody.adapters.streams import Assembler
from messagebody.errors import EnvelopeError

VECTORS = Path(__file__).parents[2] / "vectors/recorded/streams.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


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
