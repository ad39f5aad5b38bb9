"""Message formats, read and written: a body is the hub between them, and each loss is reported.

`adapter(name)` gives the adapter of a format: `to_body`, `from_body`, `detect`, `iter_findings`.
`read_transcript` reads a conversation of any format to look at it.
"""

from typing import TYPE_CHECKING

from messagebody._core import face
from messagebody.adapters._contract import (
    Adapter,
    Archive,
    Converted,
    Envelope,
    Loss,
    LossKind,
    MessageFormat,
    converted_each,
    left_behind,
)
from messagebody.adapters._registry import (
    adapter,
    adapter_names,
    detect,
    each_adapter,
    evidence_of,
    meant_by,
    read_within,
    register,
    write,
)
from messagebody.adapters._transcripts import ChatMessage, Step, Transcript, read_transcript
from messagebody.adapters._vocabulary.places import is_withheld, withheld_among

__all__ = [
    "Adapter",
    "Archive",
    "ChatMessage",
    "Converted",
    "Envelope",
    "Loss",
    "LossKind",
    "MessageFormat",
    "Step",
    "Transcript",
    "adapter",
    "adapter_names",
    "converted_each",
    "detect",
    "each_adapter",
    "evidence_of",
    "is_withheld",
    "left_behind",
    "meant_by",
    "read_transcript",
    "read_within",
    "register",
    "withheld_among",
    "write",
]

if not TYPE_CHECKING:  # a type checker must only see the names above
    __getattr__, _ = face(__name__, {})
