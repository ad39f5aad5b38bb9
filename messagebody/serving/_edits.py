"""Writing: messages and parts are put, checked at the door, and large contents go to the store."""

import json
import time
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote as quoted

import attrs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from messagebody._core import (
    JSON,
    OCTET_STREAM,
    MessageBody,
    Part,
    Reference,
    SpoolBlob,
    essence,
    hex_digits,
    human_size,
    is_digest,
    key_of,
    strict_json,
)
from messagebody.errors import DigestMismatch, DuplicateName, PartNotFound
from messagebody.names import is_name
from messagebody.patches import MEDIA_TYPE, Patch
from messagebody.schema import MessageBodySchema
from messagebody.serving._access import Access
from messagebody.serving._addresses import public_json, stored_body
from messagebody.serving._answers import of_content
from messagebody.serving._conditions import check_change
from messagebody.serving._contents import PartContent
from messagebody.serving._limits import ServingLimits
from messagebody.serving._messages import UPLOADS, ServedBody, StoredBodies, not_found
from messagebody.serving._problems import HttpProblem
from messagebody.serving._requests import content_type_of, read, read_to_spool, require_type
from messagebody.serving._uploads import Ticket, Tickets
from messagebody.storage import Resolver, Spool
from messagebody.storage._stores.objects import ensure, is_fresh

_MOST_ASKED: Final = 4096
"""Bytes of a request for an upload."""
_LARGEST: Final = 2**63


