"""The contract of adapters holds for envelopes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.adapters import Converted
from messagebody.envelopes import agents_api, channel, olympus, sentient
from messagebody.testing import AdapterContract

pytestmark = pytest.mark.usefixtures("few_examples")

VECTORS = Path(__file__).parents[1] / "vectors"
OLYMPUS_HEADER = json.loads(
    (VECTORS / "olympus_schema.jsonl").read_text(encoding="utf-8").split("\n")[0]
)["input"]
SENTIENT_HEADER = json.loads((VECTORS / "sentient_bases.json").read_text(encoding="utf-8"))[
    "bases"
]["ex1"][0]


class TestAgentsApi(AdapterContract):
    adapter = agents_api
    roles = ()
    messages = (
        {"schema": "agents-api.message", "version": 1, "type": "text", "role": "user", "id": "m1",
         "content": "Hello!", "payload": {"a": 1}, "metadata": {"k": [1]}},
    )  # fmt: skip


class TestChannel(AdapterContract):
    adapter = channel
    carries = ("calls",)
    roles = ()
    messages = (
        {"agent": "demo", "message": "Look!", "session_id": None, "client_context": {"a": 1},
         "attachments": [{"url": "https://e.com/a.png", "mime_type": "image/png", "size": 5}]},
        {"session_id": "s", "reply": "A cat.", "completed": True, "metadata": {"k": 1}},
    )  # fmt: skip


class TestOlympus(AdapterContract):
    adapter = olympus
    carries = ()
    roles = ()
    messages = (OLYMPUS_HEADER,)

    def from_body(self, body: MessageBody, **options: Any) -> Converted[Any]:
        return olympus.from_body(body, header=OLYMPUS_HEADER, **options)


class TestSentient(AdapterContract):
    adapter = sentient
    carries = ()
    roles = ()
    messages = (SENTIENT_HEADER,)

    def from_body(self, body: MessageBody, **options: Any) -> Converted[Any]:
        return sentient.from_body(body, header=SENTIENT_HEADER, **options)


@pytest.mark.parametrize("library", ["pytest", "hypothesis"])
def test_a_missing_library_names_the_extra(library: str) -> None:
    names = "StoreContract, strategies"
    program = (
        f"import sys; sys.modules[{library!r}] = None; from messagebody.testing import {names}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "MissingDependency" in done.stderr.splitlines()[-1]
    assert "pip install 'messagebody[testing]'" in done.stderr
