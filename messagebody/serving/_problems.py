"""Problems: answers that say what is wrong, as JSON of RFC 9457."""

import json
import logging
from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from messagebody._core import escape, redact_urls
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    InvalidName,
    InvalidPart,
    InvalidPatch,
    InvalidPattern,
    InvalidSchema,
    LimitExceeded,
    MessageBodyError,
    MissingDependency,
    ObjectNotFound,
    OtherBase,
    PartNotFound,
    UnsafeReference,
)

_logger: Final = logging.getLogger(__name__)
_LONGEST: Final = 500
_JSON: Final = "application/problem+json"
_STATUS_OF: Final[tuple[tuple[type[Exception], HTTPStatus], ...]] = (
    (ObjectNotFound, HTTPStatus.NOT_FOUND),
    (PartNotFound, HTTPStatus.NOT_FOUND),
    (UnsafeReference, HTTPStatus.FORBIDDEN),
    (DecodeError, HTTPStatus.BAD_REQUEST),
    (InvalidPattern, HTTPStatus.BAD_REQUEST),
    (InvalidSchema, HTTPStatus.BAD_REQUEST),
    (InvalidName, HTTPStatus.UNPROCESSABLE_ENTITY),
    (InvalidPatch, HTTPStatus.UNPROCESSABLE_ENTITY),
    (OtherBase, HTTPStatus.CONFLICT),
    (InvalidPart, HTTPStatus.UNPROCESSABLE_ENTITY),
    (DigestMismatch, HTTPStatus.BAD_GATEWAY),
    (LimitExceeded, HTTPStatus.BAD_GATEWAY),
    (MissingDependency, HTTPStatus.NOT_IMPLEMENTED),
)
"""The status of errors. What is not here is the fault of the server or its store."""


class HttpProblem(HTTPException):
    """An answer that says what is wrong.

    Arguments:
        status: the status.
        detail: one sentence for a person, without secrets.
        members: further members of the JSON.
        **headers: headers, with "_" for "-".
    """

    def __init__(
        self, status: int, detail: str, members: dict[str, Any] | None = None, **headers: str
    ) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(int(status), detail, named)
        self.members = members or {}


def answer(problem: HTTPException) -> Response:
    """Return the answer that says what is wrong."""
    told = {
        "title": HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "detail": problem.detail,
        **getattr(problem, "members", {}),
    }
    data = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    return Response(data, problem.status_code, problem.headers, _JSON)


def problem_of(error: MessageBodyError) -> HttpProblem:
    """Return what a client learns of an error: what it did wrong, nothing about the machine."""
    status = next((code for kind, code in _STATUS_OF if isinstance(error, kind)), None)
    if status is None:
        _logger.error("%s", redact_urls(str(error)))
        return HttpProblem(HTTPStatus.SERVICE_UNAVAILABLE, "the server can't do this now")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _logger.warning("%s", redact_urls(str(error)))
    if isinstance(error, ObjectNotFound):
        return HttpProblem(status, "there is no such content")  # its text names the store
    if isinstance(error, MissingDependency):
        return HttpProblem(status, "this server has no such form of a message")
    return HttpProblem(status, escape(redact_urls(error.statement), limit=_LONGEST))


async def of_error(_: Request, error: Exception) -> Response:
    """Answer what was raised: a problem, an error of the toolkit, or a bug that the server logs."""
    if isinstance(error, MessageBodyError):
        return answer(problem_of(error))
    if isinstance(error, HTTPException):
        return answer(error)
    if isinstance(error, ClientDisconnect):
        # Nobody reads it.
        return answer(HttpProblem(HTTPStatus.BAD_REQUEST, "the request was not complete"))
    return answer(HttpProblem(HTTPStatus.INTERNAL_SERVER_ERROR, "an error of the server"))