@attrs.frozen
class Edits:
    """What is written on a server.

    Arguments:
        messages: the messages.
        access: who may write.
        tickets: those of uploads.
        schema: what a message must be; None for any message.
        reader: reads the contents that the schema asks about.
        limits: the limits.
    """

    messages: StoredBodies
    access: Access
    tickets: Tickets
    schema: MessageBodySchema | None
    reader: Resolver
    limits: ServingLimits

    # Messages

    async def put_message(self, request: Request) -> Response:
        """Write a message, new or in place of the one that If-Match names."""
        self.access.check_writer(request)
        require_type(request, JSON)
        name = request.path_params["id"]
        await run_in_threadpool(self._check_message, name, request.headers)
        data = await read(request, self.limits.message.json_bytes, self.limits)
        bases = self.access.bases(request)
        write = partial(self._put_message, name, data, bases, request.headers)
        served, is_new = await run_in_threadpool(write)
        return _answer(served.state, f"./{quoted(name)}" if is_new else "")

    async def patch_message(self, request: Request) -> Response:
        """Change the message that If-Match names by a patch of it."""
        self.access.check_writer(request)
        name = request.path_params["id"]
        if essence(content_type_of(request)) != MEDIA_TYPE:
            detail = f"{MEDIA_TYPE} is expected"
            raise HttpProblem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, Accept_Patch=MEDIA_TYPE)
        await run_in_threadpool(self._check_message, name, request.headers)
        data = await read(request, self.limits.message.json_bytes, self.limits)
        bases = self.access.bases(request)
        change = partial(self._patch_message, name, data, bases, request.headers)
        served = await run_in_threadpool(change)
        return _answer(served.state, "")

    def _patch_message(
        self, name: str, data: bytes, bases: tuple[str, ...], headers: Mapping[str, str]
    ) -> ServedBody:
        patch = Patch.from_json(data, limits=self.limits.message)
        with self.messages.lock():
            old = self._check_message(name, headers)
            if old is None:
                raise not_found()
            # A patch is for the message as clients see it, with the URLs of this server.
            seen = MessageBody.from_json(public_json(old, bases[0]), limits=self.limits.message)
            new = _apply(patch, seen, self.limits)
            body = stored_body(new, bases, self.messages.store, self.tickets)
            return self._write(name, body, is_new=False)

    def _check_message(self, name: str, headers: Mapping[str, str]) -> ServedBody | None:
        old = self.messages.find_old(name)
        check_change(headers, None if old is None else old.state, exists=old is not None)
        return old

    def _put_message(
        self, name: str, data: bytes, bases: tuple[str, ...], headers: Mapping[str, str]
    ) -> tuple[ServedBody, bool]:
        given = MessageBody.from_json(data, limits=self.limits.message)
        body = stored_body(given, bases, self.messages.store, self.tickets)
        with self.messages.lock():
            old = self._check_message(name, headers)
            return self._write(name, body, is_new=old is None), old is None

    # Parts

    async def put_part(self, request: Request) -> Response:
        """Write the content of a part, new or in place of the one that If-Match names."""
        self.access.check_writer(request)
        name, place = request.path_params["id"], f"/{request.path_params['name']}"
        kind = content_type_of(request)
        await run_in_threadpool(self._check_part, name, place, request.headers)
        spool = await read_to_spool(request, self.limits.upload_bytes, self.limits)
        with spool.closed_on_error():
            put = partial(self._put_part, name, place, kind, spool, request.headers)
            is_new = await run_in_threadpool(put)
        spool.close()
        return _answer(hex_digits(spool.digest), f"./{place[1:]}" if is_new else "")

    def _check_part(
        self, name: str, place: str, headers: Mapping[str, str]
    ) -> tuple[ServedBody, int | None]:
        served = self.messages.find(name)
        try:
            index = served.index_of(place)
        except PartNotFound:
            if not is_name(place):
                raise
            check_change(headers, None, exists=False)
            return served, None
        digest = served.digest_of(index, served.body[index])
        check_change(headers, None if digest is None else hex_digits(digest), exists=True)
        return served, index

    def _put_part(
        self, name: str, place: str, kind: str, spool: Spool, headers: Mapping[str, str]
    ) -> bool:
        content = self._content(spool, kind)
        with self.messages.lock():
            served, index = self._check_part(name, place, headers)
            body = served.body.copy()
            if index is None:
                body.append(Part(name=place, content_type=kind, **content))
            else:
                body[index] = body[index].evolve(content_type=kind, **content)
            self._write(name, body, is_new=False)
            return index is None

    def _content(self, spool: Spool, kind: str) -> dict[str, Any]:
        """Return the content of a part as arguments: small in the message, large in the store."""
        if spool.size <= self.limits.inline_bytes:
            return {"content": spool.read()}
        stored = self._store(spool, kind)
        return {"url": stored.url, "size": stored.size, "digest": stored.digest}

    def _store(self, spool: Spool, kind: str) -> Reference:
        return ensure(self.messages.store, spool.digest, SpoolBlob(spool), kind)

    def _write(self, name: str, body: MessageBody, *, is_new: bool) -> ServedBody:
        if self.schema is not None:
            violations = [*self.schema.iter_violations(body, resolver=self.reader)]
            if violations:
                found = {"violations": [each.to_dict() for each in violations]}
                detail = "the message is not what the schema of this server says"
                raise HttpProblem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, found)
        try:
            return self.messages.write(name, body, is_new=is_new)
        except DuplicateName as error:
            detail = "something is there already"
            raise HttpProblem(HTTPStatus.PRECONDITION_FAILED, detail) from error

    # Uploads

    async def authorise(self, request: Request) -> Response:
        """Answer with a place for the content of one part."""
        self.access.check_writer(request)
        require_type(request, JSON)
        size, digest = _announcement(await read(request, _MOST_ASKED, self.limits))
        if size > self.limits.upload_bytes:
            detail = f"at most {human_size(self.limits.upload_bytes)} are taken here"
            raise HttpProblem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
        until = int(time.time()) + self.limits.upload_seconds
        ticket = self.tickets.write(Ticket(size, digest, until))
        place = f"{request.scope.get('root_path', '')}/{UPLOADS}/{ticket}"
        told = json.dumps({"url": place, "expires": until})
        return Response(told, HTTPStatus.CREATED.value, {"Location": place}, JSON)

    async def put_upload(self, request: Request) -> Response:
        """Store the content of one part, if it is what was authorised."""
        self.access.check_writer(request)
        ticket = self.tickets.read(request.path_params["ticket"])
        kind = content_type_of(request)
        spool = await read_to_spool(request, ticket.size, self.limits)
        with spool.closed_on_error():
            if (spool.size, spool.digest) != (ticket.size, ticket.digest):
                detail = "the content has another size or digest than authorised"
                raise HttpProblem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
            await run_in_threadpool(self._store, spool, kind)
        spool.close()
        return Response(status_code=HTTPStatus.NO_CONTENT.value)

    async def get_upload(self, request: Request) -> Response:
        """Answer with the content that was put at a place, whether or not a message refers to it.

        Its place is a secret of those who may write, and of whom they tell.
        """
        ticket = self.tickets.read(request.path_params["ticket"])
        content = await run_in_threadpool(self._upload_content, ticket)
        return await of_content(request, content, self.limits.ranges)

    def _upload_content(self, ticket: Ticket) -> PartContent:
        store, key = self.messages.store, key_of(ticket.digest)
        # An old object counts as absent, so that writers put it again before a sweep takes it.
        if not is_fresh(store.stat(key), ticket.size, ticket.digest):
            raise HttpProblem(HTTPStatus.NOT_FOUND, "nothing was put at this place yet")
        tag, read = hex_digits(ticket.digest), partial(store.read_range, key)
        return PartContent(ticket.size, OCTET_STREAM, tag, UPLOADS, read)


def _apply(patch: Patch, body: MessageBody, limits: ServingLimits) -> MessageBody:
    try:
        return patch.apply(body, limits=limits.message)
    except DigestMismatch as error:
        # The fault of the client: elsewhere it is that of a store.
        raise HttpProblem(HTTPStatus.UNPROCESSABLE_ENTITY, error.statement) from error


def _announcement(data: bytes) -> tuple[int, str]:
    try:
        asked = strict_json.loads(data, depth=10)
    except ValueError as error:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, f"the request is no JSON: {error}") from error
    members = asked if isinstance(asked, dict) else {}
    size, digest = members.get("size"), members.get("digest")
    if type(size) is not int or not 0 <= size < _LARGEST or not is_digest(digest):
        detail = 'an upload is asked for with {"size": BYTES, "digest": "sha256:…"}'
        raise HttpProblem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    return size, str(digest)


def _answer(tag: str, location: str) -> Response:
    headers = {"ETag": f'"{tag}"'}
    if location:
        return Response(
            status_code=HTTPStatus.CREATED.value, headers=headers | {"Location": location}
        )
    return Response(status_code=HTTPStatus.NO_CONTENT.value, headers=headers)
