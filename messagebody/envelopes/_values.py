"""Messages as JSON values: read strictly and within limits, looked into, and shown in errors."""

from collections.abc import Mapping
from typing import Any, Final

from messagebody._core import DEFAULT_LIMITS, Limits, Part, TooDeep, containers, quote, strict_json
from messagebody.adapters.dialects import check_length
from messagebody.errors import DecodeError, EnvelopeError
from messagebody.names import safe_name

Message = Mapping[str, Any] | str | bytes | bytearray | memoryview
"""A message as parsed JSON, or as the JSON text it came in."""

Problem = tuple[str, str, str]
"""The id of a check, a place, and what is wrong there."""

TEXT: Final = (str, bytes, bytearray, memoryview)
DEPTH: Final = DEFAULT_LIMITS.depth


def read(message: Any, *, depth: int = DEPTH) -> Any:
    """Return a message as a JSON value, parsed strictly if it is text.

    Raises:
        strict_json.InvalidJson: it repeats a member, holds NaN or a lone surrogate, is nested too
            deep, or is not JSON.
    """
    if isinstance(message, TEXT):
        return strict_json.loads(message, depth=depth)
    value = plain(message)
    strict_json.check_value(value, depth=depth)
    return value


def plain(message: Any) -> Any:
    """Return a message as a dict if it is another mapping, else itself."""
    return dict(message) if isinstance(message, Mapping) else message


def check_json(value: Any, what: str, *, depth: int = DEPTH) -> None:
    """Raise `EnvelopeError` if a Python value is not strict JSON; see `read_object`."""
    try:
        strict_json.check_value(value, depth=depth)
    except strict_json.InvalidJson as error:
        raise EnvelopeError(f"{what}: {error}") from error


def read_within(
    message: Any, what: str, limits: Limits = DEFAULT_LIMITS, depth: int = DEPTH
) -> Any:
    """Return a message as a value within limits; text is parsed strictly.

    Arguments:
        message: parsed JSON, or JSON text.
        what: the format's word for it, for the error.
        limits: what to take before refusing.
        depth: the levels of nesting to take.

    Raises:
        DecodeError: it has more bytes than the limits allow.
        EnvelopeError: the text is not strict JSON; it is nested too deep or has too many values.
    """
    try:
        if isinstance(message, TEXT):
            check_length(message, limits)
            return strict_json.loads(message, depth=depth, values=limits.values)
        value = plain(message)
        _check_size(value, what, limits, depth)
    except (strict_json.InvalidJson, TooDeep) as error:
        limit = " (limit depth)" if isinstance(error, TooDeep) else ""
        raise EnvelopeError(f"{what}: {error}{limit}") from error
    return value


def _check_size(value: Any, what: str, limits: Limits, depth: int) -> None:
    """Check a parsed message as its text is checked; its JSON is longer than its strings."""
    values = characters = 0
    for container in containers(value, depth=depth):
        values += len(container) or 1
        if values > limits.values:
            raise EnvelopeError(f"{what}: more than {limits.values:,} values (limit values)")
        items = container.values() if isinstance(container, dict) else container
        characters += sum([len(item) for item in items if isinstance(item, str)])
        if characters > limits.json_bytes:
            raise DecodeError(f"the message has more than {limits.json_bytes:,} bytes")


def read_object(
    message: Any, what: str, *, limits: Limits = DEFAULT_LIMITS, depth: int = DEPTH
) -> dict[str, Any]:
    """Return a message as a JSON object; see `read_within` for the arguments.

    Raises:
        EnvelopeError: it is not strict JSON, or not an object.
    """
    value = read_within(message, what, limits, depth)
    if not isinstance(message, TEXT):
        check_json(value, what, depth=depth)
    if isinstance(value, list):
        raise EnvelopeError(
            f"{what} is a JSON object, got an array of {len(value)}: convert each item by itself"
        )
    if not isinstance(value, dict):
        raise EnvelopeError(f"{what} is a JSON object, got {show(value)}")
    return value


def check_depth(value: Any) -> None:
    """Raise `EnvelopeError` if a value is nested too deep for a recursive writer; don't recurse."""
    try:
        # The walk itself raises the error.
        for _ in containers(value, depth=DEPTH):
            pass
    except TooDeep as error:
        raise EnvelopeError(str(error)) from error


def member(value: Any, *keys: str) -> Any:
    """Return a member of nested objects, None if it or an object on the way is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_of(value: Any, *keys: str) -> str:
    """Return a member of nested objects if it is text, else the empty text."""
    found = member(value, *keys)
    return found if isinstance(found, str) else ""


def list_in(value: Any, *keys: str) -> list[Any]:
    """Return a member of nested objects if it is a list, else the empty list."""
    found = member(value, *keys)
    return found if isinstance(found, list) else []


def objects_in(value: Any, *keys: str) -> list[dict[str, Any]]:
    """Return the objects in a list that is a member of nested objects."""
    return [each for each in list_in(value, *keys) if isinstance(each, dict)]


def show(value: Any) -> str:
    """Show a JSON value in an error: short and escaped."""
    if isinstance(value, str):
        return quote(value, limit=80)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 64 else "a large number"
    if isinstance(value, float):
        return repr(value)
    return "an object" if isinstance(value, Mapping) else "an array"


def json_part(value: Any, name: str | None = None) -> Part:
    """Return a part that holds a JSON value."""
    return Part(strict_json.dumps(value), name=name, content_type="application/json")


def numbered_name(directory: str, number: int, original: Any) -> str:
    """Return a legal name with a number for the n-th file of a kind, whatever its own name.

    Examples:
        >>> numbered_name("/attachments", 1, "plans/42 (new).md")
        '/attachments/1/42_new.md'
    """
    text = original if isinstance(original, str) else ""
    # A query is not part of a file's name, and may be a secret.
    if "://" in text:
        text = text.partition("?")[0].partition("#")[0]
    return safe_name(text, directory=f"{directory}/{number}")
