"""Lines of a log: the members of a line's object, each as JSON, so that one can be replaced."""

import json
from collections.abc import Mapping
from typing import Final

import msgspec

from messagebody._wire import strict_json

_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def split_object(line: bytes, *, depth: int) -> dict[str, bytes] | None:
    """Return the members of an object in JSON, each as JSON; None if it is another value.

    Arguments:
        line: the document, without white space around it.
        depth: the most levels of nesting.

    Raises:
        InvalidJson: the document breaks RFC 8259, or has a member twice.

    Examples:
        >>> split_object(b'{"id":7,"body":[]}', depth=10)
        {'id': b'7', 'body': b'[]'}
        >>> split_object(b"[]", depth=10) is None
        True
    """
    if not line.startswith(b"{"):
        return None
    try:
        found = {key: bytes(value) for key, value in _members.decode(line).items()}
    except (msgspec.MsgspecError, RecursionError):
        found = {}
    # The parser keeps the last of two equal members; writing the object again shows if it did.
    if line in (join_object(found), join_object(found, ", ", ": ")):
        return found
    value = strict_json.loads(line, depth=depth)
    return {key: strict_json.dumps(each).encode() for key, each in value.items()}


def join_object(members: Mapping[str, bytes], separator: str = ",", colon: str = ":") -> bytes:
    """Return an object in JSON, given its members as JSON each.

    Examples:
        >>> join_object({"id": b"7", "body": b"[]"})
        b'{"id":7,"body":[]}'
    """
    written = (
        json.dumps(key, ensure_ascii=False).encode() + colon.encode() + value
        for key, value in members.items()
    )
    return b"{" + separator.encode().join(written) + b"}"
