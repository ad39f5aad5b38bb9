"""Services get one call and one result, also of an editor's agent, which tells of it bit by bit."""

import json
from typing import Any

import pytest

from messagebody.adapters import adapter, detect

EDITOR: Any = adapter("agent-client")

ASKED = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "go"}}
SAID = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "done"}}


def text(said: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": said}}


def update(**said: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", **said}


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
