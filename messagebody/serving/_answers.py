"""Answers with content: headers, conditions, ranges, and bytes that are sent piece by piece."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from http import HTTPStatus
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from messagebody._core import CHUNK, base64, from_hex_digits, raw_digest
from messagebody.errors import DigestMismatch
from messagebody.serving._conditions import check, ranges_of
from messagebody.serving._contents import Elsewhere, PartContent
from messagebody.serving._messages import Form

# A picture or a film that is opened by itself is a page that shows it.
_POLICY: Final = (
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'"
)
_PIECE: Final = CHUNK // 8
"""Bytes of what is in memory that are sent at once."""
_Span = tuple[int, int]
_AT_ONCE: Final = 2
_turns: Final = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()
"""Whose turn it is in each event loop to do what takes long."""
_P = ParamSpec("_P")
_T = TypeVar("_T")


async def at_length(call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return what a call returns that may take seconds: in a thread, when it is its turn.

    The threads of the pool are for what is short. If forty clients could fill them with large
    messages, nobody else would get the smallest part.

    Arguments:
        call: what is called.
        *args: its arguments.
        **kwargs: its arguments by name.
    """
    loop = asyncio.get_running_loop()
    async with _turns.setdefault(loop, asyncio.Semaphore(_AT_ONCE)):
        return await run_in_threadpool(call, *args, **kwargs)


def of_form(request: Request, form: Form, kind: str, **headers: str) -> Response:
    """Return an answer that is in memory, or 304.

    Arguments:
        request: the request.
        form: the bytes and their entity tag.
        kind: their type.
        **headers: headers, with "_" for "-", besides those of the form.
    """
    found = check(request.method, request.headers, form.tag)
    if found is None:
        size = len(form.data)
        named = {"Content-Type": kind, "ETag": f'"{form.tag}"', "Content-Length": str(size)}
        if request.method == "HEAD":
            found = Response(None, headers=named)
        elif size <= _PIECE:
            found = Response(form.data, headers=named)
        else:
            found = StreamingResponse(_slices(form), headers=named)
    for name, value in {**form.headers, **headers}.items():
        found.headers[name.replace("_", "-")] = value
    return found


async def _slices(form: Form) -> AsyncIterator[bytes]:
    # Each client that does not read holds a piece, and the form is there once for all.
    view = memoryview(form.data)
    for start in range(0, len(view), _PIECE):
        yield bytes(view[start : start + _PIECE])


async def of_content(request: Request, content: PartContent | Elsewhere, most: int) -> Response:
    """Return the answer with the content of a part, or with the ranges that are asked for.

    Arguments:
        request: the request.
        content: the content.
        most: the most ranges.
    """
    if isinstance(content, Elsewhere):
        return RedirectResponse(content.url, HTTPStatus.FOUND.value)
    headers = _headers(content)
    unchanged = check(request.method, request.headers, content.tag)
    if unchanged is not None:
        return unchanged
    spans = ranges_of(request.method, request.headers, content.tag, content.size, most)
    if spans is None:
        return await _send(request, content, [(0, content.size)], HTTPStatus.OK.value, headers)
    if len(spans) == 1:
        headers["Content-Range"] = _range(*spans[0], content.size)
        return await _send(request, content, spans, HTTPStatus.PARTIAL_CONTENT.value, headers)
    return await _several(request, content, spans, headers)


def _headers(content: PartContent) -> dict[str, str]:
    headers = {
        "Content-Type": content.content_type,
        "Content-Disposition": content.disposition,
        "Content-Security-Policy": _POLICY,
        "Accept-Ranges": "bytes",
    }
    if content.tag is not None:
        digest = base64.encode(raw_digest(from_hex_digits(content.tag)))
        headers |= {"ETag": f'"{content.tag}"', "Repr-Digest": f"sha-256=:{digest}:"}
    return headers


def _range(start: int, end: int, size: int) -> str:
    return f"bytes {start}-{end - 1}/{size}"


async def _several(
    request: Request, content: PartContent, spans: list[_Span], headers: dict[str, str]
) -> Response:
    boundary = secrets.token_hex(16)
    heads = [
        f"--{boundary}\r\nContent-Type: {content.content_type}\r\n"
        f"Content-Range: {_range(*span, content.size)}\r\n\r\n"
        for span in spans
    ]
    frames = [("" if at == 0 else "\r\n") + head for at, head in enumerate(heads)]
    pieces: list[bytes | _Span] = []
    for frame, span in zip(frames, spans, strict=True):
        pieces += [frame.encode("latin-1"), span]
    pieces.append(f"\r\n--{boundary}--\r\n".encode())
    headers["Content-Type"] = f"multipart/byteranges; boundary={boundary}"
    return await _send(request, content, pieces, HTTPStatus.PARTIAL_CONTENT.value, headers)


async def _send(
    request: Request,
    content: PartContent,
    pieces: Iterable[bytes | _Span],
    status: int,
    headers: dict[str, str],
) -> Response:
    """Return an answer of bytes and ranges; a large one is read while it is sent."""
    wanted = [*pieces]
    total = sum(len(each) if isinstance(each, bytes) else each[1] - each[0] for each in wanted)
    headers["Content-Length"] = str(total)
    if request.method == "HEAD":
        return Response(None, status, headers)
    stream = _read(content, wanted)
    # The first piece before the status, so that a store that fails is an error, not half an answer.
    first = await anext(stream, b"")
    if len(first) == total:
        return Response(first, status, headers)
    return StreamingResponse(_chain(first, stream), status, headers)


async def _chain(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    yield first
    async for piece in rest:
        yield piece


async def _read(content: PartContent, pieces: list[bytes | _Span]) -> AsyncIterator[bytes]:
    for piece in pieces:
        if isinstance(piece, bytes):
            yield piece
            continue
        start, end = piece
        while start < end:
            until = min(end, start + content.piece)
            if content.blocks:
                data = await run_in_threadpool(content.read, start, until)
            else:
                data = content.read(start, until)
            if not data:
                expected = f"{content.size:,} bytes"
                raise DigestMismatch(f"the content of {content.name}", expected, f"{start:,}")
            yield data
            start += len(data)
