"""Lines of a log: the members of a line's object, each as JSON, so that one can be replaced."""

from collections.abc import Mapping
from typing import Final

import msgspec

from messagebody._wire import strict_json

_LOST: Final = len('"":1,')
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def split_object(line: bytes, *, depth: int) -> dict[str, bytes] | None:
    """Return the members of an object in JSON, each as JSON; None if it is another value.

    The values are not read: that they are JSON is all that is known of them, see `check_utf8`.

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
        if _is_all(found, line):
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
    more = len(line) - (1 + len(names.encode()) + 4 * len(found) + sum(map(len, values)))
    if more < _LOST or more < _LOST + min(map(len, found)):
        return True
    colons = len(found) + names.count(":") + sum([value.count(b":") for value in values])
    # A name without colons has none in another spelling either.
    return line.count(b":") == colons and (":" not in names or b"\\u003" not in line)


def check_utf8(members: Mapping[str, bytes]) -> None:
    """Check that members of an object are UTF-8, which the parser does not.

    Raises:
        InvalidJson: they are not.
    """
    # Each begins and ends with an ASCII character, so together they are UTF-8 if each is.
    if not all(map(bytes.isascii, members.values())):
        together = b"".join(members.values())
        try:
            together.decode()
        except UnicodeDecodeError as error:
            problem = f"a member holds what is not UTF-8 (0x{together[error.start]:02x})"
            raise strict_json.InvalidJson(problem) from error


def join_object(members: Mapping[str, bytes]) -> bytes:
    """Return an object in JSON, given its members as JSON each.

    Examples:
        >>> join_object({"id": b"7", "body": b"[]"})
        b'{"id":7,"body":[]}'
    """
    written = (strict_json.dumps(key).encode() + b":" + item for key, item in members.items())
    return b"{" + b",".join(written) + b"}"
