"""The content of requests: read piece by piece, within a size, a pace and its digest."""

import binascii
import re
import time
from asyncio import timeout
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from messagebody._core import (
    CHUNK,
    OCTET_STREAM,
    base64,
    check_content_type,
    essence,
    human_size,
    raw_digest,
)
from messagebody.errors import InvalidContentType
from messagebody.serving._limits import ServingLimits
from messagebody.serving._problems import HttpProblem
from messagebody.storage import Spool

# One member of a dictionary of RFC 9651; digests by other functions are not read.
_SHA_256: Final = re.compile(r"(?:^|,)[ \t]*sha-256=:([A-Za-z0-9+/=]*):[ \t]*(?=[,;]|$)")

_DIGITS: Final = 20
"""Digits of a length that are read: more than any size has."""


def content_type_of(request: Request) -> str:
    """Return the type of what a request holds.

    Raises:
        HttpProblem: it is no content type.
    """
    try:
        return check_content_type(request.headers.get("content-type") or OCTET_STREAM)
    except InvalidContentType as error:
        raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, error.statement) from error


def require_type(request: Request, kind: str) -> None:
    """Raise a `HttpProblem` unless a request holds one media type."""
    if essence(content_type_of(request)) != kind:
        raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{kind} is expected", Accept=kind)


async def read(request: Request, most: int, limits: ServingLimits) -> bytes:
    """Return the content of a request in memory, checked against its stated digest.

    Arguments:
        request: the request.
        most: the most bytes.
        limits: the limits of time.

    Raises:
        HttpProblem: it is too large or slow, it is encoded, or its digest is another one.
    """
    spool = await read_to_spool(request, most, limits)
    return await run_in_threadpool(spool.read)


async def read_to_spool(request: Request, most: int, limits: ServingLimits) -> Spool:
    """Return the content of a request, large ones on disk; see `read`."""
    stated = _stated_digests(request)
    spool = Spool()
    with spool.closed_on_error():
        gathered = bytearray()
        async for piece in _pieces(request, most, limits):
            gathered += piece
            if len(gathered) >= CHUNK:
                await run_in_threadpool(spool.write, bytes(gathered))
                gathered.clear()
        await run_in_threadpool(spool.write, bytes(gathered))
        if any(each != raw_digest(spool.digest) for each in stated):
            raise HttpProblem(HTTPStatus.BAD_REQUEST, "the content has another digest than stated")
        return spool


async def _pieces(request: Request, most: int, limits: ServingLimits) -> AsyncIterator[bytes]:
    _check_framing(request, most)
    stream = request.stream()
    begun, taken = time.monotonic(), 0
    while True:
        # Each piece has its time, and the whole has to keep a pace.
        left = begun + limits.seconds + taken / limits.bytes_per_second - time.monotonic()
        try:
            async with timeout(min(left, limits.seconds)):
                piece = await anext(stream, None)
        except TimeoutError as error:
            detail = "the content of the request did not come in time"
            raise HttpProblem(HTTPStatus.REQUEST_TIMEOUT, detail, Connection="close") from error
        if piece is None:
            return
        taken += len(piece)
        if taken > most:
            raise _too_large(most)
        yield piece


def _check_framing(request: Request, most: int) -> None:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        detail = "content is taken as it is, without a Content-Encoding"
        raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, Accept_Encoding="identity")
    if "content-range" in request.headers:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "a part is put as a whole, without Content-Range")
    length = request.headers.get("content-length", "")
    # Servers refuse one that is no number; the bytes are counted in any case.
    if length.isdecimal() and int(length[:_DIGITS]) > most:
        raise _too_large(most)


def _too_large(most: int) -> HttpProblem:
    detail = f"at most {human_size(most)} are taken here"
    return HttpProblem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, Connection="close")


def _stated_digests(request: Request) -> list[bytes]:
    headers = (
        header
        for name in ("content-digest", "repr-digest")
        for header in request.headers.getlist(name)
    )
    return [_decode(match[1]) for header in headers for match in _SHA_256.finditer(header)]


def _decode(text: str) -> bytes:
    try:
        return base64.decode(text, strict=True)
    except (ValueError, binascii.Error) as error:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "a digest is not base64") from error
