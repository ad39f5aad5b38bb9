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
    @pytest.mark.parametrize("target", ["anthropic", "bedrock"])
    @pytest.mark.parametrize("source", THOUGHTS)
    def test_go_to_the_services_of_claude_with_their_signature(
        self, source: str, target: str
    ) -> None:
        made, losses = sent(source, answer(source), target)
        assert made["content"] == [THOUGHTS[target][0], ANSWERS[target]]
        assert not [loss for loss in losses if "signature" in loss or "reasoning" in loss]

    @pytest.mark.parametrize("source", THOUGHTS)
    def test_are_left_out_after_a_change(self, source: str) -> None:
        made, losses = sent(source, answer(source), "anthropic", edited("Other"))
        assert made["content"] == [ANSWERS["anthropic"]]
        assert any("/reasoning/1" in loss for loss in losses)

    @pytest.mark.parametrize(
        ("source", "thought"),
        [
            ("openai-chat", {"type": "reasoning.text", "text": "Th", "signature": GEMINIS,
                             "format": "google-gemini-v1"}),
            ("openai-chat", {"type": "reasoning.text", "text": "Th", "signature": GEMINIS}),
            ("vercel-ai", {"type": "reasoning", "text": "Th",
                           "providerOptions": {"google": {"thoughtSignature": GEMINIS}}}),
            ("pydantic-ai", {"part_kind": "thinking", "content": "Th", "signature": GEMINIS,
                             "provider_name": "google-gla"}),
            ("pydantic-ai", {"part_kind": "thinking", "content": "Th", "signature": GEMINIS}),
            ("bedrock", {"reasoningContent": {"reasoningText": {"text": "Th"}}}),
        ],
    )  # fmt: skip
    def test_of_others_are_left_out(self, source: str, thought: dict[str, Any]) -> None:
        made, losses = sent(source, answer(source, thought), "anthropic")
        assert made["content"] == [ANSWERS["anthropic"]]
        assert any("/reasoning/1" in loss for loss in losses)

    @pytest.mark.parametrize("member", [None, "", 7, ["a"]])
    def test_without_a_signature_that_is_text_are_left_out(self, member: Any) -> None:
        thought = {"type": "thinking", "thinking": "Th", "signature": member}
        made, _ = sent("anthropic", answer("anthropic", thought), "bedrock")
        assert made["content"][0] == {"reasoningContent": {"reasoningText": {"text": "Th"}}}
        thought = {"reasoningContent": {"reasoningText": {"text": "Th", "signature": member}}}
        made, _ = sent("bedrock", answer("bedrock", thought), "anthropic")
        assert made["content"] == [ANSWERS["anthropic"]]


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
    @pytest.mark.parametrize("source", CALLS)
    def test_go_to_its_service_with_their_signature(self, source: str) -> None:
        made, losses = sent(
            "openai-chat" if source == "litellm" else source, CALLS[source], "gemini"
        )
        assert (made["parts"], losses) == (CALLS["gemini"]["parts"], [])

    def test_other_arguments_have_none(self) -> None:
        made, _ = sent(
            "openai-chat",
            CALLS["openai-chat"],
            "gemini",
            edited('{"name":"sun","arguments":{"k":2}}'),
        )
        assert [*made["parts"][0]] == ["functionCall"]
