"""Reading messages that must be passed on or logged whatever state they are in."""

import json
from collections.abc import Mapping
from typing import Any

from messagebody import strict_json
from messagebody.envelopes.received import Message, check_depth, read
from messagebody.errors import EnvelopeError

__all__ = ["evidence", "read_leniently"]


_TEXT = (str, bytes, bytearray, memoryview)


def read_leniently(message: Message) -> tuple[dict[str, Any], str | None]:
    """Return what can be read of a message, and what is wrong with it as JSON, None if nothing.

    What breaks only the strict rules (repeated members, NaN, lone surrogates) is read as Python
    does; what is no JSON object, or nests too deep, as an empty one.
    """
    try:
        value, problem = read(message), None
    except strict_json.InvalidJson as error:
        value, problem = _lenient(message), error.problem
    if not isinstance(value, dict):
        return {}, problem or "it is no JSON object"
    return value, problem


def _lenient(message: Message) -> Any:
    try:
        value = json.loads(_text(message)) if isinstance(message, _TEXT) else _value(message)
        check_depth(value)
    except (EnvelopeError, ValueError, RecursionError):
        return {}
    return value


def _value(message: Any) -> Any:
    return dict(message) if isinstance(message, Mapping) else message


def _text(message: str | bytes | bytearray | memoryview) -> str:
    if isinstance(message, str):
        return message
    try:
        return bytes(message).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return bytes(message).decode("utf-8", "replace")


def evidence(message: Message) -> bytes:
    """Return a message as it came: its bytes, or for a Python value, JSON.

    Raises:
        EnvelopeError: it is a Python value that nests too deep, or has no JSON at all.
    """
    if isinstance(message, str):
        return message.encode("utf-8", "surrogatepass")
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message)
    value = _value(message)
    check_depth(value)
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise EnvelopeError(f"a message has no JSON: {error}") from error
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape
        return json.dumps(value).encode()
