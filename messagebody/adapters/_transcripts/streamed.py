"""Streams: the events of one message that somebody has logged, made into that message."""

from typing import Any, NamedTuple

from messagebody._core import Limits, MessageBody
from messagebody.adapters._contract import Converted
from messagebody.errors import MessageBodyError


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
