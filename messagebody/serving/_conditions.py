"""Conditional requests and ranges: what RFC 9110 says that a request asks for.

Werkzeug reads the headers; here is what follows from them.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.responses import Response
from werkzeug.http import parse_etags, parse_if_range_header, parse_range_header

from messagebody.serving._problems import HttpProblem

_READS: Final = ("GET", "HEAD")


def check(method: str, headers: Mapping[str, str], tag: str | None) -> Response | None:
    """Return the answer 304 if a client has what it asks for, None if the request goes on.

    Arguments:
        method: the method.
        headers: the headers of the request.
        tag: the entity tag of what is there, without quotes; None if it has none.

    Raises:
        HttpProblem: a condition of the request does not hold.
    """
    if "if-match" in headers and not _matches(headers["if-match"], tag, is_strong=True):
        raise HttpProblem(
            HTTPStatus.PRECONDITION_FAILED, "what is there is not what If-Match names"
        )
    if "if-none-match" in headers and _matches(headers["if-none-match"], tag, is_strong=False):
        if method in _READS:
            return Response(status_code=HTTPStatus.NOT_MODIFIED.value, headers={"ETag": f'"{tag}"'})
        raise HttpProblem(
            HTTPStatus.PRECONDITION_FAILED, "what is there is what If-None-Match names"
        )
    return None


def check_change(headers: Mapping[str, str], tag: str | None, *, exists: bool) -> None:
    """Raise a `HttpProblem` unless a writer knows what it replaces.

    Arguments:
        headers: the headers of the request.
        tag: the entity tag of what is there, without quotes; None if it has none.
        exists: whether anything is there.
    """
    if not exists and "if-match" in headers:
        raise HttpProblem(
            HTTPStatus.PRECONDITION_FAILED, "nothing is there that If-Match could name"
        )
    if exists and headers.get("if-none-match", "").strip() == "*":
        raise HttpProblem(HTTPStatus.PRECONDITION_FAILED, "something is there already")
    if exists and "if-match" not in headers:
        detail = "something is there; say with If-Match and its ETag that you replace it"
        raise HttpProblem(HTTPStatus.PRECONDITION_FAILED, detail)
    if exists and headers["if-match"].strip() != "*":
        check("PUT", headers, tag)


def ranges_of(
    method: str, headers: Mapping[str, str], tag: str | None, size: int, most: int
) -> list[tuple[int, int]] | None:
    """Return the ranges that a request asks for, each with its end; None for all of it.

    Arguments:
        method: the method.
        headers: the headers of the request.
        tag: the entity tag of the content, without quotes; None if it has none.
        size: the size of the content.
        most: the most ranges; of more, all of it is sent.

    Raises:
        HttpProblem: the content has none of the ranges.
    """
    asked = headers.get("range")
    if asked is None or method != "GET" or not _is_same(headers.get("if-range"), tag):
        return None
    # Overlapping ranges, and those in another order, are not read either: they could cost a
    # multiple of the content.
    found = parse_range_header(asked)
    if found is None or found.units != "bytes" or len(found.ranges) > most:
        return None
    ranges = [each for start, end in found.ranges if (each := _within(start, end, size))]
    if not ranges:
        raise HttpProblem(
            HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
            f"the content has {size:,} bytes",
            Content_Range=f"bytes */{size}",
        )
    return ranges


def _matches(header: str, tag: str | None, *, is_strong: bool) -> bool:
    found = parse_etags(header)
    if found.star_tag:
        return True
    return tag is not None and (found.is_strong(tag) if is_strong else found.contains_weak(tag))


def _is_same(header: str | None, tag: str | None) -> bool:
    """Return whether If-Range allows ranges; a date or a weak tag never does."""
    if header is None:
        return True
    return not header.startswith("W/") and parse_if_range_header(header).etag == tag is not None


def _within(start: int, end: int | None, size: int) -> tuple[int, int] | None:
    """Return a range within the content; one with a negative start counts from the end."""
    first = max(0, size + start) if start < 0 else start
    last = size if end is None else min(end, size)
    return (first, last) if first < last else None
