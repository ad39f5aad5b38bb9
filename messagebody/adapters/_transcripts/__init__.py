"""Transcripts: conversations of any format, message by message, for those who look at them.

A converter refuses what it can't read. A reader of a run goes on and says what was wrong, because
people look at runs that failed. `exchanges` finds the messages in what was logged, `reading` reads
them, `message_facts` finds what their blocks state beside the content.
"""

from messagebody.adapters._transcripts.logs import Broken, is_sent, stream_in, values_of_lines
from messagebody.adapters._transcripts.reading import holds_messages, read_transcript
from messagebody.adapters._transcripts.values import ChatMessage, Step, Transcript

__all__ = [
    "Broken",
    "ChatMessage",
    "Step",
    "Transcript",
    "holds_messages",
    "is_sent",
    "read_transcript",
    "stream_in",
    "values_of_lines",
]
