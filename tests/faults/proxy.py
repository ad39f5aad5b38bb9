"""A proxy on loopback between a client and an S3 server, which spoils what a test tells it to."""

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable

import attrs

Wreck = Callable[["Exchange"], None]


@attrs.define
class Exchange:
    """One request on its way, and what a fault may do with it."""

    operation: str
    head: bytes
    body: bytes
    client: socket.socket
    upstream: tuple[str, int]

    def forward(self) -> bytes:
        """Send the request on and return the whole answer."""
        head = re.sub(rb"(?mi)^Connection:.*\r\n|^Expect:.*\r\n", b"", self.head)
        head = head[:-2] + b"Connection: close\r\n\r\n"
        with socket.create_connection(self.upstream) as server:
            server.sendall(head + self.body)
            answer = b""
            while chunk := server.recv(1 << 20):
                answer += chunk
        return answer

    def send(self, data: bytes) -> None:
        self.client.sendall(data)

    def wait_for_the_end(self) -> None:
        """Wait until the client hangs up."""
        while self.client.recv(1 << 16):
            pass

    def reset(self) -> None:
        """Hang up the hard way: the other side sees a reset, not an end."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.close()


def operation_of(head: bytes) -> str:
    """Name a request as S3 does."""
    method, target, *_ = head.split(b"\r\n")[0].decode().split(" ")
    _, _, query = target.partition("?")
    if method == "PUT":
        return "part" if "partNumber" in query else "put"
    if method == "POST":
        return "create" if "uploads" in query else "complete"
    if method == "DELETE":
        return "abort" if "uploadId" in query else "delete"
    return "list" if "list-type" in query else method.lower()


class Proxy:
    """Passes requests on; the first ones of an operation that has a fault are spoilt.

    Arguments:
        port: where the server listens.
    """

    def __init__(self, port: int) -> None:
        self.operations: list[str] = []
        self.answered = 0
        """Bytes of all answers that were passed on whole, heads included."""
        self.weather: Callable[[str], Wreck | None] | None = None
        """What spoils requests of any operation, where a test wants more than single faults."""
        self._upstream = ("127.0.0.1", port)
        self._faults: dict[str, tuple[Wreck, range]] = {}
        self._deaf: dict[str, Callable[[int], int]] = {}
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def spoil(self, operation: str, wreck: Wreck, *, first: int = 0, times: int = 10_000) -> None:
        """Have a fault happen to some requests of an operation, counted from 0."""
        self._faults[operation] = (wreck, range(first, first + times))

    def spoil_request(self, operation: str, wreck: Wreck, position: Callable[[int], int]) -> None:
        """Have a fault happen to every request of an operation when some of its body is there."""
        self._deaf[operation] = position
        self.spoil(operation, wreck)

    def heal(self) -> None:
        self._faults.clear()
        self._deaf.clear()
        self.operations.clear()
        self.answered = 0

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(client,), daemon=True).start()

    def _talk(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            exchange = self._read(client)
            if exchange is None:
                return
            with self._lock:
                number = self.operations.count(exchange.operation)
                self.operations.append(exchange.operation)
            wreck, which = self._faults.get(exchange.operation, (None, range(0)))
            if self.weather is not None:
                wreck, which = self.weather(exchange.operation), range(number, number + 1)
            if wreck is not None and number in which:
                wreck(exchange)
            else:
                answer = exchange.forward()
                with self._lock:
                    self.answered += len(answer)
                exchange.send(answer)

    def _read(self, client: socket.socket) -> Exchange | None:
        data = b""
        while b"\r\n\r\n" not in data:
            chunk = client.recv(1 << 16)
            if not chunk:
                return None
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        if re.search(rb"(?mi)^Expect: *100-continue", head):
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = re.search(rb"(?mi)^Content-Length: *(\d+)", head)
        wanted = int(length[1]) if length else 0
        operation = operation_of(head)
        if operation in self._deaf:
            wanted = self._deaf[operation](wanted)
        while len(body) < wanted:
            chunk = client.recv(1 << 20)
            if not chunk:
                return None
            body += chunk
        return Exchange(operation, head + b"\r\n\r\n", body, client, self._upstream)


# What a fault does


def reset_before(exchange: Exchange) -> None:
    """The server never sees the request."""
    exchange.reset()


def reset_after(exchange: Exchange) -> None:
    """The server does the work, and the acknowledgement is lost."""
    exchange.forward()
    exchange.reset()


def stall(exchange: Exchange) -> None:
    """The server does the work and says nothing until the client hangs up."""
    exchange.forward()
    exchange.wait_for_the_end()


def stall_at(position: Callable[[int], int]) -> Wreck:
    """The answer stops at some byte of its body until the client hangs up."""

    def wreck(exchange: Exchange) -> None:
        head, body = _apart(exchange.forward())
        exchange.send(head + body[: position(len(body))])
        exchange.wait_for_the_end()

    return wreck


def status(code: int, name: str) -> Wreck:
    """The server refuses without doing anything."""

    def wreck(exchange: Exchange) -> None:
        body = f"<Error><Code>{name}</Code><Message>no</Message></Error>".encode()
        head = f"HTTP/1.1 {code} {name}\r\nContent-Length: {len(body)}\r\n"
        head += "Content-Type: application/xml\r\nConnection: close\r\n\r\n"
        exchange.send(head.encode() + body)

    return wreck


def nothing(exchange: Exchange) -> None:
    """A proxy says that all is well, and the server never sees the request."""
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def cut(position: Callable[[int], int], *, reset: bool) -> Wreck:
    """The answer ends at some byte of its body."""

    def wreck(exchange: Exchange) -> None:
        head, body = _apart(exchange.forward())
        exchange.send(head + body[: position(len(body))])
        if reset:
            exchange.reset()

    return wreck


def replace(change: Callable[[bytes], bytes], *, fix_length: bool = True) -> Wreck:
    """The answer's body is another one."""

    def wreck(exchange: Exchange) -> None:
        head, body = _apart(exchange.forward())
        changed = change(body)
        if fix_length:
            length = f"Content-Length: {len(changed)}".encode()
            head = re.sub(rb"(?mi)^Content-Length: *\d+", length, head)
        # A server that spoils bytes does not state their checksum either.
        head = re.sub(rb"(?mi)^x-amz-checksum.*\r\n", b"", head)
        exchange.send(head + changed)

    return wreck


def header(pattern: bytes, instead: bytes) -> Wreck:
    """A header of the answer says something else."""

    def wreck(exchange: Exchange) -> None:
        head, body = _apart(exchange.forward())
        exchange.send(re.sub(pattern, instead, head) + body)

    return wreck


def _apart(answer: bytes) -> tuple[bytes, bytes]:
    head, blank, body = answer.partition(b"\r\n\r\n")
    return head + blank, body
