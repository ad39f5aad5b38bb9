"""HTTP and HTTPS to an address that was checked, and to no other.

The name is looked up once, every address it has is checked, and the connection goes to one of
those very addresses: a name that resolves differently a moment later changes nothing. No
proxy, no .netrc, no cookies, no compression; redirects are handed back, not followed.
"""

import contextlib
import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import attrs

from messagebody._text import escape
from messagebody.errors import AccessDenied, LimitExceeded, ObjectNotFound, StoreError
from messagebody.references.limits import Budget, Watchdog
from messagebody.references.url import Url, is_public
from messagebody.stores.base import CHUNK

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CLOSED_NAMES = frozenset(
    {"localhost", "local", "localdomain", "internal", "home.arpa", "arpa", "onion", "invalid"}
)
_TRIES = 3
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_HEADERS = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "messagebody",
}


class Closed(Exception):
    """Say why a host is not connected to."""

    def __init__(self, host: str, problem: str) -> None:
        super().__init__(host, problem)
        self.host = host
        self.problem = problem


def is_closed_name(host: str) -> bool:
    """Tell whether a name belongs to a private zone, to be refused without a look-up."""
    labels = host.split(".")
    return any(".".join(labels[start:]) in _CLOSED_NAMES for start in range(len(labels)))


@attrs.frozen
class Answer:
    """What a server answered: status, headers and a body that is still to be read."""

    status: int
    headers: http.client.HTTPMessage
    _response: http.client.HTTPResponse
    _watchdog: Watchdog
    _budget: Budget

    @property
    def is_redirect(self) -> bool:
        """Whether the content is said to be elsewhere."""
        return self.status in _REDIRECTS

    @property
    def location(self) -> str:
        """Where a redirect leads."""
        found = self.headers.get_all("Location", [])
        if len(found) != 1:
            raise StoreError(f"a redirect with {len(found)} Location headers")
        return str(found[0])

    @property
    def length(self) -> int | None:
        """What the server says the body's length is; None if it does not say."""
        found = set(self.headers.get_all("Content-Length", []))
        if not found:
            return None
        text = found.pop()
        if found or not re.fullmatch(r"[0-9]{1,19}", text):
            raise StoreError("the server's Content-Length is no number, or two")
        return int(text)

    def check_framing(self) -> None:
        """Refuse an answer whose bytes are not the content's own, or whose end is ambiguous."""
        encoding = self.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            raise StoreError(f"the server encoded the content ({escape(encoding, limit=40)})")
        transfer = self.headers.get_all("Transfer-Encoding", [])
        if transfer and [each.strip().lower() for each in transfer] != ["chunked"]:
            raise StoreError("the server used a transfer encoding other than chunked")
        if transfer and self.length is not None:
            raise StoreError("the server sent Content-Length and Transfer-Encoding at once")

    def body(self) -> Iterator[bytes]:
        """Yield the body as it arrives; raise if it ends before its stated length."""
        missing = self.length
        with self.faults():
            while chunk := self._response.read1(CHUNK):
                if self._response.chunked and (self._response.chunk_left or 0) < 0:
                    raise StoreError("the server sent a chunk of negative size")
                missing = None if missing is None else missing - len(chunk)
                yield chunk
        if self._watchdog.has_bitten:
            raise self._budget.out_of_time()
        if missing:
            raise StoreError(f"the server closed the connection {missing:,} bytes early")

    @contextlib.contextmanager
    def faults(self) -> Iterator[None]:
        """Raise the toolkit's errors instead of the network's within the block."""
        with _faults(self._watchdog, self._budget):
            yield

    def raise_for_status(self) -> None:
        """Raise unless the answer is the content (200), or some of it (206)."""
        if self.status in {200, 206}:
            return
        if self.status in {404, 410}:
            raise ObjectNotFound(f"the server has no such file (status {self.status})")
        if self.status in {401, 403}:
            raise AccessDenied(f"the server refuses (status {self.status})")
        raise StoreError(f"the server answered with status {self.status}")

    def range_start(self) -> int:
        """Return where the body begins in the content."""
        if self.status != 206:
            return 0
        match = _CONTENT_RANGE.fullmatch(self.headers.get("Content-Range", ""))
        if match is None:
            raise StoreError("the server answered a range without saying which")
        return int(match[1])


