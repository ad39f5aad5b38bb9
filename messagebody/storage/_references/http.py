"""HTTP and HTTPS by urllib3, only to checked addresses.

A host is looked up once, all its addresses are checked, and the connection goes to one of them. So
a name that resolves differently a moment later changes nothing. Proxies, .netrc, cookies and
compression are not used; redirects are returned, not followed.
"""

import contextlib
import http.client
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import Any

import attrs
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from messagebody._base.text import escape, redact_urls
from messagebody.errors import (
    AccessDenied,
    LimitExceeded,
    MessageBodyError,
    ObjectNotFound,
    StoreError,
)
from messagebody.storage._references.limits import FetchBudget, Watchdog
from messagebody.storage._references.url import Closed, Url, check_host, is_public
from messagebody.storage._stores.base import harmless_cause

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TRIES = 3
"""Addresses of a host that are tried."""
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19}|\*)")
_HEADERS = {
    "Accept": "*/*",
    # Nothing is decoded, so that a small response can't grow.
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "messagebody",
}
_PIECE = 256 * 1024
"""The maximum number of bytes to read at a time."""
_FLOOR = 4 * 1024
"""The minimum number of bytes to yield at a time, except for the last piece."""

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")
_LONGEST_LINE = 8 * 1024
"""Bytes of the line that states the size of a chunk."""
_INFORMATIONAL = frozenset({102, 103})
_MOST_HINTS = 10
"""Informational answers (1xx) before the real one."""
_FEW_CHUNKS = 10_000
"""Chunks that may be smaller than `_SMALLEST_CHUNK` on average."""
_SMALLEST_CHUNK = 16
"""Bytes: smaller chunks cost more time than they carry content."""


class _Response(http.client.HTTPResponse):
    """A response of the standard library that also skips early hints, and is strict about chunks.

    The library parses chunk sizes as Python integers, so that "-5" reads without end and "1_0" is
    ten. Each chunk takes the same time, even a small one, so a server that sends one byte per chunk
    could keep a processor busy for minutes.
    """

    _chunks = 0
    _chunk_bytes = 0

    def _read_status(self) -> tuple[str, int, str]:
        found: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
        # The library skips only 100, but a client must accept all 1xx (RFC 9110, 15.2).
        for _ in range(_MOST_HINTS):
            if found[1] not in _INFORMATIONAL:
                break
            http.client.parse_headers(self.fp)
            found = super()._read_status()  # type: ignore[misc]
        return found

    def _read_next_chunk_size(self) -> int:
        # One byte more than the limit detects a longer line.
        line = self.fp.readline(_LONGEST_LINE + 1)
        size = line.partition(b";")[0].strip()
        if len(line) > _LONGEST_LINE or not _CHUNK_SIZE.fullmatch(size):
            self._close_conn()  # type: ignore[attr-defined]
            raise http.client.HTTPException("a chunk without a legal size")
        found = int(size, 16)
        self._chunks += 1
        self._chunk_bytes += found
        # Small responses may have chunks of any size; large ones need a reasonable average.
        if self._chunks > _FEW_CHUNKS + self._chunk_bytes // _SMALLEST_CHUNK:
            raise http.client.HTTPException(
                f"chunks of under {_SMALLEST_CHUNK} bytes each, {self._chunks:,} of them"
            )
        return found


class _Pinned:
    """A connection that `dial` opens: to a checked address, and guarded by a watchdog."""

    response_class: Any = _Response
    dial: Any

    def _new_conn(self) -> socket.socket:
        connected: socket.socket = self.dial()
        return connected


class _Plain(_Pinned, HTTPConnection):
    """A connection without encryption, only for entries of the allow list."""


class _Encrypted(_Pinned, HTTPSConnection):
    """An encrypted connection, whose certificate must match the host name, not the address."""


