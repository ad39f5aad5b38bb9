"""Bodies part by part: lines of JSON and server-sent events, to send and to read."""

import json
from collections.abc import Iterator
from typing import Any

from messagebody._core import MessageBody
from messagebody.adapters.streams._accumulator import Accumulator, OutOfPlace, member
from messagebody.errors import MessageBodyError


def part_lines(body: MessageBody, *, start: int = 0) -> Iterator[str]:
    r"""Yield a body as lines of JSON, one per part, and a last line with the number of parts.

    Arguments:
        body: the body.
        start: the index of the first part to yield, for a receiver that has lost the connection.

    Examples:
        >>> from messagebody import Part
        >>> print(*part_lines(MessageBody([Part("Hello!")])), sep="\n")
        {"index":0,"part":{"contentType":"text/plain","content":"Hello!"}}
        {"end":1}
    """
    for index, value in _values(body, start):
        yield _dumped(value if index is None else {"index": index, **value})


def sse(body: MessageBody, *, start: int = 0) -> Iterator[str]:
    r"""Yield a body as server-sent events, whose ids are the indexes of the parts.

    Arguments:
        body: the body.
        start: the index to begin with: one more than the `Last-Event-ID` of a client that
            reconnects.

    Examples:
        >>> from messagebody import Part
        >>> next(sse(MessageBody([Part("Hi", content_type="text/a")])))
        'id: 0\nevent: part\ndata: {"index":0,"part":{"contentType":"text/a","content":"Hi"}}\n\n'
    """
    for index, value in _values(body, start):
        if index is None:
            yield f"event: end\ndata: {_dumped(value)}\n\n"
        else:
            yield f"id: {index}\nevent: part\ndata: {_dumped({'index': index, **value})}\n\n"


def _values(body: MessageBody, start: int) -> Iterator[tuple[int | None, dict[str, Any]]]:
    for index in range(start, len(body)):
        # One part at a time, so that a large body is never in memory as JSON.
        [part] = MessageBody([body[index]]).to_dicts()
        yield index, {"part": part}
    yield None, {"end": len(body)}


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class PartLines(Accumulator):
    """Whole parts, one after the other; the last line has their number."""

    format = "messagebody"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._parts: list[Any] = []
        self._names: set[str] = set()

    def feed(self, event: dict[str, Any]) -> None:
        """Take a line."""
        if "end" in event:
            if event["end"] != len(self._parts):
                raise OutOfPlace(f"it says {event['end']} parts, and {len(self._parts)} came")
            self.end()
            return
        index = member(event, "index", int)
        if index != len(self._parts):
            raise OutOfPlace(f"part {index} came, where {len(self._parts)} is next")
        part = member(event, "part", dict)
        try:
            [made] = MessageBody.from_dicts([part], limits=self._limits)
        except MessageBodyError as error:
            raise OutOfPlace(f"its part is not one: {error}") from error
        # Reported here with its line; otherwise the whole body would be refused at the end.
        if made.name in self._names:
            raise OutOfPlace(f"a part before has its name, {made.name}")
        self._names |= {made.name} if made.name is not None else set()
        self.begin(self._parts, part)

    def message(self) -> Any:
        """Return the parts so far."""
        return [*self._parts]
