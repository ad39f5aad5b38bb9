"""Envelopes whose rest is beside their body."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.adapters import adapter
from messagebody.envelopes import agents_api
from messagebody.errors import EnvelopeError
from tests.envelopes.shapes import BASES, OLYMPUS

PICTURE = {"url": "https://example.com/a.png", "mime_type": "image/png"}
TOLD: dict[str, Any] = {
    "agents-api": agents_api.build_text("user", "Hello!", {"attachments": [PICTURE], "k": 1}),
    "channel": {"agent": "demo", "message": "Hello!", "attachments": [PICTURE], "session_id": "s"},
    "olympus": OLYMPUS,
    "sentient": BASES["full4"][3],
}
every = pytest.mark.parametrize(("name", "message"), TOLD.items())


def beside(name: str, message: Any) -> tuple[Any, MessageBody, Any]:
    format_: Any = adapter(name)
    there = format_.to_body(message, rest="beside")
    return format_, there.value, there.rest


@every
def test_it_is_the_part_of_a_stored_body(name: str, message: Any) -> None:
    format_, body, rest = beside(name, message)
    stored = format_.to_body(message, rest="part")
    (part,) = [each for each in stored.value if each.name == f"/meta/{name}.json"]
    assert (stored.rest, rest["sidecar"]) == (None, part.read_json())
    assert [*body] == [each for each in stored.value if each != part]


@every
def test_it_is_beside_the_body_by_default(name: str, message: Any) -> None:
    """So a converted message keeps a plain schema."""
    format_, body, rest = beside(name, message)
    made = format_.to_body(message)
    assert (made.value, made.rest) == (body, rest)
    named = "/{attachments,sources,storage,derived}/**"
    plain = [{"contentType": "*/*"}, {"name": named, "contentType": "*/*"}]
    MessageBodySchema(plain).validate(made.value)


@every
def test_an_edited_part_is_not_hidden(name: str, message: Any) -> None:
    format_, body, rest = beside(name, message)
    edited = body[0].read_text().replace("Hello", "Good day").replace("task", "order")
    body[0] = body[0].evolve(content=edited)
    whole = format_.to_body(message, rest="part").value
    whole[0] = body[0]
    assert outcome(format_, body, rest=rest) == outcome(format_, whole) != message


def outcome(format_: Any, body: MessageBody, **options: Any) -> Any:
    """Return the message of a body, or where the body contradicts what came with it."""
    try:
        return format_.from_body(body, **options).value
    except EnvelopeError as error:
        return [str(finding) for finding in error.findings]


def test_roles_go_from_one_format_to_another() -> None:
    chat: Any = adapter("openai-chat")
    message = {"role": "system", "content": "Be brief."}
    there = chat.to_body(message)
    envelope = agents_api.from_body(there.value, rest=there.rest).value
    assert (envelope["role"], agents_api.from_body(there.value).value["role"]) == (
        "system", "assistant",
    )  # fmt: skip
    _, body, rest = beside("agents-api", envelope)
    assert chat.from_body(body, rest=rest).value == message


@every
def test_what_is_wrong_is_said(name: str, message: Any) -> None:
    format_, body, rest = beside(name, message)
    with pytest.raises(EnvelopeError, match=r"rest is one of 'part', 'beside', got 'x'"):
        format_.to_body(message, rest="x")
    for wrong in ([1], {**rest, "sidecar": 5}, {**rest, "sidecar": {"a": float("nan")}}):
        with pytest.raises(EnvelopeError, match="rest is"):
            format_.from_body(body, rest=wrong)
    body.append(Part("{}", name=f"/meta/{name}.json"))
    with pytest.raises(EnvelopeError, match="already"):
        format_.from_body(body, rest=rest)


def chat(agent: str, text: str, session: str) -> dict[str, Any]:
    return {"agent": agent, "message": text, "session_id": session}


TALKS: dict[str, list[Any]] = {
    "agents-api": [
        agents_api.build_text(role, text, {"k": number})
        for number, (role, text) in enumerate([("user", "q"), ("assistant", "a"), ("user", "r")])
    ],
    "channel": [chat("looker", "Look!", "s-1"), chat("other", "Two", "s-2"), chat("x", "3", "")],
    "olympus": [
        {**OLYMPUS, "persona": name, "protocol_message": {
            **OLYMPUS["protocol_message"], "payload": {"task": name}}}
        for name in "abc"
    ],
    "sentient": BASES["full4"][:3],
}  # fmt: skip
all_talks = pytest.mark.parametrize(("name", "talk"), TALKS.items())


@all_talks
@pytest.mark.parametrize("order", [[2, 1, 0], [1, 0, 2], [1, 2], [0, 2], [2], [2, 0], []])
def test_bodies_find_their_rests(name: str, talk: list[Any], order: list[int]) -> None:
    """Whatever has been moved or left out, no message goes out under another name."""
    format_: Any = adapter(name)
    read = format_.to_bodies(talk)
    rests = json.loads(json.dumps(read.rest))
    made = format_.from_bodies([read.value[each] for each in order], rest=rests).value
    assert made == [talk[each] for each in order]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "langchain", "agents-api"])
def test_bodies_find_their_rests_in_other_formats(target: str) -> None:
    talk = TALKS["agents-api"][:2]
    read, writer = agents_api.to_bodies(talk), adapter(target)
    there: Any = writer
    expected = [
        there.from_bodies([body], rest=[rest]).value
        for body, rest in zip(read.value, read.rest, strict=True)
    ]
    made = there.from_bodies(read.value[::-1], rest=read.rest).value
    assert made == [message for each in expected[::-1] for message in each]


@all_talks
def test_a_new_or_changed_body_between_others(name: str, talk: list[Any]) -> None:
    format_: Any = adapter(name)
    read = format_.to_bodies(talk[:1] + talk[2:])
    added = format_.to_bodies(talk[1:2])
    bodies = [read.value[0], added.value[0], read.value[1]]
    given = format_.from_bodies(bodies, rest=[read.rest[0], *added.rest, read.rest[1]])
    assert given.value == talk
    if name in ("agents-api", "channel"):  # the others need a header for a new body
        made = format_.from_bodies(bodies, rest=read.rest).value
        assert [made[0], made[2]] == [talk[0], talk[2]]
        assert made[1] == format_.from_body(added.value[0]).value


def test_a_repeated_body_whose_message_is_unclear_is_refused() -> None:
    channel: Any = adapter("channel")
    read = channel.to_bodies([chat("a", "Yes", "s-1"), chat("b", "No", "s"), chat("c", "Yes", "t")])
    yes, no, _ = read.value
    with pytest.raises(EnvelopeError, match="rest does not say whose words these are"):
        channel.from_bodies([yes], rest=read.rest)
    with pytest.raises(EnvelopeError, match="rest does not say whose words these are"):
        channel.from_bodies([yes, yes, yes, no], rest=read.rest)