class Web:
    """Sends requests to web servers.

    Arguments:
        context: what certificates are checked against; the system's authorities if None.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context

    def context(self) -> ssl.SSLContext:
        """Return what certificates are checked against."""
        if self._context is None:
            self._context = ssl.create_default_context()
        return self._context

    @contextlib.contextmanager
    def request(
        self,
        url: Url,
        *,
        budget: Budget,
        deadline: float,
        is_trusted: bool,
        method: str = "GET",
        headers: dict[str, str] | None = None,
    ) -> Iterator[Answer]:
        """Send one request; the connection lives as long as the block.

        Raises:
            Closed: the host is not public, and is not trusted either.
            LimitExceeded: the budget is used up, or the deadline is past.
            StoreError: the server can't be reached or does not speak HTTP.
        """
        slots = budget.take_fetch(url.host)
        if not slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise budget.out_of_time()
        try:
            with Watchdog(deadline) as watchdog:
                addresses = _addresses(url, budget, deadline, is_trusted=is_trusted)
                connection = self._connection(url, addresses, budget, watchdog)
                with contextlib.closing(connection):
                    with _faults(watchdog, budget):
                        connection.request(method, url.target, headers=_HEADERS | (headers or {}))
                        response = connection.getresponse()
                    with contextlib.closing(response):
                        yield Answer(response.status, response.headers, response, watchdog, budget)
        finally:
            slots.release()

    def _connection(
        self, url: Url, addresses: list[str], budget: Budget, watchdog: Watchdog
    ) -> "_Connection":
        context = self.context() if url.scheme == "https" else None
        return _Connection(url, addresses, context, budget.limits.connect_seconds, watchdog)


class _Connection(http.client.HTTPConnection):
    """A connection to one of some addresses, in the name of the host."""

    def __init__(
        self,
        url: Url,
        addresses: list[str],
        context: ssl.SSLContext | None,
        timeout: float,
        watchdog: Watchdog,
    ) -> None:
        # The standard library adds the port to the Host header unless it is this one.
        self.default_port = 443 if url.scheme == "https" else 80
        super().__init__(url.host, url.port, timeout=timeout)
        self._name = url.address or url.host
        self._addresses = addresses
        self._context = context
        self._watchdog = watchdog

    def connect(self) -> None:
        """Connect to the first address that answers, and check that it is the host's."""
        self.sock = self._dial()
        self._watchdog.guard(self.sock)
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self._name)

    def _dial(self) -> socket.socket:
        for address in self._addresses[:_TRIES]:
            try:
                return socket.create_connection((address, self.port), self.timeout)
            except OSError as error:
                failure = error
        raise failure


def _addresses(url: Url, budget: Budget, deadline: float, *, is_trusted: bool) -> list[str]:
    """Look a host up and check every address it has."""
    if url.address is not None:
        addresses = [url.address]
    else:
        if not is_trusted and is_closed_name(url.host):
            raise Closed(url.host, "a name of a private network")
        patience = min(budget.limits.connect_seconds, deadline - time.monotonic())
        addresses = _look_up(url, patience)
    if not is_trusted and not all(map(is_public, addresses)):
        raise Closed(url.host, "an address that is not public")
    return addresses


def _look_up(url: Url, patience: float) -> list[str]:
    """Ask the system's resolver, which can't be interrupted, from a thread that can be left."""
    future: Future[list[Any]] = Future()

    def ask() -> None:
        try:
            future.set_result(socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            future.set_exception(error)

    threading.Thread(target=ask, name="messagebody-look-up", daemon=True).start()
    try:
        found = future.result(timeout=max(0.0, patience))
    except TimeoutError as error:
        raise LimitExceeded(
            f"looking the host up took over {patience:.0f} s (limit connect_seconds)"
        ) from error
    except (OSError, UnicodeError) as error:
        raise StoreError(f"the host can't be looked up: {_reason(error)}") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses:
        raise StoreError("the host has no address")
    return addresses


@contextlib.contextmanager
def _faults(watchdog: Watchdog, budget: Budget) -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, StoreError):
            raise
        if watchdog.has_bitten:
            raise budget.out_of_time() from error
        raise StoreError(f"the server failed: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return escape(str(text), limit=120)
