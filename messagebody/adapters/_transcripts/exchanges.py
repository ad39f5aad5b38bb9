"""Exchanges: requests to services, their answers and the states of agents, and what they hold."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from messagebody.adapters._conversation.messages import HOLDERS, answer_of, is_message
from messagebody.adapters._registry import detect

_STATES: Final = ("values", "channel_values")
"""Members of a state of LangGraph that hold its channels, one of which has the messages."""
_INSTRUCTIONS: Final = ("system", "instructions", "systemInstruction", "system_instruction")
"""Members of requests with what the system says before the first message."""
_CHOICES: Final = {"choices": "message", "candidates": "content"}
"""Members with several answers to one question, and the member of each that is the message."""
_ENDS: Final = frozenset({"finishReason", "finish_reason"})
_NO_ANSWER: Final = {"role": "model", "parts": []}
"""The message of an answer that was blocked: Gemini then has no content."""
_BLOCKED: Final = frozenset({"promptFeedback", "prompt_feedback"})


class GivenAnswer(NamedTuple):
    """One answer of a service.

    Arguments:
        message: its message.
        about: the members beside the message.
        name: what it is called, if there are several.
    """

    message: Any
    about: dict[str, Any]
    name: str | None = None


def channels_in(value: Any) -> tuple[Any, dict[str, Any]]:
    """Return the channels of a state of LangGraph, and what is beside them; else the value.

    Examples:
        >>> channels_in({"values": {"messages": []}, "next": []})
        ({'messages': []}, {'next': []})
    """
    beside: dict[str, Any] = {}
    for name in _STATES:
        if isinstance(value, dict) and isinstance(value.get(name), dict):
            beside |= {other: held for other, held in value.items() if other != name}
            value = value[name]
    return value, beside


def from_constructors(value: Any) -> Any:
    """Return a value without the calls of constructors that LangChain has written around it.

    Messages keep theirs: the name of its class is the only thing that tells who says one.
    """
    if isinstance(value, list):
        return [from_constructors(each) if isinstance(each, dict) else each for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("lc") == 1 and value.get("type") == "constructor" and not is_message(value):
        held = value.get("kwargs")
        return held if isinstance(held, dict) else value
    messages = value.get("messages")
    return (
        {**value, "messages": from_constructors(messages)} if isinstance(messages, list) else value
    )


def _may_hold(value: Any) -> bool:
    """Return whether a value may be a request: messages and their blocks are none."""
    return isinstance(value, dict) and "type" not in value and not is_message(value)


def with_message_list(value: Any) -> Any:
    """Return a request with a list of messages where it holds one message, or its text.

    Examples:
        >>> with_message_list({"model": "m", "input": "Hello"})
        {'model': 'm', 'input': [{'role': 'user', 'content': 'Hello'}]}
    """
    if not _may_hold(value):
        return value
    held = [name for name in HOLDERS if name in value]
    said = value[held[0]] if len(held) == 1 else None
    if isinstance(said, str):
        return {**value, held[0]: [_user_message(held[0], said)]}
    is_one = isinstance(said, dict) and (is_message(said) or "parts" in said)
    return {**value, held[0]: [said]} if is_one else value


def _user_message(holder: str, text: str) -> dict[str, Any]:
    if holder == "contents":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


def instructions_in(value: Any) -> tuple[Any, list[Any]]:
    """Return a request without the instructions of the system, and the instructions.

    Examples:
        >>> instructions_in({"system": "Be kind.", "messages": []})
        ({'messages': []}, ['Be kind.'])
    """
    if not _may_hold(value):
        return value, []
    if HOLDERS.isdisjoint(value) and value.get("object") != "response":
        return value, []
    told = {
        name: value[name]
        for name in _INSTRUCTIONS
        if value.get(name) and isinstance(value[name], str | list | dict)
    }
    return {name: held for name, held in value.items() if name not in told}, [*told.values()]


def format_of_request(value: Any) -> str | None:
    """Return the format whose requests have instructions like these, None if there are none."""
    if not isinstance(value, dict):
        return None
    system = value.get("system")
    if isinstance(system, list) and system and isinstance(system[0], dict):
        return "anthropic" if "type" in system[0] else "bedrock"
    if isinstance(system, str):
        return "anthropic"
    if "systemInstruction" in value or "system_instruction" in value:
        return "gemini"
    return "openai-responses" if "instructions" in value else None


def answers_in(value: Any) -> list[GivenAnswer]:
    """Return the answers in the whole answer of a service; none if the value is something else.

    What stands beside all answers is with the first.

    Examples:
        >>> no = {"message": {"role": "assistant", "content": "No"}, "finish_reason": "length"}
        >>> answers_in({"choices": [no], "model": "m"})[0].about
        {'model': 'm', 'finish_reason': 'length'}
    """
    if not isinstance(value, dict):
        return []
    found = answer_of(value)
    for member, name in _CHOICES.items():
        choices = value.get(member)
        if isinstance(choices, list) and _holds_answers(choices, name, found):
            beside = {key: held for key, held in value.items() if key != member}
            return [*_choices(choices, member, name, beside)]
    if found is None and not _BLOCKED.isdisjoint(value):
        return [GivenAnswer(_NO_ANSWER, value)]
    if found is None or not isinstance(found[1], dict) or detect(value):
        return []
    whole = re.split(r"\W", found[0])[0]
    return [GivenAnswer(found[1], {key: held for key, held in value.items() if key != whole})]


def _holds_answers(choices: list[Any], name: str, found: tuple[str, Any] | None) -> bool:
    said = [each.get(name) for each in choices if isinstance(each, dict)]
    # An answer of Gemini that was blocked has an end, and no content.
    is_blocked = name == "content" and any(
        isinstance(each, dict) and not _ENDS.isdisjoint(each) for each in choices
    )
    return found is not None and (any(isinstance(each, dict) for each in said) or is_blocked)


def _choices(
    choices: list[Any], member: str, name: str, beside: dict[str, Any]
) -> Iterator[GivenAnswer]:
    for number, choice in enumerate(choices):
        held = choice if isinstance(choice, dict) else {name: choice}
        about = {key: each for key, each in held.items() if key not in (name, "index")}
        message = held.get(name, _NO_ANSWER if member == "candidates" else None)
        called = f"{member}[{number}]" if len(choices) > 1 else None
        yield GivenAnswer(message, {**(beside if number == 0 else {}), **about}, called)


_ERRORS: Final = ("error", "RUN_ERROR")
"""The types of events that tell an error beside their type, and not in an object."""
_TOLD: Final = {"code": "code", "message": "message", "errorText": "message"}


def error_in(value: Any) -> Any:
    """Return the error of an answer that is nothing else, None if it is another value.

    Examples:
        >>> error_in({"type": "error", "error": {"message": "Overloaded"}})
        {'message': 'Overloaded'}
    """
    if not isinstance(value, dict):
        return None
    if value.get("type") in _ERRORS:
        told = {_TOLD[name]: value[name] for name in _TOLD if isinstance(value.get(name), str)}
        if "message" in told:
            return told
    if answer_of(value) is not None or is_message(value):
        return None
    error = value.get("error")
    holds_more = not HOLDERS.isdisjoint(value) or "output" in value
    return error if isinstance(error, dict | str) and error and not holds_more else None
