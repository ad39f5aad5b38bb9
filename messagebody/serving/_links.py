"""Signed links: a URL with which anyone may read one message or one part until a time."""

import hashlib
import hmac
import math
import re
import time
from collections.abc import Iterable
from enum import Enum
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

from messagebody._core import is_url, quote, redact_url
from messagebody.errors import InvalidArgument

_EXPIRES: Final = "expires"
_LONGEST: Final = 10**9
"""Seconds that a link may be of use, about thirty years."""
_SIGNATURE: Final = "signature"
_TIME: Final = re.compile(r"[0-9]{1,12}")
_FIELDS: Final = 50
"""Fields of a query that are read."""


class LinkState(Enum):
    """What a link allows."""

    VALID = "valid"
    MISSING = "missing"
    WRONG = "wrong"
    EXPIRED = "expired"


def sign(url: str, secret: str | bytes, expires: float) -> str:
    """Return a link that reads a message, or one part of it, without a token.

    The link of a message covers its parts. The host is not covered, so that a proxy may have
    another name.

    Arguments:
        url: the URL of a message or a part.
        secret: the `secret=` of the application.
        expires: seconds from now after which the link is of no use.

    Raises:
        InvalidArgument: it is not a URL of a web server, the secret is empty, or the time is over.

    Examples:
        >>> link = sign("http://127.0.0.1:8000/report", "a long secret", 600)
        >>> link.partition("?expires=")[0]
        'http://127.0.0.1:8000/report'
    """
    if not isinstance(url, str) or not is_url(url) or not url.lower().startswith("http"):
        got = quote(redact_url(url)) if isinstance(url, str) else type(url).__name__
        raise InvalidArgument("the URL of a message, as http://127.0.0.1:8000/report", got=got)
    if not isinstance(expires, int | float) or not 0 < expires < _LONGEST:
        raise InvalidArgument("seconds from now", expires)
    parts = urlsplit(url)
    until = math.ceil(time.time() + expires)
    proof = _proof(unquote(parts.path), until, key_of(secret))
    query = f"{_EXPIRES}={until}&{_SIGNATURE}={proof}"
    joined = f"{parts.query}&{query}" if parts.query else query
    return urlunsplit((parts.scheme, parts.netloc, parts.path, joined, ""))


def key_of(secret: str | bytes) -> bytes:
    """Return the key that a secret is.

    Raises:
        InvalidArgument: it is empty, or neither text nor bytes.
    """
    if isinstance(secret, str | bytes) and secret:
        return secret.encode() if isinstance(secret, str) else secret
    raise InvalidArgument("a secret, as text or bytes", got=f"an empty {type(secret).__name__}")


def verdict(paths: Iterable[str], query: str, key: bytes) -> LinkState:
    """Return whether the query of a request allows reading.

    Arguments:
        paths: the decoded path of the request, and that of its message.
        query: its query.
        key: the key of the application.
    """
    try:
        given = parse_qs(query, keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:  # too many fields
        return LinkState.WRONG
    proofs, times = given.get(_SIGNATURE, []), given.get(_EXPIRES, [])
    if not proofs and not times:
        return LinkState.MISSING
    if len(proofs) != 1 or len(times) != 1 or not _TIME.fullmatch(times[0]):
        return LinkState.WRONG
    until = int(times[0])
    told = proofs[0].encode()
    if not any(hmac.compare_digest(told, _proof(path, until, key).encode()) for path in paths):
        return LinkState.WRONG
    return LinkState.VALID if time.time() < until else LinkState.EXPIRED


def _proof(path: str, until: int, key: bytes) -> str:
    told = f"messagebody link\n{until}\n{path}"
    return hmac.new(key, told.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
