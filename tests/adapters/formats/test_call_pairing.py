"""Services get one call and one result, also of an editor's agent, which tells of it bit by bit."""

import json
from typing import Any

import pytest

from messagebody.adapters import adapter, detect

EDITOR: Any = adapter("agent-client")
CLAUDE: Any = adapter("anthropic")

ASKED = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "go"}}
SAID = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "done"}}
BEGUN = {
    "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "status": "pending",
    "rawInput": {"path": "/a"},
}  # fmt: skip


def text(said: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": said}}


def update(**said: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", **said}


def crossed(*updates: Any) -> tuple[Any, Any, list[str]]:
    """Return the call and the result in a conversation of Anthropic, and all losses."""
    talk = [ASKED, *updates, SAID]
    there = EDITOR.to_bodies(talk)
    assert EDITOR.from_bodies(there.value, rest=there.rest).value == talk
    done = CLAUDE.from_bodies(there.value, rest=there.rest)
    asked, call, result, said = done.value
    assert [each["role"] for each in done.value] == ["user", "assistant"] * 2
    assert (asked["content"][0]["text"], said["content"][0]["text"]) == ("go", "done")
    assert len(call["content"]) == len(result["content"]) == 1
    return call["content"][0], result["content"][0], [str(each) for each in done.losses]


def test_what_a_call_shows_while_it_runs_is_not_its_result() -> None:
    """The preview was the result, and the result a text of the user."""
    call, result, losses = crossed(
        {**BEGUN, "content": [text("preview")]},
        update(status="in_progress", content=[text("half")]),
        update(status="completed", content=[text("all")]),
    )
    assert (call["name"], call["input"]) == ("Read", {"path": "/a"})
    assert result["content"] == [{"type": "text", "text": "all"}]
    why = "it was shown while the call ran, and is not its result"
    assert losses == [
        f"omitted message 1: /tool/results/1: {why}",
        f"omitted message 2: /tool/results/1: {why}",
    ]


def test_an_end_without_content_leaves_what_was_shown() -> None:
    call, result, losses = crossed(
        {**BEGUN, "rawInput": {}},
        update(status="pending", rawInput={"path": "/b"}, content=[text("shown")]),
        update(status="completed"),
    )
    assert (call["name"], call["input"]) == ("Read", {"path": "/b"})  # updates leave out the title
    assert (result["content"], losses) == ([{"type": "text", "text": "shown"}], [])


def test_a_call_without_arguments_and_a_failure_without_content_are_told() -> None:
    begun = {key: value for key, value in BEGUN.items() if key != "rawInput"}
    call, result, losses = crossed(begun, update(status="failed"))
    assert (call["name"], call["input"], result["is_error"]) == ("Read", {}, True)
    assert result["content"] == [{"type": "text", "text": "[failed without a message]"}]
    assert len(losses) == 1


def test_what_a_call_that_never_ended_has_shown_answers_nothing() -> None:
    there = EDITOR.to_bodies([ASKED, {**BEGUN, "content": [text("preview")]}])
    for name in ("anthropic", "openai-chat", "gemini", "langchain", "vercel-ai", "mcp"):
        target: Any = adapter(name)
        done = target.from_bodies(there.value, rest=there.rest)
        assert "preview" not in str(done.value), name
        assert [loss.kind for loss in done.losses] == ["omitted"], name
    alone = EDITOR.to_body(update(status="in_progress", content=[text("preview")]))
    done = adapter("openai-chat").from_body(alone.value, rest=alone.rest)
    assert done.value["role"] == "assistant"
    assert "preview" not in str(done.value)
    assert [loss.kind for loss in done.losses] == ["omitted"]


def test_results_keep_the_members_that_their_updates_had() -> None:
    """The title of the call was added to each update of a history that came back."""
    talk = [ASKED, BEGUN, update(status="completed", rawOutput={"n": 1}), SAID]
    there = EDITOR.to_bodies(talk)
    assert EDITOR.from_bodies(there.value, rest=there.rest).value == talk


def test_a_generator_of_gemini_has_one_result() -> None:
    """Each of its responses was an answer: the first of them the one that counts."""
    gemini: Any = adapter("gemini")

    def answer(response: Any, **about: Any) -> dict[str, Any]:
        said = {"id": "c", "name": "f", "response": response, **about}
        return {"role": "user", "parts": [{"functionResponse": said}]}

    talk = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]},
        answer({"output": "half"}, willContinue=True), answer({"output": "all"}, willContinue=True),
        answer({}, willContinue=False),
    ]  # fmt: skip
    there = gemini.to_bodies(talk)
    assert gemini.from_bodies(there.value, rest=there.rest).value == talk
    done = CLAUDE.from_bodies(there.value, rest=there.rest)
    (result,) = done.value[-1]["content"]
    assert result["content"] == [{"type": "text", "text": "all"}]
    why = "it was shown while the call ran, and is not its result"
    assert [*map(str, done.losses)] == [f"omitted message 2: /tool/results/1: {why}"]


def test_a_preliminary_output_of_vercel_is_no_result() -> None:
    vercel: Any = adapter("vercel-ai")
    tool = {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {},
            "output": "half", "preliminary": True}  # fmt: skip
    talk = [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "go"}]},
            {"id": "2", "role": "assistant", "parts": [tool]}]  # fmt: skip
    there = vercel.to_bodies(talk)
    assert vercel.from_bodies(there.value, rest=there.rest).value == talk
    done = CLAUDE.from_bodies(there.value, rest=there.rest)
    assert "half" not in str(done.value)
    assert [loss.kind for loss in done.losses] == ["omitted"]