@attrs.frozen
class ServerAnswer:
    """The response of a server: status, headers and a body that is not read yet."""

    _response: HTTPResponse
    _watchdog: Watchdog
    _budget: FetchBudget
    is_early: bool
    """Whether the server hung up before all content was sent."""

    @property
    def status(self) -> int:
        """The status code."""
        return self._response.status

    @property
    def is_redirect(self) -> bool:
        """Whether the response is a redirect."""
        return self.status in _REDIRECTS

    @property
    def location(self) -> str:
        """The URL of a redirect, or of what was made."""
        found = self._response.headers.getlist("Location")
        # If there are two, proxies differ in which one they use (RFC 9110, 5.3).
        if len(found) != 1:
            raise StoreError(f"the server sent {len(found)} Location headers instead of one")
        return str(found[0])

    @property
    def length(self) -> int | None:
        """The length of the body from Content-Length; None without the header."""
        found = set(self._response.headers.getlist("Content-Length"))
        if not found:
            return None
        text = found.pop()
        # Equal repetitions are one length (RFC 9110, 8.6); different ones are an attack.
        if found or not re.fullmatch(r"[0-9]{1,19}", text):
            raise StoreError("the server's Content-Length is not a number, or there are two")
        return int(text)

    def check_framing(self) -> None:
        """Raise an error if the body is encoded, or its end is ambiguous."""
        encoding = self._response.headers.get("Content-Encoding", "").strip().lower()
        # Only "identity" was requested. Decoding could turn a few bytes into very many.
        if encoding not in {"", "identity"}:
            raise StoreError(f"the server encoded the content ({escape(encoding, limit=40)})")
        transfer, length = self._transfer_encodings(), self.length
        if transfer and transfer != ["chunked"]:
            raise StoreError("the server used a transfer encoding other than chunked")
        # Clients and proxies could use different headers to find the end (request smuggling).
        if transfer and length is not None:
            raise StoreError("the server sent Content-Length and Transfer-Encoding at once")

    def _transfer_encodings(self) -> list[str]:
        found = self._response.headers.getlist("Transfer-Encoding")
        return [each.strip().lower() for each in found]

    def body(self) -> Iterator[bytes]:
        """Yield the body as it arrives; raise an error if it is shorter than its length."""
        is_empty, gathered = True, bytearray()
        with _faults(self._watchdog, self._budget):
            while piece := self._response.read1(_PIECE, decode_content=False):
                is_empty = False
                # Join tiny pieces, because each object has a large overhead.
                gathered += piece
                if len(gathered) >= _FLOOR:
                    yield bytes(gathered)
                    gathered.clear()
        # Reading from a socket that was shut down looks like the end of the content.
        if self._watchdog.has_expired:
            raise self._budget.out_of_time()
        # A connection that is closed within the status line or headers also looks like this.
        if is_empty and self.length is None and not self._transfer_encodings():
            raise StoreError("the server closed the connection before any content")
        if gathered:
            yield bytes(gathered)

    def raise_for_status(self) -> None:
        """Raise an error unless the response is the content (200) or a range of it (206)."""
        if self.status in {200, 206}:
            return
        if self.status in {404, 410}:
            raise ObjectNotFound(f"the server has no such file (status {self.status})")
        if self.status in {401, 403}:
            raise AccessDenied(f"the server refuses (status {self.status})")
        raise StoreError(f"the server answered with status {self.status}")

    def content_range(self) -> tuple[int, int | None]:
        """Return the start of the body in the content, and where more could come; None if unknown.

        A server may send less of a range than it has. That is not the end of the content.
        """
        if self.status != 206:
            return 0, self.length
        match = _CONTENT_RANGE.fullmatch(self._response.headers.get("Content-Range", ""))
        if match is None:
            raise StoreError("the server sent a range without a valid Content-Range")
        # The end of the header is inclusive, unlike that of Python.
        return int(match[1]), int(match[2]) + 1 if match[3] == "*" else int(match[3])


