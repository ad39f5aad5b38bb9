"""JSON values of users' messages: JSON text, parsed JSON, and the objects of many SDKs.

No SDK is imported: an object is recognised by its methods.
"""

import dataclasses
import datetime as dt
import decimal
import enum
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from messagebody._core import TEXT_PLAIN, Limits, base64, check_content_type, quote, strict_json
from messagebody.adapters._vocabulary.characters import is_half, whole, without_halves
from messagebody.errors import DecodeError, EnvelopeError

SENT_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
"""The beginnings of the lines of server-sent events, that of their data first."""
SENT_END: Final = b"[DONE]"
"""The last data of many streams, which is no event."""


def json_value(
    message: Any, is_message: Callable[[Any], bool], limits: Limits, *, halves: bool = False
) -> Any:
    """Return a message as parsed JSON.

    Arguments:
        message: JSON as text or bytes, parsed JSON, or an object of an SDK.
        is_message: tells whether a text is a message in JSON; any other text is the text of a
            message.
        limits: what to take before refusing.
        halves: whether a text may have half of a character, which stays in it.

    Raises:
        DecodeError: it is not JSON.
        EnvelopeError: it is an object that can't be turned into JSON.
    """
    if type(message) is dict:  # most are
        return _checked(message, limits, halves=halves)
    if isinstance(message, bytes | bytearray | memoryview):
        return _parsed(bytes(message), limits, halves=halves)
    if isinstance(message, str):
        check_length(message, limits)
        if message.lstrip()[:1] in ("{", "["):
            try:
                value = _parsed(message.encode("utf-8", "surrogatepass"), limits, halves=True)
            except DecodeError:
                pass  # a text that only begins like JSON
            else:
                is_one = is_message(value)
                return _checked(value if is_one else message, limits, halves=halves)
    return _checked(message, limits, halves=halves)


def check_length(text: str | bytes | bytearray | memoryview, limits: Limits) -> None:
    """Raise `DecodeError` if the JSON of a message is longer than the limits allow."""
    # A text has at least as many bytes as characters, which cost nothing to count.
    if len(text) > limits.json_bytes:
        raise DecodeError(f"the message has more than {limits.json_bytes:,} bytes")


def _parsed(data: str | bytes, limits: Limits, *, halves: bool = False) -> Any:
    check_length(data, limits)
    try:
        return strict_json.loads(data, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        problem = DecodeError(f"the message can't be read: {error}")
        if not halves or not is_half(problem):
            raise problem from error
    _parsed(without_halves(data), limits)
    return json.loads(data)


def _checked(value: Any, limits: Limits, *, halves: bool = False) -> Any:
    try:
        strict_json.check_value(value, depth=limits.depth)
    except strict_json.InvalidJson:
        value = _dumped(value, limits.depth)
    else:
        return value
    try:
        strict_json.check_value(whole(value) if halves else value, depth=limits.depth)
    except strict_json.InvalidJson as error:
        place = "".join(f"/{step}" for step in error.path)
        raise DecodeError(f"the message can't be read: {quote(place)}: {error}") from error
    return value


def _dumped(value: Any, depth: int) -> Any:
    """Return a value in which the JSON of each object replaces the object."""
    if depth < 0:
        raise DecodeError("the message is nested too deep (limit depth)")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.encode(bytes(value))
    if isinstance(value, dict):
        return {key: _dumped(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_dumped(item, depth - 1) for item in value]
    for is_it, dump in _OBJECTS:
        if is_it(value):
            return _dumped(_asked(dump, value), depth - 1)
    raise EnvelopeError(f"a message is JSON, or an object that gives JSON, got {quote(value)}")


def _asked(dump: Callable[[Any], Any], value: Any) -> Any:
    """Return what an object's own method gives; any exception of it becomes the cause of ours."""
    try:
        return dump(value)
    except Exception as error:
        raise EnvelopeError(f"{quote(value, limit=80)} gives no JSON: {quote(error)}") from error


def _has(name: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and callable(getattr(value, name, None))


def _of_protobuf(message: Any) -> Any:
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(message)


def _of_dataclass(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; for a private field, the property that shows it."""
    names = [field.name for field in dataclasses.fields(value)]
    public = [
        name[1:] if name.startswith("_") and hasattr(value, name[1:]) else name for name in names
    ]
    return {name: getattr(value, name) for name in public}


def _of_time(value: dt.datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


_OBJECTS: Final[list[tuple[Callable[[Any], bool], Callable[[Any], Any]]]] = [
    # pydantic: the names as in JSON, without members that were not set
    (
        _has("model_dump"),
        lambda value: value.model_dump(mode="json", by_alias=True, exclude_none=True),
    ),
    (lambda value: hasattr(type(value), "DESCRIPTOR"), _of_protobuf),
    (_has("to_dict"), lambda value: value.to_dict()),
    # pydantic's dataclasses
    (
        lambda value: hasattr(type(value), "__pydantic_serializer__"),
        lambda value: type(value).__pydantic_serializer__.to_python(value, mode="json"),
    ),
    (
        lambda value: dataclasses.is_dataclass(value) and not isinstance(value, type),
        _of_dataclass,
    ),
    (lambda value: isinstance(value, dt.datetime), _of_time),
    (lambda value: isinstance(value, decimal.Decimal), str),
    (lambda value: isinstance(value, enum.Enum), lambda value: value.value),
]
"""How to recognise objects that can be turned into JSON, and how to do it."""


def one_of(option: str, value: str, values: Sequence[str]) -> None:
    """Refuse a value that an option can't have."""
    if value not in values:
        listed = ", ".join(map(repr, values))
        raise EnvelopeError(f"{option} is one of {listed}, got {quote(value)}")


def check_text_type(kind: str) -> None:
    """Refuse a type that what somebody says can't have."""
    if kind != TEXT_PLAIN and not check_content_type(kind).lower().startswith("text/"):
        raise EnvelopeError(f"text is a type of text, such as text/markdown, got {quote(kind)}")
