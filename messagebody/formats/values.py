"""JSON values of what users hold: JSON text, parsed JSON, and the objects of many SDKs.

No SDK is imported: an object is taken by what it offers.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from messagebody._text import quote
from messagebody.errors import DecodeError, EnvelopeError
from messagebody.limits import Limits
from messagebody.wire import base64, strict_json


def json_value(message: Any, is_message: Callable[[Any], bool], limits: Limits) -> Any:
    """Return a message as parsed JSON.

    Arguments:
        message: JSON as text or bytes, parsed JSON, or an object of an SDK.
        is_message: tells whether text is a message in JSON; other text is what a message says.
        limits: what to take before refusing.

    Raises:
        DecodeError: it is not JSON.
        EnvelopeError: it is an object that gives no JSON.
    """
    if isinstance(message, bytes | bytearray | memoryview):
        return _parsed(bytes(message), limits)
    if isinstance(message, str):
        if message.lstrip()[:1] in ("{", "["):
            try:
                value = strict_json.loads(message, depth=limits.depth)
            except strict_json.InvalidJson:
                pass  # a text that only begins like JSON
            else:
                return value if is_message(value) else _checked(message, limits)
        return _checked(message, limits)
    return _checked(message, limits)


def _parsed(data: bytes, limits: Limits) -> Any:
    if len(data) > limits.json_bytes:
        raise DecodeError(f"the message has more than {limits.json_bytes:,} bytes")
    try:
        return strict_json.loads(data, depth=limits.depth)
    except strict_json.InvalidJson as error:
        raise DecodeError(f"the message is not JSON: {error}") from error


def _checked(value: Any, limits: Limits) -> Any:
    try:
        strict_json.check_value(value, depth=limits.depth)
    except strict_json.InvalidJson:
        value = _dumped(value, limits.depth)
    else:
        return value
    try:
        strict_json.check_value(value, depth=limits.depth)
    except strict_json.InvalidJson as error:
        place = "".join(f"/{step}" for step in error.path)
        raise DecodeError(f"the message is not JSON: {quote(place)}: {error}") from error
    return value


def _dumped(value: Any, depth: int) -> Any:
    """Return a value whose objects are replaced by what they say of themselves as JSON."""
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
            return _dumped(dump(value), depth - 1)
    raise EnvelopeError(f"a message is JSON, or an object that gives JSON, got {quote(value)}")


def _has(name: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and callable(getattr(value, name, None))


def _of_protobuf(message: Any) -> Any:
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(message)


_OBJECTS: Final[list[tuple[Callable[[Any], bool], Callable[[Any], Any]]]] = [
    # pydantic: the names that the wire has, and no member that nobody set
    (
        _has("model_dump"),
        lambda value: value.model_dump(mode="json", by_alias=True, exclude_none=True),
    ),
    (lambda value: hasattr(type(value), "DESCRIPTOR"), _of_protobuf),
    (_has("to_dict"), lambda value: value.to_dict()),
    (
        lambda value: dataclasses.is_dataclass(value) and not isinstance(value, type),
        lambda value: {
            field.name: getattr(value, field.name) for field in dataclasses.fields(value)
        },
    ),
]
"""How to know objects that give JSON, and how they give it."""
