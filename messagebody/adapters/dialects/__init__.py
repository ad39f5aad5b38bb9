"""What the format of another package is written with: its dialect, kinds of block, and items.

A format is a subclass of `Format` that splits a message into blocks, reads each block as an item,
and writes an item as a block. Names, types, places, losses and `rest` are the same for all formats.
"""

from messagebody.adapters._capabilities import IMAGES, Kind
from messagebody.adapters._core import Format
from messagebody.adapters._dialect import Dialect, Misplaced, need, optional, some
from messagebody.adapters._items import (
    Call,
    Code,
    Item,
    Media,
    Reasoning,
    Refusal,
    Result,
    Text,
    arguments_object,
    arguments_of,
    arguments_text,
    call_id,
)

__all__ = [
    "IMAGES",
    "Call",
    "Code",
    "Dialect",
    "Format",
    "Item",
    "Kind",
    "Media",
    "Misplaced",
    "Reasoning",
    "Refusal",
    "Result",
    "Text",
    "arguments_object",
    "arguments_of",
    "arguments_text",
    "call_id",
    "need",
    "optional",
    "some",
]
