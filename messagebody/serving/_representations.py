"""Representations of a message: which one a client wants, and how it is written."""

import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any, BinaryIO, Final, cast

import attrs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from messagebody._core import (
    CHUNK,
    JSON,
    MIB,
    MessageBody,
    digest_of_stream,
    hex_digits,
    quote,
)
from messagebody.adapters import BODY, Archive, Loss, adapter, adapter_names, write
from messagebody.adapters.streams import sent_events, stream_sse
from messagebody.errors import (
    DecodeError,
    EnvelopeError,
    InvalidArgument,
    InvalidPart,
    LimitExceeded,
    MissingDependency,
)
from messagebody.rendering import page
from messagebody.serving._addresses import public_body, public_json
from messagebody.serving._answers import at_length, of_form
from messagebody.serving._conditions import check
from messagebody.serving._contents import saved_as
from messagebody.serving._messages import Form, ServedBody
from messagebody.serving._problems import HttpProblem
from messagebody.storage import Resolver

HTML: Final = "text/html"
MIXED: Final = "multipart/mixed"
EVENTS: Final = "text/event-stream"
_ARCHIVES: Final = {
    MIXED: "mime",
    "application/zip": "zip",
    "application/x-tar": "tar",
}
OFFERS: Final = (JSON, HTML, *_ARCHIVES, EVENTS)
_TYPES: Final = {BODY: JSON, "html": HTML, "events": EVENTS} | {
    name: kind for kind, name in _ARCHIVES.items()
}
# Styles of the page, pictures and sound in it, and links that save a part; nothing runs.
_PAGE_POLICY: Final = (
    "sandbox allow-downloads; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "media-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_IN_MEMORY: Final = 8 * MIB
_DONE: Final = "done"
_TOGETHER: Final = 16_384
"""Characters of events that are sent at once."""


@attrs.frozen
class Choice:
    """A representation.

    Arguments:
        kind: its media type.
        name: the name of the message format; "" for those of `OFFERS`.
    """

    kind: str
    name: str = ""


def choice_of(request: Request) -> Choice:
    """Return the form that a request asks for: by `?as=`, or else by `Accept`.

    Raises:
        HttpProblem: there is no such form.
    """
    if "as" in request.query_params:
        return _choice(request.query_params["as"])
    kind = best_of(request, OFFERS)
    if kind is None:
        detail = f"a message is {', '.join(OFFERS)}; ?as= names other formats"
        raise HttpProblem(HTTPStatus.NOT_ACCEPTABLE, detail, Vary="Accept")
    return Choice(kind)


def best_of(request: Request, offers: tuple[str, ...]) -> str | None:
    """Return the media type that `Accept` likes best, the first without one; None for none."""
    accept = ", ".join(request.headers.getlist("accept"))
    if not accept.strip():
        return offers[0]
    return parse_accept_header(accept, MIMEAccept).best_match(offers)


def _choice(name: str) -> Choice:
    if name in _TYPES:
        return Choice(_TYPES[name])
    if name not in adapter_names():
        known = ", ".join(sorted({*_TYPES, *adapter_names()}))
        detail = f"there is no format {quote(name)}; there are {known}"
        raise HttpProblem(HTTPStatus.BAD_REQUEST, detail)
    return Choice(JSON, name)


async def of_message(request: Request, served: ServedBody, resolver: Resolver) -> Response:
    """Return the answer with a message in the form that a request asks for.

    Arguments:
        request: the request.
        served: the message.
        resolver: reads what archives hold.
    """
    choice, base = choice_of(request), str(request.base_url)
    form = (choice, base)
    if choice == Choice(JSON):
        json_form = partial(_json, served, base)
        found = await run_in_threadpool(served.form, form, json_form)
        return of_form(request, found, JSON, Vary="Accept")
    if choice.kind == EVENTS:
        return _events(request, await run_in_threadpool(public_body, served, base))
    if choice.kind in _ARCHIVES:
        return await _archive(request, choice.kind, served, resolver)
    # Each form has the tag of its bytes, which are the same each time.
    known = served.tags.get(form)
    unchanged = None if known is None else check(request.method, request.headers, known)
    if unchanged is not None:
        return unchanged
    write_it = _page if choice.kind == HTML else _message
    # With the URLs of this server: those of its store say where it is, and lead nowhere.
    body = await run_in_threadpool(public_body, served, base)
    found = await at_length(served.form, form, partial(write_it, choice, body, served.id))
    return of_form(request, found, choice.kind, Vary="Accept")


def _json(served: ServedBody, base: str) -> Form:
    return Form(public_json(served, base), served.state)


def _page(choice: Choice, body: MessageBody, title: str) -> Form:
    try:
        html = page(body, title=title)
    except MissingDependency as error:
        detail = f"the server has no {choice.kind} of this message; ask for {JSON}"
        raise HttpProblem(HTTPStatus.NOT_ACCEPTABLE, detail, Vary="Accept") from error
    return Form(html.encode(), headers={"Content_Security_Policy": _PAGE_POLICY})


def _message(choice: Choice, body: MessageBody, _: str) -> Form:
    try:
        value, losses = write(choice.name, body)
    except (DecodeError, EnvelopeError, InvalidArgument, InvalidPart) as error:
        raise _not_as(choice.name) from error
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # What a format can't say is left out, and a client may want to know.
    return Form(text.encode(), headers={"MessageBody_Losses": str(len(losses))})


def _events(request: Request, body: MessageBody) -> Response:
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


async def _archive(request: Request, kind: str, served: ServedBody, resolver: Resolver) -> Response:
    file: Any = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the answer closes it
    try:
        losses = await at_length(_write_archive, kind, served.body, file, resolver)
        size = file.tell()
        file.seek(0)
        tag = hex_digits(await at_length(digest_of_stream, file))
        unchanged = check(request.method, request.headers, tag)
        if unchanged is not None:
            file.close()
            return unchanged
        file.seek(0)
        name = f"{served.id}.{_ARCHIVES[kind]}"
        headers = {"ETag": f'"{tag}"', "Vary": "Accept", "MessageBody-Losses": str(len(losses))}
        if kind == MIXED:
            headers["Content-Type"] = _take_head(file)
        else:
            headers["Content-Type"] = kind
            headers["Content-Disposition"] = saved_as("attachment", name)
        headers["Content-Length"] = str(size - file.tell())
    except BaseException:
        file.close()
        raise
    return StreamingResponse(_pieces(file), headers=headers)


def _write_archive(kind: str, body: MessageBody, file: Any, resolver: Resolver) -> list[Loss]:
    name, limits = _ARCHIVES[kind], resolver.limits
    sizes = [part.size or 0 for part in body if part.is_reference]
    if max(sizes, default=0) > limits.part_bytes or sum(sizes) > limits.body_bytes:
        raise _not_as(name)  # and not after a gigabyte was read
    write_to: Callable[..., list[Loss]] = cast("Archive", adapter(name)).write
    try:
        return write_to(body, file, resolver=resolver)
    except (InvalidArgument, LimitExceeded) as error:
        raise _not_as(name) from error


def _not_as(name: str) -> HttpProblem:
    return HttpProblem(HTTPStatus.NOT_ACCEPTABLE, f"the message can't be written as {name}")


def _take_head(file: BinaryIO) -> str:
    """Read the headers of a mail, which are those of the answer, and return its type."""
    kind = ""
    while (line := file.readline().strip()) != b"":
        name, _, value = line.partition(b": ")
        if name == b"Content-Type":
            kind = value.decode("ascii")
    return kind


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while data := await run_in_threadpool(file.read, CHUNK):
            yield data
