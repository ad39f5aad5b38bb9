"""Whole documents in another format: a message, a conversation, its lines, or a recorded stream."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, Limits, MessageBody, count_of, require_limits
from messagebody.adapters._contract import BODY, Archive, Converted, Loss, left_behind
from messagebody.adapters._conversation.messages import USUAL
from messagebody.adapters._format import Format, format_of, messages_in
from messagebody.adapters._registry import adapter, detect, read_within, write
from messagebody.adapters._transcripts.logs import (
    Broken,
    format_of_events,
    is_sent,
    stream_in,
    values_of_lines,
)
from messagebody.adapters._vocabulary.values import json_value
from messagebody.errors import DecodeError, EnvelopeError, MessageBodyError

_OWN: Final = "messagebody"
"""The format of the events of a body."""


def convert(
    data: Any,
    target: str = BODY,
    source: str | None = None,
    *,
    lines: bool = False,
    stream: bool = False,
    reading: Mapping[str, Any] | None = None,
    writing: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    called: str = "the document",
    on_note: Callable[[str], object] = lambda _: None,
) -> Converted[Any]:
    """Return a document in another format, whatever it holds.

    One message becomes a message or a body, and a conversation a list of messages. The recorded
    events of one answer are made into a message first; they are recognised, unless each of them may
    be a message of its own.

    Arguments:
        data: the document as text or bytes: JSON, lines of JSON, server-sent events, or an archive;
            or parsed JSON, or what an SDK makes of it.
        target: the format to write, "body" or that of an adapter.
        source: the format of the document; it is found if it is None.
        lines: read a message from each line, and return a list with what each line becomes.
        stream: read the events of one message, though they might be something else.
        reading: options of the format that is read.
        writing: options of the format that is written.
        limits: what to take before refusing.
        called: what errors call the document.
        on_note: is told of doubts about the format.

    Raises:
        EnvelopeError: the format is not known, or the document is not of it.
        DecodeError: it is not JSON, not a body, or it goes beyond a limit.

    Examples:
        >>> convert({"role": "user", "content": [{"text": "Hello!"}]}, "anthropic").value
        {'role': 'user', 'content': [{'type': 'text', 'text': 'Hello!'}]}
    """
    limits = require_limits(limits)
    if not isinstance(data, str | bytes | bytearray | memoryview):
        data = json.dumps(json_value(data, lambda _: True, limits, halves=True))
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    options = dict(reading or {}), dict(writing or {})
    how = _Recoding(target, source, *options, limits, called, on_note)
    if lines:
        return Converted(how.lines([*filter(bytes.strip, data.splitlines())]), how.losses)
    return Converted(how.document(data, is_stream=stream), how.losses)


def json_in(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Return the JSON value of a document, which may have half of a character; None if it is none.

    Examples:
        >>> json_in(b'{"role": "user"}'), json_in(b"Hello!")
        ({'role': 'user'}, None)
    """
    try:
        return json_value(data, lambda _: True, limits, halves=True)
    except DecodeError:
        return None


def formats_in(data: bytes, limits: Limits = DEFAULT_LIMITS) -> list[str]:
    """Return the names of all formats that a document looks like, "body" first.

    Examples:
        >>> formats_in(b'[{"content": "Hello!"}]')
        ['body']
    """
    return _ParsedOnce(data, limits).formats


@attrs.define(slots=False)
class _ParsedOnce:
    """A document, which is parsed once and only if somebody asks."""

    data: bytes
    limits: Limits

    @cached_property
    def value(self) -> Any:
        """Its JSON value, None if it is none."""
        return json_in(self.data, self.limits)

    @cached_property
    def formats(self) -> list[str]:
        """The names of all formats that it looks like, "body" first."""
        try:
            MessageBody.from_json(self.data, limits=self.limits)
        except DecodeError:
            return [*detect(self.data if self.value is None else self.value)]
        return [BODY, *detect(self.value)]


