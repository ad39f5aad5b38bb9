"""The canonical envelope of any message row, by the rules of the reference implementation.

A row is a typed envelope or a plain message with role, content and metadata. There are two forms of
output with the same meaning. The canonical form writes an empty payload or metadata as `{}` and
leaves everything else as it came. The php_compatible form writes `[]` and lists as PHP does, which
has only one kind of array.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from messagebody.envelopes import _php as php
from messagebody.errors import EnvelopeError

Envelope = dict[str, Any]

SCHEMA = "agents-api.message"
VERSION = 1
TYPES = (
    "text", "tool_call", "tool_result", "input_required", "approval_required", "final_result",
    "error", "delta", "multimodal_part",
)  # fmt: skip
MESSAGE_KEYS = (
    "schema", "version", "type", "role", "content", "payload", "metadata",
    "id", "created_at", "updated_at",
)  # fmt: skip
PAYLOAD_KEYS = {
    "tool_call": ("tool_name", "parameters", "turn"),
    "tool_result": ("tool_name", "success", "turn", "tool_data", "media", "error"),
}

_TYPES = frozenset(TYPES)
_TOOL_TYPES = frozenset({"tool_result", "input_required", "approval_required"})
# The beginning of a text that PHP reads when it casts the text to an integer.
_NUMBER = re.compile(r"[ \t\n\r\v\f]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


def normalize(row: Any, *, php_compatible: bool = False) -> Envelope:
    """Return the canonical envelope of a message row.

    Nested values are shared with the row, not copied, unless php_compatible.

    Arguments:
        row: a typed envelope, or a plain message with role, content and metadata.
        php_compatible: write empty maps as `[]`, maps with the keys 0 to n as lists and integers
            past 64 bits as floats, as PHP does; texts that are not valid Unicode are accepted.

    Raises:
        EnvelopeError: the row is not a message, with the reference's text.

    Examples:
        >>> normalize({"role": "user", "content": "Hello!"})["type"]
        'text'
        >>> normalize({"version": 2, "type": "text", "payload": {}})
        Traceback (most recent call last):
            ...
        messagebody.errors.EnvelopeError: invalid_ai_message_envelope: unsupported version
    """
    message = as_message(row, "WP_Agent_Message::normalize(): Argument #1 ($message)")
    if php_compatible:
        message = php.as_map(php.to_array(message))
    metadata = _array(message, "metadata")
    if is_envelope(message):
        type_, payload = _typed(message)
    else:
        type_ = plain_type(message.get("content"), metadata)
        keyed = metadata if isinstance(metadata, dict) else {}
        payload = {key: keyed[key] for key in PAYLOAD_KEYS.get(type_, ()) if key in keyed}
    role, content = message.get("role"), message.get("content")
    if role is None:
        role = "tool" if type_ in _TOOL_TYPES else "assistant"
    envelope = build_envelope(role, "" if content is None else content, type_, payload, metadata)
    envelope.update(kept_text_fields(message))
    if php_compatible:
        for key in ("payload", "metadata"):
            envelope[key] = envelope[key] or []
    return check_encodable(envelope, php_compatible=php_compatible)


def _typed(message: dict[str, Any]) -> tuple[str, Any]:
    """Return the type and the payload of a typed envelope."""
    if not is_supported_version(message["version"]):
        raise EnvelopeError("invalid_ai_message_envelope: unsupported version")
    type_ = message["type"]
    if not isinstance(type_, str) or type_ not in _TYPES:
        raise EnvelopeError("invalid_ai_message_envelope: unsupported type")
    # `data` is what a first draft of the format called `payload`.
    return type_, _array(message, "payload") or _array(message, "data")


def _array(message: dict[str, Any], key: str) -> Any:
    value = message.get(key)
    return value if php.is_array(value) else {}


def normalize_many(rows: Any, *, php_compatible: bool = False) -> list[Envelope]:
    """Return the canonical envelopes of a list of message rows.

    Arguments:
        rows: a list of rows, or a map of them, whose keys are dropped.
        php_compatible: see `normalize`; the errors then name no row, as the reference's do.

    Raises:
        EnvelopeError: an element is not a message.
    """
    return normalize_each(rows, "normalize_many", normalize, php_compatible=php_compatible)


def normalize_each(
    rows: Any, name: str, function: Callable[..., Envelope], *, php_compatible: bool
) -> list[Envelope]:
    """Apply a function to every row; an error names its row."""
    argument = f"WP_Agent_Message::{name}(): Argument #1 ($messages)"
    done = []
    for key, row in as_message(rows, argument).items():
        try:
            if not php.is_array(row):
                raise EnvelopeError("invalid_ai_message_envelope: message must be an array")
            done.append(function(row, php_compatible=php_compatible))
        except EnvelopeError as error:
            if php_compatible:
                raise
            raise EnvelopeError(f"messages[{php.key_text(key)}]: {error.problem}") from error
    return done


def message_type(row: Any) -> str:
    """Return the type of a message row, one of nine.

    Raises:
        EnvelopeError: the row is not a message.

    Examples:
        >>> message_type({"content": "boom", "metadata": {"error": "timeout"}})
        'error'
    """
    return str(normalize(row, php_compatible=True)["type"])


def as_message(row: Any, argument: str) -> dict[str, Any]:
    """Return a row as a map.

    Raises:
        EnvelopeError: it is not a PHP array; the text is that of PHP's type error.
    """
    if isinstance(row, Mapping) and not isinstance(row, dict):
        row = dict(row)
    if not php.is_array(row):
        got = php.type_name(row)
        raise EnvelopeError(f"AgentsAPI\\AI\\{argument} must be of type array, {got} given")
    return php.as_map(row)


def is_envelope(message: dict[str, Any]) -> bool:
    """Return whether a row is a typed envelope; anything else is a plain message."""
    if message.get("version") is None or message.get("type") is None:
        return False
    # A schema must be stated, but as in the reference its value is never checked.
    return message.get("schema") is not None or "payload" in message or "data" in message


def is_supported_version(version: Any) -> bool:
    """Return whether PHP casts an int or text to the integer 1.

    Examples:
        >>> [is_supported_version(v) for v in (1, " 1", "1.9", "1abc", "1e0", 1.0, True, "v1")]
        [True, True, True, True, True, False, False, False]
    """
    if isinstance(version, bytes):
        # PHP's strings are bytes, and each byte is a Latin-1 character.
        version = version.decode("latin-1")
    if isinstance(version, str):
        # PHP casts "1abc" and "1.9" to 1 and accepts them, and so do we.
        number = _NUMBER.match(version)
        return number is not None and 1 <= float(number[1]) < 2
    return isinstance(version, int) and not isinstance(version, bool) and version == VERSION


def plain_type(content: Any, metadata: Any) -> str:
    """Return the type of a plain message, which follows from its metadata and content."""
    keyed = metadata if isinstance(metadata, dict) else {}
    stated = keyed.get("type")
    if isinstance(stated, str) and stated in _TYPES:
        return stated
    if stated == "multimodal" or php.is_array(content):
        return "multimodal_part"
    return "text" if keyed.get("error") is None else "error"


def build_envelope(role: Any, content: Any, type_: Any, payload: Any, metadata: Any) -> Envelope:
    """Return an envelope of checked fields, in the canonical order.

    Raises:
        EnvelopeError: role or content is invalid.
    """
    if not isinstance(role, str | bytes) or not role:
        raise EnvelopeError("invalid_ai_message_envelope: role must be a non-empty string")
    if not isinstance(content, str | bytes) and not php.is_array(content):
        raise EnvelopeError("invalid_ai_message_envelope: content must be a string or array")
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "type": type_,
        "role": role,
        "content": content,
        "payload": payload or {},
        "metadata": metadata or {},
    }


def check_encodable(envelope: Envelope, *, php_compatible: bool) -> Envelope:
    """Return an envelope if it can be written as JSON.

    Raises:
        EnvelopeError: it can't; in the canonical form, the text has the reason.
    """
    problem = php.find_unencodable(envelope, binary=php_compatible)
    if problem is not None:
        why = "" if php_compatible else f" ({problem})"
        raise EnvelopeError(f"invalid_ai_message_envelope: envelope must be JSON serializable{why}")
    return envelope


def kept_text_fields(message: dict[str, Any]) -> dict[str, str | bytes]:
    """Return the optional fields that an envelope keeps: those that are non-empty text."""
    return {
        key: value
        for key in ("id", "created_at", "updated_at")
        if isinstance(value := message.get(key), str | bytes) and value
    }
