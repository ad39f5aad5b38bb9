"""The own stream, written: events for pieces of parts, from any position."""

import contextlib
import copy
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from messagebody._core import (
    MessageBody,
    Part,
    base64,
    members_of,
    piece_of,
    record_of,
    require_body,
)
from messagebody.adapters.streams._lines import dumped
from messagebody.adapters.streams._own import position_of
from messagebody.errors import DigestUnknown, InvalidArgument

PIECE: Final = 16_384
"""Bytes of content in an event, by default."""
_POSITION: Final = re.compile(r"(0|[1-9][0-9]{0,8})((?:;[0-9]{1,9}:[0-9]{1,18})*)", re.ASCII)
_DONE: Final = "done"
_LONGEST: Final = 65_536
"""Characters of a position that are read."""
# A character of UTF-8 has at most this many bytes.
_CHARACTER: Final = 4


class Sent(NamedTuple):
    """An event of the own stream, and where a reader is after it.

    Arguments:
        position: what has arrived: the id of a server-sent event.
        event: the event.
    """

    position: str
    event: dict[str, Any]


def to_stream(
    body: MessageBody, *, piece: int = PIECE, start: str = "0"
) -> Iterator[dict[str, Any]]:
    """Yield a body as the events of the own stream: the content of each part in pieces.

    Arguments:
        body: the body.
        piece: the most bytes of content in an event.
        start: the position to begin at, for a reader that has lost the connection: the id of the
            last server-sent event, or `Assembler.position`.

    Raises:
        InvalidArgument: the position is none of this body.

    Examples:
        >>> for event in to_stream(MessageBody(["Hello!"]), piece=4):
        ...     print(event["event"], event.get("text", ""))
        begin
        append Hell
        append o!
        end
        done
    """
    for sent in sent_events(body, piece=piece, start=start):
        yield sent.event


def sent_events(body: MessageBody, *, piece: int = PIECE, start: str = "0") -> Iterator[Sent]:
    """Return the events of `to_stream`, each with the position after it."""
    if type(piece) is not int or piece < 1:
        raise InvalidArgument("a number of bytes, at least 1", piece)
    return _remaining_events(require_body(body).copy(), piece, start, *_read_position(body, start))


def stream_lines(events: Iterable[dict[str, Any]]) -> Iterator[str]:
    r"""Yield events of the own stream as lines of JSON, with their line ends.

    Examples:
        >>> [first, piece, *_] = stream_lines(to_stream(MessageBody(["Hi"])))
        >>> print(first, piece, sep="", end="")
        {"event":"begin","index":0,"part":{"contentType":"text/plain"}}
        {"event":"append","index":0,"offset":0,"text":"Hi"}
    """
    for event in events:
        yield dumped(event) + "\n"


def stream_sse(events: Iterable[Sent]) -> Iterator[str]:
    r"""Yield events of `sent_events` as server-sent events, whose ids are positions.

    Examples:
        >>> next(stream_sse(sent_events(MessageBody(["Hi"]))))
        'id: 1;0:0\ndata: {"event":"begin","index":0,"part":{"contentType":"text/plain"}}\n\n'
    """
    for position, event in events:
        yield f"id: {position}\ndata: {dumped(event)}\n\n"


def positions(events: Iterable[dict[str, Any]]) -> Iterator[Sent]:
    """Yield events of the own stream from its beginning, each with the position after it."""
    begun, opened = 0, dict[int, int]()
    for event in events:
        match event["event"]:
            case "begin":
                opened[begun] = 0
                begun += 1
            case "append":
                opened[event["index"]] = event["offset"] + len(piece_of(event))
            case "end":
                del opened[event["index"]]
        is_done = event["event"] == _DONE
        yield Sent(_DONE if is_done else position_of(begun, opened), event)


