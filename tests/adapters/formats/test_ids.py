"""Ids of calls: each call has its own, legal ones stay, and results follow their calls."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter

CLAUDE: Any = adapter("anthropic")


def called(number: int, identity: str | None, name: str = "f") -> Part:
    value: dict[str, Any] = {"id": identity, "name": name, "arguments": {}}
    place = f"/tool/calls/{number}.json"
    return Part(json.dumps(value), name=place, content_type="application/json")


def answered(identity: str, text: str) -> MessageBody:
    about = {"tool_result": {"id": identity}}
    return MessageBody([Part(text, name="/tool/results/1/1", metadata=about)])


def pairs(talk: list[Any]) -> tuple[list[str], dict[str, str]]:
    """Return the ids of calls, and the text of each result by its id."""
    blocks = [block for message in talk for block in message["content"]]
    results = {
        block["tool_use_id"]: block["content"][0]["text"]
        for block in blocks if block["type"] == "tool_result"
    }  # fmt: skip
    return [block["id"] for block in blocks if block["type"] == "tool_use"], results


def test_ids_that_look_alike_stay_apart() -> None:
    stated = ["a.b:0", "a_b_0", "a:b.0", "ok_1"]
    calls = MessageBody([called(n, each) for n, each in enumerate(stated, 1)])
    answers = [answered(each, f"of {each}") for each in reversed(stated)]
    ids, results = pairs(CLAUDE.from_bodies([calls, *answers]).value)
    assert len({*ids}) == 4
    assert (ids[1], ids[3]) == ("a_b_0", "ok_1")
    assert [results[each] for each in ids] == [f"of {each}" for each in stated]


@pytest.mark.parametrize(
    "calls",
    [[[called(1, "c1")], [called(1, "c1")]], [[called(1, "c1"), called(2, "c1")], []]],
    ids=["in two messages", "in one"],
)
def test_two_calls_of_one_id_stay_apart(calls: list[list[Part]]) -> None:
    """An id may be used again elsewhere, and each result belongs to its own call."""
    first, second = map(MessageBody, calls)
    ids, results = pairs(
        CLAUDE.from_bodies([first, answered("c1", "one"), second, answered("c1", "two")]).value
    )
    assert len({*ids}) == 2
    assert [results[each] for each in ids] == ["one", "two"]


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "bedrock", "gemini"])
def test_a_made_id_is_nobody_elses(name: str) -> None:
    """A call without an id took that of the next one, whose legal id was then changed."""
    target: Any = adapter(name)
    body = MessageBody([called(1, None), called(2, "call_1"), called(3, "x"), called(4, "x")])
    for written in (target.from_body(body).value, target.from_bodies([body]).value[0]):
        again = target.to_body(written).value
        ids = [json.loads(part.read_text())["id"] for part in again]
        assert len({*ids}) == 4, written
        assert ids[1:3] == ["call_1", "x"]


def test_what_the_service_has_given_is_no_other_for_the_result() -> None:
    """A server that speaks the format gives ids of its own, and a new result lost its call."""
    use = {"type": "tool_use", "id": "functions.f:0", "name": "f", "input": {}}
    talk = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [use]}]
    there = CLAUDE.to_bodies(talk)
    new = answered("functions.f:0", "42")
    done = CLAUDE.from_bodies([*there.value, new], rest=[*there.rest, None])
    assert pairs(done.value[1:]) == (["functions.f:0"], {"functions.f:0": "42"})
    assert done.losses == ()


def test_what_is_lost_of_one_turn_is_told_by_the_numbers_of_its_calls() -> None:
    """Several messages are read as one, so that their calls and results are numbered apart."""
    said = []
    for number in (1, 2):
        called = {"type": "tool_use", "id": f"c{number}", "name": "f", "input": {}, "later": 1}
        texts = [{"type": "text", "text": "x", "pinned": True}, {"type": "text", "text": "y"}]
        answer = {"type": "tool_result", "tool_use_id": f"c{number}", "content": texts}
        said.append({"role": "assistant", "content": [called]})
        said.append({"role": "user", "content": [answer]})
    read = CLAUDE.to_bodies(said)
    client: Any = adapter("agent-client")
    losses = client.from_bodies(read.value, rest=read.rest).losses
    assert [(loss.message, loss.where, loss.why.split()[-1]) for loss in losses] == [
        (0, "part 0 /tool/calls/1.json", "'later'"),
        (1, "part 0 /tool/results/1/1", "'pinned'"),
        (2, "part 0 /tool/calls/2.json", "'later'"),
        (3, "part 0 /tool/results/2/1", "'pinned'"),
    ]
