"""Conversations: lists of messages, told apart from lists of content, and what holds them."""

import re
from collections.abc import Callable
from typing import Any, Final

from messagebody.errors import EnvelopeError

USUAL: Final = "openai-chat"
"""What a role and a text are most often, where several formats have messages of just these."""
HOLDERS: Final = frozenset({"messages", "contents", "input", "conversation"})
"""Members that hold a conversation: of requests to services, of logs and of states of agents."""
_LANGCHAIN: Final = frozenset(
    {"human", "ai", "system", "tool", "function", "chat", "AIMessageChunk"}
)
_ITEM: Final = re.compile(
    "reasoning|compaction|item_reference|mcp_list_tools|additional_tools|tool_search_output"
    "|mcp_approval_(?:request|response)|[a-z_]+_call|[a-z_]+_call_output"
)
"""The types of the items of OpenAI's Responses that state no role."""


def messages_of(
    value: Any, is_one: Callable[[Any], bool] = lambda _: False, *, most: bool = False
) -> list[Any] | None:
    """Return the messages of a conversation; None if the value is not one.

    Arguments:
        value: parsed JSON: a list of messages, or an object that holds one, such as
            `{"messages": […]}`, or the `{"contents": […]}` of Gemini.
        is_one: whether a value is a message of a format that is asked for, beside those of ours.
        most: whether some items may be of kinds that nobody knows.

    Examples:
        >>> messages_of({"messages": [{"role": "user", "content": "Hello"}]})
        [{'role': 'user', 'content': 'Hello'}]
        >>> messages_of([{"type": "text", "text": "Hello"}])
    """
    if isinstance(value, dict) and not (is_message(value) or is_one(value)):
        held = [value[name] for name in HOLDERS if isinstance(value.get(name), list)]
        if held == [[]] and "type" not in value:
            return []  # nobody has said anything yet
        value = held[0] if len(held) == 1 else None
    if not isinstance(value, list):
        return None
    said = [is_message(each) or _is_answer(each) or is_one(each) for each in value]
    # Blocks of content have the types of some items, but none of them speaks or answers a call.
    known = [is_said or is_item(each) for is_said, each in zip(said, value, strict=True)]
    return value if any(said) and (all(known) or (most and are_most(known, value))) else None


def are_most(known: list[bool], items: list[Any]) -> bool:
    """Return whether items are objects or null, of which at most half are unknown."""
    # Services add kinds of items; one that nobody knows yet does not hide the others.
    return sum(known) * 2 >= len(items) and all(isinstance(each, dict | None) for each in items)


def others_of(value: Any) -> list[str]:
    """Return the names of the members beside the messages of a conversation."""
    if not isinstance(value, dict):
        return []
    return [str(name) for name in value if name not in HOLDERS]


def is_message(value: Any) -> bool:
    """Return whether a value is a message of any format, by the members that only messages have."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("role"), str):
        return True
    kind = value.get("type")
    if isinstance(kind, str) and kind in _LANGCHAIN:
        return "content" in value or "data" in value
    if is_constructor(value):
        return str(value["id"][-1]).endswith(("Message", "MessageChunk"))
    if value.get("kind") in ("request", "response") and "parts" in value:  # Pydantic AI
        return True
    update = value.get("update", value)  # of the Agent Client Protocol
    if isinstance(update, dict) and "sessionUpdate" in update:
        return True
    # A result of MCP, which states no role; blocks with a content have a type.
    return kind is None and isinstance(value.get("content"), list)


def is_constructor(value: Any) -> bool:
    """Return whether a value is an object as LangChain's `dumps` writes it, by its class."""
    if not isinstance(value, dict) or value.get("lc") != 1 or value.get("type") != "constructor":
        return False
    return isinstance(value.get("id"), list) and bool(value["id"]) and "kwargs" in value


def is_item(value: Any) -> bool:
    """Return whether a value is an item of OpenAI's Responses that states no role."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and _ITEM.fullmatch(kind) is not None


def _is_answer(value: Any) -> bool:
    return is_item(value) and value["type"].endswith("_call_output")


_ANSWERS: Final = {
    "choices": "choices[0].message", "candidates": "candidates[0]",
    "output.message": "output.message", "message": "message", "task": "task", "result": "result",
}  # fmt: skip
"""Members of whole answers of services, and the place of the message in each."""


def refuse_answer(value: Any) -> None:
    """Refuse the whole answer of a service where its message is expected, and name the message.

    Arguments:
        value: parsed JSON, such as `{"choices": […], "usage": …}`, or a list of whole answers.

    Raises:
        EnvelopeError: it is a whole answer.
    """
    answers = value if isinstance(value, list) else [value]
    places = [None if (found := answer_of(each)) is None else found[0] for each in answers]
    if not places or None in places:
        return
    if isinstance(value, list):
        raise EnvelopeError(
            "expected a message, got a list of whole answers of a service; give the "
            f"{places[0]} of one, or the events of a stream to an Assembler"
        )
    raise EnvelopeError(
        f"expected a message, got the whole answer of a service; give its {places[0]}"
    )


def answer_of(value: Any) -> tuple[str, Any] | None:
    """Return the place of the message in the whole answer of a service, and the message.

    Examples:
        >>> answer_of({"choices": [{"message": {"role": "assistant", "content": "Hi"}}]})
        ('choices[0].message', {'role': 'assistant', 'content': 'Hi'})
        >>> answer_of({"role": "assistant", "content": "Hi"})
    """
    if not isinstance(value, dict) or {"role", "content", "parts", "type", "kind"} & value.keys():
        return None
    for member, place in _ANSWERS.items():
        outer, _, inner = member.partition(".")
        held = value.get(outer)
        held = held.get(inner) if inner and isinstance(held, dict) else held
        held = held[0] if isinstance(held, list) and held else held
        if isinstance(held, dict):
            # The first choice or candidate holds its message in the member that the place names.
            last = place.rpartition("].")[2] if "[" in place else ""
            return place, held.get(last) if last else held
    return None


def refuse_conversation(
    messages: list[Any] | None, reader: str = "to_bodies(…) reads all of them"
) -> None:
    """Refuse a conversation where one message is expected: all but one would be lost.

    Arguments:
        messages: those of the conversation; None for what is none.
        reader: what reads conversations.

    Raises:
        EnvelopeError: it is a conversation.
    """
    if messages is not None:
        count = len(messages)
        held = f"a conversation of {count:,} messages" if count != 1 else "a list of one message"
        raise EnvelopeError(f"expected one message, got {held}; {reader}")
