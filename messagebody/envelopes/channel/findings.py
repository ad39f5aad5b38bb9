"""What in a chat breaks the contract."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from messagebody._text import escape
from messagebody.envelopes import php
from messagebody.envelopes.base import raise_findings

__all__ = ["Finding", "is_valid", "iter_findings", "validate"]

SOURCES = frozenset({"channel", "bridge", "rest", "block", "peer-agent", "jsonrpc"})
_ROOM_KINDS = frozenset({"dm", "group", "channel"})
_CONTEXT_TEXTS = (
    "external_provider", "external_conversation_id", "external_message_id", "sender_id",
    "connector_id",
)  # fmt: skip


@attrs.frozen
class Finding:
    """Say what in a chat breaks the contract, and where.

    Arguments:
        where: the member, such as "client_context.source"; empty for the whole chat.
        why: one clause; for a person.
    """

    where: str
    why: str

    def __str__(self) -> str:
        return f"{escape(self.where, limit=200)}: {self.why}" if self.where else self.why


def iter_findings(chat: Any) -> Iterator[Finding]:
    """Yield what in chat input or chat output breaks the contract.

    Examples:
        >>> for finding in iter_findings({"agent": "demo", "message": " ", "attachments": {}}):
        ...     print(finding)
        message: it is blank; the reference refuses a chat without text
        attachments: it is a list
    """
    if not isinstance(chat, dict):
        yield Finding("", "a chat is an object with a message, or with a reply")
        return
    problem = php.find_unencodable(chat)
    if problem is not None:
        yield Finding("", f"a chat is JSON: {problem}")
    is_output = "message" not in chat and not {"reply", "messages", "response"}.isdisjoint(chat)
    yield from _output_findings(chat) if is_output else _input_findings(chat)


def is_valid(chat: Any) -> bool:
    """Tell whether chat input or chat output keeps the contract."""
    return next(iter_findings(chat), None) is None


def validate(chat: Any) -> None:
    """Check that chat input or chat output keeps the contract.

    Raises:
        EnvelopeError: it doesn't; holds all findings.
    """
    raise_findings(iter_findings(chat))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_null(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) or value == []  # PHP writes an empty object as []


Rule = tuple[str, bool, Callable[[Any], bool], str]
_INPUT: tuple[Rule, ...] = (
    ("agent", True, _is_text, "it is text"),
    ("message", True, _is_text, "it is text"),
    ("session_id", False, _is_text_or_null, "it is text or null"),
    ("run_id", False, _is_text_or_null, "it is text or null"),
    ("attachments", False, _is_list, "it is a list"),
    ("client_context", False, _is_object, "it is an object"),
)
_OUTPUT: tuple[Rule, ...] = (
    ("session_id", True, _is_text, "it is text"),
    ("reply", True, _is_text, "it is text, whatever messages hold"),
    ("messages", False, _is_list, "it is a list"),
    ("completed", False, lambda value: isinstance(value, bool), "it is true or false"),
    ("metadata", False, _is_object, "it is an object"),
)
_CONTEXT: tuple[Rule, ...] = (
    ("source", False, lambda value: value in SOURCES, f"it is one of {', '.join(sorted(SOURCES))}"),
    ("client_name", False, _is_text, "it is text"),
    *((name, False, _is_text_or_null, "it is text or null") for name in _CONTEXT_TEXTS),
    (
        "room_kind",
        False,
        lambda value: value is None or value in _ROOM_KINDS,
        "it is dm, group, channel or null",
    ),
)


def _broken(members: dict[str, Any], rules: tuple[Rule, ...], place: str = "") -> Iterator[Finding]:
    for name, required, test, why in rules:
        if name not in members:
            if required:
                yield Finding(place + name, f"it is missing; {why}")
        elif not _passes(test, members[name]):
            yield Finding(place + name, why)


def _passes(test: Callable[[Any], bool], value: Any) -> bool:
    try:
        return test(value)
    except TypeError:  # a list is in no set
        return False


def _input_findings(chat: dict[str, Any]) -> Iterator[Finding]:
    message = chat.get("message")
    if isinstance(message, str) and not php.trim(message):
        yield Finding("message", "it is blank; the reference refuses a chat without text")
    yield from _broken(chat, _INPUT)
    context = chat.get("client_context")
    if isinstance(context, dict):
        yield from _broken(context, _CONTEXT, "client_context.")


def _output_findings(chat: dict[str, Any]) -> Iterator[Finding]:
    yield from _broken(chat, _OUTPUT)
    messages = chat.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        if not isinstance(message, dict):
            yield Finding(f"messages[{index}]", "it is an object with role and content")
    if "reply" not in chat and "response" in chat:
        yield Finding("response", "the reference does not read it; write reply")
