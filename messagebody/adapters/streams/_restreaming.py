"""Streams of any format, sent on as the own one while they arrive."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    Limits,
    MessageBody,
    Part,
    is_json,
    members_of,
    piece_members,
    record_of,
    require_iterable,
)
from messagebody.adapters.streams._assembler import Assembler
from messagebody.adapters.streams._sending import begin_event, done_event, end_event
from messagebody.errors import EnvelopeError

_EAGER: Final = 64
"""Up to so many events, the body is looked at after each; later, less often."""


def restream(
    events: Iterable[Any],
    format: str,  # noqa: A002 - what users call it
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[dict[str, Any]]:
    """Yield the stream of any format as events of the own stream, while it arrives.

    Text is sent on as it grows. JSON, such as the arguments of a call, is sent when the message is
    whole, because what is there of it changes until then. A long stream is looked at less often, so
    that the cost stays near that of its text. If the message did not end as usual, the last event
    has how it ended as its `ending`.

    Arguments:
        events: the events, as `Assembler.feed` takes them.
        format: the name of their format.
        limits: the limits of the message.

    Raises:
        EnvelopeError: an event is out of place, or takes back what was sent on.
        DecodeError: the message grows beyond a limit.

    Examples:
        >>> pieces = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in "Hi"]
        >>> for event in restream(pieces, "openai-chat"):
        ...     print(event["event"], event.get("text", ""))
        begin
        append H
        append i
        end
        done
    """
    require_iterable(events, "the events of a stream", hint="")
    going = _Restream(Assembler(format, limits=limits))
    for event in events:
        yield from going.take(event)
    yield from going.end()


async def arestream(
    events: AsyncIterable[Any],
    format: str,  # noqa: A002 - what users call it
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> AsyncIterator[dict[str, Any]]:
    """Yield the stream of any format as the own one; see `restream`."""
    going = _Restream(Assembler(format, limits=limits))
    async for event in events:
        for sent in going.take(event):
            yield sent
    for sent in going.end():
        yield sent


@attrs.define
class _Begun:
    """A part that was sent on.

    Arguments:
        members: its members without content, as they were sent.
        data: its content that was sent.
    """

    members: dict[str, Any]
    data: bytes = b""


class _Restream:
    """What was sent on of a stream."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._begun: list[_Begun] = []
        self._count = 0

    def take(self, event: Any) -> Iterator[dict[str, Any]]:
        """Take an event, and yield what is new."""
        body = self._assembler.feed(event)
        self._count += 1
        if self._count % (self._count // _EAGER + 1) == 0:
            yield from self._new(body, is_last=False)

    def end(self) -> Iterator[dict[str, Any]]:
        """Yield the rest, and the ends of all parts."""
        body, _ = self._assembler.finish()
        ending = self._assembler.outcome
        if len(body) < len(self._begun):
            raise _taken_back(len(body))
        yield from self._new(body, is_last=True)
        for index, part in enumerate(body):
            yield end_event(index, part)
        yield done_event(body) | ({} if ending is None else {"ending": ending})

    def _new(self, body: MessageBody, *, is_last: bool) -> Iterator[dict[str, Any]]:
        for index, part in enumerate(body):
            members = members_of(record_of(part))
            if index == len(self._begun):
                self._begun.append(_Begun(members))
                yield begin_event(index, part)
            begun = self._begun[index]
            if members != begun.members:
                yield from self._described(begun, index, members)
            if not part.is_reference and (is_last or _only_grows(part)):
                yield from self._grown(begun, index, part.read_bytes())

    def _described(
        self, begun: _Begun, index: int, members: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        if _lasting(members) != _lasting(begun.members):
            raise _taken_back(index)
        begun.members = members
        yield {"event": "patch", "index": index, "metadata": members.get("metadata")}

    def _grown(self, begun: _Begun, index: int, data: bytes) -> Iterator[dict[str, Any]]:
        if not data.startswith(begun.data):
            raise _taken_back(index)
        piece, offset = data[len(begun.data) :], len(begun.data)
        if piece:
            begun.data = data
            yield {"event": "append", "index": index, "offset": offset, **piece_members(piece)}


def _lasting(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != "metadata"}


def _only_grows(part: Part) -> bool:
    return part.is_text and not is_json(part.content_type)


def _taken_back(index: int) -> EnvelopeError:
    return EnvelopeError(f"the stream takes back what it said of part {index}, which was sent on")
