"""Envelopes on their way to a model: content crosses, and the envelope's own members do not."""

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import Format, adapter, adapter_names, is_withheld
from messagebody.envelopes import olympus as olympus_format
from messagebody.envelopes import sentient as sentient_format
from messagebody.prompts import Reader, to_prompt
from tests.effort import one_in
from tests.envelopes.shapes import BASES, vectors

PICTURE = {"url": "https://example.com/a.png", "mime_type": "image/png"}
CANARY = "CANARY"
FORMATS = [name for name in adapter_names() if isinstance(adapter(name),
                                                          Format)]  # fmt: skip


def agents_api() -> Iterator[Any]:
    for row in vectors("agentsapi_normalize.json"):
        output = row.get("output")
        is_message = isinstance(output, dict) and output.get("schema") == "agents-api.message"
        if is_message and not row.get("tagged_input"):
            yield output


def channel() -> Iterator[Any]:
    yield {"agent": "demo", "message": "Hello!", "attachments": [PICTURE], "session_id": "s",
           "client_context": {"source": "rest", "sender_id": "7", "own": {"k": "x"}}}  # fmt: skip
    yield {"session_id": "s", "reply": "4.", "completed": True, "metadata": {"k": "v"}, "run": "r"}
    messages = [
        {"role": "user", "content": "2+2?", "id": "u"},
        {"role": "assistant", "content": "4.", "id": "a"},
    ]
    yield {"session_id": "s", "messages": messages, "completed": True, "metadata": {}}


def olympus() -> Iterator[Any]:
    for row in vectors("olympus_schema.jsonl"):
        if isinstance(row["input"], dict) and row.get("strict_valid", row.get("valid")):
            yield row["input"]


def sentient() -> Iterator[Any]:
    yield from itertools.chain.from_iterable(BASES.values())


# Content, and the members without which an adapter reads another message.
CONTENT = {
    "agents-api": {"schema", "version", "type", "role", "content", "payload"},
    "channel": {"message", "reply", "source", "attachments", "role", "content"},
    "olympus": {"payload", "context_attachments"},
    "sentient": {"content", "resources", "content_type"},
}
MADE: dict[str, Callable[[], Iterator[Any]]] = {
    "agents-api": agents_api, "channel": channel, "olympus": olympus, "sentient": sentient,
}  # fmt: skip


def seeded(value: Any, content: set[str]) -> Any:
    """Return a message whose members have a canary in each text that is not content."""
    numbers = itertools.count()

    def seed(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: each if k in content else seed(each) for k, each in value.items()}
        if isinstance(value, list):
            return [seed(each) for each in value]
        return f"{CANARY}-{next(numbers)}" if isinstance(value, str) else value

    made = seed(copy.deepcopy(value))
    held = made.get("metadata") or {}
    if isinstance(held, dict):
        made["metadata"] = {**held, "user_token": f"{CANARY}-token"}
    return made


CASES = [
    pytest.param(name, seeded(message, CONTENT[name]), id=f"{name}-{number}")
    for name, make in MADE.items()
    for number, message in enumerate(make())
]


def bodies(name: str, message: Any) -> Iterator[tuple[MessageBody, Any]]:
    """Yield the bodies of a message, and their rests, by each way of reading it."""
    format_: Any = adapter(name)
    ways = [{}, {"rest": "part"}, {"rest": "beside"}]
    for given, options in itertools.product([message, json.dumps(message)], ways):
        made = format_.to_body(given, **options)
        yield made.value, made.rest
        nested = MessageBody(made.value)
        for part in [part for part in nested if part.name is not None]:
            nested.move(str(part.name), f"/received/1{part.name}")
        yield nested, made.rest
        yield MessageBody.from_json(made.value.to_json()), None


def texts_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(("name", "message"), one_in(9, CASES))
def test_no_member_of_an_envelope_reaches_a_model(name: str, message: Any) -> None:
    assert CANARY in json.dumps(message)
    for body, rest in bodies(name, message):
        for target in FORMATS:
            for carry in (False, True):
                made = adapter(target).from_body(body, rest=rest, carry=carry)  # type: ignore[call-arg]
                assert CANARY not in texts_of(made.value), target
        for budget in (40, 8000):
            assert CANARY not in to_prompt(body, budget).body.to_json()
        assert CANARY not in told_by(Reader(body), body)


@pytest.mark.parametrize(("name", "message"), one_in(9, CASES))
def test_no_member_of_an_envelope_reaches_another_envelope(name: str, message: Any) -> None:
    """Its receiver may be a model that knows nothing of the first envelope."""
    order: dict[str, Any] = {"source_agent": "a", "target_agent": "b", "message_type": "ASSIGN",
             "correlation_id": "issue-1", "task_id": "t"}  # fmt: skip
    build: Any = {
        "agents-api": adapter("agents-api").from_body,
        "channel": adapter("channel").from_body,
        "olympus": lambda body, **_: olympus_format.build(body, **order),
        "sentient": lambda body, **_: sentient_format.build(body, agent="a", reasoning="r"),
    }
    for body, rest in bodies(name, message):
        for target in build.keys() - {name}:
            made = build[target](body, rest=rest)
            assert CANARY not in texts_of(made.value), target
            withheld = [loss for loss in made.losses if loss.why.endswith("are not content")]
            assert len(withheld) == len([each for each in body if is_withheld(each)])


