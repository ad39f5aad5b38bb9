"""Message formats, read and written: a body is the hub between them, and each loss is reported.

`adapter(name)` gives the adapter of a format: `to_body`, `from_body`, `detect`, `iter_findings`.
`read_transcript` reads a conversation of any format to look at it.
"""

from typing import TYPE_CHECKING

from messagebody._core import face

if TYPE_CHECKING:
    from messagebody.adapters._contract import (
        BODY,
        Adapter,
        Affected,
        Archive,
        Converted,
        Envelope,
        Loss,
        LossKind,
        converted_each,
        left_behind,
    )
    from messagebody.adapters._conversation.messages import refuse_answer
    from messagebody.adapters._conversion.references import WAYS
    from messagebody.adapters._documents import convert, formats_in, json_in
    from messagebody.adapters._format import Format, format_of, messages_in
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
    from messagebody.adapters._transcripts.logs import is_sent, values_of_lines
    from messagebody.adapters._transcripts.reading import holds_messages, read_transcript
    from messagebody.adapters._transcripts.values import ChatMessage, Step, Transcript
    from messagebody.adapters._vocabulary.part_names import (
        as_result,
        is_withheld,
        tool_of,
        withheld_among,
    )

__all__ = [
    "BODY",
    "WAYS",
    "Adapter",
    "Affected",
    "Archive",
    "ChatMessage",
    "Converted",
    "Envelope",
    "Format",
    "Loss",
    "LossKind",
    "Step",
    "Transcript",
    "adapter",
    "adapter_names",
    "as_result",
    "convert",
    "converted_each",
    "detect",
    "each_adapter",
    "evidence_of",
    "format_of",
    "formats_in",
    "holds_messages",
    "is_sent",
    "is_withheld",
    "json_in",
    "left_behind",
    "meant_by",
    "messages_in",
    "read_transcript",
    "read_within",
    "refuse_answer",
    "register",
    "tool_of",
    "values_of_lines",
    "withheld_among",
    "write",
]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._contract": "BODY Adapter Affected Archive Converted Envelope Loss LossKind "
            "converted_each left_behind",
            "._conversation.messages": "refuse_answer",
            "._conversion.references": "WAYS",
            "._documents": "convert formats_in json_in",
            "._format": "Format format_of messages_in",
            "._registry": "adapter adapter_names detect each_adapter evidence_of meant_by "
            "read_within register write",
            "._transcripts.logs": "is_sent values_of_lines",
            "._transcripts.reading": "holds_messages read_transcript",
            "._transcripts.values": "ChatMessage Step Transcript",
            "._vocabulary.part_names": "as_result is_withheld tool_of withheld_among",
        },
    )
