"""Logs: lines of JSON and server-sent events, some of which may be broken.

The events of one message are made into that message.
"""

from typing import Any, NamedTuple

import attrs

from messagebody._core import Limits, MessageBody, strict_json
from messagebody.adapters._contract import Converted
from messagebody.adapters._vocabulary.values import SENT_END, SENT_FIELDS
from messagebody.errors import MessageBodyError


@attrs.frozen
class Broken:
    """A line that is not JSON.

    Arguments:
        text: the line.
        problem: what is wrong with it.
    """

    text: str
    problem: str


def is_sent(data: bytes) -> bool:
    """Return whether some bytes begin as server-sent events do."""
    return data.lstrip().startswith(SENT_FIELDS)


def values_of_lines(data: bytes, limits: Limits) -> list[Any] | None:
    """Return the values of lines of JSON or of server-sent events; None if it is something else.

    A line that is not JSON is `Broken`: what wrote the log may have stopped in the middle of it.
    """
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    are_sent = bool(lines) and all(line.startswith(SENT_FIELDS) for _, line in lines)
    if are_sent:
        events = [(number, line[5:].strip()) for number, line in lines if line.startswith(b"data:")]
        lines = [(number, line) for number, line in events if line != SENT_END]
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


class Streamed(NamedTuple):
    """The message of a stream.

    Arguments:
        format: its format.
        made: the body and the rest.
        ending: how it ended, if otherwise than usual.
        unknown: how many events have a type that the format does not have.
    """

    format: str
    made: Converted[MessageBody]
    ending: str | None
    unknown: int


def stream_in(events: list[Any], format_name: str | None, limits: Limits) -> Streamed | None:
    """Return the message of a stream's events; None if they are no stream.

    Arguments:
        events: parsed JSON.
        format_name: the format; None if it is to be found.
        limits: what to take before refusing.
    """
    # Streams are seldom logged, and their readers take long to load.
    from messagebody.adapters.streams import stream_names

    if not events or not all(isinstance(each, dict) for each in events):
        return None
    names = stream_names() if format_name is None else {format_name}.intersection(stream_names())
    found = [each for name in names if (each := _assembled(events, name, limits)) is not None]
    if not found:
        return None
    return min(found, key=lambda each: each.unknown)


def _assembled(events: list[Any], name: str, limits: Limits) -> Streamed | None:
    """Return the message of events, None if they are of another format."""
    from messagebody.adapters.streams import Assembler

    assembler = Assembler(name, limits=limits)
    try:
        for number, event in enumerate(events):
            assembler.feed(event)
            # Services add new events, but no stream begins with one.
            if len(assembler.unknown) > number:
                return None
        made = assembler.finish()
        # The accumulator of one format takes what it does not need, such as whole answers. An
        # answer that the service refused says so, and nothing else.
        if not len(made.value) and assembler.ending is None:
            return None
        return Streamed(name, made, assembler.ending, len(assembler.unknown))
    except MessageBodyError:
        return None
