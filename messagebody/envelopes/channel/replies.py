"""What an agent answered: the texts to send on, or a refusal in the place of an answer."""

from typing import Any

import attrs

from messagebody.envelopes import php_values as php

__all__ = ["Refusal", "extract_replies", "result_of"]


@attrs.frozen
class Refusal:
    """Stand for an answer that there is none, and why; false.

    Arguments:
        code: for programs, such as "empty_message"; "silent_skip" is told to nobody.
        message: for people.
    """

    code: str
    message: str = ""

    def __bool__(self) -> bool:
        return False


def extract_replies(output: Any, *, lenient: bool = False) -> list[str]:
    """Return the texts of a chat output: `reply` if it says anything, else the assistant messages.

    Arguments:
        output: the chat output.
        lenient: read `response` where there is no `reply`; some runtimes write that.

    Examples:
        >>> extract_replies({"reply": " Hello! "})
        ['Hello!']
        >>> extract_replies({"messages": [{"role": "assistant", "content": "a"}, {"role": "tool"}]})
        ['a']
        >>> extract_replies({"response": "x"}), extract_replies({"response": "x"}, lenient=True)
        ([], ['x'])
    """
    members = output if isinstance(output, dict) else {}
    reply = php.optional_text(members.get("reply"))
    if reply is None and lenient:
        reply = php.optional_text(members.get("response"))
    if reply is not None:
        return [reply]
    messages = members.get("messages")
    if not php.is_array(messages):
        return []
    spoken = (
        php.optional_text(message.get("content"))
        for message in php.as_map(messages).values()
        if isinstance(message, dict) and message.get("role") == "assistant"
    )
    return [text for text in spoken if text is not None]


def result_of(answer: Any) -> dict[str, Any] | Refusal:
    """Return what a chat callable answered as chat output, or the refusal it amounts to."""
    if isinstance(answer, Refusal):
        return answer
    if php.is_array(answer):
        return php.string_keyed(answer)
    return Refusal(
        "chat_ability_invalid_result",
        "Chat ability returned an unexpected result type. "
        "Abilities must return an array or WP_Error.",
    )
