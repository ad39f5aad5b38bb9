"""Messages that still arrive, and bodies that are sent part by part.

`Assembler` builds a body from the stream of a format; `part_lines` and `sse` send a body.
"""

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    plain,
)
from messagebody.adapters.streams._assembler import Assembler, register_stream, stream_names
from messagebody.adapters.streams._lines import part_lines, sse

__all__ = [
    "Accumulator",
    "Assembler",
    "OutOfPlace",
    "Pieces",
    "UnknownEvent",
    "member",
    "part_lines",
    "plain",
    "register_stream",
    "sse",
    "stream_names",
]
