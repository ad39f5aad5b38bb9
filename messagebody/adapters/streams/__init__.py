"""Messages that still arrive, and bodies that are sent part by part.

`Assembler` builds a body from the stream of a format; `to_stream` sends a body in pieces, and
`part_lines` and `sse` whole parts.
"""

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    plain,
)
from messagebody.adapters.streams._assembler import (
    Assembler,
    detect_stream,
    register_stream,
    stream_names,
)
from messagebody.adapters.streams._lines import part_lines, sse
from messagebody.adapters.streams._patching import patch_events
from messagebody.adapters.streams._restreaming import arestream, restream
from messagebody.adapters.streams._sending import (
    Sent,
    positions,
    sent_events,
    stream_lines,
    stream_sse,
    to_stream,
)

__all__ = [
    "Accumulator",
    "AnotherMessage",
    "Assembler",
    "OutOfPlace",
    "Pieces",
    "Sent",
    "UnknownEvent",
    "arestream",
    "detect_stream",
    "member",
    "part_lines",
    "patch_events",
    "plain",
    "positions",
    "register_stream",
    "restream",
    "sent_events",
    "sse",
    "stream_lines",
    "stream_names",
    "stream_sse",
    "to_stream",
]