def told_by(reader: Reader, body: MessageBody) -> str:
    """Return everything that a model gets out of a reader."""
    told = [reader.call("list_parts", {}), reader.call("search_parts", {"text": CANARY})]
    asked = [str(index) for index in range(len(body))] + [*map(str, body.names())]
    told += [reader.call("read_part", {"part": each}) for each in asked]
    told += [reader.call("search_parts", {"text": "C", "part": each}) for each in asked]
    return "\n".join(told)


@pytest.mark.parametrize(("name", "message"), CASES)
def test_the_message_comes_back_from_what_stays_behind(name: str, message: Any) -> None:
    format_: Any = adapter(name)
    made = format_.to_body(message)
    again = format_.from_body(made.value, rest=json.loads(json.dumps(made.rest))).value
    assert again == message


@pytest.mark.parametrize(("name", "message"), CASES)
def test_what_stays_behind_is_a_loss(name: str, message: Any) -> None:
    """What is in a part is one loss, and so is each member beside the body that tells something."""
    format_: Any = adapter(name)
    for target in ("anthropic", "openai-chat", "gemini"):
        stored = format_.to_body(message, rest="part").value
        (part,) = [f"part {at} {each.name}" for at, each in enumerate(stored)
                   if each.name == f"/meta/{name}.json"]  # fmt: skip
        told = adapter(target).from_body(stored).losses
        assert [loss.kind for loss in told if loss.where == part] == ["omitted"]
    if name == "agents-api":
        made = format_.to_body(message)
        told = adapter("anthropic").from_body(made.value, rest=made.rest).losses
        assert ("omitted", "metadata") in [(loss.kind, loss.where) for loss in told]


@pytest.mark.parametrize("url", ["http://me@example.com/a.png", "s3://b/a.png", "/srv/a.png"])
def test_an_attachment_without_an_absolute_url_is_one_loss(url: str) -> None:
    """It stays in the message, and whoever does not get the message is told."""
    format_: Any = adapter("agents-api")
    kept, left = PICTURE, {"url": url, "mime_type": "image/png"}
    messages: dict[str, Any] = {
        "agents-api": format_.build_text("user", "Look!", {"attachments": [kept, left]}),
        "channel": {"agent": "a", "message": "Look!", "attachments": [kept, left]},
    }
    for name, message in messages.items():
        made = adapter(name).to_body(message)
        assert made.value.names() == ["/attachments/1/file"]
        assert adapter(name).from_body(made.value, rest=made.rest).value == message
        told = adapter("openai-chat").from_body(made.value, rest=made.rest).losses
        assert len([loss for loss in told if loss.where.endswith("attachments")]) == 1
        message["metadata" if name == "agents-api" else "attachments"] = (
            {"attachments": [kept]} if name == "agents-api" else [kept]
        )
        made = adapter(name).to_body(message)
        told = adapter("openai-chat").from_body(made.value, rest=made.rest).losses
        assert not [loss for loss in told if loss.where.endswith("attachments")]


@pytest.mark.parametrize("rest", ["beside", "part"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_the_role_crosses(role: str, rest: str) -> None:
    said: dict[str, Any] = {
        "agents-api": {"role": role, "content": "4.", "schema": "agents-api.message", "version": 1,
                       "type": "text", "payload": {}, "metadata": {"user_token": "s3cr3t"}},
        "channel": {"agent": "demo", "message": "4."} if role == "user"
                   else {"session_id": "s", "reply": "4.", "completed": True},
    }  # fmt: skip
    for name, message in said.items():
        format_: Any = adapter(name)
        made = format_.to_body(message, rest=rest)
        for target, word in (("anthropic", "content"), ("openai-chat", "content")):
            out = adapter(target).from_body(made.value, rest=made.rest).value
            assert out["role"] == role
            assert "4." in json.dumps(out[word])


def test_a_prompt_says_what_it_withholds() -> None:
    body = MessageBody([Part("Hello"), Part('{"k": "secret"}', name="/meta/agents-api.json")])
    prompt = to_prompt(body)
    assert prompt.body.read_text() == "Hello"
    (omitted,) = prompt.omitted
    assert (omitted.index, omitted.name, omitted.kind, omitted.shown) == (
        1, "/meta/agents-api.json", "withheld", 0)  # fmt: skip


def test_other_parts_called_meta_are_content() -> None:
    body = MessageBody([Part('{"title": "Cats"}', name="/meta/page.json"),
                        Part("a", name="/meta/agents-api.txt")])  # fmt: skip
    assert "Cats" in to_prompt(body).body.read_text()
    assert "Cats" in texts_of(adapter("anthropic").from_body(body).value)


def test_a_conversation_has_no_message_of_what_is_withheld() -> None:
    chat: Any = adapter("openai-chat")
    call = {"role": "tool", "tool_call_id": "c1", "content": "4"}
    body = chat.to_body(call).value
    body.add('{"k": "secret"}', name="/meta/agents-api.json", content_type="application/json")
    made = chat.from_bodies([body])
    assert len(made.value) == 1
    assert "secret" not in json.dumps(made.value)
