"""Bodies part by part: lines of JSON and server-sent events, to send."""

import json
from collections.abc import Iterator
from typing import Any

from messagebody._core import MessageBody, require_body
from messagebody.errors import InvalidArgument


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
        yield dumped(value if index is None else {"index": index, **value})


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
            yield f"event: end\ndata: {dumped(value)}\n\n"
        else:
            yield f"id: {index}\nevent: part\ndata: {dumped({'index': index, **value})}\n\n"


def _values(body: MessageBody, start: int) -> Iterator[tuple[int | None, dict[str, Any]]]:
    if type(start) is not int or start < 0:
        raise InvalidArgument("start= as the index of a part, from 0", start)
    for index in range(start, len(require_body(body))):
        # One part at a time, so that a large body is never in memory as JSON.
        [part] = MessageBody([body[index]]).to_dicts()
        yield index, {"part": part}
    yield None, {"end": len(body)}


def dumped(value: Any) -> str:
    """Return compact JSON, in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
