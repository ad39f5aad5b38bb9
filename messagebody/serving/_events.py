"""Messages as server-sent events: the own stream, from where a client lost it."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from messagebody._core import MessageBody, quote
from messagebody.adapters.streams import sent_events, stream_sse
from messagebody.errors import InvalidArgument
from messagebody.serving._problems import HttpProblem

EVENTS: Final = "text/event-stream"
"""The media type of server-sent events."""
_DONE: Final = "done"
_TOGETHER: Final = 16_384
"""Characters that are sent at once."""


def of_events(request: Request, body: MessageBody) -> Response:
    """Return the answer with a message as events; `Last-Event-ID` says what has arrived.

    Arguments:
        request: the request.
        body: the message, for this client.

    Raises:
        HttpProblem: the id is no position of this message.
    """
    start = request.headers.get("last-event-id", "").strip() or "0"
    if start == _DONE:
        # A client that gets this does not connect again.
        return Response(status_code=HTTPStatus.NO_CONTENT.value, headers={"Vary": "Accept"})
    try:
        events = sent_events(body, start=start)
    except InvalidArgument as error:
        detail = f"the message has no position {quote(start, limit=80)}"
        raise HttpProblem(HTTPStatus.BAD_REQUEST, detail) from error
    headers = {"Content-Type": EVENTS, "Cache-Control": "no-store", "Vary": "Accept"}
    if request.method == "HEAD":
        return Response(headers=headers)
    return StreamingResponse(_together(stream_sse(events)), headers=headers)


def _together(events: Iterable[str]) -> Iterator[str]:
    """Yield small events together: each piece of an answer costs a change of threads."""
    gathered, size = list[str](), 0
    for event in events:
        gathered.append(event)
        size += len(event)
        if size >= _TOGETHER:
            yield "".join(gathered)
            gathered, size = [], 0
    yield "".join(gathered)