PLAN = {"sessionUpdate": "plan", "entries": []}
OTHERS = [
    PLAN,
    {"sessionUpdate": "available_commands_update", "availableCommands": []},
    {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
    {"sessionUpdate": "usage_update", "used": 5, "size": 9},
    {"sessionUpdate": "of_next_year", "a": [1]},
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda each: each["sessionUpdate"])
@pytest.mark.parametrize("place", range(4))
def test_an_update_that_is_no_message_refuses_no_other(place: int, other: Any) -> None:
    again = {**ASKED, "content": {"type": "text", "text": "on"}}
    updates = [ASKED, again, SAID, update(rawInput={}, status="completed")]
    talk = [*updates[:place], other, *updates[place:]]
    assert "agent-client" in detect(talk)
    there = EDITOR.to_bodies(talk)
    alone = EDITOR.to_bodies(updates)
    assert there.value == alone.value
    assert EDITOR.from_bodies(there.value, rest=json.loads(json.dumps(there.rest))).value == talk
    assert len(there.losses) == len(alone.losses) + (other in (PLAN, OTHERS[-1]))
    for name in ("anthropic", "vercel-ai"):
        target: Any = adapter(name)
        done, before = (target.from_bodies(each.value, rest=each.rest) for each in (there, alone))
        assert [each["role"] for each in done.value] == [each["role"] for each in before.value]


@pytest.mark.parametrize("other", OTHERS, ids=lambda each: each["sessionUpdate"])
def test_a_session_may_tell_of_no_message(other: Any) -> None:
    there = EDITOR.to_bodies([other, {"update": other}])
    assert [len(body) for body in there.value] == [0]
    assert EDITOR.from_bodies(there.value, rest=there.rest).value == [other, {"update": other}]
    assert CLAUDE.from_bodies(there.value, rest=there.rest).value == []
    one = EDITOR.to_body(other)
    assert EDITOR.from_body(one.value, rest=one.rest).value == other


def test_a_block_that_looks_like_another_update_is_none() -> None:
    looks: list[dict[str, Any]] = [
        {}, {"update": 5}, {"update": {}}, {"update": {"sessionUpdate": []}},
    ]  # fmt: skip
    for held in looks:
        block = {"type": "session_update", **held}
        chunk = {"sessionUpdate": "user_message_chunk", "content": block}
        for message in ({"prompt": [block]}, chunk, [chunk, ASKED]):
            there = EDITOR.to_body(message)
            assert len(there.losses) == 1
            assert EDITOR.from_body(there.value, rest=there.rest).value == message


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "langchain", "ag-ui"])
@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini", "openai-chat"])
def test_a_stored_rest_is_no_result(source: str, target: str) -> None:
    """The call of a result that was deleted had the part with the rest as its result."""
    calls = [
        {"id": each, "type": "function", "function": {"name": each, "arguments": "{}"}}
        for each in "ab"
    ]
    openai: Any = adapter("openai-chat")
    chat = openai.to_bodies(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": each, "content": each * 3} for each in "ab"),
            {"role": "assistant", "content": "done"},
        ]
    )
    reader: Any = adapter(source)
    writer: Any = adapter(target)
    talk = reader.from_bodies(chat.value, rest=chat.rest).value
    written = []
    for where in ("part", "beside"):
        there = reader.to_bodies(talk, rest=where)
        bodies = [body.copy() for body in there.value]
        for name in [name for name in bodies[3].names() if "/results/" in str(name)]:
            del bodies[3][str(name)]
        rest = () if where == "part" else there.rest
        written.append(writer.from_bodies(bodies, rest=rest).value)
    assert written[0] == written[1]


CALLED: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "sun", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "R"}]},
        {"role": "assistant", "content": "e"},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "a", "name": "sun", "input": {}}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "a", "content": [{"text": "R"}]}}]},
        {"role": "assistant", "content": [{"text": "e"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "sun", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "a", "name": "sun", "response": {"output": "R"}}}]},
        {"role": "model", "parts": [{"text": "e"}]},
    ],
    "openai-chat": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "sun", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "R"},
        {"role": "assistant", "content": "e"},
    ],
    "openai-responses": [
        {"role": "user", "content": "q"},
        {"type": "function_call", "call_id": "a", "name": "sun", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "R"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "e"}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
class TestOwnMessagesThatOthersLeft:
    """They stay as they were, and what the service may refuse of them is told."""

    def told(self, name: str, kept: list[int]) -> list[str]:
        there: Any = adapter(name)
        read = there.to_bodies(CALLED[name])
        rests = [read.rest[number] for number in kept]
        made = there.from_bodies([read.value[number] for number in kept], rest=rests)
        assert made.value == [CALLED[name][number] for number in kept]
        return [loss.why for loss in made.losses if "result" in loss.why]

    def test_nothing_is_told_of_whole_ones(self, name: str) -> None:
        assert self.told(name, [0, 1, 2, 3]) == self.told(name, [0, 1, 2]) == []
        assert self.told(name, [0, 1]) == self.told(name, [0]) == []  # it may still be answered

    def test_a_call_without_its_result(self, name: str) -> None:
        assert self.told(name, [0, 1, 3]) == [
            f"{name} may refuse a call whose result does not follow it"
        ]

    def test_a_result_without_its_call(self, name: str) -> None:
        why = f"{name} may refuse a result that does not follow its call"
        # The service may have kept the call.
        assert self.told(name, [2, 3]) == ([] if name == "openai-responses" else [why])

    def test_something_between_the_two(self, name: str) -> None:
        told = self.told(name, [1, 0, 2, 3])
        assert len(told) == (0 if name == "openai-responses" else 2)
