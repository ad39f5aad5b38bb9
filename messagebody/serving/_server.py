"""A server of HTTP for one application: uvicorn, with the times that it does not bound itself."""

import asyncio
import logging
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from messagebody.errors import MissingDependency

try:
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise MissingDependency("serving messages", "serve") from error

_CONNECTIONS = 512
_HEADER_BYTES = 64 * 1024
_LOGGERS = ("uvicorn.error", f"{__package__}._messages", f"{__package__}._problems")
_LINES_A_MINUTE = 60
_MINUTE = 60.0
_BYTES_PER_SECOND = 1024
"""The pace of a client that reads."""


def run(app: Any, sockets: Iterable[socket.socket], *, seconds: float = 30.0) -> None:
    """Serve an application until the program gets a signal to stop.

    A connection is closed if a request's headers don't come in time, if what is left of a request
    that has its answer doesn't, or if nobody reads the answer.

    Arguments:
        app: the application.
        sockets: the sockets that listen.
        seconds: the time for the headers of a request, for what comes after its answer, and for a
            piece of an answer.
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
        # A proxy on this machine says whether clients come by https; URLs in answers do, too.
        proxy_headers=True,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_graceful_shutdown=5,
    )
    calm = CalmLog()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(calm)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[*sockets])


class CalmLog(logging.Filter):
    """Keep strangers from filling a log: one line for what they did wrong, and few lines a minute.

    What the server itself does wrong keeps its traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0.0
        self._lines = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written; change it if it is about a client."""
        if "WebSocket" in record.getMessage():
            return False  # advice to install what this server does not want
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, h11.ProtocolError):
            record.msg, record.args = "A client broke the rules of HTTP: %s", (error,)
            record.exc_info = record.exc_text = None
        if not 0 <= record.created - self._begun < _MINUTE:
            left_out = self._lines - _LINES_A_MINUTE
            self._begun, self._lines = record.created, 0
            if left_out > 0:
                text = "%s lines were left out: at most %s are written in a minute"
                logging.getLogger(record.name).warning(text, f"{left_out:,}", _LINES_A_MINUTE)
        self._lines += 1
        return self._lines <= _LINES_A_MINUTE


class PatientProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, for clients that may be slow, but not for ever."""

    patience = 30.0
    """The time for headers, for the rest of a request that is answered, for a piece of an answer.
    """
    _owed: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Give a new connection the time to send its first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Stop the time when the headers are complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin the time again: for the next headers, or for a body that nobody waits for."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Run the time while the client owes bytes that the application does not wait for.

        Bytes that drip in do not begin it again, or a client could hold its connection for ever.
        """
        is_answered = self.conn.our_state is h11.DONE
        theirs = self.conn.their_state
        is_owed = theirs is h11.IDLE or (is_answered and theirs is h11.SEND_BODY)
        if is_owed and self._owed is None:
            self._owed = self.loop.call_later(self.patience, self.transport.abort)
        elif not is_owed and self._owed is not None:
            self._owed.cancel()
            self._owed = None

    def pause_writing(self) -> None:
        """Give the client the time to read what was sent."""
        super().pause_writing()
        self._expect_reading()

    def _expect_reading(self) -> None:
        # One write may be many megabytes, so a client that goes on reading has more time.
        unread = self.transport.get_write_buffer_size()
        self._reader = self.loop.call_later(self.patience, self._check_reading, unread)

    def _check_reading(self, before: int) -> None:
        read = before - self.transport.get_write_buffer_size()
        if read < self.patience * _BYTES_PER_SECOND:
            self.transport.abort()
        else:
            self._expect_reading()

    def resume_writing(self) -> None:
        """Go on, as the client reads."""
        super().resume_writing()
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the times of a connection that is over."""
        for timer in (self._owed, self._reader):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)
