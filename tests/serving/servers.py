"""Servers of messages in a thread, and in a process of the shell."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.testclient import TestClient

from messagebody import serving

TOKEN = "a token of writers"
SECRET = "a secret of signed links"


def client(source: Any, **options: Any) -> TestClient:
    """Return a client of an application that serves a source."""
    app = serving.app(source, **options)
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)


def writer(source: Any, **options: Any) -> TestClient:
    """Return a client that may write."""
    found = client(source, writable=True, token=TOKEN, **options)
    found.headers["Authorization"] = f"Bearer {TOKEN}"
    return found


@contextlib.contextmanager
def running(source: Any, **options: Any) -> Iterator[str]:
    """Serve a source on the loopback, and give the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            serving.app(source, **options), log_level="critical", lifespan="off", ws="none"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class Process(NamedTuple):
    """A server in a process, by its address and id."""

    address: str
    id: int


@contextlib.contextmanager
def command(
    *arguments: str | Path, stop: int = signal.SIGTERM, log: Any = None
) -> Iterator[Process]:
    """Run `messagebody serve` with a free port, until the block ends; `log` takes its errors."""
    call = [sys.executable, "-m", "messagebody", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        assert said.startswith("Serving at http://"), said
        yield Process(said.split()[-1].rstrip("/"), process.pid)
    finally:
        process.send_signal(stop)
        process.wait(20)
        process.stdout.close()


def exchange(address: str, data: bytes, patience: float) -> bytes:
    """Send raw bytes to a server, and return the head of its answer, or all until it closes."""
    host, _, port = address.removeprefix("http://").partition(":")
    got = b""
    until = time.monotonic() + patience
    with socket.create_connection((host, int(port)), timeout=patience) as client:
        with contextlib.suppress(OSError):  # it may close before all is sent
            client.sendall(data)
        while (left := until - time.monotonic()) > 0:
            client.settimeout(left)
            try:
                piece = client.recv(65536)
            except ConnectionError:
                break
            if not piece:
                break
            got += piece
            if b"\r\n\r\n" in got and b"Connection: close" not in data:
                break
    return got