class Web:
    """An HTTP client.

    Arguments:
        context: the TLS context to verify certificates; the system's authorities if None.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context

    def context(self) -> ssl.SSLContext:
        """Return the TLS context to verify certificates."""
        if self._context is None:
            self._context = ssl.create_default_context()
            # Only subject alternative names count (RFC 9110, 4.3.4).
            self._context.hostname_checks_common_name = False
        return self._context

    @contextlib.contextmanager
    def request(
        self,
        url: Url,
        *,
        budget: FetchBudget,
        deadline: float,
        is_trusted: bool,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        content: Iterable[bytes] | None = None,
        patience: float = math.inf,
    ) -> Iterator[ServerAnswer]:
        """Send a request and yield the response; the connection is closed after the block.

        Content is sent as it is, so `headers` say its length. The server answers it when it has
        stored it, and has `patience` seconds for that once it was sent.

        Raises:
            Closed: the host is neither public nor trusted.
            LimitExceeded: the budget is exhausted, or the deadline has passed.
            StoreError: the server can't be reached, or does not speak HTTP.
        """
        # Counted before waiting, so that a body can't queue more requests than its limit.
        slots = budget.take_fetch(url.host)
        if not slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise budget.out_of_time()
        try:
            with Watchdog(deadline) as watchdog:
                addresses = _addresses(url, budget, deadline, is_trusted=is_trusted)
                connection = self._connection(url, addresses, budget, deadline, watchdog)
                with contextlib.closing(connection):
                    with _faults(watchdog, budget):
                        is_cut = _send(connection, method, url.target, headers or {}, content)
                        if content is not None:
                            connection.timeout = None  # the watchdog ends it
                            watchdog.hasten(time.monotonic() + patience)
                        response = connection.getresponse()
                    with contextlib.closing(response):
                        # A connection that is shut down looks like the end of the headers.
                        if watchdog.has_expired:
                            raise budget.out_of_time()
                        yield ServerAnswer(response, watchdog, budget, is_cut)
        finally:
            slots.release()

    def _connection(
        self,
        url: Url,
        addresses: list[str],
        budget: FetchBudget,
        deadline: float,
        watchdog: Watchdog,
    ) -> HTTPConnection:
        patience = budget.limits.connect_seconds
        connection: _Plain | _Encrypted
        # The host stays a name, for the Host header and the certificate.
        if url.scheme == "https":
            context = self.context()
            connection = _Encrypted(url.host, url.port, timeout=patience, ssl_context=context)
        else:
            connection = _Plain(url.host, url.port, timeout=patience)

        def dial() -> socket.socket:
            connected = _dial(addresses, int(url.port or 0), patience, deadline)
            watchdog.guard(connected)
            return connected

        connection.dial = dial
        return connection


def _send(
    connection: HTTPConnection,
    method: str,
    target: str,
    headers: dict[str, str],
    content: Iterable[bytes] | None,
) -> bool:
    """Send a request, and return whether the server hung up before all content was sent."""
    try:
        connection.request(
            method,
            target,
            content,
            _HEADERS | headers,
            preload_content=False,
            decode_content=False,
        )
    except ConnectionError:
        # A server may refuse content before all of it came; then its answer is there to be read.
        if content is None or connection.sock is None:
            raise
        return True
    return False


def _dial(addresses: list[str], port: int, patience: float, deadline: float) -> socket.socket:
    """Connect to the first address that answers."""
    for address in addresses[:_TRIES]:
        # A timeout of zero would mean "non-blocking".
        left = max(0.001, min(patience, deadline - time.monotonic()))
        try:
            connected = socket.create_connection((address, port), left)
        except OSError as error:
            failure = error
        else:
            connected.settimeout(patience)
            return connected
    raise failure


def _addresses(url: Url, budget: FetchBudget, deadline: float, *, is_trusted: bool) -> list[str]:
    """Look up a host and check all its addresses."""
    if not is_trusted:
        check_host(url)
    if url.address is not None:
        return [url.address]
    patience = min(budget.limits.connect_seconds, deadline - time.monotonic())
    addresses = _look_up(url, patience)
    # All, because some attempt would use the private address of a name with several.
    if not is_trusted and not all(map(is_public, addresses)):
        raise Closed(url.host, "an address that is not public")
    return addresses


def _look_up(url: Url, patience: float) -> list[str]:
    """Look up a host in a thread, because the system's resolver can't be interrupted."""
    future: Future[list[Any]] = Future()

    def ask() -> None:
        try:
            future.set_result(socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            future.set_exception(error)

    threading.Thread(target=ask, name="messagebody-look-up", daemon=True).start()
    try:
        found = future.result(timeout=max(0.0, patience))
    except TimeoutError as error:
        raise LimitExceeded(
            f"looking up the host took over {patience:.0f} s (limit connect_seconds)"
        ) from error
    except (OSError, UnicodeError) as error:
        raise StoreError(f"the host can't be looked up: {_reason(error)}") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses:
        raise StoreError("the host has no address")
    return addresses


@contextlib.contextmanager
def _faults(watchdog: Watchdog, budget: FetchBudget) -> Iterator[None]:
    """Translate errors of the network into errors of the toolkit."""
    try:
        yield
    # The standard library raises `ValueError` for malformed numbers in headers.
    except (OSError, http.client.HTTPException, HTTPError, ValueError) as error:
        if isinstance(error, MessageBodyError):
            raise
        if watchdog.has_expired:
            raise budget.out_of_time() from harmless_cause(error)
        raise StoreError(f"the server failed: {_reason(error)}") from harmless_cause(error)


def _reason(error: BaseException) -> str:
    """Return the reason of an error; urllib3 wraps the original error."""
    for each in (error, *error.args, error.__context__):
        if isinstance(each, ssl.SSLCertVerificationError):
            return f"its certificate is not valid ({each.verify_message})"
        if isinstance(each, TimeoutError):
            return "it did not answer in time"
        if isinstance(each, http.client.IncompleteRead):
            return "it closed the connection before the end of the content"
    text = getattr(error, "strerror", None) or redact_urls(str(error)) or type(error).__name__
    return escape(str(text), limit=120)
