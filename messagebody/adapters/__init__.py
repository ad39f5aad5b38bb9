"""Message formats, read and written: a body is the hub between them, and each loss is reported.

`adapter(name)` gives the adapter of a format: `to_body`, `from_body`, `detect`, `iter_findings`.
`read_transcript` reads a conversation of any format to look at it.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face
from messagebody.adapters._base import (
    Adapter,
    Converted,
    Loss,
    LossKind,
    adapter,
    adapter_names,
    detect,
    each_adapter,
    evidence_of,
    left_behind,
    parameters_of,
    read_within,
    register,
    write,
)
from messagebody.adapters._places import is_withheld, withheld_among
from messagebody.adapters._transcripts import ChatMessage, Step, Transcript, read_transcript

__all__ = [
    "Adapter",
    "ChatMessage",
    "Converted",
    "Loss",
    "LossKind",
    "Step",
    "Transcript",
    "adapter",
    "adapter_names",
    "detect",
    "each_adapter",
    "evidence_of",
    "is_withheld",
    "left_behind",
    "parameters_of",
    "read_transcript",
    "read_within",
    "register",
    "withheld_among",
    "write",
]

if not TYPE_CHECKING:  # a type checker must only see the names above
    __getattr__, _ = face(__name__, {})
