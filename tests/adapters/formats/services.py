"""What services refuse in a conversation, by the rules of their documentation.

SDK types can't express these rules, so each is written here from what the service's documentation
asks of a request.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any


def broken(name: str, messages: list[Any]) -> list[str]:
    """Return the rules of a service that a conversation breaks."""
    return [*RULES[name](messages), *_spelled(name, messages)]


_TOOL = "[a-zA-Z0-9_-]{1,64}"
SPELLINGS = {
    "anthropic": ("[a-zA-Z0-9_-]{1,64}", _TOOL), "bedrock": ("[a-zA-Z0-9_.:-]{1,64}", _TOOL),
    "gemini": (".*", "[a-zA-Z0-9_.:-]{1,64}"), "openai-chat": (".{1,40}", _TOOL),
    "openai-responses": (".{1,64}", _TOOL),
}  # fmt: skip
"""What each service takes as the id of a call, and as the name of a tool."""


def _spelled(name: str, messages: list[Any]) -> Iterator[str]:
    """Check ids and names of tools; the blocks of tools that a provider runs have their own."""
    ids, tools = SPELLINGS[name]
    pending: list[Any] = [*messages]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        if not isinstance(value, dict):
            continue
        pending += [held for key, held in value.items() if key not in ("input", "args", "response")]
        for key in ("toolUseId", "tool_use_id", "call_id", "tool_call_id"):
            if key in value and not re.fullmatch(ids, value[key]):
                yield f"{key} {value[key]}"
        is_call = {"input", "args", "arguments"} & value.keys() and "name" in value
        if is_call and not re.fullmatch(tools, value["name"]):
            yield f"name {value['name']}"
        if value.get("type") in ("tool_use", "function") and not re.fullmatch(ids, value["id"]):
            yield f"id {value['id']}"


def _last_text(blocks: list[Any]) -> str:
    return str(blocks[-1].get("text", "")) if blocks else ""


def _alternating(messages: list[Any], roles: tuple[str, ...]) -> Iterator[str]:
    said = [message["role"] for message in messages]
    yield from (f"unknown role {role}" for role in said if role not in (*roles, "system"))
    twice = (first for first, second in itertools.pairwise(said) if first == second != "system")
    yield from (f"two messages of {role} in a row" for role in twice)


def _answers(turns: list[tuple[list[Any], list[Any]]]) -> Iterator[str]:
    """Check calls and results: each turn is the ids called in a message, and those answered."""
    waiting: list[Any] = []
    for number, (called, answered) in enumerate(turns):
        is_last = number == len(turns) - 1  # the others may still be answered
        if is_last and {*answered} < {*waiting} and answered:
            return
        if number and sorted(map(str, answered)) != sorted(map(str, waiting)):
            yield f"message {number}: called {waiting}, answered {answered}"
        elif not number and answered:
            yield "the first message answers a call"
        waiting = called


def anthropic(messages: list[Any]) -> Iterator[str]:
    """Messages API: roles alternate, results come first in the user's next message."""
    yield from _alternating(messages, ("user", "assistant"))
    turns = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            yield "a message without content"
        kinds = [block["type"] for block in blocks]
        results = [block for block in blocks if block["type"] == "tool_result"]
        if kinds[: len(results)] != ["tool_result"] * len(results):
            yield "results after other content"
        if results and message["role"] != "user":
            yield "results by the assistant"
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if calls and message["role"] != "assistant":
            yield "calls by the user"
        if any(not block["text"].strip() for block in blocks if block["type"] == "text"):
            yield "a blank text"
        is_last = message is messages[-1] and message["role"] == "assistant"
        if is_last and _last_text(blocks) != _last_text(blocks).rstrip():
            yield "a last text that ends in a space"
        if any("signature" not in block for block in blocks if block["type"] == "thinking"):
            yield "a thought without a signature"
        server = {block["id"] for block in blocks if block["type"] == "server_tool_use"}
        served = {
            block["tool_use_id"]
            for block in blocks
            if block["type"].endswith("_tool_result") and block["type"] != "tool_result"
        }
        if server - served:
            yield "a server tool without its result"
        turns.append((calls, [block["tool_use_id"] for block in results]))
    yield from _answers(turns)


def bedrock(messages: list[Any]) -> Iterator[str]:
    """Converse: roles alternate, the next message has a result for every call."""
    yield from _alternating(messages, ("user", "assistant"))
    turns = []
    for message in messages:
        blocks = message["content"]
        if not blocks:
            yield "a message without content"
        if any("text" in block and not block["text"].strip() for block in blocks):
            yield "a blank text"
        if any("document" in each for each in blocks) and not any(
            "text" in each for each in blocks
        ):
            yield "a document without a text"
        calls = [each["toolUse"]["toolUseId"] for each in blocks if "toolUse" in each]
        results = [each["toolResult"]["toolUseId"] for each in blocks if "toolResult" in each]
        if calls and message["role"] != "assistant":
            yield "calls by the user"
        if results and message["role"] != "user":
            yield "results by the assistant"
        turns.append((calls, results))
    yield from _answers(turns)


def gemini(messages: list[Any]) -> Iterator[str]:
    """generateContent: as many responses as calls, by name, in the content after them."""
    yield from _alternating(messages, ("user", "model"))
    waiting: list[str] = []
    for number, message in enumerate(messages):
        parts = message["parts"]
        if not parts:
            yield "a content without parts"
        calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        said = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        is_last = number == len(messages) - 1  # the others may still be answered
        if not (is_last and said) and sorted(said) != sorted(waiting):
            yield f"content {number}: called {waiting}, answered {said}"
        if calls and message["role"] != "model":
            yield "calls by the user"
        waiting = calls


def openai_chat(messages: list[Any]) -> Iterator[str]:
    """Chat Completions: tool messages follow the calls, before any other message."""
    waiting: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"message {number}: no call {message['tool_call_id']} waits"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"message {number}: calls {waiting} have no result"
        calls = message.get("tool_calls", [])
        waiting = [call["id"] for call in calls]
        is_said = any(message.get(key) is not None for key in ("content", "refusal", "audio"))
        if message["role"] == "assistant" and not (is_said or calls):
            yield f"message {number}: an assistant without content or calls"


def openai_responses(items: list[Any]) -> Iterator[str]:
    """Responses: every output has its call before it, every call its output before the user."""
    called: list[str] = []
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        if kind in {"function_call", "custom_tool_call"}:
            called.append(item["call_id"])
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            if item["call_id"] not in called:
                yield f"item {number}: no call {item['call_id']} waits"
            else:
                called.remove(item["call_id"])
        elif kind == "message" and called and item["role"] != "assistant":
            yield f"item {number}: calls {called} have no output"


RULES = {
    "anthropic": anthropic, "bedrock": bedrock, "gemini": gemini, "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}  # fmt: skip
