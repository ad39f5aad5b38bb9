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


def test_open_calls_of_one_id_are_answered_in_their_order() -> None:
    first, second = MessageBody([called(1, "c1")]), MessageBody([called(1, "c1")])
    answers = [answered("c1", "one"), answered("c1", "two")]
    ids, results = pairs(CLAUDE.from_bodies([first, second, *answers]).value)
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


CHAT: Any = adapter("openai-chat")


def asked(calls: dict[str, str | None], *answers: dict[str, Any]) -> list[Any]:
    """Return a talk with calls of tools by their names, each with an id or none, and answers."""
    made = [
        {"function": {"name": name, "arguments": {}}, **({} if known is None else {"id": known})}
        for name, known in calls.items()
    ]
    said = [{"role": "tool", **each} for each in answers]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": made},
        *said,
        {"role": "assistant", "content": "End"},
    ]


R1, R2 = {"content": "R1"}, {"content": "R2"}


_IDS = {"id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId"}


def without_ids(value: Any, *, kept: bool) -> Any:
    """Return a value without the ids in results, and in calls unless those are kept."""
    if isinstance(value, list):
        return [without_ids(each, kept=kept) for each in value]
    if not isinstance(value, dict):
        return value
    known = {each for each in _IDS if value.get(each) == "a"}
    is_call = "arguments" in value or "input" in value or "args" in value or "function" in value
    gone = set() if kept and is_call and "result" not in value else known
    return {
        key: without_ids(each, kept=kept and key != "tool_call_result")
        for key, each in value.items() if key not in gone
    }  # fmt: skip


def by_claude(name: str, read: Any) -> tuple[Any, list[Any]]:
    """Return the messages of Claude for what was read from another format, or from its own."""
    losses = [*read.losses]
    if name == "anthropic":
        sent = CHAT.from_bodies(read.value, rest=read.rest)
        read = CHAT.to_bodies(sent.value)
        losses += [*sent.losses, *read.losses]
    done = CLAUDE.from_bodies(read.value, rest=read.rest)
    return done.value, [*losses, *done.losses]


@pytest.mark.parametrize("kept", [True, False], ids=["the call has an id", "no ids"])
@pytest.mark.parametrize(
    "name",
    ["openai-chat", "openai-responses", "anthropic", "bedrock", "gemini", "langchain", "ag-ui",
     "haystack", "llamaindex", "pydantic-ai", "vercel-ai"],
)  # fmt: skip
def test_no_format_needs_the_id_of_a_call_in_its_result(name: str, *, kept: bool) -> None:
    source: Any = adapter(name)
    there = CHAT.to_bodies(asked({"sun": "a"}, {"tool_call_id": "a", **R1}))
    talk = source.from_bodies(there.value, rest=there.rest).value
    bare = without_ids(talk, kept=kept)
    assert name == "gemini" or bare != talk or (name == "vercel-ai" and kept)
    read = source.to_bodies(bare)
    assert source.from_bodies(read.value, rest=read.rest).value == bare
    done, losses = by_claude(name, read)
    [(_, said)] = pairs(done)[1].items()
    assert said == "R1"
    assert not [loss for loss in losses if loss.affects == "content"]


@pytest.mark.parametrize("role", ["tool", "function"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("haystack", {"content": [{"text": "R1"}], "meta": {}, "name": None}),
        ("haystack", {"content": [{"tool_call_result": {"result": "R1"}}], "meta": {}}),
        ("llamaindex", {"blocks": [{"block_type": "text", "text": "R1"}]}),
        ("llamaindex", {"content": "R1", "additional_kwargs": {"name": "sun"}}),
        ("gemini", {"parts": [{"text": "R1"}]}),
        ("anthropic", {"content": "R1"}),
        ("bedrock", {"content": [{"text": "R1"}]}),
        ("openai-responses", {"content": "R1"}),
        ("vercel-ai", {"content": [{"type": "text", "text": "R1"}]}),
        ("ag-ui", {"content": "R1", "id": "m"}),
    ],
)
def test_a_tool_that_says_a_text_answers_the_open_call(
    name: str, role: str, text: dict[str, Any]
) -> None:
    source: Any = adapter(name)
    there = CHAT.to_bodies(asked({"sun": "a"}, {"tool_call_id": "a", **R1}))
    question, call, *_ = source.from_bodies(there.value, rest=there.rest).value
    if name == "vercel-ai":
        call = {"role": "assistant", "content": [
            {"type": "tool-call", "toolCallId": "a", "toolName": "sun", "input": {}}]}  # fmt: skip
    for talk in ([question, call], [question]):
        said = [*talk, {"role": role, **text}]
        read = source.to_bodies(said)
        assert source.from_bodies(read.value, rest=read.rest).value == said
        done, losses = by_claude(name, read)
        assert ("[result of " in json.dumps(done)) is (call not in said)
        assert not any(loss.affects == "content" for loss in losses)


@pytest.mark.parametrize("name", ["haystack", "llamaindex"])
def test_the_assistant_never_says_what_a_tool_says(name: str) -> None:
    body = MessageBody(["R1"])
    source, target = adapter(name), adapter("vercel-ai")
    rest = {**source.to_body(source.from_body(body).value).rest, "role": "tool"}
    done = target.from_body(body, rest=rest)
    assert done.value["role"] == "user"
    assert [loss.why for loss in done.losses] == ["tool goes out as user"]


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "langchain", "gemini"])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
def test_results_have_the_order_of_calls_where_none_has_an_id(
    source: str, order: list[int]
) -> None:
    calls = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "sun", "arguments": f'{{"k": {n}}}'},
        }
        for n in range(3)
    ]
    answers = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"R{n}"} for n in order]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    there = CHAT.to_bodies([{"role": "user", "content": "go"}, said, *answers])
    reader: Any = adapter(source)
    first = reader.to_bodies(reader.from_bodies(there.value, rest=there.rest).value)
    agents: Any = adapter("acp")
    between = agents.from_bodies(first.value, rest=first.rest)
    read = agents.to_bodies(between.value)
    done = CLAUDE.from_bodies(read.value, rest=read.rest).value
    blocks = [block for message in done for block in message["content"] if block["type"] != "text"]
    ids = {block["id"]: block["input"]["k"] for block in blocks if block["type"] == "tool_use"}
    found = {
        ids[block["tool_use_id"]]: block["content"]
        for block in blocks if block["type"] == "tool_result"
    }  # fmt: skip
    assert found == {n: [{"type": "text", "text": f"R{n}"}] for n in range(3)}
