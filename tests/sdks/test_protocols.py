"""The protocols' own SDKs take what goes out, and what they write comes back as it was.

Run by `make test ENV=sdks`; a format whose SDK is not installed is skipped.
"""

import importlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters.streams import Assembler
from tests.adapters.formats.messages import MESSAGES
from tests.adapters.formats.test_messages import adapter
from tests.adapters.formats.test_talks import TALK
from tests.adapters.streams.streams import STREAMS
from tests.sdks.test_message_formats import parts, spoken


def sdk(module: str) -> Any:
    pytest.importorskip(module.split(".", maxsplit=1)[0], reason="the SDK is not installed")
    return importlib.import_module(module)


Through = Callable[[Any], Any]
"""What a message is after the SDK read and wrote it; it raises if the SDK refuses it."""


def _through_pydantic(kind: Any, **options: Any) -> Through:
    check = sdk("pydantic").TypeAdapter(kind)
    return lambda value: check.dump_python(
        check.validate_json(json.dumps(value)), mode="json", by_alias=True, **options
    )


def _acp() -> Through:
    return _through_pydantic(sdk("acp_sdk.models").Message, exclude_unset=True)


def _a2a() -> Through:
    types, protobuf = sdk("a2a.types"), sdk("google.protobuf.json_format")
    return lambda value: protobuf.MessageToDict(protobuf.ParseDict(value, types.Message()))


def _a2a_0_3() -> Through:
    return _through_pydantic(sdk("a2a.compat.v0_3.types").Message, exclude_none=True)


def _ag_ui() -> Through:
    return _through_pydantic(sdk("ag_ui.core").Message)


def _agent_client() -> Through:
    schema = sdk("acp.schema")
    through = _through_pydantic(schema.PromptRequest, exclude_none=True)
    return lambda value: through({"sessionId": "s", "prompt": value})["prompt"]


SDKS: dict[str, Callable[[], Through]] = {
    "acp": _acp, "a2a": _a2a, "a2a-0.3": _a2a_0_3, "ag-ui": _ag_ui, "agent-client": _agent_client,
}  # fmt: skip
formats = pytest.mark.parametrize("name", SDKS)


@formats
@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_every_kind_of_part(name: str, role: str) -> None:
    through, format_ = SDKS[name](), adapter(name)
    for part in parts():
        message = format_.from_body(MessageBody([part]), role=role).value
        assert through(message) == message
        through(format_.from_body(MessageBody([part]), role=role, carry=True).value)


@formats
def test_all_parts_at_once(name: str) -> None:
    through = SDKS[name]()
    through(adapter(name).from_body(MessageBody(parts())).value)


@formats
def test_what_is_carried_survives_the_sdk(name: str) -> None:
    body = MessageBody(
        [*parts(), Part("# Cats", content_type="text/markdown", metadata={"a": ["b"], "c": None}),
         Part(b"\x89PNG", name="/a/b.png", content_type="image/png"),
         Part('{ "a": 1 }', name="/c.json", content_type="application/json; charset=utf-8"),
         Part('{"b":2,"a":1}', content_type="application/json"),
         Part(url="https://e.com/a", content_type="text/html", size=3, name="/sources/1")]
    )  # fmt: skip
    done = adapter(name).from_body(body, carry=True)
    assert done.losses == ()
    assert adapter(name).to_body(SDKS[name]()(done.value)).value == body


@formats
def test_what_models_say(name: str) -> None:
    through = SDKS[name]()
    for body in spoken():
        through(adapter(name).from_body(body).value)


@formats
def test_messages_of_all_formats(name: str) -> None:
    through = SDKS[name]()
    for source, messages in MESSAGES.items():
        for other in messages:
            if source != name:
                through(adapter(name).from_body(adapter(source).to_body(other).value).value)


@formats
def test_what_the_sdk_writes_comes_back(name: str) -> None:
    through, format_, seen = SDKS[name](), adapter(name), 0
    for message in MESSAGES[name]:
        try:
            written = through(message)
        except Exception:  # noqa: BLE001 - each SDK has errors of its own; it counts what it took
            continue
        seen += 1
        there = format_.to_body(written)
        assert format_.from_body(there.value, rest=there.rest).value == written
    assert seen


def _updates() -> Through:
    through = _through_pydantic(
        sdk("acp.schema").SessionNotification, exclude_none=True, exclude_unset=True
    )
    return lambda value: through({"sessionId": "s", "update": value})["update"]


@formats
def test_calls_survive_the_sdk(name: str) -> None:
    """A whole conversation, with calls in parallel, over a protocol and its SDK."""
    through = _updates() if name == "agent-client" else SDKS[name]()
    if name in ("acp", "ag-ui"):
        pytest.skip("it has calls of its own, without ids or in another order")
    chat = adapter("openai-chat")
    there = chat.to_bodies(TALK)
    for carry in (False, True):
        done = adapter(name).from_bodies(there.value, rest=there.rest, carry=carry).value
        back = adapter(name).to_bodies([through(message) for message in done])
        again = chat.from_bodies(back.value, rest=back.rest)
        assert (again.value, again.losses) == (TALK, ())


def _assembled(name: str) -> MessageBody:
    assembler = Assembler(name, join=False)
    for event in STREAMS[name][0]:
        assembler.feed(event)
    return assembler.finish().value


def test_artifacts_are_assembled_as_the_sdk_does() -> None:
    types, protobuf = sdk("a2a.types"), sdk("google.protobuf.json_format")
    reduce = sdk("a2a.server.tasks.task_manager").append_artifact_to_task
    task = types.Task()
    for event in STREAMS["a2a"][0]:
        response = protobuf.ParseDict(event, types.StreamResponse())
        if response.HasField("task"):
            task.CopyFrom(response.task)
        elif response.HasField("artifact_update"):
            reduce(task, response.artifact_update)
        else:
            task.status.CopyFrom(response.status_update.status)
    assert adapter("a2a").to_body(protobuf.MessageToDict(task)).value == _assembled("a2a")


def test_updates_are_assembled_as_the_sdk_does() -> None:
    schema = sdk("acp.schema")
    accumulator = sdk("acp.contrib.session_state").SessionAccumulator()
    for event in STREAMS["agent-client"][0][:-1]:  # the last is the answer to the prompt
        snapshot = accumulator.apply(schema.SessionNotification.model_validate(event))
    body = _assembled("agent-client")
    thoughts = [each.content.text for each in snapshot.agent_thoughts]
    assert [part.text for part in body if (part.name or "").startswith("/reasoning/")] == thoughts
    texts = [each.content.text for each in snapshot.agent_messages]
    assert [part.text for part in body if part.name is None] == texts
    [tool] = snapshot.tool_calls.values()
    call = body["/tool/calls/1.json"].read_json()
    assert (call["id"], call["name"], call["arguments"]) == ("c", tool.title, tool.raw_input)


def test_sdk_events_are_taken_as_they_are() -> None:
    core = sdk("ag_ui.core")
    events = sdk("pydantic").TypeAdapter(core.Event)
    assembler = Assembler("ag-ui")
    for event in STREAMS["ag-ui"][0]:
        assembler.feed(events.validate_python(event))
    assert assembler.finish().value == _assembled("ag-ui")
