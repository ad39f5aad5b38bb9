"""What the format of another package is written with: its dialect, kinds of block, and items.

A format is a subclass of `Format` that splits a message into blocks, reads each block as an item,
and writes an item as a block. Names, types, places, losses and `rest` are the same for all formats.
"""

from typing import TYPE_CHECKING

from messagebody._core import face

if TYPE_CHECKING:
    from messagebody.adapters._conversation.matching import marked, rests_for
    from messagebody.adapters._conversation.messages import messages_of, refuse_conversation
    from messagebody.adapters._conversion.unread_members import is_missed
    from messagebody.adapters._format import Format
    from messagebody.adapters._vocabulary.capabilities import IMAGES, Kind
    from messagebody.adapters._vocabulary.dialect import Dialect, Misplaced, need, optional, some
    from messagebody.adapters._vocabulary.items import (
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
    from messagebody.adapters._vocabulary.values import check_length, one_of

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
    "check_length",
    "is_missed",
    "marked",
    "messages_of",
    "need",
    "one_of",
    "optional",
    "refuse_conversation",
    "rests_for",
    "some",
]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            ".._conversation.matching": "marked rests_for",
            ".._conversation.messages": "messages_of refuse_conversation",
            ".._conversion.unread_members": "is_missed",
            ".._format": "Format",
            ".._vocabulary.capabilities": "IMAGES Kind",
            ".._vocabulary.dialect": "Dialect Misplaced need optional some",
            ".._vocabulary.items": "Call Code Item Media Reasoning Refusal Result Text "
            "arguments_object arguments_of arguments_text call_id",
            ".._vocabulary.values": "check_length one_of",
        },
    )
