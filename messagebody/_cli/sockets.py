"""Sockets of the commands that serve."""

import socket
from typing import Final

import click

from messagebody._core import quote

LOOPBACK: Final = "127.0.0.1"
LOOPBACKS: Final = (LOOPBACK, "localhost", "::1")


def listen(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of a host, all with one port: a free one for 0."""
    made: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            place = (address[0], port, *address[2:])
            made.append(socket.create_server(place, family=family))
            port = made[0].getsockname()[1]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise click.UsageError(f"can't listen at {quote(host)}, port {port}: {reason}") from error
    return made
