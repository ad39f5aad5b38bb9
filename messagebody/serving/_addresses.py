"""Addresses of contents: what clients see in place of the URLs of the server's own store.

A message refers to its objects by the URL of the store, which means nothing elsewhere, so clients
see the URLs of its parts on the server. What they put back is turned round.
"""

from http import HTTPStatus
from urllib.parse import quote as quoted

from messagebody._core import MessageBody, Part, columns, key_of, quote
from messagebody.serving._messages import UPLOADS, ServedBody
from messagebody.serving._problems import HttpProblem
from messagebody.serving._uploads import Tickets
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
        index: f"{base}{quoted(served.id)}{part.name or f'/~{index}'}"
        for index, part in enumerate(served.body)
        if part.url is not None and served.own_key(part) is not None
    }
    return _with_urls(served.body, addresses) if addresses else served.body


def stored_body(
    body: MessageBody, bases: tuple[str, ...], store: Store, tickets: Tickets
) -> MessageBody:
    """Return a message of a client as it is stored.

    Arguments:
        body: the message.
        bases: the URLs of the server by all its names, with a slash at the end.
        store: where the objects are.
        tickets: those of uploads.

    Raises:
        HttpProblem: a part refers to content of this server that is not there.
    """
    places = [_place(each.url, bases, tickets) for each in columns(body).records]
    if not any(places):
        return body
    changed = MessageBody()
    for place, part in zip(places, body, strict=True):
        changed.append(part if place is None else _stored_part(part, place, store, tickets))
    return changed


def _place(url: str | None, bases: tuple[str, ...], tickets: Tickets) -> str | None:
    """Return the path of a URL on this server; None for what is elsewhere."""
    if url is None:
        return None
    for base in bases:
        if url.startswith(base):
            return url.removeprefix(base)
    # A proxy may have a name that this server does not know, but the ticket is its own.
    _, found, ticket = url.rpartition(f"/{UPLOADS}/")
    return f"{UPLOADS}/{ticket}" if found and tickets.is_own(ticket) else None


def _stored_part(part: Part, place: str, store: Store, tickets: Tickets) -> Part:
    size, digest = part.size, part.digest
    if place.startswith(f"{UPLOADS}/"):
        ticket = tickets.read(place.removeprefix(f"{UPLOADS}/"))
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
