"""A body of foreign links, and a network on which every look-up and connection is noted."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part

DIGEST = "sha256:" + "0" * 64
LINKS = [
    "https://example.com/", "https://h1.attacker.example/?user=bob", "https://93.184.216.34/x",
    "https://example.com:8443/x", "https://169.254.169.254/latest/", "https://[fd00:ec2::254]/x",
    "https://db.internal/x", "http://example.com/x", "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/", "http://metadata.google.internal/", "http://localhost:6379/",
    "http://127.0.0.1:9/x", "http://[::1]:9/x", "https://intranet/x", "http://metadata/",
    "s3://acme-payroll/2026.csv", "s3://acme-messages/sha256/" + "0" * 64, "gs://bucket/x",
    "abfs://container/x", "file:///etc/passwd", "file://fileserver/share", "ftp://example.com/x",
    "ssh://host/x", "memory://foreign/x", "simplecache::https://example.com/x",
    "messagebody://x::https://example.com/x",
]  # fmt: skip
TYPES = ["text/plain", "image/png", "application/json"]


class Network:
    """What was asked of the network."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def note(self, what: str) -> Any:
        def refuse(*given: Any, **options: Any) -> Any:
            self.asked.append(f"{what}{given[-2:]}{options or ''}")
            raise OSError(f"{what} is not for tests")

        return refuse


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    found = Network()
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getfqdn"):
        monkeypatch.setattr(socket, name, found.note(name))
    monkeypatch.setattr(socket, "create_connection", found.note("create_connection"))
    for name in ("connect", "connect_ex", "sendto", "sendmsg"):
        monkeypatch.setattr(socket.socket, name, found.note(name), raising=False)
    return found


@pytest.fixture
def foreign() -> MessageBody:
    """Return a body of links, each with a name and without, for a text, a picture and JSON."""
    body = MessageBody([Part("See what I found.")])
    for number, url in enumerate(LINKS):
        for kind in TYPES:
            name = f"/links/{number}.{kind.partition('/')[2]}"
            body.append(Part(url=url, content_type=kind))
            body.append(Part(url=url, content_type=kind, name=name, size=100, digest=DIGEST))
    return body


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