def _read_position(body: MessageBody, start: str) -> tuple[int, dict[int, int]]:
    """Return the parts that have begun at a position, and the bytes of those still open."""
    if not isinstance(start, str):
        raise InvalidArgument('a position, such as "2;1:40"', start)
    if start == _DONE:
        return len(body), {}
    found = _POSITION.fullmatch(start) if len(start) <= _LONGEST else None
    if found is not None:
        begun = int(found[1])
        pairs = [each.split(":") for each in found[2].split(";")[1:]]
        opened = {int(index): int(size) for index, size in pairs}
        ascending = [*opened] == sorted(opened) and len(opened) == len(pairs)
        is_known = begun <= len(body) and ascending
        if is_known and all(_is_in(body, begun, *each) for each in opened.items()):
            return begun, opened
    raise InvalidArgument(f"a position of a body of {len(body):,} parts", start)


def _is_in(body: MessageBody, begun: int, index: int, size: int) -> bool:
    if index >= begun:
        return False
    return size <= (0 if body[index].is_reference else body[index].size or 0)


def _remaining_events(
    body: MessageBody, piece: int, start: str, begun: int, opened: dict[int, int]
) -> Iterator[Sent]:
    if start == _DONE:
        return
    for index in [*opened]:
        yield from _rest(body[index], index, piece, begun, opened)
    for index in range(begun, len(body)):
        opened[index] = 0
        begun += 1
        yield Sent(position_of(begun, opened), begin_event(index, body[index]))
        yield from _rest(body[index], index, piece, begun, opened)
    yield Sent(_DONE, done_event(body))


def _rest(part: Part, index: int, piece: int, begun: int, opened: dict[int, int]) -> Iterator[Sent]:
    """Yield the rest of an open part: its pieces and its end."""
    if not part.is_reference:
        with part.open() as stream:
            stream.seek(opened[index])
            for data in _pieces(stream, piece, part.is_text):
                event = {"event": "append", "index": index, "offset": opened[index], **data.told}
                opened[index] += data.size
                yield Sent(position_of(begun, opened), event)
    del opened[index]
    yield Sent(position_of(begun, opened), end_event(index, part))


class _Piece(NamedTuple):
    size: int
    told: dict[str, str]


def _pieces(stream: BinaryIO, piece: int, is_text: bool) -> Iterator[_Piece]:
    """Yield content in pieces; text is cut between characters, and binary is base64."""
    left = b""
    while True:
        # As much as is needed for one whole character.
        data = left + stream.read(max(piece, _CHARACTER) - len(left))
        if not data:
            return
        taken = _cut(data, piece) if is_text else 0
        if taken:
            yield _Piece(taken, {"text": data[:taken].decode()})
        else:
            taken = min(piece, len(data))
            yield _Piece(taken, {"base64": base64.encode(data[:taken])})
        left = data[taken:]


def _cut(data: bytes, piece: int) -> int:
    """Return how many bytes from the start are whole characters of a piece; 0 for no text."""
    most = min(piece, len(data))
    shorter = range(most, max(0, most - _CHARACTER), -1)
    # A character that is longer than a piece is sent whole.
    longer = range(most + 1, min(_CHARACTER, len(data)) + 1)
    sizes: list[int] = [*shorter, *longer]
    for size in sizes:
        try:
            data[:size].decode()
        except UnicodeDecodeError:
            continue
        return size
    return 0


def begin_event(index: int, part: Part) -> dict[str, Any]:
    """Return the event that begins a part."""
    # A copy, because whoever gets it may change it.
    return {"event": "begin", "index": index, "part": copy.deepcopy(members_of(record_of(part)))}


def end_event(index: int, part: Part) -> dict[str, Any]:
    """Return the event that ends a part, with what is known of its size and digest."""
    told = {"size": part.size, "digest": part.digest}
    stated = {key: value for key, value in told.items() if value is not None}
    return {"event": "end", "index": index, **stated}


def done_event(body: MessageBody) -> dict[str, Any]:
    """Return the event that ends a body, with its digest if it has one."""
    done: dict[str, Any] = {"event": _DONE, "parts": len(body)}
    with contextlib.suppress(DigestUnknown):
        done["digest"] = body.digest
    return done
