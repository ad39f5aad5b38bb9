"""A server of HTTP for one application: uvicorn, with the times that it does not bound itself."""

import asyncio
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_CONNECTIONS = 512
_HEADER_BYTES = 64 * 1024


def run(app: Any, sockets: Iterable[socket.socket], *, seconds: float = 30.0) -> None:
    """Serve an application until the program gets a signal to stop.

    A connection is closed if a request's headers don't come in time, or if nobody reads the answer.

    Arguments:
        app: the application.
        sockets: the sockets that listen.
        seconds: the time for the headers of a request, and for a piece of an answer.
    """

    class Protocol(PatientProtocol):
        patience = seconds

    config = uvicorn.Config(
        app,
        # This parser refuses what is ambiguous, such as a second Host.
        http=Protocol,
        ws="none",
        log_level="warning",
        # A log of requests would hold signed links.
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_graceful_shutdown=5,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[*sockets])


class PatientProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, for clients that may be slow, but not for ever."""

    patience = 30.0
    """The time for headers, and for a piece of an answer."""
    _headers: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Give a new connection the time to send its first request."""
        super().connection_made(transport)
        self._headers = self.loop.call_later(self.patience, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Stop the time when the headers are complete, and begin it again with the next ones."""
        super().data_received(data)
        is_waiting = self.conn.their_state is h11.IDLE
        if not is_waiting and self._headers is not None:
            self._headers.cancel()
            self._headers = None
        elif is_waiting and self._headers is None and self.conn.trailing_data[0]:
            self._headers = self.loop.call_later(self.patience, self.transport.abort)

    def pause_writing(self) -> None:
        """Give the client the time to read what was sent."""
        super().pause_writing()
        self._reader = self.loop.call_later(self.patience, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on, as the client reads."""
        super().resume_writing()
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the times of a connection that is over."""
        for timer in (self._headers, self._reader):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)
