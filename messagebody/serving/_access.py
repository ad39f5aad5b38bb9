"""Who is answered: names of the host, origins of pages, paths, tokens and signed links."""

import hmac
import ipaddress
import re
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from messagebody._core import quote
from messagebody.errors import InvalidArgument
from messagebody.serving._links import LinkState, verdict
from messagebody.serving._problems import HttpProblem, answer

_NAME: Final = r"(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])"
_HOST: Final = re.compile(rf"({_NAME})(?::([0-9]{{1,5}}))?")
_PORT: Final = re.compile(r":[0-9]{1,5}\Z")
_ORIGIN: Final = re.compile(rf"https?://{_NAME}(?::[0-9]{{1,5}})?")
_LOOPBACKS: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
# They are never separators nor characters of names, and some proxies read them as such.
_HIDDEN: Final = re.compile(rb"%(?:2f|5c|00)", re.IGNORECASE)
_MOST_HEADERS: Final = 200
_HEADER_BYTES: Final = 64 * 1024
_HEADERS: Final = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What every answer says unless it says otherwise."""


class Access:
    """Decide whether a request is answered.

    Without a secret, whoever reaches the server may read. With one, reading needs a signed link or
    the token. Writing always needs the token.

    Arguments:
        hosts: names of the server besides those of the loopback; with a port, only with this one.
        origins: origins of pages that may read, besides those of the server itself.
        token: what writers show; None if nobody may write.
        key: the key of signed links; None if reading is open.

    Raises:
        InvalidArgument: a name or an origin is none.
    """

    def __init__(
        self, hosts: Iterable[str], origins: Iterable[str], token: str | None, key: bytes | None
    ) -> None:
        self._hosts = _LOOPBACKS | {_host(each) for each in hosts}
        self._origins = frozenset(_origin(each) for each in origins)
        self._token = None if token is None else token.encode()
        self._key = key

    def check(self, request: HTTPConnection) -> None:
        """Raise a `HttpProblem` if a request is not to be answered."""
        _check_headers(request)
        host = self._check_host(request)
        self._check_origin(request, host)
        raw = request.scope.get("raw_path") or b""
        if _HIDDEN.search(raw):
            raise HttpProblem(HTTPStatus.NOT_FOUND, "there is nothing at this path")
        # A browser asks with OPTIONS, without a token, whether a page may send the request.
        is_asked = request.scope["method"] == "OPTIONS"
        if self._key is not None and not is_asked and not self._has_token(request):
            self._check_link(request, self._key)

    def check_writer(self, request: HTTPConnection) -> None:
        """Raise a `HttpProblem` if a request does not show the token."""
        if not self._has_token(request):
            raise _unauthorised("writing needs the header Authorization: Bearer TOKEN")

    def bases(self, request: HTTPConnection) -> tuple[str, ...]:
        """Return the URLs of the server by all its names, first as the client knows it."""
        own = request.base_url
        port = "" if own.port is None else f":{own.port}"
        names = [name if _PORT.search(name) else name + port for name in self._hosts]
        others = [f"{way}://{name}{own.path}" for way in ("http", "https") for name in names]
        return str(own), *others

    def _check_host(self, request: HTTPConnection) -> str:
        found = request.headers.getlist("host")
        host = found[0].lower() if len(found) == 1 else ""
        match = _HOST.fullmatch(host)
        if match is None or not {match[1], host} & self._hosts:
            detail = "the server does not go by this name; its owner can add names"
            raise HttpProblem(HTTPStatus.MISDIRECTED_REQUEST, detail)
        return host

    def _check_origin(self, request: HTTPConnection, host: str) -> None:
        # A browser states it for requests of pages; "null" is that of pages without one.
        for origin in map(str.lower, request.headers.getlist("origin")):
            if origin not in {f"http://{host}", f"https://{host}", *self._origins}:
                raise HttpProblem(HTTPStatus.FORBIDDEN, "pages of this origin are not answered")

    def _check_link(self, request: HTTPConnection, key: bytes) -> None:
        root, path = request.scope.get("root_path", ""), request.scope["path"]
        below = path.removeprefix(root).split("/")
        message = f"{root}/{below[1]}" if len(below) > 1 else path
        found = verdict({path, message}, request.url.query, key)
        if found is LinkState.MISSING:
            raise _unauthorised("reading needs a signed link or the header Authorization")
        if found is LinkState.EXPIRED:
            raise HttpProblem(HTTPStatus.GONE, "the time of this link is over")
        if found is LinkState.WRONG:
            raise HttpProblem(HTTPStatus.FORBIDDEN, "the signature is not one of this path")

    def _has_token(self, request: HTTPConnection) -> bool:
        scheme, _, told = request.headers.get("authorization", "").partition(" ")
        if self._token is None or scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(told.strip().encode("utf-8", "replace"), self._token)


class Guard:
    """Ask before every request, and add to each answer the headers that keep a browser safe.

    Arguments:
        app: the application.
        access: who is answered.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = HTTPConnection(scope)
        try:
            self._access.check(request)
        except HttpProblem as problem:
            await answer(problem)(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)


def _check_headers(request: HTTPConnection) -> None:
    # Servers bound the bytes that they wait for, but may take more that come at once.
    headers = request.headers.raw
    if len(headers) > _MOST_HEADERS or sum(len(k) + len(v) for k, v in headers) > _HEADER_BYTES:
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        raise HttpProblem(status, f"at most {_MOST_HEADERS} headers are read")
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        # A proxy may have read the other one, and then what follows is no request of its client
        # (RFC 9112, 6.3).
        detail = "a request has either Content-Length or Transfer-Encoding"
        raise HttpProblem(HTTPStatus.BAD_REQUEST, detail, Connection="close")


def _unauthorised(detail: str) -> HttpProblem:
    challenge = 'Bearer realm="messagebody"'
    return HttpProblem(HTTPStatus.UNAUTHORIZED, detail, WWW_Authenticate=challenge)


def _host(name: str) -> str:
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
        return f"[{address.compressed}]" if address.version == 6 else address.compressed
    if isinstance(name, str) and _HOST.fullmatch(name.lower()):
        return name.lower()
    raise InvalidArgument("a host name or an address, such as agent.example", got=quote(name))


def _origin(name: str) -> str:
    if isinstance(name, str) and _ORIGIN.fullmatch(name.lower()):
        return name.lower()
    raise InvalidArgument("the origin of pages, such as https://agent.example", got=quote(name))
