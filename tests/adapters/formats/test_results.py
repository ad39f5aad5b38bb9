"""What tools return: any JSON value, in the place where a format has the content of a result."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from messagebody.adapters import adapter

OPENAI_CALL = {"id": "a", "type": "function", "function": {"name": "sun", "arguments": "{}"}}


def answers(call: Any, result: Any) -> list[Any]:
    return [{"role": "assistant", **call}, {"role": "tool", **result}]


def named(name: str) -> Any:
    return adapter(name)


ANSWERED: dict[str, Callable[[Any], list[Any]]] = {
    "openai-chat": lambda value: answers(
        {"content": None, "tool_calls": [OPENAI_CALL]}, {"tool_call_id": "a", "content": value}
    ),
    "openai-responses": lambda value: [
        {"type": "function_call", "call_id": "a", "name": "sun", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": value},
    ],
    "anthropic": lambda value: [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "sun", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": value}],
        },
    ],
    "bedrock": lambda value: [
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "a", "name": "sun", "input": {}}}],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": value}}]},
    ],
    "langchain": lambda value: [
        {"type": "ai", "content": "", "tool_calls": [{"name": "sun", "args": {}, "id": "a"}]},
        {"type": "tool", "content": value, "tool_call_id": "a"},
    ],
    "ag-ui": lambda value: [
        {"id": "1", "role": "assistant", "toolCalls": [OPENAI_CALL]},
        {"id": "2", "role": "tool", "toolCallId": "a", "content": value},
    ],
    "haystack": lambda value: [
        {
            "role": "assistant", "meta": {}, "name": None,
            "content": [{"tool_call": {"tool_name": "sun", "arguments": {}, "id": "a"}}],
        },
        {
            "role": "tool", "meta": {}, "name": None,
            "content": [{"tool_call_result": {
                "result": value, "error": False,
                "origin": {"tool_name": "sun", "arguments": {}, "id": "a"},
            }}],
        },
    ],
    "gemini": lambda value: [
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "sun", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "a", "name": "sun", "response": value}}],
        },
    ],
    "pydantic-ai": lambda value: [
        {"kind": "response", "parts": [
            {"part_kind": "tool-call", "tool_name": "sun", "args": {}, "tool_call_id": "a"}
        ]},
        {"kind": "request", "parts": [
            {"part_kind": "tool-return", "tool_name": "sun", "content": value, "tool_call_id": "a"}
        ]},
    ],
    "vercel-ai": lambda value: [{"role": "assistant", "parts": [{
        "type": "tool-sun", "toolCallId": "a", "state": "output-available", "input": {},
        "output": value,
    }]}],
    "mcp": lambda value: [
        {
            "role": "assistant",
            "content": {"type": "tool_use", "id": "a", "name": "sun", "input": {}},
        },
        {"role": "user", "content": {"type": "tool_result", "toolUseId": "a", "content": value}},
    ],
    "acp": lambda value: [{"role": "agent", "parts": [{"metadata": {
        "kind": "trajectory", "tool_name": "sun", "tool_input": {}, "tool_output": value,
    }}]}],
    "agent-client": lambda value: [
        {"sessionUpdate": "tool_call", "toolCallId": "a", "title": "sun", "rawInput": {}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "completed",
         "rawOutput": value},
    ],
}  # fmt: skip
"""A call and its result with some content, in each format."""
VALUES: list[Any] = [
    ["V1", "V2"], [1, 2], [None], [{"id": 1, "city": "Oslo"}], [[1], {"a": []}], 5, 0, False,
    {"a": 1}, {},
]  # fmt: skip
OWN = {"langchain": (["V1", "V2"],)}
"""Values that are the content of a format: texts are blocks."""


@pytest.mark.parametrize("value", VALUES, ids=json.dumps)
@pytest.mark.parametrize("name", sorted(ANSWERED))
def test_a_result_may_be_any_value(name: str, value: Any) -> None:
    talk = ANSWERED[name](value)
    there = named(name).to_bodies(talk)
    assert there.losses == ()
    done = named(name).from_bodies(there.value, rest=there.rest)
    assert (done.value, done.losses) == (talk, ())
    chat = named("openai-chat").from_bodies(there.value, rest=there.rest).value
    assert [bool(each.get("tool_calls")) for each in chat] == [True, False]
    if value not in OWN.get(name, ()):
        said = chat[1]["content"]
        assert (json.loads(said) if isinstance(said, str) else said) == value


@pytest.mark.parametrize("name", sorted(ANSWERED))
def test_a_result_of_nothing_answers_its_call(name: str) -> None:
    there = named(name).to_bodies(ANSWERED[name](None))
    assert there.losses == ()
    done = named(name).from_bodies(there.value, rest=there.rest)
    assert (done.value, done.losses) == (ANSWERED[name](None), ())
    chat = named("openai-chat").from_bodies(there.value, rest=there.rest).value
    assert [bool(each.get("tool_calls")) for each in chat][:2] == [True, False][: len(chat)]
