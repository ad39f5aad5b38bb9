"""Reading: the list, messages, parts, and findings about them."""

import html
import json
import warnings
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import attrs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from messagebody._core import JSON, MessageBody, columns, human_size
from messagebody.globs import name_pattern
from messagebody.schema import MessageBodySchema
from messagebody.serving._answers import at_length, of_content, of_form
from messagebody.serving._contents import Elsewhere, PartContent, content_of
from messagebody.serving._limits import ServingLimits
from messagebody.serving._messages import Dated, Form, OneBody, ServedBody, StoredBodies
from messagebody.serving._problems import HttpProblem
from messagebody.serving._representations import HTML, best_of, of_message
from messagebody.serving._requests import read, require_type
from messagebody.storage import Resolver

_STYLE: Final = """
:root { color-scheme: light dark }
body { margin: 0 auto; padding: 2.5rem 1.5rem; max-width: 48rem; line-height: 1.5;
  font-family: system-ui, sans-serif }
table { width: 100%; border-collapse: collapse }
th { text-align: left; font-weight: 600 }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid #8884; overflow-wrap: anywhere }
th:not(:first-child), td:not(:first-child) { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums }
"""
_PAGE: Final = (
    "<!doctype html><html lang=en><meta charset=utf-8>"
    "<meta name=viewport content='width=device-width'><title>Messages</title><style>{}</style>"
    "<h1>Messages</h1>{}{}"
)
_TABLE: Final = "<table><tr><th>Message<th>Size<th>Changed (UTC){}</table>"
_ROW: Final = '<tr><td><a href="./{0}">{1}</a><td>{2}<td>{3}'
_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
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
        if kind == HTML:
            headers["Content_Security_Policy"] = _POLICY
        following = f"./?after={_cursor(entries[-1])}" if more else ""
        if following:
            headers["Link"] = f'<{following}>; rel="next"'
        data = _as_json(entries) if kind == JSON else _as_page(entries, following)
        return of_form(request, Form(data), kind, **headers)

    def _page(self, entries: list[Dated], after: str | None) -> tuple[list[Dated], bool]:
        if after is not None:
            last = _read_cursor(after)
            entries = [each for each in entries if (-each.modified, each.id) > last]
        return entries[: self.limits.page], len(entries) > self.limits.page

    # Messages

    async def message(self, request: Request) -> Response:
        """Answer with a message, or with the parts of it that match a pattern."""
        served = await self._find(request.path_params["id"])
        if "list" in request.query_params:
            return await at_length(self._list_parts, request, served)
        return await of_message(request, served, self.reader)

    async def _find(self, name: str) -> ServedBody:
        served = await run_in_threadpool(self.messages.find_small, name)
        return await at_length(self.messages.find, name) if served is None else served

    def _list_parts(self, request: Request, served: ServedBody) -> Response:
        asked = request.query_params["list"]
        pattern = name_pattern(asked)
        pattern.require_matches()

        def make() -> Form:
            found = [
                entry
                for entry in served.body.manifest()
                if "name" in entry and pattern.matches(entry["name"])
            ]
            return Form(json.dumps(found).encode())

        return of_form(request, served.form(("list", asked), make), JSON)

    async def validate(self, request: Request) -> Response:
        """Answer with the violations of a message by the schema in the request."""
        if "validate" not in request.query_params:
            detail = "POST takes a schema, with ?validate= in the URL"
            raise HttpProblem(HTTPStatus.METHOD_NOT_ALLOWED, detail, Allow="GET, HEAD")
        require_type(request, JSON)
        data = await read(request, self.limits.schema_bytes, self.limits)
        served = await self._find(request.path_params["id"])
        return await at_length(self._validate, served, data)

    def _validate(self, served: ServedBody, data: bytes) -> Response:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # they are for the schema's author
            schema = MessageBodySchema.from_json(data)
        self._check_steps(schema, served.body)
        found = [*schema.iter_violations(served.body, resolver=self.reader)]
        told = {"valid": not found, "violations": [each.to_dict() for each in found]}
        return Response(json.dumps(told), media_type=JSON)

    def _check_steps(self, schema: MessageBodySchema, body: MessageBody) -> None:
        # At worst each pattern looks at each character, and anybody may send a schema.
        steps = len(schema) * sum(len(name or "") + 1 for name in columns(body).names)
        if steps > self.limits.schema_steps:
            detail = (
                f"a schema of {len(schema):,} parts takes too long for a message of "
                f"{len(body):,} parts; get the message and validate it yourself"
            )
            raise HttpProblem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)

    # Parts

    async def part(self, request: Request) -> Response:
        """Answer with the content of a part."""
        name, place = request.path_params["id"], f"/{request.path_params['name']}"
        found = await run_in_threadpool(self._held_content, name, place)
        if found is None:
            served = await at_length(self.messages.find, name)
            found = await run_in_threadpool(self._content, served, place)
        return await of_content(request, found, self.limits.ranges)

    def _held_content(self, name: str, place: str) -> PartContent | Elsewhere | None:
        served = self.messages.find_small(name)
        return None if served is None else self._content(served, place)

    def _content(self, served: ServedBody, place: str) -> PartContent | Elsewhere:
        return content_of(served, served.index_of(place), self.resolver)


def _as_json(entries: list[Dated]) -> bytes:
    listed = [{"id": each.id, "size": each.size, "modified": each.modified} for each in entries]
    return json.dumps({"messages": listed}).encode()


def _as_page(entries: list[Dated], following: str) -> bytes:
    rows = "".join(
        _ROW.format(
            quote(each.id), html.escape(each.id), human_size(each.size), _minute(each.modified)
        )
        for each in entries
    )
    listed = _TABLE.format(rows) if rows else "<p>There are none."
    more = f'<p><a href="{html.escape(following)}" rel=next>Older messages</a>' if following else ""
    return _PAGE.format(_STYLE, listed, more).encode()


def _minute(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"
    except (OSError, OverflowError, ValueError):  # a file may have any time
        return ""


def _cursor(entry: Dated) -> str:
    # The shortest digits that are the same number again.
    return f"{entry.modified!r},{quote(entry.id)}"


def _read_cursor(text: str) -> tuple[float, str]:
    modified, _, name = text.partition(",")
    try:
        return -float(modified), name
    except ValueError as error:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, "no such page of the list") from error
