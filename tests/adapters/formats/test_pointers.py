"""The places that errors and losses name: those in the message, whatever blocks are made of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.adapters import adapter
from messagebody.adapters._vocabulary.pointers import BlockPointers, path_to

NEW = {"type": "new", "x": 1}


def said(text: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


MESSAGE = {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
           "content": [said("a"), said("b")]}  # fmt: skip
MCP = {"type": "mcp_call", "id": "c1", "name": "f", "arguments": "{}", "output": "x"}
CODE = {"type": "code_interpreter_call", "id": "c2", "code": "1",
        "outputs": [{"type": "logs", "logs": "1"}]}  # fmt: skip
BUILT = {"type": "document", "source": {"type": "content", "content": [
    {"type": "text", "text": text} for text in "abc"]}}  # fmt: skip
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL = {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {},
        "output": "x"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "message", "places"),
    [
        ("openai-responses", [MESSAGE, MCP, CODE, {"type": "new_call"}], ["output[3]"]),
        ("openai-responses", [MCP, {**MESSAGE, "content": [said("a"), NEW]}],
         ["output[1].content[1]"]),
        ("openai-responses", [MCP, {**CODE, "code": None, "outputs": [NEW]}],
         ["output[1]", "output[1].outputs[0]"]),
        ("openai-responses", {"object": "response", "output": [MCP, NEW]}, ["output[1]"]),
        ("anthropic", {"role": "user", "content": [BUILT, NEW]}, ["content[1]"]),
        ("anthropic", [BUILT, NEW], ["content[1]"]),
        ("anthropic", {"role": "user", "content": [
            BUILT, {"type": "tool_result", "tool_use_id": "c", "content": [BUILT, NEW]}]},
         ["content[1].content[1]"]),
        ("openai-chat", {"role": "assistant", "content": [NEW], "tool_calls": [NEW]},
         ["content[0]", "tool_calls[0]"]),
        ("vercel-ai", {"id": "m", "role": "assistant", "parts": [TOOL, NEW]}, ["parts[1]"]),
        ("pydantic-ai", {"kind": "request", "parts": [
            {"part_kind": "user-prompt", "content": ["a", "b"]}, {"part_kind": "new"}]},
         ["parts[1]"]),
        ("a2a", {"id": "t", "status": {"state": "x"},
                 "artifacts": [{"parts": [{"text": "a"}]}, {"parts": [{"new": 1}]}]},
         ["artifacts[1].parts[0]"]),
        ("gemini", {"role": "user", "parts": [{"text": "a"}, {"new": 1}]}, ["parts[1]"]),
    ],
)  # fmt: skip
def test_a_loss_names_the_place_in_the_message(name: str, message: Any, places: list[str]) -> None:
    # Values of Python may be one object in several places, and those of JSON are not.
    losses = adapter(name).to_body(json.loads(json.dumps(message))).losses
    assert [loss.where for loss in losses] == places


@pytest.mark.parametrize(
    ("name", "message", "place"),
    [
        ("openai-responses", [MCP, {**MESSAGE, "content": [said("a"), said(5)]}],
         "/output/1/content/1/text"),
        ("openai-responses", [MCP, {"type": "function_call", "call_id": 5}], "/output/1/call_id"),
        ("openai-responses", [MESSAGE, {**MCP, "arguments": 5}], "/output/1/arguments"),
        ("openai-responses", [MESSAGE, {**CODE, "outputs": [{"type": "logs", "logs": 5}]}],
         "/output/1/outputs/0/logs"),
        ("openai-responses", [MCP, 5], "/output/1"),
        ("anthropic", {"role": "user", "content": [BUILT, {"type": "text"}]}, "/content/1/text"),
        ("openai-chat", {"role": "assistant", "content": "a", "tool_calls": [
            CALL, {**CALL, "function": {"name": 5, "arguments": "{}"}}]},
         "/tool_calls/1/function/name"),
        ("openai-chat", {"role": "user", "content": [{"type": "text", "text": 5}]},
         "/content/0/text"),
        ("gemini", {"role": "user", "parts": [{"inlineData": {"data": 5}}]},
         "/parts/0/inlineData/data"),
        ("gemini", {"role": "user", "parts": [{"text": "a"}, 5]}, "/parts/1"),
        ("bedrock", {"role": "user", "content": [{"toolUse": {"toolUseId": 5}}]},
         "/content/0/toolUse/toolUseId"),
        ("langchain", {"type": "ai", "content": "a", "tool_calls": [{"name": 5}]},
         "/tool_calls/0/name"),
    ],
)  # fmt: skip
def test_an_error_has_a_pointer_into_the_message(name: str, message: Any, place: str) -> None:
    message = json.loads(json.dumps(message))
    assert [finding.where for finding in adapter(name).iter_findings(message)] == [place]
    there = adapter(name).to_body(message)
    # A bad block stays where it was, and its neighbours are read.
    assert any(f": {place}: " in str(loss) for loss in there.losses)
    assert adapter(name).from_body(there.value, rest=there.rest).value == message


values = st.recursive(
    st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(max_size=3), inner, max_size=3), max_leaves=12,
)  # fmt: skip


def pointed(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def objects(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from objects(each)


@given(values)
def test_every_object_of_a_message_is_found_by_its_pointer(inner: Any) -> None:
    message = json.loads(json.dumps({"content": inner}))
    pointers = BlockPointers(message, "content")
    for value in objects(message["content"]):
        assert pointed(message, pointers.at([value], 0).pointer()) is value
        assert pointed(message, path_to(value, message)) is value


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text(), min_size=1), min_size=1),
       st.data())  # fmt: skip
def test_a_block_that_is_made_of_an_item_has_the_place_of_the_item(items: Any, data: Any) -> None:
    items = json.loads(json.dumps([{**item, "id": f"item {i}"} for i, item in enumerate(items)]))
    number = data.draw(st.integers(0, len(items) - 1))
    made = [{**items[number], "type": "made"}]
    assert (
        BlockPointers({"content": items}, "content").at(made, 0).pointer() == f"/content/{number}"
    )
