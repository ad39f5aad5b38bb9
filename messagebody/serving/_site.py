"""Reading: the list, messages, parts, and findings about them."""

import html
import json
import warnings
from http import HTTPStatus
from typing import Final

import attrs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from messagebody._core import JSON, hex_digits, sha256_of
from messagebody.globs import name_pattern
from messagebody.schema import MessageBodySchema
from messagebody.serving._addresses import public_json
from messagebody.serving._answers import of_content, tagged
from messagebody.serving._contents import Elsewhere, PartContent, content_of
from messagebody.serving._limits import ServingLimits
from messagebody.serving._messages import Dated, OneBody, ServedBody, StoredBodies
from messagebody.serving._problems import HttpProblem
from messagebody.serving._representations import HTML, best_of, of_message
from messagebody.serving._requests import read, require_type
from messagebody.storage import Resolver

_PAGE: Final = (
    "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Messages</title><h1>Messages</h1><ul>{}</ul>{}"
)


@attrs.frozen
class Site:
    """What is read of a server.

    Arguments:
        messages: the messages.
        resolver: reads references that are not public; None for the closed default.
        reader: reads the objects of the own store, too.
        limits: the limits.
    """

    messages: OneBody | StoredBodies
    resolver: Resolver | None
    reader: Resolver
    limits: ServingLimits

    # The list

    async def listing(self, request: Request) -> Response:
        """Answer with a page of the list."""
        kind = best_of(request, (JSON, HTML))
        if kind is None:
            detail = "the list is application/json or text/html"
            raise HttpProblem(HTTPStatus.NOT_ACCEPTABLE, detail, Vary="Accept")
        entries = await run_in_threadpool(self.messages.newest)
        entries, more = self._page(entries, request.query_params.get("after"))
        headers = {"Vary": "Accept"}
        following = f"./?after={_cursor(entries[-1])}" if more else ""
        if following:
            headers["Link"] = f'<{following}>; rel="next"'
        data = _as_json(entries) if kind == JSON else _as_page(entries, following)
        return tagged(request, data, hex_digits(sha256_of(data)), kind, **headers)

    def _page(self, entries: list[Dated], after: str | None) -> tuple[list[Dated], bool]:
        if after is not None:
            last = _read_cursor(after)
            entries = [each for each in entries if (-each.modified, each.id) > last]
        return entries[: self.limits.page], len(entries) > self.limits.page

    # Messages

    async def message(self, request: Request) -> Response:
        """Answer with a message, or with the parts of it that match a pattern."""
        served = await run_in_threadpool(self.messages.find, request.path_params["id"])
        if "list" in request.query_params:
            return await run_in_threadpool(self._listed, request, served)
        data = await run_in_threadpool(public_json, served, str(request.base_url))
        return await of_message(request, served, data, self.reader)

    def _listed(self, request: Request, served: ServedBody) -> Response:
        pattern = name_pattern(request.query_params["list"])
        pattern.require_matches()
        found = [
            entry
            for entry in served.body.manifest()
            if "name" in entry and pattern.matches(entry["name"])
        ]
        data = json.dumps(found).encode()
        return tagged(request, data, hex_digits(sha256_of(data)), JSON)

    async def validate(self, request: Request) -> Response:
        """Answer with the violations of a message by the schema in the request."""
        if "validate" not in request.query_params:
            detail = "POST takes a schema, with ?validate= in the URL"
            raise HttpProblem(HTTPStatus.METHOD_NOT_ALLOWED, detail, Allow="GET, HEAD")
        require_type(request, JSON)
        data = await read(request, self.limits.schema_bytes, self.limits)
        return await run_in_threadpool(self._validated, request.path_params["id"], data)

    def _validated(self, name: str, data: bytes) -> Response:
        served = self.messages.find(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # they are for the schema's author
            schema = MessageBodySchema.from_json(data)
        found = [*schema.iter_violations(served.body, resolver=self.reader)]
        told = {"valid": not found, "violations": [each.to_dict() for each in found]}
        return Response(json.dumps(told), media_type=JSON)

    # Parts

    async def part(self, request: Request) -> Response:
        """Answer with the content of a part."""
        found = await run_in_threadpool(self._content, **request.path_params)
        return await of_content(request, found, self.limits.ranges)

    def _content(self, id: str, name: str) -> PartContent | Elsewhere:  # noqa: A002 - as in the route
        served = self.messages.find(id)
        return content_of(served, served.index_of(f"/{name}"), self.resolver)


def _as_json(entries: list[Dated]) -> bytes:
    listed = [{"id": each.id, "size": each.size, "modified": each.modified} for each in entries]
    return json.dumps({"messages": listed}).encode()


def _as_page(entries: list[Dated], following: str) -> bytes:
    items = "".join(
        f'<li><a href="./{html.escape(each.id)}">{html.escape(each.id)}</a>' for each in entries
    )
    more = f'<p><a href="{html.escape(following)}" rel=next>older</a>' if following else ""
    return _PAGE.format(items, more).encode()


def _cursor(entry: Dated) -> str:
    # The shortest digits that are the same number again.
    return f"{entry.modified!r},{entry.id}"


def _read_cursor(text: str) -> tuple[float, str]:
    modified, _, name = text.partition(",")
    try:
        return -float(modified), name
    except ValueError as error:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "no such page of the list") from error
