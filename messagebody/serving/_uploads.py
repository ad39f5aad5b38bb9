"""Uploads: a place for one large part before its message is sent, and tickets that open it.

A ticket states size, digest and time, and is signed. So the server keeps no record of it, and
nothing has to be cleaned up but the objects that no message refers to.
"""

import hashlib
import hmac
import re
import struct
import time
from http import HTTPStatus
from typing import Final

import attrs

from messagebody._core import base64, from_hex_digits, raw_digest
from messagebody.serving._problems import HttpProblem

_FORM: Final = struct.Struct(">QQ32s")
_TICKET: Final = re.compile(r"[A-Za-z0-9_-]{86}")


@attrs.frozen
class Ticket:
    """What may be put at a place.

    Arguments:
        size: the size of the content.
        digest: its digest.
        until: the time after which nobody can refer to it any more.
    """

    size: int
    digest: str
    until: int


class Tickets:
    """Write and read tickets.

    Arguments:
        token: the token of writers, of which the key is made.
    """

    def __init__(self, token: str) -> None:
        self._key = hmac.new(token.encode(), b"messagebody uploads", hashlib.sha256).digest()

    def write(self, ticket: Ticket) -> str:
        """Return a ticket as the last segment of a URL."""
        told = _FORM.pack(ticket.size, ticket.until, raw_digest(ticket.digest))
        return base64.encode(told + self._proof(told), url_safe=True).rstrip("=")

    def is_own(self, text: str) -> bool:
        """Return whether text is a ticket of this server, be its time over or not."""
        if _TICKET.fullmatch(text) is None:
            return False
        data = base64.decode(text)
        return hmac.compare_digest(data[_FORM.size :], self._proof(data[: _FORM.size]))

    def read(self, text: str) -> Ticket:
        """Return the ticket that the last segment of a URL is.

        Raises:
            HttpProblem: it is none of this server, or its time is over.
        """
        if not self.is_own(text):
            raise HttpProblem(HTTPStatus.NOT_FOUND, "there is no such upload")
        size, until, digest = _FORM.unpack(base64.decode(text)[: _FORM.size])
        if time.time() >= until:
            raise HttpProblem(HTTPStatus.GONE, "the time of this upload is over")
        return Ticket(size, from_hex_digits(digest.hex()), until)

    def _proof(self, told: bytes) -> bytes:
        return hmac.new(self._key, told, hashlib.sha256).digest()[:16]
