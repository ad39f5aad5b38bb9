"""Errors of S3 in the terms of the toolkit."""

import contextlib
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from botocore import exceptions as botocore
from botocore.parsers import ResponseParserError
from urllib3 import exceptions as urllib3

from messagebody._core import escape, quote, redact_urls
from messagebody.errors import AccessDenied, MessageBodyError, ObjectNotFound, StoreError
from messagebody.storage._stores.base import harmless_cause

_CUT: Final = 60
_NOT_FOUND = frozenset({"NoSuchKey", "NotFound", "404"})
# The codes that people see, with what they mean in plain words.
_DENIED = {
    "AccessDenied": "access denied",
    "AllAccessDisabled": "access denied",
    "Forbidden": "access denied",
    "403": "access denied",
    "AccountProblem": "the account has a problem",
    "InvalidAccessKeyId": "the server does not know the access key",
    "SignatureDoesNotMatch": "the server refuses the signature; is the secret key right?",
    "InvalidToken": "the server refuses the session token",
    "ExpiredToken": "the credentials have expired",
    "ExpiredTokenException": "the credentials have expired",
    "TokenRefreshRequired": "the credentials have expired",
    "RequestTimeTooSkewed": "the clocks of client and server differ too much",
}
_BUSY = frozenset({"SlowDown", "TooManyRequests", "RequestLimitExceeded", "503", "429"})
_NO_CREDENTIALS = (
    botocore.NoCredentialsError,
    botocore.PartialCredentialsError,
    botocore.CredentialRetrievalError,
    botocore.ProfileNotFound,
    botocore.SSOError,
    botocore.TokenRetrievalError,
)
_NO_NETWORK = (
    botocore.ConnectionError,
    botocore.HTTPClientError,
    botocore.ResponseStreamingError,
    botocore.IncompleteReadError,
    urllib3.HTTPError,
    ConnectionError,
    TimeoutError,
)
# A server that knows no trailing checksums refuses the header that announces them.
_UNKNOWN_CHECKSUM = (
    "x-amz-trailer",
    "x-amz-sdk-checksum",
    "x-amz-checksum",
    "aws-chunked",
    "STREAMING-UNSIGNED-PAYLOAD",
    "x-amz-content-sha256",
    "functionality that is not implemented",
)


# Answers to a header that a server does not know, by servers that do not say which.
_UNKNOWN_HEADER = frozenset({
    "", "400", "BadRequest", "InvalidArgument", "InvalidRequest", "NotImplemented",
})  # fmt: skip


def may_refuse_condition(error: BaseException) -> bool:
    """Return whether a server may know no `If-None-Match`; it stored nothing."""
    return status_of(error) == 501 or (
        status_of(error) == 400 and code_of(error) in _UNKNOWN_HEADER
    )


def code_of(error: BaseException) -> str:
    """Return the code in a service's error answer, empty for other exceptions."""
    if not isinstance(error, botocore.ClientError):
        return ""
    return str(error.response.get("Error", {}).get("Code", ""))


def status_of(error: BaseException) -> int:
    """Return the HTTP status of a service's error answer, 0 for other exceptions."""
    if not isinstance(error, botocore.ClientError):
        return 0
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def translate(error: BaseException, store: str, key: str = "") -> StoreError:
    """Return the toolkit's error for one of botocore's."""
    code = code_of(error)
    if code in _NOT_FOUND:
        return ObjectNotFound(store=store, key=key)
    if code == "NoSuchBucket":
        return ObjectNotFound("there is no such bucket", store, key)
    if code in _DENIED:
        return AccessDenied(_DENIED[code], store, key)
    if isinstance(error, _NO_CREDENTIALS):
        return AccessDenied(f"no credentials: {_text(error)}", store, key)
    return StoreError(_problem(error, code), store, key)


def _problem(error: BaseException, code: str) -> str:
    if isinstance(error, botocore.FlexibleChecksumError | botocore.ChecksumError):
        return (
            f"{_text(error)}. If the server states the checksum of the whole object for a range, "
            'open the store with response_checksum_validation="when_required"'
        )
    if code in _BUSY or status_of(error) in {429, 503}:
        return f"the server is busy: {_text(error)}. Try later, or raise attempts"
    if isinstance(error, _NO_NETWORK):
        return f"can't reach the server, or lost it: {_text(error)}"
    text = _text(error)
    if _is_upload(error) and any(word.lower() in text.lower() for word in _UNKNOWN_CHECKSUM):
        text += '. Open the store with request_checksum_calculation="when_required"'
    return text


def _is_upload(error: BaseException) -> bool:
    """Return whether a request sent content; only such requests carry checksums."""
    name = getattr(error, "operation_name", "")
    return name in {"PutObject", "UploadPart", "CreateMultipartUpload", "CompleteMultipartUpload"}


def _text(error: BaseException) -> str:
    if isinstance(error, botocore.ClientError) and not _says_why(error):
        return _unexplained(error)
    return escape(redact_urls(str(error)) or type(error).__name__, limit=300)


def _says_why(error: botocore.ClientError) -> bool:
    """Return whether an answer has an error of S3; botocore makes one of a bare status."""
    told = error.response.get("Error", {})
    code, message = str(told.get("Code") or ""), told.get("Message") or ""
    return bool(code and not code.isdecimal()) or message not in {"", _phrase(status_of(error))}


def _phrase(status: int) -> str:
    return next((each.phrase for each in HTTPStatus if each == status), "")


def _unexplained(error: botocore.ClientError) -> str:
    """Return what is known of an answer without an error of S3 in it, as proxies send them."""
    status = status_of(error)
    phrase = f" ({_phrase(status)})" if _phrase(status) else ""
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    server = headers.get("server", "")
    who = f" It says that it is {quote(server[:_CUT])}." if server else ""
    return (
        f"status {status}{phrase} came for {error.operation_name}, without an error of S3 in it."
        f"{who} Did a proxy answer, or is endpoint_url that of another service?"
    )


@contextlib.contextmanager
def translated(store: str, key: str = "") -> Iterator[None]:
    """Raise the toolkit's errors instead of botocore's within the block."""
    try:
        yield
    except (botocore.BotoCoreError, botocore.ClientError, urllib3.HTTPError) as error:
        raise translate(error, store, key) from harmless_cause(error)
    except (ConnectionError, TimeoutError) as error:
        raise translate(error, store, key) from harmless_cause(error)
    # botocore takes answers apart without looking whether all is there.
    except KeyError as error:
        if isinstance(error, MessageBodyError):
            raise
        raise StoreError(f"the server's answer lacks {error}", store, key) from error
    # Nor whether its dates and numbers are some, or the body is XML at all.
    except (ValueError, ResponseParserError) as error:
        if isinstance(error, MessageBodyError):
            raise
        raise StoreError(
            f"the server's answer can't be read: {_text(error)}", store, key
        ) from error
    except RecursionError as error:  # botocore follows a server that redirects every question
        raise StoreError("the server redirects without end", store, key) from error
