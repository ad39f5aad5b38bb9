"""The application: which request goes where."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from messagebody._core import (
    guided,
    require_iterable,
    require_resolver,
    require_schema,
    require_token,
)
from messagebody.errors import InvalidArgument, MessageBodyError, MissingDependency
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.cors import CORSMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingDependency("serving messages", "serve") from error

from messagebody.serving._access import Access, Guard
from messagebody.serving._contents import reader_of
from messagebody.serving._edits import Edits
from messagebody.serving._limits import DEFAULT, ServingLimits
from messagebody.serving._links import key_of
from messagebody.serving._messages import UPLOADS, StoredBodies, open_messages
from messagebody.serving._problems import of_error
from messagebody.serving._site import Site
from messagebody.serving._uploads import Tickets

_HANDLED: Final = (HTTPException, MessageBodyError, ClientDisconnect, Exception)
_Endpoint = Callable[[Request], Awaitable[Response]]


@guided
def app(
    source: Any,
    *,
    writable: bool = False,
    token: str | None = None,
    secret: str | bytes | None = None,
    schema: MessageBodySchema | None = None,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
    resolver: Resolver | None = None,
    limits: ServingLimits = DEFAULT,
) -> Starlette:
    """Return an ASGI application that serves messages over HTTP.

    `/` is the list of messages, `/ID` a message and `/ID/NAME` the content of a part. Any ASGI
    server runs it, and `serving.run` does so with safe settings.

    Arguments:
        source: a body, a directory of messages or the file of one (a path), a store, or its URL. A
            message in a directory is a file `ID.json`; nothing else there is served.
        writable: whether messages and parts may be put, by those who show the token.
        token: what writers show, as `Authorization: Bearer TOKEN`. It also reads, where a secret
            closes reading.
        secret: the secret of signed links. With it, reading needs such a link, see `sign`.
        schema: what every message that is put must be valid for.
        hosts: names of the server. Requests to other names are refused, but for those of the
            loopback, so that no page in a browser can read through a name of its own.
        origins: origins of pages that may read, such as "https://agent.example".
        resolver: reads references that are not public, such as those to a store of the program.
            References to public https servers are redirects.
        limits: the limits of sizes and times.

    Raises:
        InvalidArgument: an argument is of another type, or it is writable without a token.
        OSError: nothing is at the path.

    Examples:
        >>> from messagebody import MessageBody
        >>> from starlette.testclient import TestClient
        >>> served = app(MessageBody(["Cats are cute."]), hosts=["testserver"])
        >>> TestClient(served).get("/message/~0").text
        'Cats are cute.'
    """
    _check_arguments(writable, token, schema, resolver, limits)
    key = None if secret is None else key_of(secret)
    origins = [*require_iterable(origins, "origins in a list", hint="")]
    names = require_iterable(hosts, "names of the server in a list", hint="")
    access = Access(names, origins, token, key)
    messages = open_messages(source, limits)
    reader = reader_of(messages.store, resolver)
    site = Site(messages, resolver, reader, limits)
    edits = None
    if writable:
        if not isinstance(messages, StoredBodies):
            raise InvalidArgument("a directory or a store to write to", source)
        edits = Edits(messages, access, Tickets(str(token)), schema, reader, limits)
    made = Starlette(
        routes=_routes(site, edits),
        middleware=_middleware(access, origins),
        exception_handlers=dict.fromkeys(_HANDLED, of_error),
    )
    made.router.redirect_slashes = False
    return made


def _check_arguments(
    writable: bool,
    token: object,
    schema: object,
    resolver: object,
    limits: object,
) -> None:
    if writable and token is None:
        raise InvalidArgument("a token that writers show", token, "app(…, writable=True, token=…)")
    if token is not None:
        require_token(token)
    if schema is not None:
        require_schema(schema)
    require_resolver(resolver)
    if not isinstance(limits, ServingLimits):
        raise InvalidArgument("ServingLimits", limits, "ServingLimits(seconds=…) changes one")


def _middleware(access: Access, origins: list[str]) -> list[Middleware]:
    guard = Middleware(Guard, access=access)
    if not origins:
        return [guard]
    # What pages of these origins may ask and see.
    shared = Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "HEAD", "PUT", "PATCH", "POST"],
        allow_headers=["Authorization", "If-Match", "If-None-Match", "Last-Event-ID", "Range"],
        expose_headers=["ETag", "Link", "Repr-Digest", "Content-Range"],
    )
    return [guard, shared]


def _routes(site: Site, edits: Edits | None) -> list[Route]:
    message = {"GET": site.message, "POST": site.validate}
    part: dict[str, _Endpoint] = {"GET": site.part}
    uploads = []
    if edits is not None:
        message["PUT"] = edits.put_message
        message["PATCH"] = edits.patch_message
        part["PUT"] = edits.put_part
        uploads = [
            _route(f"/{UPLOADS}", {"POST": edits.authorise}),
            _route(f"/{UPLOADS}/{{ticket}}", {"GET": edits.get_upload, "PUT": edits.put_upload}),
        ]
    return [
        _route("/", {"GET": site.listing}),
        *uploads,
        _route("/{id}", message),
        _route("/{id}/{name:path}", part),
    ]


def _route(path: str, endpoints: Mapping[str, _Endpoint]) -> Route:
    """Return one route for all methods of a path, so that 405 names all of them."""

    async def endpoint(request: Request) -> Response:
        found = endpoints["GET" if request.method == "HEAD" else request.method]
        return await found(request)

    return Route(path, endpoint, methods=[*endpoints])
