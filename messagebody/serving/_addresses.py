"""Addresses of contents: what clients see in place of the URLs of the server's own store.

A message refers to its objects by the URL of the store, which means nothing elsewhere, so clients
see the URLs of its parts on the server. What they put back is turned round.
"""

from collections.abc import Callable
from http import HTTPStatus

from messagebody._core import MessageBody, Part, columns, key_of, quote
from messagebody.serving._messages import UPLOADS, ServedBody
from messagebody.serving._problems import HttpProblem
from messagebody.serving._uploads import Ticket
from messagebody.storage import Store


def public_json(served: ServedBody, base: str) -> bytes:
    """Return the JSON of a message for clients; see `public_body`."""
    body = public_body(served, base)
    return served.data if body is served.body else body.to_json_bytes()


def public_body(served: ServedBody, base: str) -> MessageBody:
    """Return a message for clients, which shares its contents with the one that is served.

    Arguments:
        served: the message.
        base: the URL of the server as the client knows it, with a slash at the end.
    """
    addresses = {
        index: f"{base}{served.id}{part.name or f'/~{index}'}"
        for index, part in enumerate(served.body)
        if part.url is not None and served.own_key(part) is not None
    }
    return _with_urls(served.body, addresses) if addresses else served.body


def stored_body(
    body: MessageBody, base: str, store: Store, ticket_of: Callable[[str], Ticket]
) -> MessageBody:
    """Return a message of a client as it is stored.

    Arguments:
        body: the message.
        base: the URL of the server as the client knows it, with a slash at the end.
        store: where the objects are.
        ticket_of: reads the ticket of an upload.

    Raises:
        HttpProblem: a part refers to content of this server that is not there.
    """
    urls = columns(body).records
    if not any(each.url is not None and each.url.startswith(base) for each in urls):
        return body
    changed = MessageBody()
    for part in body:
        is_here = part.url is not None and part.url.startswith(base)
        changed.append(_stored(part, base, store, ticket_of) if is_here else part)
    return changed


def _stored(part: Part, base: str, store: Store, ticket_of: Callable[[str], Ticket]) -> Part:
    place = str(part.url).removeprefix(base)
    size, digest = part.size, part.digest
    if place.startswith(f"{UPLOADS}/"):
        ticket = ticket_of(place.removeprefix(f"{UPLOADS}/"))
        if (size or ticket.size, digest or ticket.digest) != (ticket.size, ticket.digest):
            raise _not_there(part, "whose upload has another size or digest")
        size, digest = ticket.size, ticket.digest
    if size is None or digest is None:
        raise _not_there(part, "without its size and digest")
    key = key_of(digest)
    found = store.stat(key)
    if found is None or found.size != size:
        raise _not_there(part, "that is not here")
    return part.evolve(url=store.url_of(key), size=size, digest=digest)


def _with_urls(body: MessageBody, urls: dict[int, str]) -> MessageBody:
    return MessageBody(
        [
            part.evolve(url=urls[index], size=part.size, digest=part.digest)
            if index in urls
            else part
            for index, part in enumerate(body)
        ]
    )


def _not_there(part: Part, why: str) -> HttpProblem:
    detail = f"{part.label} refers to content of this server {why}"
    return HttpProblem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, {"part": quote(part.label)})
