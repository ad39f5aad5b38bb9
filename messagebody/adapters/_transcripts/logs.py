"""Logs: lines of JSON and server-sent events, some of which may be broken."""

from typing import Any, Final

import attrs

from messagebody._core import Limits, strict_json

_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
"""The beginnings of the lines of server-sent events."""
_END: Final = b"[DONE]"


@attrs.frozen
class Broken:
    """A line that is not JSON.

    Arguments:
        text: the line.
        problem: what is wrong with it.
    """

    text: str
    problem: str


def values_of_lines(data: bytes, limits: Limits) -> list[Any] | None:
    """Return the values of lines of JSON or of server-sent events; None if it is something else.

    A line that is not JSON is `Broken`: what wrote the log may have stopped in the middle of it.
    """
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    are_sent = bool(lines) and all(line.startswith(_FIELDS) for _, line in lines)
    if are_sent:
        events = [(number, line[5:].strip()) for number, line in lines if line.startswith(b"data:")]
        lines = [(number, line) for number, line in events if line != _END]
    values = [_value(number, line, limits) for number, line in lines]
    held = [each for each in values if isinstance(each, dict | list)]
    # One line alone is a document, and one event may be a whole answer.
    least = 1 if are_sent else 2
    return values if len(values) >= least and 2 * len(held) >= len(values) else None


def _value(number: int, line: bytes, limits: Limits) -> Any:
    try:
        return strict_json.loads(line, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        return Broken(line.decode("utf-8", "replace"), f"line {number}: {error}")