@attrs.define
class _Recoding:
    """The way of a document into another format; see `convert`."""

    target: str
    source: str | None
    reading: dict[str, Any]
    writing: dict[str, Any]
    limits: Limits
    called: str
    tell: Callable[[str], object]
    losses: list[Loss] = attrs.field(factory=list)
    writer: Format | None = attrs.field(init=False)
    """The format of the target, if messages have it."""

    def __attrs_post_init__(self) -> None:
        self.writer = None if self.target == BODY else format_of(self.target)

    def document(self, data: bytes, *, is_stream: bool) -> Any:
        """Return what a document becomes that may be a stream."""
        whole = _ParsedOnce(data, self.limits)
        streamed = self._streamed(whole, is_asked=is_stream)
        return self._whole(whole) if streamed is None else self._written(streamed)

    def _whole(self, document: _ParsedOnce) -> Any:
        """Return the message in another format, or all messages of a conversation as a list."""
        value = None if self.source == BODY else document.value
        messages = None if value is None else messages_in(value, self.source)
        if value == [] and self.source not in (None, BODY):
            messages = []  # a conversation before its first message, since a body is not meant
        if messages is None:
            return self._written(self._body(document, self.source))
        reader = format_of(self.source or self._speech(value, len(messages)))
        if reader is None or (isinstance(value, dict) and reader.is_turn(value)):
            return self._written(self._body(document, self.source))
        if self.writer is not None:
            return self._talk(document.data, reader, self.writer)
        if len(messages) == 1:
            one = _ParsedOnce(json.dumps(messages[0]).encode(), self.limits)
            return self._written(self._body(one, reader.name))
        raise EnvelopeError(
            f"{self.called} holds {_talk_of(len(messages))}, and target='{self.target}' takes one; "
            "convert it to a format of messages, or give lines=True and a message on each line"
        )

    def _talk(self, data: bytes, reader: Format, writer: Format) -> list[Any]:
        """Return the messages of a conversation in another format."""
        read = reader.to_bodies(data, limits=self.limits, **self.reading)
        made = writer.from_bodies(read.value, rest=read.rest, **self.writing)
        self.losses += (*read.losses, *made.losses)
        # In some formats a message is a list of items, and so is the whole conversation.
        parted = [each if isinstance(each, list) else [each] for each in made.value]
        return [item for each in parted for item in each]

    def _body(self, document: _ParsedOnce, source: str | None) -> Converted[MessageBody]:
        """Return the body of a message, with the rest of the message."""
        found = document.formats if source != BODY else []
        chosen = source or self._chosen(found)
        if chosen == BODY:
            try:
                return Converted(MessageBody.from_json(document.data, limits=self.limits))
            except DecodeError as error:
                raise DecodeError(f"{self.called} is not a valid body: {error}") from error
        takes_rest = not isinstance(adapter(chosen), Archive)
        for option, is_taken in (("rest", takes_rest), ("text", format_of(chosen) is not None)):
            if option in self.reading and not is_taken:
                raise EnvelopeError(f"{option}= cannot be used with source='{chosen}'")
        converted = read_within(self.limits, chosen, document.data, **self.reading)
        # Most formats can be read from any object, so a wrong source gives a poor body, no error.
        if found and chosen not in found:
            self.tell(f"this looks like {' or '.join(found)}, not {chosen}")
        self.losses += converted.losses
        return converted

    def _written(self, converted: Converted[MessageBody]) -> Any:
        """Return the message of a body, with the rest of its original message, or the body."""
        if self.target == BODY:
            why = "a body has no place for this member of the message; rest='part' keeps it"
            self.losses += left_behind(converted.rest, why)
            return converted.value
        value, lost = write(self.target, converted, **self.writing)
        self.losses += lost
        return value

    # The format

    def _chosen(self, found: list[str]) -> str:
        """Return the format of a message; an unknown document is treated as a body."""
        if not found or BODY in found:
            return BODY
        if len(found) > 1 and USUAL not in found:
            raise EnvelopeError(f"{self.called} fits {', '.join(found)}: say which with source=")
        if len(found) > 1:
            others = " or ".join(each for each in found if each != USUAL)
            self.tell(f"{self.called} is read as {USUAL}; give source= if it is {others}")
            return USUAL
        return found[0]

    def _speech(self, value: Any, count: int) -> str:
        """Return the format of a conversation, which a body is not: parts name no speakers."""
        found = [*detect(value)]
        if not found:
            raise EnvelopeError(
                f"{self.called} holds {_talk_of(count)} in no format that is known: say which with "
                "source="
            )
        return self._chosen(found)

    # Lines

    def lines(self, lines: list[bytes]) -> list[Any]:
        """Return what the lines of a conversation become."""
        if self.target != BODY and isinstance(adapter(self.target), Archive):
            raise EnvelopeError(f"lines=True cannot be used with target='{self.target}'")
        reader = None if self.writer is None else self._speech_in(lines)
        if self.writer is not None and reader is not None:
            return self._talk(b"[" + b",".join(lines) + b"]", reader, self.writer)
        return [self._line(number, line) for number, line in enumerate(lines)]

    def _speech_in(self, lines: list[bytes]) -> Format | None:
        """Return the format of the messages on the lines; None if they are not a conversation."""
        values = [json_in(line, self.limits) for line in lines]
        if len(values) < 2 or not all(isinstance(each, dict) for each in values):
            return None
        chosen = self._chosen([*detect(values)] if self.source is None else [self.source])
        reader = None if chosen == BODY else format_of(chosen)
        if reader is None or any(reader.messages_in(each) is not None for each in values):
            return None  # a line may hold a whole conversation
        return reader

    def _line(self, number: int, line: bytes) -> Any:
        one = attrs.evolve(self, called=f"message {number}", losses=[])
        value = one._whole(_ParsedOnce(line, self.limits))
        for loss in one.losses:
            # A line may be a whole conversation.
            inner = "" if loss.message is None else f"message {loss.message}: "
            self.losses.append(attrs.evolve(loss, message=number, where=inner + loss.where))
        return value.to_dicts() if isinstance(value, MessageBody) else value

    # Streams

    def _streamed(self, document: _ParsedOnce, *, is_asked: bool) -> Converted[MessageBody] | None:
        """Return the body of a recorded stream; None if it is not one and the user named none."""
        is_meant = is_asked or is_sent(document.data)
        values = self._events_in(document, is_asked=is_asked, is_meant=is_meant)
        if values is None:
            return None
        source = _OWN if self.source == BODY else self.source
        certain = format_of_events(values, source)
        is_meant, source = is_meant or certain is not None, source or certain
        # Each line may be a message, or a body.
        if not (is_meant or messages_in(values) is None):
            return None
        events = [each for each in values if not isinstance(each, Broken)]
        found = stream_in(events, source, self.limits)
        if found is None:
            if is_meant:
                raise EnvelopeError(f"{self.called} {self._no_stream(events, source)}")
            return None
        self.losses += [each.loss for each in values if isinstance(each, Broken)]
        self.losses += found.made.losses
        if not self.reading or found.format == _OWN:
            return found.made
        # It is to be read in another way than streams are.
        written = write(found.format, found.made).value
        read = read_within(self.limits, found.format, written, **self.reading)
        self.losses += read.losses
        return read

    def _events_in(
        self, document: _ParsedOnce, *, is_asked: bool, is_meant: bool
    ) -> list[Any] | None:
        """Return what may be events; None if nobody asked and it is likely to be something else."""
        data = document.data
        first, _, others = data.strip().partition(b"\n")
        if is_meant or (others and isinstance(json_in(first, self.limits), dict)):
            values = values_of_lines(data, self.limits)
            if values is not None:
                return values
        # A list of parts, messages or blocks is what most files are.
        is_list = data.lstrip().startswith(b"[")
        if not is_asked and (not is_list or document.formats):
            return None
        held = document.value
        return held if isinstance(held, list) else [held]

    def _no_stream(self, events: list[Any], source: str | None) -> str:
        """Return why events are not the stream of one message."""
        # Most documents are no streams, and their readers take long to load.
        from messagebody.adapters.streams import Assembler

        if source is None:
            why = "say which with source=, and what is wrong is told"
            return f"has no events of one message in a known format; {why}"
        assembler = Assembler(source, limits=self.limits)
        try:
            for event in events:
                assembler.feed(event)
            assembler.finish()
        except MessageBodyError as error:
            return f"is no stream of {source}: {error}"
        return f"is no stream of {source}: its events make no content"


def _talk_of(count: int) -> str:
    return f"a conversation of {count_of(count, 'message')}"
