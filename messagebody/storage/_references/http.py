"""HTTP and HTTPS by h11, only to checked addresses.

A host is looked up once, all its addresses are checked, and the connection goes to one of them. So
a name that resolves differently a moment later changes nothing. Proxies, .netrc, cookies and
compression are not used; redirects are returned, not followed.
"""

import contextlib
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
import h11

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
_PIECE = 128 * 1024
"""The maximum number of bytes to read at a time; larger buffers take longer to get and to give."""
_FLOOR = 4 * 1024
"""The minimum number of bytes to yield at a time, except for the last piece."""

_HEAD_BYTES = 64 * 1024
"""The maximum number of bytes of a status line with its headers, or of the line before a chunk."""
_MOST_HINTS = 10
"""Informational answers (1xx) before the real one."""
_FEW_CHUNKS = 10_000
"""Chunks that may be smaller than `_SMALLEST_CHUNK` on average."""
_SMALLEST_CHUNK = 16
"""Bytes: smaller chunks cost more time than they carry content."""


class _HttpExchange:
    """A request and its answer on a connection.

    Arguments:
        connected: the socket; the exchange does not close it.
    """

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_BYTES)

    def send(self, event: h11.Event) -> None:
        """Send a head, a piece of content, or its end."""
        self.socket.sendall(self._protocol.send(event) or b"")

    def answer(self) -> h11.Response:
        """Return the head of the answer; hints before it are passed over (RFC 9110, 15.2)."""
        for _ in range(_MOST_HINTS + 1):
            event = self._next()
            if isinstance(event, h11.Response):
                return event
        raise StoreError(f"the server sent over {_MOST_HINTS} informational answers")

    def pieces(self) -> Iterator[bytes]:
        """Yield the content of the answer as it arrives."""
        chunks = size = 0
        while isinstance(event := self._next(), h11.Data):
            size += len(event.data)
            chunks += event.chunk_start
            # Each chunk takes the same time, even a small one, so a server that sends one byte a
            # chunk could keep a processor busy for minutes. Small answers may have any chunks.
            if chunks > _FEW_CHUNKS + size // _SMALLEST_CHUNK:
                raise StoreError(
                    f"the server sent {chunks:,} chunks of under {_SMALLEST_CHUNK} bytes each"
                )
            yield event.data

    def _next(self) -> Any:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            self._protocol.receive_data(self.socket.recv(_PIECE))
        return event


@attrs.frozen
class ServerAnswer:
    """The response of a server: status, headers and a body that is not read yet."""

    _exchange: _HttpExchange
    _head: h11.Response
    _watchdog: Watchdog
    _budget: FetchBudget
    is_early: bool
    """Whether the server hung up before all content was sent."""

    @property
    def status(self) -> int:
        """The status code."""
        return self._head.status_code

    @property
    def is_redirect(self) -> bool:
        """Whether the response is a redirect."""
        return self.status in _REDIRECTS

    @property
    def location(self) -> str:
        """The URL of a redirect, or of what was made."""
        found = self._headers("Location")
        # If there are two, proxies differ in which one they use (RFC 9110, 5.3).
        if len(found) != 1:
            raise StoreError(f"the server sent {len(found)} Location headers instead of one")
        return found[0]

    def _headers(self, name: str) -> list[str]:
        """Return the values of a header, which may be there more than once."""
        asked = name.lower().encode()
        return [value.decode("latin-1") for key, value in self._head.headers if key == asked]

    @property
    def length(self) -> int | None:
        """The length of the body from Content-Length; None without the header."""
        # h11 refuses what is no number, and two that differ (RFC 9110, 8.6).
        return next(map(int, self._headers("Content-Length")), None)

    @property
    def is_chunked(self) -> bool:
        """Whether the body comes in chunks; h11 refuses any other transfer encoding."""
        return bool(self._headers("Transfer-Encoding"))

    def check_framing(self) -> None:
        """Raise an error if the body is encoded, or its end is ambiguous."""
        encoding = ", ".join(self._headers("Content-Encoding")).strip().lower()
        # Only "identity" was requested. Decoding could turn a few bytes into very many.
        if encoding not in {"", "identity"}:
            raise StoreError(f"the server encoded the content ({escape(encoding, limit=40)})")
        # Clients and proxies could use different headers to find the end (request smuggling).
        if self.is_chunked and self.length is not None:
            raise StoreError("the server sent Content-Length and Transfer-Encoding at once")

    def body(self) -> Iterator[bytes]:
        """Yield the body as it arrives; raise an error if it is shorter than its length."""
        is_empty, gathered = True, bytearray()
        with _faults(self._watchdog, self._budget):
            for piece in self._exchange.pieces():
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
        if is_empty and self.length is None and not self.is_chunked:
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
        match = _CONTENT_RANGE.fullmatch(", ".join(self._headers("Content-Range")))
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
        self._context.set_alpn_protocols(["http/1.1"])
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
            with Watchdog(deadline) as watchdog, contextlib.ExitStack() as stack:
                addresses = _addresses(url, budget, deadline, is_trusted=is_trusted)
                with _faults(watchdog, budget):
                    connected = _dial(addresses, url.port, budget.limits.connect_seconds, deadline)
                    stack.enter_context(contextlib.closing(connected))
                    watchdog.guard(connected)
                    exchange = _HttpExchange(stack.enter_context(self._secured(connected, url)))
                    is_cut = _send(exchange, url, method, headers or {}, content)
                    if content is not None:
                        exchange.socket.settimeout(None)  # the watchdog ends it
                        watchdog.hasten(time.monotonic() + patience)
                    head = exchange.answer()
                # A connection that is shut down looks like the end of the headers.
                if watchdog.has_expired:
                    raise budget.out_of_time()
                yield ServerAnswer(exchange, head, watchdog, budget, is_cut)
        finally:
            slots.release()

    def _secured(self, connected: socket.socket, url: Url) -> socket.socket:
        """Return a socket that is encrypted, if the URL says so."""
        if url.scheme != "https":
            return connected
        # The certificate must match the host of the URL, not the address that was checked.
        name = url.address or url.host.rstrip(".")
        return self.context().wrap_socket(connected, server_hostname=name)


def _send(
    exchange: _HttpExchange,
    url: Url,
    method: str,
    headers: dict[str, str],
    content: Iterable[bytes] | None,
) -> bool:
    """Send a request, and return whether the server hung up before all content was sent."""
    host = url.host if url.has_default_port else f"{url.host}:{url.port}"
    fields = [("Host", host), *(_HEADERS | headers).items()]
    try:
        exchange.send(h11.Request(method=method, target=url.target, headers=fields))
        for piece in content or ():
            exchange.send(h11.Data(data=piece))
        exchange.send(h11.EndOfMessage())
    except ConnectionError:
        # A server may refuse content before all of it came; then its answer is there to be read.
        if content is None:
            raise
        return True
    return False


def _dial(
    addresses: list[str], port: int | None, patience: float, deadline: float
) -> socket.socket:
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
    except (OSError, h11.ProtocolError, ValueError) as error:
        if isinstance(error, MessageBodyError):
            raise
        if watchdog.has_expired:
            raise budget.out_of_time() from harmless_cause(error)
        raise StoreError(f"the server failed: {_reason(error)}") from harmless_cause(error)


def _reason(error: BaseException) -> str:
    """Return the reason of an error."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, h11.RemoteProtocolError) and "closed" in str(error).lower():
        return "it closed the connection before the end of the content"
    text = getattr(error, "strerror", None) or redact_urls(str(error)) or type(error).__name__
    return escape(str(text), limit=120)
