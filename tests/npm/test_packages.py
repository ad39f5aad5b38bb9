"""npm's packages take what goes out, and their accumulators make what ours make.

`make test ENV=npm` installs the packages, and the Node that they need, and runs this.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters.streams import Assembler
from tests.adapters.formats.messages import MESSAGES
from tests.adapters.formats.test_messages import adapter
from tests.adapters.streams.streams import STREAMS
from tests.sdks.test_message_formats import parts, spoken

INSTALLED = Path(os.environ.get("MESSAGEBODY_NPM") or Path(sys.prefix) / "npm")
NODE = INSTALLED / "node_modules" / ".bin" / "node"
pytestmark = pytest.mark.skipif(not NODE.exists(), reason="npm's packages are not installed")


def asked(task: str, value: Any) -> Any:
    """Return what a task of packages.mjs makes of a value."""
    done = subprocess.run(
        [str(NODE), str(Path(__file__).with_name("packages.mjs")), str(INSTALLED), task],
        input=json.dumps(value),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def written() -> Iterator[Any]:
    """Yield messages for Vercel's SDK of everything that a body may hold."""
    vercel = adapter("vercel-ai")
    for role in ("user", "assistant", "system"):
        yield vercel.from_body(MessageBody(parts()), role=role).value
        for part in parts():
            yield vercel.from_body(MessageBody([part]), role=role).value
            yield vercel.from_body(MessageBody([part]), role=role, carry=True).value
    for body in spoken():
        yield vercel.from_body(body).value
    for name, messages in MESSAGES.items():
        for message in messages:
            there = adapter(name).to_body(message)
            yield vercel.from_body(there.value).value
            if name != "vercel-ai":
                yield vercel.from_body(there.value, rest=there.rest).value


def test_vercel_takes_messages_as_they_are() -> None:
    messages = [*written()]
    taken = asked("vercel-messages", messages)
    assert [each["problem"] for each in taken if each.get("problem")] == []
    # Validation drops what the schema does not know: nothing that goes out is such a member.
    assert [each["message"] for each in taken] == messages


def test_vercel_refuses_what_is_no_message() -> None:
    (found,) = asked("vercel-messages", [{"id": "1", "role": "user", "parts": [{"type": "text"}]}])
    assert "text" in found["problem"]


def test_models_get_text_files_and_tools() -> None:
    """Vercel's own conversion for models finds the kinds of content that the body has."""
    body = MessageBody(
        [Part("Look:"), Part(b"\x89PNG", name="/a.png", content_type="image/png"),
         Part(url="https://example.com/a.pdf", content_type="application/pdf")]
    )  # fmt: skip
    call = {"id": "c", "name": "f", "arguments": {"a": 1}}
    answer = MessageBody()
    answer.add(json=call, name="/tool/calls/1.json")
    messages = [adapter("vercel-ai").from_body(each).value for each in (body, answer)]
    (asking, answering) = (each["model"] for each in asked("vercel-messages", messages))
    (user,) = asking
    assert user["role"] == "user"
    assert [(each["type"], each.get("mediaType")) for each in user["content"]] == [
        ("text", None), ("file", "image/png"), ("file", "application/pdf"),
    ]  # fmt: skip
    (said,) = answering[0]["content"]
    assert (said["type"], said["toolName"], said["input"]) == ("tool-call", "f", {"a": 1})


def test_models_get_each_call_once_with_its_result() -> None:
    talk = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "Sunny."},
        {"role": "assistant", "content": "It is sunny."},
    ]  # fmt: skip
    there = adapter("openai-chat").to_bodies(talk)
    messages = adapter("vercel-ai").from_bodies(there.value, rest=there.rest).value
    taken = asked("vercel-messages", messages)
    told = [part["type"] for each in taken for made in each["model"] for part in made["content"]]
    assert told == ["text", "tool-call", "tool-result", "text"]


def _assembled(name: str) -> MessageBody:
    assembler = Assembler(name)
    for event in STREAMS[name][0]:
        assembler.feed(event)
    return assembler.finish().value


def test_vercel_makes_the_same_message_of_a_stream() -> None:
    message = asked("vercel-stream", STREAMS["vercel-ai"][0])
    assert adapter("vercel-ai").to_body(message).value == _assembled("vercel-ai")


def test_ag_ui_makes_the_same_messages_of_a_run() -> None:
    messages = asked("ag-ui-stream", STREAMS["ag-ui"][0])
    assert [message["role"] for message in messages] == ["reasoning", "assistant", "tool"]
    # A run makes several messages; one body has what all of them hold.
    bodies = adapter("ag-ui").to_bodies(messages).value
    assert sum(bodies, MessageBody()) == _assembled("ag-ui")
