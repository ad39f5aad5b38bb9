"""Signatures of models go along to each format whose service can read them."""

from collections.abc import Callable
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.adapters import adapter

CLAUDES = "EqQCCm4IDxgCKkBM"
GEMINIS = "AVSoXO4AzAXs7GGv"

THOUGHTS: dict[str, tuple[dict[str, Any], str]] = {
    "anthropic": ({"type": "thinking", "thinking": "Th", "signature": CLAUDES}, "content"),
    "bedrock": (
        {"reasoningContent": {"reasoningText": {"text": "Th", "signature": CLAUDES}}}, "content",
    ),
    "openai-chat": (
        {"type": "reasoning.text", "text": "Th", "signature": CLAUDES,
         "format": "anthropic-claude-v1", "index": 0}, "reasoning_details",
    ),
    "vercel-ai": (
        {"type": "reasoning", "text": "Th",
         "providerOptions": {"anthropic": {"signature": CLAUDES}}}, "content",
    ),
    "pydantic-ai": (
        {"part_kind": "thinking", "content": "Th", "signature": CLAUDES,
         "provider_name": "anthropic"}, "parts",
    ),
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "anthropic": {"type": "text", "text": "E"}, "bedrock": {"text": "E"},
    "vercel-ai": {"type": "text", "text": "E"},
    "pydantic-ai": {"part_kind": "text", "content": "E"},
}  # fmt: skip


def answer(name: str, thought: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an answer of a model that has thought."""
    block, member = THOUGHTS[name]
    block = thought or block
    if name == "openai-chat":
        return {"role": "assistant", "content": "E", member: [block]}
    kind = {"kind": "response"} if name == "pydantic-ai" else {"role": "assistant"}
    return {**kind, member: [block, ANSWERS[name]]}


def sent(
    source: str, message: Any, target: str, edit: Callable[[MessageBody], None] | None = None
) -> tuple[Any, list[str]]:
    """Return a message in another format, and what has been lost on the way."""
    read = adapter(source).to_body(message)
    if edit is not None:
        edit(read.value)
    made = adapter(target).from_body(read.value, rest=read.rest)
    return made.value, [str(loss) for loss in made.losses]


def edited(text: str) -> Callable[[MessageBody], None]:
    """Return what changes the text of the first part."""

    def edit(body: MessageBody) -> None:
        body[0] = body[0].evolve(content=text)

    return edit


class TestThoughtsOfClaude:
    @pytest.mark.parametrize("source", THOUGHTS)
    def test_are_left_out_after_a_change(self, source: str) -> None:
        made, losses = sent(source, answer(source), "anthropic", edited("Other"))
        assert made["content"] == [ANSWERS["anthropic"]]
        assert any("/reasoning/1" in loss for loss in losses)


CALLS: dict[str, dict[str, Any]] = {
    "gemini": {"role": "model", "parts": [
        {"functionCall": {"name": "sun", "args": {"k": 1}, "id": "a"}, "thoughtSignature": GEMINIS},
    ]},
    "litellm": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "sun", "arguments": '{"k":1}'},
         "provider_specific_fields": {"thought_signature": GEMINIS}},
    ]},
    "openai-chat": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "sun", "arguments": '{"k":1}'},
         "extra_content": {"google": {"thought_signature": GEMINIS}}},
    ]},
    "vercel-ai": {"role": "assistant", "content": [
        {"type": "tool-call", "toolCallId": "a", "toolName": "sun", "input": {"k": 1},
         "providerOptions": {"google": {"thoughtSignature": GEMINIS}}},
    ]},
}  # fmt: skip


class TestCallsOfGemini:
    def test_other_arguments_have_none(self) -> None:
        made, _ = sent(
            "openai-chat",
            CALLS["openai-chat"],
            "gemini",
            edited('{"name":"sun","arguments":{"k":2}}'),
        )
        assert [*made["parts"][0]] == ["functionCall"]
