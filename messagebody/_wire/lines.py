"""Lines of a log: the members of a line's object, each as JSON, so that one can be replaced."""

import codecs
from collections.abc import Mapping
from typing import Final

import msgspec

from messagebody._base.limits import CHUNK
from messagebody._wire import strict_json

_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def split_object(line: bytes, *, depth: int) -> dict[str, bytes] | None:
    """Return the members of an object in JSON, each as JSON; None if it is another value.

    The values are not read: that they are JSON in UTF-8 is all that is known of them.

    Arguments:
        line: the document, without white space around it.
        depth: the most levels of nesting, where a line is read to find its flaw.

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
        if _is_all(found, line) and (line.isascii() or _is_utf8(line)):
            return found
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        pass  # the strict reader knows the place of the flaw
    value = strict_json.loads(line, depth=depth)
    return {key: strict_json.dumps(each).encode() for key, each in value.items()}


def _is_all(found: Mapping[str, bytes], line: bytes) -> bool:
    """Return whether an object has just these members: a parser keeps the last of two equal ones.

    A member that was lost has its name, two quotes, a colon, a comma and a value. So the line is
    longer by that than the shortest spelling of what is left, and has one more colon.
    """
    names = "".join(found)
    values = found.values()
    shortest = 1 + len(names.encode()) + 4 * len(found) + sum(map(len, values))
    if len(line) - shortest < 5 + min(map(len, found), default=0):
        return True
    colons = len(found) + names.count(":") + sum([value.count(b":") for value in values])
    # A name without colons has none in another spelling either.
    return line.count(b":") == colons and (":" not in names or b"\\u003" not in line)


def _is_utf8(line: bytes) -> bool:
    """Return whether a line is UTF-8, without making all of its text."""
    view, at = memoryview(line), 0
    try:
        while at < len(line):
            at += codecs.utf_8_decode(view[at : at + CHUNK], "strict", at + CHUNK >= len(line))[1]
    except UnicodeDecodeError:
        return False
    return True


def join_object(members: Mapping[str, bytes]) -> bytes:
    """Return an object in JSON, given its members as JSON each.

    Examples:
        >>> join_object({"id": b"7", "body": b"[]"})
        b'{"id":7,"body":[]}'
    """
    written = (strict_json.dumps(key).encode() + b":" + item for key, item in members.items())
    return b"{" + b",".join(written) + b"}"
